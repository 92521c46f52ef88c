/* Verdicts and counts of a filled comparison. */
#include "report/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/comparison_build.h"
#include "report/policy.h"
#include "report/wording.h"

bool lm_is_unstable(const struct lm_measurement *side)
{
    return side->clusters.found || side->metric.cv > lm_policy.cv_limit;
}

struct lm_clusters lm_build_clusters(const double *sorted, size_t count)
{
    const struct lm_cluster_rule rule = {
        .minimum_samples = lm_policy.cluster_minimum_samples,
        .minimum_side = lm_policy.cluster_minimum_side,
        .gap_sd = lm_policy.cluster_gap_sd,
        .gap_fraction = lm_policy.cluster_gap_fraction,
    };
    return lm_find_clusters(sorted, count, &rule);
}

static bool has_enough(const struct lm_measurement *side)
{
    return side->imported || side->metric.count >= lm_policy.minimum_iterations;
}

/* The reason of a verdict that is the fault of one side, in the words of that side. */
static const char *reason_of(const struct lm_measurement *candidate,
                             const struct lm_measurement *baseline, bool candidate_is_at_fault)
{
    const char *reason = candidate_is_at_fault ? candidate->reason : baseline->reason;
    return reason != NULL ? reason : LM_REASON_UNKNOWN;
}

/* The verdict before the numbers are held against each other. */
static void judge_usable(const struct lm_comparison *comparison,
                         const struct lm_measurement *candidate,
                         const struct lm_measurement *baseline, struct lm_cell *cell)
{
    if (candidate->failed > 0 || baseline->failed > 0) {
        cell->verdict = LM_VERDICT_FAILED;
        cell->reason = reason_of(candidate, baseline, candidate->failed > 0);
        return;
    }
    if (candidate->skipped > 0 || baseline->skipped > 0) {
        cell->verdict = LM_VERDICT_SKIPPED;
        cell->reason = reason_of(candidate, baseline, candidate->skipped > 0);
        return;
    }
    if (lm_is_unstable(candidate) || lm_is_unstable(baseline)) {
        cell->verdict = LM_VERDICT_UNSTABLE;
        cell->reason =
            lm_is_unstable(candidate) ? LM_REASON_CANDIDATE_UNSTABLE : LM_REASON_BASELINE_UNSTABLE;
        return;
    }
    cell->verdict = LM_VERDICT_NONE;
    if (comparison->withheld) {
        cell->reason = LM_REASON_WITHHELD;
    } else if (!has_enough(candidate) || !has_enough(baseline)) {
        cell->reason = LM_REASON_ITERATIONS;
    } else if (!isfinite(cell->difference) || !isfinite(cell->noise)) {
        cell->reason = LM_REASON_NO_FIGURE;
    }
}

static void judge(const struct lm_comparison *comparison, const struct lm_compared_case *which,
                  const struct lm_measurement *candidate, const struct lm_measurement *baseline,
                  struct lm_cell *cell)
{
    cell->difference = isfinite(candidate->published_difference)
                           ? candidate->published_difference
                           : lm_difference(candidate->metric.median, baseline->metric.median,
                                           which->higher_is_better);
    cell->noise = lm_noise(candidate->metric.cv, baseline->metric.cv, lm_policy.noise_factor);
    judge_usable(comparison, candidate, baseline, cell);
    if (cell->verdict == LM_VERDICT_FAILED || cell->verdict == LM_VERDICT_SKIPPED) {
        cell->difference = NAN;
        cell->noise = NAN;
    } else if (cell->verdict == LM_VERDICT_NONE && cell->reason == NULL) {
        if (lm_within_noise(cell->difference, cell->noise)) {
            cell->verdict = LM_VERDICT_WITHIN_NOISE;
        } else {
            cell->verdict = cell->difference > 0.0 ? LM_VERDICT_FASTER : LM_VERDICT_SLOWER;
        }
    }
}

/* Ratios of the iterations that both sides have, sorted. Returns how many. */
static size_t pair_ratios(const struct lm_compared_case *which,
                          const struct lm_measurement *candidate,
                          const struct lm_measurement *baseline, double *ratios)
{
    size_t c = 0, b = 0, count = 0;
    while (c < candidate->metric.count && b < baseline->metric.count) {
        uint32_t iteration = candidate->points[c].iteration;
        if (iteration < baseline->points[b].iteration) {
            c++;
        } else if (iteration > baseline->points[b].iteration) {
            b++;
        } else {
            double ratio = lm_ratio(candidate->points[c++].metric, baseline->points[b++].metric,
                                    which->higher_is_better);
            if (isfinite(ratio)) {
                ratios[count++] = ratio;
            }
        }
    }
    lm_sort(ratios, count);
    return count;
}

static int find_paired(const struct lm_comparison *comparison, const struct lm_compared_case *which,
                       const struct lm_measurement *candidate,
                       const struct lm_measurement *baseline, struct lm_cell *cell)
{
    cell->paired = (struct lm_interval){.estimate = NAN, .low = NAN, .high = NAN};
    if (!comparison->side_by_side || candidate->points == NULL || baseline->points == NULL ||
        cell->verdict == LM_VERDICT_FAILED || cell->verdict == LM_VERDICT_SKIPPED) {
        return 0;
    }
    double *ratios = calloc(candidate->metric.count + 1, sizeof *ratios);
    if (ratios == NULL) {
        return -ENOMEM;
    }
    int status = 0;
    size_t count = pair_ratios(which, candidate, baseline, ratios);
    if (count >= lm_policy.paired_minimum) {
        status = lm_bootstrap_median(ratios, count, lm_policy.bootstrap_resamples,
                                     lm_policy.interval_confidence, lm_policy.bootstrap_seed,
                                     &cell->paired);
    }
    free(ratios);
    return status;
}

int lm_build_matchup(struct lm_comparison *comparison, size_t candidate, size_t baseline, bool aa)
{
    void *matchups = comparison->matchups;
    if (lm_build_grow(comparison, &matchups, comparison->matchup_count,
                      sizeof *comparison->matchups) != 0) {
        return -ENOMEM;
    }
    comparison->matchups = matchups;
    struct lm_matchup *matchup = &comparison->matchups[comparison->matchup_count];
    *matchup = (struct lm_matchup){.candidate = candidate, .baseline = baseline, .aa = aa};
    matchup->cells = lm_build_alloc(comparison, comparison->case_count, sizeof *matchup->cells);
    matchup->families =
        lm_build_alloc(comparison, comparison->family_count, sizeof *matchup->families);
    if (matchup->cells == NULL || matchup->families == NULL) {
        return -ENOMEM;
    }
    comparison->matchup_count++;
    return 0;
}

/* Adds the cells for which which->section (family SIZE_MAX) or which->family is the asked one. */
static void tally(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                  enum lm_section section, size_t family, double *differences,
                  struct lm_tally *into)
{
    size_t known = 0;
    *into = (struct lm_tally){.case_count = 0};
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct lm_compared_case *which = &comparison->cases[i];
        const struct lm_cell *cell = &matchup->cells[i];
        if (family == SIZE_MAX ? which->section != section : which->family != family) {
            continue;
        }
        into->case_count++;
        into->verdicts[cell->verdict]++;
        if (cell->verdict != LM_VERDICT_UNSTABLE && isfinite(cell->difference)) {
            differences[known++] = cell->difference;
        }
    }
    lm_sort(differences, known);
    into->median_difference = lm_median(differences, known);
}

static int tally_all(struct lm_comparison *comparison, struct lm_matchup *matchup)
{
    double *differences = calloc(comparison->case_count + 1, sizeof *differences);
    if (differences == NULL) {
        return -ENOMEM;
    }
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        tally(comparison, matchup, (enum lm_section)section, SIZE_MAX, differences,
              &matchup->sections[section]);
    }
    for (size_t family = 0; family < comparison->family_count; family++) {
        tally(comparison, matchup, LM_SECTION_MAIN, family, differences,
              &matchup->families[family]);
    }
    free(differences);
    return 0;
}

static int remark_unstable(struct lm_comparison *comparison)
{
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        for (size_t j = 0; j < comparison->case_count; j++) {
            const struct lm_measurement *side = &comparison->implementations[i].cases[j];
            char text[LM_SENTENCE_BYTES];
            if (!lm_is_unstable(side)) {
                continue;
            }
            lm_word_unstable(text, side, comparison->cases[j].unit);
            if (lm_build_remark(comparison, LM_REMARK_UNSTABLE, i, j, 0, text) != 0) {
                return -ENOMEM;
            }
        }
    }
    return 0;
}

static int judge_matchup(struct lm_comparison *comparison, struct lm_matchup *matchup)
{
    const struct lm_measurement *candidates = comparison->implementations[matchup->candidate].cases;
    const struct lm_measurement *baselines = comparison->implementations[matchup->baseline].cases;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct lm_compared_case *which = &comparison->cases[i];
        struct lm_cell *cell = &matchup->cells[i];
        judge(comparison, which, &candidates[i], &baselines[i], cell);
        int status = find_paired(comparison, which, &candidates[i], &baselines[i], cell);
        if (status == 0 && cell->verdict == LM_VERDICT_NONE) {
            status =
                lm_build_remark(comparison, LM_REMARK_NONE, matchup->candidate, i, 0, cell->reason);
        }
        if (status != 0) {
            return status;
        }
    }
    return tally_all(comparison, matchup);
}

int lm_build_finish(struct lm_comparison *comparison)
{
    int status = remark_unstable(comparison);
    for (size_t i = 0; i < comparison->matchup_count && status == 0; i++) {
        status = judge_matchup(comparison, &comparison->matchups[i]);
    }
    return status;
}

int lm_noise_floor(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                   struct lm_noise_floor *floor)
{
    *floor = (struct lm_noise_floor){.median = NAN, .largest = NAN};
    double *sizes = calloc(comparison->case_count + 1, sizeof *sizes);
    if (sizes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct lm_cell *cell = &matchup->cells[i];
        double size = fabs(cell->difference);
        if (!isfinite(size)) {
            continue;
        }
        if (!(size <= floor->largest)) {
            floor->largest = size;
            floor->largest_case = i;
        }
        floor->judged += isfinite(cell->noise);
        floor->outside += size > cell->noise;
        sizes[floor->case_count++] = size;
    }
    lm_sort(sizes, floor->case_count);
    floor->median = lm_median(sizes, floor->case_count);
    free(sizes);
    return 0;
}
