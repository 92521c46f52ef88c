/* results.h - the results file in memory: JSON Lines, described for users in results.md.
 *
 * First line a `run` record, then one `sample` record per worker, then an `end` record. This is all
 * the report side knows of the harness.
 */
#ifndef LM_RESULTS_H
#define LM_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

/* Version of the schema; a reader refuses a newer one and names both. */
#define LM_RESULTS_SCHEMA 1

enum lm_sample_status {
    LM_SAMPLE_OK,
    LM_SAMPLE_FAILED,
    LM_SAMPLE_SKIPPED
};

/* One non-empty bucket of a latency histogram. */
struct lm_bucket {
    uint64_t value_ns, count;
};

struct lm_latency {
    double mean_ns;
    uint64_t min_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns;
    struct lm_bucket *buckets; /* owned; ascending */
    size_t bucket_count;
};

/* What the kernel did from before the case to after it, in the whole network namespace. */
struct lm_network {
    uint64_t listen_overflows, listen_drops, syn_retransmits;
    uint64_t time_wait; /* sockets in that state at the begin */
};

struct lm_sample {
    size_t case_index, backend_index; /* into lm_run */
    uint32_t iteration;               /* from 0 */
    enum lm_sample_status status;
    char *reason;  /* owned; why it failed or was skipped, NULL when ok */
    char *warning; /* owned; flagged but counted (e.g. a ring overflow), NULL when none */
    /* Only when status is LM_SAMPLE_OK: */
    double metric; /* the case's primary figure in its unit */
    double elapsed_s;
    uint64_t operations, bytes, drained_operations, drained_bytes;
    struct lm_latency latency;
    double cpu_user_s, cpu_system_s; /* whole process, measured phase */
    uint64_t rss_peak_bytes, rss_bytes;
    uint64_t voluntary_switches, involuntary_switches;
    struct lm_counters counters;
    bool has_network; /* cases that accept while they measure, where the system tells */
    struct lm_network network;
};

struct lm_run_backend {
    char *spec;        /* owned; identity, e.g. "io_uring:hybrid=1" */
    char *title;       /* owned */
    char *settings;    /* owned; what lm_backend.describe said; "" when nothing */
    char *unavailable; /* owned; reason it could not run at all, NULL when it could */
    bool floor;        /* never sleeps: what the bare calls cost, no choice for a program */
    bool aa;           /* the second copy of the baseline that --calibrate adds */
};

struct lm_run_case {
    char *name;      /* owned; family/case[/argument] */
    char *family;    /* owned */
    char *operation; /* owned; what one operation is */
    char *unit;      /* owned; "ops/s", "bytes/s" or "ns" */
    bool higher_is_better;
    bool micro, split;
};

/* The `run` record. */
struct lm_run {
    int schema;
    char *id;            /* owned; random, says which run a sample belongs to */
    char *label;         /* owned; "" when none */
    json_t *environment; /* owned; members described in results.md */
    uint32_t iterations;
    double duration_s, warmup_s, timeout_s;
    uint64_t seed;
    bool interleaved;
    size_t baseline_index; /* into backends */
    struct lm_run_backend *backends;
    size_t backend_count;
    struct lm_run_case *cases;
    size_t case_count;
};

struct lm_results {
    char *path; /* owned */
    struct lm_run run;
    struct lm_sample *samples; /* owned; file order */
    size_t sample_count;
    uint64_t whole_bytes; /* length of the file's whole lines */
    bool torn;            /* the last line was cut; it was left out */
    bool ended;           /* an `end` record is there */
};

/* Reads a results file, as it is or compressed by gzip. On success *results is owned by the caller
 * (lm_results_free). On failure returns a negative errno and one line in `error` that names file,
 * line, cause and next step. A torn last line is no failure; a broken line before the last one, a
 * wrong type, a number out of range, a newer schema or an index outside the run's lists is
 * (-EBADMSG, -ENOTSUP). */
int lm_results_read(const char *path, struct lm_results *results, char *error, size_t error_bytes);
void lm_results_free(struct lm_results *results);

/* Name of a kind of system call in results, as strace shows it; NULL for a number that is none. */
const char *lm_syscall_name(enum lm_syscall kind);

/* Tells each(context, line) how two runs were set differently: times, iterations, order, baseline,
 * and what is in force in backends that both have. One line of text per setting, as in
 * "duration_s: 2.0 against 0.5". The environments are for lm_environment_differences. Returns how
 * many there are. */
size_t lm_run_differences(const struct lm_run *a, const struct lm_run *b,
                          void (*each)(void *context, const char *line), void *context);

/* The JSON form of each record; the caller owns the value. NULL only when memory is short.
 * Strings are cut to the schema's limits and made printable (text.h); a count above 2^63 - 1
 * becomes that; a figure that is not finite becomes null, which no reader takes. */
json_t *lm_run_to_json(const struct lm_run *run);
json_t *lm_sample_to_json(const struct lm_run *run, const struct lm_sample *sample);

#endif
