/* compare_render.h - the forms of a comparison, one file each: compare_FORM.c.
 *
 * All of them write the same bytes for the same comparison. A stream's own errors are left to the
 * caller (ferror); they return 0 or -ENOMEM.
 */
#ifndef LM_COMPARE_RENDER_H
#define LM_COMPARE_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "report/comparison.h"

/* For terminals; colour adds nothing that the words do not say. */
int lm_render_compare_table(const struct lm_comparison *comparison, bool colour, FILE *out);

/* GitHub's Markdown: the answers first, tables folded. */
int lm_render_compare_markdown(const struct lm_comparison *comparison, FILE *out);

/* One row per case and implementation with unrounded numbers; columns in compare.md. */
int lm_render_compare_csv(const struct lm_comparison *comparison, FILE *out);

/* Everything; schema in compare.md. */
int lm_render_compare_json(const struct lm_comparison *comparison, FILE *out);

/* Version of the JSON form. It changes when a member changes its meaning or goes away. */
#define LM_COMPARE_SCHEMA 1

#endif
