/* schedule.h - the order of a run's samples: pure arithmetic, the same for the same seed.
 *
 * Interleaved: for each iteration, for each case in an order shuffled anew, for each backend in
 * turn; who goes first moves on by one per iteration and per case. So a drift of the machine hits
 * all backends of a case alike, and none always runs on the heels of the same other's leavings.
 * Blocked: backend by backend, the same shuffles within each.
 */
#ifndef LM_SCHEDULE_H
#define LM_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sample's place. */
struct lm_step {
    uint32_t iteration;
    size_t case_index, backend_index;
};

struct lm_schedule {
    size_t cases, backends;
    uint32_t iterations;
    uint64_t seed;
    bool interleaved;
    /* Private. */
    size_t next;
    size_t *order; /* cases in the order of the present iteration */
};

/* Begins at the first step. The first five members are set by the caller, each > 0 but the seed. 0
 * or -ENOMEM. */
int lm_schedule_begin(struct lm_schedule *schedule);

/* The next step; false after the last: every combination comes exactly once. */
bool lm_schedule_next(struct lm_schedule *schedule, struct lm_step *step);

void lm_schedule_end(struct lm_schedule *schedule);

#endif
