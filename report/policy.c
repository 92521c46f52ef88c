#include "report/policy.h"

#include <stdio.h>

const struct lm_policy lm_policy = {
    .noise_factor = 2.0,
    .cv_limit = 0.25,
    .minimum_iterations = 2,
    .cluster_minimum_samples = 5,
    .cluster_minimum_side = 2,
    .cluster_gap_sd = 8.0,
    .cluster_gap_fraction = 0.10,
    .paired_minimum = 3,
    .bootstrap_resamples = 2000,
    .interval_confidence = 0.95,
    .bootstrap_seed = UINT64_C(0x6c6f6f706d61726b), /* "loopmark" */
    .lead_share = 0.5,
};

enum row {
    ROW_NOISE,
    ROW_CV,
    ROW_ITERATIONS,
    ROW_CLUSTERS,
    ROW_INTERVAL,
    ROW_LEAD,
    ROW_COUNT
};

static const char *const names[ROW_COUNT] = {
    [ROW_NOISE] = "noise_factor",
    [ROW_CV] = "cv_limit",
    [ROW_ITERATIONS] = "minimum_iterations",
    [ROW_CLUSTERS] = "cluster_gap",
    [ROW_INTERVAL] = "paired_interval",
    [ROW_LEAD] = "lead_share",
};

static const char *const meanings[ROW_COUNT] = {
    [ROW_NOISE] = "times √(CV² + CV²) of both sides: a difference up to this is within noise",
    [ROW_CV] = "a side with a CV above this is unstable",
    [ROW_ITERATIONS] = "good iterations each side needs for a verdict",
    [ROW_CLUSTERS] = "a side whose samples have a gap this wide (in sd of the two groups, in "
                     "percent of the median) is unstable",
    [ROW_INTERVAL] = "bootstrap interval of the median of per-iteration ratios to the baseline; "
                     "under 6 pairs it covers less",
    [ROW_LEAD] = "of a family's cases with a verdict in which its leader must be faster than the "
                 "next one, else they tie (pages)",
};

size_t lm_policy_row_count(void)
{
    return ROW_COUNT;
}

void lm_policy_row(size_t index, struct lm_policy_row *row)
{
    const struct lm_policy *p = &lm_policy;
    row->name = names[index];
    row->meaning = meanings[index];
    switch ((enum row)index) {
    case ROW_NOISE:
        snprintf(row->value, sizeof row->value, "%g", p->noise_factor);
        break;
    case ROW_CV:
        snprintf(row->value, sizeof row->value, "%g %%", p->cv_limit * 100.0);
        break;
    case ROW_ITERATIONS:
        snprintf(row->value, sizeof row->value, "%zu", p->minimum_iterations);
        break;
    case ROW_CLUSTERS:
        snprintf(row->value, sizeof row->value, "%g sd, %g %%, %zu+%zu of >= %zu",
                 p->cluster_gap_sd, p->cluster_gap_fraction * 100.0, p->cluster_minimum_side,
                 p->cluster_minimum_side, p->cluster_minimum_samples);
        break;
    case ROW_INTERVAL:
        snprintf(row->value, sizeof row->value, "%g %%, %zu resamples, >= %zu pairs",
                 p->interval_confidence * 100.0, p->bootstrap_resamples, p->paired_minimum);
        break;
    case ROW_LEAD:
        snprintf(row->value, sizeof row->value, "%g %%", p->lead_share * 100.0);
        break;
    case ROW_COUNT:
        break;
    }
}
