#include "harness/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "harness/random.h"

/* Fisher-Yates. The remainder's bias is below 2^-50 for any list of cases. */
static void shuffle(struct lm_schedule *schedule, uint32_t iteration)
{
    uint64_t state = schedule->seed;
    state = lm_random_next(&state) + iteration;
    for (size_t i = 0; i < schedule->cases; i++) {
        schedule->order[i] = i;
    }
    for (size_t i = schedule->cases - 1; i > 0; i--) {
        size_t other = (size_t)(lm_random_next(&state) % (i + 1));
        size_t kept = schedule->order[i];
        schedule->order[i] = schedule->order[other];
        schedule->order[other] = kept;
    }
}

int lm_schedule_begin(struct lm_schedule *schedule)
{
    schedule->next = 0;
    schedule->order = calloc(schedule->cases, sizeof(*schedule->order));
    return schedule->order != NULL ? 0 : -ENOMEM;
}

bool lm_schedule_next(struct lm_schedule *schedule, struct lm_step *step)
{
    size_t cases = schedule->cases, backends = schedule->backends;
    size_t at = schedule->next;
    if (at / cases / backends >= schedule->iterations) {
        return false;
    }
    schedule->next++;
    size_t position; /* in the shuffled order of cases */
    if (schedule->interleaved) {
        position = at / backends % cases;
        step->iteration = (uint32_t)(at / backends / cases);
    } else {
        position = at % cases;
        step->iteration = (uint32_t)(at / cases % schedule->iterations);
    }
    if (position == 0 && (!schedule->interleaved || at % backends == 0)) {
        shuffle(schedule, step->iteration);
    }
    step->case_index = schedule->order[position];
    step->backend_index = schedule->interleaved
                              ? (at + step->iteration + step->case_index) % backends
                              : at / cases / schedule->iterations;
    return true;
}

void lm_schedule_end(struct lm_schedule *schedule)
{
    free(schedule->order);
    schedule->order = NULL;
}
