/* The page of one operating system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "report/best.h"
#include "report/compare_rows.h"
#include "report/content_parts.h"
#include "report/numbers.h"
#include "report/policy.h"
#include "report/wording.h"

static const char *baseline_of(const struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    return c->implementations[c->baseline].name;
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

static size_t judged_of(const struct lm_tally *tally)
{
    return tally->verdicts[LM_VERDICT_FASTER] + tally->verdicts[LM_VERDICT_WITHIN_NOISE] +
           tally->verdicts[LM_VERDICT_SLOWER];
}

/* "9 faster · 3 within noise · 0 slower of 12" */
static void counts_cell(struct lm_writer *w, const struct lm_tally *tally)
{
    size_t judged = judged_of(tally);
    w->kind->cell(w);
    lm_say(w, "%zu faster · %zu within noise · %zu slower", tally->verdicts[LM_VERDICT_FASTER],
           tally->verdicts[LM_VERDICT_WITHIN_NOISE], tally->verdicts[LM_VERDICT_SLOWER]);
    if (judged < tally->case_count) {
        lm_say(w, " · %zu without a verdict", tally->case_count - judged);
    }
    w->kind->end_cell(w);
}

static void difference_cell(struct lm_writer *w, double difference)
{
    char text[LM_NUMBER_BYTES];
    lm_format_difference(text, difference);
    lm_cell(w, "%s", text);
}

/* Against the baseline; the baseline itself differs from it by nothing. */
static void leader_cells(struct lm_writer *w, size_t family, size_t leader)
{
    const struct lm_comparison *c = w->page->own;
    const struct lm_matchup *matchup = lm_matchup_of(c, leader);
    lm_name_cell(w, c->implementations[leader].name);
    if (matchup == NULL) {
        lm_cell(w, "baseline");
    } else {
        difference_cell(w, matchup->families[family].median_difference);
    }
}

static void lead_cells(struct lm_writer *w, size_t family, const struct lm_leaders *leaders)
{
    const struct lm_page *page = w->page;
    const struct lm_comparison *next =
        leaders->second != SIZE_MAX ? page->against[leaders->second] : NULL;
    size_t first = next != NULL ? lm_page_find(page, next, leaders->first) : SIZE_MAX;
    const struct lm_matchup *lead = first != SIZE_MAX ? lm_matchup_of(next, first) : NULL;
    if (lead == NULL) {
        for (int i = 0; i < 4; i++) {
            lm_cell(w, "-");
        }
        return;
    }
    lm_name_cell(w, page->own->implementations[leaders->second].name);
    difference_cell(w, lead->families[family].median_difference);
    counts_cell(w, &lead->families[family]);
    lm_cell(w, "%s",
            judged_of(&lead->families[family]) == 0 ? lm_verdict_word(LM_VERDICT_NONE)
            : lm_is_lead(&lead->families[family])   ? "leads"
                                                    : "ties with the next");
}

static bool has_leaders(const struct lm_comparison *c)
{
    for (size_t family = 0; family < c->family_count; family++) {
        if (lm_leaders_of_family(c, family).first != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* Names the implementations that are left out. */
static void floors(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    const char *before = " Implementations that never sleep (";
    for (size_t i = 0; i < c->implementation_count; i++) {
        if (c->implementations[i].floor) {
            lm_say(w, "%s", before);
            lm_name(w, c->implementations[i].name);
            before = ", ";
        }
    }
    if (before[0] == ',') {
        lm_say(w, ") show what the bare system calls cost; they are no choice for a program and "
                  "left out here.");
    }
}

static void leader_row(struct lm_writer *w, size_t family)
{
    const struct lm_comparison *c = w->page->own;
    const struct lm_link link = {.fragment = w->page->family_ids[family]};
    struct lm_leaders found = lm_leaders_of_family(c, family);
    if (found.first == SIZE_MAX) {
        return;
    }
    w->kind->row(w, NULL);
    w->kind->cell(w);
    w->kind->link(w, &link);
    lm_name(w, c->families[family].name);
    w->kind->unlink(w);
    w->kind->end_cell(w);
    leader_cells(w, family, found.first);
    lead_cells(w, family, &found);
    w->kind->end_row(w);
}

/* Who leads each family, by how much, and whether the lead over the next one is more than noise. */
static void leaders(struct lm_writer *w)
{
    static const struct lm_column columns[] = {{"family", false},
                                               {"highest median", false},
                                               {"median vs baseline", true},
                                               {"next", false},
                                               {"median lead over the next", true},
                                               {"its cases against the next", false},
                                               {"so it", false}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {.caption = "Who leads each family",
                                   .columns = columns,
                                   .column_count = sizeof columns / sizeof *columns};
    if (!has_leaders(c)) {
        return;
    }
    w->kind->heading(w, 2, "leaders", "Who leads, and how surely", NULL);
    lm_open(w, LM_PARAGRAPH);
    lm_say(w, "The two highest median differences from ");
    lm_name(w, baseline_of(w));
    lm_say(w,
           " in each family, and the first held against the second. It leads when it is faster, "
           "beyond the noise, in at least %g %% of the cases with a verdict; otherwise the two "
           "tie in that family.",
           lm_policy.lead_share * 100.0);
    floors(w);
    lm_close(w, LM_PARAGRAPH);
    w->kind->table(w, &table);
    for (size_t family = 0; family < c->family_count; family++) {
        leader_row(w, family);
    }
    w->kind->end_table(w);
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
    struct lm_column columns[2 + LM_TALLY_COLUMNS] = {{"family", false}, {"candidate", false}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {.caption = "Verdicts by family",
                                   .columns = columns,
                                   .column_count = 2 + LM_TALLY_COLUMNS,
                                   .kind = LM_TABLE_FAMILIES};
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        columns[2 + i] =
            (struct lm_column){lm_tally_column_title((enum lm_tally_column)i), i != LM_TALLY_OTHER};
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
    struct lm_column columns[2 + LM_CASE_COLUMNS] = {{"case", false}, {"implementation", false}};
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
                                            i != LM_COLUMN_VERDICT};
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
    leaders(w);
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
