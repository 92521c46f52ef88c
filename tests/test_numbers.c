/* How numbers are written, and every printed median of the published table. */
#include "tests/compare_testing.h"

#include "report/import_csv.h"
#include "report/numbers.h"

static void check_value(double value, const char *unit, const char *expected)
{
    char text[LM_NUMBER_BYTES];
    lm_format_value(text, value, unit);
    assert_string_equal(text, expected);
}

static void all_339_published_medians_are_printed_as_published(void **state)
{
    (void)state;
    struct lm_import import;
    char error[512];
    assert_int_equal(lm_import_csv_read(LM_TEST_DATA "/corosio-macos-2026-10-02.csv", &import,
                                        error, sizeof error),
                     0);
    assert_int_equal(import.row_count, 339);
    for (size_t i = 0; i < import.row_count; i++) {
        const struct lm_import_row *row = &import.rows[i];
        check_value(row->median, import.cases[row->case_index].unit, row->printed_median);
    }
    lm_import_free(&import);
}

static void rates_have_two_decimals_below_100_and_one_from_there(void **state)
{
    (void)state;
    check_value(1.0, "ops/s", "1.00 ops/s");
    check_value(99.994, "ops/s", "99.99 ops/s");
    check_value(100.0, "ops/s", "100.0 ops/s");
    check_value(4123.0, "ops/s", "4.12K ops/s");
    check_value(45678901.0, "ops/s", "45.68M ops/s");
    check_value(2.5e9, "ops/s", "2.50G ops/s");
    check_value(512.0, "bytes/s", "512.0 B/s");
    check_value(1536.0, "bytes/s", "1.54 kB/s");
    check_value(1.25e13, "bytes/s", "12.50 TB/s");
    check_value(0.0, "ops/s", "0.00 ops/s");
}

static void the_prefix_is_chosen_after_rounding(void **state)
{
    (void)state;
    check_value(99.996, "ops/s", "100.0 ops/s");
    check_value(999.94, "ops/s", "999.9 ops/s");
    check_value(999.96, "ops/s", "1.00K ops/s");
    check_value(999999.0, "ops/s", "1.00M ops/s");
    check_value(999.996, "ns", "1.00 µs");
    check_value(999.994, "ns", "999.99 ns");
}

static void times_have_two_decimals_whether_seconds_or_nanoseconds(void **state)
{
    (void)state;
    check_value(48600.0, "ns", "48.60 µs");
    check_value(48.6e-6, "s", "48.60 µs");
    check_value(131160.0, "ns", "131.16 µs");
    check_value(12.0, "ns", "12.00 ns");
    check_value(1.5e6, "ns", "1.50 ms");
    check_value(90.0, "s", "90.00 s");
}

static void unknown_and_absurd_numbers_do_no_harm(void **state)
{
    (void)state;
    check_value(NAN, "ops/s", "-");
    check_value(INFINITY, "ns", "-");
    check_value(1e300, "ops/s", "1.0e+288T ops/s");
    check_value(12.0, "quite an uncommon unit", "12.00 quite an uncommo");
}

static void differences_carry_their_sign_and_one_decimal(void **state)
{
    (void)state;
    static const struct {
        double difference;
        const char *text;
    } pairs[] = {{0.5884878, "+58.8 %"},
                 {-0.102, "-10.2 %"},
                 {0.0, "0.0 %"},
                 {-0.0004, "0.0 %"},
                 {0.0005, "+0.1 %"},
                 {-0.0006, "-0.1 %"},
                 {14.021, "+1402.1 %"},
                 {9999.0, "+999900.0 %"},
                 {1e4, "+1.0e6 %"},
                 {1e12, "+1.0e14 %"},
                 {NAN, "-"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[LM_NUMBER_BYTES];
        lm_format_difference(text, pairs[i].difference);
        assert_string_equal(text, pairs[i].text);
    }
}

static void shares_counts_and_ratios_have_three_or_four_digits(void **state)
{
    (void)state;
    char text[LM_NUMBER_BYTES];
    lm_format_percent(text, 0.0419);
    assert_string_equal(text, "4.19 %");
    lm_format_percent(text, 0.2201);
    assert_string_equal(text, "22.01 %");
    lm_format_percent(text, 0.99999);
    assert_string_equal(text, "100.0 %");
    lm_format_count(text, 4.0);
    assert_string_equal(text, "4.00");
    lm_format_count(text, 128.64);
    assert_string_equal(text, "128.6");
    lm_format_ratio(text, 1.2344);
    assert_string_equal(text, "1.234");
    lm_format_ratio(text, 9.9996);
    assert_string_equal(text, "10.00");
    lm_format_ratio(text, 15.021);
    assert_string_equal(text, "15.02");
    lm_format_ratio(text, NAN);
    assert_string_equal(text, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_339_published_medians_are_printed_as_published),
        cmocka_unit_test(rates_have_two_decimals_below_100_and_one_from_there),
        cmocka_unit_test(the_prefix_is_chosen_after_rounding),
        cmocka_unit_test(times_have_two_decimals_whether_seconds_or_nanoseconds),
        cmocka_unit_test(unknown_and_absurd_numbers_do_no_harm),
        cmocka_unit_test(differences_carry_their_sign_and_one_decimal),
        cmocka_unit_test(shares_counts_and_ratios_have_three_or_four_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
