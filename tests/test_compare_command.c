/* `loopmark compare` as it is used: options, gates, exit codes, files that do not fit. */
#include "tests/compare_testing.h"

#include "report/report.h"

/* A directory with files for the tests:
 * calm.jsonl    epoll 20 % faster in f/a and 10 % slower in g/b
 * later.jsonl   the same cases, everything 30 % slower than in calm.jsonl
 * other.jsonl   as later.jsonl, from another host
 * failed.jsonl  a failed sample of epoll in f/a
 * single.jsonl  one iteration */
static char directory[64];

static void put(const char *name, const struct sheet *sheet)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    sheet_write(sheet, path);
}

static struct sheet *sheet_of(double factor, uint32_t iterations)
{
    struct sheet *sheet = sheet_new();
    sheet_backend(sheet, "reactor");
    sheet_backend(sheet, "epoll");
    sheet_case(sheet, "f/a", "f", "ops/s");
    sheet_case(sheet, "g/b", "g", "ops/s");
    for (uint32_t i = 0; i < iterations; i++) {
        double drift = factor * (1.0 + 0.001 * (double)i);
        sheet_sample(sheet, 0, 0, i, 100.0 * drift);
        sheet_sample(sheet, 1, 0, i, 120.0 * drift);
        sheet_sample(sheet, 0, 1, i, 100.0 * drift);
        sheet_sample(sheet, 1, 1, i, 90.0 * drift);
    }
    return sheet;
}

static int set_up(void **state)
{
    (void)state;
    make_directory(directory);
    struct sheet *sheet = sheet_of(1.0, 5);
    put("calm.jsonl", sheet);
    sheet_trouble(sheet, 1, 0, 4, LM_SAMPLE_FAILED, "killed by signal 11");
    sheet->samples[17] = sheet->samples[--sheet->results.sample_count];
    put("failed.jsonl", sheet);
    sheet_free(sheet);
    sheet = sheet_of(0.7, 5);
    put("later.jsonl", sheet);
    json_object_set_new(sheet->results.run.environment, "host", json_string("there"));
    put("other.jsonl", sheet);
    sheet_free(sheet);
    sheet = sheet_of(1.0, 1);
    put("single.jsonl", sheet);
    sheet_free(sheet);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_directory(directory);
    return 0;
}

static void check(const char *arguments, int code, const char *out, const char *err)
{
    const struct said *said = compare(directory, arguments);
    if (said->code != code) {
        fail_msg("%s: exit code %d, not %d: %s", arguments, said->code, code, said->err);
    }
    assert_contains(said->out, out);
    assert_contains(said->err, err);
    if (*err == '\0') {
        assert_string_equal(said->err, "");
    }
}

static void one_file_is_compared_with_its_own_baseline(void **state)
{
    (void)state;
    check("calm.jsonl", 0,
          "epoll  1 faster · 0 within noise · 1 slower of 2 — median +5.0 % vs reactor", "");
}

static void another_baseline_turns_it_around(void **state)
{
    (void)state;
    check("--baseline epoll calm.jsonl", 0, "reactor  1 faster · 0 within noise · 1 slower of 2",
          "");
    check("--baseline kqueue calm.jsonl", 2, "",
          "loopmark compare: --baseline: 'kqueue' is not in calm.jsonl; name one of: 'reactor', "
          "'epoll'\n");
}

static void cases_are_chosen_by_globs_given_once_or_twice(void **state)
{
    (void)state;
    check("--case 'f/*' calm.jsonl", 0, "1 faster · 0 within noise · 0 slower of 1", "");
    check("--case 'f/*' --case '*/b' calm.jsonl", 0, "1 slower of 2", "");
    check("--case 'f/*,h/*' calm.jsonl", 2, "", "no case of calm.jsonl matches 'h/*'");
}

static void each_format_is_what_it_says(void **state)
{
    (void)state;
    check("--format table calm.jsonl", 0, "calm.jsonl, baseline reactor, 5 iterations of 2 s", "");
    check("--format markdown calm.jsonl", 0, "### loopmark comparison", "");
    check("--format csv calm.jsonl", 0, "section,family,case,unit,implementation,", "");
    check("--format json calm.jsonl", 0, "\"schema\": \"loopmark.compare\"", "");
    check("--format marxdown calm.jsonl", 2, "",
          "--format is table, markdown, csv or json, not 'marxdown'; did you mean markdown?");
}

static void a_slower_case_fails_its_gate_with_a_reason(void **state)
{
    (void)state;
    check("--fail-on slower calm.jsonl", 1, "1 slower of 2",
          "gate slower:0: g/b, epoll: -10.0 %, 90.18 ops/s against 100.2 ops/s of reactor\n");
    check("--fail-on slower:9.9 calm.jsonl", 1, "", "gate slower:9.9: g/b");
    check("--fail-on slower:10.1% calm.jsonl", 0, "", "");
    check("--fail-on slower --case 'f/*' calm.jsonl", 0, "", "");
}

static void the_strictest_of_several_gates_counts(void **state)
{
    (void)state;
    check("--fail-on slower:50,slower:5 calm.jsonl", 1, "", "gate slower:5: g/b");
    check("--fail-on slower:5 --fail-on slower:50 calm.jsonl", 1, "", "gate slower:5: g/b");
    check("--fail-on slower:50,failed calm.jsonl", 0, "", "");
}

static void a_failed_sample_fails_its_gate_and_is_3_without_one(void **state)
{
    (void)state;
    check("--fail-on failed failed.jsonl", 1, "",
          "gate failed: f/a, epoll: 1 failed sample: killed by signal 11\n");
    check("failed.jsonl", 3, "killed by signal 11", "");
    check("--case 'g/*' failed.jsonl", 0, "", "");
    check("--fail-on slower:50 failed.jsonl", 0, "1 failed", "");
}

static void both_gates_report_every_reason(void **state)
{
    (void)state;
    check("--fail-on failed,slower failed.jsonl", 1, "", "gate failed: f/a");
    check("--fail-on failed,slower failed.jsonl", 1, "", "gate slower:0: g/b");
}

static void a_gate_that_can_not_be_judged_does_not_pass(void **state)
{
    (void)state;
    check("--fail-on slower single.jsonl", 2, "no verdict", "gate slower can not be judged");
    check("--fail-on slower calm.jsonl other.jsonl", 2, "", "--force gives verdicts");
}

static void a_malformed_gate_is_refused(void **state)
{
    (void)state;
    static const char *const gates[] = {"slow",         "slower:",  "slower:x", "slower:-1",
                                        "slower:1e9",   "slower:%", "faster",   "failed:1",
                                        "slower:1.2.3", "failed,,", "''",       "slower:99999"};
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--fail-on %s calm.jsonl", gates[i]);
        check(arguments, 2, "", "loopmark compare: --fail-on takes slower, slower:PERCENT");
    }
}

static void two_files_are_compared_case_by_case(void **state)
{
    (void)state;
    check("calm.jsonl later.jsonl", 0,
          "epoll (after)    0 faster · 0 within noise · 2 slower of 2 — median -30.0 % vs epoll "
          "(before)",
          "");
    check("--fail-on slower:25 calm.jsonl later.jsonl", 1, "",
          "gate slower:25: f/a, epoll (after)");
    check("--baseline epoll calm.jsonl later.jsonl", 2, "", "--baseline is for one file");
}

static void two_hosts_are_compared_only_by_force(void **state)
{
    (void)state;
    check("calm.jsonl other.jsonl", 0, "host: here against there", "");
    check("calm.jsonl other.jsonl", 0, "2 no verdict of 2", "");
    check("--force calm.jsonl other.jsonl", 0, "2 slower of 2", "");
}

static void wrong_use_is_one_line_that_says_what_to_do(void **state)
{
    (void)state;
    check("", 2, "", "loopmark compare: name a results file; see: loopmark compare --help\n");
    check("a b c", 2, "", "takes one results file, or two");
    check("--fial-on slower calm.jsonl", 2, "", "did you mean --fail-on?");
    check("--format", 2, "", "--format needs a value");
    check("nothing.jsonl", 2, "", "nothing.jsonl: No such file or directory");
    check("'" LM_TEST_DATA "/corosio-macos-2026-10-02.csv' calm.jsonl", 2, "",
          "a published table can not be compared with another file");
}

static void help_comes_with_examples_and_exit_codes(void **state)
{
    (void)state;
    check("--help", 0, "loopmark compare --fail-on slower:5,failed before.jsonl after.jsonl", "");
    check("--help", 0, "Exit codes:", "");
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    check("calm.jsonl >/dev/full", 2, "",
          "could not be written to standard output: No space left on device");
    check("--format json --fail-on failed calm.jsonl >/dev/full", 2, "", "No space left");
    check("calm.jsonl >&-", 2, "", "could not be written to standard output: Bad file descriptor");
}

static void results_come_through_a_pipe_too(void **state)
{
    (void)state;
    check("--help | true; cat calm.jsonl | '" LM_PROGRAM "' compare /dev/stdin", 0,
          "epoll  1 faster", "");
}

static void a_closed_pipe_is_an_error_and_no_signal(void **state)
{
    (void)state;
    int ends[2];
    char *argv[] = {(char *)"compare", (char *)"calm.jsonl", NULL};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(ends[1], STDOUT_FILENO) < 0 || chdir(directory) != 0 ||
            freopen("said.err", "w", stderr) == NULL) {
            _exit(99);
        }
        _exit(lm_compare_command(2, argv));
    }
    close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void a_files_control_characters_do_not_reach_the_terminal_in_messages(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/hostile.csv", directory);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("family,case,implementation,median,unit,cv_percent,printed_median,printed_difference\n"
          "f,a,x,1,\033[2J,1,x,\n",
          out);
    fclose(out);
    check("hostile.csv", 2, "", "column unit is '\\x1b[2J', not ops/s");
    assert_lacks(compare(directory, "hostile.csv")->err, "\033");
}

static void the_same_file_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const formats[] = {"table", "markdown", "csv", "json"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--format %s failed.jsonl", formats[i]);
        char *first = strdup(compare(directory, arguments)->out);
        assert_true(strlen(first) > 100);
        assert_string_equal(compare(directory, arguments)->out, first);
        free(first);
    }
}

static void a_run_prints_its_comparison_or_says_why_not(void **state)
{
    (void)state;
    char text[1 << 14] = "";
    struct sheet *sheet = sheet_of(1.0, 3);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(lm_compare_print_results(&sheet->results, out), 0);
    rewind(out);
    size_t got = fread(text, 1, sizeof text - 1, out);
    text[got] = '\0';
    assert_contains(text, "epoll  1 faster · 0 within noise · 1 slower of 2");
    assert_lacks(text, "\033");
    fclose(out);
    out = fopen("/dev/full", "w");
    if (out != NULL) {
        assert_int_equal(lm_compare_print_results(&sheet->results, out), -ENOSPC);
        fclose(out);
    }
    sheet_free(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_is_compared_with_its_own_baseline),
        cmocka_unit_test(another_baseline_turns_it_around),
        cmocka_unit_test(cases_are_chosen_by_globs_given_once_or_twice),
        cmocka_unit_test(each_format_is_what_it_says),
        cmocka_unit_test(a_slower_case_fails_its_gate_with_a_reason),
        cmocka_unit_test(the_strictest_of_several_gates_counts),
        cmocka_unit_test(a_failed_sample_fails_its_gate_and_is_3_without_one),
        cmocka_unit_test(both_gates_report_every_reason),
        cmocka_unit_test(a_gate_that_can_not_be_judged_does_not_pass),
        cmocka_unit_test(a_malformed_gate_is_refused),
        cmocka_unit_test(two_files_are_compared_case_by_case),
        cmocka_unit_test(two_hosts_are_compared_only_by_force),
        cmocka_unit_test(wrong_use_is_one_line_that_says_what_to_do),
        cmocka_unit_test(help_comes_with_examples_and_exit_codes),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(results_come_through_a_pipe_too),
        cmocka_unit_test(a_closed_pipe_is_an_error_and_no_signal),
        cmocka_unit_test(a_files_control_characters_do_not_reach_the_terminal_in_messages),
        cmocka_unit_test(the_same_file_gives_the_same_bytes),
        cmocka_unit_test(a_run_prints_its_comparison_or_says_why_not),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
