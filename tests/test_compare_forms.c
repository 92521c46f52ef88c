/* The forms of a comparison: what they say, that nothing from outside breaks out of them, and that
 * equal results give equal bytes. */
#include "tests/compare_testing.h"

#include "report/compare_render.h"
#include "report/escape.h"
#include "report/grid.h"

enum form {
    TABLE,
    COLOURED,
    MARKDOWN,
    CSV,
    JSON,
    FORM_COUNT
};

/* The caller frees the text. */
static char *render(const struct lm_comparison *comparison, enum form form)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    int status = form == MARKDOWN ? lm_render_compare_markdown(comparison, out)
                 : form == CSV    ? lm_render_compare_csv(comparison, out)
                 : form == JSON   ? lm_render_compare_json(comparison, out)
                                  : lm_render_compare_table(comparison, form == COLOURED, out);
    assert_int_equal(status, 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

#define HOSTILE "a\x1b[31m`|<b>@u\n\"x\",=1\xc2\x9b\xe2\x80\xae"

/* A baseline, a candidate with samples, one that failed, one that could not run, and A/A. */
static struct sheet *sheet_of_everything(const char *spec, const char *reason)
{
    static const double fast[] = {150.0, 151.0, 152.0, 151.5, 150.5};
    static const double base[] = {100.0, 101.0, 102.0, 101.5, 100.5};
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_backend(sheet, spec);
    sheet->backends[sheet_backend(sheet, "io_uring")].unavailable = (char *)reason;
    sheet->backends[sheet_backend(sheet, "reactor")].aa = true;
    sheet_case(sheet, "f/a", "f", "ops/s");
    sheet_case(sheet, "f/b", "f", "ns");
    sheet->cases[sheet_case(sheet, "s/c", "s", "bytes/s")].split = true;
    for (size_t which = 0; which < 3; which++) {
        sheet_values(sheet, 0, which, 5, base);
        sheet_values(sheet, 1, which, 5, fast);
        sheet_values(sheet, 3, which, 5, base);
    }
    sheet_trouble(sheet, 1, 1, 5, LM_SAMPLE_FAILED, reason);
    sheet_sample(sheet, 1, 2, 5, 151.0)->warning = (char *)reason;
    return sheet;
}

static struct lm_comparison *everything(const char *spec, const char *reason)
{
    struct sheet *sheet = sheet_of_everything(spec, reason);
    struct lm_comparison *comparison = sheet_compare(sheet);
    sheet_free(sheet);
    return comparison;
}

static void every_form_says_who_is_faster_failed_and_skipped(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything("epoll", "the reason");
    for (int form = TABLE; form < FORM_COUNT; form++) {
        char *text = render(comparison, (enum form)form);
        assert_contains(text, "epoll");
        assert_contains(text, "faster");
        assert_contains(text, "failed");
        assert_contains(text, "skipped");
        assert_contains(text, "the reason");
        free(text);
    }
    lm_comparison_free(comparison);
}

static void the_answer_comes_first_then_noise_and_policy_then_tables(void **state)
{
    (void)state;
    static const char *const order[] = {
        "1 faster · 0 within noise · 0 slower · 1 failed of 2 — median +49.5 % vs ",
        "measured noise floor",
        "Within noise: ",
        "noise_factor",
        "By family",
        "1.495 [",
        "the reason",
    };
    struct lm_comparison *comparison = everything("epoll", "the reason");
    for (int form = TABLE; form <= MARKDOWN; form++) {
        char *text = render(comparison, (enum form)form);
        const char *at = text;
        for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
            at = strstr(at, order[i]);
            if (at == NULL) {
                fail_msg("'%s' is missing or too early in:\n%s", order[i], text);
            }
        }
        free(text);
    }
    lm_comparison_free(comparison);
}

static void colour_adds_only_escape_sequences(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything("epoll", "the reason");
    char *plain = render(comparison, TABLE), *coloured = render(comparison, COLOURED);
    assert_lacks(plain, "\033");
    assert_contains(coloured, "\033[32m");
    char *to = coloured;
    for (const char *from = coloured; *from != '\0'; from++) {
        if (*from == '\033') {
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    assert_string_equal(coloured, plain);
    free(plain);
    free(coloured);
    lm_comparison_free(comparison);
}

static void table_columns_stand_under_each_other_beyond_ascii(void **state)
{
    (void)state;
    struct lm_grid grid;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    lm_grid_begin(&grid, "lrl", (const char *const[]){"name", "µs", "unused"});
    static const char *const cells[] = {"é", "1.50 µs", "-", "漢字", "22.50 µs", ""};
    for (size_t i = 0; i < 6; i++) {
        lm_grid_add(&grid, LM_TONE_PLAIN, cells[i]);
    }
    assert_int_equal(lm_grid_print(&grid, out, 1, false), 0);
    fclose(out);
    assert_string_equal(text, " name        µs\n"
                              " é      1.50 µs\n"
                              " 漢字  22.50 µs\n");
    free(text);
}

static void no_control_character_reaches_a_terminal(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything(HOSTILE, HOSTILE);
    char *text = render(comparison, TABLE);
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        assert_int_not_equal(*c, 0x7f);
    }
    assert_lacks(text, "\xc2\x9b");     /* C1 control sequence introducer */
    assert_lacks(text, "\xe2\x80\xae"); /* right-to-left override */
    assert_contains(text, "a\\x1b[31m`|<b>@u\\x0a");
    free(text);
    lm_comparison_free(comparison);
}

static void a_name_can_not_leave_its_cell_in_markdown(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything(HOSTILE, HOSTILE);
    char *text = render(comparison, MARKDOWN);
    /* A fence longer than the backtick inside, the pipe escaped, the line feed shown. */
    assert_contains(text, "| ``a\\x1b[31m`\\|<b>@u\\x0a\"x\",=1\\x9b\\u{202e}`` |");
    free(text);
    lm_comparison_free(comparison);
}

static void a_name_can_not_leave_its_field_in_csv(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything(HOSTILE, HOSTILE);
    char *text = render(comparison, CSV);
    assert_contains(text, ",\"a\\x1b[31m`|<b>@u\\x0a\"\"x\"\",=1\\x9b\\u{202e}\",");
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 1 + 3 * 4);
    free(text);
    lm_comparison_free(comparison);
}

static void json_gives_back_every_name_and_text_as_it_was(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything(HOSTILE, HOSTILE);
    char *text = render(comparison, JSON);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_t *candidate = json_array_get(json_object_get(root, "candidates"), 0);
    assert_string_equal(json_string_value(json_object_get(candidate, "candidate")), HOSTILE);
    json_t *remark = json_array_get(json_object_get(root, "remarks"), 0);
    assert_string_equal(json_string_value(json_object_get(remark, "text")), HOSTILE);
    json_decref(root);
    free(text);
    lm_comparison_free(comparison);
}

static void json_has_the_documented_members(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything("epoll", "the reason");
    char *text = render(comparison, JSON);
    json_t *root = json_loads(text, 0, NULL);
    const char *schema, *verdict, *baseline, *answer;
    int version, cases, faster, failed, samples;
    double difference, median, paired, factor;
    assert_int_equal(
        json_unpack(root,
                    "{s:s, s:i, s:{s:F}, s:[{s:{s:{s:i, s:i, s:i, s:s}}}], s:[{s:[{}, {s:i, s:F, "
                    "s:{s:s, s:s, s:F, s:F}}]}]}",
                    "schema", &schema, "version", &version, "policy", "noise_factor", &factor,
                    "candidates", "sections", "main", "cases", &cases, "faster", &faster, "failed",
                    &failed, "answer", &answer, "cases", "implementations", "samples", &samples,
                    "median", &median, "versus", "verdict", &verdict, "baseline", &baseline,
                    "difference_percent", &difference, "paired_ratio", &paired),
        0);
    assert_string_equal(schema, "loopmark.compare");
    assert_int_equal(version, LM_COMPARE_SCHEMA);
    assert_near(factor, 2.0);
    assert_int_equal(cases, 2);
    assert_int_equal(faster, 1);
    assert_int_equal(failed, 1);
    assert_int_equal(samples, 5);
    assert_near(median, 151.0);
    assert_string_equal(verdict, "faster");
    assert_string_equal(baseline, "reactor");
    assert_true(fabs(difference - 49.50495) < 1e-4);
    assert_true(fabs(paired - 1.49505) < 1e-4);
    json_decref(root);
    free(text);
    lm_comparison_free(comparison);
}

static void unknown_figures_are_null_in_json_and_empty_in_csv(void **state)
{
    (void)state;
    struct lm_comparison *comparison = everything("epoll", "the reason");
    char *text = render(comparison, JSON);
    assert_contains(text, "\"median_difference_percent\": null");
    assert_lacks(text, "nan");
    assert_lacks(text, "inf");
    free(text);
    text = render(comparison, CSV);
    assert_contains(text, "main,f,f/a,ops/s,io_uring,0,,,,,,,,,,,reactor,skipped,,,,,,");
    assert_lacks(text, "nan");
    free(text);
    lm_comparison_free(comparison);
}

static void equal_results_give_equal_bytes_in_every_form(void **state)
{
    (void)state;
    for (int form = TABLE; form < FORM_COUNT; form++) {
        struct lm_comparison *one = everything("epoll", "x"), *other = everything("epoll", "x");
        char *first = render(one, (enum form)form), *second = render(other, (enum form)form);
        assert_string_equal(first, second);
        free(first);
        free(second);
        lm_comparison_free(one);
        lm_comparison_free(other);
    }
}

static void the_order_of_samples_in_the_file_changes_no_byte(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_everything("epoll", "x");
    struct lm_comparison *forward = sheet_compare(sheet);
    for (size_t i = 0, j = sheet->results.sample_count - 1; i < j; i++, j--) {
        struct lm_sample sample = sheet->samples[i];
        sheet->samples[i] = sheet->samples[j];
        sheet->samples[j] = sample;
    }
    struct lm_comparison *backward = sheet_compare(sheet);
    for (int form = TABLE; form < FORM_COUNT; form++) {
        char *first = render(forward, (enum form)form), *second = render(backward, (enum form)form);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
    lm_comparison_free(forward);
    lm_comparison_free(backward);
    sheet_free(sheet);
}

static void check_escaped(enum lm_form form, const char *text, const char *expected)
{
    char *escaped = lm_escape_text(form, text);
    assert_string_equal(escaped, expected);
    free(escaped);
}

static void bytes_that_are_no_utf8_are_shown_as_numbers(void **state)
{
    (void)state;
    check_escaped(LM_FORM_TERMINAL, "a\xff\xc3", "a\\xff\\xc3");
    check_escaped(LM_FORM_TERMINAL, "\xc0\x80 \xed\xa0\x80", "\\xc0\\x80 \\xed\\xa0\\x80");
    check_escaped(LM_FORM_TERMINAL, "µ漢😀", "µ漢😀");
}

static void markdown_spans_hold_backticks_and_spaces_at_their_ends(void **state)
{
    (void)state;
    check_escaped(LM_FORM_MARKDOWN, "plain", "`plain`");
    check_escaped(LM_FORM_MARKDOWN, "`", "`` ` ``");
    check_escaped(LM_FORM_MARKDOWN, "a``", "``` a`` ```");
    check_escaped(LM_FORM_MARKDOWN, " a ", "`  a  `");
    check_escaped(LM_FORM_MARKDOWN, "", "");
}

static void a_csv_field_is_no_formula(void **state)
{
    (void)state;
    check_escaped(LM_FORM_CSV, "=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"");
    check_escaped(LM_FORM_CSV, "@SUM(1)", "\"'@SUM(1)\"");
    check_escaped(LM_FORM_CSV, "epoll", "epoll");
    check_escaped(LM_FORM_CSV, "a,b", "\"a,b\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_says_who_is_faster_failed_and_skipped),
        cmocka_unit_test(the_answer_comes_first_then_noise_and_policy_then_tables),
        cmocka_unit_test(colour_adds_only_escape_sequences),
        cmocka_unit_test(table_columns_stand_under_each_other_beyond_ascii),
        cmocka_unit_test(no_control_character_reaches_a_terminal),
        cmocka_unit_test(a_name_can_not_leave_its_cell_in_markdown),
        cmocka_unit_test(a_name_can_not_leave_its_field_in_csv),
        cmocka_unit_test(json_gives_back_every_name_and_text_as_it_was),
        cmocka_unit_test(json_has_the_documented_members),
        cmocka_unit_test(unknown_figures_are_null_in_json_and_empty_in_csv),
        cmocka_unit_test(equal_results_give_equal_bytes_in_every_form),
        cmocka_unit_test(the_order_of_samples_in_the_file_changes_no_byte),
        cmocka_unit_test(bytes_that_are_no_utf8_are_shown_as_numbers),
        cmocka_unit_test(markdown_spans_hold_backticks_and_spaces_at_their_ends),
        cmocka_unit_test(a_csv_field_is_no_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
