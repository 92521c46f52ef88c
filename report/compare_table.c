/* The terminal form of a comparison. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_render.h"
#include "report/compare_rows.h"
#include "report/grid.h"
#include "report/policy.h"
#include "report/wording.h"

struct table {
    const struct lm_comparison *comparison;
    FILE *out;
    bool colour;
    struct lm_grid grid;
    int status; /* the first failure */
};

static void heading(struct table *table, const char *text)
{
    fputc('\n', table->out);
    lm_put_toned(table->out, LM_TONE_HEADING, table->colour, text);
    fputc('\n', table->out);
}

static void print_grid(struct table *table, size_t indent)
{
    int status = lm_grid_print(&table->grid, table->out, indent, table->colour);
    table->status = table->status != 0 ? table->status : status;
}

static enum lm_tone tone_of(enum lm_verdict verdict)
{
    switch (verdict) {
    case LM_VERDICT_FASTER:
        return LM_TONE_BETTER;
    case LM_VERDICT_SLOWER:
    case LM_VERDICT_FAILED:
        return LM_TONE_WORSE;
    case LM_VERDICT_UNSTABLE:
        return LM_TONE_DOUBTFUL;
    default:
        return LM_TONE_QUIET;
    }
}

static void print_source(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    lm_put_text(table->out, LM_FORM_TERMINAL, c->source);
    if (c->source_after != NULL) {
        fputs(" (before) and ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->source_after);
        fputs(" (after)", table->out);
    } else {
        fputs(", baseline ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->implementations[c->baseline].name);
    }
    if (c->iterations > 0) {
        fprintf(table->out, ", %u iteration%s of %g s, warm-up %g s", c->iterations,
                c->iterations == 1 ? "" : "s", c->duration_s, c->warmup_s);
    }
    fputc('\n', table->out);
}

static void print_settings(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    if (c->setting_count == 0) {
        return;
    }
    heading(table, lm_settings_heading(c));
    for (size_t i = 0; i < c->setting_count; i++) {
        fputs("  ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->settings[i]);
        fputc('\n', table->out);
    }
}

static void add_answer(struct table *table, const struct lm_tally *tally, const char *baseline)
{
    char *answer = lm_answer_text(tally, baseline);
    table->grid.failed = table->grid.failed || answer == NULL;
    lm_grid_add(&table->grid, LM_TONE_PLAIN, answer != NULL ? answer : "");
    free(answer);
}

static void print_answers(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        lm_grid_begin(&table->grid, "ll", NULL);
        for (size_t i = 0; i < c->matchup_count; i++) {
            const struct lm_matchup *matchup = &c->matchups[i];
            if (!matchup->aa && matchup->sections[section].case_count > 0) {
                lm_grid_add(&table->grid, LM_TONE_HEADING,
                            c->implementations[matchup->candidate].name);
                add_answer(table, &matchup->sections[section],
                           c->implementations[matchup->baseline].name);
            }
        }
        if (table->grid.count == 0) {
            continue;
        }
        if (section == LM_SECTION_MAIN) {
            fputc('\n', table->out);
        } else {
            heading(table, lm_section_word((enum lm_section)section));
        }
        print_grid(table, 0);
    }
}

static void print_noise_floor(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    for (size_t i = 0; i < c->matchup_count; i++) {
        struct lm_noise_floor noise_floor;
        if (!c->matchups[i].aa) {
            continue;
        }
        if (lm_noise_floor(c, &c->matchups[i], &noise_floor) != 0) {
            table->status = -ENOMEM;
            return;
        }
        fputc('\n', table->out);
        lm_word_noise_floor(table->out, LM_FORM_TERMINAL, c, &noise_floor);
        fputc('\n', table->out);
    }
}

static void print_notes(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    for (size_t i = 0; i < c->note_count; i++) {
        fputs(i == 0 ? "\nNote: " : "Note: ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->notes[i].subject);
        fprintf(table->out, " %s\n", c->notes[i].text);
    }
}

static void print_warnings(struct table *table)
{
    const struct lm_comparison *c = table->comparison;
    if (c->warning_count > 0) {
        heading(table, LM_HEADING_WARNINGS);
    }
    for (size_t i = 0; i < c->warning_count; i++) {
        fputs("  ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->warnings[i]);
        fputc('\n', table->out);
    }
}

static void print_policy(struct table *table)
{
    fputc('\n', table->out);
    lm_word_within_noise(table->out, LM_FORM_TERMINAL);
    fputc('\n', table->out);
    lm_word_columns(table->out, LM_FORM_TERMINAL);
    fputc('\n', table->out);
    heading(table, LM_HEADING_POLICY);
    lm_grid_begin(&table->grid, "lll", NULL);
    for (size_t i = 0; i < lm_policy_row_count(); i++) {
        struct lm_policy_row row;
        lm_policy_row(i, &row);
        lm_grid_add(&table->grid, LM_TONE_PLAIN, row.name);
        lm_grid_add(&table->grid, LM_TONE_PLAIN, row.value);
        lm_grid_add(&table->grid, LM_TONE_QUIET, row.meaning);
    }
    print_grid(table, 2);
}

static void add_tally(void *context, const struct lm_tally_row *row)
{
    struct table *table = context;
    lm_grid_add(&table->grid, LM_TONE_PLAIN, row->first ? row->group : "");
    lm_grid_add(&table->grid, LM_TONE_PLAIN, row->candidate);
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        lm_grid_add(&table->grid, LM_TONE_PLAIN, row->cells[i]);
    }
}

static void print_families(struct table *table)
{
    if (table->comparison->matchup_count == 0) {
        return;
    }
    heading(table, LM_HEADING_FAMILIES);
    const char *titles[2 + LM_TALLY_COLUMNS] = {"family", "candidate"};
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        titles[2 + i] = lm_tally_column_title((enum lm_tally_column)i);
    }
    lm_grid_begin(&table->grid, "llrrrrlr", titles);
    lm_tally_rows(table->comparison, add_tally, table);
    print_grid(table, 2);
}

static void add_case_rows(struct table *table, size_t case_index, const char *short_name,
                          struct lm_case_row *rows, size_t row_count)
{
    lm_case_rows(table->comparison, case_index, rows);
    for (size_t i = 0; i < row_count; i++) {
        lm_grid_add(&table->grid, LM_TONE_PLAIN, i == 0 ? short_name : "");
        lm_grid_add(&table->grid, LM_TONE_PLAIN, rows[i].implementation->name);
        for (int column = 0; column < LM_CASE_COLUMNS; column++) {
            bool coloured = column == LM_COLUMN_VERDICT || column == LM_COLUMN_DIFFERENCE;
            enum lm_tone tone = LM_TONE_PLAIN;
            if (coloured) {
                tone = rows[i].cell != NULL ? tone_of(rows[i].cell->verdict) : LM_TONE_QUIET;
            }
            lm_grid_add(&table->grid, tone, rows[i].cells[column]);
        }
    }
}

static void print_cases_of(struct table *table, size_t family, struct lm_case_row *rows,
                           size_t row_count)
{
    const struct lm_comparison *c = table->comparison;
    const char *name = c->families[family].name;
    size_t name_bytes = strlen(name);
    char *safe_name = lm_escape_text(LM_FORM_TERMINAL, name);
    if (safe_name == NULL) {
        table->status = -ENOMEM;
        return;
    }
    const char *titles[2 + LM_CASE_COLUMNS] = {safe_name, "implementation"};
    for (int i = 0; i < LM_CASE_COLUMNS; i++) {
        titles[2 + i] = lm_case_column_title((enum lm_case_column)i);
    }
    lm_grid_begin(&table->grid, "llrrrlrrrrr", titles);
    for (size_t i = 0; i < c->case_count; i++) {
        const char *full = c->cases[i].name;
        bool prefixed = strncmp(full, name, name_bytes) == 0 && full[name_bytes] == '/';
        if (c->cases[i].family == family) {
            add_case_rows(table, i, prefixed ? full + name_bytes + 1 : full, rows, row_count);
        }
    }
    fputc('\n', table->out);
    print_grid(table, 0);
    free(safe_name);
}

static void print_cases(struct table *table)
{
    size_t row_count = lm_case_row_count(table->comparison);
    struct lm_case_row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        table->status = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < table->comparison->family_count; i++) {
        print_cases_of(table, i, rows, row_count);
    }
    free(rows);
}

static void print_remarks(struct table *table, enum lm_remark_kind kind)
{
    const struct lm_comparison *c = table->comparison;
    if (lm_remark_count(c, kind) == 0) {
        return;
    }
    heading(table, lm_remark_heading(kind));
    for (size_t i = 0; i < c->remark_count; i++) {
        const struct lm_remark *remark = &c->remarks[i];
        if (remark->kind != kind) {
            continue;
        }
        fputs("  ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, c->implementations[remark->implementation].name);
        fputs(", ", table->out);
        lm_word_place(table->out, LM_FORM_TERMINAL, c, remark);
        fputs(": ", table->out);
        lm_put_text(table->out, LM_FORM_TERMINAL, remark->text);
        fputc('\n', table->out);
    }
}

int lm_render_compare_table(const struct lm_comparison *comparison, bool colour, FILE *out)
{
    struct table table = {.comparison = comparison, .out = out, .colour = colour};
    print_source(&table);
    print_settings(&table);
    print_answers(&table);
    print_noise_floor(&table);
    print_notes(&table);
    print_warnings(&table);
    print_policy(&table);
    print_families(&table);
    print_cases(&table);
    for (int kind = 0; kind < LM_REMARK_COUNT; kind++) {
        print_remarks(&table, (enum lm_remark_kind)kind);
    }
    return table.status;
}
