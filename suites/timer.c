/* timer.c - micro family timer: what timers cost and how late they fire, with no socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suites/list.h"
#include "suites/stage.h"

#define HOUR_NS     (UINT64_C(3600) * 1000000000)
#define SHORTEST_NS UINT64_C(100000) /* intervals of `concurrent`, spread evenly */
#define LONGEST_NS  UINT64_C(1000000)

/* A chain: the next timer is armed in the completion of the one before it. */
struct chain {
    struct lm_op op;
    struct lm_stage *stage;
    int64_t expected; /* result: 0, or -ECANCELED of one that is cancelled at once */
    uint64_t interval_ns;
    uint64_t started_ns; /* when it was armed */
};

static void fail(struct chain *chain, int64_t result)
{
    lm_stage_fail(chain->stage, "a timer of %llu ns completed with %s",
                  (unsigned long long)chain->interval_ns,
                  result < 0 ? strerror((int)-result) : "success although it was cancelled");
}

/* --- schedule_cancel and fire_rate
 * ------------------------------------------------------------------- */

static void start(struct chain *chain)
{
    chain->stage->backend->timer(chain->stage->loops[0], &chain->op, chain->interval_ns);
    if (chain->expected == -ECANCELED) {
        chain->stage->backend->cancel(chain->stage->loops[0], &chain->op);
    }
}

static void ended(struct lm_op *op, int64_t result)
{
    struct chain *chain = (struct chain *)op;
    if (result != chain->expected) {
        fail(chain, result);
    } else if (lm_recorder_lap(lm_stage_recorder(), &chain->started_ns, 0) == LM_PHASE_DRAIN) {
        lm_stage_chain_end(chain->stage);
    } else {
        start(chain);
    }
}

/* --- concurrent
 * ------------------------------------------------------------------------------------- */

/* Due one interval after the clock was read for the completion before. */
static void fired(struct lm_op *op, int64_t result)
{
    struct chain *chain = (struct chain *)op;
    uint64_t now_ns = lm_clock_ns(), due_ns = chain->started_ns + chain->interval_ns;
    if (result) {
        fail(chain, result);
        return;
    }
    if (now_ns < due_ns) {
        lm_stage_fail(chain->stage, "a timer of %llu ns fired %llu ns early",
                      (unsigned long long)chain->interval_ns,
                      (unsigned long long)(due_ns - now_ns));
        return;
    }
    chain->started_ns = now_ns;
    if (lm_recorder_add(lm_stage_recorder(), now_ns, now_ns - due_ns, 1, 0) == LM_PHASE_DRAIN) {
        lm_stage_chain_end(chain->stage);
    } else {
        start(chain);
    }
}

/* --- running
 * -------------------------------------------------------------------------------------- */

static int run_chains(const struct lm_case *which, const struct lm_case_setup *setup,
                      struct lm_case_result *result, lm_done_fn *done, int64_t expected,
                      uint64_t shortest_ns, uint64_t longest_ns)
{
    struct lm_stage stage;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    struct chain *chains = calloc(which->batch, sizeof(*chains));
    if (!chains) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->batch && !error; i++) {
        uint64_t spread_ns =
            which->batch > 1 ? (longest_ns - shortest_ns) * i / (which->batch - 1) : 0;
        chains[i] = (struct chain){.op.done = done,
                                   .stage = &stage,
                                   .expected = expected,
                                   .interval_ns = shortest_ns + spread_ns};
        lm_stage_chain_begin(&stage);
        chains[i].started_ns = lm_clock_ns();
        start(&chains[i]);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    lm_stage_close(&stage);
    free(chains);
    return error;
}

static int run_schedule_cancel(const struct lm_case *which, const struct lm_case_setup *setup,
                               struct lm_case_result *result)
{
    return run_chains(which, setup, result, ended, -ECANCELED, HOUR_NS, HOUR_NS);
}

static int run_fire_rate(const struct lm_case *which, const struct lm_case_setup *setup,
                         struct lm_case_result *result)
{
    return run_chains(which, setup, result, ended, 0, 0, 0);
}

static int run_concurrent(const struct lm_case *which, const struct lm_case_setup *setup,
                          struct lm_case_result *result)
{
    return run_chains(which, setup, result, fired, 0, SHORTEST_NS, LONGEST_NS);
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family family = {
    "timer", "how fast timers are armed, cancelled and fired, and how late they fire; no sockets"};

void lm_list_timer(void)
{
    static const char *const schedule_cancel[2] = {"schedule_cancel", "schedule_cancel_lockless"};
    static const char *const fire_rate[2] = {"fire_rate", "fire_rate_lockless"};
    static const uint32_t timer_counts[] = {10, 100, 1000};
    struct lm_case one = {.family = &family,
                          .metric = LM_METRIC_OPS_PER_S,
                          .flags = LM_CASE_MICRO,
                          .threads = 1,
                          .batch = 1};
    for (uint32_t lockless = 0; lockless < 2; lockless++) {
        one.flags = LM_CASE_MICRO | (lockless ? LM_CASE_LOCKLESS : 0);
        one.run = run_schedule_cancel;
        one.operation = "one timer of an hour armed and cancelled, until its completion";
        lm_list_add(&one, schedule_cancel[lockless], -1);
    }
    for (uint32_t lockless = 0; lockless < 2; lockless++) {
        one.flags = LM_CASE_MICRO | (lockless ? LM_CASE_LOCKLESS : 0);
        one.run = run_fire_rate;
        one.operation = "one timer of no delay armed and fired";
        lm_list_add(&one, fire_rate[lockless], -1);
    }
    one.flags = LM_CASE_MICRO;
    one.run = run_concurrent;
    one.metric = LM_METRIC_MEAN_NS;
    one.operation = "one timer fired: its lateness, from when it was due (an interval of 100 to "
                    "1000 us after it was armed) to its completion";
    for (size_t i = 0; i < sizeof(timer_counts) / sizeof(timer_counts[0]); i++) {
        one.batch = timer_counts[i];
        lm_list_add(&one, "concurrent", one.batch);
    }
}
