/* histogram.h - a log-linear histogram of durations: constant memory, one increment per value.
 *
 * Values are nanoseconds. Up to 127 ns a bucket holds one value; above, each power of two is cut
 * into 64 equal buckets, so a bucket's middle is within 0.8 % of every value in it. Values above
 * LM_HISTOGRAM_MAX_NS (73 minutes) are counted in the last bucket. No locks: one writer each.
 */
#ifndef LM_HISTOGRAM_H
#define LM_HISTOGRAM_H

#include <stdint.h>

#define LM_HISTOGRAM_SUB_BITS 6u
#define LM_HISTOGRAM_MAX_BITS 42u
#define LM_HISTOGRAM_BUCKETS                                                                       \
    ((LM_HISTOGRAM_MAX_BITS - LM_HISTOGRAM_SUB_BITS + 1u) << LM_HISTOGRAM_SUB_BITS)
#define LM_HISTOGRAM_MAX_NS ((UINT64_C(1) << LM_HISTOGRAM_MAX_BITS) - 1u)

struct lm_histogram {
    uint64_t count;
    uint64_t sum_ns;         /* exact, so that the mean is exact */
    uint64_t min_ns, max_ns; /* exact; min_ns is UINT64_MAX while empty */
    uint64_t buckets[LM_HISTOGRAM_BUCKETS];
};

/* Bucket number of a value: monotonic in value_ns. */
static inline uint32_t lm_histogram_bucket(uint64_t value_ns)
{
    if (value_ns > LM_HISTOGRAM_MAX_NS) {
        return LM_HISTOGRAM_BUCKETS - 1u;
    }
    if (value_ns < (1u << LM_HISTOGRAM_SUB_BITS)) {
        return (uint32_t)value_ns;
    }
    uint32_t exponent = 63u - (uint32_t)__builtin_clzll(value_ns) - LM_HISTOGRAM_SUB_BITS;
    return (exponent << LM_HISTOGRAM_SUB_BITS) + (uint32_t)(value_ns >> exponent);
}

/* Counts one value. */
static inline void lm_histogram_add(struct lm_histogram *histogram, uint64_t value_ns)
{
    histogram->count++;
    histogram->sum_ns += value_ns;
    if (value_ns < histogram->min_ns) {
        histogram->min_ns = value_ns;
    }
    if (value_ns > histogram->max_ns) {
        histogram->max_ns = value_ns;
    }
    histogram->buckets[lm_histogram_bucket(value_ns)]++;
}

/* Counts `count` (> 0) values that are total_ns in sum as that many equal ones. */
void lm_histogram_add_many(struct lm_histogram *histogram, uint64_t total_ns, uint64_t count);

/* Empties the histogram; also the way to initialise one. */
void lm_histogram_clear(struct lm_histogram *histogram);

/* Adds all of `from` to `into`. */
void lm_histogram_merge(struct lm_histogram *into, const struct lm_histogram *from);

/* Middle of a bucket in ns; bucket < LM_HISTOGRAM_BUCKETS. */
uint64_t lm_histogram_bucket_ns(uint32_t bucket);

/* The smallest value that at least `quantile` (0..1) of all values do not exceed (nearest rank), to
 * the histogram's accuracy and never outside min_ns..max_ns. 0 for an empty histogram. */
uint64_t lm_histogram_quantile_ns(const struct lm_histogram *histogram, double quantile);

#endif
