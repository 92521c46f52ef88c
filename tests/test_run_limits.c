/* `loopmark run` where the system allows little: open files, processes, locked memory, io_uring.
 * What can not run is skipped or refused with the cause and the remedy, and nothing is lost. */
#include "tests/program.h"

#include <sched.h>
#include <sys/resource.h>

#define SHORT "--duration", "0.02", "--warmup", "0.005"
#define CASE  "--case", "socket_latency/pingpong/64"

static struct program program;

static void limit_open_files(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 64, .rlim_max = 64});
}

static void few_open_files_are_enough_for_small_cases(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, limit_open_files, LM_PROGRAM, "run", "--baseline", "poll", "--backend",
                "poll", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 0);
    struct lm_results results;
    read_results("out.jsonl", &results);
    assert_int_equal(count_status(&results, LM_SAMPLE_OK), 1);
    lm_results_free(&results);
}

static void too_few_open_files_are_named_with_the_remedy(void **state)
{
    (void)state;
    struct lm_results results;
    PROGRAM_RUN(&program, limit_open_files, LM_PROGRAM, "run", "--baseline", "poll", "--backend",
                "poll", "--case", "socket_throughput/multithread/2", SHORT, "--iterations", "1",
                "--out", "out.jsonl");
    assert_code(&program, 0); /* refused before it began: nothing failed */
    read_results("out.jsonl", &results);
    assert_int_equal(count_status(&results, LM_SAMPLE_SKIPPED), 1);
    const char *remedy = strstr(results.samples[0].reason, "ulimit -n");
    assert_non_null(remedy);
    assert_null(strstr(remedy + 1, "ulimit")); /* once */
    lm_results_free(&results);
}

static void limit_open_files_to_ten(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 10, .rlim_max = 10});
}

static void too_few_open_files_for_a_worker_are_named_with_the_remedy(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, limit_open_files_to_ten, LM_PROGRAM, "run", "--baseline", "poll",
                "--backend", "poll", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "no worker can be started: Too many open files; raise the limit of open "
                          "files: ulimit -n");
    assert_said(&program, "run again, with an --out other than out.jsonl");
}

/* Root is above file permissions and the limit of locked memory. */
/* Room for the runner and its worker, not for a worker's second thread. */
static void limit_processes_to_two(void)
{
    become_nobody();
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* LeakSanitizer needs a process of its own */
    setrlimit(RLIMIT_NPROC, &(struct rlimit){.rlim_cur = 2, .rlim_max = 2});
}

static void too_few_threads_are_named_with_the_remedy(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, limit_processes_to_two, LM_PROGRAM, "run", "--baseline", "poll",
                "--backend", "poll", "--case", "socket_throughput/multithread/2", SHORT,
                "--iterations", "1", "--out", "out.jsonl");
    skip_when_nobody_can_not_run_it(&program);
    /* Another process of the same user may leave no room for the worker itself. */
    assert_true(program.code == 2 || program.code == 3);
    assert_said(&program, "ulimit -u");
}

static void enter_network_without_loopback(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        _exit(77);
    }
}

static void a_loopback_interface_that_is_down_is_named_with_the_remedy(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, enter_network_without_loopback, LM_PROGRAM, "run", "--baseline", "poll",
                "--backend", "poll", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    if (program.code == 77) {
        SKIP("only root may make a network");
    }
    assert_code(&program, 3);
    assert_said(&program, "ip link set lo up");
    PROGRAM_RUN(&program, enter_network_without_loopback, LM_PROGRAM, "run", "--baseline", "poll",
                "--backend", "poll", "--case", "accept_churn/sequential", SHORT, "--iterations",
                "1", "--out", "churn.jsonl");
    assert_code(&program, 3);
    assert_said(&program, "ip link set lo up");
}

static void raise_soft_limit_only(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 64, .rlim_max = 1024});
}

static void a_worker_lifts_the_limit_of_open_files_as_far_as_it_may(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, raise_soft_limit_only, LM_PROGRAM, "run", "--baseline", "poll",
                "--backend", "poll", "--case", "socket_throughput/multithread/2", SHORT,
                "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 0);
}

static void become_nobody_without_locked_memory(void)
{
    setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
    become_nobody();
}

/* io_uring and poll on one case: whatever the system allows, both are accounted for and poll runs.
 */
static void assert_io_uring_runs_or_says_why_not(struct lm_results *results)
{
    size_t accounted = 0;
    read_results("out.jsonl", results);
    for (size_t i = 0; i < results->sample_count; i++) {
        const struct lm_sample *sample = &results->samples[i];
        const struct lm_run_backend *backend = &results->run.backends[sample->backend_index];
        if (strcmp(backend->spec, "poll") == 0) {
            assert_int_equal(sample->status, LM_SAMPLE_OK);
        } else if (sample->status != LM_SAMPLE_OK) {
            assert_true(strlen(sample->reason) > 0);
            assert_said(&program, sample->reason);
        }
        accounted++;
    }
    assert_int_equal(accounted, 2);
    assert_true(results->ended);
}

static void no_locked_memory_is_no_silent_loss(void **state)
{
    (void)state;
    struct lm_results results;
    PROGRAM_RUN(&program, become_nobody_without_locked_memory, LM_PROGRAM, "run", "--baseline",
                "poll", "--backend", "io_uring,poll", CASE, SHORT, "--iterations", "1", "--out",
                "out.jsonl");
    skip_when_nobody_can_not_run_it(&program);
    assert_io_uring_runs_or_says_why_not(&results);
    lm_results_free(&results);
}

static void io_uring_is_refused(const char *with)
{
    struct lm_results results;
    PROGRAM_RUN(&program, NULL, LM_TOOLS "/refuse_io_uring", with, LM_PROGRAM, "run", "--baseline",
                "poll", "--backend", "io_uring,poll", CASE, SHORT, "--iterations", "1", "--out",
                "out.jsonl");
    if (program.code == 77) {
        SKIP("a seccomp filter can not be set here");
    }
    assert_code(&program, 0);
    assert_io_uring_runs_or_says_why_not(&results);
    assert_non_null(results.run.backends[0].unavailable);
    assert_int_equal(count_status(&results, LM_SAMPLE_SKIPPED), 1);
    assert_said(&program, "can not run here");
    if (strstr(results.run.backends[0].unavailable, "not in this program") == NULL) {
        assert_non_null(strstr(results.run.backends[0].unavailable, "io_uring"));
    }
    lm_results_free(&results);
}

static void io_uring_refused_with_eperm_leaves_the_others(void **state)
{
    (void)state;
    io_uring_is_refused("EPERM");
}

static void io_uring_refused_with_enosys_leaves_the_others(void **state)
{
    (void)state;
    io_uring_is_refused("ENOSYS");
}

static void io_uring_alone_under_a_filter_is_refused_in_one_line(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_TOOLS "/refuse_io_uring", "EPERM", LM_PROGRAM, "run",
                "--baseline", "io_uring", "--backend", "io_uring", CASE, "--out", "out.jsonl");
    if (program.code == 77) {
        SKIP("a seccomp filter can not be set here");
    }
    assert_code(&program, 2);
    assert_said(&program, "io_uring can not run here");
    assert_int_not_equal(access("out.jsonl", F_OK), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(few_open_files_are_enough_for_small_cases),
        IN_FOLDER(too_few_open_files_are_named_with_the_remedy),
        IN_FOLDER(too_few_open_files_for_a_worker_are_named_with_the_remedy),
        IN_FOLDER(too_few_threads_are_named_with_the_remedy),
        IN_FOLDER(a_loopback_interface_that_is_down_is_named_with_the_remedy),
        IN_FOLDER(a_worker_lifts_the_limit_of_open_files_as_far_as_it_may),
        IN_FOLDER(no_locked_memory_is_no_silent_loss),
        IN_FOLDER(io_uring_refused_with_eperm_leaves_the_others),
        IN_FOLDER(io_uring_refused_with_enosys_leaves_the_others),
        IN_FOLDER(io_uring_alone_under_a_filter_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
