/* How the settings of two runs differ. */
#include <string.h>

#include "harness/differences.h"
#include "harness/results_schema.h"

/* Settings of backends that `other` has too, by spec: what only one run has is no difference in
 * settings. */
static json_t *shared_backends(const struct lm_run *run, const struct lm_run *other)
{
    json_t *settings = json_object();
    for (size_t i = 0; i < run->backend_count; i++) {
        for (size_t j = 0; j < other->backend_count; j++) {
            if (strcmp(run->backends[i].spec, other->backends[j].spec) == 0) {
                json_object_set_new(settings, run->backends[i].spec,
                                    json_string(run->backends[i].settings));
                break;
            }
        }
    }
    return settings;
}

static json_t *settings_of(const struct lm_run *run, const struct lm_run *other)
{
    json_t *settings = json_object();
    if (settings && lm_schema_encode(settings, lm_run_members, run) == 0) {
        json_object_set_new(settings, "baseline",
                            json_string(run->backends[run->baseline_index].spec));
        json_object_set_new(settings, "backends", shared_backends(run, other));
    }
    return settings;
}

size_t lm_run_differences(const struct lm_run *a, const struct lm_run *b,
                          void (*each)(void *context, const char *line), void *context)
{
    static const char *const ignored[] = {"id", "label", "seed", "baseline_index", NULL};
    json_t *left = settings_of(a, b), *right = settings_of(b, a);
    size_t count = lm_json_differences(left, right, ignored, each, context);
    json_decref(left);
    json_decref(right);
    return count;
}
