/* results_read.h - reading results that are not behind a path. Internal to this folder and tests.
 */
#ifndef LM_RESULTS_READ_H
#define LM_RESULTS_READ_H

#include "harness/results.h"

/* Longest line of a results file, its newline not counted. */
#define LM_RESULTS_LINE_BYTES (16u << 20)

/* As lm_results_read, from a descriptor's present position to its end; `path` names it in errors
 * and in results->path. The descriptor stays open. */
int lm_results_read_fd(int fd, const char *path, struct lm_results *results, char *error,
                       size_t error_bytes);

/* As lm_results_read, from memory. */
int lm_results_read_memory(const char *path, const void *text, size_t bytes,
                           struct lm_results *results, char *error, size_t error_bytes);

#endif
