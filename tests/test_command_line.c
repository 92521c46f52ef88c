/* The command line beside `run`: sub-commands, `list` and `bench`. */
#include "tests/program.h"

#include <jansson.h>

static struct program program;

static void an_unknown_sub_command_names_the_nearest(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bnech");
    assert_code(&program, 2);
    assert_said(&program, "did you mean bench?");
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "xyzzy");
    assert_code(&program, 2);
    assert_said(&program, "loopmark --help");
}

static void every_sub_command_in_the_help_has_a_help(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "--help");
    assert_code(&program, 0);
    assert_not_said(&program, "worker");
    static const char *const names[] = {"list", "run", "compare", "bench"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, "--help");
        assert_said(&program, names[i]);
        PROGRAM_RUN(&program, NULL, LM_PROGRAM, names[i], "--help");
        assert_code(&program, 0);
        assert_said(&program, names[i]);
    }
}

static void the_version_is_printed(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "--version");
    assert_code(&program, 0);
    assert_said(&program, "loopmark 0.");
}

static void nothing_asked_is_wrong_use(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM);
    assert_code(&program, 2);
    assert_said(&program, "usage: loopmark SUBCOMMAND");
}

static json_t *listed(const char *key)
{
    json_error_t error;
    json_t *object = json_loads(program.output, 0, &error);
    if (object == NULL) {
        fail_msg("%s in: %s", error.text, program.output);
    }
    json_t *list = json_incref(json_object_get(object, key));
    json_decref(object);
    return list;
}

static void list_tells_why_a_backend_is_missing(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "list", "--backends");
    assert_code(&program, 0);
    assert_said(&program, "this machine has no such device; plug one in");
    assert_said(&program, "install libunbuilt-dev");
    assert_not_said(&program, "cases:");
}

static void list_tells_options_with_defaults_and_ranges(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "list", "--backends");
    assert_code(&program, 0);
    assert_said(&program, "two_phase|eager");
    assert_said(&program, "0..1000000");
}

static void list_as_json_holds_the_same(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "list", "--json", "--backends");
    assert_code(&program, 0);
    json_t *backends = listed("backends");
    assert_true(json_array_size(backends) > 2);
    const json_t *works = json_array_get(backends, 0);
    assert_string_equal(json_string_value(json_object_get(works, "spec")), "works");
    assert_true(json_is_true(json_object_get(works, "available")));
    assert_true(json_array_size(json_object_get(works, "options")) > 0);
    json_decref(backends);
}

static void list_shows_the_cases_that_match(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "list", "--json", "--cases", "split/*");
    assert_code(&program, 0);
    json_t *cases = listed("cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *name = json_object_get(json_array_get(cases, i), "name");
        assert_memory_equal(json_string_value(name), "split/", 6);
    }
    json_decref(cases);
}

static void list_refuses_a_glob_that_matches_nothing(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "list", "--cases", "splt/*");
    assert_code(&program, 2);
    assert_said(&program, "did you mean 'split/*'?");
}

#define QUICK "--benchmark_min_time=0.01s", "--benchmark_min_warmup_time=0.001"

static void bench_reports_json_as_google_benchmark_does(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--backend", "poll", QUICK,
                "--benchmark_filter=^socket_latency/pingpong/64/", "--benchmark_out=out.json",
                "--benchmark_repetitions=3");
    assert_code(&program, 0);
    json_error_t error;
    json_t *report = json_load_file("out.json", 0, &error);
    assert_non_null(report);
    json_t *runs = json_object_get(report, "benchmarks");
    /* Three repetitions and at least mean, median and standard deviation. */
    assert_true(json_array_size(runs) >= 6);
    const json_t *first = json_array_get(runs, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")),
                        "socket_latency/pingpong/64/poll/process_time/manual_time");
    double iterations = json_number_value(json_object_get(first, "iterations"));
    double real_ns = json_number_value(json_object_get(first, "real_time"));
    double rate = json_number_value(json_object_get(first, "items_per_second"));
    assert_true(iterations > 1.0);
    /* Time per iteration is time per operation. */
    assert_true(real_ns * rate > 0.99e9 && real_ns * rate < 1.01e9);
    /* The whole measured phase: at least the time asked for, less a lap at its begin. */
    assert_true(real_ns * iterations >= 0.009e9);
    assert_true(json_number_value(json_object_get(first, "p50_ns")) > 0.0);
    assert_true(json_number_value(json_object_get(first, "p99_ns")) > 0.0);
    assert_true(json_number_value(json_object_get(first, "syscalls_per_op")) >= 4.0);
    assert_true(json_number_value(json_object_get(first, "cpu_time")) > 0.0);
    json_decref(report);
}

static void bench_lists_each_case_on_each_backend(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--backend", "poll,poll:order=eager",
                "--benchmark_list_tests",
                "--benchmark_filter=^socket_latency/pingpong/1/|recorder");
    assert_code(&program, 0);
    assert_said(&program, "socket_latency/pingpong/1/poll/");
    assert_said(&program, "socket_latency/pingpong/1/poll:order=eager/");
    assert_said(&program, "recorder/lap");
}

static void an_error_of_a_case_is_an_error_in_bench(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "bench", "--backend", "error,works", QUICK,
                "--benchmark_filter=^socket_latency/pingpong/64/", "--benchmark_format=json");
    assert_code(&program, 3);
    assert_said(&program, strerror(EIO));
    assert_said(&program, "items_per_second");
}

static void bench_refuses_what_neither_it_nor_google_benchmark_knows(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--benchmark_flter=x");
    assert_code(&program, 2);
    assert_said(&program, "--benchmark_flter=x");
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--benchmark_format=xml");
    assert_code(&program, 2);
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--benchmark_min_time=100x");
    assert_code(&program, 2);
    assert_said(&program, "'100x'");
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--backend", "epol");
    assert_code(&program, 2);
}

static void bench_with_a_filter_that_matches_nothing_is_wrong_use(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--benchmark_filter=nothing_like_this");
    assert_code(&program, 2);
}

static void bench_shows_what_measuring_costs(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--benchmark_filter=^recorder/lap", QUICK);
    assert_code(&program, 0);
    assert_said(&program, "recorder/lap");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

static void bench_takes_backends_given_twice(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--backend", "poll", "--backend", "reactor",
                "--benchmark_list_tests", "--benchmark_filter=^socket_latency/pingpong/64/");
    assert_code(&program, 0);
    assert_said(&program, "pingpong/64/poll");
    assert_said(&program, "pingpong/64/reactor");
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "bench", "--backend");
    assert_code(&program, 2);
    assert_said(&program, "--backend needs a value");
}

static void full_standard_output(void)
{
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        _exit(125);
    }
}

static void what_can_not_be_printed_is_an_error(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    const char *const words[] = {"list", "--help", "--version"};
    for (size_t i = 0; i < 3; i++) {
        PROGRAM_RUN(&program, full_standard_output, LM_PROGRAM, words[i]);
        assert_code(&program, 2);
        assert_said(&program, "loopmark: standard output can not be written");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_sub_command_names_the_nearest),
        cmocka_unit_test(every_sub_command_in_the_help_has_a_help),
        cmocka_unit_test(the_version_is_printed),
        cmocka_unit_test(nothing_asked_is_wrong_use),
        cmocka_unit_test(list_tells_why_a_backend_is_missing),
        cmocka_unit_test(list_tells_options_with_defaults_and_ranges),
        cmocka_unit_test(list_as_json_holds_the_same),
        cmocka_unit_test(list_shows_the_cases_that_match),
        cmocka_unit_test(list_refuses_a_glob_that_matches_nothing),
        cmocka_unit_test(what_can_not_be_printed_is_an_error),
        cmocka_unit_test(bench_takes_backends_given_twice),
        IN_FOLDER(bench_reports_json_as_google_benchmark_does),
        IN_FOLDER(bench_lists_each_case_on_each_backend),
        IN_FOLDER(an_error_of_a_case_is_an_error_in_bench),
        IN_FOLDER(bench_refuses_what_neither_it_nor_google_benchmark_knows),
        IN_FOLDER(bench_with_a_filter_that_matches_nothing_is_wrong_use),
        IN_FOLDER(bench_shows_what_measuring_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
