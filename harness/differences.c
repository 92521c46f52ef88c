#include "harness/differences.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/text.h"

struct walk {
    const char *const *ignored;
    const char *prefix; /* "cpu." */
    void (*each)(void *context, const char *line);
    void *context;
    size_t count;
};

/* A value as people read it. */
static void value_text(const json_t *value, char *text, size_t text_bytes)
{
    if (!value || json_is_null(value)) {
        snprintf(text, text_bytes, "not known");
        return;
    }
    char *dump = json_is_string(value)
                     ? strdup(json_string_value(value))
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    lm_text_clean(text, text_bytes, dump ? dump : "?", dump ? strlen(dump) : 1);
    free(dump);
}

static bool is_ignored(const char *const *ignored, const char *name)
{
    while (ignored && *ignored && strcmp(*ignored, name) != 0) {
        ignored++;
    }
    return ignored && *ignored;
}

static void walk_object(struct walk *walk, const json_t *a, const json_t *b);

static void walk_member(struct walk *walk, const char *name, const json_t *a, const json_t *b)
{
    char path[128], left[160], right[160], line[512];
    snprintf(path, sizeof(path), "%s%s", walk->prefix, name);
    bool both_missing = (!a || json_is_null(a)) && (!b || json_is_null(b));
    if (is_ignored(walk->ignored, path) || both_missing || (a && b && json_equal(a, b))) {
        return;
    }
    if (json_is_object(a) || json_is_object(b)) {
        struct walk inner = *walk;
        snprintf(path, sizeof(path), "%s%s.", walk->prefix, name);
        inner.prefix = path;
        walk_object(&inner, a, b);
        walk->count = inner.count;
        return;
    }
    value_text(a, left, sizeof(left));
    value_text(b, right, sizeof(right));
    snprintf(line, sizeof(line), "%s: %s against %s", path, left, right);
    walk->each(walk->context, line);
    walk->count++;
}

static void walk_object(struct walk *walk, const json_t *a, const json_t *b)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)a, name, value)
    {
        walk_member(walk, name, value, json_object_get(b, name));
    }
    json_object_foreach((json_t *)b, name, value)
    {
        if (!json_object_get(a, name)) {
            walk_member(walk, name, NULL, value);
        }
    }
}

size_t lm_json_differences(const json_t *a, const json_t *b, const char *const *ignored,
                           void (*each)(void *context, const char *line), void *context)
{
    struct walk walk = {ignored, "", each, context, 0};
    walk_object(&walk, a, b);
    return walk.count;
}
