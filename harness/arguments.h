/* arguments.h - parsing of a sub-command's options, with one wording for what is wrong with them.
 */
#ifndef LM_ARGUMENTS_H
#define LM_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* The next option of argv: its `val`, -1 at the end, or '?' after it was refused with one line on
 * stderr (unknown, ambiguous, or its value is missing). `command` is the sub-command's name. */
int lm_next_option(int argc, char **argv, const struct option *options, const char *command);

/* After lm_next_option returned -1: false, with one line on stderr, when words are left over. */
bool lm_no_more_words(int argc, char **argv, const char *command);

/* Appends a comma and `more` to *list (owned, may be NULL): an option whose value is a list may be
 * given several times. False, with one line on stderr, when memory is short. */
bool lm_join_list(char **list, const char *more);

/* Parse a value of an option. On failure they print one line on stderr that names the option, what
 * it takes and what was given, and return false. minimum and maximum are inclusive. */
bool lm_parse_whole(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                    uint64_t *value);
bool lm_parse_seconds(const char *option, const char *text, double minimum, double maximum,
                      double *seconds);

#endif
