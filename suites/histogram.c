#include "suites/histogram.h"

#include <math.h>
#include <string.h>

void lm_histogram_clear(struct lm_histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->min_ns = UINT64_MAX;
}

void lm_histogram_add_many(struct lm_histogram *histogram, uint64_t total_ns, uint64_t count)
{
    uint64_t value_ns = total_ns / count;
    lm_histogram_add(histogram, value_ns);
    histogram->count += count - 1;
    histogram->sum_ns += total_ns - value_ns;
    histogram->buckets[lm_histogram_bucket(value_ns)] += count - 1;
}

void lm_histogram_merge(struct lm_histogram *into, const struct lm_histogram *from)
{
    into->count += from->count;
    into->sum_ns += from->sum_ns;
    into->min_ns = from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    for (uint32_t i = 0; i < LM_HISTOGRAM_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}

uint64_t lm_histogram_bucket_ns(uint32_t bucket)
{
    uint32_t sub_count = 1u << LM_HISTOGRAM_SUB_BITS;
    if (bucket < 2 * sub_count) {
        return bucket;
    }
    uint32_t exponent = (bucket >> LM_HISTOGRAM_SUB_BITS) - 1;
    uint64_t low_ns = (uint64_t)(bucket - (exponent << LM_HISTOGRAM_SUB_BITS)) << exponent;
    return low_ns + (UINT64_C(1) << exponent) / 2;
}

uint64_t lm_histogram_quantile_ns(const struct lm_histogram *histogram, double quantile)
{
    if (!histogram->count) {
        return 0;
    }
    double exact_rank = ceil(quantile * (double)histogram->count);
    uint64_t rank = exact_rank < 1 ? 1 : (uint64_t)exact_rank, seen = 0;
    if (rank >= histogram->count) {
        return histogram->max_ns;
    }
    uint32_t bucket = 0;
    while (bucket < LM_HISTOGRAM_BUCKETS - 1 && (seen += histogram->buckets[bucket]) < rank) {
        bucket++;
    }
    uint64_t value_ns = lm_histogram_bucket_ns(bucket);
    value_ns = value_ns < histogram->min_ns ? histogram->min_ns : value_ns;
    return value_ns > histogram->max_ns ? histogram->max_ns : value_ns;
}
