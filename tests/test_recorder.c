#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "suites/recorder.h"

static struct lm_recorder recorder;
static enum lm_phase entered[4];
static int entered_count;

static void note_phase(void *context, enum lm_phase phase)
{
    assert_ptr_equal(context, &recorder);
    entered[entered_count++] = phase;
}

static void start(bool measures_drain)
{
    entered_count = 0;
    lm_recorder_start(&recorder, 1000, 1000, measures_drain, note_phase, &recorder);
}

/* Laps with times of the test's choice: the same calls lm_recorder_lap makes. */
static void lap(uint64_t from_ns, uint64_t to_ns, uint64_t bytes)
{
    lm_recorder_boundary(&recorder, from_ns, to_ns, bytes);
}

static void a_lap_before_the_border_stays_in_its_phase(void **state)
{
    (void)state;
    entered_count = 0;
    lm_recorder_start(&recorder, UINT64_C(1) << 50, 1000, false, note_phase, &recorder);
    uint64_t started_ns = lm_clock_ns();
    assert_int_equal(lm_recorder_lap(&recorder, &started_ns, 5), LM_PHASE_WARMUP);
    assert_int_equal(recorder.latency.count, 1);
    assert_int_equal(entered_count, 0);
}

static void operations_timed_together_count_as_equal_shares(void **state)
{
    (void)state;
    start(false);
    recorder.phase_end_ns = 5000;
    assert_int_equal(lm_recorder_add(&recorder, 5000, 100, 10, 0), LM_PHASE_MEASURE);
    assert_int_equal(lm_recorder_add(&recorder, 5500, 25, 10, 3), LM_PHASE_MEASURE);
    assert_int_equal(lm_recorder_add(&recorder, 6000, 40, 2, 4), LM_PHASE_DRAIN);
    assert_int_equal(lm_recorder_add(&recorder, 6100, 40, 7, 1), LM_PHASE_DRAIN);
    assert_int_equal(recorder.latency.count, 12);
    assert_int_equal(recorder.latency.sum_ns, 65);
    assert_int_equal(recorder.latency.min_ns, 2);
    assert_int_equal(recorder.latency.max_ns, 20);
    assert_int_equal(lm_histogram_quantile_ns(&recorder.latency, 0.5), 2);
    assert_int_equal(recorder.bytes, 7);
    assert_int_equal(recorder.drained_operations, 7);
    assert_int_equal(recorder.end_ns, 6000);
}

static void the_warm_up_is_not_recorded(void **state)
{
    (void)state;
    start(false);
    lm_histogram_add(&recorder.latency, 77);
    recorder.bytes = 5;
    lap(100, 5000, 10);
    assert_int_equal(recorder.phase, LM_PHASE_MEASURE);
    assert_int_equal(recorder.latency.count, 0);
    assert_int_equal(recorder.bytes, 0);
    assert_int_equal(recorder.begin_ns, 5000);
    assert_int_equal(recorder.phase_end_ns, 6000);
}

static void the_lap_that_crosses_the_end_is_the_last_one_recorded(void **state)
{
    (void)state;
    start(false);
    lap(100, 5000, 10);
    lap(5000, 6200, 10);
    assert_int_equal(recorder.phase, LM_PHASE_DRAIN);
    assert_int_equal(recorder.latency.count, 1);
    assert_int_equal(recorder.latency.max_ns, 1200);
    assert_int_equal(recorder.end_ns, 6200);
    assert_int_equal(recorder.bytes, 10);
}

static void the_drain_is_counted_apart(void **state)
{
    (void)state;
    start(false);
    lap(100, 5000, 10);
    lap(5000, 6200, 10);
    lap(5100, 6300, 10);
    assert_int_equal(recorder.latency.count, 1);
    assert_int_equal(recorder.bytes, 10);
    assert_int_equal(recorder.end_ns, 6200);
    assert_int_equal(recorder.drained_operations, 1);
    assert_int_equal(recorder.drained_bytes, 10);
}

static void throughput_measures_its_drain(void **state)
{
    (void)state;
    start(true);
    lap(100, 5000, 10);
    lap(5000, 6200, 10);
    lap(6200, 6300, 10);
    assert_int_equal(recorder.latency.count, 2);
    assert_int_equal(recorder.bytes, 20);
    assert_int_equal(recorder.end_ns, 6300);
    assert_int_equal(recorder.drained_bytes, 10);
}

static void each_phase_is_announced_once_and_in_order(void **state)
{
    (void)state;
    start(false);
    lap(100, 5000, 10);
    lap(5000, 6200, 10);
    lap(6200, 6300, 10);
    assert_int_equal(entered_count, 2);
    assert_int_equal(entered[0], LM_PHASE_MEASURE);
    assert_int_equal(entered[1], LM_PHASE_DRAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lap_before_the_border_stays_in_its_phase),
        cmocka_unit_test(operations_timed_together_count_as_equal_shares),
        cmocka_unit_test(the_warm_up_is_not_recorded),
        cmocka_unit_test(the_lap_that_crosses_the_end_is_the_last_one_recorded),
        cmocka_unit_test(the_drain_is_counted_apart),
        cmocka_unit_test(throughput_measures_its_drain),
        cmocka_unit_test(each_phase_is_announced_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
