/* `loopmark run` when the world around it fails: interruption, kill, full disk, files
 * that can not be written. Whatever was measured is kept, and the next step is said. */
#include "tests/program.h"

#include <sys/mount.h>
#include <sys/resource.h>

#define SHORT "--duration", "0.02", "--warmup", "0.005"
#define CASE  "--case", "socket_latency/pingpong/64"

/* A run of many short samples on a backend that works. */
#define LONG_RUN                                                                                   \
    LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend", "works", CASE, SHORT,            \
        "--iterations", "25", "--out", "out.jsonl"

/* A run whose first sample hangs. */
#define HANGING_RUN(timeout)                                                                       \
    LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend", "hang", CASE, SHORT,             \
        "--iterations", "1", "--out", "out.jsonl", "--timeout", timeout

#define ARGV(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static struct program program;

/* The file can be read, holds whole samples only, and how many. */
static size_t samples_kept(bool ended)
{
    struct lm_results results;
    read_results("out.jsonl", &results);
    size_t count = results.sample_count;
    assert_int_equal(results.ended, ended);
    assert_false(results.torn);
    lm_results_free(&results);
    return count;
}

/* Goes on with out.jsonl and finds every sample in it once: the reader refuses doubles. */
static void resume_completes(size_t samples)
{
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    assert_code(&program, 0);
    assert_int_equal(samples_kept(true), samples);
}

static void an_interrupt_ends_after_the_present_sample_and_resume_goes_on(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[1/25");
    kill(program.pid, SIGINT);
    program_wait(&program);
    assert_code(&program, 3);
    assert_said(&program, "ending after what is under way");
    assert_said(&program, "go on with: loopmark run --resume out.jsonl");
    char told[64];
    size_t kept = samples_kept(false);
    assert_true(kept >= 1 && kept < 25);
    snprintf(told, sizeof(told), "interrupted: %zu of 25 samples are in out.jsonl", kept);
    assert_said(&program, told);
    resume_completes(25);
}

static void a_lost_terminal_ends_after_the_present_sample_and_resume_goes_on(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[1/25");
    kill(program.pid, SIGHUP);
    program_wait(&program);
    assert_code(&program, 3);
    assert_said(&program, "go on with: loopmark run --resume out.jsonl");
    resume_completes(25);
}

static void ignore_hangup(void)
{
    signal(SIGHUP, SIG_IGN);
}

static void nohup_lets_a_run_outlive_its_terminal(void **state)
{
    (void)state;
    program_start(&program, ignore_hangup, ARGV(LONG_RUN));
    program_expect(&program, "[1/25");
    kill(program.pid, SIGHUP);
    program_wait(&program);
    assert_code(&program, 0);
    assert_int_equal(samples_kept(true), 25);
}

/* The first child of a process. */
static pid_t child_of(pid_t parent)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    for (int tries = 0; tries < 1000 && child == 0; tries++) {
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            SKIP("the system does not tell a process's children");
        }
        if (fscanf(file, "%d", &child) != 1) {
            child = 0;
        }
        fclose(file);
        sleep_ms(5);
    }
    assert_true(child > 0);
    return child;
}

/* Waits until a process has ended; one that nobody has collected yet counts too. */
static void assert_ends(pid_t pid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int tries = 0; tries < 2000; tries++) {
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            return;
        }
        size_t got = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
        text[got] = '\0';
        if (strstr(text, ") Z") != NULL) {
            return;
        }
        sleep_ms(5);
    }
    kill(pid, SIGKILL);
    fail_msg("process %d lives on", (int)pid);
}

static void a_second_interrupt_ends_at_once_without_the_sample(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(HANGING_RUN("60")));
    program_expect(&program, "on hang");
    pid_t worker = child_of(program.pid);
    kill(program.pid, SIGINT);
    program_expect(&program, "interrupt again");
    kill(program.pid, SIGINT);
    program_wait(&program);
    assert_code(&program, 3);
    assert_ends(worker);
    assert_int_equal(samples_kept(false), 0);
}

static void a_killed_runner_takes_its_worker_along_and_resume_goes_on(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(HANGING_RUN("3")));
    program_expect(&program, "on hang");
    pid_t worker = child_of(program.pid);
    kill(program.pid, SIGKILL);
    program_wait(&program);
    assert_code(&program, 128 + SIGKILL);
    assert_ends(worker);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    assert_code(&program, 3);
    assert_said(&program, "time limit of 3 s");
    assert_int_equal(samples_kept(true), 2);
}

static void a_line_cut_short_by_a_kill_is_taken_again(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[3/25");
    kill(program.pid, SIGKILL);
    program_wait(&program);
    FILE *file = fopen("out.jsonl", "a");
    assert_non_null(file);
    fputs("{\"record\":\"sample\",\"ru", file);
    fclose(file);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    assert_code(&program, 0);
    assert_said(&program, "the last line was cut short");
    assert_int_equal(samples_kept(true), 25);
}

static void limit_file_size(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 24576, .rlim_max = RLIM_INFINITY});
}

static void a_file_size_limit_stops_the_run_and_resume_goes_on(void **state)
{
    (void)state;
    program_start(&program, limit_file_size, ARGV(LONG_RUN));
    program_wait(&program);
    assert_code(&program, 2);
    assert_said(&program, "the file size limit is reached");
    assert_said(&program, "loopmark run --resume out.jsonl");
    assert_true(samples_kept(false) > 0);
    resume_completes(25);
}

static void a_full_disk_stops_the_run_and_resume_goes_on(void **state)
{
    (void)state;
    assert_int_equal(mkdir("disk", 0777), 0);
    if (mount("tmpfs", "disk", "tmpfs", 0, "size=24k") != 0) {
        SKIP("only root may mount a small file system");
    }
    assert_int_equal(symlink("disk/out.jsonl", "out.jsonl"), 0);
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_wait(&program);
    int code = program.code;
    size_t kept = samples_kept(false);
    mount("tmpfs", "disk", "tmpfs", MS_REMOUNT, "size=4m");
    if (code == 2) {
        assert_said(&program, "the disk is full");
        resume_completes(25);
    }
    assert_int_equal(code, 2);
    assert_true(kept > 0);
}

/* Whether the test passed or not: a mounted folder could not be removed. */
static int leave_folder_with_disk(void **state)
{
    umount2("disk", MNT_DETACH);
    return leave_folder(state);
}

static void a_results_file_that_may_not_be_written_is_named(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, become_nobody, LM_PROGRAM, "run", "--baseline", "poll", "--backend",
                "poll", CASE, "--out", "/loopmark-test-of-permissions.jsonl");
    skip_when_nobody_can_not_run_it(&program);
    assert_code(&program, 2);
    assert_said(&program, "/loopmark-test-of-permissions.jsonl");
    assert_said(&program, "--out");
}

static void a_folder_that_may_not_be_written_is_named(void **state)
{
    (void)state;
    assert_int_equal(chmod(".", 0755), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod(".", 0555), 0);
    }
    PROGRAM_RUN(&program, become_nobody, LM_PROGRAM, "run", "--baseline", "poll", "--backend",
                "poll", CASE);
    skip_when_nobody_can_not_run_it(&program);
    assert_int_equal(chmod(".", 0755), 0);
    assert_code(&program, 2);
    assert_said(&program, "the folder results can not be made here");
}

static void a_second_runner_on_one_file_is_refused(void **state)
{
    (void)state;
    static struct program first;
    program_start(&first, NULL, ARGV(HANGING_RUN("60")));
    program_expect(&first, "on hang");
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    kill(first.pid, SIGINT);
    kill(first.pid, SIGTERM);
    program_wait(&first);
    assert_code(&program, 2);
    assert_said(&program, "another loopmark is writing it");
    assert_code(&first, 3);
}

static void a_file_with_results_is_never_overwritten(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend",
                "works", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 0);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend",
                "works", CASE, SHORT, "--iterations", "2", "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_int_equal(samples_kept(true), 1);
}

static void assert_resume_refused(const char *option, const char *value, const char *text)
{
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl", option, value);
    assert_code(&program, 2);
    assert_said(&program, text);
}

static void options_that_contradict_a_resumed_run_are_refused(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[2/25");
    kill(program.pid, SIGTERM);
    program_wait(&program);
    assert_code(&program, 3);
    size_t kept = samples_kept(false);
    assert_resume_refused("--iterations", "3", "contradicts 25");
    assert_resume_refused("--duration", "3", "contradicts 0.02");
    assert_resume_refused("--order", "blocked", "--order");
    assert_resume_refused("--case", "split/*", "--case");
    assert_resume_refused("--backend", "crash", "--backend");
    assert_int_equal(samples_kept(false), kept);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl", "--iterations",
                "25");
    assert_code(&program, 0);
    assert_int_equal(samples_kept(true), 25);
}

static void a_file_edited_to_an_absurd_duration_is_not_resumed(void **state)
{
    (void)state;
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[2/25");
    kill(program.pid, SIGTERM);
    program_wait(&program);
    size_t kept = samples_kept(false);
    assert_int_equal(system("sed -i.old 's/\"duration_s\":[^,]*/\"duration_s\":1e300/' out.jsonl"),
                     0);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "out.jsonl: duration_s is 1e+300");
    assert_int_equal(samples_kept(false), kept);
}

static void taken_away_during_the_run(const char *command, const char *said)
{
    program_start(&program, NULL, ARGV(LONG_RUN));
    program_expect(&program, "[2/25");
    assert_int_equal(system(command), 0);
    program_wait(&program);
    assert_code(&program, 2);
    assert_said(&program, said);
    assert_not_said(&program, "results: ");
}

static void a_results_file_deleted_during_the_run_stops_it(void **state)
{
    (void)state;
    taken_away_during_the_run("rm out.jsonl", "out.jsonl: was moved, deleted or replaced");
}

static void a_results_file_moved_during_the_run_is_put_back_and_resumed(void **state)
{
    (void)state;
    taken_away_during_the_run("mv out.jsonl away.jsonl",
                              "out.jsonl: was moved, deleted or replaced");
    assert_int_equal(system("mv away.jsonl out.jsonl"), 0);
    resume_completes(25);
}

static void a_results_file_emptied_during_the_run_stops_it(void **state)
{
    (void)state;
    taken_away_during_the_run(": > out.jsonl", "out.jsonl: was changed by another program");
}

static void a_complete_run_is_not_resumed(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--baseline", "works", "--backend",
                "works", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "out.jsonl");
    assert_code(&program, 2);
    assert_int_equal(samples_kept(true), 1);
}

static void full_standard_output(void)
{
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        _exit(125);
    }
}

static void a_comparison_that_can_not_be_printed_leaves_the_results(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, full_standard_output, LM_FAULTY_PROGRAM, "run", "--baseline", "works",
                "--backend", "works", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "loopmark compare out.jsonl");
    assert_int_equal(samples_kept(true), 1);
}

static void close_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        close(fd);
    }
}

/* The results file must not become the new standard error. */
static void with_all_standard_streams_closed_no_message_lands_in_the_results(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, close_standard_streams, LM_FAULTY_PROGRAM, "run", "--baseline", "works",
                "--backend", "works,crash", CASE, SHORT, "--iterations", "1", "--out", "out.jsonl");
    assert_code(&program, 2);
    assert_int_equal(samples_kept(true), 2);
}

/* It would be read back for the comparison, which on a pipe waits for ever. */
static void a_pipe_is_refused_as_a_results_file(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--backend", "works", "--baseline",
                "works", CASE, SHORT, "--out", "pipe");
    assert_code(&program, 2);
    assert_said(&program, "pipe: is not a regular file");
    PROGRAM_RUN(&program, NULL, LM_FAULTY_PROGRAM, "run", "--resume", "pipe");
    assert_code(&program, 2);
    assert_said(&program, "pipe: is not a regular file");
}

static void resuming_what_is_no_results_file_is_refused(void **state)
{
    (void)state;
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--resume", "missing.jsonl");
    assert_code(&program, 2);
    assert_said(&program, "missing.jsonl");
    PROGRAM_RUN(&program, NULL, LM_PROGRAM, "run", "--resume", LM_PROGRAM);
    assert_code(&program, 2);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_interrupt_ends_after_the_present_sample_and_resume_goes_on),
        IN_FOLDER(a_lost_terminal_ends_after_the_present_sample_and_resume_goes_on),
        IN_FOLDER(nohup_lets_a_run_outlive_its_terminal),
        IN_FOLDER(a_second_interrupt_ends_at_once_without_the_sample),
        IN_FOLDER(a_killed_runner_takes_its_worker_along_and_resume_goes_on),
        IN_FOLDER(a_line_cut_short_by_a_kill_is_taken_again),
        IN_FOLDER(a_file_size_limit_stops_the_run_and_resume_goes_on),
        cmocka_unit_test_setup_teardown(a_full_disk_stops_the_run_and_resume_goes_on, enter_folder,
                                        leave_folder_with_disk),
        IN_FOLDER(a_results_file_that_may_not_be_written_is_named),
        IN_FOLDER(a_folder_that_may_not_be_written_is_named),
        IN_FOLDER(a_second_runner_on_one_file_is_refused),
        IN_FOLDER(a_file_with_results_is_never_overwritten),
        IN_FOLDER(options_that_contradict_a_resumed_run_are_refused),
        IN_FOLDER(a_file_edited_to_an_absurd_duration_is_not_resumed),
        IN_FOLDER(a_results_file_deleted_during_the_run_stops_it),
        IN_FOLDER(a_results_file_moved_during_the_run_is_put_back_and_resumed),
        IN_FOLDER(a_results_file_emptied_during_the_run_stops_it),
        IN_FOLDER(a_complete_run_is_not_resumed),
        IN_FOLDER(a_comparison_that_can_not_be_printed_leaves_the_results),
        IN_FOLDER(with_all_standard_streams_closed_no_message_lands_in_the_results),
        IN_FOLDER(a_pipe_is_refused_as_a_results_file),
        IN_FOLDER(resuming_what_is_no_results_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
