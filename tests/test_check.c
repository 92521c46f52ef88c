/* `loopmark check`: what it says and how it ends; and the proof that each kind of broken backend is
 * caught by the rule that watches over it. */
#include "tests/program.h"

#include <glob.h>
#include <jansson.h>
#include <sched.h>
#include <sys/resource.h>

#define LM_CHECK LM_PROGRAM, "check"

static struct program program;

/* --- broken backends
 * ------------------------------------------------------------------------------ */

/* What is wrong, the rule that has to see it, and the mode when it is not `normal`. */
static const struct {
    const char *defect, *rule, *mode;
} claims[] = {
    {"drops_a_completion", "streams: one byte at a time arrives whole", NULL},
    {"completes_twice", "streams: one byte at a time arrives whole", NULL},
    {"completes_inline", "loops: nothing completes before the loop runs", NULL},
    {"counts_wrong", "streams: short sends lose and invent nothing", NULL},
    {"spoils_a_byte", "streams: one byte at a time arrives whole", NULL},
    {"mixes_up_sockets", "streams: many streams do not mix", NULL},
    {"mistakes_the_end", "streams: end of stream is zero and stays zero", NULL},
    {"causes_sigpipe", "streams: sending to a closed peer is an error and no signal", NULL},
    {"closes_silently", "ends: closing cancels both directions, later", NULL},
    {"keeps_descriptors", "connections: many laps of connect and close keep nothing", NULL},
    {"loses_a_wake_up", "loops: every post wakes a loop that sleeps", NULL},
    {"loses_a_stop", "loops: another thread can stop a loop that sleeps", NULL},
    {"ignores_cancel", "timers: a cancelled timer ends long before it is due", NULL},
    {"reorders_posts", "loops: posts complete in order", NULL},
    {"starves_sockets", "crowds: a post that repeats itself starves nobody", NULL},
    {"fires_early", "timers: a timer is never early", NULL},
    {"swallows_emfile", "connections: an accept without descriptors fails and the next one works",
     NULL},
    {"calls_back_on_destroy", "loops: destroying a loop that never ran forgets its work", NULL},
    {"counts_backwards", "counters: counters only grow and cover the work done", NULL},
    {"returns_early", "streams: a receive gets bytes that arrive later", NULL},
    {"never_returns", "loops: running with nothing to do returns", NULL},
    {"allocates", "faults: operations take no memory that is not given back", NULL},
    {"wakes_the_new_owner", "faults: an accepted connection gets nothing of the number's old owner",
     NULL},
    {"drops_a_completion", "threads: pairs play ping-pong over all threads", "shared2"},
    {"completes_twice", "threads: a storm of posts from all threads completes", "shared2"},
    {"closes_silently", "threads: any thread can close any socket", "shared2"},
    {"ignores_cancel", "threads: any thread can cancel any receive", "shared2"},
    {"ignores_cancel", "threads: any thread can cancel any timer", "shared2"},
    {"returns_early", "threads: timers of all threads fire", "shared2"},
    {"never_returns", "threads: the last completion lets all threads return", "shared2"},
    {"completes_inline", "loops: nothing completes before the loop runs", "lockless"},
};

static void each_broken_backend_is_caught_by_its_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        char spec[80], line[200];
        snprintf(spec, sizeof(spec), "broken:defect=%s", claims[i].defect);
        /* A hang is the expected end of many. */
        PROGRAM_RUN(&program, NULL, LM_BROKEN_PROGRAM, "check", "--backend", spec, "--mode",
                    claims[i].mode ? claims[i].mode : "normal", "--timeout", "2", "--rule",
                    claims[i].rule);
        if (strstr(program.output, "does not tell what is allocated") != NULL) {
            print_message("not shown here: %s: %s\n", claims[i].defect, program.output);
            continue;
        }
        snprintf(line, sizeof(line), "  %s: ", claims[i].rule);
        assert_code(&program, 1);
        assert_said(&program, "\nFAIL  rule ");
        assert_said(&program, line);
    }
}

static void without_a_defect_the_same_backend_passes_everything(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_BROKEN_PROGRAM, "check");
    assert_code(&program, 0);
    assert_said(&program, " 0 failed");
    assert_not_said(&program, "FAIL");
}

/* --- ends of a process
 * ---------------------------------------------------------------------------- */

#define LM_FAULTY_CHECK(backend)                                                                   \
    LM_FAULTY_PROGRAM, "check", "--backend", backend, "--mode", "normal", "--timeout", "1",        \
        "--rule", "loops: a loop runs again*"

static void a_crash_an_exit_and_a_hang_cost_one_rule_each(void **state)
{
    (void)state;
    static const char *const ends[][2] = {
        {"crash",
         "; it said: about to read what is not there"}, /* sanitizers turn it into an exit */
        {"killed", "died of signal 9"},
        {"exits", "ended with exit code 7; it said: giving up"},
        {"hang", "did not end"}, /* the thread sanitizer holds the alarm back */
        {"error", "loop_run returned -5"},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        PROGRAM_RUN(&program, NULL, LM_FAULTY_CHECK(ends[i][0]));
        assert_code(&program, 1);
        assert_said(&program, "FAIL  rule 7  loops: a loop runs again after it was idle: ");
        assert_said(&program, ends[i][1]);
        assert_said(&program, "0 passed, 1 failed");
    }
}

static void a_backend_that_prints_breaks_a_rule(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "check", "--backend", "noisy", "--mode",
                "normal", "--rule", "loops: a loop runs again*");
    assert_code(&program, 1);
    assert_said(&program, "the backend printed: ");
}

static void an_interrupt_ends_the_check(void **state)
{
    (void)state;
    program_start(&program, NULL,
                  (const char *const[]){LM_CHECK, "--backend", "poll", "--mode", "normal", NULL});
    program_expect(&program, "pass");
    kill(program.pid, SIGINT);
    program_wait(&program);
    assert_code(&program, 3);
    assert_said(&program, "it was not finished");
}

static void keep_sockets_here(void)
{
    setenv("TMPDIR", ".", 1);
}

static void a_second_interrupt_drops_the_rule_and_is_no_success(void **state)
{
    (void)state;
    glob_t left;
    program_start(&program, keep_sockets_here,
                  (const char *const[]){LM_FAULTY_PROGRAM, "check", "--backend", "works,hang",
                                        "--mode", "normal", "--timeout", "60", "--rule",
                                        "loops: a loop runs again*", NULL});
    program_expect(&program, "-- hang, normal\n");
    kill(program.pid, SIGINT);
    program_expect(&program, "interrupt again");
    kill(program.pid, SIGINT);
    program_wait(&program);
    assert_code(&program, 3);
    assert_said(&program, "in all: 1 passed, 0 failed, 0 skipped; it was not finished");
    assert_int_equal(glob("loopmark-check-*", 0, NULL, &left), GLOB_NOMATCH);
}

static void after_an_interrupt_no_further_backend_is_begun(void **state)
{
    (void)state;
    program_start(&program, NULL,
                  (const char *const[]){LM_FAULTY_PROGRAM, "check", "--backend", "hang,works",
                                        "--mode", "normal", "--timeout", "2", "--rule",
                                        "loops: a loop runs again*", NULL});
    program_expect(&program, "-- hang, normal\n");
    kill(program.pid, SIGINT);
    program_wait(&program);
    assert_said(&program, "; it was not finished");
    assert_not_said(&program, "-- works");
}

/* --- what it is asked
 * ----------------------------------------------------------------------------- */

static void what_can_not_be_understood_is_refused_with_one_line(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"--backend", "epol", "loopmark: --backend: there is no backend 'epol'"},
        {"--mode", "shared1", "--mode: 'shared1' is none; choose from normal, lockless, shared2"},
        {"--mode", "shared65", "'shared65'"},
        {"--mode", "", "''"},
        {"--rule", "nothing*", "no rule matches 'nothing*'; see: loopmark check --list"},
        {"--timeout", "0", "--timeout"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        PROGRAM_RUN(&program, NULL, LM_CHECK, bad[i][0], bad[i][1]);
        assert_code(&program, 2);
        assert_said(&program, bad[i][2]);
        assert_ptr_equal(strchr(program.output, '\n'), program.output + program.used - 1);
    }
}

static void a_mode_that_a_backend_does_not_have_is_skipped_with_the_reason(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_CHECK, "--backend", "spin", "--rule", "loops: posts*");
    assert_code(&program, 0);
    assert_said(&program, "-- spin, shared2: skipped: spin is the floor");
    assert_said(&program, "in all: 2 passed, 0 failed, 0 skipped");
    PROGRAM_RUN(&program, NULL, LM_CHECK, "--backend", "spin", "--mode", "shared2");
    assert_code(&program, 2);
    assert_said(&program, "nothing could be checked");
}

static void every_rule_has_a_line_whether_it_applies_or_not(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_CHECK, "--list", "--rule", "loops: *");
    assert_code(&program, 0);
    size_t rules = 0, lines = 0;
    for (const char *at = program.output; (at = strchr(at, '\n')) != NULL; at++) {
        rules++;
    }
    PROGRAM_RUN(&program, NULL, LM_CHECK, "--backend", "poll", "--mode", "lockless", "--rule",
                "loops: *");
    for (const char *at = program.output; (at = strstr(at, "  rule ")) != NULL; at++) {
        lines++;
    }
    assert_int_equal(lines, rules);
    assert_said(&program,
                "skip  rule 6  loops: eight threads can post to a loop that sleeps: calls "
                "from other threads are not allowed in lockless mode");
}

static void the_json_document_says_the_same(void **state)
{
    (void)state;
    json_error_t error;
    PROGRAM_RUN(&program, NULL, LM_CHECK, "--json", "--backend", "poll", "--mode", "normal,shared2",
                "--rule", "loops: p*");
    assert_code(&program, 0);
    json_t *document = json_loads(program.output, 0, &error);
    assert_non_null(document);
    assert_int_equal(json_integer_value(json_object_get(document, "loopmark_check")), 1);
    assert_true(json_is_true(json_object_get(document, "complete")));
    assert_int_equal(json_integer_value(json_object_get(document, "passed")), 1);
    assert_int_equal(json_integer_value(json_object_get(document, "skipped")), 1);
    const json_t *run = json_array_get(json_object_get(document, "runs"), 1);
    assert_string_equal(json_string_value(json_object_get(run, "mode")), "shared2");
    const json_t *rule = json_array_get(json_object_get(run, "rules"), 0);
    assert_string_equal(json_string_value(json_object_get(rule, "name")),
                        "loops: posts complete in order");
    assert_string_equal(json_string_value(json_object_get(rule, "verdict")), "skip");
    json_decref(document);
}

static void allow_20_files(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 20, .rlim_max = 20});
}

static void with_few_descriptors_rules_are_skipped_and_none_fails(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, allow_20_files, LM_CHECK, "--backend", "poll", "--mode",
                "normal,shared2");
    assert_code(&program, 0);
    assert_said(&program, "skip  rule 3  streams: many streams do not mix: socket: Too many open "
                          "files; raise `ulimit -Hn` (now 20)");
    assert_said(&program, " 0 failed");
    assert_not_said(&program, "FAIL");
}

static void enter_network_without_loopback(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        _exit(77);
    }
}

static void have_a_listen_queue_of_9(void)
{
    enter_network_without_loopback();
    if (system("ip link set lo up && echo 9 > /proc/sys/net/core/somaxconn") != 0) {
        _exit(77);
    }
}

static void without_loopback_nothing_is_checked(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, enter_network_without_loopback, LM_CHECK, "--backend", "poll");
    if (program.code == 77) {
        SKIP("no network namespace can be made here");
    }
    assert_code(&program, 2);
    assert_said(&program, "ip link set lo up");
    assert_not_said(&program, "FAIL");
}

static void with_a_short_listen_queue_rules_are_skipped(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, have_a_listen_queue_of_9, LM_CHECK, "--backend", "poll", "--mode",
                "normal", "--rule", "[cf]*");
    if (program.code == 77) {
        SKIP("no network namespace can be made here");
    }
    assert_code(&program, 0);
    assert_said(&program, "raise net.core.somaxconn");
    assert_not_said(&program, "FAIL");
}

static void a_full_disk_is_no_success(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        SKIP("there is no /dev/full");
    }
    PROGRAM_RUN(&program, NULL, "/bin/sh", "-c",
                LM_PROGRAM " check --backend poll --mode normal --rule 'loops: *' >/dev/full");
    assert_true(program.code != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_broken_backend_is_caught_by_its_rule),
        cmocka_unit_test(without_a_defect_the_same_backend_passes_everything),
        cmocka_unit_test(a_crash_an_exit_and_a_hang_cost_one_rule_each),
        cmocka_unit_test(a_backend_that_prints_breaks_a_rule),
        cmocka_unit_test(an_interrupt_ends_the_check),
        cmocka_unit_test(a_second_interrupt_drops_the_rule_and_is_no_success),
        cmocka_unit_test(after_an_interrupt_no_further_backend_is_begun),
        cmocka_unit_test(what_can_not_be_understood_is_refused_with_one_line),
        cmocka_unit_test(a_mode_that_a_backend_does_not_have_is_skipped_with_the_reason),
        cmocka_unit_test(every_rule_has_a_line_whether_it_applies_or_not),
        cmocka_unit_test(the_json_document_says_the_same),
        cmocka_unit_test(with_few_descriptors_rules_are_skipped_and_none_fails),
        cmocka_unit_test(without_loopback_nothing_is_checked),
        cmocka_unit_test(with_a_short_listen_queue_rules_are_skipped),
        cmocka_unit_test(a_full_disk_is_no_success),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
