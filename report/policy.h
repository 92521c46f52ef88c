/* policy.h - every threshold a verdict depends on, in one table.
 *
 * The table is printed with every comparison, so that a reader can redo each verdict. Not here: the
 * formulas (statistics.h) and the words for the outcomes (wording.h).
 */
#ifndef LM_POLICY_H
#define LM_POLICY_H

#include <stddef.h>
#include <stdint.h>

struct lm_policy {
    /* Within noise: |difference| <= noise_factor * sqrt(CV_candidate^2 + CV_baseline^2). */
    double noise_factor;
    /* A side whose CV (fraction) is above this is unstable. */
    double cv_limit;
    /* Iterations each side needs before there is a verdict. */
    size_t minimum_iterations;

    /* Two separated clusters of samples make a side unstable: with at least cluster_minimum_samples
     * samples, of which at least cluster_minimum_side on each side of a gap, the gap must be
     * cluster_gap_sd times the pooled standard deviation inside the two groups or more, and
     * cluster_gap_fraction of the median or more. Simulated with 7 unimodal samples (normal,
     * uniform, exponential, Laplace) this fires on none at a CV of 2 %, on at most 0.6 % at 5 % and
     * on at most 1.2 % at 10 %; two equally wide clusters 20 of their standard deviations apart are
     * always found, 10 apart in 59 of 100 times. */
    size_t cluster_minimum_samples, cluster_minimum_side;
    double cluster_gap_sd, cluster_gap_fraction;

    /* Interval of the paired ratio: percentile bootstrap of the median. */
    size_t paired_minimum;
    size_t bootstrap_resamples;
    double interval_confidence; /* fraction, 0..1 */
    uint64_t bootstrap_seed;

    /* The leader of a family is said to lead when it is faster than the next one in at least this
     * share of the cases with a verdict, and in more than it is slower in; else the two tie. */
    double lead_share;
};

/* The policy in force. */
extern const struct lm_policy lm_policy;

/* One line of the printed table. */
struct lm_policy_row {
    const char *name; /* stable key, also the JSON member */
    char value[48];
    const char *meaning; /* one sentence without a full stop */
};

/* The table of lm_policy, in printed order. `index` < lm_policy_row_count(). */
size_t lm_policy_row_count(void);
void lm_policy_row(size_t index, struct lm_policy_row *row);

#endif
