/* Published tables as they are read: what is taken, and what is refused with which words. */
#include "tests/compare_testing.h"

#include "report/import_csv.h"

#define HEADER LM_IMPORT_HEADER "\n"
#define GOOD   "f,a,asio,100,ops/s,1.5,100.0 ops/s,baseline\n"

static int parse_bytes(const char *bytes, size_t count, struct lm_import *import, char error[512])
{
    FILE *in = fmemopen((void *)bytes, count, "r");
    assert_non_null(in);
    error[0] = '\0';
    int status = lm_import_csv_parse(in, "t.csv", import, error, 512);
    fclose(in);
    return status;
}

static void check_refused(const char *text, const char *part)
{
    struct lm_import import;
    char error[512];
    assert_int_equal(parse_bytes(text, strlen(text), &import, error), -EBADMSG);
    assert_contains(error, part);
    assert_null(strchr(error, '\n'));
    lm_import_free(&import);
}

static void check_taken(const char *text, size_t rows)
{
    struct lm_import import;
    char error[512];
    assert_int_equal(parse_bytes(text, strlen(text), &import, error), 0);
    assert_int_equal(import.row_count, rows);
    lm_import_free(&import);
}

static void a_table_is_read_with_its_baseline(void **state)
{
    (void)state;
    struct lm_import import;
    char error[512];
    static const char text[] = HEADER "f,a,new,2.5e-06,s,0.5,2.50 µs,+50.0%\n"
                                      "f,a,old,5e-06,s,1.25,5.00 µs,baseline\n"
                                      "g,b/64,old,7,bytes/s,0,7.00 B/s,\n";
    assert_int_equal(parse_bytes(text, strlen(text), &import, error), 0);
    assert_int_equal(import.row_count, 3);
    assert_int_equal(import.case_count, 2);
    assert_int_equal(import.implementation_count, 2);
    assert_int_equal(import.baseline, 1);
    assert_string_equal(import.cases[1].name, "g/b/64");
    assert_string_equal(import.cases[1].family, "g");
    assert_near(import.rows[0].median, 2.5e-6);
    assert_near(import.rows[1].cv, 0.0125);
    assert_string_equal(import.rows[0].printed_difference, "+50.0%");
    lm_import_free(&import);
}

static void a_mark_carriage_returns_and_empty_lines_are_no_trouble(void **state)
{
    (void)state;
    check_taken("\xef\xbb\xbf" LM_IMPORT_HEADER "\r\n\r\nf,a,asio,1,ops/s,1,1.00 ops/s,\r\n", 1);
    check_taken(HEADER "f,a,asio,1,ops/s,1,1.00 ops/s,", 1); /* no line feed at the end */
}

static void quoted_fields_may_hold_commas_and_quotes(void **state)
{
    (void)state;
    struct lm_import import;
    char error[512];
    static const char text[] =
        HEADER "f,a,\"asio, \"\"new\"\"\",1,ops/s,1,1.00 ops/s,\"baseline\"\n";
    assert_int_equal(parse_bytes(text, strlen(text), &import, error), 0);
    assert_string_equal(import.implementations[0], "asio, \"new\"");
    assert_int_equal(import.baseline, 0);
    lm_import_free(&import);
}

static void another_first_line_is_refused_with_the_right_one(void **state)
{
    (void)state;
    check_refused("family,case,median\nf,a,1\n", "t.csv:1: the first line has to be: family,case,");
    check_refused("", "t.csv:1: the first line has to be");
    check_refused(HEADER, "no row below the header");
}

static void a_wrong_number_of_columns_is_refused(void **state)
{
    (void)state;
    check_refused(HEADER "f,a,asio,1,ops/s,1,1.00 ops/s\n", "t.csv:2: there are 7 columns instead");
    check_refused(HEADER GOOD "f,b,asio,1,ops/s,1,x,y,z\n", "t.csv:3: there are 9 columns instead");
}

static void numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const medians[] = {"nan", "NAN", "inf", "-1",  "1e999", "0x10",
                                          "",    "1,0", "1 ",  "1..", "+-1",   "e5"};
    for (size_t i = 0; i < sizeof medians / sizeof *medians; i++) {
        char text[512];
        snprintf(text, sizeof text, HEADER "f,a,asio,\"%s\",ops/s,1,x,\n", medians[i]);
        check_refused(text, "t.csv:2: column median");
        snprintf(text, sizeof text, HEADER "f,a,asio,1,ops/s,\"%s\",x,\n", medians[i]);
        check_refused(text, "t.csv:2: column cv_percent");
    }
    check_refused(HEADER "f,a,asio,0,ops/s,1,x,\n", "column median is 0");
    check_refused(HEADER "f,a,asio,1e-999,ops/s,1,x,\n", "column median is 0");
}

static void an_unknown_unit_and_two_units_of_a_case_are_refused(void **state)
{
    (void)state;
    check_refused(HEADER "f,a,asio,1,furlongs,1,x,\n", "column unit is 'furlongs', not ops/s");
    check_refused(HEADER GOOD "f,a,new,1,s,1,x,\n", "case f/a has the units ops/s and s");
}

static void empty_names_are_refused(void **state)
{
    (void)state;
    check_refused(HEADER ",a,asio,1,ops/s,1,x,\n", "column family is empty");
    check_refused(HEADER "f,,asio,1,ops/s,1,x,\n", "column case is empty");
    check_refused(HEADER "f,a,,1,ops/s,1,x,\n", "column implementation is empty");
}

static void a_row_that_is_there_twice_is_refused(void **state)
{
    (void)state;
    check_refused(HEADER GOOD GOOD, "t.csv:3: case f/a of 'asio' is there a second time");
}

static void two_baselines_are_refused_with_both_lines(void **state)
{
    (void)state;
    check_refused(HEADER GOOD "f,a,new,1,ops/s,1,x,baseline\n",
                  "t.csv:3: 'new' is called the baseline, but on line 2 it was 'asio'");
}

static void an_open_quote_is_refused(void **state)
{
    (void)state;
    check_refused(HEADER "f,a,\"asio,1,ops/s,1,x,\n", "column 3 has a quote that does not close");
    check_refused(HEADER "f,a,\"asio\"x,1,ops/s,1,x,\n", "column 3 has a quote");
    check_refused(HEADER "f,a,asio,1,ops/s,1,x,\"", "column 8 has a quote");
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    static const char text[] = HEADER "f,a,as\0io,1,ops/s,1,x,\n";
    struct lm_import import;
    char error[512];
    assert_int_equal(parse_bytes(text, sizeof text - 1, &import, error), -EBADMSG);
    assert_contains(error, "t.csv:2: there is a NUL byte");
    lm_import_free(&import);
}

static void bytes_that_are_no_utf8_are_refused(void **state)
{
    (void)state;
    check_refused(HEADER "f,a,\xff\xfe,1,ops/s,1,x,\n", "not UTF-8");
    check_refused(HEADER "f,a,\xc0\xaf,1,ops/s,1,x,\n", "not UTF-8");
    check_refused(HEADER "f,a,\xed\xa0\x80,1,ops/s,1,x,\n", "not UTF-8");
    check_refused(HEADER "f,a,\xe2\x82", "not UTF-8");
}

/* `before`, then `count` times x, then `after`. */
static char *stretched(const char *before, size_t count, const char *after)
{
    char *text = malloc(strlen(before) + count + strlen(after) + 1);
    assert_non_null(text);
    char *end = stpcpy(text, before);
    memset(end, 'x', count);
    strcpy(end + count, after);
    return text;
}

static void ten_kilobytes_in_a_field_are_refused(void **state)
{
    (void)state;
    char *text = stretched(HEADER "f,a,", 10240, ",1,ops/s,1,x,\n");
    check_refused(text, "t.csv:2: the line is longer than 4095 bytes");
    free(text);
    text = stretched(HEADER "f,a,", 1024, ",1,ops/s,1,x,\n");
    check_refused(text, "column implementation is longer than 255 bytes");
    free(text);
    text = stretched("", 1 << 20, "");
    check_refused(text, "t.csv:1: the line is longer");
    free(text);
}

static void more_implementations_or_rows_than_the_bounds_are_refused(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fputs(HEADER, out);
    for (unsigned i = 0; i <= LM_IMPORT_IMPLEMENTATIONS; i++) {
        fprintf(out, "f,a,i%u,1,ops/s,1,x,\n", i);
    }
    fclose(out);
    check_refused(text, "there are more than 64 implementations");
    free(text);
    out = open_memstream(&text, &bytes);
    fputs(HEADER, out);
    for (unsigned i = 0; i <= LM_IMPORT_ROWS; i++) {
        fprintf(out, "f,a%u,i%u,1,ops/s,1,x,\n", i / 32, i % 32);
    }
    fclose(out);
    check_refused(text, "there are more than 20000 rows");
    free(text);
}

static void a_missing_file_is_one_line(void **state)
{
    (void)state;
    struct lm_import import;
    char error[512];
    assert_int_equal(lm_import_csv_read("/nonexistent/t.csv", &import, error, sizeof error),
                     -ENOENT);
    assert_string_equal(error, "/nonexistent/t.csv: can not be opened: No such file or directory");
    lm_import_free(&import);
}

static int compare_text(const char *text, const char *baseline, struct lm_comparison **comparison,
                        char error[512])
{
    struct lm_import import;
    const struct lm_compare_options options = {.baseline = baseline};
    *comparison = NULL;
    assert_int_equal(parse_bytes(text, strlen(text), &import, error), 0);
    int status = lm_comparison_from_import(&import, &options, comparison, error, 512);
    lm_import_free(&import);
    return status;
}

static void a_table_without_baseline_rows_asks_for_one(void **state)
{
    (void)state;
    struct lm_comparison *comparison;
    char error[512];
    static const char text[] = HEADER "f,a,old,1,ops/s,1,x,\nf,a,new,2,ops/s,1,x,\n";
    assert_int_equal(compare_text(text, NULL, &comparison, error), -ENOENT);
    assert_contains(error, "write it into the rows of one, such as 'old' (compare has --baseline");
    assert_int_equal(compare_text(text, "older", &comparison, error), -ENOENT);
    assert_contains(error, "'older' is not in t.csv; name one of: 'old', 'new'");
    assert_int_equal(compare_text(text, "old", &comparison, error), 0);
    assert_int_equal(comparison->matchups[0].cells[0].verdict, LM_VERDICT_FASTER);
    lm_comparison_free(comparison);
}

static void a_case_that_the_baseline_lacks_has_no_verdict(void **state)
{
    (void)state;
    struct lm_comparison *comparison;
    char error[512];
    static const char text[] = HEADER GOOD "f,a,new,200,ops/s,1,x,\nf,b,new,2,ops/s,1,x,\n";
    assert_int_equal(compare_text(text, NULL, &comparison, error), 0);
    assert_int_equal(comparison->matchups[0].cells[0].verdict, LM_VERDICT_FASTER);
    assert_int_equal(comparison->matchups[0].cells[1].verdict, LM_VERDICT_NONE);
    lm_comparison_free(comparison);
}

static void a_cv_above_the_limit_is_unstable_in_a_table_too(void **state)
{
    (void)state;
    struct lm_comparison *comparison;
    char error[512];
    static const char text[] = HEADER GOOD "f,a,new,200,ops/s,25.1,x,\n";
    assert_int_equal(compare_text(text, NULL, &comparison, error), 0);
    assert_int_equal(comparison->matchups[0].cells[0].verdict, LM_VERDICT_UNSTABLE);
    lm_comparison_free(comparison);
}

static void only_a_table_is_recognised_as_one(void **state)
{
    (void)state;
    char directory[64], path[96];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/other.csv", directory);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("{\"record\":\"run\"}\n", out);
    fclose(out);
    assert_true(lm_import_csv_recognise(LM_TEST_DATA "/corosio-macos-2026-10-02.csv"));
    assert_false(lm_import_csv_recognise(path));
    assert_false(lm_import_csv_recognise(directory));
    assert_false(lm_import_csv_recognise("/nonexistent"));
    remove_directory(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_read_with_its_baseline),
        cmocka_unit_test(a_mark_carriage_returns_and_empty_lines_are_no_trouble),
        cmocka_unit_test(quoted_fields_may_hold_commas_and_quotes),
        cmocka_unit_test(another_first_line_is_refused_with_the_right_one),
        cmocka_unit_test(a_wrong_number_of_columns_is_refused),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(an_unknown_unit_and_two_units_of_a_case_are_refused),
        cmocka_unit_test(empty_names_are_refused),
        cmocka_unit_test(a_row_that_is_there_twice_is_refused),
        cmocka_unit_test(two_baselines_are_refused_with_both_lines),
        cmocka_unit_test(an_open_quote_is_refused),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(bytes_that_are_no_utf8_are_refused),
        cmocka_unit_test(ten_kilobytes_in_a_field_are_refused),
        cmocka_unit_test(more_implementations_or_rows_than_the_bounds_are_refused),
        cmocka_unit_test(a_missing_file_is_one_line),
        cmocka_unit_test(a_table_without_baseline_rows_asks_for_one),
        cmocka_unit_test(a_case_that_the_baseline_lacks_has_no_verdict),
        cmocka_unit_test(a_cv_above_the_limit_is_unstable_in_a_table_too),
        cmocka_unit_test(only_a_table_is_recognised_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
