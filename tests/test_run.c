/* `loopmark run` from end to end: samples, order, options, and workers that fail in every way. */
#include "tests/program.h"

/* Short samples: nothing here looks at a time. */
#define SHORT "--duration", "0.02", "--warmup", "0.005"
#define CASE  "--case", "socket_latency/pingpong/64"

static struct program program;

/* Runs loopmark_faulty on one case with baseline `works` into out.jsonl and reads that. */
#define RUN_FAULTY(results, ...)                                                                   \
    (PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", CASE, SHORT,     \
                 "--out", "out.jsonl", __VA_ARGS__),                                               \
     read_results("out.jsonl", results))

/* The first sample of a backend, found by its spec. */
static const struct lm_sample *sample_of(const struct lm_results *results, const char *spec)
{
    for (size_t i = 0; i < results->sample_count; i++) {
        const struct lm_sample *sample = &results->samples[i];
        if (strcmp(results->run.backends[sample->backend_index].spec, spec) == 0) {
            return sample;
        }
    }
    fail_msg("no sample of %s; it said: %s", spec, program.output);
    return NULL;
}

static void assert_failed_with(const struct lm_results *results, const char *spec, const char *text)
{
    const struct lm_sample *sample = sample_of(results, spec);
    assert_int_equal(sample->status, LM_SAMPLE_FAILED);
    if (strstr(sample->reason, text) == NULL) {
        fail_msg("'%s' is not in the reason: %s", text, sample->reason);
    }
}

static void every_place_gets_one_good_sample(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works,noisy", "--iterations", "3");
    assert_code(&program, 0);
    assert_int_equal(results.sample_count, 6);
    assert_int_equal(count_status(&results, LM_SAMPLE_OK), 6);
    assert_true(results.ended);
    bool seen[6] = {false};
    for (size_t i = 0; i < 6; i++) {
        seen[results.samples[i].iteration * 2 + results.samples[i].backend_index] = true;
    }
    for (size_t i = 0; i < 6; i++) {
        assert_true(seen[i]);
    }
    lm_results_free(&results);
}

static void a_sample_holds_figures_of_the_measured_phase(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works", "--iterations", "1");
    const struct lm_sample *sample = sample_of(&results, "works");
    assert_int_equal(sample->status, LM_SAMPLE_OK);
    assert_true(sample->operations > 0);
    assert_true(sample->elapsed_s >= 0.02);
    assert_true(sample->metric > 0.0);
    assert_true(sample->latency.bucket_count > 0);
    assert_true(sample->latency.p50_ns > 0);
    assert_true(sample->cpu_user_s + sample->cpu_system_s > 0.0);
    assert_true(sample->rss_peak_bytes > 0);
    assert_true(sample->counters.syscalls[LM_SYS_SEND] >= sample->operations);
    uint64_t counted = 0;
    for (size_t i = 0; i < sample->latency.bucket_count; i++) {
        counted += sample->latency.buckets[i].count;
    }
    assert_int_equal(counted, sample->operations);
    lm_results_free(&results);
}

static void a_worker_that_crashes_costs_one_sample(void **state)
{
    (void)state;
    struct lm_results results;
    /* Sanitizers would turn the signal into an exit code. */
    setenv("ASAN_OPTIONS", "handle_segv=0", 1);
    setenv("TSAN_OPTIONS", "handle_segv=0", 1);
    RUN_FAULTY(&results, "--backend", "crash,works", "--iterations", "1");
    unsetenv("ASAN_OPTIONS");
    unsetenv("TSAN_OPTIONS");
    assert_code(&program, 3);
    assert_failed_with(&results, "crash", "SIGSEGV");
    assert_failed_with(&results, "crash", "about to read what is not there");
    assert_failed_with(&results, "crash", "loopmark bench --backend crash");
    assert_int_equal(sample_of(&results, "works")->status, LM_SAMPLE_OK);
    assert_true(results.ended);
    assert_said(&program, "failed: socket_latency/pingpong/64 on crash");
    lm_results_free(&results);
}

static void a_worker_that_is_killed_costs_one_sample(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "killed,works", "--iterations", "1");
    assert_code(&program, 3);
    assert_failed_with(&results, "killed", "SIGKILL");
    assert_failed_with(&results, "killed", "dmesg");
    assert_int_equal(sample_of(&results, "works")->status, LM_SAMPLE_OK);
    lm_results_free(&results);
}

static void an_endless_loop_ends_at_the_time_limit(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "hang,works", "--iterations", "1", "--timeout", "2");
    assert_code(&program, 3);
    assert_failed_with(&results, "hang", "time limit of 2 s");
    assert_failed_with(&results, "hang", "--timeout");
    assert_int_equal(sample_of(&results, "works")->status, LM_SAMPLE_OK);
    lm_results_free(&results);
}

static void an_exit_code_and_last_words_are_the_reason(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "exits", "--iterations", "1");
    assert_code(&program, 3);
    assert_failed_with(&results, "exits", "exit code 7");
    assert_failed_with(&results, "exits", "giving up");
    lm_results_free(&results);
}

static void an_error_of_the_backend_is_the_reason(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "error", "--iterations", "1");
    assert_code(&program, 3);
    assert_failed_with(&results, "error", strerror(EIO));
    lm_results_free(&results);
}

static void an_answer_that_is_no_sample_is_a_failure(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "garbage,silent", "--iterations", "1");
    assert_code(&program, 3);
    assert_failed_with(&results, "garbage", "no sample");
    assert_failed_with(&results, "silent", "without a sample");
    lm_results_free(&results);
}

static void wrong_bytes_are_a_failure_and_never_a_number(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "wrong", "--iterations", "1");
    assert_code(&program, 3);
    assert_failed_with(&results, "wrong", "wrong content");
    lm_results_free(&results);
}

static void much_output_neither_blocks_nor_fails_a_worker(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "noisy", "--iterations", "1");
    assert_code(&program, 0);
    assert_int_equal(sample_of(&results, "noisy")->status, LM_SAMPLE_OK);
    lm_results_free(&results);
}

static void an_overflow_of_the_ring_is_a_warning_in_the_sample(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "overflow,works", "--iterations", "1");
    assert_code(&program, 0);
    assert_int_equal(sample_of(&results, "overflow")->status, LM_SAMPLE_OK);
    assert_non_null(strstr(sample_of(&results, "overflow")->warning, "overflow"));
    assert_null(sample_of(&results, "works")->warning);
    lm_results_free(&results);
}

static void a_backend_that_can_not_run_here_is_recorded_and_the_others_go_on(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "absent,unbuilt,works", "--iterations", "2");
    assert_code(&program, 0);
    assert_int_equal(count_status(&results, LM_SAMPLE_OK), 2);
    assert_int_equal(count_status(&results, LM_SAMPLE_SKIPPED), 2);
    assert_non_null(strstr(results.run.backends[0].unavailable, "plug one in"));
    assert_non_null(strstr(results.run.backends[1].unavailable, "libunbuilt-dev"));
    assert_null(results.run.backends[2].unavailable);
    assert_string_equal(sample_of(&results, "absent")->reason, results.run.backends[0].unavailable);
    assert_said(&program, "can not run here: this machine has no such device; plug one in");
    lm_results_free(&results);
}

static void a_run_of_backends_that_can_not_run_is_refused(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend",
                "absent", CASE, "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "plug one in");
    assert_int_not_equal(access("out.jsonl", F_OK), 0);
}

static void a_baseline_that_can_not_run_is_refused(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "absent", "--backend",
                "works", CASE, "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "the baseline absent can not run here");
    assert_said(&program, "--baseline");
}

static void the_baseline_is_added_and_said(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "noisy", "--iterations", "1");
    assert_int_equal(results.run.backend_count, 2);
    assert_string_equal(results.run.backends[results.run.baseline_index].spec, "works");
    assert_said(&program, "works (baseline, added)");
    lm_results_free(&results);
}

static void calibrate_runs_the_baseline_twice(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works", "--iterations", "1", "--calibrate");
    assert_code(&program, 0);
    assert_int_equal(results.run.backend_count, 2);
    assert_true(results.run.backends[1].aa);
    assert_false(results.run.backends[0].aa);
    assert_int_equal(results.sample_count, 2);
    lm_results_free(&results);
}

static void a_spec_named_twice_runs_once(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works,works:order=two_phase", "--iterations", "1");
    assert_int_equal(results.run.backend_count, 1);
    lm_results_free(&results);
}

static void the_seed_and_the_settings_are_recorded(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works", "--iterations", "1", "--seed",
               "18446744073709551615", "--label", "a label", "--timeout", "30", "--order",
               "blocked");
    assert_true(results.run.seed == UINT64_MAX);
    assert_string_equal(results.run.label, "a label");
    assert_true(results.run.timeout_s == 30.0);
    assert_true(results.run.duration_s == 0.02);
    assert_false(results.run.interleaved);
    assert_said(&program, "unfair when the machine drifts");
    lm_results_free(&results);
}

static void quick_takes_the_representative_cases(void **state)
{
    (void)state;
    struct lm_results results;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--quick", "--baseline", "works",
                "--backend", "works", "--iterations", "1", SHORT, "--out", "out.jsonl");
    assert_code(&program, 0);
    read_results("out.jsonl", &results);
    assert_true(results.run.case_count > 4);
    assert_true(results.run.case_count < 40);
    lm_results_free(&results);
}

static void results_without_a_name_go_to_the_results_folder(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend",
                "works", CASE, SHORT, "--iterations", "1");
    assert_code(&program, 0);
    assert_said(&program, "results: results/loopmark-");
    assert_int_equal(access("results", F_OK), 0);
}

static void variables_for_google_benchmark_do_not_reach_a_sample(void **state)
{
    (void)state;
    struct lm_results results;
    setenv("BENCHMARK_REPETITIONS", "3", 1);
    setenv("BENCHMARK_LIST_TESTS", "true", 1);
    setenv("BENCHMARK_FILTER", "nothing", 1);
    RUN_FAULTY(&results, "--backend", "works", "--iterations", "1");
    unsetenv("BENCHMARK_REPETITIONS");
    unsetenv("BENCHMARK_LIST_TESTS");
    unsetenv("BENCHMARK_FILTER");
    assert_code(&program, 0);
    lm_results_free(&results);
}

/* Refused command lines: exit code 2, one line that holds the text, no file. */
static void assert_refused(const char *option, const char *value, const char *text)
{
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--out", "out.jsonl", option, value);
    assert_code(&program, 2);
    assert_said(&program, text);
    char *line = strchr(program.output, '\n');
    assert_non_null(line);
    assert_int_equal(line[1], '\0');
    assert_int_not_equal(access("out.jsonl", F_OK), 0);
}

static void unknown_names_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("--backend", "poll,epol", "epoll");
    assert_refused("--backend", "poll:ordr=eager", "'order'");
    assert_refused("--backend", "poll:order=eagre", "'eager'");
    assert_refused("--baseline", "reactr", "reactor");
    assert_refused("--case", "socket_latency/pingpong/65", "socket_latency/pingpong/64");
    assert_refused("--case", "socket_latncy/*", "socket_latency/*");
    assert_refused("--itrations", "3", "--iterations");
    assert_refused("--no-such-thing", "3", "loopmark run --help");
}

static void values_out_of_range_are_refused_with_the_range(void **state)
{
    (void)state;
    assert_refused("--iterations", "0", "from 1 to 10000");
    assert_refused("--iterations", "3x", "'3x'");
    assert_refused("--duration", "0", "from 0.001 to 3600");
    assert_refused("--duration", "nan", "'nan'");
    assert_refused("--warmup", "-1", "'-1'");
    assert_refused("--seed", "18446744073709551616", "--seed");
    assert_refused("--order", "random", "interleaved or blocked");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

static void backends_and_cases_given_twice_add_up(void **state)
{
    (void)state;
    struct lm_results results;
    RUN_FAULTY(&results, "--backend", "works", "--backend", "noisy", "--iterations", "1", "--case",
               "socket_latency/pingpong/1");
    assert_code(&program, 0);
    assert_int_equal(results.run.backend_count, 2);
    assert_int_equal(results.run.case_count, 2);
    lm_results_free(&results);
}

static void a_time_limit_below_the_duration_is_refused(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--duration", "1", "--timeout", "0.5");
    assert_code(&program, 2);
    assert_said(&program, "--timeout 0.5 is over before");
}

static void seconds_are_decimal(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0x10", " 1", "nan", "inf", "", "1 s", "1e400"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--duration", wrong[i]);
        assert_code(&program, 2);
        assert_said(&program, "--duration takes seconds from 0.001 to 3600");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_place_gets_one_good_sample),
        IN_FOLDER(a_sample_holds_figures_of_the_measured_phase),
        IN_FOLDER(a_worker_that_crashes_costs_one_sample),
        IN_FOLDER(a_worker_that_is_killed_costs_one_sample),
        IN_FOLDER(an_endless_loop_ends_at_the_time_limit),
        IN_FOLDER(an_exit_code_and_last_words_are_the_reason),
        IN_FOLDER(an_error_of_the_backend_is_the_reason),
        IN_FOLDER(an_answer_that_is_no_sample_is_a_failure),
        IN_FOLDER(wrong_bytes_are_a_failure_and_never_a_number),
        IN_FOLDER(much_output_neither_blocks_nor_fails_a_worker),
        IN_FOLDER(an_overflow_of_the_ring_is_a_warning_in_the_sample),
        IN_FOLDER(a_backend_that_can_not_run_here_is_recorded_and_the_others_go_on),
        IN_FOLDER(a_run_of_backends_that_can_not_run_is_refused),
        IN_FOLDER(a_baseline_that_can_not_run_is_refused),
        IN_FOLDER(the_baseline_is_added_and_said),
        IN_FOLDER(calibrate_runs_the_baseline_twice),
        IN_FOLDER(a_spec_named_twice_runs_once),
        IN_FOLDER(the_seed_and_the_settings_are_recorded),
        IN_FOLDER(quick_takes_the_representative_cases),
        IN_FOLDER(results_without_a_name_go_to_the_results_folder),
        IN_FOLDER(variables_for_google_benchmark_do_not_reach_a_sample),
        IN_FOLDER(unknown_names_are_refused_with_the_nearest),
        IN_FOLDER(values_out_of_range_are_refused_with_the_range),
        IN_FOLDER(backends_and_cases_given_twice_add_up),
        IN_FOLDER(a_time_limit_below_the_duration_is_refused),
        IN_FOLDER(seconds_are_decimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
