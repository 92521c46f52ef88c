/* Fuzz target: any results file or published table that can be read becomes pages in every form, in
 * valid UTF-8 without control characters, and no text of it becomes markup of HTML or SVG. */
#include <stdio.h>
#include <string.h>

#include "harness/results_read.h"
#include "harness/string_stream.h"
#include "report/content.h"
#include "tests/fuzz/fuzz.h"

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        count++;
    }
    return count;
}

static void check_text(const char *text)
{
    fuzz_check(text != NULL);
    fuzz_check(lm_text_is_utf8(text, strlen(text)));
    for (const char *c = text; *c != '\0'; c++) {
        fuzz_check((unsigned char)*c >= 0x20 || *c == '\n');
    }
}

/* Tags open and close in pairs, attributes are quoted, and no number is none. Style, data and
 * script hold no `<` of their own but for the script's, which are followed by a space or `=`. */
static void check_markup(const char *text)
{
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
        if (at[1] == ' ' || at[1] == '=') {
            continue;
        }
        const char *end = at + 1;
        for (bool quoted = false; *end != '\0' && (quoted || *end != '>'); end++) {
            quoted = *end == '"' ? !quoted : quoted;
            fuzz_check(quoted || *end != '<');
        }
        fuzz_check(*end == '>');
    }
    fuzz_check(strstr(text, "=\"nan") == NULL && strstr(text, "=\"-nan") == NULL);
    fuzz_check(strstr(text, "=\"inf") == NULL && strstr(text, "=\"-inf") == NULL);
}

static void write_charts(const struct lm_page *page)
{
    for (size_t i = 0; i < page->chart_count; i++) {
        struct lm_string_stream stream;
        fuzz_check(lm_string_begin(&stream) != NULL);
        fuzz_check(lm_chart_draw(page, &page->charts[i], true, stream.out) == 0);
        char *text = lm_string_end(&stream);
        check_text(text);
        check_markup(text);
        fuzz_check(count_of(text, "<script") == 0);
        free(text);
    }
}

static void write_pages(struct lm_page *page)
{
    static const struct lm_writer_kind *const kinds[] = {&lm_write_asciidoc, &lm_write_html,
                                                         &lm_write_markdown};
    for (size_t i = 0; i < 2 * 3; i++) {
        struct lm_string_stream stream;
        fuzz_check(lm_string_begin(&stream) != NULL);
        bool landing = i >= 3;
        struct lm_writer writer = {
            .kind = kinds[i % 3], .out = stream.out, .page = landing ? NULL : page};
        if (landing) {
            lm_content_landing(&writer, &page, 1);
        } else {
            lm_content_os(&writer);
        }
        fuzz_check(writer.status == 0);
        char *text = lm_string_end(&stream);
        check_text(text);
        if (writer.kind == &lm_write_html) {
            check_markup(text);
            fuzz_check(count_of(text, "<script") == (landing ? 0 : 2));
            fuzz_check(count_of(text, "</script") == (landing ? 0 : 2));
        }
        free(text);
    }
}

static struct lm_page *page_of_results(const uint8_t *data, size_t bytes)
{
    struct lm_results results;
    struct lm_page *page = NULL;
    char error[512] = "";
    if (lm_results_read_memory("input", data, bytes, &results, error, sizeof error) != 0) {
        return NULL;
    }
    /* Names are unique, but one may be another with " (A/A)" behind it: that is refused. */
    if (lm_page_from_results(&results, "Fuzz OS", &page, error, sizeof error) != 0) {
        fuzz_check(error[0] != '\0');
    }
    lm_results_free(&results);
    return page;
}

static struct lm_page *page_of_table(const uint8_t *data, size_t bytes)
{
    struct lm_import import;
    struct lm_page *page = NULL;
    char error[512] = "";
    FILE *in = fmemopen((void *)(uintptr_t)data, bytes, "r");
    fuzz_check(in != NULL);
    if (lm_import_csv_parse(in, "input", &import, error, sizeof error) == 0 &&
        lm_page_from_import(&import, "Fuzz OS", &page, error, sizeof error) != 0) {
        fuzz_check(error[0] != '\0');
    }
    lm_import_free(&import);
    fclose(in);
    return page;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char table[] = "family,";
    bool is_table = bytes > sizeof table && memcmp(data, table, sizeof table - 1) == 0;
    struct lm_page *page = is_table ? page_of_table(data, bytes) : page_of_results(data, bytes);
    if (page != NULL) {
        write_pages(page);
        write_charts(page);
        lm_page_free(page);
    }
    return 0;
}
