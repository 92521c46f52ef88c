/* Reading a results file line by line; what a record holds is judged in results_record.c. */
#include "harness/results_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "harness/results_json.h"
#include "harness/text.h"

/* What a file that is none of ours needs. */
#define FOREIGN "not a loopmark results file: name one that `loopmark run` wrote"

#define CHUNK_BYTES (1u << 16)

/* Longest unpacked form of a compressed file: a few bytes could stand for any number. */
#define UNPACKED_BYTES (UINT64_C(2) << 30)

/* How every results file begins. */
static const char file_start[] = "{\"record\":\"run\",";

struct reader {
    const char *path;
    struct lm_results *results;
    size_t sample_capacity;
    size_t line; /* number of the line being read, from 1 */
    char *part;  /* a line's beginning that is still without its end */
    size_t part_bytes, part_capacity;
    char *error;
    size_t error_bytes;
};

/* Writes the error line and returns `result`. Text from the file may be in it, so it is cleaned. */
static int fail(struct reader *reader, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct reader *reader, int result, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    size_t length = bytes < 0 ? 0 : (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1;
    if (reader->error_bytes >= 4) {
        lm_text_clean(reader->error, reader->error_bytes, text, length);
    }
    return result;
}

static int fail_read(struct reader *reader, int result)
{
    return fail(reader, result, "%s: can not be read: %s; name a file that `loopmark run` wrote",
                reader->path, strerror(-result));
}

/* What a damaged line needs: samples of the other lines need not be lost. */
static const char *damaged(const struct reader *reader)
{
    return reader->line == 1
               ? "the file was changed or damaged: run again"
               : "the file was changed or damaged: delete this line and --resume it, or run again";
}

static int fail_memory(struct reader *reader)
{
    return fail(reader, -ENOMEM, "%s: not enough memory to read it", reader->path);
}

/* Passes a record's own problem on, with its place and the next step. */
static int fail_record(struct reader *reader, int result, const struct lm_problem *problem)
{
    if (result == -ENOMEM) {
        return fail_memory(reader);
    }
    return fail(reader, result, "%s:%zu: %s; %s", reader->path, reader->line, problem->text,
                result == -ENOTSUP ? "use that version, or a later one" : damaged(reader));
}

static int fail_json(struct reader *reader, const json_error_t *json_error)
{
    const char *what;
    switch (json_error_code(json_error)) {
    case json_error_out_of_memory:
        return fail_memory(reader);
    case json_error_invalid_utf8:
        what = "not valid UTF-8";
        break;
    case json_error_stack_overflow:
        what = "nested too deeply";
        break;
    case json_error_duplicate_key:
        what = "a member is there twice";
        break;
    case json_error_numeric_overflow:
        what = "a number is out of range";
        break;
    default:
        what = "not valid JSON";
        break;
    }
    return fail(reader, -EBADMSG, "%s:%zu: %s (near byte %d of the line); %s", reader->path,
                reader->line, what, json_error->position, damaged(reader));
}

static int read_sample(struct reader *reader, const json_t *record)
{
    struct lm_results *results = reader->results;
    struct lm_problem problem;
    if (results->sample_count == reader->sample_capacity) {
        size_t capacity = reader->sample_capacity ? reader->sample_capacity * 2 : 64;
        void *samples = realloc(results->samples, capacity * sizeof(results->samples[0]));
        if (!samples) {
            return fail_memory(reader);
        }
        results->samples = samples;
        reader->sample_capacity = capacity;
    }
    int result = lm_sample_from_json(&results->run, record,
                                     &results->samples[results->sample_count], &problem);
    if (result != 0) {
        return fail_record(reader, result, &problem);
    }
    results->sample_count++;
    return 0;
}

/* The first line says whether this is one of our files at all. */
static int read_first(struct reader *reader, const json_t *record)
{
    struct lm_problem problem;
    const char *kind = lm_record_kind(record);
    if (kind && (strcmp(kind, "sample") == 0 || strcmp(kind, "end") == 0)) {
        return fail(reader, -EBADMSG,
                    "%s:1: a %s record before the run record: the file has lost its beginning: run "
                    "again",
                    reader->path, kind);
    }
    if (!kind || strcmp(kind, "run") != 0) {
        return fail(reader, -EBADMSG, "%s: %s", reader->path, FOREIGN);
    }
    int result = lm_run_from_json(record, &reader->results->run, &problem);
    return result ? fail_record(reader, result, &problem) : 0;
}

static int read_record(struct reader *reader, const json_t *record)
{
    struct lm_results *results = reader->results;
    struct lm_problem problem;
    if (reader->line == 1) {
        return read_first(reader, record);
    }
    const char *kind = lm_record_kind(record);
    if (results->ended) {
        lm_problem(&problem, "follows the end record");
    } else if (kind && strcmp(kind, "sample") == 0) {
        return read_sample(reader, record);
    } else if (kind && strcmp(kind, "end") == 0) {
        int result = lm_end_from_json(&results->run, record, results->sample_count, &problem);
        results->ended = result == 0;
        return result ? fail_record(reader, result, &problem) : 0;
    } else if (kind && strcmp(kind, "run") == 0) {
        lm_problem(&problem, "a second run record, so two files were joined here");
    } else {
        lm_problem(&problem, "not a sample or end record");
    }
    return fail_record(reader, -EBADMSG, &problem);
}

static int read_line(struct reader *reader, const char *text, size_t bytes)
{
    json_error_t json_error;
    json_t *record = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &json_error);
    if (!record) {
        bool foreign = reader->line == 1 &&
                       json_error_code(&json_error) != json_error_out_of_memory &&
                       (bytes < sizeof(file_start) - 1 ||
                        memcmp(text, file_start, sizeof(file_start) - 1) != 0);
        return foreign ? fail(reader, -EBADMSG, "%s: %s", reader->path, FOREIGN)
                       : fail_json(reader, &json_error);
    }
    int result = read_record(reader, record);
    json_decref(record);
    if (result == 0) {
        reader->results->whole_bytes += bytes + 1;
        reader->line++;
    }
    return result;
}

/* Keeps the beginning of a line until the rest of it comes. */
static int keep_part(struct reader *reader, const char *text, size_t bytes)
{
    if (bytes > LM_RESULTS_LINE_BYTES - reader->part_bytes) {
        return reader->line == 1
                   ? fail(reader, -EBADMSG, "%s: %s", reader->path, FOREIGN)
                   : fail(reader, -EBADMSG, "%s:%zu: longer than %u bytes; %s", reader->path,
                          reader->line, LM_RESULTS_LINE_BYTES, damaged(reader));
    }
    if (reader->part_bytes + bytes > reader->part_capacity) {
        size_t capacity = (reader->part_bytes + bytes) * 2;
        char *part = realloc(reader->part, capacity);
        if (!part) {
            return fail_memory(reader);
        }
        reader->part = part;
        reader->part_capacity = capacity;
    }
    if (bytes > 0) {
        memcpy(reader->part + reader->part_bytes, text, bytes);
    }
    reader->part_bytes += bytes;
    return 0;
}

/* Takes the next bytes of the file, however they fall. */
static int feed(struct reader *reader, const char *text, size_t bytes)
{
    int result = 0;
    const char *end;
    while (result == 0 && bytes > 0 && (end = memchr(text, '\n', bytes))) {
        size_t length = (size_t)(end - text);
        result = keep_part(reader, text, length);
        if (result == 0) {
            result = read_line(reader, reader->part ? reader->part : "", reader->part_bytes);
        }
        reader->part_bytes = 0;
        text += length + 1;
        bytes -= length + 1;
    }
    return result == 0 && bytes > 0 ? keep_part(reader, text, bytes) : result;
}

/* A sample by its place, and the line it is on. */
struct place {
    size_t case_index, backend_index, line;
    uint32_t iteration;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
#define ORDER(member)                                                                              \
    if (a->member != b->member) {                                                                  \
        return a->member < b->member ? -1 : 1;                                                     \
    }
    ORDER(case_index)
    ORDER(backend_index)
    ORDER(iteration)
    ORDER(line)
#undef ORDER
    return 0;
}

/* Two samples of one case, backend and iteration: which of them counts is not ours to say. */
static int check_doubles(struct reader *reader)
{
    const struct lm_results *results = reader->results;
    size_t count = results->sample_count;
    struct place *places = calloc(count ? count : 1, sizeof(*places));
    if (!places) {
        return fail_memory(reader);
    }
    for (size_t i = 0; i < count; i++) {
        const struct lm_sample *sample = &results->samples[i];
        places[i] = (struct place){sample->case_index, sample->backend_index,
                                   i + 2, /* the run record is line 1, and each line a record */
                                   sample->iteration};
    }
    qsort(places, count, sizeof(*places), compare_places);
    int result = 0;
    for (size_t i = 1; result == 0 && i < count; i++) {
        const struct place *a = &places[i - 1], *b = &places[i];
        if (a->case_index == b->case_index && a->backend_index == b->backend_index &&
            a->iteration == b->iteration) {
            result =
                fail(reader, -EBADMSG,
                     "%s:%zu: iteration %" PRIu32 " of %s on %s is already on line %zu; delete "
                     "one of the two lines",
                     reader->path, b->line, b->iteration, results->run.cases[b->case_index].name,
                     results->run.backends[b->backend_index].spec, a->line);
        }
    }
    free(places);
    return result;
}

/* Nothing more comes: judges what is left over and the file as a whole. */
static int finish(struct reader *reader)
{
    struct lm_results *results = reader->results;
    results->torn = reader->part_bytes > 0;
    if (reader->line > 1) {
        return check_doubles(reader);
    }
    if (!results->torn) {
        return fail(reader, -EBADMSG, "%s: empty: name a file that `loopmark run` wrote",
                    reader->path);
    }
    size_t known = sizeof(file_start) - 1;
    if (memcmp(reader->part, file_start, reader->part_bytes < known ? reader->part_bytes : known)) {
        return fail(reader, -EBADMSG, "%s: %s", reader->path, FOREIGN);
    }
    return fail(reader, -EBADMSG,
                "%s: cut off within its first line, so it holds no sample: delete it and run again",
                reader->path);
}

static int begin(struct reader *reader, const char *path, struct lm_results *results, char *error,
                 size_t error_bytes)
{
    *results = (struct lm_results){.path = strdup(path)};
    *reader = (struct reader){
        .path = path, .results = results, .line = 1, .error = error, .error_bytes = error_bytes};
    return results->path ? 0 : fail_memory(reader);
}

static int end(struct reader *reader, int result)
{
    free(reader->part);
    if (result != 0) {
        lm_results_free(reader->results);
    }
    return result;
}

int lm_results_read_memory(const char *path, const void *text, size_t bytes,
                           struct lm_results *results, char *error, size_t error_bytes)
{
    struct reader reader;
    int result = begin(&reader, path, results, error, error_bytes);
    if (result == 0) {
        result = feed(&reader, text, bytes);
    }
    return end(&reader, result == 0 ? finish(&reader) : result);
}

static int feed_from(struct reader *reader, int fd)
{
    char *chunk = malloc(CHUNK_BYTES);
    int result = chunk ? 0 : fail_memory(reader);
    while (result == 0) {
        ssize_t bytes = read(fd, chunk, CHUNK_BYTES);
        if (bytes > 0) {
            result = feed(reader, chunk, (size_t)bytes);
        } else if (bytes == 0) {
            break;
        } else if (errno != EINTR) {
            result = fail_read(reader, -errno);
        }
    }
    free(chunk);
    return result;
}

int lm_results_read_fd(int fd, const char *path, struct lm_results *results, char *error,
                       size_t error_bytes)
{
    struct reader reader;
    int result = begin(&reader, path, results, error, error_bytes);
    if (result == 0) {
        result = feed_from(&reader, fd);
    }
    return end(&reader, result == 0 ? finish(&reader) : result);
}

/* zlib passes on what is not compressed as it is. */
static int feed_unpacked(struct reader *reader, gzFile in)
{
    char *chunk = malloc(CHUNK_BYTES);
    int result = chunk ? 0 : fail_memory(reader);
    uint64_t total = 0;
    int bytes = 1;
    while (result == 0 && bytes > 0) {
        errno = 0;
        bytes = gzread(in, chunk, CHUNK_BYTES);
        total += bytes > 0 ? (uint64_t)bytes : 0;
        if (bytes < 0 && errno != 0) {
            result = fail_read(reader, -errno);
        } else if (total > UNPACKED_BYTES && !gzdirect(in)) {
            result = fail(reader, -EFBIG, "%s: more than %d GiB when unpacked; unpack it yourself",
                          reader->path, (int)(UNPACKED_BYTES >> 30));
        } else if (bytes > 0) {
            result = feed(reader, chunk, (size_t)bytes);
        }
    }
    free(chunk);
    if (result == 0 && gzclose_r(in) == Z_OK) {
        return 0;
    }
    if (result != 0) {
        gzclose_r(in);
        return result;
    }
    return fail(reader, -EBADMSG, "%s: its compressed data is cut off or damaged; fetch it again",
                reader->path);
}

int lm_results_read(const char *path, struct lm_results *results, char *error, size_t error_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int result = -errno;
        struct reader reader = {.error = error, .error_bytes = error_bytes};
        *results = (struct lm_results){0};
        return fail(&reader, result, "%s: %s; name a file that `loopmark run` wrote", path,
                    strerror(-result));
    }
    struct reader reader;
    int result = begin(&reader, path, results, error, error_bytes);
    gzFile in = result == 0 ? gzdopen(fd, "r") : NULL;
    if (in) {
        result = feed_unpacked(&reader, in); /* and closes it */
    } else {
        close(fd);
        result = result == 0 ? fail_memory(&reader) : result;
    }
    return end(&reader, result == 0 ? finish(&reader) : result);
}

void lm_results_free(struct lm_results *results)
{
    for (size_t i = 0; i < results->sample_count; i++) {
        lm_sample_clear(&results->samples[i]);
    }
    free(results->samples);
    lm_run_clear(&results->run);
    free(results->path);
    *results = (struct lm_results){0};
}
