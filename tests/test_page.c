/* The page model: who is best and who leads, where marks stand, what names are cut to. */
#include "tests/compare_testing.h"

#include "harness/string_stream.h"
#include "report/best.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/page_data.h"

static const double flat[] = {100, 100.5, 101, 100.2, 100.8};
static const double better[] = {150, 150.5, 151, 150.2, 150.8};
static const double near[] = {149, 150, 151.5, 149.5, 150.5};

/* Two candidates on one case, with the figures given. */
static struct sheet *sheet_of(const double *base, const double *a, const double *b)
{
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "base");
    sheet_backend(sheet, "a");
    sheet_backend(sheet, "b");
    sheet_case(sheet, "family/case", "family", "ops/s");
    sheet_values(sheet, 0, 0, 5, base);
    sheet_values(sheet, 1, 0, 5, a);
    sheet_values(sheet, 2, 0, 5, b);
    return sheet;
}

static size_t best_of(struct sheet *sheet)
{
    struct lm_comparison *comparison = sheet_compare(sheet);
    size_t best = lm_best_of_case(comparison, 0);
    lm_comparison_free(comparison);
    sheet_free(sheet);
    return best;
}

static void the_best_is_ahead_of_every_other_one_beyond_the_noise(void **state)
{
    (void)state;
    assert_int_equal(best_of(sheet_of(flat, better, flat)), 1);
    assert_int_equal(best_of(sheet_of(better, flat, flat)), 0);
    assert_int_equal(best_of(sheet_of(flat, better, near)), SIZE_MAX);
}

static void a_floor_is_neither_the_best_nor_in_the_way_of_another(void **state)
{
    (void)state;
    static const double highest[] = {200, 200.5, 201, 200.2, 200.8};
    struct sheet *sheet = sheet_of(flat, better, highest);
    sheet->backends[2].floor = true;
    assert_int_equal(best_of(sheet), 1);
}

static void an_unstable_one_is_not_the_best_but_can_keep_another_from_it(void **state)
{
    (void)state;
    static const double clusters[] = {100, 100.2, 300, 300.2, 300.4};
    assert_int_equal(best_of(sheet_of(flat, better, clusters)), SIZE_MAX);
}

static void one_that_failed_is_out(void **state)
{
    (void)state;
    static const double highest[] = {200, 200.5, 201, 200.2, 200.8};
    struct sheet *sheet = sheet_of(flat, better, highest);
    sheet_trouble(sheet, 2, 0, 5, LM_SAMPLE_FAILED, "it crashed");
    sheet->results.run.iterations = 6;
    assert_int_equal(best_of(sheet), 1);
}

static void the_only_one_is_not_called_the_best(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "base");
    sheet_case(sheet, "family/case", "family", "ops/s");
    sheet_values(sheet, 0, 0, 5, flat);
    assert_int_equal(best_of(sheet), SIZE_MAX);
}

static void the_leaders_are_the_two_highest_medians_without_floors(void **state)
{
    (void)state;
    static const double highest[] = {200, 200.5, 201, 200.2, 200.8};
    struct sheet *sheet = sheet_of(flat, better, highest);
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_leaders leaders = lm_leaders_of_family(comparison, 0);
    assert_int_equal(leaders.first, 2);
    assert_int_equal(leaders.second, 1);
    lm_comparison_free(comparison);
    sheet->backends[2].floor = true;
    comparison = sheet_compare(sheet);
    leaders = lm_leaders_of_family(comparison, 0);
    assert_int_equal(leaders.first, 1);
    assert_int_equal(leaders.second, 0);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void the_next_of_a_leader_is_another_backend(void **state)
{
    (void)state;
    static const double highest[] = {200, 200.5, 201, 200.2, 200.8};
    struct sheet *sheet = sheet_of(flat, better, highest);
    sheet->backends[1].spec = (char *)"ring";
    sheet->backends[2].spec = (char *)"ring:hybrid=1";
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_leaders leaders = lm_leaders_of_family(comparison, 0);
    assert_int_equal(leaders.first, 2);
    assert_int_equal(leaders.second, 0);
    lm_comparison_free(comparison);
    sheet->backends[1].spec = (char *)"ringer";
    comparison = sheet_compare(sheet);
    assert_int_equal(lm_leaders_of_family(comparison, 0).second, 1);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void the_baseline_leads_where_every_candidate_is_slower(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of(better, flat, flat);
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(lm_leaders_of_family(comparison, 0).first, 0);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void nobody_leads_where_the_baseline_has_no_figure(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of(flat, better, better);
    for (size_t i = 0; i < sheet->results.sample_count; i++) {
        struct lm_sample *sample = &sheet->results.samples[i];
        if (sample->backend_index == 0) {
            sample->status = LM_SAMPLE_FAILED;
            sample->reason = (char *)"it hung";
        }
    }
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_leaders leaders = lm_leaders_of_family(comparison, 0);
    assert_int_equal(leaders.first, SIZE_MAX);
    assert_int_equal(leaders.second, SIZE_MAX);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_leader_leads_when_it_is_faster_in_half_of_the_judged_cases(void **state)
{
    (void)state;
    static const struct {
        size_t faster, within, slower, unstable;
        bool leads;
    } sets[] = {{6, 6, 0, 0, true}, {5, 6, 0, 0, false},  {6, 0, 6, 0, false},
                {7, 0, 6, 0, true}, {0, 0, 0, 12, false}, {1, 1, 0, 10, true}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct lm_tally tally = {.case_count = 12};
        tally.verdicts[LM_VERDICT_FASTER] = sets[i].faster;
        tally.verdicts[LM_VERDICT_WITHIN_NOISE] = sets[i].within;
        tally.verdicts[LM_VERDICT_SLOWER] = sets[i].slower;
        tally.verdicts[LM_VERDICT_UNSTABLE] = sets[i].unstable;
        assert_int_equal(lm_is_lead(&tally), sets[i].leads);
    }
}

static struct lm_page *page_of(const struct sheet *sheet)
{
    struct lm_page *page = NULL;
    char error[512] = "";
    int status = lm_page_from_results(&sheet->results, "Test OS", &page, error, sizeof error);
    assert_string_equal(error, "");
    assert_int_equal(status, 0);
    return page;
}

/* A page whose one family has a case for each ratio to the baseline. */
static struct lm_page *page_with_ratios(struct sheet **sheet, const char *unit,
                                        const double *ratios, size_t count)
{
    static char names[8][32];
    *sheet = sheet_new();
    sheet_backend(*sheet, "base");
    sheet_backend(*sheet, "a");
    for (size_t i = 0; i < count; i++) {
        double values[5];
        snprintf(names[i], sizeof names[i], "family/%zu", i);
        sheet_case(*sheet, names[i], "family", unit);
        sheet_values(*sheet, 0, i, 5, flat);
        for (size_t j = 0; j < 5; j++) {
            values[j] = strcmp(unit, "ns") == 0 ? flat[j] / ratios[i] : flat[j] * ratios[i];
        }
        sheet_values(*sheet, 1, i, 5, values);
    }
    return page_of(*sheet);
}

static void an_axis_holds_every_mark_and_its_ticks_are_apart(void **state)
{
    (void)state;
    static const double sets[][8] = {{0.4, 1.0, 15.0},
                                     {1.0},
                                     {0.999, 1.001},
                                     {1e-9, 1e9},
                                     {1.2, 1.21, 1.25, 1.3, 1.4, 1.5, 1.55, 1.7},
                                     {0.1, 0.2}};
    static const size_t counts[] = {3, 1, 2, 2, 8, 2};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct sheet *sheet;
        struct lm_page *page = page_with_ratios(&sheet, "ops/s", sets[i], counts[i]);
        struct lm_axis axis = lm_chart_axis(page->own, &page->charts[1]);
        double one = 0.0;
        for (size_t j = 0; j < counts[i]; j++) {
            double percent = lm_axis_place(&axis, sets[i][j]);
            assert_true(percent > 3.0 && percent < 97.0);
            assert_true(j == 0 || percent > lm_axis_place(&axis, sets[i][j - 1]));
        }
        assert_true(axis.tick_count >= 2);
        for (size_t j = 0; j < axis.tick_count; j++) {
            one += axis.ticks[j].ratio == 1.0;
            assert_true(axis.ticks[j].percent > 8.0 && axis.ticks[j].percent < 92.0);
            for (size_t k = 0; k < j; k++) {
                assert_true(fabs(axis.ticks[j].percent - axis.ticks[k].percent) >= 16.0);
            }
        }
        assert_true(one == 1.0);
        lm_page_free(page);
        sheet_free(sheet);
    }
}

static void a_tick_names_the_difference_that_tables_show_for_its_ratio(void **state)
{
    (void)state;
    static const double ratios[] = {0.5, 2.0, 4.0};
    static const char *const units[] = {"ops/s", "ns"}, *const expected[] = {"+100 %", "+50 %"};
    for (size_t i = 0; i < 2; i++) {
        struct sheet *sheet;
        struct lm_page *page = page_with_ratios(&sheet, units[i], ratios, 3);
        struct lm_axis axis = lm_chart_axis(page->own, &page->charts[1]);
        bool found = false;
        for (size_t j = 0; j < axis.tick_count; j++) {
            if (axis.ticks[j].ratio == 2.0) {
                assert_string_equal(axis.ticks[j].times, "2×");
                assert_string_equal(axis.ticks[j].difference, expected[i]);
                found = true;
            }
        }
        assert_true(found);
        lm_page_free(page);
        sheet_free(sheet);
    }
}

/* A label of more than eight characters would run into the next one on a narrow screen. */
static void a_tick_far_from_one_keeps_to_its_room(void **state)
{
    (void)state;
    static const double ratios[] = {1e-9, 1.0, 1e9};
    struct sheet *sheet;
    struct lm_page *page = page_with_ratios(&sheet, "ops/s", ratios, 3);
    struct lm_axis axis = lm_chart_axis(page->own, &page->charts[1]);
    assert_true(axis.tick_count > 2);
    for (size_t i = 0; i < axis.tick_count; i++) {
        assert_true(lm_text_columns(axis.ticks[i].times) <= 8);
        assert_true(lm_text_columns(axis.ticks[i].difference) <= 8);
    }
    lm_page_free(page);
    sheet_free(sheet);
}

static void the_noise_band_has_the_ratios_of_plus_and_minus_the_noise(void **state)
{
    (void)state;
    static const double ratios[] = {2.0};
    for (int higher = 0; higher < 2; higher++) {
        struct sheet *sheet;
        struct lm_page *page = page_with_ratios(&sheet, higher ? "ops/s" : "ns", ratios, 1);
        const struct lm_matchup *matchup = &page->own->matchups[0];
        struct lm_placed placed = lm_chart_placed(page->own, matchup, 0);
        double noise = matchup->cells[0].noise;
        assert_true(fabs(placed.ratio - 2.0) < 1e-9);
        assert_true(fabs(placed.band_low - (higher ? 1.0 - noise : 1.0 / (1.0 + noise))) < 1e-12);
        assert_true(fabs(placed.band_high - (higher ? 1.0 + noise : 1.0 / (1.0 - noise))) < 1e-12);
        lm_page_free(page);
        sheet_free(sheet);
    }
}

static void the_parts_of_a_bar_add_up_and_are_labelled_where_there_is_room(void **state)
{
    (void)state;
    struct lm_tally tally = {.case_count = 27};
    struct lm_bar_part parts[LM_BAR_PARTS];
    tally.verdicts[LM_VERDICT_SLOWER] = 1;
    tally.verdicts[LM_VERDICT_WITHIN_NOISE] = 10;
    tally.verdicts[LM_VERDICT_FASTER] = 12;
    tally.verdicts[LM_VERDICT_UNSTABLE] = 3;
    tally.verdicts[LM_VERDICT_FAILED] = 1;
    lm_chart_bar(&tally, parts);
    static const size_t counts[LM_BAR_PARTS] = {1, 10, 12, 4};
    static const bool labelled[LM_BAR_PARTS] = {false, true, true, true};
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        assert_int_equal(parts[i].count, counts[i]);
        assert_int_equal(parts[i].labelled, labelled[i]);
        assert_true(i == 0 || fabs(parts[i - 1].x + parts[i - 1].width - parts[i].x) < 1e-9);
    }
    assert_true(fabs(parts[3].x + parts[3].width - parts[0].x - 42.0) < 1e-9);
}

static void a_bar_without_cases_has_no_width(void **state)
{
    (void)state;
    struct lm_tally tally = {.case_count = 0};
    struct lm_bar_part parts[LM_BAR_PARTS];
    lm_chart_bar(&tally, parts);
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        assert_true(parts[i].width == 0.0 && !parts[i].labelled);
    }
}

static void every_implementation_has_a_mark_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < 64; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(strcmp(lm_chart_shape(i), lm_chart_shape(j)) != 0 ||
                        lm_chart_colour(i) != lm_chart_colour(j));
        }
    }
}

static void curves_pool_the_latencies_of_all_good_samples(void **state)
{
    (void)state;
    static struct lm_bucket fast[] = {{10, 60}, {20, 39}}, slow[] = {{30, 1}};
    struct sheet *sheet = sheet_of(flat, flat, flat);
    for (size_t i = 0; i < 5; i++) {
        sheet->samples[i].latency.buckets = i == 0 ? slow : fast;
        sheet->samples[i].latency.bucket_count = i == 0 ? 1 : i == 1 ? 2 : 0;
    }
    struct lm_page *page = page_of(sheet);
    const struct lm_curve *curve = &page->curves[0];
    /* The ends are the samples' own extremes. */
    static const double expected[LM_CURVE_POINTS] = {1, 10, 10, 10, 20, 20, 20, 20, 30, 30, 30};
    assert_true(curve->known);
    for (size_t i = 0; i < LM_CURVE_POINTS; i++) {
        assert_true(curve->value_ns[i] == expected[i]);
    }
    lm_page_free(page);
    sheet_free(sheet);
}

static void a_family_of_many_cases_gets_charts_of_about_equal_length(void **state)
{
    (void)state;
    static char all[45][32];
    static struct lm_run_case cases[45];
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "base");
    sheet_backend(sheet, "a");
    sheet_case(sheet, "many/0", "many", "ops/s");
    sheet->results.run.cases = cases;
    sheet->results.run.case_count = 45;
    for (size_t i = 0; i < 45; i++) {
        snprintf(all[i], sizeof all[i], "many/%zu", i);
        cases[i] = sheet->cases[0];
        cases[i].name = all[i];
    }
    struct lm_page *page = page_of(sheet);
    assert_int_equal(page->chart_count, 1 + 3);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(page->charts[i].case_count, 15);
        assert_int_equal(page->charts[i].cases[0], (i - 1) * 15);
        assert_int_equal(page->charts[i].part, i);
    }
    lm_page_free(page);
    sheet_free(sheet);
}

static void slugs_are_fit_for_files_and_ids(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"Linux", "linux"},
                                           {"macOS", "macos"},
                                           {"../../etc/passwd", "x-etc-passwd"},
                                           {"", "x"},
                                           {"...", "x"},
                                           {"a  b", "a-b"},
                                           {"fan_out", "fan_out"},
                                           {"_fan_ -out_", "x-fan-out"},
                                           {"fan__out", "fan-out"},
                                           {"9front", "x9front"},
                                           {"é", "x"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char slug[64];
        lm_slug(slug, pairs[i][0]);
        assert_string_equal(slug, pairs[i][1]);
    }
}

static void families_with_one_slug_keep_ids_of_their_own(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "base");
    sheet_backend(sheet, "a");
    sheet_case(sheet, "a b/1", "a b", "ops/s");
    sheet_case(sheet, "a-b/1", "a-b", "ops/s");
    sheet_case(sheet, "summary/1", "summary", "ops/s");
    struct lm_page *page = page_of(sheet);
    assert_string_equal(page->family_ids[0], "a-b");
    assert_string_equal(page->family_ids[1], "a-b--2");
    assert_string_equal(page->family_ids[2], "summary--3");
    lm_page_free(page);
    sheet_free(sheet);
}

static void a_page_of_very_many_backends_has_one_baseline(void **state)
{
    (void)state;
    static char names[33][8];
    for (size_t count = 32; count <= 33; count++) {
        struct sheet *sheet = sheet_new();
        sheet_case(sheet, "f/1", "f", "ops/s");
        for (size_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof names[i], "b%zu", i);
            sheet_backend(sheet, names[i]);
            sheet_values(sheet, i, 0, 5, flat);
        }
        struct lm_page *page = page_of(sheet);
        assert_ptr_equal(page->against[0], page->own);
        assert_int_equal(page->against[1] != NULL, count == 32);
        lm_page_free(page);
        sheet_free(sheet);
    }
}

static void raw_points_are_those_of_the_first_thousand_iterations(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "base");
    sheet_backend(sheet, "a");
    sheet_case(sheet, "f/1", "f", "ops/s");
    sheet->results.run.iterations = 1100;
    for (uint32_t i = 998; i < 1100; i++) {
        sheet_sample(sheet, 0, 0, i, 100.0 + i);
        if (i != 1050) {
            sheet_sample(sheet, 1, 0, i, 200.0 + i);
        }
    }
    struct lm_page *page = page_of(sheet);
    struct lm_string_stream stream;
    assert_non_null(lm_string_begin(&stream));
    assert_int_equal(lm_page_put_data(page, stream.out), 0);
    char *text = lm_string_end(&stream);
    json_t *data = json_loads(text, 0, NULL);
    for (size_t i = 0; i < 2; i++) {
        const json_t *points = json_array_get(json_object_get(data, "points"), i);
        points = json_array_get(points, 0);
        assert_int_equal(json_array_size(points), 1000);
        assert_true(json_is_null(json_array_get(points, 997)));
        assert_true(json_number_value(json_array_get(points, 999)) == (i == 0 ? 1099.0 : 1199.0));
    }
    json_decref(data);
    free(text);
    lm_page_free(page);
    sheet_free(sheet);
}

static void names_are_cut_by_the_columns_they_take(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"io_uring:hybrid=1", "io_uring:hybrid=1"},
                                           {"io_uring:hybrid=10", "io_uring:hybrid=…"},
                                           {"漢字漢字漢字漢字漢字", "漢字漢字漢字漢字…"},
                                           {"a\u202e\u202e\u202e", "a\\u{202e}\\u{202e…"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *cut = lm_chart_short(LM_NAME_BAR, pairs[i][0]);
        assert_string_equal(cut, pairs[i][1]);
        free(cut);
    }
}

static void the_command_repeats_the_run(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of(flat, flat, flat);
    sheet->results.run.seed = 77;
    struct lm_page *page = page_of(sheet);
    assert_string_equal(page->command, "build/default/loopmark run \\\n"
                                       "    --backend base,a,b --baseline base \\\n"
                                       "    --case family/case \\\n"
                                       "    --iterations 5 --duration 2 --warmup 0.25 \\\n"
                                       "    --order interleaved --seed 77");
    lm_page_free(page);
    sheet->backends[1].spec = (char *)"./lib mine'.so";
    sheet->cases[0].name = (char *)"family/$(reboot)";
    page = page_of(sheet);
    assert_non_null(strstr(page->command, "--backend 'base,./lib mine'\\''.so,b' "));
    assert_non_null(strstr(page->command, "--case 'family/$(reboot)' "));
    lm_page_free(page);
    sheet_free(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_is_ahead_of_every_other_one_beyond_the_noise),
        cmocka_unit_test(a_floor_is_neither_the_best_nor_in_the_way_of_another),
        cmocka_unit_test(an_unstable_one_is_not_the_best_but_can_keep_another_from_it),
        cmocka_unit_test(one_that_failed_is_out),
        cmocka_unit_test(the_only_one_is_not_called_the_best),
        cmocka_unit_test(the_leaders_are_the_two_highest_medians_without_floors),
        cmocka_unit_test(nobody_leads_where_the_baseline_has_no_figure),
        cmocka_unit_test(the_next_of_a_leader_is_another_backend),
        cmocka_unit_test(a_leader_leads_when_it_is_faster_in_half_of_the_judged_cases),
        cmocka_unit_test(the_baseline_leads_where_every_candidate_is_slower),
        cmocka_unit_test(an_axis_holds_every_mark_and_its_ticks_are_apart),
        cmocka_unit_test(a_tick_names_the_difference_that_tables_show_for_its_ratio),
        cmocka_unit_test(a_tick_far_from_one_keeps_to_its_room),
        cmocka_unit_test(the_noise_band_has_the_ratios_of_plus_and_minus_the_noise),
        cmocka_unit_test(the_parts_of_a_bar_add_up_and_are_labelled_where_there_is_room),
        cmocka_unit_test(a_bar_without_cases_has_no_width),
        cmocka_unit_test(every_implementation_has_a_mark_of_its_own),
        cmocka_unit_test(curves_pool_the_latencies_of_all_good_samples),
        cmocka_unit_test(a_family_of_many_cases_gets_charts_of_about_equal_length),
        cmocka_unit_test(slugs_are_fit_for_files_and_ids),
        cmocka_unit_test(families_with_one_slug_keep_ids_of_their_own),
        cmocka_unit_test(a_page_of_very_many_backends_has_one_baseline),
        cmocka_unit_test(raw_points_are_those_of_the_first_thousand_iterations),
        cmocka_unit_test(names_are_cut_by_the_columns_they_take),
        cmocka_unit_test(the_command_repeats_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
