/* progress.h - tells on stderr how far a run is: one line that is updated on a terminal, plain
 * lines now and then elsewhere. It decides nothing.
 */
#ifndef LM_PROGRESS_H
#define LM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/results.h"

struct lm_progress {
    const struct lm_run *run;
    size_t total;  /* samples this process will take */
    size_t done;   /* of these */
    size_t failed; /* of those */
    /* Private. */
    bool terminal;
    uint64_t begin_ns;
    uint32_t last_iteration;
    size_t last_tenth;
    char last_value[48]; /* of the latest sample */
};

void lm_progress_begin(struct lm_progress *progress, const struct lm_run *run, size_t total);

/* A sample is about to be taken; one has been. A failure is told at once. */
void lm_progress_next(struct lm_progress *progress, const struct lm_sample *place);
void lm_progress_sample(struct lm_progress *progress, const struct lm_sample *sample);

/* Clears the line, so that what is printed next stands alone. */
void lm_progress_end(struct lm_progress *progress);

/* "45 s", "12 min", "1 h 5 min". */
void lm_format_duration(double seconds, char *text, size_t text_bytes);

#endif
