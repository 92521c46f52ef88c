#include "harness/results_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/environment.h"
#include "harness/results_json.h"
#include "harness/results_read.h"
#include "harness/write_all.h"

struct lm_results_writer {
    char *path;
    const struct lm_run *run;
    int fd;
    bool torn;         /* a failed write could not be cut back yet */
    off_t whole_bytes; /* length of the whole lines */
    size_t sample_count;
};

/* Where an error line goes. */
struct sink {
    char *text;
    size_t bytes;
};

static int fail(struct sink sink, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct sink sink, int result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sink.text, sink.bytes, format, arguments);
    va_end(arguments);
    return result;
}

static void destroy(struct lm_results_writer *writer)
{
    if (writer->fd >= 0) {
        close(writer->fd);
    }
    free(writer->path);
    free(writer);
}

/* flock, because it belongs to this open file: closing another descriptor of the same file, as
 * reading it does, would drop a fcntl lock. Workers do not inherit it: O_CLOEXEC. */
static int lock(const struct lm_results_writer *writer, struct sink sink)
{
    if (flock(writer->fd, LOCK_EX | LOCK_NB) == 0) {
        return 0;
    }
    int result = -errno;
    if (result == -EWOULDBLOCK) {
        return fail(
            sink, result,
            "%s: another loopmark is writing it: wait for it to end or choose another --out",
            writer->path);
    }
    return fail(sink, result, "%s: can not be locked: %s; choose another --out", writer->path,
                strerror(-result));
}

/* Opens and locks. The file's length is then in whole_bytes. */
static int open_writer(const char *path, int flags, struct lm_results_writer **opened,
                       struct sink sink)
{
    struct lm_results_writer *writer = calloc(1, sizeof(*writer));
    if (!writer || !(writer->path = strdup(path))) {
        free(writer);
        return fail(sink, -ENOMEM, "%s: not enough memory to write it", path);
    }
    writer->fd = open(path, flags | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
    struct stat status;
    int result = 0;
    if (writer->fd < 0 || fstat(writer->fd, &status) != 0) {
        result = -errno;
        fail(sink, result, "%s: can not be opened for writing: %s; choose another %s", path,
             strerror(-result), flags & O_CREAT ? "--out" : "file");
    } else if (!S_ISREG(status.st_mode)) {
        /* A pipe would be waited for when the run reads its results back, and none can be resumed.
         */
        result =
            fail(sink, -EINVAL,
                 "%s: is not a regular file, so results could not be read back from it; choose "
                 "another %s",
                 path, flags & O_CREAT ? "--out" : "file");
    } else {
        result = lock(writer, sink);
    }
    /* Only now: whoever held the lock until now may have written. */
    if (result == 0 && fstat(writer->fd, &status) == 0) {
        writer->whole_bytes = status.st_size;
    }
    if (result != 0) {
        destroy(writer);
        return result;
    }
    *opened = writer;
    return 0;
}

/* Takes what a failed write left off the file. */
static int cut_back(struct lm_results_writer *writer)
{
    writer->torn = ftruncate(writer->fd, writer->whole_bytes) != 0;
    return writer->torn ? -errno : 0;
}

/* Why no more fits, in the words people use. */
static const char *cause(int error)
{
    switch (error) {
    case ENOSPC:
        return "the disk is full";
    case EDQUOT:
        return "the disk quota is used up";
    case EFBIG:
        return "the file size limit is reached (ulimit -f)";
    default:
        return strerror(error);
    }
}

static int fail_write(const struct lm_results_writer *writer, int result, struct sink sink)
{
    if (writer->whole_bytes == 0) {
        return fail(sink, result, "%s: can not be written: %s; make room or choose another --out",
                    writer->path, cause(-result));
    }
    return fail(sink, result,
                "%s: can not be written: %s; its %zu samples are kept: make room, then go on with "
                "loopmark run --resume %s",
                writer->path, cause(-result), writer->sample_count, writer->path);
}

/* Is the file still the one that was opened, as long as it was left? Otherwise hours of samples
 * would go where nobody finds them, or another run's results would be taken for this one's. */
static int check_untouched(const struct lm_results_writer *writer, struct sink sink)
{
    struct stat opened, named;
    if (fstat(writer->fd, &opened) != 0) {
        return fail_write(writer, -errno, sink);
    }
    if (stat(writer->path, &named) != 0 || named.st_ino != opened.st_ino ||
        named.st_dev != opened.st_dev) {
        return fail(sink, -ESTALE,
                    "%s: was moved, deleted or replaced while this run wrote it: put it back and "
                    "go on with loopmark run --resume %s, or run again",
                    writer->path, writer->path);
    }
    if (opened.st_size != writer->whole_bytes) {
        return fail(sink, -ESTALE,
                    "%s: was changed by another program while this run wrote it: see what is left "
                    "with loopmark compare %s, or run again",
                    writer->path, writer->path);
    }
    return 0;
}

/* Appends one line, or nothing. */
static int append(struct lm_results_writer *writer, const json_t *record, struct sink sink)
{
    char *line = record ? json_dumps(record, JSON_COMPACT) : NULL;
    if (!line) {
        return fail(sink, -ENOMEM, "%s: not enough memory to write a line", writer->path);
    }
    size_t bytes = strlen(line);
    line[bytes] = '\n'; /* in place of the NUL: the line and its end are one write */
    int result = bytes > LM_RESULTS_LINE_BYTES ? -EMSGSIZE : writer->torn ? cut_back(writer) : 0;
    if (result == 0 && (result = check_untouched(writer, sink)) != 0) {
        free(line);
        return result;
    }
    if (result == 0) {
        result = lm_write_all(writer->fd, line, bytes + 1);
        if (result != 0) {
            cut_back(writer);
        } else {
            writer->whole_bytes += (off_t)bytes + 1;
        }
    }
    free(line);
    return result == 0 ? 0 : fail_write(writer, result, sink);
}

/* What would not be read back is not written: the file would be of no use from there on. */
static int refuse(const struct lm_results_writer *writer, const char *kind, int result,
                  const struct lm_problem *problem, struct sink sink)
{
    if (result == -ENOMEM) {
        return fail(sink, result, "%s: not enough memory to write a line", writer->path);
    }
    return fail(sink, -EINVAL, "%s: this %s can not be stored: %s; please report this",
                writer->path, kind, problem->text);
}

static int append_run(struct lm_results_writer *writer, struct sink sink)
{
    json_t *record = lm_run_to_json(writer->run);
    struct lm_run check;
    struct lm_problem problem;
    int result = record ? lm_run_from_json(record, &check, &problem) : -ENOMEM;
    if (result == 0) {
        lm_run_clear(&check);
        result = append(writer, record, sink);
    } else {
        result = refuse(writer, "run", result, &problem, sink);
    }
    json_decref(record);
    return result;
}

int lm_results_writer_create(const char *path, const struct lm_run *run,
                             struct lm_results_writer **writer, char *error, size_t error_bytes)
{
    struct sink sink = {error, error_bytes};
    struct lm_results_writer *opened;
    int result = open_writer(path, O_CREAT, &opened, sink);
    if (result != 0) {
        return result;
    }
    opened->run = run;
    if (opened->whole_bytes > 0) {
        result = fail(sink, -EEXIST,
                      "%s: is there already: go on with it by --resume %s, or choose another --out",
                      path, path);
    } else {
        result = append_run(opened, sink);
    }
    if (result != 0) {
        destroy(opened);
        return result;
    }
    *writer = opened;
    return 0;
}

/* Keeps the first difference. */
static void first_line(void *context, const char *line)
{
    char *first = context;
    if (!first[0]) {
        snprintf(first, 256, "%.255s", line);
    }
}

/* May this process add to those results? */
static int check_resumable(const char *path, const struct lm_results *results,
                           const json_t *environment, struct sink sink)
{
    const json_t *recorded = results->run.environment;
    if (results->ended) {
        return fail(sink, -EALREADY,
                    "%s: is complete with %zu samples: see it with loopmark compare %s, or start "
                    "another with --out",
                    path, results->sample_count, path);
    }
    if (!lm_environment_same_host(recorded, environment)) {
        return fail(sink, -EXDEV,
                    "%s: was measured on another machine, and samples of two machines do not mix: "
                    "start another file with --out",
                    path);
    }
    if (!lm_environment_same_source(recorded, environment)) {
        return fail(sink, -EXDEV,
                    "%s: was measured by another build of loopmark: use that one, or start another "
                    "file with --out",
                    path);
    }
    char difference[256] = "";
    size_t count = lm_environment_differences(recorded, environment, first_line, difference);
    if (count > 0) {
        return fail(sink, -EXDEV,
                    "%s: was measured with other settings (%s%s): restore them, or start another "
                    "file with --out",
                    path, difference, count > 1 ? ", and more" : "");
    }
    return 0;
}

int lm_results_writer_resume(const char *path, const json_t *environment,
                             struct lm_results *results, struct lm_results_writer **writer,
                             char *error, size_t error_bytes)
{
    struct sink sink = {error, error_bytes};
    struct lm_results_writer *opened;
    int result = open_writer(path, 0, &opened, sink);
    if (result != 0) {
        return result;
    }
    result = lm_results_read_fd(opened->fd, path, results, error, error_bytes);
    if (result == 0) {
        result = check_resumable(path, results, environment, sink);
        opened->whole_bytes = (off_t)results->whole_bytes;
        if (result == 0 && results->torn && (result = cut_back(opened)) != 0) {
            fail(sink, result, "%s: its torn last line can not be cut off: %s; copy it elsewhere",
                 path, strerror(-result));
        }
        if (result != 0) {
            lm_results_free(results);
        }
    }
    if (result != 0) {
        destroy(opened);
        return result;
    }
    opened->run = &results->run;
    opened->sample_count = results->sample_count;
    *writer = opened;
    return 0;
}

const char *lm_results_writer_path(const struct lm_results_writer *writer)
{
    return writer->path;
}

int lm_results_writer_sample(struct lm_results_writer *writer, const struct lm_sample *sample,
                             char *error, size_t error_bytes)
{
    struct sink sink = {error, error_bytes};
    json_t *record = lm_sample_to_json(writer->run, sample);
    struct lm_sample check;
    struct lm_problem problem;
    int result = record ? lm_sample_from_json(writer->run, record, &check, &problem) : -ENOMEM;
    if (result == 0) {
        lm_sample_clear(&check);
        result = append(writer, record, sink);
        writer->sample_count += result == 0;
    } else {
        result = refuse(writer, "sample", result, &problem, sink);
    }
    json_decref(record);
    return result;
}

int lm_results_writer_end(struct lm_results_writer *writer, char *error, size_t error_bytes)
{
    json_t *record = lm_end_to_json(writer->run, writer->sample_count);
    int result = append(writer, record, (struct sink){error, error_bytes});
    json_decref(record);
    return result;
}

int lm_results_writer_close(struct lm_results_writer *writer, char *error, size_t error_bytes)
{
    int result = 0;
    if (writer) {
        if (fsync(writer->fd) != 0) {
            result = -errno;
        }
        if (close(writer->fd) != 0 && result == 0) {
            result = -errno;
        }
        writer->fd = -1;
        if (result != 0) {
            fail((struct sink){error, error_bytes}, result,
                 "%s: may not be whole on the disk: %s; check it with loopmark compare %s",
                 writer->path, cause(-result), writer->path);
        }
        destroy(writer);
    }
    return result;
}
