/* compare_rows.h - the rows of a comparison's tables as text, for every form that shows tables.
 *
 * A renderer decides about layout and escaping; which rows there are, in which order and what
 * stands in their cells is decided here, once. Cells hold this program's own words and numbers;
 * names are given as they came and are to be escaped.
 */
#ifndef LM_COMPARE_ROWS_H
#define LM_COMPARE_ROWS_H

#include "report/comparison.h"

#define LM_CELL_BYTES 96

/* Columns of a case row after case and implementation. */
enum lm_case_column {
    LM_COLUMN_MEDIAN,
    LM_COLUMN_CV,
    LM_COLUMN_DIFFERENCE,
    LM_COLUMN_VERDICT,
    LM_COLUMN_PAIRED,
    LM_COLUMN_P50,
    LM_COLUMN_P99,
    LM_COLUMN_CPU,
    LM_COLUMN_SYSCALLS,
    LM_CASE_COLUMNS
};

const char *lm_case_column_title(enum lm_case_column column);

struct lm_case_row {
    const struct lm_implementation *implementation;
    const struct lm_measurement *measurement;
    const struct lm_cell *cell; /* NULL in a baseline's row */
    const char *baseline;       /* name of the baseline that cell is against; NULL in its own row */
    char cells[LM_CASE_COLUMNS][LM_CELL_BYTES];
};

/* Rows of each case: every baseline, followed by its candidates. */
size_t lm_case_row_count(const struct lm_comparison *comparison);

/* Fills lm_case_row_count() rows. */
void lm_case_rows(const struct lm_comparison *comparison, size_t case_index,
                  struct lm_case_row *rows);

/* Fills a row's cells that hold a candidate against its baseline: difference, verdict, paired
 * ratio.
 */
void lm_case_cells(struct lm_case_row *row, const struct lm_cell *cell);

/* Columns of a summary row after family and candidate. */
enum lm_tally_column {
    LM_TALLY_CASES,
    LM_TALLY_FASTER,
    LM_TALLY_WITHIN_NOISE,
    LM_TALLY_SLOWER,
    LM_TALLY_OTHER, /* "2 failed, 1 skipped"; empty when none */
    LM_TALLY_MEDIAN,
    LM_TALLY_COLUMNS
};

const char *lm_tally_column_title(enum lm_tally_column column);

struct lm_tally_row {
    const char *group; /* a family's name, or "all" */
    bool is_family;
    bool first;     /* of its group */
    size_t family;  /* into the comparison's families; SIZE_MAX when it is not one */
    size_t matchup; /* into the comparison's matchups */
    enum lm_section section;
    const char *candidate, *baseline;
    const struct lm_tally *tally;
    char cells[LM_TALLY_COLUMNS][LM_CELL_BYTES];
};

/* Fills a row's tally and cells. */
void lm_tally_cells(struct lm_tally_row *row, const struct lm_tally *tally);

/* Calls `each` for every family and candidate in page order, and after a section of several
 * families for "all" of it. A/A pairs have no rows. */
void lm_tally_rows(const struct lm_comparison *comparison,
                   void (*each)(void *context, const struct lm_tally_row *row), void *context);

/* Number of remarks of a kind. */
size_t lm_remark_count(const struct lm_comparison *comparison, enum lm_remark_kind kind);

#endif
