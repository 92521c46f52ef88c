/* The landing page: one row for each page. */
#include "report/content.h"
#include "report/wording.h"

static const struct lm_column columns[] = {{"system", LM_SHORT},
                                           {"measured", LM_SHORT},
                                           {"commit", LM_SHORT},
                                           {"machine", LM_LONG},
                                           {"answer", LM_LONG}};

static void short_commit(struct lm_writer *w, const char *commit)
{
    char cut[13];
    snprintf(cut, sizeof cut, "%s", commit);
    lm_name_cell(w, cut);
}

/* Of the main cases; a run of others only has its answer there. */
static void answer(struct lm_writer *w, const struct lm_comparison *c,
                   const struct lm_matchup *matchup)
{
    int section = LM_SECTION_MAIN;
    while (section < LM_SECTION_COUNT - 1 && matchup->sections[section].case_count == 0) {
        section++;
    }
    lm_content_answer(w, c, matchup, (enum lm_section)section);
    if (section != LM_SECTION_MAIN) {
        lm_say(w, " (%s)", lm_section_word((enum lm_section)section));
    }
}

static void sources(struct lm_writer *w, struct lm_page *const *pages, size_t count)
{
    lm_open(w, LM_PARAGRAPH);
    lm_say(w, "The same socket work on each backend, every sample in a fresh process, the "
              "backends in turn; figures with their noise. Generated from ");
    for (size_t i = 0; i < count; i++) {
        lm_say(w, "%s", i > 0 ? ", " : "");
        lm_name(w, pages[i]->file);
    }
    lm_say(w, "; fully generated, do not edit by hand.");
    lm_close(w, LM_PARAGRAPH);
}

static void row(struct lm_writer *w, const struct lm_page *page)
{
    const struct lm_link link = {.page = page->slug};
    const struct lm_comparison *c = page->own;
    bool any = false;
    w->kind->row(w, NULL);
    w->kind->cell(w);
    w->kind->link(w, &link);
    lm_name(w, page->os);
    w->kind->unlink(w);
    w->kind->end_cell(w);
    lm_name_cell(w, page->date);
    short_commit(w, page->commit);
    w->kind->cell(w);
    lm_name(w, page->machine);
    if (page->label[0] != '\0') {
        lm_line_break(w);
        lm_name(w, page->label);
    }
    w->kind->end_cell(w);
    w->kind->cell(w);
    for (size_t i = 0; i < c->matchup_count; i++) {
        if (!c->matchups[i].aa) {
            if (any) {
                lm_line_break(w);
            }
            answer(w, c, &c->matchups[i]);
            any = true;
        }
    }
    w->kind->end_cell(w);
    w->kind->end_row(w);
}

void lm_content_landing(struct lm_writer *w, struct lm_page *const *pages, size_t count)
{
    const struct lm_table table = {
        .caption = "Pages", .columns = columns, .column_count = sizeof columns / sizeof *columns};
    w->kind->begin(w, "I/O backends compared", NULL);
    sources(w, pages, count);
    w->kind->table(w, &table);
    for (size_t i = 0; i < count; i++) {
        row(w, pages[i]);
    }
    w->kind->end_table(w);
    lm_open(w, LM_PARAGRAPH);
    lm_word_within_noise(w->out, w->kind->escape);
    lm_say(w, " ");
    lm_link(w, "methodology", NULL, "How all of it is measured, computed and judged");
    lm_say(w, ".");
    lm_close(w, LM_PARAGRAPH);
    lm_paragraph(w, "Figures of two pages do not belong in one table: another machine, kernel or "
                    "setting moves every one of them. What may travel are ratios, with care.");
    w->kind->end(w);
}
