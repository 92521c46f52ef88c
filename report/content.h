/* content.h - what stands on the pages, in reading order; the same for every form.
 *
 * Each writes one whole page through a writer. Not for markup (write_FORM.c) or for arithmetic.
 */
#ifndef LM_CONTENT_H
#define LM_CONTENT_H

#include "report/writer.h"

/* The page of one operating system; writer->page is it. */
void lm_content_os(struct lm_writer *writer);

/* Every threshold, formula and rule behind the pages. */
void lm_content_methodology(struct lm_writer *writer);

/* One row for each page. */
void lm_content_landing(struct lm_writer *writer, struct lm_page *const *pages, size_t count);

/* The table of policy.h. */
void lm_content_policy(struct lm_writer *writer);

/* A candidate's answer in one section, in one line. */
void lm_content_answer(struct lm_writer *writer, const struct lm_comparison *comparison,
                       const struct lm_matchup *matchup, enum lm_section section);

#endif
