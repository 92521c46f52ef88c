/* runner.c - one contract test in one process, with a time limit. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/internal.h"

/* For the handler of SIGALRM: the test under way in this child. */
static struct {
    struct contract *test;
    unsigned limit_s;
    int report_fd;
} watched;

const char *contract_skip_reason(const struct contract_subject *subject,
                                 const struct contract_test *test, bool local)
{
    const char *why;
    uint32_t capabilities = lm_capabilities(subject->backend, subject->options, &why);
    if (local && !(capabilities & LM_CAP_LOCAL)) {
        return "the backend has no AF_UNIX sockets";
    }
    if (test->needs & NEEDS_OUTSIDE && subject->lockless) {
        return "calls from other threads are not allowed in lockless mode";
    }
    if (test->needs & NEEDS_THREADS && subject->threads == 1) {
        return "it needs a loop of several threads";
    }
    if (test->needs & ONE_THREAD && subject->threads > 1) {
        return "a loop of several threads does not promise this order";
    }
    if (test->needs & NEEDS_LOOPS && (!(capabilities & LM_CAP_LOOPS) || subject->threads > 1)) {
        return "it needs two loops of one thread each, side by side";
    }
    return NULL;
}

/* The test hangs. snprintf is not promised to be safe in a handler; the process ends here and the
 * parent reports a child that dies in it by its signal. */
static void on_alarm(int signal_number)
{
    (void)signal_number;
    struct contract_outcome outcome = watched.test->outcome;
    if (outcome.verdict != CONTRACT_FAILED) {
        outcome.verdict = CONTRACT_FAILED;
        int used = snprintf(outcome.seen, sizeof outcome.seen,
                            "it did not end within %u s; outstanding:", watched.limit_s);
        bool any = false;
        for (int i = 0; i < STEP_KINDS; i++) {
            int count = watched.test->outstanding[i];
            if (count) {
                any = true;
                used += snprintf(outcome.seen + used, sizeof outcome.seen - (size_t)used, " %d %s",
                                 count, contract_kind(i));
            }
        }
        snprintf(outcome.seen + used, sizeof outcome.seen - (size_t)used, any ? "" : " nothing");
    }
    ssize_t written = write(watched.report_fd, &outcome, sizeof outcome);
    _exit(written == sizeof outcome ? 0 : 1);
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < CONTRACT_DESCRIPTORS ? limit.rlim_max : CONTRACT_DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void run_in_child(const struct contract_subject *subject, const struct contract_test *test,
                         bool local, int report_fd)
{
    static struct contract t;
    raise_descriptor_limit();
    int before = open_descriptors();
    watched.test = &t;
    watched.limit_s = subject->limit_s;
    watched.report_fd = report_fd;
    signal(SIGALRM, on_alarm);
    signal(SIGPIPE, SIG_DFL); /* rule 9: a backend that causes one kills the test */
    alarm(subject->limit_s);
    if (contract_open(&t, subject, local)) {
        test->run(&t);
    }
    contract_close(&t);
    if (t.outcome.verdict == CONTRACT_PASSED && open_descriptors() != before) {
        contract_fail(&t, __FILE__, __LINE__, "every descriptor closed when the loop is destroyed",
                      "%d more than before the loop was made", open_descriptors() - before);
    }
    alarm(0);
    ssize_t written = write(report_fd, &t.outcome, sizeof t.outcome);
    exit(written == sizeof t.outcome ? 0 : 1); /* not _exit: the leak checker reports now */
}

/* What the end of the child adds to what it reported. */
static void judge_end(int status, bool reported, struct contract_outcome *outcome)
{
    if (reported && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return;
    }
    if (reported && outcome->verdict == CONTRACT_FAILED) {
        return;
    }
    outcome->verdict = CONTRACT_FAILED;
    if (WIFSIGNALED(status)) {
        snprintf(outcome->seen, sizeof outcome->seen, "the process died of signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(outcome->seen, sizeof outcome->seen,
                 "the process ended with status %d%s; its last words are above",
                 WEXITSTATUS(status), reported ? " after the test had passed" : "");
    }
}

/* Removes the names of the sockets that a test made. */
static void clean_directory(const char *directory)
{
    for (unsigned i = 0; i < CONTRACT_NAMES; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/s%u", directory, i);
        unlink(path);
    }
}

static bool read_outcome(int fd, struct contract_outcome *outcome)
{
    ssize_t got;
    do {
        got = read(fd, outcome, sizeof *outcome);
    } while (got < 0 && errno == EINTR);
    return got == sizeof *outcome;
}

void contract_run(const struct contract_subject *subject, const struct contract_test *test,
                  bool local, struct contract_outcome *outcome)
{
    int report[2];
    *outcome = (struct contract_outcome){.verdict = CONTRACT_FAILED};
    if (pipe(report)) {
        snprintf(outcome->seen, sizeof outcome->seen, "pipe: %s", strerror(errno));
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(report[0]);
        run_in_child(subject, test, local, report[1]);
    }
    close(report[1]);
    bool reported = child > 0 && read_outcome(report[0], outcome);
    close(report[0]);
    int status = 0;
    if (child < 0) {
        snprintf(outcome->seen, sizeof outcome->seen, "fork: %s", strerror(errno));
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    clean_directory(subject->directory);
    judge_end(status, reported, outcome);
}
