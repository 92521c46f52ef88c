/* A comparison from two results files: each backend before against itself after. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/environment.h"
#include "report/comparison.h"
#include "report/comparison_build.h"
#include "report/comparison_measure.h"

/* Place of a case of `run` in `other`, or SIZE_MAX when it is not there or measures another thing.
 */
static size_t find_case(const struct lm_run *other, const struct lm_run_case *which)
{
    for (size_t i = 0; i < other->case_count; i++) {
        const struct lm_run_case *each = &other->cases[i];
        if (strcmp(each->name, which->name) == 0 && strcmp(each->unit, which->unit) == 0 &&
            each->higher_is_better == which->higher_is_better) {
            return i;
        }
    }
    return SIZE_MAX;
}

static size_t find_backend(const struct lm_run *other, const char *spec)
{
    for (size_t i = 0; i < other->backend_count; i++) {
        if (!other->backends[i].aa && strcmp(other->backends[i].spec, spec) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Notes what one file has and the other does not. */
static int note_only_in(struct lm_comparison *comparison, const struct lm_results *results,
                        const struct lm_results *other, const struct lm_compare_options *options)
{
    size_t cases = 0;
    for (size_t i = 0; i < results->run.case_count; i++) {
        const struct lm_run_case *which = &results->run.cases[i];
        cases += lm_build_wants(options, which->name) && find_case(&other->run, which) == SIZE_MAX;
    }
    if (cases > 0) {
        const char *text = lm_build_text(
            comparison, "has %zu case%s that the other file lacks or measures differently", cases,
            cases == 1 ? "" : "s");
        if (text == NULL || lm_build_note(comparison, results->path, text) != 0) {
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < results->run.backend_count; i++) {
        const struct lm_run_backend *backend = &results->run.backends[i];
        if (!backend->aa && find_backend(&other->run, backend->spec) == SIZE_MAX &&
            lm_build_note(comparison, backend->spec, "is in only one of the files") != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* The two files' samples, and where the common cases are in each. */
struct pair {
    struct lm_groups before, after;
    size_t *before_cases, *after_cases;
};

static int fill_two(struct lm_comparison *comparison, struct pair *pair,
                    const struct lm_compare_options *options, char *error, size_t error_bytes)
{
    const struct lm_results *before = pair->before.results;
    const struct lm_results *after = pair->after.results;
    int status = 0;
    for (size_t i = 0; i < before->run.case_count && status == 0; i++) {
        size_t there = find_case(&after->run, &before->run.cases[i]);
        if (there != SIZE_MAX && lm_build_wants(options, before->run.cases[i].name)) {
            pair->before_cases[comparison->case_count] = i;
            pair->after_cases[comparison->case_count] = there;
            status = lm_build_case(comparison, &before->run.cases[i]);
        }
    }
    for (size_t i = 0; i < before->run.backend_count && status == 0; i++) {
        size_t there = find_backend(&after->run, before->run.backends[i].spec);
        if (before->run.backends[i].aa || there == SIZE_MAX) {
            continue;
        }
        status =
            lm_build_implementation(comparison, &pair->before, i, pair->before_cases, " (before)");
        if (status == 0) {
            status = lm_build_implementation(comparison, &pair->after, there, pair->after_cases,
                                             " (after)");
        }
    }
    if (status == 0 && (comparison->case_count == 0 || comparison->implementation_count == 0)) {
        snprintf(error, error_bytes,
                 "%s and %s have no %s in common; compare files of the same cases and backends",
                 before->path, after->path, comparison->case_count == 0 ? "case" : "backend");
        return -EINVAL;
    }
    for (size_t i = 0; i + 1 < comparison->implementation_count && status == 0; i += 2) {
        status = lm_build_matchup(comparison, i + 1, i, false);
    }
    return status;
}

/* Each backend is held against itself, whichever was the baseline. */
static void add_difference(void *context, const char *line)
{
    static const char ignored[] = "baseline:";
    struct lm_lines *lines = context;
    if (lines->status == 0 && strncmp(line, ignored, strlen(ignored)) != 0) {
        lines->status = lm_build_add_line(lines, line);
    }
}

/* What a reader has to know before the figures. */
static int compare_sources(struct lm_comparison *comparison, const struct lm_results *before,
                           const struct lm_results *after, const struct lm_compare_options *options)
{
    struct lm_lines differences = {.comparison = comparison,
                                   .lines = &comparison->settings,
                                   .count = &comparison->setting_count};
    lm_environment_differences(before->run.environment, after->run.environment, add_difference,
                               &differences);
    lm_run_differences(&before->run, &after->run, add_difference, &differences);
    int status = differences.status;
    comparison->withheld = comparison->setting_count > 0 && !options->force;
    if (status == 0) {
        status = lm_build_source_facts(comparison, before);
    }
    if (status == 0) {
        status = lm_build_source_facts(comparison, after);
    }
    if (status == 0) {
        status = note_only_in(comparison, before, after, options);
    }
    return status == 0 ? note_only_in(comparison, after, before, options) : status;
}

int lm_comparison_from_two(const struct lm_results *before, const struct lm_results *after,
                           const struct lm_compare_options *options,
                           struct lm_comparison **comparison, char *error, size_t error_bytes)
{
    int status = lm_build_check_globs(options, before, lm_run_case_name_at, before->run.case_count,
                                      before->path, error, error_bytes);
    if (status != 0) {
        return status;
    }
    struct pair pair = {
        .before_cases = calloc(before->run.case_count + 1, sizeof *pair.before_cases),
        .after_cases = calloc(before->run.case_count + 1, sizeof *pair.after_cases),
    };
    struct lm_comparison *built = lm_build_new();
    int filled = lm_groups_fill(&pair.before, before);
    int filled_too = lm_groups_fill(&pair.after, after);
    if (built == NULL || filled != 0 || filled_too != 0 || pair.before_cases == NULL ||
        pair.after_cases == NULL) {
        status = -ENOMEM;
        goto out;
    }
    status = lm_build_begin(built, before, 2 * before->run.backend_count);
    built->source_after = lm_build_text(built, "%s", after->path);
    if (status == 0) {
        status = built->source_after != NULL ? 0 : -ENOMEM;
    }
    if (status == 0) {
        status = compare_sources(built, before, after, options);
    }
    if (status == 0) {
        status = fill_two(built, &pair, options, error, error_bytes);
    }
    if (status == 0) {
        status = lm_build_finish(built);
    }
out:
    lm_groups_free(&pair.before);
    lm_groups_free(&pair.after);
    free(pair.before_cases);
    free(pair.after_cases);
    return lm_build_conclude(built, status, comparison, error, error_bytes);
}
