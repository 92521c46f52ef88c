/* stage.h - what every family needs around its work: loops, threads, recorders, the borders of the
 * measured phase, failure. A family opens a stage, opens its sockets on it, starts its first
 * operations, calls lm_stage_run and closes the stage.
 */
#ifndef LM_STAGE_H
#define LM_STAGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "suites/case.h"
#include "suites/recorder.h"

/* A connected pair on the stage. Index 0 is the client's end, 1 the server's. */
struct lm_pair {
    struct lm_socket *ends[2];
    int fds[2]; /* owned by the backend; for shutdown(2) */
};

/* Work in rounds, for cases that run a loop until it is idle again and again. In each round, on
 * each thread of the loop: begin, then loop_run; when all have returned, end on thread 0. */
struct lm_rounds {
    void (*begin)(void *context,
                  uint32_t thread); /* starts work; all have done so before any runs */
    bool (*end)(void *context);     /* judges the round, records it; false: it was the last */
    void *context;
};

struct lm_stage {
    const struct lm_case *which;
    const struct lm_case_setup *setup;
    struct lm_case_result *result;
    const struct lm_backend *backend;
    struct lm_loop *loops[2]; /* split cases: the client's, the server's; else one */
    uint32_t loop_count, thread_count;
    struct lm_recorder *recorders; /* one for each thread */
    bool measures_drain;
    _Atomic uint32_t chains; /* that have begun and not ended */
    pthread_mutex_t lock;    /* guards what follows, and result->error */
    bool measuring, measured;
    struct lm_counters before;
    const struct lm_rounds *rounds; /* NULL: the loops run once */
    bool another_round;
    uint32_t crew, arrived, meetings; /* threads that meet, have come, and how often all met */
    pthread_cond_t met;
};

/* Makes the loops and recorders. measures_drain: see recorder.h; the measured phase then ends when
 * the last chain ends. 0, or a negative errno with result->error filled; then nothing is to close.
 */
int lm_stage_open(struct lm_stage *stage, const struct lm_case *which,
                  const struct lm_case_setup *setup, struct lm_case_result *result,
                  bool measures_drain);

/* Opens connection number `index`: both ends on the one loop, with affinity `index`, or, in a split
 * case, one on each. 0, or a negative errno with the stage failed. */
int lm_stage_connect(struct lm_stage *stage, uint32_t index, struct lm_pair *pair);

/* Gives fd to the (client's) loop with this affinity. On failure fd is closed, the stage has
 * failed, and a negative errno is returned. */
int lm_stage_socket(struct lm_stage *stage, int fd, uint32_t affinity, struct lm_socket **socket);

/* Runs the loops until every chain has ended, and fills the result. 0, or a negative errno when the
 * stage failed. */
int lm_stage_run(struct lm_stage *stage);

/* The same in rounds, until `end` says so or the stage fails. */
int lm_stage_run_rounds(struct lm_stage *stage, const struct lm_rounds *rounds);

/* Frees loops (which closes their sockets) and recorders. */
void lm_stage_close(struct lm_stage *stage);

/* A chain of operations begins (before lm_stage_run, or in a completion) and ends. A stage whose
 * loops run out of work while a chain is open has lost a completion, and fails. Any thread. */
void lm_stage_chain_begin(struct lm_stage *stage);
void lm_stage_chain_end(struct lm_stage *stage);

/* The sample is worthless: keeps the first reason, stops the loops. Any thread. */
void lm_stage_fail(struct lm_stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The calling thread's recorder; only inside lm_stage_run. */
struct lm_recorder *lm_stage_recorder(void);

#endif
