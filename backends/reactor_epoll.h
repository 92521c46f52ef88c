/* reactor_epoll.h - sockets and timers over epoll, as Asio's epoll_reactor does it.
 *
 * A socket's descriptor is registered once, edge-triggered, when it is opened. An operation is
 * tried at once where that may succeed, and otherwise waits in the socket's queue; the socket is
 * itself a task that the scheduler runs when epoll reported it, and only then is I/O done. Which
 * system calls the operations make is not known here: lm_reactor_op.perform.
 */
#ifndef LM_REACTOR_EPOLL_H
#define LM_REACTOR_EPOLL_H

#include <stdatomic.h>

#include "backends/reactor_op.h"
#include "backends/reactor_scheduler.h"
#include "backends/reactor_timers.h"

enum lm_reactor_direction {
    LM_REACTOR_READ,  /* recv, accept */
    LM_REACTOR_WRITE, /* send, connect */
    LM_REACTOR_DIRECTIONS
};

/* A descriptor's state. It comes from the reactor's pool and its memory lives as long as the
 * reactor, so that an event that comes late finds empty queues. */
struct lm_socket {
    struct lm_reactor_task task; /* untouched by opening and closing: it may still be enqueued */
    struct lm_reactor *reactor;
    struct lm_socket *next, *previous; /* in the pool's list; under the registration mutex */
    struct lm_reactor_mutex mutex;     /* guards what follows */
    int fd;                            /* -1 when closed */
    uint32_t registered_events;
    struct lm_reactor_queue queues[LM_REACTOR_DIRECTIONS];
    bool try_speculative[LM_REACTOR_DIRECTIONS];
    bool possible_dup;        /* accepted: Asio then does not trust that close() ends the watch */
    atomic_bool non_blocking; /* set by whichever operation comes first */
};

struct lm_reactor {
    struct lm_reactor_poller poller;
    struct lm_reactor_scheduler *scheduler;
    int epoll_fd;
    int event_fd; /* written once; a modification of its watch interrupts epoll_wait */
    int timer_fd;
    bool io_locking;
    struct lm_reactor_mutex mutex; /* registration: guards what follows */
    struct lm_socket *live, *free;
    struct lm_reactor_timers timers;
};

/* Opens the reactor as the scheduler's poller. 0, or a negative errno and in *call the name of the
 * system call that failed. The scheduler is only kept, not used.
 * registration_locking, io_locking  false: the lock is switched off, all calls come from one thread
 */
int lm_reactor_open(struct lm_reactor *reactor, struct lm_reactor_scheduler *scheduler,
                    bool registration_locking, bool io_locking, const char **call);
/* Closes it and all sockets that are still open. */
void lm_reactor_close(struct lm_reactor *reactor);

/* Takes a socket without a descriptor from the pool; NULL when memory is short. */
struct lm_socket *lm_reactor_take(struct lm_reactor *reactor);
/* Gives a socket without a descriptor back. */
void lm_reactor_give_back(struct lm_socket *socket);
/* Makes fd the descriptor of a socket without one. On failure (negative errno) it is not. */
int lm_reactor_register(struct lm_socket *socket, int fd, bool possible_dup);
/* Closes the descriptor, ends the queued operations with -ECANCELED, gives the socket back. */
void lm_reactor_socket_close(struct lm_socket *socket);

/* Starts an operation whose task.run, perform and socket are set.
 * speculate  try it at once when nothing is queued before it; otherwise have epoll look at the
 *            descriptor anew */
void lm_reactor_start(struct lm_reactor_op *op, enum lm_reactor_direction direction,
                      bool speculate);
/* Ends an operation of lm_reactor_start or _start_timer with -ECANCELED if it is still queued. */
void lm_reactor_cancel(struct lm_reactor *reactor, struct lm_reactor_op *op);

/* Starts an operation that is done delay_ns from now; task.run is set. */
void lm_reactor_start_timer(struct lm_reactor *reactor, struct lm_reactor_op *op,
                            uint64_t delay_ns);

#endif
