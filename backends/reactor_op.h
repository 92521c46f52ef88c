/* reactor_op.h - what the parts of the reactor backend share: operations, their queue, the mutex
 * that may be switched off.
 *
 * The reactor backend re-implements the structure of Asio 1.30 to 1.38 on Linux at equal cost; the
 * names of Asio's counterparts are given so that the two can be read side by side:
 *   reactor_op.h        scheduler_operation, reactor_op, op_queue, conditionally_enabled_mutex
 *   reactor_scheduler   scheduler, thread_info, call_stack, posix_event
 *   reactor_timers      timer_queue
 *   reactor_epoll       epoll_reactor, object_pool, eventfd_select_interrupter
 *   reactor.c           reactive_socket_service, socket_ops, and the backend's table
 *
 * Two things are left out. Asio takes an operation's memory from a per-thread cache of two blocks;
 * ours is embedded in the caller's struct lm_op (rule 1). Asio passes is_continuation, which is
 * true in the later steps of composed operations; the contract has none, so it would always be
 * false.
 *
 * Evidence of equality, against Boost.Asio 1.74 with callbacks: the same number of system calls of
 * each kind and of mutex locks (20 per round trip, 16 with hint 1, 0 with unsafe). A TCP round trip
 * takes 1-4 % less time than there, a local one 3-5 %: about 1100 instructions of 4300, most of
 * them for executors and error codes, a sixth for the blocks. So the baseline errs on the fast
 * side.
 */
#ifndef LM_REACTOR_OP_H
#define LM_REACTOR_OP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

struct lm_reactor_task;

/* Runs a task that a scheduler popped; `result` is the task's result at that moment. */
typedef void lm_reactor_run_fn(struct lm_reactor_task *task, uint32_t result);

/* A unit of work of a scheduler: an operation, or a descriptor with events to look into. It may lie
 * in lm_op.backend_private, whose declared type is another one: hence may_alias. */
struct __attribute__((may_alias)) lm_reactor_task {
    struct lm_reactor_task *next; /* NULL when last in a queue or in none */
    lm_reactor_run_fn *run;
    uint32_t result; /* a descriptor's epoll events */
    uint32_t kind;   /* enum lm_reactor_kind */
};

/* What an operation is, for cancel. Stays as it is when the operation completes. */
enum lm_reactor_kind {
    LM_REACTOR_NONE, /* never started */
    LM_REACTOR_POST,
    LM_REACTOR_IO,
    LM_REACTOR_TIMER
};

enum lm_reactor_status {
    LM_REACTOR_NOT_DONE, /* it would block */
    LM_REACTOR_DONE,
    LM_REACTOR_DONE_AND_EXHAUSTED /* done, and the next one would most likely block */
};

/* The reactor's view of lm_op.backend_private. */
struct __attribute__((may_alias)) lm_reactor_op {
    struct lm_reactor_task task;
    enum lm_reactor_status (*perform)(
        struct lm_reactor_op *op); /* one try; with the socket locked */
    struct lm_socket *socket;      /* I/O only */
    union {
        void *buffer;
        const void *const_buffer;
        struct lm_socket **accepted;
    };
    union {
        size_t bytes;
        struct lm_socket *peer; /* accept: the socket to be, taken from the pool */
        size_t heap_index;      /* timer: its place in the heap, LM_REACTOR_NO_INDEX when out */
    };
    int64_t result; /* for lm_op.done */
};

_Static_assert(sizeof(struct lm_reactor_op) <= sizeof(((struct lm_op *)0)->backend_private),
               "an operation of the reactor fits in struct lm_op");

static inline struct lm_reactor_op *lm_reactor_op_of(struct lm_op *op)
{
    return (struct lm_reactor_op *)(void *)op->backend_private;
}

/* lm_reactor_task.run of all operations that need nothing more: calls `done`. */
static inline void lm_reactor_done(struct lm_reactor_task *task, uint32_t result)
{
    struct lm_op *op =
        (struct lm_op *)(void *)((char *)task - offsetof(struct lm_op, backend_private));

    (void)result;
    op->done(op, ((struct lm_reactor_op *)task)->result);
}

/* First in, first out, linked through the tasks. All zero is an empty queue. */
struct lm_reactor_queue {
    struct lm_reactor_task *front, *back;
};

static inline void lm_reactor_push(struct lm_reactor_queue *queue, struct lm_reactor_task *task)
{
    task->next = NULL;
    if (queue->back != NULL) {
        queue->back->next = task;
    } else {
        queue->front = task;
    }
    queue->back = task;
}

/* Moves all of `from` to the end of `queue`. */
static inline void lm_reactor_splice(struct lm_reactor_queue *queue, struct lm_reactor_queue *from)
{
    if (from->front == NULL) {
        return;
    }
    if (queue->back != NULL) {
        queue->back->next = from->front;
    } else {
        queue->front = from->front;
    }
    queue->back = from->back;
    *from = (struct lm_reactor_queue){0};
}

/* NULL when empty. */
static inline struct lm_reactor_task *lm_reactor_pop(struct lm_reactor_queue *queue)
{
    struct lm_reactor_task *task = queue->front;

    if (task != NULL) {
        queue->front = task->next;
        if (queue->front == NULL) {
            queue->back = NULL;
        }
        task->next = NULL;
    }
    return task;
}

/* Is the task in this queue? It must be in no other one. */
static inline bool lm_reactor_enqueued(const struct lm_reactor_queue *queue,
                                       const struct lm_reactor_task *task)
{
    return task->next != NULL || queue->back == task;
}

/* A mutex that a concurrency hint may switch off. */
struct lm_reactor_mutex {
    pthread_mutex_t mutex;
    bool enabled;
};

static inline void lm_reactor_lock(struct lm_reactor_mutex *mutex)
{
    if (mutex->enabled) {
        pthread_mutex_lock(&mutex->mutex);
    }
}

static inline void lm_reactor_unlock(struct lm_reactor_mutex *mutex)
{
    if (mutex->enabled) {
        pthread_mutex_unlock(&mutex->mutex);
    }
}

#endif
