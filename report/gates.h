/* gates.h - what makes `loopmark compare` fail on purpose: --fail-on, for use in CI.
 */
#ifndef LM_GATES_H
#define LM_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/comparison.h"

struct lm_gates {
    bool slower;           /* a case of a candidate is slower ... */
    double slower_percent; /* ... by more than this */
    bool failed;           /* a sample failed */
};

/* Adds the gates of a comma-separated list: slower, slower:PERCENT, failed. Of several slower the
 * strictest stays. 0, or -EINVAL with one line in `error`. */
int lm_gates_parse(const char *list, struct lm_gates *gates, char *error, size_t error_bytes);

/* Writes one line for each reason why a gate is not met. Returns how many there are, or -EINVAL,
 * also with its line, when `slower` was asked and no case has a verdict: that is no pass. */
int lm_gates_check(const struct lm_gates *gates, const struct lm_comparison *comparison, FILE *out);

#endif
