/* The micro families count every post and every timer, and notice those that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/registry.h"
#include "suites/case.h"

static struct lm_case_result result;

static void nothing(void *context)
{
    (void)context;
}

static int run_on(const char *case_name, const struct lm_backend *backend, const uint64_t *options)
{
    struct lm_case_setup setup = {.backend = backend,
                                  .options = options,
                                  .warmup_ns = 2000000,
                                  .duration_ns = 20000000,
                                  .on_measure_begin = nothing,
                                  .on_measure_end = nothing};
    return lm_case_run(lm_case_find(case_name), &setup, &result);
}

static void parse(const char *text, struct lm_spec *spec)
{
    char error[256];
    assert_int_equal(lm_spec_parse(text, spec, error, sizeof(error)), 0);
}

static void micro_cases_are_only_taken_when_asked_for(void **state)
{
    (void)state;
    size_t micro = 0;
    for (size_t i = 0; i < lm_case_count(); i++) {
        const struct lm_case *which = lm_case_at(i);
        bool is_micro =
            !strcmp(which->family->name, "event_loop") || !strcmp(which->family->name, "timer");
        assert_int_equal(is_micro, (which->flags & LM_CASE_MICRO) != 0);
        assert_false(is_micro && which->flags & LM_CASE_REPRESENTATIVE);
        micro += is_micro;
    }
    assert_int_equal(micro, 6 + 7);
}

static void rounds_are_counted_whole(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t round;
    } cases[] = {{"event_loop/post", 1000},
                 {"event_loop/interleaved_lockless", 100},
                 {"event_loop/multithreaded/8", 100000},
                 {"event_loop/concurrent/4", 40000}};
    struct lm_spec spec;
    parse("poll", &spec);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(run_on(cases[i].name, spec.backend, spec.options), 0);
        assert_true(result.operations > 0);
        assert_int_equal(result.operations % cases[i].round, 0);
        /* Rounds fill the measured phase: their shares sum up to it, to the nanosecond between the
         * clock reads around the judging of a round. */
        assert_true(result.latency.sum_ns <= result.elapsed_ns);
    }
}

static void lateness_is_what_timers_are_measured_by(void **state)
{
    (void)state;
    struct lm_spec spec;
    parse("poll", &spec);
    assert_int_equal(run_on("timer/concurrent/100", spec.backend, spec.options), 0);
    assert_true(result.metric == (double)result.latency.sum_ns / (double)result.operations);
    assert_true(result.latency.min_ns < 100000); /* less than the shortest interval: no lap time */
}

/* --- liars: poll with one call spoiled
 * ------------------------------------------------------------ */

static const struct lm_backend *honest;
static atomic_uint calls;
static struct lm_op spare;

static void ignore(struct lm_op *op, int64_t moved)
{
    (void)op;
    (void)moved;
}

static void losing_post(struct lm_loop *loop, struct lm_op *op)
{
    if (++calls != 5) {
        honest->post(loop, op);
    }
}

static void doubling_done(struct lm_op *op, int64_t moved)
{
    struct lm_op *user = (struct lm_op *)op->backend_private[7];
    user->done(user, moved);
    user->done(user, moved);
}

static void doubling_post(struct lm_loop *loop, struct lm_op *op)
{
    if (++calls == 5) {
        spare = (struct lm_op){.done = doubling_done};
        honest->post(loop, &spare);
        spare.backend_private[7] = (uintptr_t)op;
    } else {
        honest->post(loop, op);
    }
}

static void inline_post(struct lm_loop *loop, struct lm_op *op)
{
    (void)loop;
    op->done(op, 0);
}

static void early_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns)
{
    honest->timer(loop, op, delay_ns / 2);
}

static void deaf_cancel(struct lm_loop *loop, struct lm_op *op)
{
    (void)op;
    spare = (struct lm_op){.done = ignore};
    honest->post(loop, &spare);
}

static void at_once_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns)
{
    (void)delay_ns;
    honest->timer(loop, op, 0);
}

static struct lm_spec spec_of_liar;

static struct lm_backend liar(void)
{
    parse("poll", &spec_of_liar);
    honest = spec_of_liar.backend;
    calls = 0;
    return *honest;
}

static void assert_fails(const char *case_name, const struct lm_backend *lying, const char *with)
{
    assert_true(run_on(case_name, lying, spec_of_liar.options) < 0);
    if (!strstr(result.error, with)) {
        fail_msg("%s: %s", case_name, result.error);
    }
}

static void a_lost_post_fails_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.post = losing_post;
    assert_fails("event_loop/post", &lying, "a post was lost or came out of order");
    lying = liar();
    lying.post = losing_post;
    assert_fails("event_loop/concurrent/4", &lying, "39999 of 40000 posts completed");
}

static void a_post_that_completes_twice_fails_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.post = doubling_post;
    assert_fails("event_loop/interleaved", &lying, "more than once");
    lying = liar();
    lying.post = doubling_post;
    assert_fails("event_loop/concurrent/4", &lying, "more than once");
}

static struct lm_op *held;

static void swapping_post(struct lm_loop *loop, struct lm_op *op)
{
    if (!held) {
        held = op;
        return;
    }
    honest->post(loop, op);
    honest->post(loop, held);
    held = NULL;
}

static void posts_out_of_order_fail_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.post = swapping_post;
    assert_fails("event_loop/post", &lying, "a post was lost or came out of order");
}

static void a_post_that_completes_inside_its_call_fails_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.post = inline_post;
    assert_fails("event_loop/post", &lying, "inside the call");
    assert_fails("event_loop/multithreaded/8", &lying, "inside the call");
}

static void a_timer_that_is_early_fails_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.timer = early_timer;
    assert_fails("timer/concurrent/10", &lying, "early");
}

static void a_timer_that_can_not_be_cancelled_fails_the_sample(void **state)
{
    (void)state;
    struct lm_backend lying = liar();
    lying.timer = at_once_timer;
    lying.cancel = deaf_cancel;
    assert_fails("timer/schedule_cancel", &lying, "although it was cancelled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro_cases_are_only_taken_when_asked_for),
        cmocka_unit_test(rounds_are_counted_whole),
        cmocka_unit_test(lateness_is_what_timers_are_measured_by),
        cmocka_unit_test(a_lost_post_fails_the_sample),
        cmocka_unit_test(a_post_that_completes_twice_fails_the_sample),
        cmocka_unit_test(posts_out_of_order_fail_the_sample),
        cmocka_unit_test(a_post_that_completes_inside_its_call_fails_the_sample),
        cmocka_unit_test(a_timer_that_is_early_fails_the_sample),
        cmocka_unit_test(a_timer_that_can_not_be_cancelled_fails_the_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
