/* statistics.h - the arithmetic of a comparison: pure functions, no input or output, no policy.
 *
 * Fractions, not percent, everywhere. NAN means "not known" and is passed on. Functions that say
 * "sorted" want ascending order (lm_sort). All are safe from any thread.
 */
#ifndef LM_STATISTICS_H
#define LM_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending. The values must not hold NAN. */
void lm_sort(double *values, size_t count);

/* Quantile of sorted values, 0 <= q <= 1, linear between neighbours at position q * (count - 1)
 * (Hyndman and Fan's type 7, the default of R and NumPy). NAN when count is 0. */
double lm_quantile(const double *sorted, size_t count, double q);

/* Middle value, or mean of the two middle ones. NAN when count is 0. */
double lm_median(const double *sorted, size_t count);

/* Arithmetic mean. NAN when count is 0. */
double lm_mean(const double *values, size_t count);

/* Sample standard deviation, divided by count - 1. NAN when count < 2. */
double lm_sd(const double *values, size_t count);

struct lm_summary {
    size_t count;
    double median, mean, sd;
    double cv; /* sd / mean, fraction; NAN unless mean > 0 */
    double min, max;
};

/* All of the above of `sorted`. */
struct lm_summary lm_summarise(const double *sorted, size_t count);

/* Difference from the baseline, positive = better: candidate / baseline - 1 where higher is better,
 * 1 - candidate / baseline where lower is better. NAN unless baseline > 0. */
double lm_difference(double candidate, double baseline, bool higher_is_better);

/* How many times better than the baseline: candidate / baseline where higher is better, the inverse
 * where lower is better, so that above 1 is better for every unit. NAN unless both are > 0. */
double lm_ratio(double candidate, double baseline, bool higher_is_better);

/* Half width of the noise band: factor * sqrt(cv_candidate^2 + cv_baseline^2). */
double lm_noise(double cv_candidate, double cv_baseline, double factor);

/* |difference| <= noise; a difference on the edge of the band is within it. */
bool lm_within_noise(double difference, double noise);

/* An estimate with its interval. */
struct lm_interval {
    size_t count; /* values it rests on */
    double estimate, low, high;
};

/* Median of sorted values with a percentile bootstrap interval: `resamples` resamples with
 * replacement, of which the medians' (1 - confidence) / 2 and (1 + confidence) / 2 quantiles are
 * taken. Deterministic: the generator is splitmix64 started at `seed` in each call, so equal values
 * give an equal interval wherever and in whatever order they are worked out.
 * No bootstrap makes more of a sample than is in it: the range of n values holds the median with a
 * probability of 1 - 2^(1-n), so fewer than 6 values can not give a 95 % interval.
 * 0, -EINVAL when count or resamples is 0, -ENOMEM. */
int lm_bootstrap_median(const double *sorted, size_t count, size_t resamples, double confidence,
                        uint64_t seed, struct lm_interval *interval);

/* What makes two groups of samples separate; see policy.h for the values in force. */
struct lm_cluster_rule {
    size_t minimum_samples, minimum_side;
    double gap_sd;       /* least gap in pooled standard deviations of the two groups */
    double gap_fraction; /* least gap as a fraction of the median of all */
};

struct lm_clusters {
    bool found;
    size_t low_count, high_count;
    double low_median, high_median;
};

/* Looks for two separated clusters: of all cuts that leave minimum_side values on each side, the
 * one with the widest gap in units of the groups' pooled standard deviation is taken and held
 * against the rule. `found` is false when there are fewer than minimum_samples values. */
struct lm_clusters lm_find_clusters(const double *sorted, size_t count,
                                    const struct lm_cluster_rule *rule);

#endif
