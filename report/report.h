/* report.h - what the rest of the program uses of report/.
 */
#ifndef LM_REPORT_H
#define LM_REPORT_H

#include <stdio.h>

#include "harness/results.h"

/* The sub-command `compare`: argv[0] is its name. Returns the exit code: 0, 1 when a gate of
 * --fail-on is not met, 2 for wrong use, unreadable input or a failed write to stdout, 3 when
 * samples failed and no gate was asked for. */
int lm_compare_command(int argc, char **argv);

/* The sub-command `report`. Returns the exit code: 0, or 2 when no page was written. */
int lm_report_command(int argc, char **argv);

/* Prints the comparison of a finished run against its own baseline in the terminal form, in colour
 * when `out` is a terminal that takes it. 0 or a negative errno; a failed write is one. */
int lm_compare_print_results(const struct lm_results *results, FILE *out);

#endif
