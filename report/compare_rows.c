#include "report/compare_rows.h"

#include <math.h>
#include <stdio.h>

#include "report/numbers.h"
#include "report/wording.h"

static const char *const case_titles[LM_CASE_COLUMNS] = {
    [LM_COLUMN_MEDIAN] = "median",
    [LM_COLUMN_CV] = "CV",
    [LM_COLUMN_DIFFERENCE] = "vs base",
    [LM_COLUMN_VERDICT] = "verdict",
    [LM_COLUMN_PAIRED] = "paired ratio",
    [LM_COLUMN_P50] = "p50",
    [LM_COLUMN_P99] = "p99",
    [LM_COLUMN_CPU] = "CPU/op",
    [LM_COLUMN_SYSCALLS] = "calls/op",
};

static const char *const tally_titles[LM_TALLY_COLUMNS] = {
    [LM_TALLY_CASES] = "cases",
    [LM_TALLY_FASTER] = "faster",
    [LM_TALLY_WITHIN_NOISE] = "within noise",
    [LM_TALLY_SLOWER] = "slower",
    [LM_TALLY_OTHER] = "other",
    [LM_TALLY_MEDIAN] = "median diff",
};

const char *lm_case_column_title(enum lm_case_column column)
{
    return case_titles[column];
}

const char *lm_tally_column_title(enum lm_tally_column column)
{
    return tally_titles[column];
}

/* Whether the matchup begins a new baseline's group of rows. */
static bool begins_group(const struct lm_comparison *comparison, size_t matchup)
{
    return matchup == 0 ||
           comparison->matchups[matchup].baseline != comparison->matchups[matchup - 1].baseline;
}

size_t lm_case_row_count(const struct lm_comparison *comparison)
{
    size_t count = comparison->matchup_count == 0 ? 1 : 0;
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        count += begins_group(comparison, i) ? 2 : 1;
    }
    return count;
}

static void fill_measurement(struct lm_case_row *row, const char *unit)
{
    const struct lm_measurement *m = row->measurement;
    lm_format_value(row->cells[LM_COLUMN_MEDIAN], m->metric.median, unit);
    lm_format_percent(row->cells[LM_COLUMN_CV], m->metric.cv);
    lm_format_time_ns(row->cells[LM_COLUMN_P50], m->p50_ns);
    lm_format_time_ns(row->cells[LM_COLUMN_P99], m->p99_ns);
    lm_format_time_ns(row->cells[LM_COLUMN_CPU], m->cpu_ns_per_operation);
    lm_format_count(row->cells[LM_COLUMN_SYSCALLS], m->syscalls_per_operation);
}

static void fill_row(const struct lm_comparison *comparison, size_t case_index,
                     size_t implementation, struct lm_case_row *row)
{
    row->implementation = &comparison->implementations[implementation];
    row->measurement = &row->implementation->cases[case_index];
    row->cell = NULL;
    row->baseline = NULL;
    fill_measurement(row, comparison->cases[case_index].unit);
    row->cells[LM_COLUMN_DIFFERENCE][0] = '\0';
    row->cells[LM_COLUMN_PAIRED][0] = '\0';
    snprintf(row->cells[LM_COLUMN_VERDICT], LM_CELL_BYTES, "baseline");
}

void lm_case_cells(struct lm_case_row *row, const struct lm_cell *cell)
{
    row->cell = cell;
    lm_format_difference(row->cells[LM_COLUMN_DIFFERENCE], cell->difference);
    snprintf(row->cells[LM_COLUMN_VERDICT], LM_CELL_BYTES, "%s", lm_verdict_word(cell->verdict));
    char estimate[LM_NUMBER_BYTES], low[LM_NUMBER_BYTES], high[LM_NUMBER_BYTES];
    lm_format_ratio(estimate, cell->paired.estimate);
    lm_format_ratio(low, cell->paired.low);
    lm_format_ratio(high, cell->paired.high);
    if (isfinite(cell->paired.estimate)) {
        snprintf(row->cells[LM_COLUMN_PAIRED], LM_CELL_BYTES, "%.24s [%.24s, %.24s]", estimate, low,
                 high);
    } else {
        snprintf(row->cells[LM_COLUMN_PAIRED], LM_CELL_BYTES, "%s", estimate);
    }
}

void lm_case_rows(const struct lm_comparison *comparison, size_t case_index,
                  struct lm_case_row *rows)
{
    if (comparison->matchup_count == 0) {
        fill_row(comparison, case_index, comparison->baseline, rows);
    }
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        const struct lm_matchup *matchup = &comparison->matchups[i];
        if (begins_group(comparison, i)) {
            fill_row(comparison, case_index, matchup->baseline, rows++);
        }
        fill_row(comparison, case_index, matchup->candidate, rows);
        rows->baseline = comparison->implementations[matchup->baseline].name;
        lm_case_cells(rows++, &matchup->cells[case_index]);
    }
}

static void fill_other(char text[LM_CELL_BYTES], const struct lm_tally *tally)
{
    static const enum lm_verdict others[] = {LM_VERDICT_UNSTABLE, LM_VERDICT_NONE,
                                             LM_VERDICT_SKIPPED, LM_VERDICT_FAILED};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof others / sizeof *others && used < LM_CELL_BYTES; i++) {
        size_t count = tally->verdicts[others[i]];
        if (count > 0) {
            used += (size_t)snprintf(text + used, LM_CELL_BYTES - used, "%s%zu %s",
                                     used == 0 ? "" : ", ", count, lm_verdict_word(others[i]));
        }
    }
}

void lm_tally_cells(struct lm_tally_row *row, const struct lm_tally *tally)
{
    row->tally = tally;
    snprintf(row->cells[LM_TALLY_CASES], LM_CELL_BYTES, "%zu", tally->case_count);
    snprintf(row->cells[LM_TALLY_FASTER], LM_CELL_BYTES, "%zu", tally->verdicts[LM_VERDICT_FASTER]);
    snprintf(row->cells[LM_TALLY_WITHIN_NOISE], LM_CELL_BYTES, "%zu",
             tally->verdicts[LM_VERDICT_WITHIN_NOISE]);
    snprintf(row->cells[LM_TALLY_SLOWER], LM_CELL_BYTES, "%zu", tally->verdicts[LM_VERDICT_SLOWER]);
    fill_other(row->cells[LM_TALLY_OTHER], tally);
    lm_format_difference(row->cells[LM_TALLY_MEDIAN], tally->median_difference);
}

/* Rows of one family, or of the whole section when family is SIZE_MAX. */
static void each_candidate(const struct lm_comparison *comparison, struct lm_tally_row *row,
                           size_t family,
                           void (*each)(void *context, const struct lm_tally_row *row),
                           void *context)
{
    row->is_family = family != SIZE_MAX;
    row->first = true;
    row->family = family;
    row->group = row->is_family ? comparison->families[family].name : "all";
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        const struct lm_matchup *matchup = &comparison->matchups[i];
        if (!matchup->aa) {
            row->matchup = i;
            row->candidate = comparison->implementations[matchup->candidate].name;
            row->baseline = comparison->implementations[matchup->baseline].name;
            lm_tally_cells(row, row->is_family ? &matchup->families[family]
                                               : &matchup->sections[row->section]);
            each(context, row);
            row->first = false;
        }
    }
}

void lm_tally_rows(const struct lm_comparison *comparison,
                   void (*each)(void *context, const struct lm_tally_row *row), void *context)
{
    struct lm_tally_row row;
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        size_t families = 0;
        row.section = (enum lm_section)section;
        for (size_t i = 0; i < comparison->family_count; i++) {
            if (comparison->families[i].section == row.section) {
                each_candidate(comparison, &row, i, each, context);
                families++;
            }
        }
        if (families > 1) {
            each_candidate(comparison, &row, SIZE_MAX, each, context);
        }
    }
}

size_t lm_remark_count(const struct lm_comparison *comparison, enum lm_remark_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->remark_count; i++) {
        count += comparison->remarks[i].kind == kind;
    }
    return count;
}
