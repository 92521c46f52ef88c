/* selection.h - from what a person asked for to the backends and cases it means here.
 *
 * Used by run, bench and list. What can not be understood is one line on stderr; what can be
 * understood but not run here is kept, with the reason.
 */
#ifndef LM_SELECTION_H
#define LM_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "backends/registry.h"
#include "suites/case.h"

/* A backend with its settings. */
struct lm_candidate {
    struct lm_spec spec; /* spec.backend is NULL when it is not in this program */
    const char *title;
    char settings[512];    /* what the backend says it will do; "" when nothing */
    char unavailable[512]; /* why it can not run here; "" when it can */
};

struct lm_candidates {
    struct lm_candidate *items; /* owned */
    size_t count;
};

/* Reads a comma-separated list of specs; NULL means all backends a run uses when none is named. A
 * spec named twice is there once. 0, or a negative errno and one line on stderr that begins with
 * `option`. *candidates is to be freed either way. */
int lm_candidates_read(const char *list, const char *option, struct lm_candidates *candidates);

/* Adds one spec when it is not there yet; *index (may be NULL) becomes its place. As above. */
int lm_candidates_add(struct lm_candidates *candidates, const char *spec, const char *option,
                      size_t *index);
void lm_candidates_free(struct lm_candidates *candidates);

/* Why this case is not run on this backend, or NULL when it is. */
const char *lm_candidate_skip_reason(const struct lm_candidate *candidate,
                                     const struct lm_case *which);

struct lm_case_list {
    const struct lm_case **items; /* owned; in page order */
    size_t count;
};

/* Chooses cases.
 * globs          comma-separated shell globs over the whole name, where * also matches a slash;
 * NULL means all. Micro cases are taken when `micro` is set or a glob names their family.
 * representative when globs is NULL, only the cases a quick run takes.
 * 0, or a negative errno and one line on stderr that begins with `option`: a glob that matches
 * nothing is an error. */
int lm_case_list_read(const char *globs, bool micro, bool representative, const char *option,
                      struct lm_case_list *cases);
void lm_case_list_free(struct lm_case_list *cases);

#endif
