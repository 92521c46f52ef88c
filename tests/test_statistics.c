/* The arithmetic, against figures worked out by hand, and the rules against simulated samples. */
#include "tests/compare_testing.h"

#include "report/policy.h"
#include "report/statistics.h"

static void median_of_an_odd_and_an_even_number_of_values(void **state)
{
    (void)state;
    double odd[] = {9.0, 1.0, 4.0};
    double even[] = {9.0, 1.0, 4.0, 5.0};
    lm_sort(odd, 3);
    lm_sort(even, 4);
    assert_near(lm_median(odd, 3), 4.0);
    assert_near(lm_median(even, 4), 4.5);
    assert_near(lm_median(odd, 1), 1.0);
    assert_true(isnan(lm_median(NULL, 0)));
}

static void quantiles_lie_between_neighbours(void **state)
{
    (void)state;
    const double values[] = {10.0, 20.0, 30.0, 40.0, 50.0};
    assert_near(lm_quantile(values, 5, 0.0), 10.0);
    assert_near(lm_quantile(values, 5, 1.0), 50.0);
    assert_near(lm_quantile(values, 5, 0.5), 30.0);
    assert_near(lm_quantile(values, 5, 0.9), 46.0); /* position 3.6 */
    assert_near(lm_quantile(values, 1, 0.9), 10.0);
    assert_true(isnan(lm_quantile(values, 0, 0.5)));
}

static void summary_divides_by_count_less_one(void **state)
{
    (void)state;
    /* Mean 5, squares 9+1+1+1+0+0+4+16 = 32, sd = sqrt(32/7). */
    const double values[] = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
    struct lm_summary summary = lm_summarise(values, 8);
    assert_int_equal(summary.count, 8);
    assert_near(summary.median, 4.5);
    assert_near(summary.mean, 5.0);
    assert_near(summary.sd, 2.13808993529939);
    assert_near(summary.cv, 0.427617987059879);
    assert_near(summary.min, 2.0);
    assert_near(summary.max, 9.0);
}

static void one_value_has_no_spread_and_none_has_nothing(void **state)
{
    (void)state;
    const double value = 3.0;
    struct lm_summary one = lm_summarise(&value, 1);
    assert_near(one.median, 3.0);
    assert_true(isnan(one.sd) && isnan(one.cv));
    struct lm_summary none = lm_summarise(NULL, 0);
    assert_true(isnan(none.median) && isnan(none.mean) && isnan(none.min) && isnan(none.max));
}

static void difference_is_positive_when_the_candidate_is_better(void **state)
{
    (void)state;
    assert_near(lm_difference(150.0, 100.0, true), 0.5);
    assert_near(lm_difference(90.0, 100.0, true), -0.1);
    assert_near(lm_difference(50.0, 100.0, false), 0.5);
    assert_near(lm_difference(110.0, 100.0, false), -0.1);
    assert_true(isnan(lm_difference(1.0, 0.0, true)));
    assert_true(isnan(lm_difference(1.0, NAN, true)));
}

static void ratio_is_above_one_when_the_candidate_is_better(void **state)
{
    (void)state;
    assert_near(lm_ratio(150.0, 100.0, true), 1.5);
    assert_near(lm_ratio(50.0, 100.0, false), 2.0);
    assert_true(isnan(lm_ratio(0.0, 100.0, false)));
}

static void noise_band_is_twice_the_root_of_the_squares_and_holds_its_edge(void **state)
{
    (void)state;
    assert_near(lm_noise(0.03, 0.04, 2.0), 0.10);
    assert_true(lm_within_noise(0.25, 0.25));
    assert_true(lm_within_noise(-0.25, 0.25));
    assert_false(lm_within_noise(-0.2500001, 0.25));
    assert_false(lm_within_noise(NAN, 0.25));
}

static int bootstrap(const double *sorted, size_t count, struct lm_interval *interval)
{
    return lm_bootstrap_median(sorted, count, lm_policy.bootstrap_resamples,
                               lm_policy.interval_confidence, lm_policy.bootstrap_seed, interval);
}

static void bootstrap_interval_is_that_of_the_exact_distribution(void **state)
{
    (void)state;
    /* Of 7 distinct values, the resampled median is the smallest with probability 0.0102 and one of
     * the two smallest with 0.0983 (binomial), so the 2.5 % quantile is the second; the same above.
     */
    const double values[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    struct lm_interval interval;
    assert_int_equal(bootstrap(values, 7, &interval), 0);
    assert_int_equal(interval.count, 7);
    assert_near(interval.estimate, 4.0);
    assert_near(interval.low, 2.0);
    assert_near(interval.high, 6.0);
}

static void bootstrap_gives_the_same_interval_every_time(void **state)
{
    (void)state;
    const double values[] = {0.91, 0.97, 1.0, 1.01, 1.03, 1.2};
    struct lm_interval first, second;
    assert_int_equal(bootstrap(values, 6, &first), 0);
    assert_int_equal(bootstrap(values, 6, &second), 0);
    assert_memory_equal(&first, &second, sizeof first);
    assert_near(first.estimate, 1.005);
    assert_true(first.low >= 0.91 && first.low < first.estimate);
    assert_true(first.high <= 1.2 && first.high > first.estimate);
}

static void bootstrap_of_equal_values_has_no_width(void **state)
{
    (void)state;
    const double values[] = {2.0, 2.0, 2.0};
    struct lm_interval interval;
    assert_int_equal(bootstrap(values, 3, &interval), 0);
    assert_near(interval.low, 2.0);
    assert_near(interval.high, 2.0);
}

static void bootstrap_of_nothing_is_refused(void **state)
{
    (void)state;
    struct lm_interval interval;
    const double value = 1.0;
    assert_int_equal(bootstrap(&value, 0, &interval), -EINVAL);
    assert_int_equal(lm_bootstrap_median(&value, 1, 0, 0.95, 1, &interval), -EINVAL);
}

static struct lm_clusters clusters_of(double *values, size_t count)
{
    const struct lm_cluster_rule rule = {lm_policy.cluster_minimum_samples,
                                         lm_policy.cluster_minimum_side, lm_policy.cluster_gap_sd,
                                         lm_policy.cluster_gap_fraction};
    lm_sort(values, count);
    return lm_find_clusters(values, count, &rule);
}

static void two_modes_are_found_and_named(void **state)
{
    (void)state;
    double values[] = {9.1, 4.0, 9.0, 4.1, 9.2, 9.05, 4.05};
    struct lm_clusters clusters = clusters_of(values, 7);
    assert_true(clusters.found);
    assert_int_equal(clusters.low_count, 3);
    assert_int_equal(clusters.high_count, 4);
    assert_near(clusters.low_median, 4.05);
    assert_near(clusters.high_median, 9.075);
}

static void modes_close_enough_to_pass_the_cv_limit_are_found(void **state)
{
    (void)state;
    double values[] = {100.0, 101.0, 100.5, 120.0, 121.0};
    struct lm_summary summary;
    assert_true(clusters_of(values, 5).found);
    summary = lm_summarise(values, 5);
    assert_true(summary.cv < lm_policy.cv_limit);
}

static void two_repeated_values_are_clusters(void **state)
{
    (void)state;
    double values[] = {1.0, 1.0, 2.0, 2.0, 2.0};
    assert_true(clusters_of(values, 5).found);
}

static void a_single_outlier_is_no_cluster(void **state)
{
    (void)state;
    double values[] = {100.0, 100.5, 101.0, 99.5, 100.2, 99.9, 300.0};
    assert_false(clusters_of(values, 7).found);
}

static void a_gap_below_a_tenth_of_the_median_is_no_cluster(void **state)
{
    (void)state;
    double values[] = {100.0, 100.1, 100.2, 105.0, 105.1};
    assert_false(clusters_of(values, 5).found);
}

static void fewer_than_five_samples_are_no_clusters(void **state)
{
    (void)state;
    double values[] = {1.0, 1.0, 9.0, 9.0};
    assert_false(clusters_of(values, 4).found);
    assert_false(clusters_of(values, 0).found);
}

static void equal_values_are_no_clusters(void **state)
{
    (void)state;
    double values[] = {5.0, 5.0, 5.0, 5.0, 5.0, 5.0};
    assert_false(clusters_of(values, 6).found);
}

/* A generator of its own, so that the rule is not tested with what it might use itself. */
static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2.0 * log(uniform(state))) * cos(2.0 * 3.14159265358979 * uniform(state));
}

/* Standardised draws: mean 0, sd 1. */
static double draw_normal(uint64_t *state)
{
    return normal(state);
}

static double draw_uniform(uint64_t *state)
{
    return sqrt(12.0) * (uniform(state) - 0.5);
}

static double draw_exponential(uint64_t *state)
{
    return -log(uniform(state)) - 1.0;
}

static double draw_laplace(uint64_t *state)
{
    double u = uniform(state) - 0.5;
    return (u < 0.0 ? 1.0 : -1.0) * log(1.0 - 2.0 * fabs(u)) / sqrt(2.0);
}

/* How many in 100 of simulated unimodal samples are called clustered. */
static double false_alarms(double (*draw)(uint64_t *state), double cv, size_t count)
{
    enum {
        TRIALS = 20000
    };
    uint64_t state = 42;
    size_t alarms = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[32];
        for (size_t i = 0; i < count; i++) {
            values[i] = 1.0 + cv * draw(&state);
        }
        alarms += clusters_of(values, count).found;
    }
    return 100.0 * (double)alarms / TRIALS;
}

static void ordinary_noise_is_almost_never_called_clustered(void **state)
{
    (void)state;
    double (*const draws[])(uint64_t *) = {draw_normal, draw_uniform, draw_exponential,
                                           draw_laplace};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        for (size_t count = 5; count <= 20; count += 5) {
            assert_true(false_alarms(draws[i], 0.02, count) < 0.05);
        }
        assert_true(false_alarms(draws[i], 0.05, 7) < 0.8);
        assert_true(false_alarms(draws[i], 0.10, 7) < 1.5);
        assert_true(false_alarms(draws[i], 0.10, 20) < 0.1);
    }
}

static void separated_modes_are_almost_always_called_clustered(void **state)
{
    (void)state;
    for (size_t count = 5; count <= 20; count++) {
        uint64_t random = 7;
        size_t found = 0;
        for (int trial = 0; trial < 2000; trial++) {
            double values[32];
            size_t high = 2 + (size_t)(uniform(&random) * (double)(count - 3));
            for (size_t i = 0; i < count; i++) {
                values[i] = (i < high ? 9.0 : 4.5) + 0.2 * normal(&random);
            }
            found += clusters_of(values, count).found;
        }
        assert_true(found > 1980);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_an_odd_and_an_even_number_of_values),
        cmocka_unit_test(quantiles_lie_between_neighbours),
        cmocka_unit_test(summary_divides_by_count_less_one),
        cmocka_unit_test(one_value_has_no_spread_and_none_has_nothing),
        cmocka_unit_test(difference_is_positive_when_the_candidate_is_better),
        cmocka_unit_test(ratio_is_above_one_when_the_candidate_is_better),
        cmocka_unit_test(noise_band_is_twice_the_root_of_the_squares_and_holds_its_edge),
        cmocka_unit_test(bootstrap_interval_is_that_of_the_exact_distribution),
        cmocka_unit_test(bootstrap_gives_the_same_interval_every_time),
        cmocka_unit_test(bootstrap_of_equal_values_has_no_width),
        cmocka_unit_test(bootstrap_of_nothing_is_refused),
        cmocka_unit_test(two_modes_are_found_and_named),
        cmocka_unit_test(modes_close_enough_to_pass_the_cv_limit_are_found),
        cmocka_unit_test(two_repeated_values_are_clusters),
        cmocka_unit_test(a_single_outlier_is_no_cluster),
        cmocka_unit_test(a_gap_below_a_tenth_of_the_median_is_no_cluster),
        cmocka_unit_test(fewer_than_five_samples_are_no_clusters),
        cmocka_unit_test(equal_values_are_no_clusters),
        cmocka_unit_test(ordinary_noise_is_almost_never_called_clustered),
        cmocka_unit_test(separated_modes_are_almost_always_called_clustered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
