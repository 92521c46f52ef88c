/* differences.h - how two JSON values of one shape differ, as lines for people. */
#ifndef LM_DIFFERENCES_H
#define LM_DIFFERENCES_H

#include <jansson.h>
#include <stddef.h>

/* Calls each(context, line) for each member, at any depth, that is not equal: "cpu.model: X against
 * Y", in a's order and then what only b has. A list counts as one value, null and a missing member
 * are both "not known". Members whose whole name is in `ignored` (ended by NULL) are passed over.
 * Returns the number of lines. */
size_t lm_json_differences(const json_t *a, const json_t *b, const char *const *ignored,
                           void (*each)(void *context, const char *line), void *context);

#endif
