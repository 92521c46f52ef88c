/* `loopmark report`, run as a person runs it. */
#include "tests/report_testing.h"

#include <ctype.h>
#include <sys/resource.h>

#include <zlib.h>

#include "report/import_csv.h"

#define TABLE LM_TEST_DATA "/corosio-macos-2026-10-02.csv"

static struct program program;

/* Takes markup off a cell of a page: tags, references, code marks, bold marks. */
static void plain(char *cell)
{
    char *to = cell;
    for (char *from = cell; *from != '\0';) {
        unsigned code = 0;
        int length = 0;
        if (*from == '<') {
            from += strcspn(from, ">") + 1;
        } else if (sscanf(from, "&#%u;%n", &code, &length) == 1 && length > 0) {
            *to++ = (char)code;
            from += length;
        } else if (*from == '`' || *from == '*') {
            from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    while (to > cell && isspace((unsigned char)to[-1])) {
        *--to = '\0';
    }
    memmove(cell, cell + strspn(cell, " \n"), strlen(cell + strspn(cell, " \n")) + 1);
}

#define CELLS 11

/* The rows of a page that have as many cells as a case's. */
struct rows {
    char cells[400][CELLS][160];
    size_t count;
};

static struct rows rows;

/* Takes the cells that stand one after the other from `at` on, each between `begin` and `end`, of
 * which all but the first character begins the next. */
static size_t take_cells(const char *at, const char *begin, const char *end, char cells[CELLS][160])
{
    size_t count = 0;
    while (count < CELLS && strncmp(at, begin, strlen(begin)) == 0) {
        const char *content = at + strlen(begin), *stop = strstr(content, end);
        size_t length = stop != NULL ? (size_t)(stop - content) : SIZE_MAX;
        if (length >= sizeof cells[0]) {
            break;
        }
        memcpy(cells[count], content, length);
        cells[count][length] = '\0';
        plain(cells[count++]);
        at = stop + 1;
    }
    return count;
}

/* Reads all rows of a page. In Markdown and what bars_of_html makes, a row begins a line with a
 * bar; in AsciiDoc it follows an empty line, and each cell is a line. */
static void read_rows(const char *form, const char *text)
{
    bool adoc = strcmp(form, "adoc") == 0;
    const char *before = adoc ? "\n\n|" : "\n| ", *begin = adoc ? "|" : "| ";
    rows.count = 0;
    for (const char *at = text; (at = strstr(at, before)) != NULL; at++) {
        assert_true(rows.count < sizeof rows.cells / sizeof *rows.cells);
        const char *first = at + strlen(before) - strlen(begin);
        rows.count += take_cells(first, begin, adoc ? "\n" : " |", rows.cells[rows.count]) == CELLS;
    }
}

static char (*row_of(const char *which, const char *who))[160]
{
    for (size_t i = 0; i < rows.count; i++) {
        if (strcmp(rows.cells[i][0], which) == 0 && strcmp(rows.cells[i][1], who) == 0) {
            return rows.cells[i];
        }
    }
    fail_msg("there is no row of %s and %s", which, who);
    return NULL;
}

/* An HTML page with its cells between bars, as the Markdown page has them. */
static char *bars_of_html(char *html)
{
    static const char *const cells[] = {"<th scope=\"row\">", "<td class=\"n\">", "<td>"};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    for (char *at = html; *at != '\0';) {
        size_t i = 0;
        while (i < 3 && strncmp(at, cells[i], strlen(cells[i])) != 0) {
            i++;
        }
        if (i < 3) {
            fputs("| ", out);
            at += strlen(cells[i]);
        } else if (strncmp(at, "<tr", 3) == 0) {
            fputc('\n', out);
            at += strcspn(at, ">") + 1;
        } else if (strncmp(at, "</t", 3) == 0) {
            fputs(at[3] == 'r' ? "|" : " ", out);
            at += strcspn(at, ">") + 1;
        } else {
            fputc(*at++, out);
        }
    }
    assert_int_equal(fclose(out), 0);
    free(html);
    return text;
}

static int report_table(void **state)
{
    int status = enter_folder(state);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", TABLE, "--os", "macOS"), 0);
    return status;
}

static char *page_text(const char *form)
{
    char path[64];
    snprintf(path, sizeof path, "pages/macos.%s", form);
    char *text = read_file(path);
    return strcmp(form, "html") == 0 ? bars_of_html(text) : text;
}

static const char *const forms[] = {"adoc", "html", "md"};

/* "-10.2%" is shown as "-10.2 %", and nothing has a sign at 0. */
static void assert_difference(const struct lm_import_row *row, const char *shown)
{
    char expected[32];
    const char *printed = row->printed_difference;
    if (strcmp(printed, "baseline") == 0) {
        assert_string_equal(shown, "");
        return;
    }
    printed += strcmp(printed, "+0.0%") == 0 || strcmp(printed, "-0.0%") == 0;
    snprintf(expected, sizeof expected, "%.*s %%", (int)strcspn(printed, "%"), printed);
    assert_string_equal(shown, expected);
}

/* A table prints medians and CVs to the digit that pages show. */
static void each_row_of_the_published_page_is_shown_as_printed_there(void **state)
{
    struct lm_import import;
    char error[512];
    (void)state;
    assert_int_equal(lm_import_csv_read(TABLE, &import, error, sizeof error), 0);
    assert_int_equal(import.row_count, 339);
    for (size_t form = 0; form < 3; form++) {
        char *text = page_text(forms[form]);
        read_rows(forms[form], text);
        for (size_t i = 0; i < import.row_count; i++) {
            const struct lm_import_row *row = &import.rows[i];
            char cv[32];
            char(*cells)[160] = row_of(import.cases[row->case_index].name,
                                       import.implementations[row->implementation_index]);
            snprintf(cv, sizeof cv, "%.2f %%", row->cv * 100.0);
            assert_string_equal(cells[2], row->printed_median);
            assert_string_equal(cells[3], cv);
            assert_difference(row, cells[4]);
        }
        free(text);
    }
    lm_import_free(&import);
}

static void the_published_page_has_its_answer_and_its_families_figures(void **state)
{
    static const struct {
        const char *family, *faster, *within, *slower, *median;
    } published[] = {
        {"local_socket_throughput", "24", "0", "0", "+467.2 %"},
        {"local_socket_latency", "12", "0", "0", "+95.7 %"},
        {"socket_latency", "10", "2", "0", "+66.3 %"},
        {"socket_throughput", "17", "7", "3", "+63.3 %"},
        {"http_server", "2", "3", "6", "-4.5 %"},
        {"fan_out", "0", "2", "16", "-8.7 %"},
        {"accept_churn", "3", "1", "5", "-10.2 %"},
        {"all", "68", "15", "30", "+58.8 %"},
    };
    (void)state;
    char *text = read_file("pages/macos.md");
    assert_non_null(strstr(text, "- `corosio (kqueue)`: 68 faster · 15 within noise · 30 slower of "
                                 "113 — median +58.8 % vs `asio (callbacks)`\n"));
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char row[256];
        bool all = strcmp(published[i].family, "all") == 0;
        size_t cases = strtoul(published[i].faster, NULL, 10) +
                       strtoul(published[i].within, NULL, 10) +
                       strtoul(published[i].slower, NULL, 10);
        snprintf(row, sizeof row, "| %s%s%s | `corosio (kqueue)` | %zu | %s | %s | %s |  | %s |\n",
                 all ? "**" : "`", published[i].family, all ? "**" : "`", cases,
                 published[i].faster, published[i].within, published[i].slower,
                 published[i].median);
        if (strstr(text, row) == NULL) {
            fail_msg("the page has no row: %s", row);
        }
    }
    free(text);
    assert_file_has("pages/macos.html", "68 faster · 15 within noise · 30 slower of 113 — median "
                                        "+58.8 % vs asio (callbacks)");
    assert_file_has("pages/macos.adoc", "68 faster · 15 within noise · 30 slower of 113 — median "
                                        "&#43;58.8 % vs `asio &#40;callbacks)`");
    assert_file_has("pages/index.md", "68 faster · 15 within noise · 30 slower of 113");
}

static void each_system_gets_a_page_and_the_landing_page_leads_to_all(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "mac.jsonl", "linux.jsonl"),
                     0);
    assert_said(&program, "pages/linux.html\n");
    assert_said(&program, "pages/macos.md\n");
    assert_said(&program, "pages/methodology.adoc\n");
    char *text = read_file("pages/index.md");
    const char *linux = strstr(text, "[`Linux`](linux.md) | `2026-12-01 04:10 UTC`"),
               *mac = strstr(text, "[`macOS`](macos.md) | `2026-11-01 04:10 UTC`");
    assert_true(linux != NULL && mac != NULL && linux < mac);
    free(text);
    assert_true(exists("pages/charts/linux-fan_out.svg"));
    assert_file_has("pages/linux.md", "(charts/linux-fan_out.svg)");
}

static void only_the_forms_asked_for_are_written(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", "--out",
                                 "a/b", "--format", "html"),
                     0);
    assert_true(exists("a/b/linux.html"));
    assert_false(exists("a/b/linux.md") || exists("a/b/linux.adoc") || exists("a/b/charts"));
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", "--out", "c",
                                 "--format", "adoc", "--inline-charts"),
                     0);
    assert_false(exists("c/charts"));
    assert_file_has("c/linux.adoc", "\n++++\n<svg ");
}

static void of_one_system_the_newest_is_taken_whatever_the_order(void **state)
{
    (void)state;
    write_results("old.jsonl", "Linux", "2026-11-30T04:10:19Z", 1000.0);
    write_results("new.jsonl", "Linux", "2026-12-01T04:10:19Z", 2000.0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report",
                                     i > 0 ? "old.jsonl" : "new.jsonl",
                                     i > 0 ? "new.jsonl" : "old.jsonl"),
                         0);
        assert_said(&program, "old.jsonl: left out, new.jsonl is of the same system");
        assert_file_has("pages/linux.md", "Generated from `new.jsonl`");
    }
}

static void all_gives_each_file_a_page(void **state)
{
    (void)state;
    write_results("old.jsonl", "Linux", "2026-11-30T04:10:19Z", 1000.0);
    write_results("new.jsonl", "Linux", "2026-12-01T04:10:19Z", 2000.0);
    write_results("mac.jsonl", "Darwin", "2026-12-01T04:10:19Z", 2000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--all", "old.jsonl",
                                 "new.jsonl", "mac.jsonl", "old.jsonl"),
                     0);
    assert_file_has("pages/linux--2026-12-01-04-10-utc-1.md", "Generated from `new.jsonl`");
    assert_file_has("pages/linux--2026-11-30-04-10-utc-2.md", "Generated from `old.jsonl`");
    assert_true(exists("pages/linux--2026-11-30-04-10-utc-3.md"));
    assert_true(exists("pages/macos.md"));
}

static void page_leaves_the_other_pages_as_they_are(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "mac.jsonl", "linux.jsonl"),
                     0);
    char *mac = read_file("pages/macos.html"), *method = read_file("pages/methodology.html");
    write_results("linux.jsonl", "Linux", "2026-12-02T04:10:19Z", 3000.0);
    write_results("mac.jsonl", "Darwin", "2026-12-02T04:10:19Z", 3000.0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--page", "Linux",
                                 "mac.jsonl", "linux.jsonl"),
                     0);
    assert_file_has("pages/linux.md", "2026-12-02 04:10 UTC");
    assert_file_has("pages/index.md", "[`macOS`]");
    char *again = read_file("pages/macos.html");
    assert_string_equal(again, mac);
    free(again);
    again = read_file("pages/methodology.html");
    assert_string_equal(again, method);
    free(again);
    free(mac);
    free(method);
    assert_int_equal(
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "--page", "linus", "linux.jsonl"), 2);
    assert_said(&program, "--page: no file is of 'linus'; there is linux\n");
}

static void the_same_files_give_the_same_bytes_anywhere(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(system("mkdir -p elsewhere/results && cp linux.jsonl mac.jsonl "
                            "elsewhere/results"),
                     0);
    char command[1024];
    snprintf(command, sizeof command,
             "'%s' report linux.jsonl mac.jsonl --out one >/dev/null && cd elsewhere && "
             "TZ=Asia/Tokyo LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 '%s' report results/mac.jsonl "
             "\"$PWD/results/linux.jsonl\" --out ../two >/dev/null && cd .. && diff -r one two",
             LM_PROGRAM, LM_PROGRAM);
    assert_int_equal(system(command), 0);
}

/* After a change of what pages show: loopmark report --out report/pages report/pages/NAME.jsonl.gz
 */
static void the_published_pages_are_what_the_program_writes(void **state)
{
    char command[2048];
    (void)state;
    snprintf(command, sizeof command,
             "'%s' report '%s'/*.jsonl.gz >/dev/null && "
             "diff -r -x README.md -x '*.gz' -x '*.png' pages '%s' >differences || "
             "{ head -c 2000 differences; false; }",
             LM_PROGRAM, LM_TEST_DATA "/../../report/pages", LM_TEST_DATA "/../../report/pages");
    assert_int_equal(system(command), 0);
}

static void a_compressed_results_file_gives_the_same_page(void **state)
{
    (void)state;
    write_two_systems();
    char *text = read_file("linux.jsonl");
    gzFile out = gzopen("linux.jsonl.gz", "w");
    assert_int_equal(gzwrite(out, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(out), Z_OK);
    free(text);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", "--out",
                                 "plain", "--format", "md"),
                     0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl.gz", "--out",
                                 "packed", "--format", "md"),
                     0);
    assert_int_equal(system("sed -i 's/linux.jsonl.gz/linux.jsonl/' packed/linux.md && "
                            "diff plain/linux.md packed/linux.md"),
                     0);
    assert_int_equal(truncate("linux.jsonl.gz", 200), 0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl.gz"), 2);
    assert_said(&program,
                "linux.jsonl.gz: its compressed data is cut off or damaged; fetch it again\n");
}

static void a_torn_last_line_is_said_on_the_page(void **state)
{
    (void)state;
    write_two_systems();
    char *text = read_file("linux.jsonl");
    assert_int_equal(truncate("linux.jsonl", (off_t)strlen(text) - 90), 0);
    free(text);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl"), 0);
    assert_file_has("pages/linux.md", "`linux.jsonl`: the last line was cut and is left out.");
    assert_file_has("pages/linux.md", "`linux.jsonl`: the run did not end;");
}

static void what_can_not_be_read_is_one_line_and_no_page(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(
        system("sed 's/\"schema\":1/\"schema\":9/' linux.jsonl >newer.jsonl; "
               "cat linux.jsonl mac.jsonl >two.jsonl; echo hello >foreign.txt; "
               "sed 's/\"metric\":1000/\"metric\":-1000/' linux.jsonl >minus.jsonl; "
               "sed 's/\"metric\":1000.000000/\"metric\":NaN/' linux.jsonl >nan.jsonl"),
        0);
    static const char *const wrong[][2] = {
        {"newer.jsonl", "newer.jsonl:1: written by a newer loopmark: schema 9, this one reads up "
                        "to 1; use that version"},
        {"two.jsonl", "two.jsonl:9: "},
        {"foreign.txt", "foreign.txt: not a loopmark results file"},
        {"missing.jsonl", "missing.jsonl: No such file or directory"},
        {"minus.jsonl", "minus.jsonl:2: metric is -1000"},
        {"nan.jsonl", "nan.jsonl:2: not valid JSON"},
        {TABLE, "does not say on which system it was measured; name it with --os"},
        {".", ".: "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(
            PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", wrong[i][0]), 2);
        assert_said(&program, wrong[i][1]);
        assert_ptr_equal(strchr(program.output, '\n'), program.output + program.used - 1);
        assert_false(exists("pages"));
    }
}

static void wrong_use_is_one_line(void **state)
{
    (void)state;
    write_two_systems();
    static const char *const wrong[][3] = {
        {"--format", "htm", "--format takes adoc, html and md, not 'htm'; did you mean html?"},
        {"--out", "", "--out is empty; name a folder"},
        {"--os", "", "--os is empty; name the system, such as --os macOS"},
        {"--page", "macOS", "--page: no file is of 'macOS'; there is linux"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", wrong[i][0], wrong[i][1],
                                     "linux.jsonl"),
                         2);
        assert_said(&program, wrong[i][2]);
    }
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report"), 2);
    assert_said(&program, "name at least one results file");
}

static void limit_file_size(void)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000});
}

/* As a full disk does, the limit stops a file half-way. */
static void pages_that_do_not_fit_leave_the_former_ones(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl"), 0);
    char *before = read_file("pages/linux.md");
    write_results("linux.jsonl", "Linux", "2026-12-02T04:10:19Z", 3000.0);
    assert_int_equal(PROGRAM_RUN(&program, limit_file_size, LM_PROGRAM, "report", "linux.jsonl"),
                     2);
    assert_said(&program, "pages/linux.html: File too large; free some space");
    char *after = read_file("pages/linux.md");
    assert_string_equal(after, before);
    free(before);
    free(after);
    assert_int_equal(system("test -z \"$(find pages -name '.*.new')\""), 0);
}

static void a_folder_that_can_not_be_made_is_named(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(system("touch taken"), 0);
    assert_int_equal(
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", "--out", "taken"), 2);
    assert_said(&program, "taken: Not a directory; ");
    assert_int_equal(
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl", "--out", "taken/below"),
        2);
    assert_said(&program, "taken: Not a directory; ");
}

static void one_backend_alone_is_a_page_without_charts(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(system("grep -v '\"backend\":\"epoll\"' linux.jsonl | sed "
                            "'s/,{\"spec\":\"epoll\"[^}]*}//; s/\"samples\":6/\"samples\":3/' "
                            ">alone.jsonl"),
                     0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "alone.jsonl"), 0);
    assert_file_has("pages/linux.md", "Nothing was compared: the source has the baseline only.");
    assert_file_has("pages/linux.md", "| `fan_out/fork_join/1` | `reactor` | 1.00K ops/s |");
    assert_false(exists("pages/charts"));
}

static void a_run_of_micro_cases_only_has_its_answer(void **state)
{
    (void)state;
    write_results("linux.jsonl", "Linux", "2026-12-01T04:10:19Z", 1000.0);
    assert_int_equal(system("sed -i 's/\"micro\":false/\"micro\":true/' linux.jsonl"), 0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "linux.jsonl"), 0);
    assert_file_has("pages/index.md", "`epoll`: 0 faster · 1 within noise · 0 slower of 1 — median "
                                      "+0.1 % vs `reactor` (micro)");
    assert_file_has("pages/index.md", "Generated from `linux.jsonl`; fully generated");
    assert_file_has("pages/linux.md", "Apart from all main cases, micro:");
}

static void commands_show_characters_that_turn_text_around(void **state)
{
    (void)state;
    write_two_systems();
    assert_int_equal(system("sed 's/\"epoll\"/\"e\\\\u202ep\"/' linux.jsonl >hostile.jsonl"), 0);
    assert_int_equal(PROGRAM_RUN(&program, NULL, LM_PROGRAM, "report", "hostile.jsonl"), 0);
    for (size_t form = 0; form < 3; form++) {
        char path[64];
        bool html = strcmp(forms[form], "html") == 0;
        snprintf(path, sizeof path, "pages/linux.%s", forms[form]);
        assert_file_has(path, html ? "--backend &#39;reactor,e\\u{202e}p&#39; "
                                   : "--backend 'reactor,e\\u{202e}p' ");
    }
}

#define IN_FOLDER(test)  cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
#define WITH_TABLE(test) cmocka_unit_test_setup_teardown(test, report_table, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TABLE(each_row_of_the_published_page_is_shown_as_printed_there),
        WITH_TABLE(the_published_page_has_its_answer_and_its_families_figures),
        IN_FOLDER(each_system_gets_a_page_and_the_landing_page_leads_to_all),
        IN_FOLDER(only_the_forms_asked_for_are_written),
        IN_FOLDER(of_one_system_the_newest_is_taken_whatever_the_order),
        IN_FOLDER(all_gives_each_file_a_page),
        IN_FOLDER(page_leaves_the_other_pages_as_they_are),
        IN_FOLDER(the_same_files_give_the_same_bytes_anywhere),
        IN_FOLDER(the_published_pages_are_what_the_program_writes),
        IN_FOLDER(a_compressed_results_file_gives_the_same_page),
        IN_FOLDER(a_torn_last_line_is_said_on_the_page),
        IN_FOLDER(what_can_not_be_read_is_one_line_and_no_page),
        IN_FOLDER(wrong_use_is_one_line),
        IN_FOLDER(pages_that_do_not_fit_leave_the_former_ones),
        IN_FOLDER(a_folder_that_can_not_be_made_is_named),
        IN_FOLDER(one_backend_alone_is_a_page_without_charts),
        IN_FOLDER(a_run_of_micro_cases_only_has_its_answer),
        IN_FOLDER(commands_show_characters_that_turn_text_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
