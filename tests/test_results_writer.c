/* Writing results: nothing that was stored is ever lost, and nothing unreadable is ever stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results_writer.h"
#include "tests/results_fixture.h"

/* A run, and a path in a directory of its own where no file is yet. */
struct fixture {
    struct lm_run run;
    char directory[32], path[64], error[512];
    struct lm_results_writer *writer;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    strcpy(fixture->directory, "/tmp/lm_writer_XXXXXX");
    if (!mkdtemp(fixture->directory)) {
        return -1;
    }
    snprintf(fixture->path, sizeof(fixture->path), "%s/r.jsonl", fixture->directory);
    fixture->run = fixture_run("this machine");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    lm_results_writer_close(fixture->writer, fixture->error, sizeof(fixture->error));
    unlink(fixture->path);
    rmdir(fixture->directory);
    json_decref(fixture->run.environment);
    free(fixture);
    return 0;
}

static int create(struct fixture *fixture)
{
    return lm_results_writer_create(fixture->path, &fixture->run, &fixture->writer, fixture->error,
                                    sizeof(fixture->error));
}

static int resume(struct fixture *fixture, struct lm_results *results)
{
    return lm_results_writer_resume(fixture->path, fixture->run.environment, results,
                                    &fixture->writer, fixture->error, sizeof(fixture->error));
}

static int add(struct fixture *fixture, size_t case_index, size_t backend_index)
{
    struct lm_sample sample = fixture_sample(case_index, backend_index, 0);
    return lm_results_writer_sample(fixture->writer, &sample, fixture->error,
                                    sizeof(fixture->error));
}

static void close_writer(struct fixture *fixture)
{
    assert_int_equal(
        lm_results_writer_close(fixture->writer, fixture->error, sizeof(fixture->error)), 0);
    fixture->writer = NULL;
}

/* A file of two samples, closed. */
static void create_with_two_samples(struct fixture *fixture)
{
    assert_int_equal(create(fixture), 0);
    assert_int_equal(add(fixture, 0, 0), 0);
    assert_int_equal(add(fixture, 0, 1), 0);
    close_writer(fixture);
}

static void append_bytes(const struct fixture *fixture, const char *bytes)
{
    int fd = open(fixture->path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(fd);
}

static off_t file_bytes(const struct fixture *fixture)
{
    struct stat status;
    assert_int_equal(stat(fixture->path, &status), 0);
    return status.st_size;
}

static void assert_file(struct fixture *fixture, size_t samples, bool torn, bool ended)
{
    struct lm_results results;
    int result = lm_results_read(fixture->path, &results, fixture->error, sizeof(fixture->error));
    if (result != 0) {
        print_error("%s\n", fixture->error);
    }
    assert_int_equal(result, 0);
    assert_int_equal(results.sample_count, samples);
    assert_int_equal(results.torn, torn);
    assert_int_equal(results.ended, ended);
    lm_results_free(&results);
}

static void assert_error(const struct fixture *fixture, const char *words)
{
    if (!strstr(fixture->error, words)) {
        print_error("\"%s\" does not hold \"%s\"\n", fixture->error, words);
    }
    assert_non_null(strstr(fixture->error, words));
    assert_null(strchr(fixture->error, '\n'));
}

static void what_was_written_is_read_at_once_and_after_the_end(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture), 0);
    assert_file(fixture, 0, false, false);
    assert_int_equal(add(fixture, 1, 2), 0);
    assert_file(fixture, 1, false, false);
    assert_int_equal(lm_results_writer_end(fixture->writer, fixture->error, sizeof(fixture->error)),
                     0);
    close_writer(fixture);
    assert_file(fixture, 1, false, true);
}

static void a_file_with_contents_is_not_overwritten(void **state)
{
    struct fixture *fixture = *state;
    create_with_two_samples(fixture);
    assert_int_equal(create(fixture), -EEXIST);
    assert_error(fixture, "r.jsonl: is there already: go on with it by --resume /tmp/lm_writer_");
    assert_file(fixture, 2, false, false);
}

static void an_empty_file_that_is_there_is_used(void **state)
{
    struct fixture *fixture = *state;
    close(open(fixture->path, O_CREAT | O_WRONLY, 0600));
    create_with_two_samples(fixture);
    assert_file(fixture, 2, false, false);
}

static void a_path_that_can_not_be_written_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    assert_int_equal(resume(fixture, &results), -ENOENT);
    assert_error(fixture, "r.jsonl: can not be opened for writing: No such file");
    snprintf(fixture->path, sizeof(fixture->path), "%s", fixture->directory);
    assert_int_equal(create(fixture), -EISDIR);
    assert_error(fixture, "Is a directory; choose another --out");
}

static void a_second_writer_is_refused_while_the_first_has_the_file(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    assert_int_equal(create(fixture), 0);
    struct lm_results_writer *first = fixture->writer;
    assert_int_equal(resume(fixture, &results), -EWOULDBLOCK);
    assert_error(fixture, "another loopmark is writing it: wait for it to end or choose");
    assert_int_equal(create(fixture), -EWOULDBLOCK);
    assert_file(fixture, 0, false, false); /* reading it drops no lock */
    assert_int_equal(create(fixture), -EWOULDBLOCK);
    fixture->writer = first;
    close_writer(fixture);
    assert_int_equal(resume(fixture, &results), 0);
    lm_results_writer_close(fixture->writer, fixture->error, sizeof(fixture->error));
    fixture->writer = NULL;
    lm_results_free(&results);
}

static void a_resumed_file_goes_on_where_it_stopped(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    assert_int_equal(resume(fixture, &results), 0);
    assert_int_equal(results.sample_count, 2);
    assert_int_equal(add(fixture, 0, 2), 0);
    assert_int_equal(lm_results_writer_end(fixture->writer, fixture->error, sizeof(fixture->error)),
                     0);
    close_writer(fixture);
    lm_results_free(&results);
    assert_file(fixture, 3, false, true);
}

static void a_torn_last_line_is_cut_off_when_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    off_t whole = file_bytes(fixture);
    append_bytes(fixture, "{\"record\":\"sample\",\"run\":\"4f6");
    assert_file(fixture, 2, true, false);
    assert_int_equal(resume(fixture, &results), 0);
    assert_true(results.torn);
    assert_true(file_bytes(fixture) == whole);
    assert_int_equal(add(fixture, 0, 2), 0);
    close_writer(fixture);
    lm_results_free(&results);
    assert_file(fixture, 3, false, false);
}

static void a_complete_run_is_not_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    assert_int_equal(create(fixture), 0);
    assert_int_equal(lm_results_writer_end(fixture->writer, fixture->error, sizeof(fixture->error)),
                     0);
    close_writer(fixture);
    assert_int_equal(resume(fixture, &results), -EALREADY);
    assert_error(fixture, "r.jsonl: is complete with 0 samples: see it with loopmark compare");
}

static void results_of_another_machine_are_not_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    json_object_set_new(fixture->run.environment, "host", json_string("another"));
    assert_int_equal(resume(fixture, &results), -EXDEV);
    assert_error(fixture, "r.jsonl: was measured on another machine");
    json_object_set_new(fixture->run.environment, "host", json_null());
    assert_int_equal(resume(fixture, &results), -EXDEV);
    assert_file(fixture, 2, false, false);
}

static void results_of_another_build_are_not_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    json_object_set_new(fixture->run.environment, "build", json_pack("{s:s}", "commit", "1234"));
    assert_int_equal(resume(fixture, &results), -EXDEV);
    assert_error(fixture, "r.jsonl: was measured by another build of loopmark: use that one");
}

static void results_of_other_settings_are_not_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    json_object_set_new(json_object_get(fixture->run.environment, "cpu"), "governor",
                        json_string("powersave"));
    assert_int_equal(resume(fixture, &results), -EXDEV);
    assert_error(fixture, "with other settings (cpu.governor: not known against powersave): "
                          "restore them, or start another file with --out");
}

static void load_and_date_do_not_hinder_resuming(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    json_object_set_new(fixture->run.environment, "date_utc", json_string("2026-11-30T00:00:00Z"));
    json_object_set_new(fixture->run.environment, "load", json_pack("[f]", 3.5));
    assert_int_equal(resume(fixture, &results), 0);
    close_writer(fixture);
    lm_results_free(&results);
}

static void a_damaged_file_is_not_resumed_and_stays_as_it_is(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results results;
    create_with_two_samples(fixture);
    append_bytes(fixture, "rubbish\n{\"rec");
    off_t bytes = file_bytes(fixture);
    assert_int_equal(resume(fixture, &results), -EBADMSG);
    assert_error(fixture, "r.jsonl:4: not valid JSON");
    assert_true(file_bytes(fixture) == bytes);
}

static void a_device_or_a_pipe_is_no_results_file(void **state)
{
    struct fixture *fixture = *state;
    struct lm_results_writer *writer;
    assert_int_equal(mkfifo(fixture->path, 0666), 0);
    const char *const paths[] = {"/dev/null", fixture->path};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(lm_results_writer_create(paths[i], &fixture->run, &writer, fixture->error,
                                                  sizeof(fixture->error)),
                         -EINVAL);
        assert_error(fixture, paths[i]);
        assert_error(fixture, "is not a regular file");
    }
}

/* The write that no longer fits is a short one, then an error: the hardest case. */
static void a_file_that_can_not_grow_is_cut_back_to_its_last_whole_line(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit limit, unlimited;
    assert_int_equal(create(fixture), 0);
    assert_int_equal(add(fixture, 0, 0), 0);
    off_t whole = file_bytes(fixture);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = unlimited;
    limit.rlim_cur = (rlim_t)whole + 100;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int result = add(fixture, 0, 1);
    int again = add(fixture, 0, 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    signal(SIGXFSZ, old);
    assert_int_equal(result, -EFBIG);
    assert_int_equal(again, -EFBIG);
    assert_error(fixture, "the file size limit is reached (ulimit -f); its 1 samples are kept: "
                          "make room, then go on with loopmark run --resume /tmp/lm_writer_");
    assert_true(file_bytes(fixture) == whole);
    assert_file(fixture, 1, false, false);
    assert_int_equal(add(fixture, 0, 1), 0);
    assert_file(fixture, 2, false, false);
}

static void a_sample_that_no_reader_would_take_is_not_written(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture), 0);
    off_t bytes = file_bytes(fixture);
    struct lm_sample sample = fixture_sample(0, 0, 0);
    sample.metric = NAN;
    assert_int_equal(
        lm_results_writer_sample(fixture->writer, &sample, fixture->error, sizeof(fixture->error)),
        -EINVAL);
    assert_error(fixture, "this sample can not be stored: metric is null, not a number from 0");
    sample = fixture_sample(9, 0, 0);
    assert_int_equal(
        lm_results_writer_sample(fixture->writer, &sample, fixture->error, sizeof(fixture->error)),
        -EINVAL);
    assert_true(file_bytes(fixture) == bytes);
}

static void a_run_that_no_reader_would_take_is_not_written(void **state)
{
    struct fixture *fixture = *state;
    fixture->run.baseline_index = 7;
    assert_int_equal(create(fixture), -EINVAL);
    assert_error(fixture, "this run can not be stored: baseline_index is 7");
    assert_true(file_bytes(fixture) == 0);
    fixture->run.baseline_index = 0;
    create_with_two_samples(fixture);
}

static void a_killed_writer_loses_no_line_and_no_lock_stays(void **state)
{
    struct fixture *fixture = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (create(fixture) == 0 && add(fixture, 0, 0) == 0 && add(fixture, 0, 1) == 0) {
            kill(getpid(), SIGKILL);
        }
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    struct lm_results results;
    assert_int_equal(resume(fixture, &results), 0);
    assert_int_equal(results.sample_count, 2);
    close_writer(fixture);
    lm_results_free(&results);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read_at_once_and_after_the_end),
        TEST(a_file_with_contents_is_not_overwritten),
        TEST(an_empty_file_that_is_there_is_used),
        TEST(a_path_that_can_not_be_written_is_refused),
        TEST(a_second_writer_is_refused_while_the_first_has_the_file),
        TEST(a_resumed_file_goes_on_where_it_stopped),
        TEST(a_torn_last_line_is_cut_off_when_resumed),
        TEST(a_complete_run_is_not_resumed),
        TEST(results_of_another_machine_are_not_resumed),
        TEST(results_of_another_build_are_not_resumed),
        TEST(results_of_other_settings_are_not_resumed),
        TEST(load_and_date_do_not_hinder_resuming),
        TEST(a_damaged_file_is_not_resumed_and_stays_as_it_is),
        TEST(a_device_or_a_pipe_is_no_results_file),
        TEST(a_file_that_can_not_grow_is_cut_back_to_its_last_whole_line),
        TEST(a_sample_that_no_reader_would_take_is_not_written),
        TEST(a_run_that_no_reader_would_take_is_not_written),
        TEST(a_killed_writer_loses_no_line_and_no_lock_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
