/* program.h - runs the product as a person would, for end-to-end tests: starts it, collects what it
 * prints, and reads the results files it leaves.
 *
 * Included by one test program each, hence the static functions.
 */
#ifndef LM_TEST_PROGRAM_H
#define LM_TEST_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/results.h"

/* A program that is taken for hung, and killed, after this long. */
#define PROGRAM_LIMIT_MS 100000

/* Not in the summary of skipped tests otherwise: why a test can not be done here. */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        print_message("skipped: %s\n", reason);                                                    \
        skip();                                                                                    \
    } while (0)

struct program {
    pid_t pid;
    int fd;             /* its stdout and stderr */
    char output[65536]; /* what it printed so far; the rest is thrown away */
    size_t used;
    int code; /* after program_wait: exit code, or 128 + signal number */
};

/* Each test works in a new folder of its own. */
static inline int enter_folder(void **state)
{
    static char folder[64];
    snprintf(folder, sizeof(folder), "/tmp/loopmark-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
    *state = folder;
    return 0;
}

static inline int leave_folder(void **state)
{
    char command[128];
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
    return system(command);
}

/* Starts argv[0]; `prepare` (may be NULL) runs in the child first. */
static inline void program_start(struct program *program, void (*prepare)(void),
                                 const char *const *argv)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    program->used = 0;
    program->output[0] = '\0';
    program->fd = ends[0];
    program->pid = fork();
    assert_true(program->pid >= 0);
    if (program->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        if (prepare != NULL) {
            prepare();
        }
        execv(argv[0], (char *const *)(uintptr_t)argv);
        dprintf(STDERR_FILENO, "can not be run: %s\n", strerror(errno));
        _exit(126);
    }
    close(ends[1]);
}

static inline void program_read(struct program *program)
{
    char dropped[4096];
    size_t room = sizeof(program->output) - 1 - program->used;
    char *to = room > 0 ? program->output + program->used : dropped;
    ssize_t got = read(program->fd, to, room > 0 ? room : sizeof(dropped));
    if (got <= 0) {
        close(program->fd);
        program->fd = -1;
    } else if (room > 0) {
        program->used += (size_t)got;
        program->output[program->used] = '\0';
    }
}

static inline bool program_has_output(const struct program *program, int wait_ms)
{
    struct pollfd ready = {.fd = program->fd, .events = POLLIN};
    return poll(&ready, 1, wait_ms) > 0;
}

/* Waits until the program has printed `text`. */
static inline void program_expect(struct program *program, const char *text)
{
    while (strstr(program->output, text) == NULL) {
        if (program->fd < 0 || !program_has_output(program, PROGRAM_LIMIT_MS)) {
            kill(program->pid, SIGKILL);
            fail_msg("'%s' is not in: %s", text, program->output);
        }
        program_read(program);
    }
}

static inline int program_wait(struct program *program)
{
    int status = 0;
    while (program->fd >= 0) {
        if (!program_has_output(program, PROGRAM_LIMIT_MS)) {
            kill(program->pid, SIGKILL);
            fail_msg("it did not end; it said: %s", program->output);
        }
        program_read(program);
    }
    assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
    program->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return program->code;
}

/* Runs it to its end; returns the exit code. */
#define PROGRAM_RUN(program, prepare, ...)                                                         \
    (program_start(program, prepare, (const char *const[]){__VA_ARGS__, NULL}),                    \
     program_wait(program))

/* Fails with the output when the text is not in it. */
static inline void assert_said(const struct program *program, const char *text)
{
    if (strstr(program->output, text) == NULL) {
        fail_msg("'%s' is not in: %s", text, program->output);
    }
}

static inline void assert_not_said(const struct program *program, const char *text)
{
    if (strstr(program->output, text) != NULL) {
        fail_msg("'%s' is in: %s", text, program->output);
    }
}

static inline void assert_code(const struct program *program, int code)
{
    if (program->code != code) {
        fail_msg("exit code %d, not %d; it said: %s", program->code, code, program->output);
    }
}

static inline void read_results(const char *path, struct lm_results *results)
{
    char error[512];
    if (lm_results_read(path, results, error, sizeof(error)) != 0) {
        fail_msg("%s", error);
    }
}

static inline size_t count_status(const struct lm_results *results, enum lm_sample_status status)
{
    size_t count = 0;
    for (size_t i = 0; i < results->sample_count; i++) {
        count += results->samples[i].status == status;
    }
    return count;
}

/* For program_start: an ordinary user where this is root. */
static inline void become_nobody(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) {
        _exit(125);
    }
}

/* After a program that became nobody. */
static inline void skip_when_nobody_can_not_run_it(const struct program *program)
{
    if (program->code >= 125 && program->code < 128) {
        SKIP("an ordinary user can not reach the program in this folder");
    }
}

static inline void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

#endif
