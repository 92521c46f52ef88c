#include "harness/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/environment.h"
#include "harness/results_json.h"
#include "lm_config.h"

/* Start, set-up, drain and end of a worker together take well under a second on a healthy machine.
 */
#define TIMEOUT_CONSTANT_S 20.0
/* Sanitizers make everything several times slower. */
#define SANITIZER_FACTOR 5.0

double lm_default_timeout_s(double warmup_s, double duration_s)
{
    double plain_s = warmup_s + duration_s + TIMEOUT_CONSTANT_S;
    return sizeof(LM_SANITIZE) > 1 ? plain_s * SANITIZER_FACTOR : plain_s;
}

static int no_memory(void)
{
    fputs("loopmark: memory is short; close other programs and try again\n", stderr);
    return -ENOMEM;
}

/* 64 random bits as text: enough that no two runs share a name. */
static char *random_id(void)
{
    uint64_t bits = 0;
    char text[17];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &bits, sizeof(bits)) != (ssize_t)sizeof(bits)) {
        bits = (uint64_t)getpid();
    }
    if (fd >= 0) {
        close(fd);
    }
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)bits);
    return strdup(text);
}

static int fill_backend(const struct lm_candidate *candidate, bool aa,
                        struct lm_run_backend *backend)
{
    backend->spec = strdup(candidate->spec.text);
    backend->title = strdup(candidate->title);
    backend->settings = strdup(candidate->settings);
    backend->unavailable =
        candidate->unavailable[0] != '\0' ? strdup(candidate->unavailable) : NULL;
    backend->aa = aa;
    backend->floor =
        candidate->spec.backend && !(candidate->spec.backend->capabilities & LM_CAP_LOOPS);
    bool complete = backend->spec != NULL && backend->title != NULL && backend->settings != NULL &&
                    (backend->unavailable != NULL) == (candidate->unavailable[0] != '\0');
    return complete ? 0 : no_memory();
}

static int fill_case(const struct lm_case *which, struct lm_run_case *record)
{
    record->name = strdup(which->name);
    record->family = strdup(which->family->name);
    record->operation = strdup(which->operation);
    record->unit = strdup(lm_metric_unit(which->metric));
    record->higher_is_better = lm_metric_higher_is_better(which->metric);
    record->micro = (which->flags & LM_CASE_MICRO) != 0;
    record->split = (which->flags & LM_CASE_SPLIT) != 0;
    bool complete = record->name != NULL && record->family != NULL && record->operation != NULL &&
                    record->unit != NULL;
    return complete ? 0 : no_memory();
}

/* A run of which nothing would be left to compare is refused before it starts. */
static int check_usable(const struct lm_plan_request *request, const struct lm_plan *plan,
                        size_t named, size_t baseline)
{
    const struct lm_candidate *items = plan->candidates.items;
    if (items[baseline].unavailable[0] != '\0') {
        fprintf(stderr,
                "loopmark run: the baseline %s can not run here: %s; or name another with "
                "--baseline\n",
                items[baseline].spec.text, items[baseline].unavailable);
        return -ENOTSUP;
    }
    for (size_t i = 0; i < named; i++) {
        if (items[i].unavailable[0] == '\0') {
            return 0;
        }
    }
    fprintf(stderr, "loopmark run: %s can run here: %s: %s; see: loopmark list --backends\n",
            request->backends == NULL || named > 1 ? "none of the backends"
                                                   : "the backend named is not one that",
            items[0].spec.text, items[0].unavailable);
    return -ENOTSUP;
}

/* Fills candidates, own.backends and backends. */
static int choose_backends(const struct lm_plan_request *request, struct lm_plan *plan)
{
    size_t baseline = 0;
    const char *wanted = request->baseline != NULL ? request->baseline : LM_DEFAULT_BASELINE;
    int error = lm_candidates_read(request->backends, "--backend", &plan->candidates);
    size_t named = plan->candidates.count;
    if (error == 0) {
        error = lm_candidates_add(&plan->candidates, wanted, "--baseline", &baseline);
    }
    if (error == 0) {
        error = check_usable(request, plan, named, baseline);
    }
    if (error != 0) {
        return error;
    }
    plan->baseline_added = plan->candidates.count > named;
    size_t count = plan->candidates.count + (request->calibrate ? 1 : 0);
    plan->own.backends = calloc(count, sizeof(plan->own.backends[0]));
    plan->backends = calloc(count, sizeof(*plan->backends));
    if (plan->own.backends == NULL || plan->backends == NULL) {
        return no_memory();
    }
    plan->own.backend_count = count;
    plan->own.baseline_index = baseline;
    for (size_t i = 0; i < count && error == 0; i++) {
        bool aa = i == plan->candidates.count;
        plan->backends[i] = &plan->candidates.items[aa ? baseline : i];
        error = fill_backend(plan->backends[i], aa, &plan->own.backends[i]);
    }
    return error;
}

/* Fills own.cases and cases. */
static int choose_cases(const struct lm_plan_request *request, struct lm_plan *plan)
{
    struct lm_case_list chosen;
    int error = lm_case_list_read(request->cases, request->micro, request->representative, "--case",
                                  &chosen);
    plan->cases = chosen.items;
    if (error != 0) {
        return error;
    }
    plan->own.cases = calloc(chosen.count + 1, sizeof(plan->own.cases[0]));
    if (plan->own.cases == NULL) {
        return no_memory();
    }
    plan->own.case_count = chosen.count;
    for (size_t i = 0; i < chosen.count && error == 0; i++) {
        error = fill_case(chosen.items[i], &plan->own.cases[i]);
    }
    return error;
}

int lm_plan_new(const struct lm_plan_request *request, struct lm_plan *plan)
{
    *plan = (struct lm_plan){
        .own = {.schema = LM_RESULTS_SCHEMA,
                .iterations = request->iterations,
                .duration_s = request->duration_s,
                .warmup_s = request->warmup_s,
                .timeout_s = request->timeout_s > 0.0
                                 ? request->timeout_s
                                 : lm_default_timeout_s(request->warmup_s, request->duration_s),
                .seed = request->seed,
                .interleaved = request->interleaved}};
    plan->run = &plan->own;
    int error = choose_backends(request, plan);
    if (error == 0) {
        error = choose_cases(request, plan);
    }
    if (error != 0) {
        return error;
    }
    plan->own.id = random_id();
    plan->own.label = strdup(request->label != NULL ? request->label : "");
    plan->own.environment = lm_environment_capture();
    bool complete =
        plan->own.id != NULL && plan->own.label != NULL && plan->own.environment != NULL;
    return complete ? 0 : no_memory();
}

static int resume_backend(struct lm_plan *plan, size_t index)
{
    const struct lm_run_backend *recorded = &plan->run->backends[index];
    size_t at = 0;
    int error = lm_candidates_add(&plan->candidates, recorded->spec, "--resume", &at);
    if (error != 0) {
        return error;
    }
    struct lm_candidate *candidate = &plan->candidates.items[at];
    if (recorded->unavailable != NULL) {
        snprintf(candidate->unavailable, sizeof(candidate->unavailable), "%s",
                 recorded->unavailable);
    } else if (candidate->unavailable[0] != '\0') {
        fprintf(stderr,
                "loopmark run: %s ran when this run was begun and can not run now: %s; put that "
                "right, or begin a new run\n",
                recorded->spec, candidate->unavailable);
        return -ENOTSUP;
    }
    return 0;
}

/* The candidates move while the list grows, so they are pointed at when it is complete. */
static int resume_backends(struct lm_plan *plan)
{
    size_t count = plan->run->backend_count;
    plan->backends = calloc(count, sizeof(*plan->backends));
    if (plan->backends == NULL) {
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        int error = resume_backend(plan, i);
        if (error != 0) {
            return error;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < plan->candidates.count; j++) {
            if (strcmp(plan->candidates.items[j].spec.text, plan->run->backends[i].spec) == 0) {
                plan->backends[i] = &plan->candidates.items[j];
            }
        }
        if (plan->backends[i] == NULL) {
            fprintf(stderr,
                    "loopmark run: this program calls the backend %s by another name; go on with "
                    "the one that began the run\n",
                    plan->run->backends[i].spec);
            return -ENOENT;
        }
    }
    return 0;
}

int lm_plan_resume(const struct lm_results *results, struct lm_plan *plan)
{
    *plan = (struct lm_plan){.run = &results->run};
    int error = resume_backends(plan);
    if (error != 0) {
        return error;
    }
    plan->cases = calloc(plan->run->case_count, sizeof(*plan->cases));
    if (plan->cases == NULL) {
        return no_memory();
    }
    for (size_t i = 0; i < plan->run->case_count; i++) {
        plan->cases[i] = lm_case_find(plan->run->cases[i].name);
        if (plan->cases[i] == NULL) {
            fprintf(stderr,
                    "loopmark run: this program has no case %s; go on with the one that began the "
                    "run\n",
                    plan->run->cases[i].name);
            return -ENOENT;
        }
    }
    return 0;
}

void lm_plan_free(struct lm_plan *plan)
{
    free(plan->backends);
    free(plan->cases);
    lm_candidates_free(&plan->candidates);
    lm_run_clear(&plan->own);
}

const char *lm_plan_skip_reason(const struct lm_plan *plan, size_t case_index, size_t backend_index)
{
    return lm_candidate_skip_reason(plan->backends[backend_index], plan->cases[case_index]);
}
