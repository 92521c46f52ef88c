#include "suites/http.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A line without its CR LF, or a part of one. */
struct span {
    const char *at;
    size_t bytes;
};

/* Parses one start line. False with message->why. */
typedef bool start_line_fn(struct lm_http_message *message, struct span line);
/* Judges a whole head. False with message->why. */
typedef bool head_fn(struct lm_http_message *message);

static bool bad(struct lm_http_message *message, const char *why)
{
    message->why = why;
    return false;
}

static bool span_is(struct span span, const char *text)
{
    return span.bytes == strlen(text) && !strncasecmp(span.at, text, span.bytes);
}

/* RFC 9110, 5.6.2: tchar. One bit per byte. */
static bool is_token_char(unsigned char c)
{
    static const uint64_t tokens[4] = {UINT64_C(0x03ff6cfa00000000), UINT64_C(0x57ffffffc7fffffe)};
    return tokens[c / 64] >> c % 64 & 1;
}

/* Bytes at the start of the span that are token characters. */
static size_t token_bytes(struct span span)
{
    size_t count = 0;
    while (count < span.bytes && is_token_char((unsigned char)span.at[count])) {
        count++;
    }
    return count;
}

/* Text of a header's value or a reason phrase: no control character but the tab. */
static bool is_text(struct span span)
{
    for (size_t i = 0; i < span.bytes; i++) {
        unsigned char c = (unsigned char)span.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Without the white space around it. */
static struct span trim(struct span span)
{
    while (span.bytes && (span.at[0] == ' ' || span.at[0] == '\t')) {
        span.at++;
        span.bytes--;
    }
    while (span.bytes && (span.at[span.bytes - 1] == ' ' || span.at[span.bytes - 1] == '\t')) {
        span.bytes--;
    }
    return span;
}

/* --- header lines
 * --------------------------------------------------------------------------------- */

static bool take_content_length(struct lm_http_message *message, struct span value, size_t max)
{
    size_t length = 0;
    if (message->has_length) {
        return bad(message, "Content-Length stands there twice");
    }
    if (!value.bytes) {
        return bad(message, "Content-Length is empty");
    }
    for (size_t i = 0; i < value.bytes; i++) {
        unsigned digit = (unsigned)(value.at[i] - '0');
        if (digit > 9) {
            return bad(message, "Content-Length is no number");
        }
        if (length > max / 10 || digit > max - length * 10) {
            return bad(message, "the body is longer than the limit");
        }
        length = length * 10 + digit;
    }
    message->has_length = true;
    message->body_bytes = length;
    return true;
}

/* Options of Connection, separated by commas; close wins over keep-alive, whichever is first. */
static void take_connection(struct lm_http_message *message, struct span value)
{
    while (value.bytes) {
        const char *comma = memchr(value.at, ',', value.bytes);
        size_t bytes = comma ? (size_t)(comma - value.at) : value.bytes;
        struct span option = trim((struct span){value.at, bytes});
        if (span_is(option, "close")) {
            message->keep_alive = false;
            message->has_close = true;
        } else if (span_is(option, "keep-alive") && message->version_1_0) {
            message->keep_alive = !message->has_close;
        }
        bytes += comma != NULL;
        value = (struct span){value.at + bytes, value.bytes - bytes};
    }
}

static bool take_header(struct lm_http_message *message, struct span line, size_t body_bytes_max)
{
    struct span name = {line.at, token_bytes(line)};
    if (line.at[0] == ' ' || line.at[0] == '\t') {
        return bad(message, "a header line is folded");
    }
    if (!name.bytes || name.bytes == line.bytes || line.at[name.bytes] != ':') {
        return bad(message, "a header line has no name with a colon behind it");
    }
    struct span value = {line.at + name.bytes + 1, line.bytes - name.bytes - 1};
    if (!is_text(value)) {
        return bad(message, "a header's value has a control character");
    }
    if (message->lines - 1 > LM_HTTP_HEADERS_MAX) {
        return bad(message, "there are too many header lines");
    }
    value = trim(value);
    if (span_is(name, "content-length")) {
        return take_content_length(message, value, body_bytes_max);
    }
    if (span_is(name, "transfer-encoding")) {
        return bad(message, "it has a transfer coding, which is not supported");
    }
    if (span_is(name, "connection")) {
        take_connection(message, value);
    } else if (span_is(name, "host")) {
        if (message->has_host) {
            return bad(message, "Host stands there twice");
        }
        message->has_host = true;
    }
    return true;
}

/* --- start lines and heads
 * ------------------------------------------------------------------------ */

static bool take_version(struct lm_http_message *message, struct span version)
{
    if (version.bytes != 8 || memcmp(version.at, "HTTP/1.", 7) ||
        (version.at[7] != '0' && version.at[7] != '1')) {
        return bad(message, "its version is not HTTP/1.0 or HTTP/1.1");
    }
    message->version_1_0 = version.at[7] == '0';
    message->keep_alive = !message->version_1_0;
    return true;
}

static bool take_request_line(struct lm_http_message *message, struct span line)
{
    size_t method_bytes = token_bytes(line), at = method_bytes + 1;
    if (!method_bytes || method_bytes == line.bytes || line.at[method_bytes] != ' ') {
        return bad(message, "the request line has no method");
    }
    while (at < line.bytes && line.at[at] > ' ' && line.at[at] < 0x7f) {
        at++;
    }
    message->method_bytes = method_bytes;
    message->target_at = method_bytes + 1;
    message->target_bytes = at - message->target_at;
    if (!message->target_bytes || at == line.bytes || line.at[at] != ' ') {
        return bad(message, "the request line has no target and version");
    }
    return take_version(message, (struct span){line.at + at + 1, line.bytes - at - 1});
}

static bool take_status_line(struct lm_http_message *message, struct span line)
{
    unsigned status = 0;
    if (line.bytes < 13 || line.at[8] != ' ' || line.at[12] != ' ') {
        return bad(message, "the status line is not version, three digits, reason");
    }
    for (size_t at = 9; at < 12; at++) {
        unsigned digit = (unsigned)(line.at[at] - '0');
        if (digit > 9) {
            return bad(message, "the status is no number");
        }
        status = status * 10 + digit;
    }
    message->status = status;
    if (status < 200 || status > 599 || status == 204 || status == 304) {
        return bad(message, "a response of this status has no body of a given length");
    }
    if (!is_text((struct span){line.at + 13, line.bytes - 13})) {
        return bad(message, "the reason phrase has a control character");
    }
    return take_version(message, (struct span){line.at, 8});
}

static bool end_request_head(struct lm_http_message *message)
{
    return message->has_host || message->version_1_0 || bad(message, "it has no Host");
}

static bool end_response_head(struct lm_http_message *message)
{
    return message->has_length || bad(message, "it has no Content-Length");
}

/* --- messages
 * ------------------------------------------------------------------------------------- */

/* One whole line. False with message->why. */
static bool take_line(struct lm_http_message *message, struct span line, size_t body_bytes_max,
                      start_line_fn *take_start_line, head_fn *end_head)
{
    if (!line.bytes || line.at[line.bytes - 1] != '\r') {
        return bad(message, "a line ends without CR");
    }
    line.bytes--;
    if (message->lines++ == 0) {
        return take_start_line(message, line);
    }
    if (line.bytes) {
        return take_header(message, line, body_bytes_max);
    }
    message->head_bytes = message->line_at;
    return end_head(message);
}

/* Lines that have become whole, up to the end of the head. */
static enum lm_http_state take_head(struct lm_http_message *message, const char *data, size_t bytes,
                                    size_t body_bytes_max, start_line_fn *take_start_line,
                                    head_fn *end_head)
{
    size_t limit = bytes < LM_HTTP_HEAD_BYTES_MAX ? bytes : LM_HTTP_HEAD_BYTES_MAX;
    while (!message->head_bytes) {
        size_t at = message->scanned_bytes;
        const char *end = at < limit ? memchr(data + at, '\n', limit - at) : NULL;
        if (!end) {
            message->scanned_bytes = limit;
            if (limit == LM_HTTP_HEAD_BYTES_MAX) {
                message->why = "its head is longer than the limit";
            }
            return message->why ? LM_HTTP_BAD : LM_HTTP_MORE;
        }
        struct span line = {data + message->line_at, (size_t)(end - data) - message->line_at};
        message->line_at = message->scanned_bytes = (size_t)(end - data) + 1;
        if (!take_line(message, line, body_bytes_max, take_start_line, end_head)) {
            return LM_HTTP_BAD;
        }
    }
    return LM_HTTP_DONE;
}

static enum lm_http_state take_message(struct lm_http_message *message, const char *data,
                                       size_t bytes, size_t body_bytes_max,
                                       start_line_fn *take_start_line, head_fn *end_head)
{
    if (message->why) {
        return LM_HTTP_BAD;
    }
    enum lm_http_state state =
        take_head(message, data, bytes, body_bytes_max, take_start_line, end_head);
    if (state != LM_HTTP_DONE) {
        return state;
    }
    return bytes - message->head_bytes < message->body_bytes ? LM_HTTP_MORE : LM_HTTP_DONE;
}

enum lm_http_state lm_http_request(struct lm_http_message *message, const char *data, size_t bytes,
                                   size_t body_bytes_max)
{
    return take_message(message, data, bytes, body_bytes_max, take_request_line, end_request_head);
}

enum lm_http_state lm_http_response(struct lm_http_message *message, const char *data, size_t bytes,
                                    size_t body_bytes_max)
{
    return take_message(message, data, bytes, body_bytes_max, take_status_line, end_response_head);
}
