/* report_files.h - pages and charts on their way to a folder: all of them, or none.
 *
 * Everything is made in memory first and written beside its place; only when all of it is written
 * do the new files take the places of the old ones. So neither a full disk nor a signal leaves half
 * a page behind, or takes a good one away.
 */
#ifndef LM_REPORT_FILES_H
#define LM_REPORT_FILES_H

#include <stdio.h>

struct lm_files;

/* Files to be put into `folder`, borrowed, which is made when it is not there. NULL when memory is
 * short. */
struct lm_files *lm_files_new(const char *folder);
void lm_files_free(struct lm_files *files);

/* Begins the next file, at `path` below the folder: everything printed to the stream goes into it,
 * until the next call of lm_files_next or lm_files_write. NULL when memory is short. */
FILE *lm_files_next(struct lm_files *files, const char *path);

size_t lm_files_count(const struct lm_files *files);
const char *lm_files_path(const struct lm_files *files, size_t index);

/* Writes all of them, with signals held back while they are moved to their places. 0, or a negative
 * errno with one line in `error`. */
int lm_files_write(struct lm_files *files, char *error, size_t error_bytes);

#endif
