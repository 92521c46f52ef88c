/* The published table: its own summary figures have to come out of its rows. */
#include "tests/compare_testing.h"

#include "report/import_csv.h"
#include "report/numbers.h"
#include "report/wording.h"

#define TABLE LM_TEST_DATA "/corosio-macos-2026-10-02.csv"

/* golden-figures.md; the last is the whole. */
static const struct {
    const char *family;
    size_t faster, within, slower;
    double median_percent;
} published[] = {
    {"local_socket_throughput", 24, 0, 0, 467.2},
    {"local_socket_latency", 12, 0, 0, 95.7},
    {"socket_latency", 10, 2, 0, 66.3},
    {"socket_throughput", 17, 7, 3, 63.3},
    {"http_server", 2, 3, 6, -4.5},
    {"fan_out", 0, 2, 16, -8.7},
    {"accept_churn", 3, 1, 5, -10.2},
    {NULL, 68, 15, 30, 58.8},
};

#define PUBLISHED (sizeof published / sizeof *published)

struct golden {
    struct lm_import import;
    struct lm_comparison *comparison;
    const struct lm_matchup *matchup; /* corosio (kqueue) against asio (callbacks) */
};

static int set_up(void **state)
{
    static struct golden golden;
    const struct lm_compare_options options = {.baseline = NULL};
    char error[512];
    if (lm_import_csv_read(TABLE, &golden.import, error, sizeof error) != 0 ||
        lm_comparison_from_import(&golden.import, &options, &golden.comparison, error,
                                  sizeof error) != 0) {
        return -1;
    }
    const struct lm_comparison *c = golden.comparison;
    for (size_t i = 0; i < c->matchup_count; i++) {
        if (strcmp(c->implementations[c->matchups[i].candidate].name, "corosio (kqueue)") == 0) {
            golden.matchup = &c->matchups[i];
        }
    }
    *state = &golden;
    return golden.matchup != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct golden *golden = *state;
    lm_comparison_free(golden->comparison);
    lm_import_free(&golden->import);
    return 0;
}

static const struct lm_tally *tally_of(const struct golden *golden, const char *family)
{
    if (family == NULL) {
        return &golden->matchup->sections[LM_SECTION_MAIN];
    }
    for (size_t i = 0; i < golden->comparison->family_count; i++) {
        if (strcmp(golden->comparison->families[i].name, family) == 0) {
            return &golden->matchup->families[i];
        }
    }
    fail_msg("there is no family %s", family);
    return NULL;
}

static void counts_of_the_whole_and_of_each_family_are_the_published_ones(void **state)
{
    const struct golden *golden = *state;
    for (size_t i = 0; i < PUBLISHED; i++) {
        const struct lm_tally *tally = tally_of(golden, published[i].family);
        assert_int_equal(tally->verdicts[LM_VERDICT_FASTER], published[i].faster);
        assert_int_equal(tally->verdicts[LM_VERDICT_WITHIN_NOISE], published[i].within);
        assert_int_equal(tally->verdicts[LM_VERDICT_SLOWER], published[i].slower);
        assert_int_equal(tally->case_count,
                         published[i].faster + published[i].within + published[i].slower);
    }
    assert_int_equal(golden->comparison->case_count, 113);
    assert_string_equal(golden->comparison->implementations[golden->comparison->baseline].name,
                        "asio (callbacks)");
}

static void the_answer_is_the_published_line(void **state)
{
    const struct golden *golden = *state;
    char *answer = lm_answer_text(tally_of(golden, NULL), "asio (callbacks)");
    assert_string_equal(answer,
                        "68 faster · 15 within noise · 30 slower of 113 — median +58.8 % vs "
                        "asio (callbacks)");
    free(answer);
}

/* Half of the last printed digit of a median, in its unit. */
static double rounding_of(const struct lm_import_row *row)
{
    const char *text = row->printed_median;
    char *end = NULL;
    double printed = strtod(text, &end);
    const char *point = memchr(text, '.', (size_t)(end - text));
    double half = 0.5 * pow(10.0, point != NULL ? -(double)(end - point - 1) : 0.0);
    return half * row->median / printed;
}

/* The differences that the unrounded medians of a case may have had, in percent. */
struct bounds {
    double low, high;
};

static const struct lm_import_row *row_of(const struct golden *golden, size_t which,
                                          size_t implementation)
{
    for (size_t i = 0; i < golden->import.row_count; i++) {
        const struct lm_import_row *row = &golden->import.rows[i];
        if (row->case_index == which && row->implementation_index == implementation) {
            return row;
        }
    }
    fail_msg("there is no row");
    return NULL;
}

static struct bounds bounds_of(const struct golden *golden, size_t which)
{
    const struct lm_import_row *candidate = row_of(golden, which, golden->matchup->candidate);
    const struct lm_import_row *baseline = row_of(golden, which, golden->matchup->baseline);
    bool higher = golden->comparison->cases[which].higher_is_better;
    double c = rounding_of(candidate), b = rounding_of(baseline);
    double one = lm_difference(candidate->median + c, baseline->median - b, higher) * 100.0;
    double other = lm_difference(candidate->median - c, baseline->median + b, higher) * 100.0;
    /* Half of the last digit of a printed difference. */
    return (struct bounds){fmin(one, other) - 0.0501, fmax(one, other) + 0.0501};
}

static void each_difference_is_the_printed_one_within_the_rounding_of_the_medians(void **state)
{
    const struct golden *golden = *state;
    for (size_t i = 0; i < golden->comparison->case_count; i++) {
        double printed =
            strtod(row_of(golden, i, golden->matchup->candidate)->printed_difference, NULL);
        double computed = golden->matchup->cells[i].difference * 100.0;
        struct bounds bounds = bounds_of(golden, i);
        assert_true(printed >= bounds.low && printed <= bounds.high);
        assert_true(computed >= bounds.low && computed <= bounds.high);
    }
}

static bool counts_to(const struct golden *golden, size_t which, const char *family)
{
    const struct lm_comparison *c = golden->comparison;
    return family == NULL || strcmp(c->families[c->cases[which].family].name, family) == 0;
}

static void median_differences_are_the_published_ones_within_rounding(void **state)
{
    const struct golden *golden = *state;
    for (size_t i = 0; i < PUBLISHED; i++) {
        double low[113], high[113], printed[113];
        size_t count = 0;
        for (size_t j = 0; j < golden->comparison->case_count; j++) {
            if (counts_to(golden, j, published[i].family)) {
                struct bounds bounds = bounds_of(golden, j);
                low[count] = bounds.low;
                high[count] = bounds.high;
                printed[count++] =
                    strtod(row_of(golden, j, golden->matchup->candidate)->printed_difference, NULL);
            }
        }
        lm_sort(low, count);
        lm_sort(high, count);
        lm_sort(printed, count);
        double computed = tally_of(golden, published[i].family)->median_difference * 100.0;
        assert_true(fabs(lm_median(printed, count) - published[i].median_percent) <= 0.0501);
        assert_true(published[i].median_percent >= lm_median(low, count));
        assert_true(published[i].median_percent <= lm_median(high, count));
        assert_true(computed >= lm_median(low, count) && computed <= lm_median(high, count));
    }
}

static void no_row_is_unstable_failed_or_skipped(void **state)
{
    const struct golden *golden = *state;
    const struct lm_tally *tally = tally_of(golden, NULL);
    assert_int_equal(tally->verdicts[LM_VERDICT_UNSTABLE], 0);
    assert_int_equal(tally->verdicts[LM_VERDICT_FAILED], 0);
    assert_int_equal(tally->verdicts[LM_VERDICT_SKIPPED], 0);
    assert_int_equal(tally->verdicts[LM_VERDICT_NONE], 0);
}

static void the_program_gives_the_published_answer_and_family_counts(void **state)
{
    (void)state;
    char directory[64], cells[64];
    make_directory(directory);
    const struct said *said = compare(directory, "'" TABLE "'");
    assert_int_equal(said->code, 0);
    assert_string_equal(said->err, "");
    assert_contains(said->out, "68 faster · 15 within noise · 30 slower of 113 — median +58.8 % vs "
                               "asio (callbacks)");
    said = compare(directory, "--format markdown '" TABLE "'");
    assert_int_equal(said->code, 0);
    for (size_t i = 0; i + 1 < PUBLISHED; i++) {
        size_t cases = published[i].faster + published[i].within + published[i].slower;
        char row[256];
        snprintf(cells, sizeof cells, "%zu | %zu | %zu | %zu", cases, published[i].faster,
                 published[i].within, published[i].slower);
        snprintf(row, sizeof row, "| `%s` | `corosio (kqueue)` | %s |", published[i].family, cells);
        assert_contains(said->out, row);
    }
    remove_directory(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_the_whole_and_of_each_family_are_the_published_ones),
        cmocka_unit_test(the_answer_is_the_published_line),
        cmocka_unit_test(each_difference_is_the_printed_one_within_the_rounding_of_the_medians),
        cmocka_unit_test(median_differences_are_the_published_ones_within_rounding),
        cmocka_unit_test(no_row_is_unstable_failed_or_skipped),
        cmocka_unit_test(the_program_gives_the_published_answer_and_family_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
