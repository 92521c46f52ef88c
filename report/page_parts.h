/* page_parts.h - the parts a page model is put together from; private to report/page*.c.
 */
#ifndef LM_PAGE_PARTS_H
#define LM_PAGE_PARTS_H

#include "report/page.h"

/* Formatted text that the caller frees; NULL when memory is short. */
char *lm_page_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the run record says: os, date, version, commit, machine, label, command
 * and the facts. 0 or -ENOMEM; page->os stays NULL when it is not known. */
int lm_page_describe(struct lm_page *page, const struct lm_run *run);

/* Pools the latencies of the good samples: page->curves. 0 or -ENOMEM. */
int lm_page_fill_curves(struct lm_page *page, const struct lm_results *results);

/* The charts of page->own: page->charts. 0 or -ENOMEM. */
int lm_page_list_charts(struct lm_page *page);

#endif
