/* The Markdown form of a comparison, for pull requests: the answers first, tables folded. */
#include <errno.h>
#include <stdlib.h>

#include "report/compare_render.h"
#include "report/compare_rows.h"
#include "report/policy.h"
#include "report/wording.h"

struct page {
    const struct lm_comparison *comparison;
    FILE *out;
};

static void name(const struct page *page, const char *text)
{
    lm_put_text(page->out, LM_FORM_MARKDOWN, text);
}

/* <summary> takes HTML, so only this program's words stand in it. The empty line lets GitHub read
 * what follows as Markdown. */
static void fold(const struct page *page, const char *summary)
{
    fprintf(page->out, "\n<details><summary>%s</summary>\n\n", summary);
}

static void unfold(const struct page *page)
{
    fputs("\n</details>\n", page->out);
}

static void print_source(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    fputs("### loopmark comparison\n\n", page->out);
    name(page, c->source);
    if (c->source_after != NULL) {
        fputs(" (before) and ", page->out);
        name(page, c->source_after);
        fputs(" (after)", page->out);
    } else {
        fputs(", baseline ", page->out);
        name(page, c->implementations[c->baseline].name);
    }
    if (c->iterations > 0) {
        fprintf(page->out, ", %u iteration%s of %g s, warm-up %g s", c->iterations,
                c->iterations == 1 ? "" : "s", c->duration_s, c->warmup_s);
    }
    fputs("\n", page->out);
}

static void print_settings(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    if (c->setting_count == 0) {
        return;
    }
    fprintf(page->out, "\n**%s:**\n\n", lm_settings_heading(c));
    for (size_t i = 0; i < c->setting_count; i++) {
        fputs("- ", page->out);
        name(page, c->settings[i]);
        fputc('\n', page->out);
    }
}

static void print_answers(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        bool any = false;
        for (size_t i = 0; i < c->matchup_count; i++) {
            const struct lm_matchup *matchup = &c->matchups[i];
            if (matchup->aa || matchup->sections[section].case_count == 0) {
                continue;
            }
            if (!any && section != LM_SECTION_MAIN) {
                fprintf(page->out, "\n%s:\n", lm_section_word((enum lm_section)section));
            }
            fputs(any ? "- **" : "\n- **", page->out);
            any = true;
            name(page, c->implementations[matchup->candidate].name);
            fputs("**: ", page->out);
            lm_word_answer(page->out, LM_FORM_MARKDOWN, &matchup->sections[section],
                           c->implementations[matchup->baseline].name);
            fputc('\n', page->out);
        }
    }
}

static int print_noise_floor(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    for (size_t i = 0; i < c->matchup_count; i++) {
        struct lm_noise_floor noise_floor;
        if (!c->matchups[i].aa) {
            continue;
        }
        if (lm_noise_floor(c, &c->matchups[i], &noise_floor) != 0) {
            return -ENOMEM;
        }
        fputc('\n', page->out);
        lm_word_noise_floor(page->out, LM_FORM_MARKDOWN, c, &noise_floor);
        fputc('\n', page->out);
    }
    return 0;
}

static void print_notes(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    for (size_t i = 0; i < c->note_count; i++) {
        fputs("\n> ", page->out);
        name(page, c->notes[i].subject);
        fprintf(page->out, " %s\n", c->notes[i].text);
    }
}

static void print_warnings(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    if (c->warning_count > 0) {
        fprintf(page->out, "\n%s:\n\n", LM_HEADING_WARNINGS);
    }
    for (size_t i = 0; i < c->warning_count; i++) {
        fputs("- ", page->out);
        name(page, c->warnings[i]);
        fputc('\n', page->out);
    }
}

/* Column titles, then the line that aligns them; `alignment` is a letter for each: l or r. */
static void print_titles(const struct page *page, const char *const *titles, const char *alignment)
{
    for (size_t i = 0; alignment[i] != '\0'; i++) {
        fprintf(page->out, "| %s ", titles[i]);
    }
    fputs("|\n", page->out);
    for (size_t i = 0; alignment[i] != '\0'; i++) {
        fputs(alignment[i] == 'r' ? "|---:" : "|---", page->out);
    }
    fputs("|\n", page->out);
}

static void print_policy(const struct page *page)
{
    static const char *const titles[] = {"threshold", "value", "meaning"};
    fputc('\n', page->out);
    lm_word_within_noise(page->out, LM_FORM_MARKDOWN);
    fputc('\n', page->out);
    fold(page, LM_HEADING_POLICY);
    print_titles(page, titles, "lll");
    for (size_t i = 0; i < lm_policy_row_count(); i++) {
        struct lm_policy_row row;
        lm_policy_row(i, &row);
        fputs("| ", page->out);
        name(page, row.name);
        fputs(" | ", page->out);
        name(page, row.value);
        fprintf(page->out, " | %s |\n", row.meaning);
    }
    unfold(page);
}

static void print_tally(void *context, const struct lm_tally_row *row)
{
    const struct page *page = context;
    fputs("| ", page->out);
    if (row->is_family) {
        name(page, row->group);
    } else {
        fprintf(page->out, "**%s**", row->group);
    }
    fputs(" | ", page->out);
    name(page, row->candidate);
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        fprintf(page->out, " | %s", row->cells[i]);
    }
    fputs(" |\n", page->out);
}

static void print_families(const struct page *page)
{
    const char *titles[2 + LM_TALLY_COLUMNS] = {"family", "candidate"};
    if (page->comparison->matchup_count == 0) {
        return;
    }
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        titles[2 + i] = lm_tally_column_title((enum lm_tally_column)i);
    }
    fold(page, LM_HEADING_FAMILIES);
    print_titles(page, titles, "llrrrrlr");
    lm_tally_rows(page->comparison, print_tally, (void *)page);
    unfold(page);
}

static int print_cases(const struct page *page)
{
    const struct lm_comparison *c = page->comparison;
    const char *titles[2 + LM_CASE_COLUMNS] = {"case", "implementation"};
    size_t row_count = lm_case_row_count(c);
    struct lm_case_row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        return -ENOMEM;
    }
    for (int i = 0; i < LM_CASE_COLUMNS; i++) {
        titles[2 + i] = lm_case_column_title((enum lm_case_column)i);
    }
    fold(page, LM_HEADING_CASES);
    lm_word_columns(page->out, LM_FORM_MARKDOWN);
    fputs("\n\n", page->out);
    print_titles(page, titles, "llrrrlrrrrr");
    for (size_t i = 0; i < c->case_count; i++) {
        lm_case_rows(c, i, rows);
        for (size_t j = 0; j < row_count; j++) {
            fputs("| ", page->out);
            name(page, c->cases[i].name);
            fputs(" | ", page->out);
            name(page, rows[j].implementation->name);
            for (int column = 0; column < LM_CASE_COLUMNS; column++) {
                fprintf(page->out, " | %s", rows[j].cells[column]);
            }
            fputs(" |\n", page->out);
        }
    }
    unfold(page);
    free(rows);
    return 0;
}

static void print_remarks(const struct page *page, enum lm_remark_kind kind)
{
    static const char *const titles[] = {"implementation", "where", "what"};
    const struct lm_comparison *c = page->comparison;
    if (lm_remark_count(c, kind) == 0) {
        return;
    }
    fold(page, lm_remark_heading(kind));
    print_titles(page, titles, "lll");
    for (size_t i = 0; i < c->remark_count; i++) {
        if (c->remarks[i].kind == kind) {
            fputs("| ", page->out);
            name(page, c->implementations[c->remarks[i].implementation].name);
            fputs(" | ", page->out);
            lm_word_place(page->out, LM_FORM_MARKDOWN, c, &c->remarks[i]);
            fputs(" | ", page->out);
            name(page, c->remarks[i].text);
            fputs(" |\n", page->out);
        }
    }
    unfold(page);
}

int lm_render_compare_markdown(const struct lm_comparison *comparison, FILE *out)
{
    struct page page = {.comparison = comparison, .out = out};
    print_source(&page);
    print_settings(&page);
    print_answers(&page);
    int status = print_noise_floor(&page);
    print_notes(&page);
    print_warnings(&page);
    print_policy(&page);
    print_families(&page);
    status = status != 0 ? status : print_cases(&page);
    for (int kind = 0; kind < LM_REMARK_COUNT; kind++) {
        print_remarks(&page, (enum lm_remark_kind)kind);
    }
    return status;
}
