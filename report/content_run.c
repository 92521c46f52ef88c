/* What a page tells of the machine, the run and its troubles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/string_stream.h"
#include "report/compare_rows.h"
#include "report/content_parts.h"
#include "report/wording.h"

static void facts(struct lm_writer *w)
{
    static const struct lm_column columns[] = {{"what", LM_SHORT}, {"value", LM_LONG}};
    const struct lm_table table = {.caption = "Environment", .columns = columns, .column_count = 2};
    const struct lm_page *page = w->page;
    if (page->fact_count == 0) {
        lm_paragraph(w, "Not known: the source is a published table of figures.");
        return;
    }
    w->kind->table(w, &table);
    for (size_t i = 0; i < page->fact_count; i++) {
        w->kind->row(w, NULL);
        lm_cell(w, "%s", page->facts[i].label);
        lm_name_cell(w, page->facts[i].value);
        w->kind->end_row(w);
    }
    w->kind->end_table(w);
}

static const char *role_of(const struct lm_comparison *c, size_t implementation)
{
    return implementation == c->baseline              ? "baseline"
           : c->implementations[implementation].aa    ? "the baseline again, for the noise floor"
           : c->implementations[implementation].floor ? "floor: it never sleeps"
                                                      : "candidate";
}

static void implementations(struct lm_writer *w)
{
    static const struct lm_column columns[] = {{"implementation", LM_SHORT},
                                               {"role", LM_SHORT},
                                               {"what it is", LM_LONG},
                                               {"in force", LM_LONG}};
    const struct lm_table table = {
        .caption = "Implementations", .columns = columns, .column_count = 4};
    const struct lm_comparison *c = w->page->own;
    w->kind->heading(w, 3, "implementations", "Implementations", NULL);
    w->kind->table(w, &table);
    for (size_t i = 0; i < c->implementation_count; i++) {
        const struct lm_implementation *implementation = &c->implementations[i];
        w->kind->row(w, NULL);
        lm_name_cell(w, implementation->name);
        lm_cell(w, "%s", role_of(c, i));
        lm_name_cell(w, implementation->title);
        lm_name_cell(w, implementation->settings);
        w->kind->end_row(w);
    }
    w->kind->end_table(w);
}

static void warnings(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    if (c->warning_count == 0) {
        return;
    }
    lm_open(w, LM_PARAGRAPH);
    lm_open(w, LM_STRONG);
    lm_say(w, "%s", LM_HEADING_WARNINGS);
    lm_close(w, LM_STRONG);
    lm_close(w, LM_PARAGRAPH);
    lm_open(w, LM_LIST);
    for (size_t i = 0; i < c->warning_count; i++) {
        lm_open(w, LM_ITEM);
        lm_name(w, c->warnings[i]);
        lm_close(w, LM_ITEM);
    }
    lm_close(w, LM_LIST);
}

void lm_content_environment(struct lm_writer *w)
{
    w->kind->heading(w, 2, "environment", "Environment", NULL);
    warnings(w);
    facts(w);
    implementations(w);
}

static void remark_table(struct lm_writer *w, enum lm_remark_kind kind)
{
    static const struct lm_column columns[] = {
        {"implementation", LM_SHORT}, {"where", LM_LONG}, {"what", LM_LONG}};
    const struct lm_comparison *c = w->page->own;
    const struct lm_table table = {
        .caption = lm_remark_heading(kind), .columns = columns, .column_count = 3};
    w->kind->table(w, &table);
    for (size_t i = 0; i < c->remark_count; i++) {
        if (c->remarks[i].kind == kind) {
            w->kind->row(w, NULL);
            lm_name_cell(w, c->implementations[c->remarks[i].implementation].name);
            w->kind->cell(w);
            lm_word_place(w->out, w->kind->escape, c, &c->remarks[i]);
            w->kind->end_cell(w);
            lm_name_cell(w, c->remarks[i].text);
            w->kind->end_row(w);
        }
    }
    w->kind->end_table(w);
}

void lm_content_failures(struct lm_writer *w)
{
    if (lm_remark_count(w->page->own, LM_REMARK_FAILED) > 0) {
        w->kind->heading(w, 2, "failures", "Failures", NULL);
        remark_table(w, LM_REMARK_FAILED);
    }
}

void lm_content_remarks(struct lm_writer *w)
{
    const struct lm_comparison *c = w->page->own;
    bool any = false;
    for (int kind = 0; kind < LM_REMARK_COUNT; kind++) {
        if (kind != LM_REMARK_FAILED && lm_remark_count(c, (enum lm_remark_kind)kind) > 0) {
            if (!any) {
                w->kind->heading(w, 2, "remarks", "Remarks", NULL);
                any = true;
            }
            w->kind->fold(w, lm_remark_heading((enum lm_remark_kind)kind));
            remark_table(w, (enum lm_remark_kind)kind);
            w->kind->unfold(w);
        }
    }
}

void lm_content_reproduce(struct lm_writer *w)
{
    const struct lm_page *page = w->page;
    if (page->command[0] == '\0') {
        return;
    }
    struct lm_string_stream stream;
    FILE *out = lm_string_begin(&stream);
    if (out == NULL) {
        w->status = -ENOMEM;
        return;
    }
    /* People paste this into a shell: what is no commit's name is left out. */
    if (page->commit[0] != '\0' && page->commit[strspn(page->commit, "0123456789abcdef")] == '\0') {
        fprintf(out, "git checkout %s\n", page->commit);
    }
    fprintf(out, "ci/install-deps && ci/build\n%s \\\n    --out results.jsonl\n", page->command);
    fputs("build/default/loopmark report results.jsonl --out pages", out);
    char *commands = lm_string_end(&stream);
    if (commands == NULL) {
        w->status = -ENOMEM;
        return;
    }
    w->kind->heading(w, 2, "reproduce", "Reproduce", NULL);
    lm_paragraph(w, "In a clone of loopmark, on a quiet machine. The seed repeats the order of the "
                    "cases; figures repeat within the noise, on another machine ratios at best.");
    w->kind->code(w, commands);
    free(commands);
}
