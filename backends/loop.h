/* loop.h - the loop that our own backends share: ready lists, posts, timers, threads, idleness.
 *
 * A loop is one lane per thread. A lane owns the sockets and operations that live on it and is the
 * only one to touch them; other threads hand it work through its inbox, with at most one wake-up.
 * What differs between backends (how queued operations are tried, how the lane waits) is an engine:
 * readiness.c is the one for epoll, poll and spin, io_uring.c has its own. The reactor does not use
 * this file: its design is Asio's.
 *
 * Not for: anything a backend author outside this tree needs; that is backend.h.
 */
#ifndef LM_LOOP_H
#define LM_LOOP_H

#include <pthread.h>
#include <stdatomic.h>

#include "backends/backend.h"
#include "backends/counters.h"
#include "backends/slab.h"

struct lm_lane;

/* What an operation is doing. Only its lane reads or writes this once it is started. */
enum lm_op_kind {
    LM_OP_POST,
    LM_OP_TIMER,
    LM_OP_SEND,
    LM_OP_CONNECT,
    LM_OP_RECV,
    LM_OP_ACCEPT
};
enum lm_op_state {
    LM_OP_IDLE,   /* not started, or completed: the value of a zeroed operation */
    LM_OP_QUEUED, /* waits to be tried */
    LM_OP_PARKED, /* waits for the operating system (readiness: armed; ring: submitted) */
    LM_OP_TIMING, /* in the timer heap */
    LM_OP_READY   /* has its result; waits for its callback */
};

/* The view of lm_op.backend_private that all lanes share. */
struct lm_work {
    struct lm_op *next; /* ready list, queue or inbox: an operation is in one of them at a time */
    union {
        struct lm_base *socket; /* socket operations */
        struct lm_op *previous; /* timers: the sibling to the left, or the parent */
    };
    union {
        void *buffer;
        struct lm_op *child; /* timers */
    };
    union {
        size_t bytes;
        uint64_t due_ns; /* timers */
    };
    int64_t result;
    uint8_t kind, state;
    _Atomic uint16_t home; /* index of the lane it was started on */
    uint32_t flags;        /* the engine's */
    union {
        struct lm_socket **accepted;
        const struct sockaddr *address; /* connect: its length is in `bytes` */
    };
    _Atomic uintptr_t cancel_link; /* inbox link of a cancel from another thread; 0 = none */
};

static inline struct lm_work *lm_work_of(struct lm_op *op)
{
    _Static_assert(sizeof(struct lm_work) <= sizeof(op->backend_private), "fits the contract");
    return (struct lm_work *)op->backend_private;
}

/* First-in first-out list of operations, linked by lm_work.next. */
struct lm_queue {
    struct lm_op *first, *last;
};

static inline void lm_queue_push(struct lm_queue *queue, struct lm_op *op)
{
    lm_work_of(op)->next = NULL;
    if (queue->first) {
        lm_work_of(queue->last)->next = op;
    } else {
        queue->first = op;
    }
    queue->last = op;
}

static inline struct lm_op *lm_queue_pop(struct lm_queue *queue)
{
    struct lm_op *op = queue->first;
    if (op) {
        queue->first = lm_work_of(op)->next;
    }
    return op;
}

/* Takes op out of the middle; it must be in the queue. */
void lm_queue_remove(struct lm_queue *queue, struct lm_op *op);

/* The part every engine's socket begins with. It lives in its lane's slab: memory is reused, never
 * freed before the loop, and `slab.generation` tells a stale event from a current one. */
struct lm_base {
    struct lm_slab_item slab;
    struct lm_lane *lane;
    int fd;                       /* -1 when closed */
    struct lm_op *in, *out;       /* outstanding recv or accept; send or connect */
    _Atomic uintptr_t close_link; /* inbox link of a close from another thread */
};

/* An engine: the backend-specific half of a lane. All but `wake` run on the lane's thread, save
 * lane_open and lane_close, which run on the thread that makes or frees the loop. */
struct lm_engine {
    size_t lane_bytes;   /* size of the engine's lane structure, which begins with struct lm_lane */
    size_t socket_bytes; /* size of its socket structure, which begins with struct lm_base */
    int (*lane_open)(struct lm_lane *lane, const struct lm_loop_config *config);
    void (*lane_close)(struct lm_lane *lane);
    /* The thread that will run this lane has arrived (first loop_run). Optional. */
    int (*lane_enter)(struct lm_lane *lane);
    /* The thread leaves loop_run: the loop is stopped, idle or has failed. Optional. */
    void (*lane_leave)(struct lm_lane *lane);
    /* A socket operation has been started: in state QUEUED, buffer, bytes, kind filled. It must not
     * call lm_lane_complete's callback; completing into the ready list is fine. */
    void (*start)(struct lm_lane *lane, struct lm_op *op);
    /* Takes back a socket operation that is QUEUED or PARKED. The engine completes it with
     * -ECANCELED through lm_lane_complete, now or (ring) when the kernel has answered. */
    void (*cancel)(struct lm_lane *lane, struct lm_op *op);
    /* Ends a socket: pending operations have been given to `cancel`. Closes the descriptor and
     * returns the memory to the slab, now or when nothing refers to it any more. */
    void (*close)(struct lm_lane *lane, struct lm_base *socket);
    /* One turn: tries what is queued, then looks at the operating system. timeout_ns: 0 = do not
     * sleep, -1 = no limit, else at most so long. Completions go through lm_lane_complete.
     * Before sleeping it calls lm_lane_may_sleep and after it lm_lane_woke. */
    int (*turn)(struct lm_lane *lane, int64_t timeout_ns);
    /* Makes a sleeping lane return from its turn, by one write(2) to its eventfd or pipe. Any
     * thread; called at most once per sleep. */
    void (*wake)(struct lm_lane *lane);
};

struct lm_lane {
    struct lm_loop *loop;
    struct lm_queue ready; /* results waiting for their callbacks */
    uint64_t outstanding;  /* operations that live here and whose callback has not begun */
    struct lm_op *timers;  /* pairing heap, earliest at the root */
    bool counted;          /* this lane is one unit of loop->busy */
    bool owned;            /* a thread has taken this lane */
    pthread_t owner;
    uint32_t index;
    struct lm_slab sockets;
    struct lm_atomic_counters counters;
    _Alignas(64) _Atomic uintptr_t inbox; /* tagged links, newest first */
    _Atomic bool asleep;
};

struct lm_loop {
    const struct lm_engine *engine;
    uint32_t lane_count;
    bool lockless, shared; /* shared: lane_count > 1 */
    struct lm_lane *lanes[LM_MAX_THREADS];
    _Atomic bool stopped;
    /* Shared mode: lanes with outstanding work plus messages in inboxes; 0 = idle. */
    _Atomic uint64_t busy;
    _Atomic uint32_t next_lane; /* where posts from outside go */
    _Atomic uint64_t wakeups;   /* counted here: the waker may be no thread of the loop */
    pthread_mutex_t taking;     /* guards lane ownership */
};

/* --- for engines ------------------------------------------------------------------------------ */

/* Makes the result known; the callback runs in the lane's next turn. The lane's thread only. */
static inline void lm_lane_complete(struct lm_lane *lane, struct lm_op *op, int64_t result)
{
    struct lm_work *work = lm_work_of(op);
    work->result = result;
    work->state = LM_OP_READY;
    if (work->kind >= LM_OP_RECV) {
        work->socket->in = NULL;
    } else if (work->kind >= LM_OP_SEND) {
        work->socket->out = NULL;
    }
    lm_queue_push(&lane->ready, op);
}

/* A new socket of this lane around fd (for accept); NULL when memory is short. */
struct lm_base *lm_lane_socket(struct lm_lane *lane, int fd);

/* Announces that the lane is about to sleep. False: there is a message, do not. */
bool lm_lane_may_sleep(struct lm_lane *lane);
void lm_lane_woke(struct lm_lane *lane);

/* Instead of sleeping: calls look(lane), which does not sleep and returns 0, or a negative errno,
 * or a positive value to end the turn, for as long as nothing comes and neither spin_ns nor
 * *timeout_ns
 * (-1: no limit) has passed. Takes the time spent off *timeout_ns. True when the turn is over:
 * something came, the time is up, the loop is stopped, or *result is look's, not 0. */
bool lm_lane_spin(struct lm_lane *lane, int (*look)(struct lm_lane *lane), uint64_t spin_ns,
                  int64_t *timeout_ns, int *result);

/* --- the contract, ready to be put into a struct lm_backend ----------------------------------- */

int lm_loop_create(const struct lm_engine *engine, const struct lm_loop_config *config,
                   struct lm_loop **loop);
void lm_loop_destroy(struct lm_loop *loop);
int lm_loop_run(struct lm_loop *loop);
void lm_loop_stop(struct lm_loop *loop);
void lm_loop_counters(struct lm_loop *loop, struct lm_counters *counters);
int lm_loop_socket_open(struct lm_loop *loop, int fd, uint32_t affinity, struct lm_socket **socket);
void lm_loop_socket_close(struct lm_socket *socket);
void lm_loop_accept(struct lm_socket *listener, struct lm_op *op, struct lm_socket **accepted);
void lm_loop_connect(struct lm_socket *socket, struct lm_op *op, const struct sockaddr *address,
                     socklen_t address_bytes);
void lm_loop_recv(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes);
void lm_loop_send(struct lm_socket *socket, struct lm_op *op, const void *buffer, size_t bytes);
void lm_loop_post(struct lm_loop *loop, struct lm_op *op);
void lm_loop_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns);
void lm_loop_cancel(struct lm_loop *loop, struct lm_op *op);

/* Every member of struct lm_backend that this layer fills; loop_create stays the backend's own. */
#define LM_LOOP_MEMBERS                                                                            \
    .loop_destroy = lm_loop_destroy, .loop_run = lm_loop_run, .loop_stop = lm_loop_stop,           \
    .loop_counters = lm_loop_counters, .socket_open = lm_loop_socket_open,                         \
    .socket_close = lm_loop_socket_close, .accept = lm_loop_accept, .connect = lm_loop_connect,    \
    .recv = lm_loop_recv, .send = lm_loop_send, .post = lm_loop_post, .timer = lm_loop_timer,      \
    .cancel = lm_loop_cancel

#endif
