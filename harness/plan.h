/* plan.h - what a run will do: its record, and the backends and cases behind the record's names.
 *
 * Made from a command line or from a results file that is gone on with. It runs nothing.
 */
#ifndef LM_PLAN_H
#define LM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/results.h"
#include "harness/selection.h"

/* What the command line asks for. */
struct lm_plan_request {
    const char *backends; /* list of specs; NULL means the default ones */
    const char *baseline; /* spec; NULL means LM_DEFAULT_BASELINE */
    const char *cases;    /* list of globs; NULL means all */
    bool micro, representative, calibrate;
    uint32_t iterations;
    double duration_s, warmup_s;
    double timeout_s; /* 0 means lm_default_timeout_s */
    uint64_t seed;
    bool interleaved;
    const char *label;
};

#define LM_DEFAULT_BASELINE "reactor"

struct lm_plan {
    const struct lm_run *run;
    const struct lm_candidate **backends; /* for each of run->backends */
    const struct lm_case **cases;         /* for each of run->cases */
    bool baseline_added;                  /* it was not among the backends named */
    /* Private. */
    struct lm_run own;
    struct lm_candidates candidates;
};

/* The time after which a worker is taken for hung: far more than any healthy one needs. */
double lm_default_timeout_s(double warmup_s, double duration_s);

/* Both return 0, or a negative errno and one line on stderr; *plan is to be freed either way. */

int lm_plan_new(const struct lm_plan_request *request, struct lm_plan *plan);

/* Goes on with what `results` recorded, which must outlive the plan. */
int lm_plan_resume(const struct lm_results *results, struct lm_plan *plan);

void lm_plan_free(struct lm_plan *plan);

/* Why a case is not run on a backend (indices into the run's lists), or NULL when it is. */
const char *lm_plan_skip_reason(const struct lm_plan *plan, size_t case_index,
                                size_t backend_index);

#endif
