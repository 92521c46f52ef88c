/* A comparison from an imported table of medians and CVs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comparison.h"
#include "report/comparison_build.h"
#include "report/import_csv.h"

static const char *case_name_at(const void *source, size_t index)
{
    return ((const struct lm_import *)source)->cases[index].name;
}

static const char *implementation_at(const void *source, size_t index)
{
    return ((const struct lm_import *)source)->implementations[index];
}

static int choose_baseline(const struct lm_import *import, const struct lm_compare_options *options,
                           size_t *baseline, char *error, size_t error_bytes)
{
    *baseline = import->baseline;
    if (options->baseline != NULL) {
        return lm_build_find_baseline(options->baseline, import, implementation_at,
                                      import->implementation_count, import->path, baseline, error,
                                      error_bytes);
    }
    if (*baseline == SIZE_MAX) {
        snprintf(
            error, error_bytes,
            "%s: no row has 'baseline' as its printed_difference; write it into the rows of one, "
            "such as '%s' (compare has --baseline, too)",
            import->path, import->implementations[0]);
        return -ENOENT;
    }
    return 0;
}

static int add_case(struct lm_comparison *comparison, const struct lm_import_case *from)
{
    struct lm_compared_case *to = &comparison->cases[comparison->case_count];
    to->name = lm_build_text(comparison, "%s", from->name);
    to->unit = lm_build_text(comparison, "%s", from->unit);
    to->operation = "";
    to->higher_is_better = strcmp(from->unit, "s") != 0;
    to->section = LM_SECTION_MAIN;
    if (to->name == NULL || to->unit == NULL) {
        return -ENOMEM;
    }
    comparison->case_count++;
    return lm_build_family(comparison, from->family, to->section, &to->family);
}

/* Cases that were not asked for get SIZE_MAX as their place. */
static int add_cases(struct lm_comparison *comparison, const struct lm_import *import,
                     const struct lm_compare_options *options, size_t *places)
{
    comparison->cases = lm_build_alloc(comparison, import->case_count, sizeof *comparison->cases);
    int status = comparison->cases != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; i < import->case_count && status == 0; i++) {
        places[i] = SIZE_MAX;
        if (lm_build_wants(options, import->cases[i].name)) {
            places[i] = comparison->case_count;
            status = add_case(comparison, &import->cases[i]);
        }
    }
    return status;
}

static int add_implementations(struct lm_comparison *comparison, const struct lm_import *import)
{
    size_t count = import->implementation_count;
    comparison->implementations =
        lm_build_alloc(comparison, count, sizeof *comparison->implementations);
    if (comparison->implementations == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct lm_implementation *to = &comparison->implementations[i];
        to->name = lm_build_text(comparison, "%s", import->implementations[i]);
        to->title = "";
        to->settings = "";
        to->cases = lm_build_alloc(comparison, comparison->case_count, sizeof *to->cases);
        if (to->name == NULL || to->cases == NULL) {
            return -ENOMEM;
        }
        for (size_t j = 0; j < comparison->case_count; j++) {
            lm_build_unknown(&to->cases[j]);
        }
    }
    comparison->implementation_count = count;
    return 0;
}

/* Half of the last printed digit of a median, in its unit. */
static double rounding_of(const struct lm_import_row *row)
{
    const char *text = row->printed_median;
    char *end = NULL;
    double printed = strtod(text, &end);
    const char *point = memchr(text, '.', (size_t)(end - text));
    double half = 0.5 * pow(10.0, point != NULL ? -(double)(end - point - 1) : 0.0);
    return printed > 0.0 ? half * row->median / printed : 0.0;
}

/* A printed difference was made of medians that were not rounded yet, so it is the better figure:
 * as a fraction, if the printed medians may have been rounded from such; else NAN. */
static double published_difference(const struct lm_import_row *row,
                                   const struct lm_import_row *baseline, bool higher_is_better)
{
    char *end = NULL;
    double printed = strtod(row->printed_difference, &end);
    double c = rounding_of(row), b = rounding_of(baseline);
    double one = lm_difference(row->median + c, baseline->median - b, higher_is_better) * 100.0;
    double other = lm_difference(row->median - c, baseline->median + b, higher_is_better) * 100.0;
    /* Half of the last digit of a printed difference, and what floating point needs. */
    bool fits = end != row->printed_difference && printed >= fmin(one, other) - 0.0501 &&
                printed <= fmax(one, other) + 0.0501;
    return fits ? printed / 100.0 : NAN;
}

/* Gives each measurement the difference that was printed, where the comparison is with the table's
 * own baseline. 0 or -ENOMEM. */
static int add_published(struct lm_comparison *comparison, const struct lm_import *import,
                         const size_t *places)
{
    const struct lm_import_row **baselines = calloc(import->case_count + 1, sizeof *baselines);
    if (baselines == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < import->row_count; i++) {
        if (import->rows[i].implementation_index == import->baseline) {
            baselines[import->rows[i].case_index] = &import->rows[i];
        }
    }
    for (size_t i = 0; i < import->row_count; i++) {
        const struct lm_import_row *row = &import->rows[i], *baseline = baselines[row->case_index];
        size_t place = places[row->case_index];
        if (place != SIZE_MAX && baseline != NULL && row != baseline) {
            comparison->implementations[row->implementation_index]
                .cases[place]
                .published_difference =
                published_difference(row, baseline, comparison->cases[place].higher_is_better);
        }
    }
    free(baselines);
    return 0;
}

static void add_rows(struct lm_comparison *comparison, const struct lm_import *import,
                     const size_t *places)
{
    for (size_t i = 0; i < import->row_count; i++) {
        const struct lm_import_row *row = &import->rows[i];
        if (places[row->case_index] == SIZE_MAX) {
            continue;
        }
        struct lm_measurement *measurement =
            &comparison->implementations[row->implementation_index].cases[places[row->case_index]];
        measurement->imported = true;
        measurement->metric.median = row->median;
        measurement->metric.cv = row->cv;
    }
}

static int fill(struct lm_comparison *comparison, const struct lm_import *import,
                const struct lm_compare_options *options, size_t baseline)
{
    size_t *places = calloc(import->case_count + 1, sizeof *places);
    comparison->source = lm_build_text(comparison, "%s", import->path);
    if (places == NULL || comparison->source == NULL) {
        free(places);
        return -ENOMEM;
    }
    int status = add_cases(comparison, import, options, places);
    status = status != 0 ? status : add_implementations(comparison, import);
    if (status == 0) {
        add_rows(comparison, import, places);
        if (baseline == import->baseline) {
            add_published(comparison, import, places);
        }
        status =
            lm_build_note(comparison, import->path,
                          "is a published table of medians and CVs: samples, latencies and "
                          "paired ratios are not known; differences are the printed ones where "
                          "they fit the medians, and others are of rounded medians");
    }
    free(places);
    comparison->baseline = baseline;
    for (size_t i = 0; i < import->implementation_count && status == 0; i++) {
        if (i != baseline) {
            status = lm_build_matchup(comparison, i, baseline, false);
        }
    }
    return status != 0 ? status : lm_build_finish(comparison);
}

int lm_comparison_from_import(const struct lm_import *import,
                              const struct lm_compare_options *options,
                              struct lm_comparison **comparison, char *error, size_t error_bytes)
{
    size_t baseline = 0;
    int status = choose_baseline(import, options, &baseline, error, error_bytes);
    if (status == 0) {
        status = lm_build_check_globs(options, import, case_name_at, import->case_count,
                                      import->path, error, error_bytes);
    }
    if (status != 0) {
        return status;
    }
    struct lm_comparison *built = lm_build_new();
    status = built != NULL ? fill(built, import, options, baseline) : -ENOMEM;
    return lm_build_conclude(built, status, comparison, error, error_bytes);
}
