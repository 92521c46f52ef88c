#include "report/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "harness/random.h"

/* Shell's sort with Ciura's gaps. A page sorts the 2000 medians of some 6000 bootstraps, where
 * qsort's calls of a comparison took two thirds of all its time. */
void lm_sort(double *values, size_t count)
{
    static const size_t gaps[] = {64000, 29000, 13000, 5900, 2700, 1200, 701,
                                  301,   132,   57,    23,   10,   4,    1};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        for (size_t from = gaps[i]; from < count; from++) {
            double value = values[from];
            size_t to = from;
            for (; to >= gaps[i] && values[to - gaps[i]] > value; to -= gaps[i]) {
                values[to] = values[to - gaps[i]];
            }
            values[to] = value;
        }
    }
}

double lm_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0) {
        return NAN;
    }
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    double part = position - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double lm_median(const double *sorted, size_t count)
{
    if (count == 0) {
        return NAN;
    }
    if (count % 2 == 1) {
        return sorted[count / 2];
    }
    return (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0;
}

double lm_mean(const double *values, size_t count)
{
    if (count == 0) {
        return NAN;
    }
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

/* Sum of the squared distances from the mean. */
static double squares(const double *values, size_t count)
{
    double mean = lm_mean(values, count);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sum;
}

double lm_sd(const double *values, size_t count)
{
    if (count < 2) {
        return NAN;
    }
    return sqrt(squares(values, count) / (double)(count - 1));
}

struct lm_summary lm_summarise(const double *sorted, size_t count)
{
    struct lm_summary summary = {
        .count = count,
        .median = lm_median(sorted, count),
        .mean = lm_mean(sorted, count),
        .sd = lm_sd(sorted, count),
        .cv = NAN,
        .min = count > 0 ? sorted[0] : NAN,
        .max = count > 0 ? sorted[count - 1] : NAN,
    };
    if (summary.mean > 0.0) {
        summary.cv = summary.sd / summary.mean;
    }
    return summary;
}

double lm_difference(double candidate, double baseline, bool higher_is_better)
{
    if (!(baseline > 0.0)) {
        return NAN;
    }
    double ratio = candidate / baseline;
    return higher_is_better ? ratio - 1.0 : 1.0 - ratio;
}

double lm_ratio(double candidate, double baseline, bool higher_is_better)
{
    if (!(candidate > 0.0) || !(baseline > 0.0)) {
        return NAN;
    }
    return higher_is_better ? candidate / baseline : baseline / candidate;
}

double lm_noise(double cv_candidate, double cv_baseline, double factor)
{
    return factor * sqrt(cv_candidate * cv_candidate + cv_baseline * cv_baseline);
}

bool lm_within_noise(double difference, double noise)
{
    return fabs(difference) <= noise;
}

/* Median of one resample. Drawn by index into sorted values and counted, so that the middle ones
 * are found by walking the counts instead of sorting. */
static double resample_median(const double *sorted, size_t count, uint32_t *drawn, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        drawn[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        drawn[(size_t)(((lm_random_next(state) >> 32) * (uint64_t)count) >> 32)]++;
    }
    size_t lower_rank = (count - 1) / 2;
    size_t upper_rank = count / 2;
    size_t seen = 0;
    double lower = sorted[0];
    for (size_t i = 0; i < count; i++) {
        size_t until = seen + drawn[i];
        if (seen <= lower_rank && lower_rank < until) {
            lower = sorted[i];
        }
        if (upper_rank < until) {
            return lower_rank == upper_rank ? sorted[i] : (lower + sorted[i]) / 2.0;
        }
        seen = until;
    }
    return lower;
}

int lm_bootstrap_median(const double *sorted, size_t count, size_t resamples, double confidence,
                        uint64_t seed, struct lm_interval *interval)
{
    if (count == 0 || count > UINT32_MAX || resamples == 0) {
        return -EINVAL;
    }
    int status = -ENOMEM;
    uint64_t state = seed;
    double *medians = calloc(resamples, sizeof *medians);
    uint32_t *drawn = calloc(count, sizeof *drawn);
    if (medians == NULL || drawn == NULL) {
        goto out;
    }
    for (size_t i = 0; i < resamples; i++) {
        medians[i] = resample_median(sorted, count, drawn, &state);
    }
    lm_sort(medians, resamples);
    interval->count = count;
    interval->estimate = lm_median(sorted, count);
    interval->low = lm_quantile(medians, resamples, (1.0 - confidence) / 2.0);
    interval->high = lm_quantile(medians, resamples, (1.0 + confidence) / 2.0);
    status = 0;
out:
    free(drawn);
    free(medians);
    return status;
}

struct lm_clusters lm_find_clusters(const double *sorted, size_t count,
                                    const struct lm_cluster_rule *rule)
{
    struct lm_clusters clusters = {.found = false};
    if (count < rule->minimum_samples || count < 2 * rule->minimum_side || count < 3) {
        return clusters;
    }
    size_t best = 0;
    double best_gap = 0.0, best_sd = 0.0;
    for (size_t cut = rule->minimum_side; cut <= count - rule->minimum_side; cut++) {
        double gap = sorted[cut] - sorted[cut - 1];
        double inside = squares(sorted, cut) + squares(sorted + cut, count - cut);
        double sd = sqrt(inside / (double)(count - 2));
        /* Cross-multiplied, because groups of equal values have a deviation of 0. */
        if (best == 0 || gap * best_sd > best_gap * sd) {
            best = cut;
            best_gap = gap;
            best_sd = sd;
        }
    }
    if (best_gap <= 0.0 || best_gap < rule->gap_sd * best_sd ||
        best_gap < rule->gap_fraction * fabs(lm_median(sorted, count))) {
        return clusters;
    }
    clusters.found = true;
    clusters.low_count = best;
    clusters.high_count = count - best;
    clusters.low_median = lm_median(sorted, best);
    clusters.high_median = lm_median(sorted + best, count - best);
    return clusters;
}
