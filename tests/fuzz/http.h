/* http.h - what the HTTP fuzz targets promise: any bytes, however they are cut, get the same
 * answer; limits hold; nothing behind what was given is read (each piece is an allocation of its
 * own, for the address sanitizer). */
#ifndef LM_FUZZ_HTTP_H
#define LM_FUZZ_HTTP_H

#include <stdlib.h>
#include <string.h>

#include "suites/http.h"
#include "tests/fuzz/fuzz.h"

typedef enum lm_http_state fuzz_http_fn(struct lm_http_message *message, const char *data,
                                        size_t bytes, size_t body_bytes_max);

enum {
    FUZZ_BODY_BYTES_MAX = 1000
};

static inline enum lm_http_state fuzz_http_look(fuzz_http_fn *parse,
                                                struct lm_http_message *message,
                                                const uint8_t *data, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    fuzz_check(copy != NULL);
    memcpy(copy, data, bytes);
    enum lm_http_state state = parse(message, copy, bytes, FUZZ_BODY_BYTES_MAX);
    free(copy);
    fuzz_check((state == LM_HTTP_BAD) == (message->why != NULL));
    return state;
}

static inline void fuzz_http_check_done(const struct lm_http_message *message, const uint8_t *data,
                                        size_t bytes)
{
    size_t head_bytes = message->head_bytes;
    fuzz_check(head_bytes >= 4 && head_bytes <= LM_HTTP_HEAD_BYTES_MAX);
    fuzz_check(message->body_bytes <= FUZZ_BODY_BYTES_MAX);
    fuzz_check(head_bytes + message->body_bytes <= bytes);
    fuzz_check(memcmp(data + head_bytes - 4, "\r\n\r\n", 4) == 0);
    fuzz_check(memchr(data, '\0', head_bytes) == NULL);
    fuzz_check(message->target_at + message->target_bytes <= head_bytes);
}

/* Feeds the bytes in steps; the answer has to be that of the whole, and to come as early as it
 * can. */
static inline void fuzz_http_cut(fuzz_http_fn *parse, const uint8_t *data, size_t bytes,
                                 size_t step, enum lm_http_state whole_state,
                                 const struct lm_http_message *whole)
{
    struct lm_http_message message = {0};
    enum lm_http_state state = LM_HTTP_MORE;
    size_t at = 0;
    while (state == LM_HTTP_MORE && at < bytes) {
        at = bytes - at < step ? bytes : at + step;
        state = fuzz_http_look(parse, &message, data, at);
    }
    fuzz_check(state == whole_state);
    fuzz_check(message.why == whole->why);
    if (state == LM_HTTP_DONE) {
        fuzz_check(at < message.head_bytes + message.body_bytes + step);
        fuzz_check(message.head_bytes == whole->head_bytes);
        fuzz_check(message.body_bytes == whole->body_bytes);
        fuzz_check(message.keep_alive == whole->keep_alive);
        fuzz_check(message.status == whole->status);
        fuzz_check(message.target_at == whole->target_at);
        fuzz_check(message.target_bytes == whole->target_bytes);
    }
}

static inline int fuzz_http(fuzz_http_fn *parse, const uint8_t *data, size_t bytes)
{
    struct lm_http_message whole = {0};
    enum lm_http_state state = fuzz_http_look(parse, &whole, data, bytes);
    if (state == LM_HTTP_DONE) {
        fuzz_http_check_done(&whole, data, bytes);
    } else if (state == LM_HTTP_BAD) {
        fuzz_check(fuzz_http_look(parse, &whole, data, bytes) == LM_HTTP_BAD);
    }
    if (bytes <= 2048) { /* its cost grows by the square */
        fuzz_http_cut(parse, data, bytes, 1, state, &whole);
    }
    fuzz_http_cut(parse, data, bytes, bytes ? 1 + data[bytes - 1] : 1, state, &whole);
    return 0;
}

#endif
