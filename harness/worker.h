/* worker.h - one case on one backend in a process of its own: what the runner asks a worker, and
 * what it answers. Both ends of the exchange are in worker.c, so that they can not drift apart.
 *
 * The request is the worker's command line; the answer is one `sample` record (results.md), written
 * to LM_PROCESS_RESULT_FD. It knows nothing of iterations or other backends.
 */
#ifndef LM_WORKER_H
#define LM_WORKER_H

#include <stdint.h>

#include "harness/results.h"

struct lm_worker_request {
    const char *case_name;
    const char *spec;
    uint64_t warmup_ns, duration_ns;
};

/* Runs a worker for the request, with a time limit. Whatever happens to it becomes a sample: ok
 * with its figures, skipped when the machine has no room for the case, or failed with the reason
 * (signal, exit code, time limit, a broken answer) and its last words. Case and backend index and
 * iteration of *sample are left at 0. Returns 0 and *sample is the caller's (lm_sample_clear);
 * -EINTR when it was killed by a second Ctrl-C, or another negative errno when no worker could be
 * started: then there is no sample. */
int lm_worker_run(const struct lm_worker_request *request, double timeout_s,
                  struct lm_sample *sample);

/* The worker's side. Reads its own command line and ties its life to the runner's. 0, or a negative
 * errno and one line on stderr. */
int lm_worker_begin(int argc, char **argv, struct lm_worker_request *request);

/* The exit code that goes with an answer of this status (enum lm_exit). */
int lm_worker_exit_code(enum lm_sample_status status);

/* The worker's side. Hands the answer over. 0 or a negative errno. */
int lm_worker_answer(const struct lm_worker_request *request, const struct lm_sample *sample);

#endif
