/* Who leads each family, and each implementation against each other one. */
#include <errno.h>
#include <stdlib.h>

#include "report/best.h"
#include "report/content_parts.h"
#include "report/numbers.h"
#include "report/policy.h"
#include "report/wording.h"

/* "9 faster · 3 within noise · 0 slower of 12" */
static void counts_cell(struct lm_writer *w, const struct lm_tally *tally)
{
    size_t judged = lm_judged_cases(tally);
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

/* Not "ties" where the leader is ahead in some cases and behind in none: that would hide a lead. */
static void verdict_cell(struct lm_writer *w, const struct lm_tally *lead)
{
    size_t faster = lead->verdicts[LM_VERDICT_FASTER], judged = lm_judged_cases(lead);
    if (judged == 0) {
        lm_cell(w, "%s", lm_verdict_word(LM_VERDICT_NONE));
    } else if (lm_is_lead(lead)) {
        lm_cell(w, "leads");
    } else if (faster > lead->verdicts[LM_VERDICT_SLOWER]) {
        lm_cell(w, "leads in %zu of %zu", faster, judged);
    } else {
        lm_cell(w, "ties with the next");
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
    verdict_cell(w, &lead->families[family]);
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
void lm_content_leaders(struct lm_writer *w)
{
    static const struct lm_column columns[] = {{"family", LM_SHORT},
                                               {"leader", LM_SHORT},
                                               {"median vs baseline", LM_NUMBER},
                                               {"next backend", LM_SHORT},
                                               {"median lead over it", LM_NUMBER},
                                               {"cases against it", LM_SHORT},
                                               {"verdict", LM_SHORT}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {.caption = "Who leads each family",
                                   .columns = columns,
                                   .column_count = sizeof columns / sizeof *columns};
    if (!has_leaders(c)) {
        return;
    }
    w->kind->heading(w, 2, "leaders", "Who leads, and how surely", NULL);
    lm_open(w, LM_PARAGRAPH);
    lm_say(w, "The highest median difference from ");
    lm_name(w, c->implementations[c->baseline].name);
    lm_say(w,
           " in each family, held against the highest of another backend. It leads when it is "
           "faster, "
           "beyond the noise, in at least %g %% of the cases with a verdict; otherwise it leads "
           "in some cases, or the two tie.",
           lm_policy.lead_share * 100.0);
    floors(w);
    lm_close(w, LM_PARAGRAPH);
    w->kind->table(w, &table);
    for (size_t family = 0; family < c->family_count; family++) {
        leader_row(w, family);
    }
    w->kind->end_table(w);
}

/* Every implementation but the baseline's second copy. */
static size_t next_one(const struct lm_comparison *c, size_t from)
{
    while (from < c->implementation_count && c->implementations[from].aa) {
        from++;
    }
    return from;
}

/* The row's implementation against the column's. */
static void pair_cell(struct lm_writer *w, size_t row, size_t column)
{
    const struct lm_comparison *c = w->page->against[column];
    size_t candidate = row != column ? lm_page_find(w->page, c, row) : SIZE_MAX;
    const struct lm_matchup *matchup = candidate != SIZE_MAX ? lm_matchup_of(c, candidate) : NULL;
    if (matchup == NULL) {
        lm_cell(w, "%s", "");
        return;
    }
    const struct lm_tally *tally = &matchup->sections[LM_SECTION_MAIN];
    char difference[LM_NUMBER_BYTES];
    lm_format_difference(difference, tally->median_difference);
    lm_cell(w, "%s (%zu·%zu·%zu)", difference, tally->verdicts[LM_VERDICT_FASTER],
            tally->verdicts[LM_VERDICT_WITHIN_NOISE], tally->verdicts[LM_VERDICT_SLOWER]);
}

/* The answer depends on what is compared with what: here is each with each. */
void lm_content_each_other(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    struct lm_column *columns = calloc(c->implementation_count + 1, sizeof *columns);
    size_t count = 1;
    if (columns == NULL) {
        w->status = -ENOMEM;
        return;
    }
    columns[0] = (struct lm_column){"row against column", LM_SHORT};
    for (size_t i = next_one(c, 0); i < c->implementation_count; i = next_one(c, i + 1)) {
        columns[count++] = (struct lm_column){c->implementations[i].name, LM_NUMBER};
    }
    const struct lm_table table = {
        .caption = "Each against each", .columns = columns, .column_count = count, .named = true};
    if (count > 3) {
        w->kind->heading(w, 2, "each-against-each", "Each against each", NULL);
        lm_paragraph(w, "The median difference of the row from the column over all cases of the "
                        "main families, and in how many it is faster · within noise · slower.");
        w->kind->table(w, &table);
        for (size_t i = next_one(c, 0); i < c->implementation_count; i = next_one(c, i + 1)) {
            w->kind->row(w, NULL);
            lm_name_cell(w, c->implementations[i].name);
            for (size_t j = next_one(c, 0); j < c->implementation_count; j = next_one(c, j + 1)) {
                pair_cell(w, i, j);
            }
            w->kind->end_row(w);
        }
        w->kind->end_table(w);
    }
    free(columns);
}
