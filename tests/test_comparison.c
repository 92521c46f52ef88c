/* The model of a comparison: figures, verdicts and their order, counts, pairs, two files. */
#include "tests/compare_testing.h"

#include "report/compare_rows.h"
#include "report/policy.h"
#include "report/wording.h"

static const double hundreds[] = {99.0, 100.0, 101.0, 100.0, 100.0};

/* One case in `unit`; the baseline has about 100, the candidate the given values. */
static struct sheet *sheet_of(const char *unit, size_t count, const double *candidate)
{
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_backend(sheet, "epoll");
    sheet_case(sheet, "f/a", "f", unit);
    sheet_values(sheet, 0, 0, 5, hundreds);
    sheet_values(sheet, 1, 0, count, candidate);
    return sheet;
}

/* The first candidate's cell in the first case. */
static const struct lm_cell *first_cell(const struct lm_comparison *comparison)
{
    return &comparison->matchups[0].cells[0];
}

static enum lm_verdict verdict_of(const char *unit, size_t count, const double *candidate)
{
    struct sheet *sheet = sheet_of(unit, count, candidate);
    struct lm_comparison *comparison = sheet_compare(sheet);
    enum lm_verdict verdict = first_cell(comparison)->verdict;
    lm_comparison_free(comparison);
    sheet_free(sheet);
    return verdict;
}

static void more_is_faster_where_higher_is_better_and_slower_where_lower_is(void **state)
{
    (void)state;
    const double more[] = {119.0, 120.0, 121.0, 120.0, 120.0};
    const double less[] = {79.0, 80.0, 81.0, 80.0, 80.0};
    assert_int_equal(verdict_of("ops/s", 5, more), LM_VERDICT_FASTER);
    assert_int_equal(verdict_of("ns", 5, more), LM_VERDICT_SLOWER);
    assert_int_equal(verdict_of("ops/s", 5, less), LM_VERDICT_SLOWER);
    assert_int_equal(verdict_of("ns", 5, less), LM_VERDICT_FASTER);
}

static void a_difference_inside_the_band_is_within_noise(void **state)
{
    (void)state;
    /* Both sides have sd sqrt(0.5), CV 0.71 %: the band is 2 %. */
    const double inside[] = {100.5, 101.5, 102.5, 101.5, 101.5};
    const double outside[] = {101.5, 102.5, 103.5, 102.5, 102.5};
    assert_int_equal(verdict_of("ops/s", 5, inside), LM_VERDICT_WITHIN_NOISE);
    assert_int_equal(verdict_of("ops/s", 5, outside), LM_VERDICT_FASTER);
}

static void figures_of_a_cell_are_those_worked_out_by_hand(void **state)
{
    (void)state;
    const double values[] = {119.0, 120.0, 121.0, 120.0, 120.0};
    struct sheet *sheet = sheet_of("ops/s", 5, values);
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_measurement *m = &comparison->implementations[1].cases[0];
    assert_int_equal(m->metric.count, 5);
    assert_near(m->metric.median, 120.0);
    assert_near(m->metric.cv, sqrt(0.5) / 120.0);
    assert_near(first_cell(comparison)->difference, 0.2);
    assert_near(first_cell(comparison)->noise,
                2.0 * sqrt(0.5 / (120.0 * 120.0) + 0.5 / (100.0 * 100.0)));
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_failed_sample_comes_before_every_other_verdict(void **state)
{
    (void)state;
    const double bistable[] = {10.0, 10.0, 90.0, 90.0, 90.0};
    struct sheet *sheet = sheet_of("ops/s", 5, bistable);
    sheet_trouble(sheet, 1, 0, 5, LM_SAMPLE_SKIPPED, "no such call");
    sheet_trouble(sheet, 1, 0, 6, LM_SAMPLE_FAILED, "killed by signal 11");
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_FAILED);
    assert_string_equal(first_cell(comparison)->reason, "killed by signal 11");
    assert_true(isnan(first_cell(comparison)->difference));
    assert_int_equal(comparison->failed_samples, 1);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_failed_sample_of_the_baseline_fails_the_case(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of("ops/s", 5, hundreds);
    sheet_trouble(sheet, 0, 0, 5, LM_SAMPLE_FAILED, "timed out");
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_FAILED);
    assert_string_equal(first_cell(comparison)->reason, "timed out");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void skipped_comes_before_unstable(void **state)
{
    (void)state;
    const double bistable[] = {10.0, 10.0, 90.0, 90.0, 90.0};
    struct sheet *sheet = sheet_of("ops/s", 5, bistable);
    sheet_trouble(sheet, 1, 0, 5, LM_SAMPLE_SKIPPED, "no such call");
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_SKIPPED);
    assert_string_equal(first_cell(comparison)->reason, "no such call");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_cv_above_the_limit_is_unstable_before_it_is_faster(void **state)
{
    (void)state;
    const double wild[] = {200.0, 300.0, 400.0, 500.0, 600.0}; /* CV 40 % */
    const double calm[] = {380.0, 390.0, 400.0, 410.0, 420.0};
    assert_int_equal(verdict_of("ops/s", 5, wild), LM_VERDICT_UNSTABLE);
    assert_int_equal(verdict_of("ops/s", 5, calm), LM_VERDICT_FASTER);
}

static void two_clusters_below_the_cv_limit_are_unstable_and_named(void **state)
{
    (void)state;
    const double bistable[] = {200.0, 260.0, 201.0, 261.0, 260.0};
    struct sheet *sheet = sheet_of("ops/s", 5, bistable);
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_true(comparison->implementations[1].cases[0].metric.cv < lm_policy.cv_limit);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_UNSTABLE);
    assert_near(first_cell(comparison)->difference, 1.6); /* shown */
    assert_int_equal(comparison->remark_count, 1);
    assert_int_equal(comparison->remarks[0].kind, LM_REMARK_UNSTABLE);
    assert_string_equal(comparison->remarks[0].text,
                        "two clusters of samples: 2 around 200.5 ops/s, 3 around 260.0 ops/s");
    assert_true(isnan(comparison->matchups[0].sections[LM_SECTION_MAIN].median_difference));
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void against_an_unstable_baseline_nobody_wins(void **state)
{
    (void)state;
    const double wild[] = {20.0, 30.0, 40.0, 50.0, 60.0};
    struct sheet *sheet = sheet_of("ops/s", 5, wild);
    const struct lm_compare_options options = {.baseline = "epoll"};
    struct lm_comparison *comparison = sheet_compare_as(sheet, &options);
    assert_string_equal(comparison->implementations[comparison->matchups[0].candidate].name,
                        "reactor");
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_UNSTABLE);
    assert_string_equal(first_cell(comparison)->reason, LM_REASON_BASELINE_UNSTABLE);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void fewer_than_two_iterations_give_no_verdict_but_a_difference(void **state)
{
    (void)state;
    const double one[] = {150.0};
    struct sheet *sheet = sheet_of("ops/s", 1, one);
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_NONE);
    assert_near(first_cell(comparison)->difference, 0.5);
    assert_int_equal(comparison->remarks[0].kind, LM_REMARK_NONE);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_case_without_samples_has_no_verdict(void **state)
{
    (void)state;
    assert_int_equal(verdict_of("ops/s", 0, NULL), LM_VERDICT_NONE);
}

static void figures_of_zero_give_no_verdict(void **state)
{
    (void)state;
    const double zeros[] = {0.0, 0.0, 0.0};
    assert_int_equal(verdict_of("ops/s", 3, zeros), LM_VERDICT_NONE);
}

static void pairs_are_formed_by_iteration_not_by_place(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_backend(sheet, "epoll");
    sheet_case(sheet, "f/a", "f", "ops/s");
    /* Iterations 4 and 5 of the candidate have no partner, 1 of the baseline has none. */
    const double baseline[] = {100.0, 110.0, 120.0, 130.0};
    sheet_values(sheet, 0, 0, 4, baseline);
    const uint32_t iterations[] = {3, 0, 5, 2, 4};
    const double candidate[] = {143.0, 120.0, 999.0, 156.0, 999.0};
    for (size_t i = 0; i < 5; i++) {
        sheet_sample(sheet, 1, 0, iterations[i], candidate[i]);
    }
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->paired.count, 3);
    assert_near(first_cell(comparison)->paired.estimate, 1.2); /* of 1.1, 1.2, 1.3 */
    assert_near(first_cell(comparison)->paired.low, 1.1);
    assert_near(first_cell(comparison)->paired.high, 1.3);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void paired_ratio_is_turned_over_where_lower_is_better(void **state)
{
    (void)state;
    const double halved[] = {49.5, 50.0, 50.5, 50.0, 50.0};
    struct sheet *sheet = sheet_of("ns", 5, halved);
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_near(first_cell(comparison)->paired.estimate, 2.0);
    assert_near(first_cell(comparison)->difference, 0.5);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void fewer_than_three_pairs_have_no_interval(void **state)
{
    (void)state;
    const double two[] = {150.0, 151.0};
    struct sheet *sheet = sheet_of("ops/s", 2, two);
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(first_cell(comparison)->verdict, LM_VERDICT_FASTER);
    assert_true(isnan(first_cell(comparison)->paired.estimate));
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_blocked_run_has_no_paired_ratios(void **state)
{
    (void)state;
    const double halved[] = {49.5, 50.0, 50.5, 50.0, 50.0};
    struct sheet *sheet = sheet_of("ns", 5, halved);
    sheet->results.run.interleaved = false;
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_true(isnan(first_cell(comparison)->paired.estimate));
    assert_near(first_cell(comparison)->difference, 0.5);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void costs_are_medians_over_iterations_of_each_samples_own(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of("ops/s", 0, NULL);
    const uint64_t operations[] = {100, 200, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        struct lm_sample *sample = sheet_sample(sheet, 1, 0, i, 100.0);
        sample->operations = operations[i];
        sample->cpu_user_s = 0.001;
        sample->cpu_system_s = 0.003;
        sample->latency.p50_ns = 1000 * (i + 1);
        sample->latency.p99_ns = 5000 * (i + 1);
        sample->counters.syscalls[LM_SYS_SEND] = 200;
        sample->counters.syscalls[LM_SYS_EPOLL_WAIT] = 600;
    }
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_measurement *m = &comparison->implementations[1].cases[0];
    assert_near(m->p50_ns, 2000.0);
    assert_near(m->p99_ns, 10000.0);
    assert_near(m->cpu_ns_per_operation, 20000.0);
    assert_near(m->syscalls_per_operation, 4.0);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void costs_of_a_sample_without_operations_are_not_known(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of("ops/s", 0, NULL);
    struct lm_sample *sample = sheet_sample(sheet, 1, 0, 0, 100.0);
    sample->operations = 0;
    sample->latency = (struct lm_latency){.mean_ns = 0.0};
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_measurement *m = &comparison->implementations[1].cases[0];
    assert_true(isnan(m->p50_ns) && isnan(m->p99_ns));
    assert_true(isnan(m->cpu_ns_per_operation) && isnan(m->syscalls_per_operation));
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

/* Cases f/a and f/b of the main section, s/c split, m/d micro; the candidate is 10, 30, 50 and
 * 70 % faster. */
static struct sheet *sheet_of_sections(void)
{
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_backend(sheet, "epoll");
    sheet_case(sheet, "f/a", "f", "ops/s");
    sheet_case(sheet, "f/b", "f", "ops/s");
    sheet->cases[sheet_case(sheet, "s/c", "s", "ops/s")].split = true;
    sheet->cases[sheet_case(sheet, "m/d", "m", "ops/s")].micro = true;
    for (size_t which = 0; which < 4; which++) {
        for (uint32_t i = 0; i < 3; i++) {
            sheet_sample(sheet, 0, which, i, 100.0);
            sheet_sample(sheet, 1, which, i, 110.0 + 20.0 * (double)which);
        }
    }
    return sheet;
}

static void split_and_micro_cases_are_summarised_apart(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_tally *sections = comparison->matchups[0].sections;
    assert_int_equal(sections[LM_SECTION_MAIN].case_count, 2);
    assert_near(sections[LM_SECTION_MAIN].median_difference, 0.2);
    assert_int_equal(sections[LM_SECTION_SPLIT].case_count, 1);
    assert_near(sections[LM_SECTION_SPLIT].median_difference, 0.5);
    assert_int_equal(sections[LM_SECTION_MICRO].case_count, 1);
    assert_near(sections[LM_SECTION_MICRO].median_difference, 0.7);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void failed_cases_are_counted_but_left_out_of_the_median(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    sheet_trouble(sheet, 1, 1, 3, LM_SAMPLE_FAILED, "killed by signal 9");
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_tally *main_cases = &comparison->matchups[0].sections[LM_SECTION_MAIN];
    assert_near(main_cases->median_difference, 0.1);
    char *answer = lm_answer_text(main_cases, "reactor");
    assert_string_equal(answer, "1 faster · 0 within noise · 0 slower · 1 failed of 2 — median "
                                "+10.0 % vs reactor");
    free(answer);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void counts_of_an_answer_add_up_whatever_happened(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    sheet_trouble(sheet, 1, 0, 3, LM_SAMPLE_SKIPPED, "no");
    sheet_sample(sheet, 1, 1, 3, 1.0);
    sheet_sample(sheet, 1, 1, 4, 1000.0);
    struct lm_comparison *comparison = sheet_compare(sheet);
    char *answer = lm_answer_text(&comparison->matchups[0].sections[LM_SECTION_MAIN], "reactor");
    assert_string_equal(answer, "0 faster · 0 within noise · 0 slower · 1 unstable · 1 skipped of "
                                "2 — median unknown vs reactor");
    free(answer);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_backend_that_could_not_run_is_skipped_with_its_reason(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    size_t ring = sheet_backend(sheet, "io_uring");
    sheet->backends[ring].unavailable = (char *)"io_uring_setup: not permitted";
    struct lm_comparison *comparison = sheet_compare(sheet);
    const struct lm_matchup *matchup = &comparison->matchups[1];
    assert_int_equal(matchup->sections[LM_SECTION_MAIN].verdicts[LM_VERDICT_SKIPPED], 2);
    assert_string_equal(matchup->cells[0].reason, "io_uring_setup: not permitted");
    assert_int_equal(comparison->remark_count, 1);
    assert_int_equal(comparison->remarks[0].kind, LM_REMARK_SKIPPED);
    assert_int_equal(comparison->remarks[0].cases, 4);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void every_failed_sample_and_each_warning_once_is_remarked(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    sheet_trouble(sheet, 1, 0, 3, LM_SAMPLE_FAILED, "timed out");
    sheet_trouble(sheet, 1, 0, 4, LM_SAMPLE_FAILED, "timed out");
    sheet_sample(sheet, 1, 1, 3, 130.0)->warning = (char *)"overflow";
    sheet_sample(sheet, 1, 1, 4, 130.0)->warning = (char *)"overflow";
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(lm_remark_count(comparison, LM_REMARK_FAILED), 2);
    assert_int_equal(lm_remark_count(comparison, LM_REMARK_WARNING), 1);
    for (size_t i = 0; i < comparison->remark_count; i++) {
        if (comparison->remarks[i].kind == LM_REMARK_WARNING) {
            assert_int_equal(comparison->remarks[i].samples, 2);
        }
    }
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void the_second_copy_of_the_baseline_is_the_noise_floor(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    size_t copy = sheet_backend(sheet, "reactor");
    sheet->backends[copy].aa = true;
    for (uint32_t i = 0; i < 3; i++) {
        sheet_sample(sheet, copy, 0, i, 99.0);
        sheet_sample(sheet, copy, 1, i, 103.0);
    }
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_noise_floor noise_floor;
    assert_int_equal(comparison->matchup_count, 2);
    assert_true(comparison->matchups[1].aa);
    assert_int_equal(lm_noise_floor(comparison, &comparison->matchups[1], &noise_floor), 0);
    assert_int_equal(noise_floor.case_count, 2);
    assert_near(noise_floor.median, 0.02);
    assert_near(noise_floor.largest, 0.03);
    assert_int_equal(noise_floor.largest_case, 1);
    assert_int_equal(noise_floor.judged, 2);
    assert_int_equal(noise_floor.outside, 2);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void one_iteration_of_the_second_copy_is_beyond_no_band(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    size_t copy = sheet_backend(sheet, "reactor");
    sheet->backends[copy].aa = true;
    sheet_sample(sheet, copy, 0, 0, 99.0);
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_noise_floor noise_floor;
    assert_int_equal(lm_noise_floor(comparison, &comparison->matchups[1], &noise_floor), 0);
    assert_int_equal(noise_floor.case_count, 1);
    assert_int_equal(noise_floor.judged, 0);
    assert_int_equal(noise_floor.outside, 0);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void with_another_baseline_the_second_copy_is_left_out(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    sheet->backends[sheet_backend(sheet, "reactor")].aa = true;
    const struct lm_compare_options options = {.baseline = "epoll"};
    struct lm_comparison *comparison = sheet_compare_as(sheet, &options);
    assert_int_equal(comparison->implementation_count, 2);
    assert_int_equal(comparison->matchup_count, 1);
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void globs_choose_cases_and_a_star_matches_slashes(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    const struct lm_compare_options options = {.cases = "*b,s/*"};
    struct lm_comparison *comparison = sheet_compare_as(sheet, &options);
    assert_int_equal(comparison->case_count, 2);
    assert_string_equal(comparison->cases[0].name, "f/b");
    assert_string_equal(comparison->cases[1].name, "s/c");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void check_refused(const struct sheet *sheet, const struct lm_compare_options *options,
                          const char *part)
{
    struct lm_comparison *comparison = NULL;
    char error[512] = "";
    assert_int_not_equal(
        lm_comparison_from_results(&sheet->results, options, &comparison, error, sizeof error), 0);
    assert_null(comparison);
    assert_contains(error, part);
    assert_null(strchr(error, '\n'));
}

static void what_is_not_in_the_file_is_refused_with_what_is(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of_sections();
    sheet->backends[sheet_backend(sheet, "reactor")].aa = true;
    check_refused(sheet, &(struct lm_compare_options){.baseline = "kqueue"},
                  "'kqueue' is not in sheet.jsonl; name one of: 'reactor', 'epoll'");
    check_refused(sheet, &(struct lm_compare_options){.cases = "f/*,g/*"}, "matches 'g/*'");
    check_refused(sheet, &(struct lm_compare_options){.cases = ""}, "--case is empty");
    sheet->results.run.case_count = 0;
    check_refused(sheet, &(struct lm_compare_options){.cases = NULL}, "holds no case");
    sheet_free(sheet);
}

static void one_backend_alone_is_shown_without_a_candidate(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_case(sheet, "f/a", "f", "ops/s");
    sheet_values(sheet, 0, 0, 5, hundreds);
    struct lm_comparison *comparison = sheet_compare(sheet);
    struct lm_case_row row;
    assert_int_equal(comparison->matchup_count, 0);
    assert_int_equal(lm_case_row_count(comparison), 1);
    lm_case_rows(comparison, 0, &row);
    assert_string_equal(row.cells[LM_COLUMN_MEDIAN], "100.0 ops/s");
    assert_string_equal(row.cells[LM_COLUMN_VERDICT], "baseline");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void a_cut_line_and_a_missing_end_are_noted(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of("ops/s", 5, hundreds);
    sheet->results.torn = true;
    sheet->results.ended = false;
    struct lm_comparison *comparison = sheet_compare(sheet);
    assert_int_equal(comparison->note_count, 2);
    assert_string_equal(comparison->notes[0].subject, "sheet.jsonl");
    assert_contains(comparison->notes[0].text, "cut");
    assert_contains(comparison->notes[1].text, "did not end");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

static void what_spoils_figures_about_the_machine_is_warned_of_once(void **state)
{
    (void)state;
    struct sheet *sheet = sheet_of("ops/s", 5, hundreds);
    json_object_set_new(sheet->results.run.environment, "build",
                        json_pack("{s:s}", "sanitizer", "thread"));
    struct lm_comparison *comparison = NULL;
    char error[512];
    assert_int_equal(lm_comparison_from_two(&sheet->results, &sheet->results,
                                            &(struct lm_compare_options){.force = false},
                                            &comparison, error, sizeof error),
                     0);
    assert_int_equal(comparison->warning_count, 1);
    assert_contains(comparison->warnings[0], "sanitizers (thread)");
    lm_comparison_free(comparison);
    sheet_free(sheet);
}

/* NULL and a line in `error` when refused. */
static struct lm_comparison *compare_two(struct sheet *before, struct sheet *after, bool force,
                                         char error[512])
{
    const struct lm_compare_options options = {.force = force};
    struct lm_comparison *comparison = NULL;
    error[0] = '\0';
    after->results.path = (char *)"after.jsonl";
    lm_comparison_from_two(&before->results, &after->results, &options, &comparison, error, 512);
    return comparison;
}

/* All samples `factor` times as fast. */
static struct sheet *sheet_after(double factor)
{
    struct sheet *sheet = sheet_of("ops/s", 5, hundreds);
    for (size_t i = 0; i < sheet->results.sample_count; i++) {
        sheet->samples[i].metric *= factor;
    }
    return sheet;
}

static void two_files_hold_each_backend_against_itself(void **state)
{
    (void)state;
    char error[512];
    struct sheet *before = sheet_after(1.0), *after = sheet_after(1.5);
    struct lm_comparison *comparison = compare_two(before, after, false, error);
    assert_non_null(comparison);
    assert_int_equal(comparison->setting_count, 0);
    assert_int_equal(comparison->matchup_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(comparison->matchups[i].cells[0].verdict, LM_VERDICT_FASTER);
        assert_near(comparison->matchups[i].cells[0].difference, 0.5);
        /* The iterations of two files did not run side by side. */
        assert_true(isnan(comparison->matchups[i].cells[0].paired.estimate));
    }
    assert_string_equal(comparison->implementations[comparison->matchups[1].baseline].name,
                        "epoll (before)");
    assert_string_equal(comparison->implementations[comparison->matchups[1].candidate].name,
                        "epoll (after)");
    lm_comparison_free(comparison);
    sheet_free(before);
    sheet_free(after);
}

static void files_that_differ_in_settings_get_verdicts_only_by_force(void **state)
{
    (void)state;
    char error[512];
    struct sheet *before = sheet_after(1.0), *after = sheet_after(1.5);
    after->results.run.duration_s = 0.5;
    json_object_set_new(after->results.run.environment, "host", json_string("there"));
    struct lm_comparison *comparison = compare_two(before, after, false, error);
    assert_true(comparison->withheld);
    assert_int_equal(comparison->setting_count, 2);
    assert_contains(comparison->settings[0], "host: here against there");
    assert_contains(comparison->settings[1], "duration_s: ");
    assert_int_equal(comparison->matchups[0].cells[0].verdict, LM_VERDICT_NONE);
    assert_string_equal(comparison->matchups[0].cells[0].reason, LM_REASON_WITHHELD);
    lm_comparison_free(comparison);
    comparison = compare_two(before, after, true, error);
    assert_false(comparison->withheld);
    assert_int_equal(comparison->setting_count, 2);
    assert_int_equal(comparison->matchups[0].cells[0].verdict, LM_VERDICT_FASTER);
    lm_comparison_free(comparison);
    sheet_free(before);
    sheet_free(after);
}

static void another_baseline_alone_withholds_nothing(void **state)
{
    (void)state;
    char error[512];
    struct sheet *before = sheet_after(1.0), *after = sheet_after(1.5);
    after->results.run.baseline_index = 1;
    struct lm_comparison *comparison = compare_two(before, after, false, error);
    assert_false(comparison->withheld);
    lm_comparison_free(comparison);
    sheet_free(before);
    sheet_free(after);
}

static void what_only_one_file_has_is_noted_and_left_out(void **state)
{
    (void)state;
    char error[512];
    struct sheet *before = sheet_after(1.0), *after = sheet_after(1.0);
    sheet_case(before, "f/only_before", "f", "ops/s");
    sheet_case(before, "f/other_unit", "f", "ops/s");
    sheet_case(after, "f/other_unit", "f", "bytes/s");
    sheet_backend(after, "poll");
    struct lm_comparison *comparison = compare_two(before, after, false, error);
    assert_int_equal(comparison->case_count, 1);
    assert_int_equal(comparison->matchup_count, 2);
    assert_int_equal(comparison->note_count, 3);
    assert_contains(comparison->notes[0].text, "has 2 cases that the other file lacks");
    assert_contains(comparison->notes[1].text, "has 1 case that the other file lacks");
    assert_string_equal(comparison->notes[2].subject, "poll");
    lm_comparison_free(comparison);
    sheet_free(before);
    sheet_free(after);
}

static void files_with_nothing_in_common_are_refused(void **state)
{
    (void)state;
    char error[512];
    struct sheet *before = sheet_after(1.0), *after = sheet_after(1.0);
    after->cases[0].name = (char *)"f/z";
    assert_null(compare_two(before, after, false, error));
    assert_contains(error, "no case in common");
    after->cases[0].name = (char *)"f/a";
    after->backends[0].spec = (char *)"a";
    after->backends[1].spec = (char *)"b";
    assert_null(compare_two(before, after, false, error));
    assert_contains(error, "no backend in common");
    sheet_free(before);
    sheet_free(after);
}

static void a_comparison_does_not_need_its_source_any_more(void **state)
{
    (void)state;
    char name[] = "f/a", spec[] = "epoll", reason[] = "timed out";
    struct sheet *sheet = sheet_of("ops/s", 5, hundreds);
    sheet->cases[0].name = name;
    sheet->backends[1].spec = spec;
    sheet_trouble(sheet, 1, 0, 5, LM_SAMPLE_FAILED, reason);
    struct lm_comparison *comparison = sheet_compare(sheet);
    memset(name, 'x', sizeof name - 1);
    memset(spec, 'x', sizeof spec - 1);
    memset(reason, 'x', sizeof reason - 1);
    sheet_free(sheet);
    assert_string_equal(comparison->cases[0].name, "f/a");
    assert_string_equal(comparison->implementations[1].name, "epoll");
    assert_string_equal(comparison->remarks[0].text, "timed out");
    assert_string_equal(first_cell(comparison)->reason, "timed out");
    lm_comparison_free(comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_is_faster_where_higher_is_better_and_slower_where_lower_is),
        cmocka_unit_test(a_difference_inside_the_band_is_within_noise),
        cmocka_unit_test(figures_of_a_cell_are_those_worked_out_by_hand),
        cmocka_unit_test(a_failed_sample_comes_before_every_other_verdict),
        cmocka_unit_test(a_failed_sample_of_the_baseline_fails_the_case),
        cmocka_unit_test(skipped_comes_before_unstable),
        cmocka_unit_test(a_cv_above_the_limit_is_unstable_before_it_is_faster),
        cmocka_unit_test(two_clusters_below_the_cv_limit_are_unstable_and_named),
        cmocka_unit_test(against_an_unstable_baseline_nobody_wins),
        cmocka_unit_test(fewer_than_two_iterations_give_no_verdict_but_a_difference),
        cmocka_unit_test(a_case_without_samples_has_no_verdict),
        cmocka_unit_test(figures_of_zero_give_no_verdict),
        cmocka_unit_test(pairs_are_formed_by_iteration_not_by_place),
        cmocka_unit_test(paired_ratio_is_turned_over_where_lower_is_better),
        cmocka_unit_test(fewer_than_three_pairs_have_no_interval),
        cmocka_unit_test(a_blocked_run_has_no_paired_ratios),
        cmocka_unit_test(costs_are_medians_over_iterations_of_each_samples_own),
        cmocka_unit_test(costs_of_a_sample_without_operations_are_not_known),
        cmocka_unit_test(split_and_micro_cases_are_summarised_apart),
        cmocka_unit_test(failed_cases_are_counted_but_left_out_of_the_median),
        cmocka_unit_test(counts_of_an_answer_add_up_whatever_happened),
        cmocka_unit_test(a_backend_that_could_not_run_is_skipped_with_its_reason),
        cmocka_unit_test(every_failed_sample_and_each_warning_once_is_remarked),
        cmocka_unit_test(the_second_copy_of_the_baseline_is_the_noise_floor),
        cmocka_unit_test(one_iteration_of_the_second_copy_is_beyond_no_band),
        cmocka_unit_test(with_another_baseline_the_second_copy_is_left_out),
        cmocka_unit_test(globs_choose_cases_and_a_star_matches_slashes),
        cmocka_unit_test(what_is_not_in_the_file_is_refused_with_what_is),
        cmocka_unit_test(one_backend_alone_is_shown_without_a_candidate),
        cmocka_unit_test(a_cut_line_and_a_missing_end_are_noted),
        cmocka_unit_test(what_spoils_figures_about_the_machine_is_warned_of_once),
        cmocka_unit_test(two_files_hold_each_backend_against_itself),
        cmocka_unit_test(files_that_differ_in_settings_get_verdicts_only_by_force),
        cmocka_unit_test(another_baseline_alone_withholds_nothing),
        cmocka_unit_test(what_only_one_file_has_is_noted_and_left_out),
        cmocka_unit_test(files_with_nothing_in_common_are_refused),
        cmocka_unit_test(a_comparison_does_not_need_its_source_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
