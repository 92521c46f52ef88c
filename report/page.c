#include "report/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/string_stream.h"
#include "report/page_parts.h"

char *lm_page_text(const char *format, ...)
{
    struct lm_string_stream text;
    va_list arguments;
    va_start(arguments, format);
    if (lm_string_begin(&text) != NULL) {
        vfprintf(text.out, format, arguments);
    }
    va_end(arguments);
    return lm_string_end(&text);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_letter_or_digit(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

void lm_slug(char slug[64], const char *text)
{
    size_t length = 0;
    /* An id begins with a letter. */
    if (!is_letter(text[0])) {
        slug[length++] = 'x';
    }
    for (const char *c = text; *c != '\0' && length < 48; c++) {
        /* At the edge of a word AsciiDoc would take `_` for the begin or end of emphasis. */
        bool joins = *c == '_' && c > text && is_letter_or_digit(c[-1]) && is_letter_or_digit(c[1]);
        if (is_letter_or_digit(*c) || joins) {
            slug[length++] = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        } else if (length > 0 && slug[length - 1] != '-') {
            slug[length++] = '-';
        }
    }
    while (length > 0 && (slug[length - 1] == '-' || slug[length - 1] == '_')) {
        length--;
    }
    slug[length] = '\0';
}

/* The other pages have names too. Two hyphens are in no slug, so this one is not taken. */
static void name_page(struct lm_page *page)
{
    lm_slug(page->slug, page->os);
    if (strcmp(page->slug, "index") == 0 || strcmp(page->slug, "methodology") == 0) {
        strcat(page->slug, "--system");
    }
}

/* Ids that pages use for parts of their own. */
static const char *const reserved_ids[] = {
    "answer",      "answers",  "controls",        "data",    "details", "each-against-each",
    "environment", "failures", "implementations", "leaders", "remarks", "reproduce",
    "summary"};

static bool is_taken(const struct lm_page *page, size_t family, const char *slug)
{
    for (size_t i = 0; i < sizeof reserved_ids / sizeof *reserved_ids; i++) {
        if (strcmp(reserved_ids[i], slug) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < family; i++) {
        if (strcmp(page->family_ids[i], slug) == 0) {
            return true;
        }
    }
    return false;
}

/* Slugs of the families. One that is taken gets the family's number after two hyphens, which no
 * slug has. */
static int name_families(struct lm_page *page)
{
    const struct lm_comparison *own = page->own;
    page->family_ids = calloc(own->family_count + 1, sizeof *page->family_ids);
    if (page->family_ids == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < own->family_count; i++) {
        char slug[64];
        lm_slug(slug, own->families[i].name);
        snprintf(page->family_ids[i], sizeof page->family_ids[i],
                 is_taken(page, i, slug) ? "%.40s--%zu" : "%s", slug, i + 1);
    }
    return 0;
}

/* The implementation of a name; SIZE_MAX when there is none. */
static size_t find_name(const struct lm_comparison *comparison, const char *name)
{
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        if (strcmp(comparison->implementations[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t lm_page_find(const struct lm_page *page, const struct lm_comparison *comparison,
                    size_t implementation)
{
    return find_name(comparison, page->own->implementations[implementation].name);
}

size_t lm_page_own(const struct lm_page *page, const struct lm_comparison *comparison,
                   size_t implementation)
{
    return find_name(page->own, comparison->implementations[implementation].name);
}

static char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strdup(slash != NULL ? slash + 1 : path);
}

static struct lm_page *new_page(const char *path)
{
    struct lm_page *page = calloc(1, sizeof *page);
    if (page == NULL) {
        return NULL;
    }
    page->path = strdup(path);
    page->file = file_of(path);
    if (page->path == NULL || page->file == NULL) {
        lm_page_free(page);
        return NULL;
    }
    return page;
}

void lm_page_free(struct lm_page *page)
{
    if (page == NULL) {
        return;
    }
    for (size_t i = 0; page->against != NULL && i < page->own->implementation_count; i++) {
        if (page->against[i] != page->own) {
            lm_comparison_free(page->against[i]);
        }
    }
    for (size_t i = 0; i < page->fact_count; i++) {
        free(page->facts[i].value);
    }
    for (size_t i = 0; i < page->chart_count; i++) {
        free(page->charts[i].cases);
    }
    char *texts[] = {page->path,   page->file,    page->os,    page->date_utc, page->version,
                     page->commit, page->machine, page->label, page->command};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(texts[i]);
    }
    free(page->against);
    free(page->facts);
    free(page->charts);
    free(page->curves);
    free(page->family_ids);
    lm_comparison_free(page->own);
    free(page);
}

/* Builds one comparison of the source, whatever kind it is of. */
typedef int compare_fn(const void *source, const struct lm_compare_options *options,
                       struct lm_comparison **comparison, char *error, size_t error_bytes);

static int compare_results(const void *source, const struct lm_compare_options *options,
                           struct lm_comparison **comparison, char *error, size_t error_bytes)
{
    return lm_comparison_from_results(source, options, comparison, error, error_bytes);
}

static int compare_import(const void *source, const struct lm_compare_options *options,
                          struct lm_comparison **comparison, char *error, size_t error_bytes)
{
    return lm_comparison_from_import(source, options, comparison, error, error_bytes);
}

/* Each baseline costs as much as the page's own one, so a page's time, memory and length grow with
 * the square of this: 32 are some seconds and 10 MB. A file may have 1024. */
#define MOST_BASELINES 32

static int fill_against(struct lm_page *page, compare_fn *compare, const void *source, char *error,
                        size_t error_bytes)
{
    const struct lm_comparison *own = page->own;
    page->against = calloc(own->implementation_count + 1, sizeof *page->against);
    if (page->against == NULL) {
        return -ENOMEM;
    }
    page->against[own->baseline] = page->own;
    if (own->implementation_count > MOST_BASELINES) {
        return 0;
    }
    int status = 0;
    for (size_t i = 0; i < own->implementation_count && status == 0; i++) {
        struct lm_compare_options options = {.baseline = own->implementations[i].name};
        if (i != own->baseline && !own->implementations[i].aa) {
            status = compare(source, &options, &page->against[i], error, error_bytes);
        }
    }
    return status;
}

/* What both kinds of source have in common, once the page knows its facts. */
static int fill_page(struct lm_page *page, const char *os, compare_fn *compare, const void *source,
                     char *error, size_t error_bytes)
{
    if (page->os == NULL && os != NULL) {
        page->os = strdup(os);
        if (page->os == NULL) {
            return -ENOMEM;
        }
    }
    if (page->os == NULL) {
        snprintf(error, error_bytes,
                 "%s: does not say on which system it was measured; name it with --os, such as "
                 "--os macOS",
                 page->file);
        return -EINVAL;
    }
    name_page(page);
    int status = fill_against(page, compare, source, error, error_bytes);
    status = status != 0 ? status : name_families(page);
    return status != 0 ? status : lm_page_list_charts(page);
}

/* Hands the page over, or frees it and sees that there is a line about the failure. */
static int conclude(struct lm_page *page, int status, struct lm_page **into, char *error,
                    size_t error_bytes)
{
    *into = page;
    if (status == -ENOMEM) {
        snprintf(error, error_bytes, "not enough memory for a page");
    }
    if (status != 0) {
        lm_page_free(page);
        *into = NULL;
    }
    return status;
}

int lm_page_from_results(const struct lm_results *results, const char *os, struct lm_page **page,
                         char *error, size_t error_bytes)
{
    const struct lm_compare_options options = {.baseline = NULL};
    struct lm_page *built = new_page(results->path);
    int status = built != NULL ? 0 : -ENOMEM;
    if (status == 0) {
        status = compare_results(results, &options, &built->own, error, error_bytes);
    }
    if (status == 0) {
        status = lm_page_describe(built, &results->run);
    }
    if (status == 0) {
        status = lm_page_fill_curves(built, results);
    }
    if (status == 0) {
        status = fill_page(built, os, compare_results, results, error, error_bytes);
    }
    return conclude(built, status, page, error, error_bytes);
}

int lm_page_from_import(const struct lm_import *import, const char *os, struct lm_page **page,
                        char *error, size_t error_bytes)
{
    const struct lm_compare_options options = {.baseline = NULL};
    struct lm_page *built = new_page(import->path);
    int status = built != NULL ? 0 : -ENOMEM;
    if (status == 0) {
        status = compare_import(import, &options, &built->own, error, error_bytes);
    }
    if (status == 0) {
        char **texts[] = {&built->date_utc, &built->version, &built->commit,
                          &built->machine,  &built->label,   &built->command};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            *texts[i] = strdup("");
            status = *texts[i] != NULL ? status : -ENOMEM;
        }
    }
    if (status == 0) {
        status = fill_page(built, os, compare_import, import, error, error_bytes);
    }
    return conclude(built, status, page, error, error_bytes);
}
