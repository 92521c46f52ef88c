/* page.h - the page model: everything a page of one operating system shows, in numbers and names.
 *
 * Made from one results file or one published table; the writers (writer.h) only lay it out. It
 * knows no markup. Deterministic: nothing of the present time, directory or locale is in it.
 */
#ifndef LM_PAGE_H
#define LM_PAGE_H

#include "report/chart.h"
#include "report/comparison.h"
#include "report/import_csv.h"

/* A row of the environment table. */
struct lm_fact {
    const char *label; /* this program's words */
    char *value;       /* owned; from the file */
};

/* Latency quantiles, pooled over all good samples of one implementation on one case. */
#define LM_CURVE_POINTS 11
struct lm_curve {
    bool known;
    double value_ns[LM_CURVE_POINTS]; /* at lm_curve_quantiles */
};
extern const double lm_curve_quantiles[LM_CURVE_POINTS];   /* fractions, 0 to 1 */
extern const char *const lm_curve_labels[LM_CURVE_POINTS]; /* "min", "p50" */

struct lm_page {
    char *path;             /* owned; the source as it was named */
    char *file;             /* owned; name of the source without its folders */
    char *os;               /* owned; "Linux"; from the file */
    char slug[64];          /* of os, fit for a file name; the page is SLUG.html and so on */
    char date[32];          /* when it was measured, "2026-12-01 04:10 UTC"; "" when unknown */
    char *date_utc;         /* owned; the same as the source has it, with its seconds */
    char *version, *commit; /* owned; "" when unknown */
    char *machine;          /* owned; one line; "" when unknown */
    char *label;            /* owned; what --label said; "" when nothing */
    char *command;          /* owned; the run that repeats this one; "" when unknown */
    struct lm_fact *facts;  /* owned */
    size_t fact_count;

    struct lm_comparison *own; /* owned; against the source's own baseline */
    /* The same with each implementation as the baseline, by own's index: [own->baseline] is `own`
     * itself, NULL for a second copy, and NULL for all others when there are too many. Owned. */
    struct lm_comparison **against;
    struct lm_curve *curves; /* owned; [implementation * case_count + case], NULL when unknown */

    struct lm_chart *charts; /* owned; the summary, then each family's in its order */
    size_t chart_count;
    char (*family_ids)[64]; /* owned; a unique id for each family, fit for a URL's fragment */
};

/* `os` is used where the source does not say its system; may be NULL. 0, or a negative errno with
 * one line in `error`: -EINVAL when the source does not say on which system it was measured and
 * `os` is NULL. */
int lm_page_from_results(const struct lm_results *results, const char *os, struct lm_page **page,
                         char *error, size_t error_bytes);
int lm_page_from_import(const struct lm_import *import, const char *os, struct lm_page **page,
                        char *error, size_t error_bytes);
void lm_page_free(struct lm_page *page);

/* The implementation of `comparison` (one of page->against) that is own's `implementation`;
 * SIZE_MAX when it is not in it. */
size_t lm_page_find(const struct lm_page *page, const struct lm_comparison *comparison,
                    size_t implementation);

/* The other way round: own's index of an implementation of `comparison`. */
size_t lm_page_own(const struct lm_page *page, const struct lm_comparison *comparison,
                   size_t implementation);

/* Writes a name fit for a file and a URL: lower-case letters, digits, `_` and single `-`; never
 * empty, cut to the room there is. */
void lm_slug(char slug[64], const char *text);

#endif
