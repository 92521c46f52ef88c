/* reactor_timers.h - the timers of a reactor: a binary heap of due times, as Asio's timer_queue.
 *
 * Not thread safe: the reactor's registration mutex guards it. It does not know how time passes.
 */
#ifndef LM_REACTOR_TIMERS_H
#define LM_REACTOR_TIMERS_H

#include "backends/reactor_op.h"

/* lm_reactor_op.heap_index of a timer that is not in the heap. */
#define LM_REACTOR_NO_INDEX SIZE_MAX

struct lm_reactor_timer {
    uint64_t due_ns; /* lm_clock_ns */
    struct lm_reactor_op *op;
};

/* All zero is an empty heap. */
struct lm_reactor_timers {
    struct lm_reactor_timer *heap; /* owned */
    size_t count, capacity;
};

void lm_reactor_timers_free(struct lm_reactor_timers *timers);

/* Adds a timer. 1 when it is now the earliest, 0 when not, -ENOMEM. */
int lm_reactor_timers_add(struct lm_reactor_timers *timers, struct lm_reactor_op *op,
                          uint64_t due_ns);

/* Takes a timer out. False when it is not in: it fired, or was taken out before. */
bool lm_reactor_timers_remove(struct lm_reactor_timers *timers, struct lm_reactor_op *op);

/* Moves the timers due at now_ns to the end of `due`, earliest first. */
void lm_reactor_timers_take_due(struct lm_reactor_timers *timers, uint64_t now_ns,
                                struct lm_reactor_queue *due);

#endif
