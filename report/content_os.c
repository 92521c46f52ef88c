/* The page of one operating system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "report/best.h"
#include "report/compare_rows.h"
#include "report/content_parts.h"
#include "report/wording.h"

/* How much was measured: a page of a few cases is not to be taken for one of the whole suite. */
static void extent(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    size_t implementations = 0;
    for (size_t i = 0; i < c->implementation_count; i++) {
        implementations += !c->implementations[i].aa;
    }
    lm_say(w, "%zu case%s, %zu implementation%s", c->case_count, c->case_count == 1 ? "" : "s",
           implementations, implementations == 1 ? "" : "s");
    if (c->iterations > 0) {
        lm_say(w, ", %u iteration%s of %g s each", c->iterations, c->iterations == 1 ? "" : "s",
               c->duration_s);
    }
    lm_say(w, ". ");
}

/* Where the page comes from: date, commit, file; and that nobody wrote it. */
static void source(struct lm_writer *w)
{
    const struct lm_page *page = w->page;
    lm_open(w, LM_PARAGRAPH);
    if (page->date[0] != '\0') {
        lm_say(w, "Measured at ");
        lm_name(w, page->date);
        if (page->version[0] != '\0') {
            lm_say(w, " with loopmark ");
            lm_name(w, page->version);
        }
        if (page->commit[0] != '\0') {
            lm_say(w, ", commit ");
            lm_name(w, page->commit);
        }
        lm_say(w, ". ");
    }
    extent(w);
    lm_say(w, "Generated from ");
    lm_name(w, page->file);
    lm_say(w, "; fully generated, do not edit by hand.");
    lm_close(w, LM_PARAGRAPH);
    if (page->label[0] != '\0') {
        lm_open(w, LM_LEAD);
        lm_say(w, "Label of this run: ");
        lm_name(w, page->label);
        lm_close(w, LM_LEAD);
    }
}

void lm_content_answer(struct lm_writer *w, const struct lm_comparison *c,
                       const struct lm_matchup *matchup, enum lm_section section)
{
    lm_name(w, c->implementations[matchup->candidate].name);
    lm_say(w, ": ");
    lm_word_answer(w->out, w->kind->escape, &matchup->sections[section],
                   c->implementations[matchup->baseline].name);
}

static bool has_section(const struct lm_comparison *c, enum lm_section section)
{
    for (size_t i = 0; i < c->family_count; i++) {
        if (c->families[i].section == section) {
            return true;
        }
    }
    return false;
}

static void answers(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    bool any = false;
    if (w->page->chart_count == 0) {
        lm_paragraph(w, "Nothing was compared: the source has the baseline only.");
        return;
    }
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        if (!has_section(c, (enum lm_section)section)) {
            continue;
        }
        if (section != LM_SECTION_MAIN) {
            lm_paragraph(w, "%s, %s:", any ? "Apart from these" : "Apart from all main cases",
                         lm_section_word((enum lm_section)section));
        }
        any = true;
        lm_open(w, LM_ANSWERS);
        for (size_t i = 0; i < c->matchup_count; i++) {
            if (!c->matchups[i].aa) {
                lm_open(w, LM_ITEM);
                lm_content_answer(w, c, &c->matchups[i], (enum lm_section)section);
                lm_close(w, LM_ITEM);
            }
        }
        lm_close(w, LM_ANSWERS);
    }
}

/* What a reader of the answers has to know about their source. */
static void source_troubles(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    if (c->failed_samples > 0) {
        lm_open(w, LM_LEAD);
        lm_say(w, "%zu sample%s failed; ", c->failed_samples, c->failed_samples == 1 ? "" : "s");
        lm_link(w, NULL, "failures", "each is listed with its reason");
        lm_say(w, ", and their cases are in no figure above.");
        lm_close(w, LM_LEAD);
    }
    for (size_t i = 0; i < c->note_count; i++) {
        lm_open(w, LM_LEAD);
        lm_name(w, w->page->file);
        lm_say(w, ": %s.", c->notes[i].text);
        lm_close(w, LM_LEAD);
    }
}

static void noise(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    lm_open(w, LM_PARAGRAPH);
    lm_word_within_noise(w->out, w->kind->escape);
    lm_word_intervals(w->out, w->kind->escape, c);
    lm_say(w, " ");
    lm_link(w, "methodology", "verdicts", "Methodology has every rule and formula");
    lm_say(w, ".");
    lm_close(w, LM_PARAGRAPH);
    for (size_t i = 0; i < c->matchup_count; i++) {
        struct lm_noise_floor noise_floor;
        if (!c->matchups[i].aa) {
            continue;
        }
        if (lm_noise_floor(c, &c->matchups[i], &noise_floor) != 0) {
            w->status = -ENOMEM;
            return;
        }
        lm_open(w, LM_PARAGRAPH);
        lm_say(w, "How far this machine can be trusted: ");
        lm_word_noise_floor(w->out, w->kind->escape, c, &noise_floor);
        lm_say(w, ".");
        lm_close(w, LM_PARAGRAPH);
    }
}

static void family_row(void *context, const struct lm_tally_row *row)
{
    struct lm_writer *w = context;
    const struct lm_row about = {
        .group = row->family, .section = (size_t)row->section, .who = row->matchup};
    w->kind->row(w, &about);
    w->kind->cell(w);
    if (row->is_family) {
        lm_name(w, row->group);
    } else {
        lm_open(w, LM_STRONG);
        lm_say(w, "%s", row->group);
        lm_close(w, LM_STRONG);
    }
    w->kind->end_cell(w);
    lm_name_cell(w, row->candidate);
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        lm_cell(w, "%s", row->cells[i]);
    }
    w->kind->end_row(w);
}

static void summary(struct lm_writer *w)
{
    struct lm_column columns[2 + LM_TALLY_COLUMNS] = {{"family", LM_SHORT},
                                                      {"candidate", LM_SHORT}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {.caption = "Verdicts by family",
                                   .columns = columns,
                                   .column_count = 2 + LM_TALLY_COLUMNS,
                                   .kind = LM_TABLE_FAMILIES};
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        columns[2 + i] = (struct lm_column){lm_tally_column_title((enum lm_tally_column)i),
                                            i != LM_TALLY_OTHER ? LM_NUMBER : LM_SHORT};
    }
    if (w->page->chart_count == 0) {
        return;
    }
    w->kind->heading(w, 2, "summary", "Summary", NULL);
    w->kind->chart(w, &w->page->charts[0]);
    w->kind->table(w, &table);
    lm_tally_rows(c, family_row, w);
    w->kind->end_table(w);
}

static void figure_cell(struct lm_writer *w, const char *text, bool best)
{
    w->kind->cell(w);
    if (best) {
        lm_open(w, LM_STRONG);
    }
    lm_say(w, "%s", text);
    if (best) {
        lm_close(w, LM_STRONG);
    }
    w->kind->end_cell(w);
}

static void case_row(struct lm_writer *w, size_t case_index, size_t best,
                     const struct lm_case_row *row)
{
    const struct lm_comparison *c = w->page->own;
    size_t who = (size_t)(row->implementation - c->implementations);
    const struct lm_row about = {.group = case_index, .who = who};
    w->kind->row(w, &about);
    lm_name_cell(w, c->cases[case_index].name);
    lm_name_cell(w, row->implementation->name);
    for (int column = 0; column < LM_CASE_COLUMNS; column++) {
        figure_cell(w, row->cells[column], column == LM_COLUMN_MEDIAN && who == best);
    }
    w->kind->end_row(w);
}

static void case_table(struct lm_writer *w, size_t family)
{
    struct lm_column columns[2 + LM_CASE_COLUMNS] = {{"case", LM_SHORT},
                                                     {"implementation", LM_SHORT}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {.caption = "Every case of",
                                   .name = c->families[family].name,
                                   .columns = columns,
                                   .column_count = 2 + LM_CASE_COLUMNS,
                                   .kind = LM_TABLE_CASES};
    size_t row_count = lm_case_row_count(c);
    struct lm_case_row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        w->status = -ENOMEM;
        return;
    }
    for (int i = 0; i < LM_CASE_COLUMNS; i++) {
        columns[2 + i] = (struct lm_column){lm_case_column_title((enum lm_case_column)i),
                                            i != LM_COLUMN_VERDICT ? LM_NUMBER : LM_SHORT};
    }
    w->kind->table(w, &table);
    for (size_t i = 0; i < c->case_count; i++) {
        if (c->cases[i].family == family) {
            size_t best = lm_best_of_case(c, i);
            lm_case_rows(c, i, rows);
            for (size_t j = 0; j < row_count; j++) {
                case_row(w, i, best, &rows[j]);
            }
        }
    }
    w->kind->end_table(w);
    free(rows);
}

/* One operation of each kind of case in the family, each text once. */
static void operations(struct lm_writer *w, size_t family)
{
    const struct lm_comparison *c = w->page->own;
    size_t shown = 0;
    for (size_t i = 0; i < c->case_count; i++) {
        const char *operation = c->cases[i].operation;
        bool known = false;
        if (c->cases[i].family != family || operation[0] == '\0') {
            continue;
        }
        for (size_t j = 0; j < i && !known; j++) {
            known = c->cases[j].family == family && strcmp(c->cases[j].operation, operation) == 0;
        }
        if (known) {
            continue;
        }
        if (shown++ == 0) {
            lm_open(w, LM_PARAGRAPH);
            lm_say(w, "What is counted: ");
        } else {
            lm_say(w, "; ");
        }
        lm_name(w, operation);
    }
    if (shown > 0) {
        lm_say(w, ".");
        lm_close(w, LM_PARAGRAPH);
    }
}

static void family(struct lm_writer *w, size_t index)
{
    const struct lm_page *page = w->page;
    const struct lm_compared_family *which = &page->own->families[index];
    const char *measures = lm_family_measures(which->name);
    lm_open(w, LM_PART);
    w->kind->heading(w, 2, page->family_ids[index], NULL, which->name);
    if (measures != NULL) {
        lm_paragraph(w, "Measures %s.", measures);
    }
    operations(w, index);
    for (size_t i = 0; i < page->chart_count; i++) {
        if (page->charts[i].kind == LM_CHART_RATIOS && page->charts[i].family == index) {
            w->kind->chart(w, &page->charts[i]);
        }
    }
    w->kind->fold(w, "Detailed results");
    lm_open(w, LM_PARAGRAPH);
    lm_word_columns(w->out, w->kind->escape);
    lm_say(w, " A median in bold is better than every other one beyond the noise.");
    lm_close(w, LM_PARAGRAPH);
    case_table(w, index);
    w->kind->unfold(w);
    lm_close(w, LM_PART);
}

void lm_content_os(struct lm_writer *w)
{
    w->kind->begin(w, "I/O backends compared on", w->page->os);
    source(w);
    answers(w);
    source_troubles(w);
    noise(w);
    lm_content_leaders(w);
    lm_content_each_other(w);
    summary(w);
    lm_content_environment(w);
    w->kind->controls(w);
    for (size_t i = 0; i < w->page->own->family_count; i++) {
        family(w, i);
    }
    lm_content_failures(w);
    lm_content_remarks(w);
    lm_content_reproduce(w);
    w->kind->end(w);
}
