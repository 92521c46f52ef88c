#include "suites/stage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suites/connection.h"

static _Thread_local struct lm_recorder *thread_recorder;

struct lm_recorder *lm_stage_recorder(void)
{
    return thread_recorder;
}

void lm_stage_fail(struct lm_stage *stage, const char *format, ...)
{
    pthread_mutex_lock(&stage->lock);
    if (!stage->result->error[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(stage->result->error, sizeof(stage->result->error), format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&stage->lock);
    for (uint32_t i = 0; i < stage->loop_count; i++) {
        stage->backend->loop_stop(stage->loops[i]);
    }
}

/* --- the borders of the measured phase
 * ------------------------------------------------------------ */

static void read_counters(const struct lm_stage *stage, struct lm_counters *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (uint32_t i = 0; i < stage->loop_count; i++) {
        struct lm_counters one;
        stage->backend->loop_counters(stage->loops[i], &one);
        for (int kind = 0; kind < LM_SYS_COUNT; kind++) {
            sum->syscalls[kind] += one.syscalls[kind];
        }
        sum->waits += one.waits;
        sum->wakeups += one.wakeups;
        sum->speculative_hits += one.speculative_hits;
        sum->speculative_misses += one.speculative_misses;
        sum->overflows += one.overflows;
    }
}

static void subtract_counters(struct lm_counters *counters, const struct lm_counters *before)
{
    for (int kind = 0; kind < LM_SYS_COUNT; kind++) {
        counters->syscalls[kind] -= before->syscalls[kind];
    }
    counters->waits -= before->waits;
    counters->wakeups -= before->wakeups;
    counters->speculative_hits -= before->speculative_hits;
    counters->speculative_misses -= before->speculative_misses;
    counters->overflows -= before->overflows;
}

static void begin_measuring(struct lm_stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    if (!stage->measuring) {
        stage->measuring = true;
        stage->setup->on_measure_begin(stage->setup->context);
        read_counters(stage, &stage->before);
    }
    pthread_mutex_unlock(&stage->lock);
}

static void end_measuring(struct lm_stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    if (stage->measuring && !stage->measured) {
        stage->measured = true;
        read_counters(stage, &stage->result->counters);
        subtract_counters(&stage->result->counters, &stage->before);
        stage->setup->on_measure_end(stage->setup->context);
    }
    pthread_mutex_unlock(&stage->lock);
}

static void on_phase(void *context, enum lm_phase phase)
{
    struct lm_stage *stage = context;
    if (phase == LM_PHASE_MEASURE) {
        begin_measuring(stage);
    } else if (!stage->measures_drain) {
        end_measuring(stage);
    }
}

void lm_stage_chain_begin(struct lm_stage *stage)
{
    atomic_fetch_add(&stage->chains, 1);
}

void lm_stage_chain_end(struct lm_stage *stage)
{
    if (atomic_fetch_sub(&stage->chains, 1) == 1 && stage->measures_drain) {
        end_measuring(stage);
    }
}

/* --- opening and closing
 * -------------------------------------------------------------------------- */

int lm_stage_open(struct lm_stage *stage, const struct lm_case *which,
                  const struct lm_case_setup *setup, struct lm_case_result *result,
                  bool measures_drain)
{
    bool split = which->flags & LM_CASE_SPLIT;
    struct lm_loop_config config = {
        .threads = split ? 1 : which->threads,
        .lockless =
            (which->flags & LM_CASE_LOCKLESS) && (setup->backend->capabilities & LM_CAP_LOCKLESS),
        .options = setup->options,
    };
    *stage = (struct lm_stage){.which = which,
                               .setup = setup,
                               .result = result,
                               .backend = setup->backend,
                               .thread_count = which->threads,
                               .measures_drain = measures_drain};
    pthread_mutex_init(&stage->lock, NULL);
    pthread_cond_init(&stage->met, NULL);
    int error = 0;
    stage->recorders = calloc(stage->thread_count, sizeof(*stage->recorders));
    if (!stage->recorders) {
        error = -ENOMEM;
    }
    for (uint32_t i = 0; i < (split ? 2u : 1u) && !error; i++) {
        error = stage->backend->loop_create(&config, &stage->loops[i]);
        stage->loop_count += !error;
    }
    if (error) {
        lm_stage_fail(stage, "%s could not make its loop: %s", setup->backend->name,
                      strerror(-error));
        lm_stage_close(stage);
    }
    return error;
}

void lm_stage_close(struct lm_stage *stage)
{
    for (uint32_t i = 0; i < stage->loop_count; i++) {
        stage->backend->loop_destroy(stage->loops[i]);
    }
    free(stage->recorders);
    pthread_cond_destroy(&stage->met);
    pthread_mutex_destroy(&stage->lock);
}

static int give_socket(struct lm_stage *stage, struct lm_loop *loop, int fd, uint32_t affinity,
                       struct lm_socket **socket)
{
    int error = stage->backend->socket_open(loop, fd, affinity, socket);
    if (error) {
        close(fd);
        lm_stage_fail(stage, "%s could not take over a socket: %s", stage->backend->name,
                      strerror(-error));
    }
    return error;
}

int lm_stage_socket(struct lm_stage *stage, int fd, uint32_t affinity, struct lm_socket **socket)
{
    return give_socket(stage, stage->loops[0], fd, affinity, socket);
}

int lm_stage_connect(struct lm_stage *stage, uint32_t index, struct lm_pair *pair)
{
    int error = lm_connected_pair(stage->which->local, pair->fds);
    if (error) {
        lm_stage_fail(stage, "connection %u of %u could not be made: %s", index + 1,
                      stage->which->pairs, strerror(-error));
        return error;
    }
    for (uint32_t end = 0; end < 2; end++) {
        struct lm_loop *loop = stage->loops[stage->loop_count > 1 ? end : 0];
        error = give_socket(stage, loop, pair->fds[end], index, &pair->ends[end]);
        if (error) {
            if (end == 0) {
                close(pair->fds[1]);
            }
            return error;
        }
    }
    return 0;
}

/* --- running
 * -------------------------------------------------------------------------------------- */

struct thread_start {
    struct lm_stage *stage;
    struct lm_loop *loop;
    struct lm_recorder *recorder;
    uint32_t index;
};

static void run_loop(struct lm_stage *stage, struct lm_loop *loop)
{
    int error = stage->backend->loop_run(loop);
    if (error) {
        lm_stage_fail(stage, "%s's loop_run failed: %s", stage->backend->name, strerror(-error));
    }
}

/* Waits until all threads are here. */
static void meet(struct lm_stage *stage)
{
    if (stage->thread_count == 1) {
        return;
    }
    pthread_mutex_lock(&stage->lock);
    uint32_t meeting = stage->meetings;
    if (++stage->arrived >= stage->crew) {
        stage->arrived = 0;
        stage->meetings++;
        pthread_cond_broadcast(&stage->met);
    }
    while (meeting == stage->meetings) {
        pthread_cond_wait(&stage->met, &stage->lock);
    }
    pthread_mutex_unlock(&stage->lock);
}

/* No more threads will come than these. */
static void set_crew(struct lm_stage *stage, uint32_t crew)
{
    pthread_mutex_lock(&stage->lock);
    stage->crew = crew;
    pthread_mutex_unlock(&stage->lock);
}

static bool has_failed(struct lm_stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    bool failed = stage->result->error[0] != '\0';
    pthread_mutex_unlock(&stage->lock);
    return failed;
}

static void run_rounds(struct lm_stage *stage, const struct thread_start *start)
{
    const struct lm_rounds *rounds = stage->rounds;
    do {
        rounds->begin(rounds->context, start->index);
        meet(stage);
        run_loop(stage, start->loop);
        meet(stage);
        if (start->index == 0) {
            stage->another_round = !has_failed(stage) && rounds->end(rounds->context);
        }
        meet(stage);
    } while (stage->another_round);
}

static void *run_thread(void *argument)
{
    struct thread_start *start = argument;
    thread_recorder = start->recorder;
    if (start->stage->rounds) {
        run_rounds(start->stage, start);
    } else {
        run_loop(start->stage, start->loop);
    }
    thread_recorder = NULL;
    return NULL;
}

static void run_threads(struct lm_stage *stage)
{
    struct thread_start starts[LM_MAX_THREADS];
    pthread_t threads[LM_MAX_THREADS];
    uint32_t started = 1; /* the calling thread is number 0 */
    set_crew(stage, stage->thread_count);
    for (uint32_t i = 0; i < stage->thread_count; i++) {
        starts[i] = (struct thread_start){stage, stage->loops[stage->loop_count > 1 ? i : 0],
                                          &stage->recorders[i], i};
        lm_recorder_start(&stage->recorders[i], stage->setup->warmup_ns, stage->setup->duration_ns,
                          stage->measures_drain, on_phase, stage);
    }
    for (; started < stage->thread_count; started++) {
        int error = pthread_create(&threads[started], NULL, run_thread, &starts[started]);
        if (error) {
            lm_stage_fail(stage,
                          "thread %u of %u could not be started: %s; raise the limits of threads "
                          "and memory: ulimit -u, ulimit -v",
                          started + 1, stage->thread_count, strerror(error));
            set_crew(stage, started); /* this thread is one of them and has yet to come */
            break;
        }
    }
    run_thread(&starts[0]);
    for (uint32_t i = 1; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void fill_result(struct lm_stage *stage)
{
    struct lm_case_result *result = stage->result;
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    lm_histogram_clear(&result->latency);
    for (uint32_t i = 0; i < stage->thread_count; i++) {
        const struct lm_recorder *recorder = &stage->recorders[i];
        result->drained_operations += recorder->drained_operations;
        result->drained_bytes += recorder->drained_bytes;
        if (recorder->phase == LM_PHASE_WARMUP) {
            continue; /* a thread that no work came to in time */
        }
        lm_histogram_merge(&result->latency, &recorder->latency);
        result->bytes += recorder->bytes;
        begin_ns = recorder->begin_ns < begin_ns ? recorder->begin_ns : begin_ns;
        end_ns = recorder->end_ns > end_ns ? recorder->end_ns : end_ns;
    }
    result->operations = result->latency.count;
    if (!result->operations || end_ns <= begin_ns) {
        lm_stage_fail(stage,
                      "no operation ended in the measured phase; give it a longer --duration");
        return;
    }
    result->elapsed_ns = end_ns - begin_ns;
    double elapsed_s = (double)result->elapsed_ns / 1e9;
    switch (stage->which->metric) {
    case LM_METRIC_OPS_PER_S:
        result->metric = (double)result->operations / elapsed_s;
        break;
    case LM_METRIC_BYTES_PER_S:
        result->metric = (double)result->bytes / elapsed_s;
        break;
    case LM_METRIC_MEAN_NS:
        result->metric = (double)result->latency.sum_ns / (double)result->operations;
        break;
    }
}

int lm_stage_run(struct lm_stage *stage)
{
    if (!stage->result->error[0]) {
        run_threads(stage);
    }
    int32_t open = (int32_t)atomic_load(&stage->chains);
    if (!stage->result->error[0] && open > 0) {
        lm_stage_fail(stage,
                      "%s's loop ran out of work with %d chains of operations unfinished: a "
                      "completion was lost",
                      stage->backend->name, open);
    } else if (!stage->result->error[0] && open < 0) {
        lm_stage_fail(stage, "%s ended %d chains of operations twice: a completion came twice",
                      stage->backend->name, -open);
    }
    if (!stage->result->error[0]) {
        fill_result(stage);
    }
    return stage->result->error[0] ? -EIO : 0;
}

int lm_stage_run_rounds(struct lm_stage *stage, const struct lm_rounds *rounds)
{
    stage->rounds = rounds;
    return lm_stage_run(stage);
}
