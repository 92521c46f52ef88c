#include "report/comparison_build.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/nearest.h"

/* Longest glob that is looked at. */
#define LM_GLOB_BYTES 512

struct lm_comparison *lm_build_new(void)
{
    return calloc(1, sizeof(struct lm_comparison));
}

void lm_comparison_free(struct lm_comparison *comparison)
{
    if (comparison == NULL) {
        return;
    }
    for (size_t i = 0; i < comparison->kept_count; i++) {
        free(comparison->kept[i]);
    }
    free(comparison->kept);
    free(comparison);
}

/* Takes ownership of memory; frees it when there is no room to note it. */
static void *keep(struct lm_comparison *comparison, void *memory)
{
    if (memory == NULL) {
        return NULL;
    }
    size_t count = comparison->kept_count;
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : 2 * count;
        void **kept = realloc(comparison->kept, room * sizeof *kept);
        if (kept == NULL) {
            free(memory);
            return NULL;
        }
        comparison->kept = kept;
    }
    comparison->kept[comparison->kept_count++] = memory;
    return memory;
}

void *lm_build_alloc(struct lm_comparison *comparison, size_t count, size_t bytes)
{
    return keep(comparison, calloc(count == 0 ? 1 : count, bytes == 0 ? 1 : bytes));
}

const char *lm_build_text(struct lm_comparison *comparison, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int written = vasprintf(&text, format, arguments);
    va_end(arguments);
    return written < 0 ? NULL : keep(comparison, text);
}

int lm_build_grow(struct lm_comparison *comparison, void **array, size_t count, size_t bytes)
{
    /* Full at 0, 8, 16, 32 ...; the smaller copies stay until the comparison is freed. */
    if (count != 0 && (count < 8 || (count & (count - 1)) != 0)) {
        return 0;
    }
    void *larger = lm_build_alloc(comparison, count == 0 ? 8 : 2 * count, bytes);
    if (larger == NULL) {
        return -ENOMEM;
    }
    if (count > 0) {
        memcpy(larger, *array, count * bytes);
    }
    *array = larger;
    return 0;
}

int lm_build_family(struct lm_comparison *comparison, const char *name, enum lm_section section,
                    size_t *index)
{
    size_t i = 0;
    while (i < comparison->family_count && (comparison->families[i].section != section ||
                                            strcmp(comparison->families[i].name, name) != 0)) {
        i++;
    }
    if (i == comparison->family_count) {
        void *families = comparison->families;
        const char *kept = lm_build_text(comparison, "%s", name);
        if (kept == NULL || lm_build_grow(comparison, &families, i, sizeof *comparison->families)) {
            return -ENOMEM;
        }
        comparison->families = families;
        comparison->families[i].name = kept;
        comparison->families[i].section = section;
        comparison->family_count++;
    }
    comparison->families[i].case_count++;
    *index = i;
    return 0;
}

void lm_build_unknown(struct lm_measurement *measurement)
{
    *measurement = (struct lm_measurement){
        .metric = lm_summarise(NULL, 0),
        .published_difference = NAN,
        .p50_ns = NAN,
        .p99_ns = NAN,
        .cpu_ns_per_operation = NAN,
        .syscalls_per_operation = NAN,
    };
}

static bool same_remark(const struct lm_remark *remark, const struct lm_remark *other)
{
    bool by_case = remark->kind == LM_REMARK_UNSTABLE || remark->kind == LM_REMARK_WARNING;
    return remark->kind != LM_REMARK_FAILED && remark->kind == other->kind &&
           remark->implementation == other->implementation &&
           (!by_case || remark->case_index == other->case_index) &&
           strcmp(remark->text, other->text) == 0;
}

int lm_build_remark(struct lm_comparison *comparison, enum lm_remark_kind kind,
                    size_t implementation, size_t case_index, uint32_t iteration, const char *text)
{
    struct lm_remark remark = {
        .kind = kind,
        .implementation = implementation,
        .case_index = case_index,
        .last_case = case_index,
        .iteration = iteration,
        .samples = 1,
        .cases = 1,
        .text = text,
    };
    for (size_t i = comparison->remark_count; i > 0; i--) {
        struct lm_remark *known = &comparison->remarks[i - 1];
        if (same_remark(known, &remark)) {
            known->samples++;
            known->cases += known->last_case != case_index;
            known->last_case = case_index;
            return 0;
        }
    }
    void *remarks = comparison->remarks;
    remark.text = lm_build_text(comparison, "%s", text);
    if (remark.text == NULL ||
        lm_build_grow(comparison, &remarks, comparison->remark_count, sizeof remark) != 0) {
        return -ENOMEM;
    }
    comparison->remarks = remarks;
    comparison->remarks[comparison->remark_count++] = remark;
    return 0;
}

int lm_build_note(struct lm_comparison *comparison, const char *subject, const char *text)
{
    void *notes = comparison->notes;
    struct lm_note note = {lm_build_text(comparison, "%s", subject),
                           lm_build_text(comparison, "%s", text)};
    if (note.subject == NULL || note.text == NULL ||
        lm_build_grow(comparison, &notes, comparison->note_count, sizeof note) != 0) {
        return -ENOMEM;
    }
    comparison->notes = notes;
    comparison->notes[comparison->note_count++] = note;
    return 0;
}

/* The next glob of a comma-separated list, written to `glob`; false at its end. Globs longer than a
 * case name can be are cut: they match nothing either way. */
static bool next_glob(const char **list, char *glob, size_t bytes)
{
    size_t length = strcspn(*list, ",");
    snprintf(glob, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *list);
    bool more = **list != '\0';
    *list += length + ((*list)[length] == ',');
    return more;
}

bool lm_build_wants(const struct lm_compare_options *options, const char *case_name)
{
    char glob[LM_GLOB_BYTES];
    const char *list = options->cases;
    bool wanted = list == NULL;
    while (!wanted && next_glob(&list, glob, sizeof glob)) {
        wanted = fnmatch(glob, case_name, 0) == 0;
    }
    return wanted;
}

int lm_build_check_globs(const struct lm_compare_options *options, const void *source,
                         lm_name_at_fn *case_name_at, size_t case_count, const char *path,
                         char *error, size_t error_bytes)
{
    char glob[LM_GLOB_BYTES];
    const char *list = options->cases;
    if (case_count == 0) {
        snprintf(error, error_bytes, "%s holds no case; run it again or name another file", path);
        return -EINVAL;
    }
    if (list != NULL && *list == '\0') {
        snprintf(error, error_bytes, "--case is empty; name cases or globs, such as '*'");
        return -ENOENT;
    }
    while (list != NULL && next_glob(&list, glob, sizeof glob)) {
        struct lm_nearest nearest = {.word = glob};
        bool matched = false;
        for (size_t i = 0; i < case_count && !matched; i++) {
            matched = fnmatch(glob, case_name_at(source, i), 0) == 0;
            lm_nearest_offer(&nearest, case_name_at(source, i));
        }
        if (!matched) {
            const char *example = nearest.best != NULL ? nearest.best : case_name_at(source, 0);
            snprintf(error, error_bytes,
                     "--case: no case of %s matches '%s'; one of its cases is '%s'", path, glob,
                     example);
            return -ENOENT;
        }
    }
    return 0;
}

int lm_build_find_baseline(const char *baseline, const void *source, lm_name_at_fn *name_at,
                           size_t count, const char *path, size_t *index, char *error,
                           size_t error_bytes)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = name_at(source, i);
        if (name != NULL && strcmp(name, baseline) == 0) {
            *index = i;
            return 0;
        }
    }
    /* A list that does not fit is cut by the stream's end. */
    FILE *out = fmemopen(error, error_bytes, "w");
    if (out == NULL) {
        return -ENOMEM;
    }
    fprintf(out, "--baseline: '%s' is not in %s; name one of: ", baseline, path);
    for (size_t i = 0; i < count; i++) {
        const char *name = name_at(source, i);
        if (name != NULL) {
            fprintf(out, "%s'%s'", i == 0 ? "" : ", ", name);
        }
    }
    fclose(out);
    return -ENOENT;
}

int lm_build_conclude(struct lm_comparison *built, int status, struct lm_comparison **comparison,
                      char *error, size_t error_bytes)
{
    if (status == 0) {
        *comparison = built;
        return 0;
    }
    if (status == -ENOMEM) {
        snprintf(error, error_bytes, "memory is short; close other programs and try again");
    }
    lm_comparison_free(built);
    return status;
}
