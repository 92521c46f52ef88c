/* environment.h - what a run was measured on and with, and whether two runs may be compared.
 *
 * An environment is a JSON object, stored in the `run` record; results.md lists its members. Each
 * string in it is one line of valid UTF-8, and what can not be read is null, never a guess.
 */
#ifndef LM_ENVIRONMENT_H
#define LM_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Describes this machine, system, build and process, now. The caller owns the value; NULL only when
 * memory is short. Reads a few dozen files, so not while something is being measured. */
json_t *lm_environment_capture(void);

/* As lm_environment_capture, with the system's files looked for below `root` ("" is the real one):
 * for tests. */
json_t *lm_environment_capture_from(const char *root);

/* Receives one line of text; valid during the call. */
typedef void lm_environment_line_fn(void *context, const char *line);

/* Calls each(context, line) for everything in `environment` that will spoil numbers: what it is and
 * its remedy, in one line. Returns how many there are. */
size_t lm_environment_warnings(const json_t *environment, lm_environment_line_fn *each,
                               void *context);

/* Were both captured on one machine? False when either does not say. */
bool lm_environment_same_host(const json_t *a, const json_t *b);

/* Calls each(context, line) for each setting that differs ("cpu.governor: powersave against
 * performance"). No settings are date, load, and the source that was built, which two runs may be
 * there to compare. Returns how many there are. */
size_t lm_environment_differences(const json_t *a, const json_t *b, lm_environment_line_fn *each,
                                  void *context);

/* Were both programs built from the same source, as far as is known? */
bool lm_environment_same_source(const json_t *a, const json_t *b);

#endif
