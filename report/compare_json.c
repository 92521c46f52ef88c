/* The JSON form of a comparison; compare.md describes its members. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_render.h"
#include "report/compare_rows.h"
#include "report/escape.h"
#include "report/policy.h"
#include "report/wording.h"

/* A value that could not be made (NULL) is a shortage of memory; it is remembered in the document,
 * so that the code below reads as the schema does. */
struct document {
    const struct lm_comparison *comparison;
    bool failed;
};

static void set(struct document *document, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        document->failed = true;
    }
}

static void append(struct document *document, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) {
        document->failed = true;
    }
}

/* null for what is not known. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(size_t value)
{
    return json_integer((json_int_t)value);
}

/* null for NULL. A path need not be UTF-8, which JSON has to be: then it is shown escaped. */
static json_t *string(const char *text)
{
    if (text == NULL) {
        return json_null();
    }
    if (lm_text_is_utf8(text, strlen(text))) {
        return json_string(text);
    }
    char *escaped = lm_escape_text(LM_FORM_TERMINAL, text);
    json_t *value = escaped != NULL ? json_string(escaped) : NULL;
    free(escaped);
    return value;
}

static json_t *policy(struct document *document)
{
    json_t *object = json_object();
    set(document, object, "noise_factor", number(lm_policy.noise_factor));
    set(document, object, "cv_limit_percent", number(lm_policy.cv_limit * 100.0));
    set(document, object, "minimum_iterations", count(lm_policy.minimum_iterations));
    set(document, object, "cluster_minimum_samples", count(lm_policy.cluster_minimum_samples));
    set(document, object, "cluster_minimum_side", count(lm_policy.cluster_minimum_side));
    set(document, object, "cluster_gap_sd", number(lm_policy.cluster_gap_sd));
    set(document, object, "cluster_gap_percent", number(lm_policy.cluster_gap_fraction * 100.0));
    set(document, object, "paired_minimum", count(lm_policy.paired_minimum));
    set(document, object, "bootstrap_resamples", count(lm_policy.bootstrap_resamples));
    set(document, object, "bootstrap_seed", count((size_t)lm_policy.bootstrap_seed));
    set(document, object, "interval_percent", number(lm_policy.interval_confidence * 100.0));
    return object;
}

/* The members of a tally, added to an object. */
static void set_tally(struct document *document, json_t *object, const struct lm_tally *tally,
                      const char *baseline)
{
    set(document, object, "cases", count(tally->case_count));
    for (int verdict = 0; verdict < LM_VERDICT_COUNT; verdict++) {
        set(document, object, lm_verdict_key((enum lm_verdict)verdict),
            count(tally->verdicts[verdict]));
    }
    set(document, object, "median_difference_percent", number(tally->median_difference * 100.0));
    char *answer = lm_answer_text(tally, baseline);
    set(document, object, "answer", string(answer != NULL ? answer : ""));
    document->failed = document->failed || answer == NULL;
    free(answer);
}

static json_t *noise_floor(struct document *document, const struct lm_matchup *matchup)
{
    struct lm_noise_floor found;
    if (!matchup->aa) {
        return json_null();
    }
    if (lm_noise_floor(document->comparison, matchup, &found) != 0) {
        return NULL;
    }
    json_t *object = json_object();
    set(document, object, "cases", count(found.case_count));
    set(document, object, "beyond_noise", count(found.outside));
    set(document, object, "median_percent", number(found.median * 100.0));
    set(document, object, "largest_percent", number(found.largest * 100.0));
    set(document, object, "largest_case",
        string(found.case_count > 0 ? document->comparison->cases[found.largest_case].name : NULL));
    return object;
}

static json_t *candidate(struct document *document, const struct lm_matchup *matchup)
{
    const struct lm_comparison *c = document->comparison;
    const char *baseline = c->implementations[matchup->baseline].name;
    json_t *object = json_object();
    json_t *sections = json_object();
    json_t *families = json_array();
    set(document, object, "candidate", string(c->implementations[matchup->candidate].name));
    set(document, object, "baseline", string(baseline));
    set(document, object, "noise_floor", noise_floor(document, matchup));
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        if (matchup->sections[section].case_count > 0) {
            json_t *tally = json_object();
            set_tally(document, tally, &matchup->sections[section], baseline);
            set(document, sections, lm_section_key((enum lm_section)section), tally);
        }
    }
    for (size_t i = 0; i < c->family_count; i++) {
        json_t *family = json_object();
        set(document, family, "family", string(c->families[i].name));
        set(document, family, "section", string(lm_section_key(c->families[i].section)));
        set_tally(document, family, &matchup->families[i], baseline);
        append(document, families, family);
    }
    set(document, object, "sections", sections);
    set(document, object, "families", families);
    return object;
}

static json_t *versus(struct document *document, const struct lm_case_row *row)
{
    const struct lm_cell *cell = row->cell;
    if (cell == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    set(document, object, "baseline", string(row->baseline));
    set(document, object, "verdict", string(lm_verdict_key(cell->verdict)));
    set(document, object, "reason", string(cell->reason));
    set(document, object, "difference_percent", number(cell->difference * 100.0));
    set(document, object, "noise_percent", number(cell->noise * 100.0));
    set(document, object, "paired_ratio", number(cell->paired.estimate));
    set(document, object, "paired_low", number(cell->paired.low));
    set(document, object, "paired_high", number(cell->paired.high));
    set(document, object, "pairs", count(cell->paired.count));
    return object;
}

static json_t *measured(struct document *document, const struct lm_case_row *row)
{
    const struct lm_measurement *m = row->measurement;
    json_t *object = json_object();
    set(document, object, "implementation", string(row->implementation->name));
    set(document, object, "samples", m->imported ? json_null() : count(m->metric.count));
    set(document, object, "failed", count(m->failed));
    set(document, object, "skipped", count(m->skipped));
    set(document, object, "median", number(m->metric.median));
    set(document, object, "mean", number(m->metric.mean));
    set(document, object, "sd", number(m->metric.sd));
    set(document, object, "cv_percent", number(m->metric.cv * 100.0));
    set(document, object, "min", number(m->metric.min));
    set(document, object, "max", number(m->metric.max));
    set(document, object, "p50_ns", number(m->p50_ns));
    set(document, object, "p99_ns", number(m->p99_ns));
    set(document, object, "cpu_ns_per_operation", number(m->cpu_ns_per_operation));
    set(document, object, "system_calls_per_operation", number(m->syscalls_per_operation));
    set(document, object, "versus", versus(document, row));
    return object;
}

static json_t *cases(struct document *document)
{
    const struct lm_comparison *c = document->comparison;
    size_t row_count = lm_case_row_count(c);
    struct lm_case_row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        return NULL;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < c->case_count; i++) {
        const struct lm_compared_case *which = &c->cases[i];
        json_t *object = json_object();
        json_t *implementations = json_array();
        set(document, object, "case", string(which->name));
        set(document, object, "family", string(c->families[which->family].name));
        set(document, object, "section", string(lm_section_key(which->section)));
        set(document, object, "operation", string(which->operation));
        set(document, object, "unit", string(which->unit));
        set(document, object, "higher_is_better", json_boolean(which->higher_is_better));
        lm_case_rows(c, i, rows);
        for (size_t j = 0; j < row_count; j++) {
            append(document, implementations, measured(document, &rows[j]));
        }
        set(document, object, "implementations", implementations);
        append(document, array, object);
    }
    free(rows);
    return array;
}

static json_t *remarks(struct document *document)
{
    const struct lm_comparison *c = document->comparison;
    json_t *array = json_array();
    for (size_t i = 0; i < c->remark_count; i++) {
        const struct lm_remark *remark = &c->remarks[i];
        json_t *object = json_object();
        set(document, object, "kind", string(lm_remark_key(remark->kind)));
        set(document, object, "implementation",
            string(c->implementations[remark->implementation].name));
        set(document, object, "case", string(c->cases[remark->case_index].name));
        set(document, object, "iteration", count(remark->iteration));
        set(document, object, "cases", count(remark->cases));
        set(document, object, "samples", count(remark->samples));
        set(document, object, "text", string(remark->text));
        append(document, array, object);
    }
    return array;
}

static json_t *implementations(struct document *document)
{
    const struct lm_comparison *c = document->comparison;
    json_t *array = json_array();
    for (size_t i = 0; i < c->implementation_count; i++) {
        json_t *object = json_object();
        set(document, object, "name", string(c->implementations[i].name));
        set(document, object, "title", string(c->implementations[i].title));
        set(document, object, "settings", string(c->implementations[i].settings));
        append(document, array, object);
    }
    return array;
}

static void set_source(struct document *document, json_t *root)
{
    const struct lm_comparison *c = document->comparison;
    json_t *settings = json_array();
    json_t *warnings = json_array();
    json_t *notes = json_array();
    set(document, root, "source", string(c->source));
    set(document, root, "source_after", string(c->source_after));
    set(document, root, "iterations", c->iterations > 0 ? count(c->iterations) : json_null());
    set(document, root, "duration_s", c->iterations > 0 ? number(c->duration_s) : json_null());
    set(document, root, "warmup_s", c->iterations > 0 ? number(c->warmup_s) : json_null());
    for (size_t i = 0; i < c->setting_count; i++) {
        append(document, settings, string(c->settings[i]));
    }
    for (size_t i = 0; i < c->warning_count; i++) {
        append(document, warnings, string(c->warnings[i]));
    }
    for (size_t i = 0; i < c->note_count; i++) {
        json_t *note = json_object();
        set(document, note, "subject", string(c->notes[i].subject));
        set(document, note, "text", string(c->notes[i].text));
        append(document, notes, note);
    }
    set(document, root, "settings_that_differ", settings);
    set(document, root, "machine_warnings", warnings);
    set(document, root, "verdicts_withheld", json_boolean(c->withheld));
    set(document, root, "notes", notes);
}

int lm_render_compare_json(const struct lm_comparison *comparison, FILE *out)
{
    struct document document = {.comparison = comparison};
    json_t *root = json_object();
    json_t *candidates = json_array();
    set(&document, root, "schema", json_string("loopmark.compare"));
    set(&document, root, "version", json_integer(LM_COMPARE_SCHEMA));
    set_source(&document, root);
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        append(&document, candidates, candidate(&document, &comparison->matchups[i]));
    }
    set(&document, root, "candidates", candidates);
    set(&document, root, "policy", policy(&document));
    set(&document, root, "implementations", implementations(&document));
    set(&document, root, "cases", cases(&document));
    set(&document, root, "remarks", remarks(&document));
    if (!document.failed) {
        json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        fputc('\n', out);
    }
    json_decref(root);
    return document.failed ? -ENOMEM : 0;
}
