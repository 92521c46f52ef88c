/* event_loop.c - micro family event_loop: what posting a completion costs, with no socket.
 *
 * A round: no-op operations are posted, then the loop runs until it is idle. One post takes some
 * ten nanoseconds, no more than reading the clock, so a round is timed as a whole, posting
 * included, and each of its posts counts as an equal share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suites/list.h"
#include "suites/stage.h"

/* On each thread that runs the loop: posts completed in this round. */
static _Thread_local uint64_t *completed_here;

struct post {
    struct lm_op op;
    struct rounds *rounds;
    uint64_t number; /* of rounds it has completed in */
};

struct rounds {
    struct lm_stage *stage;
    struct post *posts;
    uint32_t post_count, feeders;
    uint64_t number; /* of the round under way, from 0 */
    uint64_t started_ns;
    struct {
        _Alignas(64) uint64_t completed;
    } threads[LM_MAX_THREADS];
};

static void posted(struct lm_op *op, int64_t result)
{
    struct post *post = (struct post *)op;
    if (result || post->number != post->rounds->number) {
        lm_stage_fail(post->rounds->stage, "round %llu: a post completed %s",
                      (unsigned long long)post->rounds->number,
                      result ? "with an error" : "more than once");
    }
    const struct rounds *rounds = post->rounds;
    /* A loop of one thread completes posts of one thread in order. */
    if (rounds->stage->thread_count == 1 && post != rounds->posts + *completed_here) {
        lm_stage_fail(rounds->stage, "round %llu: a post was lost or came out of order",
                      (unsigned long long)rounds->number);
    }
    post->number++;
    ++*completed_here;
}

/* Thread 0 feeds all, or each thread its own share. */
static void begin_round(void *context, uint32_t thread)
{
    struct rounds *rounds = context;
    struct lm_stage *stage = rounds->stage;
    rounds->threads[thread].completed = 0;
    completed_here = &rounds->threads[thread].completed;
    if (thread == 0) {
        rounds->started_ns = lm_clock_ns();
    }
    if (thread >= rounds->feeders) {
        return;
    }
    uint32_t share = rounds->post_count / rounds->feeders;
    for (uint32_t i = 0; i < share; i++) {
        stage->backend->post(stage->loops[0], &rounds->posts[thread * share + i].op);
    }
    if (*completed_here) { /* no thread runs the loop yet */
        lm_stage_fail(stage, "round %llu: a post completed inside the call that posted it",
                      (unsigned long long)rounds->number);
    }
}

static bool end_round(void *context)
{
    struct rounds *rounds = context;
    uint64_t now_ns = lm_clock_ns(), completed = 0;
    for (uint32_t i = 0; i < rounds->stage->thread_count; i++) {
        completed += rounds->threads[i].completed;
    }
    if (completed != rounds->post_count) {
        lm_stage_fail(rounds->stage, "round %llu: %llu of %u posts completed",
                      (unsigned long long)rounds->number, (unsigned long long)completed,
                      rounds->post_count);
        return false;
    }
    rounds->number++;
    return lm_recorder_add(lm_stage_recorder(), now_ns, now_ns - rounds->started_ns,
                           rounds->post_count, 0) != LM_PHASE_DRAIN;
}

static int run_event_loop(const struct lm_case *which, const struct lm_case_setup *setup,
                          struct lm_case_result *result)
{
    struct lm_stage stage;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    struct rounds rounds = {.stage = &stage,
                            .posts = calloc(which->batch, sizeof(struct post)),
                            .post_count = which->batch,
                            .feeders = which->feeders};
    if (!rounds.posts) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->batch && !error; i++) {
        rounds.posts[i] = (struct post){.op.done = posted, .rounds = &rounds};
    }
    if (!error) {
        error =
            lm_stage_run_rounds(&stage, &(const struct lm_rounds){begin_round, end_round, &rounds});
    }
    lm_stage_close(&stage);
    free(rounds.posts);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family family = {
    "event_loop", "how fast a loop takes posted completions and runs them; no sockets"};

void lm_list_event_loop(void)
{
    static const struct {
        const char *shape;
        int64_t argument;
        uint32_t batch, threads, feeders;
        bool lockless;
    } shapes[] = {
        {"post", -1, 1000, 1, 1, false},           {"post_lockless", -1, 1000, 1, 1, true},
        {"interleaved", -1, 100, 1, 1, false},     {"interleaved_lockless", -1, 100, 1, 1, true},
        {"multithreaded", 8, 100000, 8, 1, false}, {"concurrent", 4, 40000, 4, 4, false},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct lm_case one = {
            .family = &family,
            .operation = "one post and its completion, an equal share of a round of posting and "
                         "running until idle",
            .metric = LM_METRIC_OPS_PER_S,
            .flags = LM_CASE_MICRO | (shapes[i].lockless ? LM_CASE_LOCKLESS : 0),
            .capabilities = shapes[i].threads > 1 ? LM_CAP_THREADS : 0,
            .threads = shapes[i].threads,
            .run = run_event_loop,
            .batch = shapes[i].batch,
            .feeders = shapes[i].feeders,
        };
        lm_list_add(&one, shapes[i].shape, shapes[i].argument);
    }
}
