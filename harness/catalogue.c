#include "harness/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "harness/string_stream.h"
#include "suites/case.h"

const char *lm_family_measures(const char *family)
{
    for (size_t i = 0; i < lm_case_count(); i++) {
        if (strcmp(lm_case_at(i)->family->name, family) == 0) {
            return lm_case_at(i)->family->measures;
        }
    }
    return NULL;
}

void lm_put_shell_word(FILE *out, const char *text)
{
    static const char tame[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                               "_-+=:,./@%";
    if (text[0] != '\0' && text[strspn(text, tame)] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*c, out);
        }
    }
    fputc('\'', out);
}

static bool has_case(const struct lm_run *run, const char *name)
{
    for (size_t i = 0; i < run->case_count; i++) {
        if (strcmp(run->cases[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the run's cases are all that `run` takes, with or without micro cases. */
static bool is_every_case(const struct lm_run *run, bool micro)
{
    size_t count = 0;
    for (size_t i = 0; i < lm_case_count(); i++) {
        const struct lm_case *which = lm_case_at(i);
        if (micro || (which->flags & LM_CASE_MICRO) == 0) {
            count++;
            if (!has_case(run, which->name)) {
                return false;
            }
        }
    }
    return count == run->case_count;
}

static bool has_whole_family(const struct lm_run *run, const char *family)
{
    size_t count = 0;
    for (size_t i = 0; i < lm_case_count(); i++) {
        if (strcmp(lm_case_at(i)->family->name, family) == 0) {
            count++;
            if (!has_case(run, lm_case_at(i)->name)) {
                return false;
            }
        }
    }
    return count > 0;
}

/* "family/" as the beginning of a name: the glob family/ * would take every such case. */
static bool is_under(const char *name, const char *family)
{
    size_t bytes = strlen(family);
    return strncmp(name, family, bytes) == 0 && name[bytes] == '/';
}

static bool is_first_of_family(const struct lm_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(run->cases[i].family, run->cases[index].family) == 0) {
            return false;
        }
    }
    return true;
}

/* "--case LIST": whole families as globs, the others' cases by name. */
static void put_case_list(FILE *out, const struct lm_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct lm_run_case *which = &run->cases[i];
        if (is_under(which->name, which->family) && has_whole_family(run, which->family)) {
            if (is_first_of_family(run, i)) {
                fprintf(out, "%s%s/*", any ? "," : "", which->family);
                any = true;
            }
        } else {
            fprintf(out, "%s%s", any ? "," : "", which->name);
            any = true;
        }
    }
}

char *lm_case_options(const struct lm_run *run)
{
    struct lm_string_stream list, options;
    if (lm_string_begin(&list) != NULL) {
        put_case_list(list.out, run);
    }
    char *cases = lm_string_end(&list);
    if (cases == NULL) {
        return NULL;
    }
    if (lm_string_begin(&options) != NULL) {
        if (is_every_case(run, true)) {
            fputs("--micro", options.out);
        } else if (!is_every_case(run, false)) {
            fputs("--case ", options.out);
            lm_put_shell_word(options.out, cases);
        }
    }
    free(cases);
    return lm_string_end(&options);
}
