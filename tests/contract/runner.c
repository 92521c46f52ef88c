/* runner.c - one contract test in this process, with a time limit. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/contract/internal.h"

/* For the handler of SIGALRM: the test under way. */
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
    if (test->needs & NEEDS_QUEUE && subject->listen_queue < CONTRACT_QUEUE) {
        return "it needs a longer listen queue; raise net.core.somaxconn (macOS: "
               "kern.ipc.somaxconn) to 64";
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

_Noreturn void contract_run(const struct contract_subject *subject,
                            const struct contract_test *test, bool local, int report_fd)
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
    if (t.outcome.verdict != CONTRACT_FAILED && open_descriptors() != before) {
        t.outcome.verdict = CONTRACT_PASSED; /* a skip may have come of just that */
        contract_fail(&t, __FILE__, __LINE__, "every descriptor closed when the loop is destroyed",
                      "%d more than before the loop was made", open_descriptors() - before);
    }
    alarm(0);
    ssize_t written = write(report_fd, &t.outcome, sizeof t.outcome);
    exit(written == sizeof t.outcome ? 0 : 1); /* not _exit: the leak checker reports now */
}
