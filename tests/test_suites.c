/* The cases themselves: that the list is the published one, that every case runs on every backend,
 * and that a backend which does not do the work never yields a number. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "backends/registry.h"
#include "suites/case.h"
#include "suites/content.h"

static struct lm_case_result result;

static void nothing(void *context)
{
    (void)context;
}

static int run(const char *case_name, const struct lm_backend *backend, const uint64_t *options,
               uint64_t duration_ns)
{
    const struct lm_case *which = lm_case_find(case_name);
    assert_non_null(which);
    struct lm_case_setup setup = {
        .backend = backend,
        .options = options,
        .warmup_ns = 3000000,
        .duration_ns = duration_ns,
        .on_measure_begin = nothing,
        .on_measure_end = nothing,
    };
    return lm_case_run(which, &setup, &result);
}

/* --- the list
 * ------------------------------------------------------------------------------------- */

/* The published page's names, each there three times in a row: candidate, coroutines, baseline. */
static void the_list_is_the_published_one_and_micro_and_split_cases(void **state)
{
    (void)state;
    FILE *file = fopen(LM_TEST_DATA "/corosio-macos-2026-10-02.csv", "r");
    assert_non_null(file);
    char line[256], family[64], name[64], whole[130], previous[130] = "family/case";
    size_t published = 0, ours = 0;
    while (fgets(line, sizeof(line), file)) {
        assert_int_equal(sscanf(line, "%63[^,],%63[^,],", family, name), 2);
        snprintf(whole, sizeof(whole), "%s/%s", family, name);
        if (strcmp(whole, previous)) {
            const struct lm_case *found = lm_case_find(whole);
            if (!found) {
                fail_msg("%s is published and not in the list", whole);
            }
            assert_int_equal(found->flags & (LM_CASE_MICRO | LM_CASE_SPLIT), 0);
            strcpy(previous, whole);
            published++;
        }
    }
    fclose(file);
    for (size_t i = 0; i < lm_case_count(); i++) {
        ours += !(lm_case_at(i)->flags & (LM_CASE_MICRO | LM_CASE_SPLIT));
    }
    assert_int_equal(published, 113);
    assert_int_equal(ours, published);
}

static void case_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < lm_case_count(); i++) {
        assert_ptr_equal(lm_case_find(lm_case_at(i)->name), lm_case_at(i));
    }
    assert_null(lm_case_find("socket_latency"));
}

static void about_twenty_cases_are_representative_and_of_each_family(void **state)
{
    (void)state;
    size_t representative = 0;
    for (size_t i = 0; i < lm_case_count(); i++) {
        representative += (lm_case_at(i)->flags & LM_CASE_REPRESENTATIVE) != 0;
    }
    assert_in_range(representative, 15, 25);
}

/* --- every case on every backend
 * ------------------------------------------------------------------ */

static void run_all_cases(const struct lm_backend *backend)
{
    struct lm_spec spec;
    char text[256];
    assert_int_equal(lm_spec_parse(backend->name, &spec, text, sizeof(text)), 0);
    if (backend->available(spec.options, text, sizeof(text))) {
        print_message("%s can not run here: %s\n", backend->name, text);
        return;
    }
    for (size_t i = 0; i < lm_case_count(); i++) {
        const struct lm_case *which = lm_case_at(i);
        int error = run(which->name, backend, spec.options, 10000000);
        if (lm_case_skip_reason(which, backend, spec.options)) {
            assert_int_equal(error, -ENOTSUP);
            continue;
        }
        if (error) {
            fail_msg("%s on %s: %s", which->name, backend->name, result.error);
        }
        assert_true(result.operations > 0 && result.metric > 0);
        assert_int_equal(result.bytes > 0, which->bytes > 0);
        assert_int_equal(result.operations, result.latency.count);
    }
}

static void every_case_runs_on_every_backend(void **state)
{
    (void)state;
    for (size_t i = 0; i < lm_backend_count(); i++) {
        if (lm_backend_at(i)->backend) {
            run_all_cases(lm_backend_at(i)->backend);
        }
    }
}

/* --- liars
 * ---------------------------------------------------------------------------------------- */

/* A backend made of poll with one completion in so many spoiled. The spoiled call is counted over
 * all receives, so a late one is well inside the measured phase. */
enum lie {
    LIE_FLIP_BIT,    /* a received byte is wrong */
    LIE_SKIP,        /* a receive takes one byte and claims to have taken all */
    LIE_COUNT,       /* a receive claims more than was asked for */
    LIE_SHORT_COUNT, /* a receive claims less than it moved */
    LIE_LOSE,        /* a completion never comes */
    LIE_END,         /* a receive says that the stream has ended */
    LIE_EXTRA,       /* a receive has one byte more than was sent */
    LIE_BEHIND,      /* a byte that nobody sent arrives when the server sees the stream's end */
    LIE_LENGTH,      /* an HTTP response says that its body is one byte shorter */
    LIE_ERROR        /* a receive fails */
};

enum {
    SLOTS = 256 /* receives under way at once */
};

static struct {
    const struct lm_backend *honest;
    enum lie lie;
    uint64_t at, receives;
    int last_fd;             /* of the sockets opened; with one connection: the server's */
    lm_done_fn *done[SLOTS]; /* the receives under way, by slot */
    struct lm_op *op[SLOTS];
    char *buffer[SLOTS];
    size_t bytes[SLOTS];
} liar;

static void lied_done(struct lm_op *op, int64_t moved)
{
    int slot = 0;
    while (liar.op[slot] != op) {
        slot++;
    }
    liar.op[slot] = NULL;
    op->done = liar.done[slot];
    if (liar.lie == LIE_BEHIND && moved == 0) {
        assert_int_equal(send(liar.last_fd, "!", 1, MSG_NOSIGNAL), 1);
    }
    if (liar.receives++ == liar.at && moved > 0) {
        switch (liar.lie) {
        case LIE_FLIP_BIT:
            liar.buffer[slot][0] ^= 1;
            break;
        case LIE_COUNT:
            moved = (int64_t)liar.bytes[slot] + 1;
            break;
        case LIE_SHORT_COUNT:
            moved--;
            break;
        case LIE_LOSE:
            return;
        case LIE_END:
            moved = 0;
            break;
        case LIE_EXTRA:
            liar.buffer[slot][moved++] = '!';
            break;
        case LIE_LENGTH: {
            char *length = memmem(liar.buffer[slot], (size_t)moved, "13\r", 3);
            if (!length) {
                liar.at++; /* a request */
                break;
            }
            length[1] = '2';
            break;
        }
        case LIE_BEHIND: /* not at a receive of bytes */
            break;
        case LIE_ERROR:
            moved = -ECONNRESET;
            break;
        case LIE_SKIP:
            moved = (int64_t)liar.bytes[slot];
            break;
        }
    }
    op->done(op, moved);
}

static void lying_recv(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes)
{
    int slot = 0;
    while (liar.op[slot]) {
        slot++;
    }
    liar.op[slot] = op;
    liar.done[slot] = op->done;
    liar.buffer[slot] = buffer;
    liar.bytes[slot] = bytes;
    op->done = lied_done;
    if (liar.lie == LIE_SKIP && liar.receives == liar.at) {
        bytes = 1;
    }
    liar.honest->recv(socket, op, buffer, bytes);
}

static int lying_socket_open(struct lm_loop *loop, int fd, uint32_t affinity,
                             struct lm_socket **socket)
{
    liar.last_fd = fd;
    return liar.honest->socket_open(loop, fd, affinity, socket);
}

static void assert_caught_within(enum lie lie, uint64_t at, const char *case_name,
                                 uint64_t duration_ns)
{
    struct lm_spec spec;
    char error[256];
    assert_int_equal(lm_spec_parse("poll", &spec, error, sizeof(error)), 0);
    struct lm_backend lying = *spec.backend;
    lying.recv = lying_recv;
    lying.socket_open = lying_socket_open;
    memset(&liar, 0, sizeof(liar));
    liar.honest = spec.backend;
    liar.lie = lie;
    liar.at = at;
    if (!run(case_name, &lying, spec.options, duration_ns)) {
        fail_msg("lie %d at receive %llu of %s was not noticed", lie, (unsigned long long)at,
                 case_name);
    }
    assert_true(strlen(result.error) > 0);
}

static void assert_caught(enum lie lie, uint64_t at, const char *case_name)
{
    /* Long enough for the lie to be reached on a busy machine; it ends the run. */
    assert_caught_within(lie, at, case_name, 5000000000);
}

#define EARLY 5   /* in the warm-up */
#define LATE  900 /* in the measured phase: a warm-up of 3 ms ends after a few hundred receives */

static void a_wrong_byte_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_FLIP_BIT, EARLY, "socket_latency/pingpong/64");
    assert_caught(LIE_FLIP_BIT, EARLY, "socket_throughput/unidirectional/1024");
    assert_caught(LIE_FLIP_BIT, LATE, "local_socket_latency/pingpong/64");
    assert_caught(LIE_FLIP_BIT, LATE, "fan_out/nested/4");
    assert_caught(LIE_FLIP_BIT, LATE, "http_server/single_conn");
    assert_caught(LIE_FLIP_BIT, EARLY, "fan_out/concurrent_parents/4");
    assert_caught(LIE_FLIP_BIT, EARLY, "accept_churn/concurrent/4");
}

static void a_byte_count_beyond_the_request_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_COUNT, EARLY, "socket_latency/pingpong/1");
    assert_caught(LIE_COUNT, LATE, "socket_throughput/unidirectional/1024");
    assert_caught(LIE_COUNT, LATE, "http_server/concurrent/4");
}

static void a_byte_count_that_is_too_small_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_SHORT_COUNT, LATE, "local_socket_throughput/unidirectional/4096");
}

static void a_lost_completion_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_LOSE, EARLY, "socket_latency/pingpong/64");
    assert_caught(LIE_LOSE, LATE, "local_socket_latency/concurrent/4");
    assert_caught(LIE_LOSE, EARLY, "accept_churn/sequential");
}

static void a_receive_that_did_not_fill_its_buffer_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_SKIP, LATE, "local_socket_latency/pingpong/64");
    assert_caught(LIE_SKIP, EARLY, "socket_latency/pingpong/1024");
}

static void a_receive_that_fails_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_ERROR, LATE, "local_socket_latency/pingpong/64");
    assert_caught(LIE_ERROR, EARLY, "socket_throughput/bidirectional/1024");
}

static void a_stream_that_ends_early_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_END, LATE, "http_server/single_conn");
    assert_caught(LIE_END, EARLY, "http_server/concurrent/4");
    assert_caught(LIE_END, LATE, "fan_out/fork_join/4");
    assert_caught(LIE_END, EARLY, "accept_churn/sequential");
}

static void bytes_that_nobody_sent_fail_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_EXTRA, LATE, "http_server/single_conn");
    assert_caught(LIE_EXTRA, EARLY, "http_server/single_conn");
    assert_caught_within(LIE_BEHIND, 0, "http_server/single_conn", 10000000);
}

static void a_wrong_content_length_fails_the_sample(void **state)
{
    (void)state;
    assert_caught(LIE_LENGTH, EARLY, "http_server/single_conn");
    assert_caught(LIE_LENGTH, LATE, "http_server/concurrent/4");
}

/* --- content
 * -------------------------------------------------------------------------------------- */

static struct {
    const struct lm_backend *honest;
    lm_done_fn *done;
    uint64_t starts;
} doubler;

static void doubled_done(struct lm_op *op, int64_t result_of)
{
    op->done = doubler.done;
    op->done(op, result_of);
    doubler.done(op, result_of);
}

static void double_fifth(struct lm_op *op)
{
    if (++doubler.starts == EARLY) {
        doubler.done = op->done;
        op->done = doubled_done;
    }
}

static void doubling_connect(struct lm_socket *socket, struct lm_op *op,
                             const struct sockaddr *address, socklen_t bytes)
{
    double_fifth(op);
    doubler.honest->connect(socket, op, address, bytes);
}

static void doubling_accept(struct lm_socket *listener, struct lm_op *op,
                            struct lm_socket **accepted)
{
    double_fifth(op);
    doubler.honest->accept(listener, op, accepted);
}

static void a_connect_or_accept_that_completes_twice_fails_the_sample(void **state)
{
    (void)state;
    static const char *const cases[] = {"accept_churn/sequential", "accept_churn/burst/10"};
    struct lm_spec spec;
    char error[256];
    assert_int_equal(lm_spec_parse("poll", &spec, error, sizeof(error)), 0);
    for (size_t i = 0; i < 4; i++) {
        struct lm_backend lying = *spec.backend;
        memset(&doubler, 0, sizeof(doubler));
        doubler.honest = spec.backend;
        if (i & 1) {
            lying.accept = doubling_accept;
        } else {
            lying.connect = doubling_connect;
        }
        if (!run(cases[i / 2], &lying, spec.options, 50000000)) {
            fail_msg("%s: %s twice was not noticed", cases[i / 2], i & 1 ? "accept" : "connect");
        }
        assert_non_null(strstr(result.error, "completed more than once"));
    }
}

static void messages_of_different_sequence_differ(void **state)
{
    (void)state;
    char message[1024];
    lm_content_fill(message, sizeof(message), 7);
    assert_true(lm_content_is(message, sizeof(message), 7));
    assert_false(lm_content_is(message, sizeof(message), 8));
    message[1023] ^= 1;
    assert_false(lm_content_is(message, sizeof(message), 7));
}

static void a_shifted_stream_does_not_match(void **state)
{
    (void)state;
    char *block = lm_content_block(4096);
    assert_non_null(block);
    assert_true(lm_content_matches(block, LM_CONTENT_PERIOD * 3 + 64, block + 64, 4096));
    assert_false(lm_content_matches(block, 64, block + 128, 4096));
    assert_false(lm_content_matches(block, 4096, block, 4096));
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_the_published_one_and_micro_and_split_cases),
        cmocka_unit_test(case_names_are_unique),
        cmocka_unit_test(about_twenty_cases_are_representative_and_of_each_family),
        cmocka_unit_test(every_case_runs_on_every_backend),
        cmocka_unit_test(a_wrong_byte_fails_the_sample),
        cmocka_unit_test(a_byte_count_beyond_the_request_fails_the_sample),
        cmocka_unit_test(a_byte_count_that_is_too_small_fails_the_sample),
        cmocka_unit_test(a_lost_completion_fails_the_sample),
        cmocka_unit_test(a_receive_that_did_not_fill_its_buffer_fails_the_sample),
        cmocka_unit_test(a_receive_that_fails_fails_the_sample),
        cmocka_unit_test(a_stream_that_ends_early_fails_the_sample),
        cmocka_unit_test(bytes_that_nobody_sent_fail_the_sample),
        cmocka_unit_test(a_wrong_content_length_fails_the_sample),
        cmocka_unit_test(a_connect_or_accept_that_completes_twice_fails_the_sample),
        cmocka_unit_test(messages_of_different_sequence_differ),
        cmocka_unit_test(a_shifted_stream_does_not_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
