/* May figures from two environments stand side by side? */
#include <string.h>

#include "harness/differences.h"
#include "harness/environment.h"

bool lm_environment_same_host(const json_t *a, const json_t *b)
{
    const char *left = json_string_value(json_object_get(a, "host"));
    const char *right = json_string_value(json_object_get(b, "host"));
    return left && right && strcmp(left, right) == 0;
}

size_t lm_environment_differences(const json_t *a, const json_t *b, lm_environment_line_fn *each,
                                  void *context)
{
    static const char *const ignored[] = {
        "date_utc", "load", "build.version", "build.commit", "build.branch", "build.dirty", NULL};
    return lm_json_differences(a, b, ignored, each, context);
}

bool lm_environment_same_source(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"version", "commit", "dirty"};
    const json_t *left = json_object_get(a, "build"), *right = json_object_get(b, "build");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *x = json_object_get(left, members[i]),
                     *y = json_object_get(right, members[i]);
        if (x != y && !json_equal(x, y)) {
            return false;
        }
    }
    return true;
}
