/* Latency quantiles of each implementation on each case, pooled over its samples. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/comparison_measure.h"
#include "report/page_parts.h"

const double lm_curve_quantiles[LM_CURVE_POINTS] = {0.0,  0.1,  0.25,  0.5,    0.75, 0.9,
                                                    0.95, 0.99, 0.999, 0.9999, 1.0};
const char *const lm_curve_labels[LM_CURVE_POINTS] = {"min", "p10", "p25",   "p50",    "p75", "p90",
                                                      "p95", "p99", "p99.9", "p99.99", "max"};

static int compare_buckets(const void *a, const void *b)
{
    uint64_t left = ((const struct lm_bucket *)a)->value_ns;
    uint64_t right = ((const struct lm_bucket *)b)->value_ns;
    return left < right ? -1 : left > right;
}

/* The buckets of all good samples of a group, by value; NULL when memory is short. */
static struct lm_bucket *pool(const struct lm_groups *groups, size_t group, size_t *count)
{
    size_t room = 1;
    for (size_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
        room += groups->samples[i]->latency.bucket_count;
    }
    struct lm_bucket *buckets = calloc(room, sizeof *buckets);
    *count = 0;
    for (size_t i = groups->first[group]; i < groups->first[group + 1] && buckets != NULL; i++) {
        const struct lm_latency *latency = &groups->samples[i]->latency;
        for (size_t j = 0; j < latency->bucket_count; j++) {
            buckets[(*count)++] = latency->buckets[j];
        }
    }
    if (buckets != NULL) {
        qsort(buckets, *count, sizeof *buckets, compare_buckets);
    }
    return buckets;
}

/* The value below or at which a share `quantile` of all lies: the bucket that holds the
 * ceil(quantile * total)-th value, as the samples' own quantiles are taken. */
static void fill_curve(struct lm_curve *curve, const struct lm_bucket *buckets, size_t count)
{
    double total = 0.0, seen = 0.0;
    size_t bucket = 0;
    for (size_t i = 0; i < count; i++) {
        total += (double)buckets[i].count;
    }
    curve->known = count > 0 && buckets[count - 1].value_ns > 0;
    for (size_t point = 0; point < LM_CURVE_POINTS && curve->known; point++) {
        double wanted = ceil(lm_curve_quantiles[point] * total);
        while (bucket + 1 < count && seen + (double)buckets[bucket].count < wanted) {
            seen += (double)buckets[bucket++].count;
        }
        curve->value_ns[point] = (double)buckets[bucket].value_ns;
    }
}

/* The fastest and the slowest operation are known exactly, beside their buckets. */
static void fill_ends(struct lm_curve *curve, const struct lm_groups *groups, size_t group)
{
    double least = INFINITY, most = 0.0;
    for (size_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
        const struct lm_latency *latency = &groups->samples[i]->latency;
        if (latency->bucket_count > 0) {
            least = fmin(least, (double)latency->min_ns);
            most = fmax(most, (double)latency->max_ns);
        }
    }
    if (curve->known) {
        curve->value_ns[0] = least;
        curve->value_ns[LM_CURVE_POINTS - 1] = most;
    }
}

int lm_page_fill_curves(struct lm_page *page, const struct lm_results *results)
{
    struct lm_groups groups;
    size_t group_count = results->run.backend_count * results->run.case_count;
    page->curves = calloc(group_count + 1, sizeof *page->curves);
    int status = lm_groups_fill(&groups, results);
    if (page->curves == NULL) {
        status = -ENOMEM;
    }
    /* page->own holds all backends and all cases of the file, in its order. */
    for (size_t group = 0; group < group_count && status == 0; group++) {
        size_t count;
        struct lm_bucket *buckets = pool(&groups, group, &count);
        if (buckets == NULL) {
            status = -ENOMEM;
            break;
        }
        fill_curve(&page->curves[group], buckets, count);
        fill_ends(&page->curves[group], &groups, group);
        free(buckets);
    }
    lm_groups_free(&groups);
    return status;
}
