/* The order of samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/schedule.h"

#define CASES      5
#define BACKENDS   3
#define ITERATIONS 6
#define STEPS      (CASES * BACKENDS * ITERATIONS)

static void take_steps(uint64_t seed, bool interleaved, struct lm_step *steps)
{
    struct lm_schedule schedule = {.cases = CASES,
                                   .backends = BACKENDS,
                                   .iterations = ITERATIONS,
                                   .seed = seed,
                                   .interleaved = interleaved};
    struct lm_step step;
    size_t count = 0;
    assert_int_equal(lm_schedule_begin(&schedule), 0);
    memset(steps, 0, STEPS * sizeof(*steps));
    while (lm_schedule_next(&schedule, &step)) {
        assert_true(count < STEPS);
        steps[count].iteration = step.iteration;
        steps[count].case_index = step.case_index;
        steps[count++].backend_index = step.backend_index;
    }
    assert_int_equal(count, STEPS);
    lm_schedule_end(&schedule);
}

static void assert_each_place_once(const struct lm_step *steps)
{
    int seen[ITERATIONS][CASES][BACKENDS] = {0};
    for (size_t i = 0; i < STEPS; i++) {
        seen[steps[i].iteration][steps[i].case_index][steps[i].backend_index]++;
    }
    for (size_t i = 0; i < STEPS; i++) {
        assert_int_equal(((const int *)seen)[i], 1);
    }
}

static void every_combination_comes_exactly_once(void **state)
{
    (void)state;
    struct lm_step steps[STEPS];
    take_steps(1, true, steps);
    assert_each_place_once(steps);
    take_steps(1, false, steps);
    assert_each_place_once(steps);
}

static void backends_of_a_case_run_side_by_side_when_interleaved(void **state)
{
    (void)state;
    struct lm_step steps[STEPS];
    take_steps(2, true, steps);
    for (size_t i = 0; i < STEPS; i++) {
        const struct lm_step *first = &steps[i - i % BACKENDS];
        assert_int_equal(steps[i].case_index, first->case_index);
        assert_int_equal(steps[i].iteration, first->iteration);
    }
}

static void each_backend_of_a_case_goes_first_equally_often(void **state)
{
    (void)state;
    struct lm_step steps[STEPS];
    int first[CASES][BACKENDS] = {0};
    take_steps(3, true, steps);
    for (size_t i = 0; i < STEPS; i += BACKENDS) {
        first[steps[i].case_index][steps[i].backend_index]++;
    }
    for (size_t i = 0; i < CASES * BACKENDS; i++) {
        assert_int_equal(((const int *)first)[i], ITERATIONS / BACKENDS);
    }
}

static void blocked_runs_backend_after_backend(void **state)
{
    (void)state;
    struct lm_step steps[STEPS];
    take_steps(4, false, steps);
    for (size_t i = 0; i < STEPS; i++) {
        assert_int_equal(steps[i].backend_index, i / (STEPS / BACKENDS));
    }
}

static void the_same_seed_gives_the_same_order(void **state)
{
    (void)state;
    struct lm_step one[STEPS], other[STEPS];
    take_steps(5, true, one);
    take_steps(5, true, other);
    assert_memory_equal(one, other, sizeof(one));
    take_steps(6, true, other);
    assert_memory_not_equal(one, other, sizeof(one));
}

static void the_order_of_cases_changes_with_the_iteration(void **state)
{
    (void)state;
    struct lm_step steps[STEPS];
    size_t changed = 0;
    take_steps(7, true, steps);
    for (size_t i = 0; i < CASES * BACKENDS; i++) {
        changed += steps[i].case_index != steps[i + CASES * BACKENDS].case_index;
    }
    assert_true(changed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_comes_exactly_once),
        cmocka_unit_test(backends_of_a_case_run_side_by_side_when_interleaved),
        cmocka_unit_test(each_backend_of_a_case_goes_first_equally_often),
        cmocka_unit_test(blocked_runs_backend_after_backend),
        cmocka_unit_test(the_same_seed_gives_the_same_order),
        cmocka_unit_test(the_order_of_cases_changes_with_the_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
