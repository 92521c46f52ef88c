#include "harness/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/process.h"
#include "harness/progress.h"
#include "harness/results_json.h"
#include "harness/schedule.h"
#include "harness/worker.h"

/* A run in progress. */
struct state {
    const struct lm_plan *plan;
    bool *present; /* for each iteration, case and backend: is its sample in the file? */
    struct lm_results_writer *writer;
    struct lm_run_outcome *outcome;
    struct lm_progress progress;
    char *error;
    size_t error_bytes;
};

static size_t place_of(const struct lm_run *run, uint32_t iteration, size_t case_index,
                       size_t backend_index)
{
    return ((size_t)iteration * run->case_count + case_index) * run->backend_count + backend_index;
}

/* Marks the samples that are there; NULL when memory is short. */
static bool *mark_present(const struct lm_run *run, const struct lm_sample *samples, size_t count)
{
    bool *present =
        calloc((size_t)run->iterations * run->case_count * run->backend_count, sizeof(*present));
    for (size_t i = 0; i < count && present != NULL; i++) {
        present[place_of(run, samples[i].iteration, samples[i].case_index,
                         samples[i].backend_index)] = true;
    }
    return present;
}

static void count_samples(const struct lm_plan *plan, const bool *present,
                          struct lm_run_outcome *outcome)
{
    const struct lm_run *run = plan->run;
    for (size_t c = 0; c < run->case_count; c++) {
        for (size_t b = 0; b < run->backend_count; b++) {
            if (lm_plan_skip_reason(plan, c, b) != NULL) {
                continue;
            }
            outcome->planned += run->iterations;
            for (uint32_t i = 0; i < run->iterations; i++) {
                outcome->present += present[place_of(run, i, c, b)];
            }
        }
    }
}

size_t lm_runner_left(const struct lm_plan *plan, const struct lm_sample *present,
                      size_t present_count)
{
    struct lm_run_outcome outcome = {.planned = 0};
    bool *marked = mark_present(plan->run, present, present_count);
    if (marked != NULL) {
        count_samples(plan, marked, &outcome);
    }
    free(marked);
    return outcome.planned - outcome.present;
}

/* Each case a backend can not run is in the file once, with the reason, as iteration 0. */
static int record_skips(struct state *state)
{
    const struct lm_run *run = state->plan->run;
    int error = 0;
    for (size_t c = 0; c < run->case_count && error == 0; c++) {
        for (size_t b = 0; b < run->backend_count && error == 0; b++) {
            const char *reason = lm_plan_skip_reason(state->plan, c, b);
            if (reason == NULL || state->present[place_of(run, 0, c, b)]) {
                continue;
            }
            const struct lm_sample sample = {.case_index = c,
                                             .backend_index = b,
                                             .status = LM_SAMPLE_SKIPPED,
                                             .reason = (char *)(uintptr_t)reason};
            error =
                lm_results_writer_sample(state->writer, &sample, state->error, state->error_bytes);
        }
    }
    return error;
}

/* Nothing measured is nothing to go on with; and a remedy such as another limit of open files makes
 * other settings, with which no run is resumed. */
static void say_no_worker(const struct state *state, int error)
{
    const char *path = lm_results_writer_path(state->writer);
    bool resume = state->outcome->present > 0;
    snprintf(state->error, state->error_bytes, "no worker can be started: %s; %s, then %s%s",
             strerror(-error), lm_process_remedy(error),
             resume ? "go on with: loopmark run --resume " : "run again, with an --out other than ",
             path);
}

static int take_sample(struct state *state, const struct lm_step *step)
{
    const struct lm_run *run = state->plan->run;
    const struct lm_worker_request request = {
        .case_name = run->cases[step->case_index].name,
        .spec = run->backends[step->backend_index].spec,
        .warmup_ns = (uint64_t)(run->warmup_s * 1e9),
        .duration_ns = (uint64_t)(run->duration_s * 1e9),
    };
    struct lm_sample sample = {.case_index = step->case_index,
                               .backend_index = step->backend_index,
                               .iteration = step->iteration};
    lm_progress_next(&state->progress, &sample);
    int error = lm_worker_run(&request, run->timeout_s, &sample);
    if (error != 0) {
        if (error != -EINTR) {
            say_no_worker(state, error);
        }
        return error;
    }
    sample.case_index = step->case_index;
    sample.backend_index = step->backend_index;
    sample.iteration = step->iteration;
    error = lm_results_writer_sample(state->writer, &sample, state->error, state->error_bytes);
    if (error == 0) {
        state->outcome->present++;
        lm_progress_sample(&state->progress, &sample);
    }
    lm_sample_clear(&sample);
    return error;
}

/* Takes the samples that are not there yet. */
static int take_all(struct state *state)
{
    const struct lm_run *run = state->plan->run;
    struct lm_schedule schedule = {.cases = run->case_count,
                                   .backends = run->backend_count,
                                   .iterations = run->iterations,
                                   .seed = run->seed,
                                   .interleaved = run->interleaved};
    struct lm_step step;
    int error = lm_schedule_begin(&schedule);
    while (error == 0 && lm_schedule_next(&schedule, &step)) {
        if (state->present[place_of(run, step.iteration, step.case_index, step.backend_index)] ||
            lm_plan_skip_reason(state->plan, step.case_index, step.backend_index) != NULL) {
            continue;
        }
        error = lm_process_interrupts() > 0 ? -EINTR : take_sample(state, &step);
    }
    lm_schedule_end(&schedule);
    return error;
}

int lm_runner_run(const struct lm_plan *plan, const struct lm_sample *present, size_t present_count,
                  struct lm_results_writer *writer, struct lm_run_outcome *outcome, char *error,
                  size_t error_bytes)
{
    *outcome = (struct lm_run_outcome){.planned = 0};
    struct state state = {.plan = plan,
                          .present = mark_present(plan->run, present, present_count),
                          .writer = writer,
                          .outcome = outcome,
                          .error = error,
                          .error_bytes = error_bytes};
    if (state.present == NULL) {
        snprintf(error, error_bytes, "memory is short; ask for fewer iterations");
        return -ENOMEM;
    }
    count_samples(plan, state.present, outcome);
    for (size_t i = 0; i < present_count; i++) {
        outcome->failed += present[i].status == LM_SAMPLE_FAILED;
    }
    lm_progress_begin(&state.progress, plan->run, outcome->planned - outcome->present);
    int result = record_skips(&state);
    if (result == 0) {
        result = take_all(&state);
    }
    lm_progress_end(&state.progress);
    outcome->failed += state.progress.failed;
    outcome->interrupted = result == -EINTR;
    free(state.present);
    return result == -EINTR ? 0 : result;
}
