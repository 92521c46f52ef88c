/* catalogue.h - what this program knows of the families and cases that a results file names.
 *
 * For pages: the report side knows no case itself. Not for choosing what to run: selection.h.
 */
#ifndef LM_CATALOGUE_H
#define LM_CATALOGUE_H

#include <stdio.h>

#include "harness/results.h"

/* What a family measures, one sentence; NULL when this program has no family of that name. */
const char *lm_family_measures(const char *family);

/* The options of `loopmark run` that choose exactly the cases of a run, quoted for a shell: "" when
 * they are those it takes without any. The caller frees it; NULL when memory is short. */
char *lm_case_options(const struct lm_run *run);

/* Writes text as one word of a shell's command line; as it is when nothing in it is special. */
void lm_put_shell_word(FILE *out, const char *text);

#endif
