/* The CSV form of a comparison: one row per case and implementation, numbers unrounded, percent
 * where the column's name says so, empty where something is not known. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/compare_render.h"
#include "report/compare_rows.h"
#include "report/wording.h"

/* Twelve significant digits: more than any clock gives, and no noise of binary fractions. */
static void put_number(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.12g", value);
    }
}

static void put_string(FILE *out, const char *text)
{
    fputc(',', out);
    lm_put_text(out, LM_FORM_CSV, text);
}

static void put_measurement(FILE *out, const struct lm_measurement *m)
{
    fputc(',', out);
    if (!m->imported) {
        fprintf(out, "%zu", m->metric.count);
    }
    put_number(out, m->metric.median);
    put_number(out, m->metric.mean);
    put_number(out, m->metric.sd);
    put_number(out, m->metric.cv * 100.0);
    put_number(out, m->metric.min);
    put_number(out, m->metric.max);
    put_number(out, m->p50_ns);
    put_number(out, m->p99_ns);
    put_number(out, m->cpu_ns_per_operation);
    put_number(out, m->syscalls_per_operation);
}

static void put_cell(FILE *out, const struct lm_case_row *row)
{
    const struct lm_cell *cell = row->cell;
    put_string(out, cell != NULL ? row->baseline : "");
    put_string(out, cell != NULL ? lm_verdict_key(cell->verdict) : "baseline");
    put_number(out, cell != NULL ? cell->difference * 100.0 : NAN);
    put_number(out, cell != NULL ? cell->noise * 100.0 : NAN);
    put_number(out, cell != NULL ? cell->paired.estimate : NAN);
    put_number(out, cell != NULL ? cell->paired.low : NAN);
    put_number(out, cell != NULL ? cell->paired.high : NAN);
    const char *reason = cell != NULL ? cell->reason : row->measurement->reason;
    put_string(out, reason != NULL ? reason : "");
}

int lm_render_compare_csv(const struct lm_comparison *comparison, FILE *out)
{
    size_t row_count = lm_case_row_count(comparison);
    struct lm_case_row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        return -ENOMEM;
    }
    fputs("section,family,case,unit,implementation,samples,median,mean,sd,cv_percent,min,max,"
          "p50_ns,p99_ns,cpu_ns_per_operation,system_calls_per_operation,baseline,verdict,"
          "difference_percent,noise_percent,paired_ratio,paired_low,paired_high,reason\n",
          out);
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct lm_compared_case *which = &comparison->cases[i];
        lm_case_rows(comparison, i, rows);
        for (size_t j = 0; j < row_count; j++) {
            fputs(lm_section_key(which->section), out);
            put_string(out, comparison->families[which->family].name);
            put_string(out, which->name);
            put_string(out, which->unit);
            put_string(out, rows[j].implementation->name);
            put_measurement(out, rows[j].measurement);
            put_cell(out, &rows[j]);
            fputc('\n', out);
        }
    }
    free(rows);
    return 0;
}
