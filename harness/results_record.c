/* Records from JSON: the nested parts, and what must hold between members. */
#include "harness/results_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An environment is a few levels of small values; more is not ours. */
enum {
    ENVIRONMENT_DEPTH = 8
};

/* More rows than a table could show; bounds the search for doubles. */
enum {
    MAX_BACKENDS = 1024
};

const char *lm_record_kind(const json_t *record)
{
    return json_string_value(json_object_get(record, "record"));
}

/* Reads the list `name` of a record into a new array of zeroed elements, then each element. */
static int decode_list(const json_t *record, const char *name, const struct lm_member *members,
                       size_t element_bytes, void **elements, size_t *count,
                       struct lm_problem *problem)
{
    const json_t *list = json_object_get(record, name);
    char text[64];
    if (!json_is_array(list)) {
        return lm_problem(problem, "%s is %s, not a list", name, lm_json_word(list, text));
    }
    if (json_array_size(list) == 0) {
        return lm_problem(problem, "%s is an empty list", name);
    }
    *elements = calloc(json_array_size(list), element_bytes);
    if (!*elements) {
        return -ENOMEM;
    }
    *count = json_array_size(list);
    for (size_t i = 0; i < *count; i++) {
        snprintf(text, sizeof(text), "%s[%zu].", name, i);
        int result = lm_schema_decode(json_array_get(list, i), members,
                                      (char *)*elements + i * element_bytes, text, problem);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/* What an environment may hold, at any depth: it is printed, so no control characters. */
static int check_environment(const json_t *value, int depth, struct lm_problem *problem)
{
    const char *key;
    json_t *member;
    size_t index;
    int result = 0;
    if (depth > ENVIRONMENT_DEPTH) {
        return lm_problem(problem, "environment is nested more than %d deep", ENVIRONMENT_DEPTH);
    }
    if (json_is_string(value) && !lm_text_is_clean(json_string_value(value))) {
        return lm_problem(problem, "environment holds a string that is too long or unprintable");
    }
    json_object_foreach((json_t *)value, key, member)
    {
        if (!lm_text_is_clean(key)) {
            return lm_problem(problem, "environment holds a name that is too long or unprintable");
        }
        if ((result = check_environment(member, depth + 1, problem)) != 0) {
            return result;
        }
    }
    json_array_foreach(value, index, member)
    {
        if ((result = check_environment(member, depth + 1, problem)) != 0) {
            return result;
        }
    }
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names identify samples, so one that is there twice is a problem. */
static int check_case_names(const struct lm_run *run, struct lm_problem *problem)
{
    const char **names = calloc(run->case_count, sizeof(*names));
    if (!names) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->case_count; i++) {
        names[i] = run->cases[i].name;
    }
    qsort(names, run->case_count, sizeof(*names), compare_text);
    int result = 0;
    for (size_t i = 1; result == 0 && i < run->case_count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            result = lm_problem(problem, "case %s is listed twice", names[i]);
        }
    }
    free(names);
    return result;
}

/* Backends are rows: each spec once, and once more as A/A copy for the baseline alone. */
static int check_backends(const struct lm_run *run, struct lm_problem *problem)
{
    if (run->backend_count > MAX_BACKENDS) {
        return lm_problem(problem, "%zu backends, more than %d", run->backend_count, MAX_BACKENDS);
    }
    if (run->baseline_index >= run->backend_count) {
        return lm_problem(problem, "baseline_index is %zu, but the list has %zu backends",
                          run->baseline_index, run->backend_count);
    }
    if (run->backends[run->baseline_index].aa) {
        return lm_problem(problem, "baseline_index names the A/A copy");
    }
    for (size_t i = 0; i < run->backend_count; i++) {
        const struct lm_run_backend *backend = &run->backends[i];
        if (backend->aa && strcmp(backend->spec, run->backends[run->baseline_index].spec) != 0) {
            return lm_problem(problem, "backends[%zu] is an A/A copy of %s, not of the baseline", i,
                              backend->spec);
        }
        for (size_t j = 0; j < i; j++) {
            if (backend->aa == run->backends[j].aa &&
                strcmp(backend->spec, run->backends[j].spec) == 0) {
                return lm_problem(problem, "backend %s is listed twice", backend->spec);
            }
        }
    }
    return 0;
}

static int decode_schema(const json_t *record, struct lm_run *run, struct lm_problem *problem)
{
    const json_t *schema = json_object_get(record, "schema");
    char text[32];
    if (!json_is_integer(schema) || json_integer_value(schema) < 1) {
        return lm_problem(problem, "schema is %s, not a whole number from 1",
                          lm_json_word(schema, text));
    }
    if (json_integer_value(schema) > LM_RESULTS_SCHEMA) {
        lm_problem(problem, "written by a newer loopmark: schema %s, this one reads up to %d",
                   lm_json_word(schema, text), LM_RESULTS_SCHEMA);
        return -ENOTSUP;
    }
    run->schema = (int)json_integer_value(schema);
    return 0;
}

static int decode_run(const json_t *record, struct lm_run *run, struct lm_problem *problem)
{
    int result = decode_schema(record, run, problem);
    if (result == 0) {
        result = lm_schema_decode(record, lm_run_members, run, "", problem);
    }
    if (result == 0) {
        result = decode_list(record, "backends", lm_run_backend_members, sizeof(run->backends[0]),
                             (void **)&run->backends, &run->backend_count, problem);
    }
    if (result == 0) {
        result = decode_list(record, "cases", lm_run_case_members, sizeof(run->cases[0]),
                             (void **)&run->cases, &run->case_count, problem);
    }
    if (result != 0) {
        return result;
    }
    if (run->iterations == 0) {
        return lm_problem(problem, "iterations is 0");
    }
    json_t *environment = json_object_get(record, "environment");
    if (!json_is_object(environment)) {
        char text[32];
        return lm_problem(problem, "environment is %s, not an object",
                          lm_json_word(environment, text));
    }
    run->environment = json_incref(environment);
    result = check_environment(environment, 0, problem);
    if (result == 0) {
        result = check_backends(run, problem);
    }
    return result == 0 ? check_case_names(run, problem) : result;
}

int lm_run_from_json(const json_t *record, struct lm_run *run, struct lm_problem *problem)
{
    *run = (struct lm_run){0};
    int result = decode_run(record, run, problem);
    if (result != 0) {
        lm_run_clear(run);
    }
    return result;
}

static int decode_histogram(const json_t *list, struct lm_latency *latency,
                            struct lm_problem *problem)
{
    char text[32];
    if (!json_is_array(list)) {
        return lm_problem(problem, "latency.histogram is %s, not a list", lm_json_word(list, text));
    }
    size_t count = json_array_size(list);
    latency->buckets = calloc(count ? count : 1, sizeof(latency->buckets[0]));
    if (!latency->buckets) {
        return -ENOMEM;
    }
    latency->bucket_count = count;
    json_int_t last_ns = -1;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(list, i);
        const json_t *value = json_array_get(pair, 0), *values = json_array_get(pair, 1);
        json_int_t value_ns = json_integer_value(value), value_count = json_integer_value(values);
        if (json_array_size(pair) != 2 || !json_is_integer(value) || value_ns <= last_ns ||
            !json_is_integer(values) || value_count < 1) {
            return lm_problem(problem,
                              "latency.histogram[%zu] is not a pair [nanoseconds, count] of whole "
                              "numbers in ascending order",
                              i);
        }
        total += (uint64_t)value_count; /* below 2^63 before, and so below 2^64 now */
        if (total > INT64_MAX) {
            return lm_problem(problem, "latency.histogram counts more than 2^63 values");
        }
        latency->buckets[i] = (struct lm_bucket){(uint64_t)value_ns, (uint64_t)value_count};
        last_ns = value_ns;
    }
    return 0;
}

static int decode_latency(const json_t *object, struct lm_latency *latency,
                          struct lm_problem *problem)
{
    int result = lm_schema_decode(object, lm_latency_members, latency, "latency.", problem);
    if (result != 0) {
        return result;
    }
    const uint64_t rising[] = {latency->min_ns, latency->p50_ns,  latency->p90_ns, latency->p95_ns,
                               latency->p99_ns, latency->p999_ns, latency->max_ns};
    for (size_t i = 1; i < sizeof(rising) / sizeof(rising[0]); i++) {
        if (rising[i] < rising[i - 1]) {
            return lm_problem(problem, "latency quantiles fall from min_ns to max_ns");
        }
    }
    return decode_histogram(json_object_get(object, "histogram"), latency, problem);
}

static int syscall_kind(const char *name)
{
    for (int kind = 0; kind < LM_SYS_COUNT; kind++) {
        if (strcmp(name, lm_syscall_name(kind)) == 0) {
            return kind;
        }
    }
    return -1;
}

/* A kind that is missing was not called. One we do not know would be missing from totals, so it is
 * refused: new kinds come with a new schema number. */
static int decode_counters(const json_t *object, struct lm_counters *counters,
                           struct lm_problem *problem)
{
    char text[32];
    json_t *syscalls = json_object_get(object, "syscalls"), *value;
    const char *name;
    if (!json_is_object(syscalls)) {
        return lm_problem(problem, "counters.syscalls is %s, not an object",
                          lm_json_word(syscalls, text));
    }
    json_object_foreach(syscalls, name, value)
    {
        int kind = syscall_kind(name);
        if (kind < 0) {
            return lm_problem(problem, "counters.syscalls has an unknown kind %.40s", name);
        }
        const struct lm_member member = {lm_syscall_name(kind), LM_MEMBER_U64, 0};
        const struct lm_member table[] = {member, {NULL, LM_MEMBER_BOOL, 0}};
        int result = lm_schema_decode(syscalls, table, &counters->syscalls[kind],
                                      "counters.syscalls.", problem);
        if (result != 0) {
            return result;
        }
    }
    return lm_schema_decode(object, lm_counter_members, counters, "counters.", problem);
}

static int check_text(const json_t *record, const char *name, const char *expected,
                      const char *meaning, struct lm_problem *problem)
{
    const char *text = json_string_value(json_object_get(record, name));
    if (!text || strcmp(text, expected) != 0) {
        return lm_problem(problem, "%s is not \"%.100s\", %s", name, expected, meaning);
    }
    return 0;
}

/* The indices are in range and the names beside them are theirs. */
static int check_place(const struct lm_run *run, const json_t *record,
                       const struct lm_sample *sample, struct lm_problem *problem)
{
    if (sample->case_index >= run->case_count) {
        return lm_problem(problem, "case_index is %zu, but the run has %zu cases",
                          sample->case_index, run->case_count);
    }
    if (sample->backend_index >= run->backend_count) {
        return lm_problem(problem, "backend_index is %zu, but the run has %zu backends",
                          sample->backend_index, run->backend_count);
    }
    if (sample->iteration >= run->iterations) {
        return lm_problem(problem, "iteration is %u, but the run has %u", sample->iteration,
                          run->iterations);
    }
    int result = check_text(record, "case", run->cases[sample->case_index].name,
                            "which case_index names", problem);
    return result ? result
                  : check_text(record, "backend", run->backends[sample->backend_index].spec,
                               "which backend_index names", problem);
}

static int decode_status(const json_t *record, struct lm_sample *sample, struct lm_problem *problem)
{
    const char *word = json_string_value(json_object_get(record, "status"));
    int status = 0;
    while (lm_sample_status_words[status] &&
           (!word || strcmp(word, lm_sample_status_words[status]) != 0)) {
        status++;
    }
    if (!lm_sample_status_words[status]) {
        return lm_problem(problem, "status is not ok, failed or skipped");
    }
    sample->status = (enum lm_sample_status)status;
    bool has_reason = sample->reason && sample->reason[0];
    if (has_reason == (sample->status == LM_SAMPLE_OK)) {
        return lm_problem(problem, "status is %s with%s a reason", lm_sample_status_words[status],
                          has_reason ? "" : "out");
    }
    return 0;
}

static int decode_sample(const struct lm_run *run, const json_t *record, struct lm_sample *sample,
                         struct lm_problem *problem)
{
    int result = check_text(record, "run", run->id, "the run of this file", problem);
    if (result == 0) {
        result = lm_schema_decode(record, lm_sample_members, sample, "", problem);
    }
    if (result == 0) {
        result = check_place(run, record, sample, problem);
    }
    if (result == 0) {
        result = decode_status(record, sample, problem);
    }
    if (result != 0 || sample->status != LM_SAMPLE_OK) {
        return result;
    }
    result = lm_schema_decode(record, lm_sample_figures, sample, "", problem);
    if (result == 0) {
        result = decode_latency(json_object_get(record, "latency"), &sample->latency, problem);
    }
    if (result == 0) {
        result = decode_counters(json_object_get(record, "counters"), &sample->counters, problem);
    }
    const json_t *network = json_object_get(record, "network");
    sample->has_network = network != NULL;
    return result != 0 || !network ? result
                                   : lm_schema_decode(network, lm_network_members, &sample->network,
                                                      "network.", problem);
}

int lm_sample_from_json(const struct lm_run *run, const json_t *record, struct lm_sample *sample,
                        struct lm_problem *problem)
{
    *sample = (struct lm_sample){0};
    int result = decode_sample(run, record, sample, problem);
    if (result != 0) {
        lm_sample_clear(sample);
    }
    return result;
}

int lm_end_from_json(const struct lm_run *run, const json_t *record, size_t sample_count,
                     struct lm_problem *problem)
{
    const json_t *samples = json_object_get(record, "samples");
    char text[32];
    int result = check_text(record, "run", run->id, "the run of this file", problem);
    if (result == 0 && (!json_is_integer(samples) || json_integer_value(samples) < 0 ||
                        (uint64_t)json_integer_value(samples) != sample_count)) {
        result = lm_problem(problem, "the end record says samples is %s, but %zu are here",
                            lm_json_word(samples, text), sample_count);
    }
    return result;
}
