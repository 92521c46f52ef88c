/* registry.h - the backends built into this program, and specs: name[:key=value[,key=value...]].
 *
 * Not for loading plugins' symbols into the list: a plugin is named by its path in a spec.
 */
#ifndef LM_REGISTRY_H
#define LM_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

/* Most options one backend may have. */
#define LM_MAX_OPTIONS 32u

/* A backend this program knows by name. */
struct lm_registered {
    const char *name;
    const struct lm_backend *backend; /* NULL when it was not built */
    const char *missing; /* why not, and which package brings it; NULL when it was built */
};

/* All known backends in page order. */
size_t lm_backend_count(void);
const struct lm_registered *lm_backend_at(size_t index);

/* The specs a run uses when none is named, NULL at the end: each native backend and each setting
 * that is a row of its own (io_uring:hybrid=1). Whether they can run here is for the caller to ask.
 */
const char *const *lm_default_specs(void);

/* A parsed spec. */
struct lm_spec {
    char text[256]; /* canonical: keys in table order, defaults left out; the identity */
    const struct lm_backend *backend;
    uint64_t options[LM_MAX_OPTIONS]; /* a value for each of the backend's options */
};

/* Parses `text`. 0, or -EINVAL (malformed, unknown key, value out of range), -ENOENT (unknown
 * backend), -ENOSYS (known, not built), -ENOTSUP (a plugin's path) with one line in `error` that
 * names the thing, the allowed values or the cause, and the next step. On failure *spec holds
 * nothing of use. */
int lm_spec_parse(const char *text, struct lm_spec *spec, char *error, size_t error_bytes);

/* The same for a table that need not be in the registry; -ENOENT when `text` names another one. */
int lm_spec_parse_for(const struct lm_backend *backend, const char *text, struct lm_spec *spec,
                      char *error, size_t error_bytes);

/* Writes spec->text from the spec's backend and option values. False when it does not fit. */
bool lm_spec_write(struct lm_spec *spec);

/* Splits a comma-separated list of specs. A comma also separates a spec's options, so a part that
 * is key=value without a colon or a slash before the equals sign belongs to the spec before it.
 * Calls each(context, spec) for each, empty ones too; stops at the first non-zero return and
 * returns it. -ENOMEM when memory is short. */
int lm_spec_split(const char *list, int (*each)(void *context, const char *spec), void *context);

#endif
