/* A comparison from one results file: each backend against the baseline. */
#include <errno.h>
#include <stdlib.h>

#include "report/comparison.h"
#include "report/comparison_build.h"
#include "report/comparison_measure.h"

static const char *spec_at(const void *source, size_t index)
{
    const struct lm_run_backend *backend =
        &((const struct lm_results *)source)->run.backends[index];
    return backend->aa ? NULL : backend->spec;
}

/* All backends and the asked cases of one file. A second copy of the baseline is compared only with
 * that baseline: with another one it would be a second row of the same thing. */
static int fill_one(struct lm_comparison *comparison, struct lm_groups *groups,
                    const struct lm_compare_options *options, size_t baseline)
{
    const struct lm_run *run = &groups->results->run;
    size_t *source_cases = calloc(run->case_count + 1, sizeof *source_cases);
    int status = source_cases != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; i < run->case_count && status == 0; i++) {
        if (lm_build_wants(options, run->cases[i].name)) {
            source_cases[comparison->case_count] = i;
            status = lm_build_case(comparison, &run->cases[i]);
        }
    }
    for (size_t i = 0; i < run->backend_count && status == 0; i++) {
        if (i == baseline) {
            comparison->baseline = comparison->implementation_count;
        }
        if (!run->backends[i].aa || baseline == run->baseline_index) {
            status = lm_build_implementation(comparison, groups, i, source_cases,
                                             run->backends[i].aa ? " (A/A)" : "");
        }
    }
    free(source_cases);
    return status;
}

int lm_comparison_from_results(const struct lm_results *results,
                               const struct lm_compare_options *options,
                               struct lm_comparison **comparison, char *error, size_t error_bytes)
{
    size_t baseline = results->run.baseline_index;
    int status = lm_build_check_globs(options, results, lm_run_case_name_at,
                                      results->run.case_count, results->path, error, error_bytes);
    if (status == 0 && options->baseline != NULL) {
        status =
            lm_build_find_baseline(options->baseline, results, spec_at, results->run.backend_count,
                                   results->path, &baseline, error, error_bytes);
    }
    if (status != 0) {
        return status;
    }
    struct lm_groups groups;
    struct lm_comparison *built = lm_build_new();
    status = lm_groups_fill(&groups, results);
    if (built == NULL || status != 0) {
        status = -ENOMEM;
        goto out;
    }
    built->side_by_side = results->run.interleaved;
    status = lm_build_begin(built, results, results->run.backend_count);
    if (status == 0) {
        status = fill_one(built, &groups, options, baseline);
    }
    for (size_t i = 0; status == 0 && i < built->implementation_count; i++) {
        if (i != built->baseline) {
            status = lm_build_matchup(built, i, built->baseline, built->implementations[i].aa);
        }
    }
    if (status == 0) {
        status = lm_build_source_facts(built, results);
    }
    if (status == 0) {
        status = lm_build_finish(built);
    }
out:
    lm_groups_free(&groups);
    return lm_build_conclude(built, status, comparison, error, error_bytes);
}
