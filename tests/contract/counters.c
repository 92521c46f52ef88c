/* counters.c - what a backend says it has done: it only grows, and it is not less than what
 * happened. That the figures are exact is checked against strace (counters_strace.sh). */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

#define FIGURES (sizeof(struct lm_counters) / sizeof(uint64_t))

static size_t first_decrease(const struct lm_counters *before, const struct lm_counters *after)
{
    uint64_t old[FIGURES], new[FIGURES];
    memcpy(old, before, sizeof old);
    memcpy(new, after, sizeof new);
    size_t i = 0;
    while (i < FIGURES && new[i] >= old[i]) {
        i++;
    }
    return i;
}

enum {
    ROUNDS = 300
};

struct rally {
    struct step send, recv;
    struct lm_socket *ends[2];
    struct lm_counters latest;
    char byte;
};

static void watch_counters(struct contract *t, struct rally *rally)
{
    struct lm_counters now;
    t->backend->loop_counters(t->loop, &now);
    size_t which = first_decrease(&rally->latest, &now);
    EXPECT(t, which == FIGURES, "figure %zu of struct lm_counters fell", which);
    rally->latest = now;
}

static void rally_sent(struct step *step)
{
    struct rally *rally = step->context;
    watch_counters(step->test, rally);
    start_recv(&rally->recv, rally->ends[1], &rally->byte, 1);
}

static void rally_received(struct step *step)
{
    struct rally *rally = step->context;
    watch_counters(step->test, rally);
    if (step->completions < ROUNDS) {
        start_send(&rally->send, rally->ends[0], "x", 1);
    }
}

static struct rally *start_rally(struct contract *t)
{
    struct rally *rally = contract_alloc(t, sizeof *rally);
    if (loop_pair(t, rally->ends)) {
        return NULL;
    }
    step_init(t, &rally->send, rally_sent, rally);
    step_init(t, &rally->recv, rally_received, rally);
    t->backend->loop_counters(t->loop, &rally->latest);
    start_send(&rally->send, rally->ends[0], "x", 1);
    return rally;
}

static void counters_only_grow_and_cover_the_work_done(struct contract *t)
{
    struct rally *rally = start_rally(t);
    if (!rally) {
        return;
    }
    RUN_LOOP(t);
    watch_counters(t, rally);
    const uint64_t *calls = rally->latest.syscalls;
    /* Work handed to a ring needs no call of its own. */
    if (calls[LM_SYS_RING_ENTER] == 0) {
        EXPECT(t, calls[LM_SYS_SEND] >= ROUNDS && calls[LM_SYS_RECV] >= ROUNDS,
               "%llu sends and %llu receives counted in %d rounds",
               (unsigned long long)calls[LM_SYS_SEND], (unsigned long long)calls[LM_SYS_RECV],
               ROUNDS);
    } else {
        EXPECT(t, calls[LM_SYS_RING_ENTER] + calls[LM_SYS_SEND] >= ROUNDS / 2,
               "%llu enters and %llu sends counted in %d rounds",
               (unsigned long long)calls[LM_SYS_RING_ENTER], (unsigned long long)calls[LM_SYS_SEND],
               ROUNDS);
    }
    EXPECT(t, rally->latest.overflows == 0, "%llu overflows",
           (unsigned long long)rally->latest.overflows);
}

static void counters_of_a_new_loop_show_no_input_or_output(struct contract *t)
{
    struct lm_counters now;
    t->backend->loop_counters(t->loop, &now);
    EXPECT(t, now.syscalls[LM_SYS_SEND] == 0 && now.syscalls[LM_SYS_RECV] == 0, "some counted");
    EXPECT(t, now.speculative_hits == 0 && now.speculative_misses == 0, "some counted");
}

struct watcher {
    struct contract *test;
    atomic_bool over;
};

static void *watch_from_outside(void *context)
{
    struct watcher *watcher = context;
    struct lm_counters before = {.waits = 0}, now;
    while (!watcher->over) {
        watcher->test->backend->loop_counters(watcher->test->loop, &now);
        size_t which = first_decrease(&before, &now);
        if (which < FIGURES) {
            contract_fail(watcher->test, __FILE__, __LINE__, "counters that only grow",
                          "figure %zu of struct lm_counters fell", which);
        }
        before = now;
        usleep(100);
    }
    return NULL;
}

static void counters_can_be_read_from_outside_while_the_loop_runs(struct contract *t)
{
    struct watcher watcher = {.test = t};
    pthread_t thread;
    if (!start_rally(t)) {
        return;
    }
    pthread_create(&thread, NULL, watch_from_outside, &watcher);
    contract_loop(t);
    watcher.over = true;
    pthread_join(thread, NULL);
}

const struct contract_test contract_counters[] = {
    {"counters only grow and cover the work done", 6, ALSO_LOCAL,
     counters_only_grow_and_cover_the_work_done},
    {"counters of a new loop show no input or output", 6, 0,
     counters_of_a_new_loop_show_no_input_or_output},
    {"counters can be read from outside while the loop runs", 6, NEEDS_OUTSIDE,
     counters_can_be_read_from_outside_while_the_loop_runs},
    {NULL, 0, 0, NULL},
};
