/* timers.h - a lane's timers: an intrusive pairing heap of operations, so arming allocates nothing.
 */
#ifndef LM_TIMERS_H
#define LM_TIMERS_H

#include "backends/loop.h"

/* Puts op, whose lm_work.due_ns is set, into the heap. */
void lm_timers_add(struct lm_lane *lane, struct lm_op *op);

/* Takes op out of the heap it is in. */
void lm_timers_remove(struct lm_lane *lane, struct lm_op *op);

/* Completes all timers due at now_ns. */
void lm_timers_expire(struct lm_lane *lane, uint64_t now_ns);

#endif
