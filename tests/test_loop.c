/* What the shared loop does with a backend's settings; what every backend owes is in contract/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/registry.h"

static int completions;

static void count(struct lm_op *op, int64_t result)
{
    (void)op;
    assert_int_equal(result, 0);
    completions++;
}

/* Runs one timer on a loop of its own; what the loop counted. */
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
        "poll:spin_us=1000000",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_due_while_spinning_neither_waits_for_it_nor_sleeps),
        cmocka_unit_test(a_timer_due_after_the_spinning_is_slept_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
