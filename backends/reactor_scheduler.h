/* reactor_scheduler.h - the queue of work and the threads that run it, as Asio's scheduler does it.
 *
 * One mutex, one condition variable, one FIFO. A sentinel in the FIFO stands for "look at the
 * operating system": the thread that pops it polls, then puts what it found and the sentinel at
 * the end, so that everything found runs before the next poll. It knows nothing of sockets.
 */
#ifndef LM_REACTOR_SCHEDULER_H
#define LM_REACTOR_SCHEDULER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "backends/counters.h"
#include "backends/reactor_op.h"

/* What waits for the operating system (Asio's scheduler_task). */
struct lm_reactor_poller {
    /* Looks once, sleeping when `block`, and appends what is to run. 0 or a negative errno. */
    int (*poll)(struct lm_reactor_poller *poller, bool block, struct lm_reactor_queue *found);
    /* Makes a sleeping poll return. Called with the scheduler locked. */
    void (*interrupt)(struct lm_reactor_poller *poller);
};

/* One call of lm_reactor_scheduler_run, on that thread's stack (thread_info and its place in the
 * call stack). */
struct lm_reactor_thread {
    struct lm_reactor_scheduler *scheduler;
    struct lm_reactor_thread *below;  /* the run call this one is nested in, of any scheduler */
    struct lm_reactor_thread *others; /* next of the threads that run this scheduler */
    struct lm_reactor_queue private_queue;
    long private_work;
    struct lm_atomic_counters counters;
};

/* Innermost run call of this thread. */
extern _Thread_local struct lm_reactor_thread *lm_reactor_top;

struct lm_reactor_scheduler {
    struct lm_reactor_mutex mutex;
    pthread_cond_t condition;
    size_t event_state; /* bit 0: signalled; plus 2 for each waiting thread */
    struct lm_reactor_queue queue;
    struct lm_reactor_task sentinel;
    bool task_interrupted; /* the poller does not sleep, or was already told to return */
    bool stopped;
    bool stopped_for_good;
    bool one_thread;
    int error; /* what made the poller fail, a negative errno */
    /* Operations not yet completed. Asio keeps this counter atomic when all locks are off, so we do
     * too, for equal cost: the one exception to rule 6 of backend.h. With one_thread an operation
     * that completes at once does not touch it: private_work counts its start against the end of
     * the operation before. */
    atomic_long work;
    struct lm_reactor_poller *poller;
    struct lm_reactor_thread *threads; /* that run it now */
    struct lm_counters retired;        /* counts of run calls that have returned */
    struct lm_atomic_counters outside; /* counts of threads not inside a run call */
};

/* The run call of this scheduler that the calling thread is in, NULL when in none. */
static inline struct lm_reactor_thread *
lm_reactor_this_thread(const struct lm_reactor_scheduler *scheduler)
{
    struct lm_reactor_thread *thread = lm_reactor_top;

    while (thread != NULL && thread->scheduler != scheduler) {
        thread = thread->below;
    }
    return thread;
}

/* Adds one to a member of struct lm_atomic_counters; any thread. A thread that runs the scheduler
 * needs no locked instruction. */
#define LM_REACTOR_COUNT(scheduler_, member_)                                                      \
    do {                                                                                           \
        struct lm_reactor_thread *thread_ = lm_reactor_this_thread(scheduler_);                    \
        if (thread_ != NULL) {                                                                     \
            lm_count(&thread_->counters.member_);                                                  \
        } else if ((scheduler_)->mutex.enabled) {                                                  \
            atomic_fetch_add_explicit(&(scheduler_)->outside.member_, 1, memory_order_relaxed);    \
        } else {                                                                                   \
            lm_count(&(scheduler_)->outside.member_);                                              \
        }                                                                                          \
    } while (0)

/* locking     false: all calls come from one thread
 * one_thread  one thread runs it: no other one is woken, own posts go to the private queue */
void lm_reactor_scheduler_init(struct lm_reactor_scheduler *scheduler,
                               struct lm_reactor_poller *poller, bool locking, bool one_thread);
void lm_reactor_scheduler_destroy(struct lm_reactor_scheduler *scheduler);

/* As lm_backend.loop_run, loop_stop and loop_counters. */
int lm_reactor_scheduler_run(struct lm_reactor_scheduler *scheduler);
void lm_reactor_scheduler_stop(struct lm_reactor_scheduler *scheduler);
void lm_reactor_scheduler_counters(struct lm_reactor_scheduler *scheduler,
                                   struct lm_counters *counters);

/* Counts an operation that will be handed over by lm_reactor_post_deferred or poll later. */
void lm_reactor_work_started(struct lm_reactor_scheduler *scheduler);
/* Evens out the end of a task that completed no operation. Only from inside a task. */
void lm_reactor_work_compensate(struct lm_reactor_scheduler *scheduler);

/* Hands over a task that was not counted as work before. */
void lm_reactor_post_immediate(struct lm_reactor_scheduler *scheduler,
                               struct lm_reactor_task *task);
/* Hands over tasks that were; empties the queue. */
void lm_reactor_post_deferred(struct lm_reactor_scheduler *scheduler,
                              struct lm_reactor_queue *tasks);

#endif
