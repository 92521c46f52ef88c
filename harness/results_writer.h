/* results_writer.h - appends to a results file, so that whatever happens no whole line is lost.
 *
 * One writer per file: it holds a lock on it. Not for reading results, and not safe to use from two
 * threads at once.
 *
 * A record is one line, written at once by write(2) before lm_results_writer_sample returns: it is
 * then the system's, and a kill of this process loses nothing. The file is forced to the disk only
 * when the writer is closed. A sync per line would guard against a power cut alone, and costs
 * milliseconds of disk and kernel work between two samples, where the next measurement would feel
 * it.
 *
 * When a write fails (disk full, quota, file size limit) the file is cut back to its last whole
 * line; the error says so and how to go on. The writer may be used again afterwards. A caller that
 * may run under a file size limit ignores SIGXFSZ.
 *
 * Before each line the file is looked at: when it was moved, deleted, replaced or changed by
 * another program, nothing more is written (-ESTALE).
 *
 * Functions return 0 or a negative errno and then one line in `error` (capacity error_bytes) that
 * names the file, the cause and the next step.
 */
#ifndef LM_RESULTS_WRITER_H
#define LM_RESULTS_WRITER_H

#include "harness/results.h"

struct lm_results_writer;

/* Starts a results file with the run record. An empty file that is there is used, a
 * file with contents is refused (-EEXIST). -EWOULDBLOCK when another process writes the file;
 * -EINVAL when it is a pipe or a device, or `run` is not a legal record. *run is used until the
 * writer is closed. */
int lm_results_writer_create(const char *path, const struct lm_run *run,
                             struct lm_results_writer **writer, char *error, size_t error_bytes);

/* Goes on with a results file. On success *results holds what is in it (lm_results_free, after the
 * writer was closed); when results->torn, a torn last line was cut off the file. Refused: a run
 * that has ended (-EALREADY), one from another host or program, or whose settings differ from
 * `environment`, that of this process (-EXDEV), and whatever lm_results_read refuses. */
int lm_results_writer_resume(const char *path, const json_t *environment,
                             struct lm_results *results, struct lm_results_writer **writer,
                             char *error, size_t error_bytes);

/* The file's name, as it was given. */
const char *lm_results_writer_path(const struct lm_results_writer *writer);

/* Appends a sample. -EINVAL when it is not a legal record of this run: nothing is written then. */
int lm_results_writer_sample(struct lm_results_writer *writer, const struct lm_sample *sample,
                             char *error, size_t error_bytes);

/* Appends the end record: every sample of the run is in. No sample may follow. */
int lm_results_writer_end(struct lm_results_writer *writer, char *error, size_t error_bytes);

/* Forces the file to the disk, unlocks and closes it, frees the writer, whatever is returned. A
 * disk that fails late (a network file system) is noticed here. NULL is allowed. */
int lm_results_writer_close(struct lm_results_writer *writer, char *error, size_t error_bytes);

#endif
