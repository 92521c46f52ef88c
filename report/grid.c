#include "report/grid.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

#define GAP          2
#define MOST_COLUMNS 16

static const char *const colours[LM_TONE_COUNT] = {
    [LM_TONE_PLAIN] = NULL,          [LM_TONE_BETTER] = "\033[32m", [LM_TONE_WORSE] = "\033[31m",
    [LM_TONE_DOUBTFUL] = "\033[33m", [LM_TONE_QUIET] = "\033[2m",   [LM_TONE_HEADING] = "\033[1m",
};

void lm_put_toned(FILE *out, enum lm_tone tone, bool colour, const char *text)
{
    bool coloured = colour && colours[tone] != NULL && *text != '\0';
    fputs(coloured ? colours[tone] : "", out);
    fputs(text, out);
    fputs(coloured ? "\033[0m" : "", out);
}

void lm_grid_begin(struct lm_grid *grid, const char *alignment, const char *const *titles)
{
    *grid = (struct lm_grid){.alignment = alignment, .titles = titles};
}

void lm_grid_add(struct lm_grid *grid, enum lm_tone tone, const char *text)
{
    if (grid->failed) {
        return;
    }
    if ((grid->count & (grid->count - 1)) == 0) {
        size_t room = grid->count == 0 ? 1 : 2 * grid->count;
        struct lm_grid_cell *cells = realloc(grid->cells, room * sizeof *cells);
        if (cells == NULL) {
            grid->failed = true;
            return;
        }
        grid->cells = cells;
    }
    char *safe = lm_escape_text(LM_FORM_TERMINAL, text);
    if (safe == NULL) {
        grid->failed = true;
        return;
    }
    grid->cells[grid->count++] = (struct lm_grid_cell){safe, tone};
}

static void put_spaces(FILE *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputc(' ', out);
    }
}

/* Spaces are held back until text follows them, so that no line ends in any. */
static void print_row(const struct lm_grid *grid, const struct lm_grid_cell *cells,
                      const size_t *widths, FILE *out, size_t indent, bool colour)
{
    size_t held = indent;
    for (size_t column = 0; grid->alignment[column] != '\0'; column++) {
        const struct lm_grid_cell *cell = &cells[column];
        bool right = grid->alignment[column] == 'r';
        if (widths[column] == 0) {
            continue;
        }
        size_t padding = widths[column] - lm_text_columns(cell->text);
        if (*cell->text != '\0') {
            put_spaces(out, held + (right ? padding : 0));
            lm_put_toned(out, cell->tone, colour, cell->text);
            held = right ? 0 : padding;
        } else {
            held += padding;
        }
        held += GAP;
    }
    fputc('\n', out);
}

static void print_titles(const struct lm_grid *grid, const size_t *widths, FILE *out, size_t indent,
                         bool colour)
{
    struct lm_grid_cell cells[MOST_COLUMNS];
    for (size_t column = 0; grid->alignment[column] != '\0'; column++) {
        cells[column].text = grid->titles[column];
        cells[column].tone = LM_TONE_HEADING;
    }
    print_row(grid, cells, widths, out, indent, colour);
}

/* Width of each column; 0 when nothing below its title says anything. */
static void find_widths(const struct lm_grid *grid, size_t columns, size_t *widths)
{
    bool used[MOST_COLUMNS] = {false};
    for (size_t i = 0; i < grid->count; i++) {
        const char *text = grid->cells[i].text;
        used[i % columns] = used[i % columns] || (*text != '\0' && strcmp(text, "-") != 0);
    }
    for (size_t i = 0; i < grid->count; i++) {
        size_t width = used[i % columns] ? lm_text_columns(grid->cells[i].text) : 0;
        widths[i % columns] = width > widths[i % columns] ? width : widths[i % columns];
    }
    for (size_t column = 0; column < columns && grid->titles != NULL; column++) {
        size_t width = lm_text_columns(grid->titles[column]);
        if (widths[column] > 0 && width > widths[column]) {
            widths[column] = width;
        }
    }
}

int lm_grid_print(struct lm_grid *grid, FILE *out, size_t indent, bool colour)
{
    size_t widths[MOST_COLUMNS] = {0};
    size_t columns = strlen(grid->alignment);
    assert(columns <= MOST_COLUMNS);
    if (!grid->failed) {
        find_widths(grid, columns, widths);
        if (grid->titles != NULL && grid->count > 0) {
            print_titles(grid, widths, out, indent, colour);
        }
        for (size_t row = 0; row < grid->count / columns; row++) {
            print_row(grid, &grid->cells[row * columns], widths, out, indent, colour);
        }
    }
    int status = grid->failed ? -ENOMEM : 0;
    for (size_t i = 0; i < grid->count; i++) {
        free((void *)grid->cells[i].text);
    }
    free(grid->cells);
    lm_grid_begin(grid, grid->alignment, grid->titles);
    return status;
}
