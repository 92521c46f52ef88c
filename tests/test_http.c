/* HTTP messages are parsed alike however they are cut, within limits, and refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suites/http.h"

#define BODY_MAX 100

typedef enum lm_http_state parse_fn(struct lm_http_message *message, const char *data, size_t bytes,
                                    size_t body_bytes_max);

static struct lm_http_message message;

static enum lm_http_state whole(parse_fn *parse, const char *text)
{
    message = (struct lm_http_message){0};
    return parse(&message, text, strlen(text), BODY_MAX);
}

static void assert_refused(parse_fn *parse, const char *text, const char *why)
{
    enum lm_http_state state = whole(parse, text);
    if (state != LM_HTTP_BAD) {
        fail_msg("not refused: %s", text);
    }
    assert_string_equal(message.why, why);
}

static void a_request_is_taken_apart(void **state)
{
    (void)state;
    const char *text = "POST /a?b HTTP/1.1\r\nhOST:x\r\nContent-length: \t7 \r\n\r\n1234567rest";
    assert_int_equal(whole(lm_http_request, text), LM_HTTP_DONE);
    assert_int_equal(message.method_bytes, 4);
    assert_int_equal(message.target_bytes, 4);
    assert_memory_equal(text + message.target_at, "/a?b", 4);
    assert_int_equal(message.body_bytes, 7);
    assert_memory_equal(text + message.head_bytes, "1234567rest", 11);
    assert_true(message.keep_alive);
}

static void a_response_is_taken_apart(void **state)
{
    (void)state;
    assert_int_equal(
        whole(lm_http_response, "HTTP/1.0 404 not here\r\nContent-Length: 2\r\n\r\nno"),
        LM_HTTP_DONE);
    assert_int_equal(message.status, 404);
    assert_int_equal(message.body_bytes, 2);
    assert_false(message.keep_alive);
    assert_int_equal(whole(lm_http_response, "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
                     LM_HTTP_DONE);
}

static void a_request_without_a_length_has_no_body(void **state)
{
    (void)state;
    assert_int_equal(whole(lm_http_request, "GET / HTTP/1.1\r\nHost:\r\n\r\nx"), LM_HTTP_DONE);
    assert_int_equal(message.body_bytes, 0);
}

static void a_connection_lives_as_its_version_and_options_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool keep_alive;
    } heads[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive , CLOSE\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: ,\r\n\r\n", true},
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        assert_int_equal(whole(lm_http_request, heads[i].text), LM_HTTP_DONE);
        assert_int_equal(message.keep_alive, heads[i].keep_alive);
    }
}

/* Every prefix asks for more, and the last byte makes it whole: a cut message is never done. */
static void assert_whole_only_at_its_end(parse_fn *parse, const char *text)
{
    struct lm_http_message fed = {0};
    size_t bytes = strlen(text);
    for (size_t cut = 0; cut < bytes; cut++) {
        char *prefix = malloc(cut + 1); /* of its own, so that reading too far shows */
        memcpy(prefix, text, cut);
        message = (struct lm_http_message){0};
        assert_int_equal(parse(&message, prefix, cut, BODY_MAX), LM_HTTP_MORE);
        assert_int_equal(parse(&fed, prefix, cut, BODY_MAX), LM_HTTP_MORE);
        free(prefix);
    }
    assert_int_equal(parse(&fed, text, bytes, BODY_MAX), LM_HTTP_DONE);
    assert_int_equal(fed.head_bytes + fed.body_bytes, bytes);
}

static void a_message_cut_anywhere_is_not_whole(void **state)
{
    (void)state;
    assert_whole_only_at_its_end(lm_http_request,
                                 "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    assert_whole_only_at_its_end(lm_http_response,
                                 "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!");
}

static void malformed_requests_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"\r\n", "the request line has no method"},
        {"GET\r\n", "the request line has no method"},
        {" / HTTP/1.1\r\n", "the request line has no method"},
        {"G(T / HTTP/1.1\r\n", "the request line has no method"},
        {"GET /\r\n", "the request line has no target and version"},
        {"GET  HTTP/1.1\r\n", "the request line has no target and version"},
        {"GET /\x7f HTTP/1.1\r\n", "the request line has no target and version"},
        {"GET / HTTP/1.1 \r\n", "its version is not HTTP/1.0 or HTTP/1.1"},
        {"GET / HTTP/2.0\r\n", "its version is not HTTP/1.0 or HTTP/1.1"},
        {"GET / http/1.1\r\n", "its version is not HTTP/1.0 or HTTP/1.1"},
        {"GET / HTTP/1.1\n", "a line ends without CR"},
        {"GET / HTTP/1.1\r\nHost: a\n", "a line ends without CR"},
        {"GET / HTTP/1.1\r\n\r\n", "it has no Host"},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "Host stands there twice"},
        {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n", "a header line is folded"},
        {"GET / HTTP/1.1\r\nHost : a\r\n", "a header line has no name with a colon behind it"},
        {"GET / HTTP/1.1\r\nHost\r\n", "a header line has no name with a colon behind it"},
        {"GET / HTTP/1.1\r\n: a\r\n", "a header line has no name with a colon behind it"},
        {"GET / HTTP/1.1\r\nHost: a\rb\r\n", "a header's value has a control character"},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
         "it has a transfer coding, which is not supported"},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
         "Content-Length stands there twice"},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n", "Content-Length is empty"},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n", "Content-Length is no number"},
        {"GET / HTTP/1.1\r\nContent-Length: +1\r\n", "Content-Length is no number"},
        {"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n", "Content-Length is no number"},
        {"GET / HTTP/1.1\r\nContent-Length: 0x1\r\n", "Content-Length is no number"},
        {"GET / HTTP/1.1\r\nContent-Length: 101\r\n", "the body is longer than the limit"},
        {"GET / HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n",
         "the body is longer than the limit"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_refused(lm_http_request, bad[i][0], bad[i][1]);
    }
}

static void malformed_responses_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"HTTP/1.1 200\r\n", "the status line is not version, three digits, reason"},
        {"HTTP/1.1  200 OK\r\n", "the status line is not version, three digits, reason"},
        {"HTTP/1.1 2x0 OK\r\n", "the status is no number"},
        {"HTTP/2.0 200 OK\r\n", "its version is not HTTP/1.0 or HTTP/1.1"},
        {"HTTP/1.1 100 Continue\r\n", "a response of this status has no body of a given length"},
        {"HTTP/1.1 204 None\r\n", "a response of this status has no body of a given length"},
        {"HTTP/1.1 600 OK\r\n", "a response of this status has no body of a given length"},
        {"HTTP/1.1 200 O\x01K\r\n", "the reason phrase has a control character"},
        {"HTTP/1.1 200 OK\r\n\r\n", "it has no Content-Length"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_refused(lm_http_response, bad[i][0], bad[i][1]);
    }
}

static void the_largest_length_is_taken_and_one_more_refused(void **state)
{
    (void)state;
    assert_int_equal(
        whole(lm_http_request, "GET / HTTP/1.1\r\nHost:\r\nContent-Length: 0100\r\n\r\n"),
        LM_HTTP_MORE);
    message = (struct lm_http_message){0};
    const char *text = "GET / HTTP/1.1\r\nHost:\r\nContent-Length: 18446744073709551615\r\n\r\n";
    assert_int_equal(lm_http_request(&message, text, strlen(text), SIZE_MAX), LM_HTTP_MORE);
    assert_true(message.body_bytes == SIZE_MAX);
}

static void heads_are_bounded_in_bytes_and_lines(void **state)
{
    (void)state;
    static char text[LM_HTTP_HEAD_BYTES_MAX + 100];
    int used = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n");
    for (unsigned i = 1; i < LM_HTTP_HEADERS_MAX; i++) {
        used += snprintf(text + used, sizeof(text) - (size_t)used, "x: y\r\n");
    }
    assert_int_equal(whole(lm_http_request, text), LM_HTTP_MORE);
    snprintf(text + used, sizeof(text) - (size_t)used, "\r\n");
    assert_int_equal(whole(lm_http_request, text), LM_HTTP_DONE);
    snprintf(text + used, sizeof(text) - (size_t)used, "x: y\r\n");
    assert_refused(lm_http_request, text, "there are too many header lines");

    used = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: ");
    memset(text + used, 'a', sizeof(text) - (size_t)used);
    memcpy(text + LM_HTTP_HEAD_BYTES_MAX - 4, "\r\n\r\n", 5);
    assert_int_equal(whole(lm_http_request, text), LM_HTTP_DONE);
    text[LM_HTTP_HEAD_BYTES_MAX - 4] = 'a';
    memcpy(text + LM_HTTP_HEAD_BYTES_MAX - 3, "\r\n\r\n", 5);
    assert_refused(lm_http_request, text, "its head is longer than the limit");
}

static void what_was_refused_stays_refused(void **state)
{
    (void)state;
    assert_int_equal(whole(lm_http_request, "GET / HTTP/1.1\n"), LM_HTTP_BAD);
    const char *good = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_int_equal(lm_http_request(&message, good, strlen(good), BODY_MAX), LM_HTTP_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_taken_apart),
        cmocka_unit_test(a_response_is_taken_apart),
        cmocka_unit_test(a_request_without_a_length_has_no_body),
        cmocka_unit_test(a_connection_lives_as_its_version_and_options_say),
        cmocka_unit_test(a_message_cut_anywhere_is_not_whole),
        cmocka_unit_test(malformed_requests_are_refused_with_the_reason),
        cmocka_unit_test(malformed_responses_are_refused_with_the_reason),
        cmocka_unit_test(the_largest_length_is_taken_and_one_more_refused),
        cmocka_unit_test(heads_are_bounded_in_bytes_and_lines),
        cmocka_unit_test(what_was_refused_stays_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
