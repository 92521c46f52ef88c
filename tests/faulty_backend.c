/* A registry for the test program loopmark_faulty: backends that fail in each way a worker can
 * fail.
 *
 * It takes the place of backends/registry.c in that program, so that the product itself has no hook
 * for faults. Each backend is `poll` but for one function.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/registry.h"
#include "harness/process.h"

static int run_crash(struct lm_loop *loop)
{
    (void)loop;
    fputs("about to read what is not there\n", stderr);
    raise(SIGSEGV);
    return 0;
}

static int run_killed(struct lm_loop *loop)
{
    (void)loop;
    raise(SIGKILL);
    return 0;
}

static int run_hang(struct lm_loop *loop)
{
    (void)loop;
    for (volatile bool forever = true; forever;) {
    }
    return 0;
}

static int run_exit(struct lm_loop *loop)
{
    (void)loop;
    fputs("giving up\n", stderr);
    exit(7);
}

static int run_error(struct lm_loop *loop)
{
    (void)loop;
    return -EIO;
}

/* Far more than a pipe holds, then as usual. */
static int run_noisy(struct lm_loop *loop)
{
    for (int i = 0; i < 20000; i++) {
        fprintf(stderr, "line %d of much output\n", i);
    }
    return lm_backend_poll.loop_run(loop);
}

/* A result that is no sample, then a success. */
static int run_garbage(struct lm_loop *loop)
{
    (void)loop;
    static const char text[] = "{\"type\": \"sample\", \"operations\": -1}\n";
    if (write(LM_PROCESS_RESULT_FD, text, sizeof(text) - 1) < 0) {
        return -errno;
    }
    _exit(0);
}

static int run_silent(struct lm_loop *loop)
{
    (void)loop;
    _exit(0);
}

static void send_wrong_bytes(struct lm_socket *socket, struct lm_op *op, const void *buffer,
                             size_t bytes)
{
    static char zeros[1u << 20];
    (void)buffer;
    lm_backend_poll.send(socket, op, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
}

static int never_available(const uint64_t *options, char *why, size_t why_bytes)
{
    (void)options;
    snprintf(why, why_bytes, "this machine has no such device; plug one in");
    return -ENODEV;
}

/* One more counter than the backend counted. */
static void counters_overflowing(struct lm_loop *loop, struct lm_counters *counters)
{
    static uint64_t overflows;
    lm_backend_poll.loop_counters(loop, counters);
    counters->overflows = ++overflows;
}

static struct lm_backend crash, killed, hang, exits, error, noisy, garbage, silent, wrong, absent,
    overflow, works;

static const struct {
    struct lm_backend *backend;
    const char *name;
    int (*loop_run)(struct lm_loop *loop); /* NULL leaves poll's */
} faults[] = {
    {&works, "works", NULL},         {&crash, "crash", run_crash},
    {&killed, "killed", run_killed}, {&hang, "hang", run_hang},
    {&exits, "exits", run_exit},     {&error, "error", run_error},
    {&noisy, "noisy", run_noisy},    {&garbage, "garbage", run_garbage},
    {&silent, "silent", run_silent}, {&wrong, "wrong", NULL},
    {&absent, "absent", NULL},       {&overflow, "overflow", NULL},
};

#define FAULT_COUNT (sizeof(faults) / sizeof(faults[0]))

static struct lm_registered registered[FAULT_COUNT + 1];

static void fill_registry(void)
{
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        struct lm_backend *backend = faults[i].backend;
        *backend = lm_backend_poll;
        backend->name = backend->title = faults[i].name;
        if (faults[i].loop_run != NULL) {
            backend->loop_run = faults[i].loop_run;
        }
        registered[i] = (struct lm_registered){.name = faults[i].name, .backend = backend};
    }
    wrong.send = send_wrong_bytes;
    absent.available = never_available;
    overflow.loop_counters = counters_overflowing;
    registered[FAULT_COUNT] = (struct lm_registered){
        .name = "unbuilt",
        .missing = "it needs libunbuilt; install libunbuilt-dev and build again"};
}

size_t lm_backend_count(void)
{
    if (registered[0].name == NULL) {
        fill_registry();
    }
    return FAULT_COUNT + 1;
}

const struct lm_registered *lm_backend_at(size_t index)
{
    return index < lm_backend_count() ? &registered[index] : NULL;
}

const char *const *lm_default_specs(void)
{
    static const char *const specs[] = {"works", "absent", NULL};
    return specs;
}
