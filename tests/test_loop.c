/* What the shared loop does with a backend's settings; what every backend owes is in contract/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "backends/loop.h"
#include "backends/registry.h"
#include "backends/wakeup.h"

static int completions;

static void count(struct lm_op *op, int64_t result)
{
    (void)op;
    assert_int_equal(result, 0);
    completions++;
}

/* Runs one timer on a loop of its own; what the loop counted. */
static bool can_run(const char *text)
{
    struct lm_spec spec;
    char error[256];
    assert_int_equal(lm_spec_parse(text, &spec, error, sizeof(error)), 0);
    return spec.backend->available(spec.options, error, sizeof(error)) == 0;
}

static struct lm_counters run_timer(const char *text, uint64_t delay_ns)
{
    struct lm_spec spec;
    struct lm_loop *loop;
    struct lm_op timer = {.done = count};
    struct lm_counters counters;
    char error[256];
    assert_int_equal(lm_spec_parse(text, &spec, error, sizeof(error)), 0);
    const struct lm_loop_config config = {.threads = 1, .options = spec.options};
    assert_int_equal(spec.backend->loop_create(&config, &loop), 0);
    spec.backend->timer(loop, &timer, delay_ns);
    assert_int_equal(spec.backend->loop_run(loop), 0);
    spec.backend->loop_counters(loop, &counters);
    spec.backend->loop_destroy(loop);
    return counters;
}

/* With spin_us=100000 a timer of 1 ms came after 103 ms: the spinning went on beyond it, and the
 * sleep after that took the timer's whole delay again. */
static void a_timer_due_while_spinning_neither_waits_for_it_nor_sleeps(void **state)
{
    static const char *const specs[] = {
#ifdef __linux__
        "epoll:spin_us=1000000",
#endif
#ifdef LM_HAVE_LIBURING
        "io_uring:spin_us=1000000",
#endif
        "poll:spin_us=1000000",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        if (!can_run(specs[i])) {
            continue;
        }
        completions = 0;
        struct lm_counters counters = run_timer(specs[i], 1000000);
        assert_int_equal(completions, 1);
        assert_int_equal(counters.waits, 0);
    }
}

static void a_timer_due_after_the_spinning_is_slept_for(void **state)
{
    (void)state;
    completions = 0;
    struct lm_counters counters = run_timer("poll:spin_us=1", 20000000);
    assert_int_equal(completions, 1);
    assert_true(counters.waits >= 1);
}

/* An engine of which the first lane breaks down and the others only wait to be woken. */
struct broken_lane {
    struct lm_lane lane;
    struct lm_wakeup wakeup;
};

static int broken_open(struct lm_lane *lane, const struct lm_loop_config *config)
{
    (void)config;
    return lm_wakeup_open(&((struct broken_lane *)lane)->wakeup);
}

static void broken_close(struct lm_lane *lane)
{
    lm_wakeup_close(&((struct broken_lane *)lane)->wakeup);
}

static void broken_wake(struct lm_lane *lane)
{
    lm_wakeup_signal(&((struct broken_lane *)lane)->wakeup);
}

static int broken_turn(struct lm_lane *lane, int64_t timeout_ns)
{
    (void)timeout_ns;
    if (lane->index == 0) {
        return -EIO;
    }
    if (!lm_lane_may_sleep(lane)) {
        return 0;
    }
    struct pollfd wait = {.fd = ((struct broken_lane *)lane)->wakeup.read_fd, .events = POLLIN};
    int woken = poll(&wait, 1, 10000); /* for ever would do, but fail with a hang */
    lm_lane_woke(lane);
    return woken == 1 ? 0 : -ETIMEDOUT;
}

static const struct lm_engine broken_engine = {
    .lane_bytes = sizeof(struct broken_lane),
    .socket_bytes = sizeof(struct lm_base),
    .lane_open = broken_open,
    .lane_close = broken_close,
    .turn = broken_turn,
    .wake = broken_wake,
};

static void *run_loop(void *loop)
{
    return (void *)(intptr_t)lm_loop_run(loop);
}

static void a_thread_that_can_not_go_on_keeps_no_other_waiting(void **state)
{
    (void)state;
    const struct lm_loop_config config = {.threads = 2};
    struct lm_loop *loop;
    struct lm_op timer = {.done = count};
    pthread_t threads[2];
    void *results[2];
    assert_int_equal(lm_loop_create(&broken_engine, &config, &loop), 0);
    lm_loop_timer(loop, &timer, UINT64_MAX); /* lives on the first lane */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_loop, loop), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &results[i]);
    }
    lm_loop_destroy(loop);
    assert_int_equal((intptr_t)results[0] + (intptr_t)results[1], -EIO); /* and 0 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_can_not_go_on_keeps_no_other_waiting),
        cmocka_unit_test(a_timer_due_while_spinning_neither_waits_for_it_nor_sleeps),
        cmocka_unit_test(a_timer_due_after_the_spinning_is_slept_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
