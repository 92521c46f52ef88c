/* http.h - HTTP/1.1 messages (RFC 9112), parsed where they lie.
 *
 * The caller collects what it receives in a buffer of its own and asks after each receive whether
 * the message that begins there is whole. How the bytes were cut makes no difference to the answer.
 * Bodies are delimited by Content-Length alone; what this tool never sends (transfer codings,
 * folded lines, interim responses, lines that end without CR) is refused with a reason.
 *
 * Not for: writing messages, connections, several messages in one buffer (the caller removes what
 * is done).
 */
#ifndef LM_HTTP_H
#define LM_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a head: start line, header lines and the empty line. */
#define LM_HTTP_HEAD_BYTES_MAX ((size_t)8192)
/* Most header lines of a head. */
#define LM_HTTP_HEADERS_MAX 64u

enum lm_http_state {
    LM_HTTP_MORE, /* so far it is right and not whole */
    LM_HTTP_DONE,
    LM_HTTP_BAD /* message->why says what is wrong, and stays */
};

/* What is known of one message. Set it to all zero before its first byte. */
struct lm_http_message {
    size_t head_bytes; /* 0 until the head is whole */
    size_t body_bytes; /* known with the head */
    bool keep_alive;   /* the connection may be used again; known with the head */
    /* Of requests: where in the buffer. */
    size_t method_bytes; /* it begins at 0 */
    size_t target_at, target_bytes;
    unsigned status; /* of responses: 200 to 599 */
    const char *why; /* NULL, or the reason of LM_HTTP_BAD: a clause, static */
    /* Below: the parser's. */
    size_t scanned_bytes, line_at;
    unsigned lines;
    bool has_length, has_host, has_close, version_1_0;
};

/* Looks at the `bytes` bytes at `data`: all that has come since the message's first byte, those of
 * earlier calls included and unchanged (they may have moved). body_bytes_max bounds Content-Length.
 * LM_HTTP_DONE: the message is head_bytes + body_bytes long; what is behind it was not looked at.
 * Any thread; nothing is kept but what is in *message. */
enum lm_http_state lm_http_request(struct lm_http_message *message, const char *data, size_t bytes,
                                   size_t body_bytes_max);
enum lm_http_state lm_http_response(struct lm_http_message *message, const char *data, size_t bytes,
                                    size_t body_bytes_max);

#endif
