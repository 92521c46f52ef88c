/* content_parts.h - parts of an operating system's page, private to report/content_*.c. Each writes
 * its heading too, and nothing where there is nothing to tell.
 */
#ifndef LM_CONTENT_PARTS_H
#define LM_CONTENT_PARTS_H

#include "report/content.h"

void lm_content_leaders(struct lm_writer *writer);
void lm_content_each_other(struct lm_writer *writer);  /* for three implementations or more */
void lm_content_environment(struct lm_writer *writer); /* warnings, machine, implementations */
void lm_content_failures(struct lm_writer *writer);
void lm_content_remarks(struct lm_writer *writer); /* skipped, unstable, warned of */
void lm_content_reproduce(struct lm_writer *writer);

#endif
