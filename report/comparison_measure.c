#include "report/comparison_measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/environment.h"
#include "report/comparison_build.h"
#include "report/wording.h"

void lm_groups_free(struct lm_groups *groups)
{
    free(groups->samples);
    free(groups->first);
    free(groups->scratch);
}

static size_t group_of(const struct lm_results *results, const struct lm_sample *sample)
{
    return sample->backend_index * results->run.case_count + sample->case_index;
}

/* By iteration. A stable insertion: only a resumed run has iterations out of order. */
static void sort_group(const struct lm_sample **samples, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct lm_sample *sample = samples[i];
        size_t at = i;
        for (; at > 0 && samples[at - 1]->iteration > sample->iteration; at--) {
            samples[at] = samples[at - 1];
        }
        samples[at] = sample;
    }
}

int lm_groups_fill(struct lm_groups *groups, const struct lm_results *results)
{
    size_t group_count = results->run.backend_count * results->run.case_count;
    *groups = (struct lm_groups){
        .results = results,
        .samples = calloc(results->sample_count + 1, sizeof *groups->samples),
        .first = calloc(group_count + 2, sizeof *groups->first),
        .scratch = calloc(results->sample_count + 1, sizeof *groups->scratch),
    };
    if (groups->samples == NULL || groups->first == NULL || groups->scratch == NULL) {
        return -ENOMEM;
    }
    /* Counted two places on, so that after the filling below first[g] is where group g begins. */
    for (size_t i = 0; i < results->sample_count; i++) {
        groups->first[group_of(results, &results->samples[i]) + 2]++;
    }
    for (size_t group = 2; group < group_count + 2; group++) {
        groups->first[group] += groups->first[group - 1];
    }
    for (size_t i = 0; i < results->sample_count; i++) {
        size_t group = group_of(results, &results->samples[i]);
        groups->samples[groups->first[group + 1]++] = &results->samples[i];
    }
    for (size_t group = 0; group < group_count; group++) {
        sort_group(groups->samples + groups->first[group],
                   groups->first[group + 1] - groups->first[group]);
    }
    return 0;
}

typedef double figure_fn(const struct lm_sample *sample);

static double figure_metric(const struct lm_sample *sample)
{
    return sample->metric;
}

static double figure_p50(const struct lm_sample *sample)
{
    return sample->latency.max_ns > 0 ? (double)sample->latency.p50_ns : NAN;
}

static double figure_p99(const struct lm_sample *sample)
{
    return sample->latency.max_ns > 0 ? (double)sample->latency.p99_ns : NAN;
}

static double figure_cpu(const struct lm_sample *sample)
{
    double cpu_ns = (sample->cpu_user_s + sample->cpu_system_s) * 1e9;
    return sample->operations > 0 ? cpu_ns / (double)sample->operations : NAN;
}

static double figure_syscalls(const struct lm_sample *sample)
{
    double calls = 0.0;
    for (int kind = 0; kind < LM_SYS_COUNT; kind++) {
        calls += (double)sample->counters.syscalls[kind];
    }
    return sample->operations > 0 ? calls / (double)sample->operations : NAN;
}

/* Writes a figure of the good samples of a group to groups->scratch, sorted; how many know it. */
static size_t collect(struct lm_groups *groups, size_t group, figure_fn *figure)
{
    size_t count = 0;
    for (size_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
        const struct lm_sample *sample = groups->samples[i];
        double value = sample->status == LM_SAMPLE_OK ? figure(sample) : NAN;
        if (isfinite(value)) {
            groups->scratch[count++] = value;
        }
    }
    lm_sort(groups->scratch, count);
    return count;
}

static double median_figure(struct lm_groups *groups, size_t group, figure_fn *figure)
{
    return lm_median(groups->scratch, collect(groups, group, figure));
}

static int measure_points(struct lm_comparison *comparison, const struct lm_groups *groups,
                          size_t group, struct lm_measurement *measurement)
{
    size_t count = 0;
    measurement->points =
        lm_build_alloc(comparison, measurement->metric.count, sizeof *measurement->points);
    if (measurement->points == NULL) {
        return -ENOMEM;
    }
    for (size_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
        const struct lm_sample *sample = groups->samples[i];
        if (sample->status == LM_SAMPLE_OK && isfinite(sample->metric)) {
            measurement->points[count++] = (struct lm_point){sample->iteration, sample->metric};
        }
    }
    return 0;
}

/* Counts and remarks what did not go well. */
static int measure_troubles(struct lm_comparison *comparison, const struct lm_groups *groups,
                            size_t group, size_t implementation, size_t case_index,
                            struct lm_measurement *measurement)
{
    int status = 0;
    const char *failed = NULL, *skipped = NULL;
    for (size_t i = groups->first[group]; i < groups->first[group + 1] && status == 0; i++) {
        const struct lm_sample *sample = groups->samples[i];
        const char *reason = sample->reason != NULL ? sample->reason : LM_REASON_UNKNOWN;
        if (sample->status == LM_SAMPLE_FAILED) {
            failed = failed != NULL ? failed : reason;
            measurement->failed++;
            comparison->failed_samples++;
            status = lm_build_remark(comparison, LM_REMARK_FAILED, implementation, case_index,
                                     sample->iteration, reason);
        } else if (sample->status == LM_SAMPLE_SKIPPED) {
            skipped = skipped != NULL ? skipped : reason;
            measurement->skipped++;
            status = lm_build_remark(comparison, LM_REMARK_SKIPPED, implementation, case_index,
                                     sample->iteration, reason);
        }
        if (status == 0 && sample->warning != NULL) {
            status = lm_build_remark(comparison, LM_REMARK_WARNING, implementation, case_index,
                                     sample->iteration, sample->warning);
        }
    }
    const char *reason = failed != NULL ? failed : skipped;
    if (status == 0 && reason != NULL) {
        measurement->reason = lm_build_text(comparison, "%s", reason);
        status = measurement->reason != NULL ? 0 : -ENOMEM;
    }
    return status;
}

/* A backend that could not run at all may have no samples. */
static int measure_unavailable(struct lm_comparison *comparison, const char *unavailable,
                               size_t implementation, size_t case_index,
                               struct lm_measurement *measurement)
{
    measurement->skipped = 1;
    measurement->reason = lm_build_text(comparison, "%s", unavailable);
    if (measurement->reason == NULL) {
        return -ENOMEM;
    }
    return lm_build_remark(comparison, LM_REMARK_SKIPPED, implementation, case_index, 0,
                           unavailable);
}

static int measure(struct lm_comparison *comparison, struct lm_groups *groups, size_t backend,
                   size_t source_case, size_t implementation, size_t case_index)
{
    const struct lm_run *run = &groups->results->run;
    size_t group = backend * run->case_count + source_case;
    struct lm_measurement *measurement =
        &comparison->implementations[implementation].cases[case_index];
    lm_build_unknown(measurement);
    if (groups->first[group] == groups->first[group + 1] &&
        run->backends[backend].unavailable != NULL) {
        return measure_unavailable(comparison, run->backends[backend].unavailable, implementation,
                                   case_index, measurement);
    }
    measurement->p50_ns = median_figure(groups, group, figure_p50);
    measurement->p99_ns = median_figure(groups, group, figure_p99);
    measurement->cpu_ns_per_operation = median_figure(groups, group, figure_cpu);
    measurement->syscalls_per_operation = median_figure(groups, group, figure_syscalls);
    size_t count = collect(groups, group, figure_metric);
    measurement->metric = lm_summarise(groups->scratch, count);
    measurement->clusters = lm_build_clusters(groups->scratch, count);
    int status = measure_points(comparison, groups, group, measurement);
    return status != 0 ? status
                       : measure_troubles(comparison, groups, group, implementation, case_index,
                                          measurement);
}

/* Adds one backend of a results file. source_cases[i] is the place there of comparison->cases[i].
 */
int lm_build_implementation(struct lm_comparison *comparison, struct lm_groups *groups,
                            size_t backend, const size_t *source_cases, const char *suffix)
{
    const struct lm_run_backend *from = &groups->results->run.backends[backend];
    size_t index = comparison->implementation_count;
    struct lm_implementation *to = &comparison->implementations[index];
    to->name = lm_build_text(comparison, "%s%s", from->spec, suffix);
    to->title = lm_build_text(comparison, "%s", from->title);
    to->settings = lm_build_text(comparison, "%s", from->settings);
    to->aa = from->aa;
    to->floor = from->floor;
    to->cases = lm_build_alloc(comparison, comparison->case_count, sizeof *to->cases);
    if (to->name == NULL || to->title == NULL || to->settings == NULL || to->cases == NULL) {
        return -ENOMEM;
    }
    comparison->implementation_count++;
    for (size_t i = 0; i < comparison->case_count; i++) {
        int status = measure(comparison, groups, backend, source_cases[i], index, i);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

int lm_build_case(struct lm_comparison *comparison, const struct lm_run_case *from)
{
    struct lm_compared_case *to = &comparison->cases[comparison->case_count];
    to->name = lm_build_text(comparison, "%s", from->name);
    to->operation = lm_build_text(comparison, "%s", from->operation);
    to->unit = lm_build_text(comparison, "%s", from->unit);
    if (to->name == NULL || to->operation == NULL || to->unit == NULL) {
        return -ENOMEM;
    }
    to->higher_is_better = from->higher_is_better;
    to->section = from->split ? LM_SECTION_SPLIT : from->micro ? LM_SECTION_MICRO : LM_SECTION_MAIN;
    comparison->case_count++;
    return lm_build_family(comparison, from->family, to->section, &to->family);
}

/* Room and facts that both builders begin with. */
int lm_build_begin(struct lm_comparison *comparison, const struct lm_results *results,
                   size_t implementations)
{
    comparison->source = lm_build_text(comparison, "%s", results->path);
    comparison->iterations = results->run.iterations;
    comparison->duration_s = results->run.duration_s;
    comparison->warmup_s = results->run.warmup_s;
    comparison->cases =
        lm_build_alloc(comparison, results->run.case_count, sizeof *comparison->cases);
    comparison->implementations =
        lm_build_alloc(comparison, implementations, sizeof *comparison->implementations);
    bool complete = comparison->source != NULL && comparison->cases != NULL &&
                    comparison->implementations != NULL;
    return complete ? 0 : -ENOMEM;
}

static int note_completeness(struct lm_comparison *comparison, const struct lm_results *results)
{
    int status = 0;
    if (results->torn) {
        status = lm_build_note(comparison, results->path, "the last line was cut and is left out");
    }
    if (status == 0 && !results->ended) {
        status = lm_build_note(comparison, results->path,
                               "the run did not end; the figures are of the samples there are "
                               "(loopmark run --resume goes on with it)");
    }
    return status;
}

int lm_build_add_line(struct lm_lines *lines, const char *line)
{
    void *array = *lines->lines;
    for (size_t i = 0; i < *lines->count; i++) {
        if (strcmp((*lines->lines)[i], line) == 0) {
            return 0;
        }
    }
    const char *kept = lm_build_text(lines->comparison, "%s", line);
    if (kept == NULL || lm_build_grow(lines->comparison, &array, *lines->count, sizeof kept) != 0) {
        return -ENOMEM;
    }
    *lines->lines = array;
    (*lines->lines)[(*lines->count)++] = kept;
    return 0;
}

static void add_warning(void *context, const char *line)
{
    struct lm_lines *lines = context;
    lines->status = lines->status != 0 ? lines->status : lm_build_add_line(lines, line);
}

int lm_build_source_facts(struct lm_comparison *comparison, const struct lm_results *results)
{
    struct lm_lines warnings = {.comparison = comparison,
                                .lines = &comparison->warnings,
                                .count = &comparison->warning_count};
    lm_environment_warnings(results->run.environment, add_warning, &warnings);
    return warnings.status != 0 ? warnings.status : note_completeness(comparison, results);
}

const char *lm_run_case_name_at(const void *source, size_t index)
{
    return ((const struct lm_results *)source)->run.cases[index].name;
}
