/* runner.h - takes a plan's samples, each in a fresh worker, and appends them to the results.
 *
 * It neither plans nor compares. SIGINT and SIGTERM end it cleanly after the sample that is being
 * taken, a second one at once and without that sample.
 */
#ifndef LM_RUNNER_H
#define LM_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/plan.h"
#include "harness/results_writer.h"

struct lm_run_outcome {
    size_t planned; /* samples of the whole run that are not skipped */
    size_t present; /* of these in the file now, with those of an earlier part of a resumed run */
    size_t failed;  /* of those */
    bool interrupted;
};

/* How many samples are still to be taken, given those already there. 0 samples is not an error. */
size_t lm_runner_left(const struct lm_plan *plan, const struct lm_sample *present,
                      size_t present_count);

/* Takes what is left of the plan. `present` are the samples of an earlier part. Returns 0 and fills
 * *outcome, also when samples failed or it was interrupted; or a negative errno with one line in
 * `error` when the results can not be written or no worker can be started. */
int lm_runner_run(const struct lm_plan *plan, const struct lm_sample *present, size_t present_count,
                  struct lm_results_writer *writer, struct lm_run_outcome *outcome, char *error,
                  size_t error_bytes);

#endif
