/* compare_testing.h - results made by hand, and the program run on them, for the tests of report/.
 */
#ifndef LM_TESTS_COMPARE_TESTING_H
#define LM_TESTS_COMPARE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results.h"
#include "harness/results_json.h"
#include "report/comparison.h"

static struct lm_bucket sheet_buckets[] = {{10, 100}};

/* A results file in memory. Strings are borrowed. */
struct sheet {
    struct lm_results results;
    struct lm_run_backend backends[40];
    struct lm_run_case cases[8];
    struct lm_sample samples[512];
};

/* Backend 0 is the baseline. */
static inline struct sheet *sheet_new(void)
{
    struct sheet *sheet = calloc(1, sizeof *sheet);
    assert_non_null(sheet);
    sheet->results = (struct lm_results){
        .path = (char *)"sheet.jsonl",
        .samples = sheet->samples,
        .ended = true,
        .run = {.schema = LM_RESULTS_SCHEMA,
                .id = (char *)"0123",
                .label = (char *)"",
                .environment = json_pack("{s:s, s:{s:s}}", "host", "here", "cpu", "model", "x"),
                .iterations = 5,
                .duration_s = 2.0,
                .warmup_s = 0.25,
                .timeout_s = 60.0,
                .interleaved = true,
                .backends = sheet->backends,
                .cases = sheet->cases},
    };
    return sheet;
}

static inline void sheet_free(struct sheet *sheet)
{
    json_decref(sheet->results.run.environment);
    free(sheet);
}

static inline size_t sheet_backend(struct sheet *sheet, const char *spec)
{
    size_t index = sheet->results.run.backend_count++;
    assert_true(index < sizeof sheet->backends / sizeof *sheet->backends);
    sheet->backends[index] = (struct lm_run_backend){
        .spec = (char *)spec, .title = (char *)spec, .settings = (char *)""};
    return index;
}

/* The family is what is before the first slash; unit "ns" is lower is better. */
static inline size_t sheet_case(struct sheet *sheet, const char *name, const char *family,
                                const char *unit)
{
    size_t index = sheet->results.run.case_count++;
    assert_true(index < sizeof sheet->cases / sizeof *sheet->cases);
    sheet->cases[index] = (struct lm_run_case){.name = (char *)name,
                                               .family = (char *)family,
                                               .operation = (char *)"one operation",
                                               .unit = (char *)unit,
                                               .higher_is_better = strcmp(unit, "ns") != 0};
    return index;
}

static inline struct lm_sample *sheet_sample(struct sheet *sheet, size_t backend, size_t which,
                                             uint32_t iteration, double metric)
{
    size_t index = sheet->results.sample_count++;
    assert_true(index < sizeof sheet->samples / sizeof *sheet->samples);
    sheet->samples[index] = (struct lm_sample){
        .case_index = which,
        .backend_index = backend,
        .iteration = iteration,
        .metric = metric,
        .elapsed_s = 1.0,
        .operations = 100,
        .latency = {10.0, 1, 10, 12, 15, 20, 25, 30, sheet_buckets, 1},
        .cpu_user_s = 0.000001,
    };
    return &sheet->samples[index];
}

static inline void sheet_values(struct sheet *sheet, size_t backend, size_t which, size_t count,
                                const double *values)
{
    for (size_t i = 0; i < count; i++) {
        sheet_sample(sheet, backend, which, (uint32_t)i, values[i]);
    }
}

/* One failed or skipped sample. */
static inline void sheet_trouble(struct sheet *sheet, size_t backend, size_t which,
                                 uint32_t iteration, enum lm_sample_status status,
                                 const char *reason)
{
    struct lm_sample *sample = sheet_sample(sheet, backend, which, iteration, 0.0);
    sample->status = status;
    sample->reason = (char *)reason;
}

static inline struct lm_comparison *sheet_compare_as(const struct sheet *sheet,
                                                     const struct lm_compare_options *options)
{
    struct lm_comparison *comparison = NULL;
    char error[512] = "";
    int status =
        lm_comparison_from_results(&sheet->results, options, &comparison, error, sizeof error);
    assert_string_equal(error, "");
    assert_int_equal(status, 0);
    return comparison;
}

static inline struct lm_comparison *sheet_compare(const struct sheet *sheet)
{
    const struct lm_compare_options options = {.baseline = NULL};
    return sheet_compare_as(sheet, &options);
}

static inline void write_record(FILE *out, json_t *record)
{
    assert_non_null(record);
    assert_int_equal(json_dumpf(record, out, JSON_COMPACT), 0);
    fputc('\n', out);
    json_decref(record);
}

static inline void sheet_write(const struct sheet *sheet, const char *path)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    write_record(out, lm_run_to_json(&sheet->results.run));
    for (size_t i = 0; i < sheet->results.sample_count; i++) {
        write_record(out, lm_sample_to_json(&sheet->results.run, &sheet->samples[i]));
    }
    write_record(out, lm_end_to_json(&sheet->results.run, sheet->results.sample_count));
    assert_int_equal(fclose(out), 0);
}

/* What a run of the program said. Static buffers: one at a time. */
struct said {
    int code;
    char out[1 << 20], err[1 << 16];
};

static inline void read_whole(const char *path, char *text, size_t bytes)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t got = fread(text, 1, bytes - 1, in);
    text[got] = '\0';
    fclose(in);
}

/* Runs `loopmark compare ARGUMENTS` under sh, in a directory of its own where files were put. */
static inline const struct said *compare(const char *directory, const char *arguments)
{
    static struct said said;
    char command[4096], path[512];
    snprintf(command, sizeof command, "cd '%s' && '%s' compare %s", directory, LM_PROGRAM,
             arguments);
    snprintf(path, sizeof path, "%s/said.out", directory);
    char redirected[4608];
    bool has_own = strstr(arguments, ">") != NULL;
    snprintf(redirected, sizeof redirected, "%s %s 2>said.err", command,
             has_own ? "" : ">said.out");
    int status = system(redirected);
    assert_true(WIFEXITED(status));
    said.code = WEXITSTATUS(status);
    said.out[0] = '\0';
    if (!has_own) {
        read_whole(path, said.out, sizeof said.out);
    }
    snprintf(path, sizeof path, "%s/said.err", directory);
    read_whole(path, said.err, sizeof said.err);
    return &said;
}

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL) {                                                      \
            fail_msg("'%s' is not in:\n%s", (part), (text));                                       \
        }                                                                                          \
    } while (0)

#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        if (strstr((text), (part)) != NULL) {                                                      \
            fail_msg("'%s' is in:\n%s", (part), (text));                                           \
        }                                                                                          \
    } while (0)

#define assert_near(value, expected)                                                               \
    do {                                                                                           \
        double near_value_ = (value), near_expected_ = (expected);                                 \
        if (!(fabs(near_value_ - near_expected_) <= 1e-9 * (1.0 + fabs(near_expected_)))) {        \
            fail_msg("%.12g is not %.12g", near_value_, near_expected_);                           \
        }                                                                                          \
    } while (0)

/* A directory for a test's files. */
static inline void make_directory(char path[64])
{
    snprintf(path, 64, "/tmp/loopmark-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void remove_directory(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
}

#endif
