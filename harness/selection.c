#include "harness/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/nearest.h"

/* A spec of a backend that is known but was not built still gets a row, with the reason. */
static void fill_missing(struct lm_candidate *candidate, const char *text, const char *reason)
{
    *candidate = (struct lm_candidate){.spec.backend = NULL};
    snprintf(candidate->spec.text, sizeof(candidate->spec.text), "%s", text);
    snprintf(candidate->unavailable, sizeof(candidate->unavailable), "%s", reason);
    candidate->title = "not built";
    size_t name_length = strcspn(text, ":");
    for (size_t i = 0; i < lm_backend_count(); i++) {
        const char *name = lm_backend_at(i)->name;
        if (strlen(name) == name_length && strncmp(name, text, name_length) == 0) {
            candidate->title = name;
        }
    }
}

static int fill(struct lm_candidate *candidate, const char *text, const char *option)
{
    char error[512];
    *candidate = (struct lm_candidate){.title = ""};
    int result = lm_spec_parse(text, &candidate->spec, error, sizeof(error));
    if (result == -ENOSYS) {
        fill_missing(candidate, text, error);
        return 0;
    }
    if (result < 0) {
        fprintf(stderr, "loopmark: %s: %s\n", option, error);
        return result;
    }
    const struct lm_backend *backend = candidate->spec.backend;
    candidate->title = backend->title;
    if (backend->available(candidate->spec.options, candidate->unavailable,
                           sizeof(candidate->unavailable)) == 0) {
        candidate->unavailable[0] = '\0';
        if (backend->describe != NULL) {
            backend->describe(candidate->spec.options, candidate->settings,
                              sizeof(candidate->settings));
        }
    } else if (candidate->unavailable[0] == '\0') {
        snprintf(candidate->unavailable, sizeof(candidate->unavailable),
                 "the backend gave no reason");
    }
    return 0;
}

int lm_candidates_add(struct lm_candidates *candidates, const char *spec, const char *option,
                      size_t *index)
{
    struct lm_candidate candidate;
    int error = fill(&candidate, spec, option);
    if (error != 0) {
        return error;
    }
    size_t at = 0;
    while (at < candidates->count &&
           strcmp(candidates->items[at].spec.text, candidate.spec.text) != 0) {
        at++;
    }
    if (at == candidates->count) {
        struct lm_candidate *grown =
            realloc(candidates->items, (candidates->count + 1) * sizeof(*grown));
        if (grown == NULL) {
            fputs("loopmark: memory is short; close other programs and try again\n", stderr);
            return -ENOMEM;
        }
        candidates->items = grown;
        candidates->items[candidates->count++] = candidate;
    }
    if (index != NULL) {
        *index = at;
    }
    return 0;
}

struct adding {
    struct lm_candidates *candidates;
    const char *option;
};

static int add_each(void *context, const char *spec)
{
    const struct adding *adding = context;
    return lm_candidates_add(adding->candidates, spec, adding->option, NULL);
}

int lm_candidates_read(const char *list, const char *option, struct lm_candidates *candidates)
{
    *candidates = (struct lm_candidates){.items = NULL};
    if (list != NULL) {
        return lm_spec_split(list, add_each,
                             &(struct adding){.candidates = candidates, .option = option});
    }
    for (const char *const *spec = lm_default_specs(); *spec != NULL; spec++) {
        int error = lm_candidates_add(candidates, *spec, option, NULL);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

void lm_candidates_free(struct lm_candidates *candidates)
{
    free(candidates->items);
    *candidates = (struct lm_candidates){.items = NULL};
}

const char *lm_candidate_skip_reason(const struct lm_candidate *candidate,
                                     const struct lm_case *which)
{
    if (candidate->unavailable[0] != '\0') {
        return candidate->unavailable;
    }
    return lm_case_skip_reason(which, candidate->spec.backend, candidate->spec.options);
}

/* Does the glob spell out the family, so that micro cases it matches were meant? */
static bool names_family(const char *glob)
{
    return strcspn(glob, "*?[\\") > strcspn(glob, "/") || strpbrk(glob, "*?[\\") == NULL;
}

/* Marks the cases a glob matches; false when there are none. */
static bool mark_matches(const char *glob, bool micro, bool *chosen)
{
    bool any = false;
    for (size_t i = 0; i < lm_case_count(); i++) {
        const struct lm_case *which = lm_case_at(i);
        bool wanted = micro || names_family(glob) || (which->flags & LM_CASE_MICRO) == 0;
        if (wanted && fnmatch(glob, which->name, 0) == 0) {
            chosen[i] = any = true;
        }
    }
    return any;
}

static void refuse_glob(const char *glob, const char *option)
{
    struct lm_nearest nearest = {.word = glob};
    size_t count = lm_case_count();
    char(*patterns)[72] = calloc(count + 1, sizeof(*patterns));
    for (size_t i = 0; i < count; i++) {
        lm_nearest_offer(&nearest, lm_case_at(i)->name);
        if (patterns != NULL) {
            snprintf(patterns[i], sizeof(patterns[i]), "%s/*", lm_case_at(i)->family->name);
            lm_nearest_offer(&nearest, patterns[i]);
        }
    }
    fprintf(stderr, "loopmark: %s: no case matches '%s'; ", option, glob);
    if (nearest.best != NULL) {
        fprintf(stderr, "did you mean '%s'?\n", nearest.best);
    } else {
        fputs("see: loopmark list --cases\n", stderr);
    }
    free(patterns);
}

static int mark_all_globs(const char *globs, bool micro, const char *option, bool *chosen)
{
    char *copy = strdup(globs);
    if (copy == NULL) {
        return -ENOMEM;
    }
    int error = 0;
    char *rest = copy;
    for (char *glob = strsep(&rest, ","); glob != NULL && error == 0; glob = strsep(&rest, ",")) {
        if (!mark_matches(glob, micro, chosen)) {
            refuse_glob(glob, option);
            error = -ENOENT;
        }
    }
    free(copy);
    return error;
}

int lm_case_list_read(const char *globs, bool micro, bool representative, const char *option,
                      struct lm_case_list *cases)
{
    int error = 0;
    size_t count = lm_case_count();
    *cases = (struct lm_case_list){.items = calloc(count + 1, sizeof(const struct lm_case *))};
    bool *chosen = calloc(count + 1, sizeof(*chosen));
    if (cases->items == NULL || chosen == NULL) {
        fputs("loopmark: memory is short; close other programs and try again\n", stderr);
        error = -ENOMEM;
        goto out;
    }
    if (globs != NULL) {
        error = mark_all_globs(globs, micro, option, chosen);
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct lm_case *which = lm_case_at(i);
        if (globs == NULL) {
            chosen[i] = (micro || (which->flags & LM_CASE_MICRO) == 0) &&
                        (!representative || (which->flags & LM_CASE_REPRESENTATIVE) != 0);
        }
        if (chosen[i]) {
            cases->items[cases->count++] = which;
        }
    }
out:
    free(chosen);
    return error;
}

void lm_case_list_free(struct lm_case_list *cases)
{
    free(cases->items);
    *cases = (struct lm_case_list){.items = NULL};
}
