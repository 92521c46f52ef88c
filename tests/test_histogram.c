#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "suites/histogram.h"

static struct lm_histogram histogram, other;

static int empty(void **state)
{
    (void)state;
    lm_histogram_clear(&histogram);
    lm_histogram_clear(&other);
    return 0;
}

static void every_value_is_within_one_percent_of_its_bucket(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < LM_HISTOGRAM_MAX_NS / 2; value += value / 37 + 1) {
        uint64_t middle = lm_histogram_bucket_ns(lm_histogram_bucket(value));
        uint64_t error = middle > value ? middle - value : value - middle;
        assert_true(error * 100 <= value);
    }
}

static void buckets_rise_with_the_value_and_leave_no_gap(void **state)
{
    (void)state;
    uint32_t last = 0;
    for (uint64_t value = 0; value < 1u << 20; value++) {
        uint32_t bucket = lm_histogram_bucket(value);
        assert_true(bucket == last || bucket == last + 1);
        last = bucket;
    }
}

static void the_largest_values_are_counted_in_the_last_bucket(void **state)
{
    (void)state;
    assert_int_equal(lm_histogram_bucket(LM_HISTOGRAM_MAX_NS), LM_HISTOGRAM_BUCKETS - 1);
    lm_histogram_add(&histogram, UINT64_MAX / 4);
    assert_int_equal(histogram.buckets[LM_HISTOGRAM_BUCKETS - 1], 1);
    assert_true(lm_histogram_quantile_ns(&histogram, 0.5) == UINT64_MAX / 4);
}

static void mean_minimum_and_maximum_are_exact(void **state)
{
    (void)state;
    lm_histogram_add(&histogram, 1000003);
    lm_histogram_add(&histogram, 7);
    assert_int_equal(histogram.sum_ns, 1000010);
    assert_int_equal(histogram.min_ns, 7);
    assert_int_equal(histogram.max_ns, 1000003);
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0), 7);
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 1), 1000003);
}

static void quantiles_are_of_the_nearest_rank(void **state)
{
    (void)state;
    for (uint64_t value = 1; value <= 100; value++) {
        lm_histogram_add(&histogram, value);
    }
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0.50), 50);
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0.99), 99);
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0.001), 1);
}

static void an_empty_histogram_has_quantile_zero(void **state)
{
    (void)state;
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0.99), 0);
}

static void merging_adds_everything(void **state)
{
    (void)state;
    lm_histogram_add(&histogram, 10);
    lm_histogram_add(&other, 5);
    lm_histogram_add(&other, 90000);
    lm_histogram_merge(&histogram, &other);
    assert_int_equal(histogram.count, 3);
    assert_int_equal(histogram.sum_ns, 90015);
    assert_int_equal(histogram.min_ns, 5);
    assert_int_equal(histogram.max_ns, 90000);
    assert_int_equal(lm_histogram_quantile_ns(&histogram, 0.5), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_value_is_within_one_percent_of_its_bucket, empty),
        cmocka_unit_test_setup(buckets_rise_with_the_value_and_leave_no_gap, empty),
        cmocka_unit_test_setup(the_largest_values_are_counted_in_the_last_bucket, empty),
        cmocka_unit_test_setup(mean_minimum_and_maximum_are_exact, empty),
        cmocka_unit_test_setup(quantiles_are_of_the_nearest_rank, empty),
        cmocka_unit_test_setup(an_empty_histogram_has_quantile_zero, empty),
        cmocka_unit_test_setup(merging_adds_everything, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
