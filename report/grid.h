/* grid.h - a table of text aligned for a terminal.
 *
 * Cells are added row by row and printed once all widths are known. Text is made safe for a
 * terminal when it is added. A shortage of memory is kept and returned by lm_grid_print.
 */
#ifndef LM_GRID_H
#define LM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a cell's colour would say; it never says more than the text. */
enum lm_tone {
    LM_TONE_PLAIN,
    LM_TONE_BETTER,
    LM_TONE_WORSE,
    LM_TONE_DOUBTFUL,
    LM_TONE_QUIET,
    LM_TONE_HEADING,
    LM_TONE_COUNT
};

struct lm_grid_cell {
    const char *text; /* owned, safe for a terminal */
    enum lm_tone tone;
};

struct lm_grid {
    const char *alignment;     /* a letter for each column: l or r */
    const char *const *titles; /* one for each column, or NULL */
    struct lm_grid_cell *cells;
    size_t count;
    bool failed;
};

/* Starts a grid. alignment and titles (may be NULL) must outlive it; at most 16 columns. */
void lm_grid_begin(struct lm_grid *grid, const char *alignment, const char *const *titles);

/* Adds the next cell, left to right, row by row. */
void lm_grid_add(struct lm_grid *grid, enum lm_tone tone, const char *text);

/* Prints all full rows, each after `indent` spaces, frees the cells and starts anew. Trailing
 * spaces are left out, columns in which no cell has text too. 0 or -ENOMEM. */
int lm_grid_print(struct lm_grid *grid, FILE *out, size_t indent, bool colour);

/* Writes text in a tone's colour, or as it is. */
void lm_put_toned(FILE *out, enum lm_tone tone, bool colour, const char *text);

#endif
