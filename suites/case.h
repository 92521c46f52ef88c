/* case.h - what a benchmark case is, the list of all cases, and how one is run.
 *
 * A case runs on any backend, through backend.h alone. It does not schedule, repeat, compare or
 * store anything: that is the harness.
 */
#ifndef LM_CASE_H
#define LM_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "suites/histogram.h"

/* The primary figure of a case. */
enum lm_metric {
    LM_METRIC_OPS_PER_S,   /* higher is better */
    LM_METRIC_BYTES_PER_S, /* higher is better */
    LM_METRIC_MEAN_NS      /* mean latency, lower is better */
};

/* Words used in results and pages, and the direction. */
const char *lm_metric_unit(enum lm_metric metric); /* "ops/s", "bytes/s", "ns" */
bool lm_metric_higher_is_better(enum lm_metric metric);

enum lm_case_flag {
    LM_CASE_MICRO = 1u << 0, /* only when named or asked for */
    LM_CASE_SPLIT = 1u << 1, /* the two ends on different loops and threads; summarised apart */
    LM_CASE_REPRESENTATIVE = 1u << 2, /* one of those `run --quick` takes */
    LM_CASE_LOCKLESS = 1u << 3        /* asks for a lockless loop */
};

struct lm_case;
struct lm_case_setup;
struct lm_case_result;

/* A family: what its cases have in common on a page. */
struct lm_family {
    const char *name;     /* "socket_latency" */
    const char *measures; /* one sentence for pages */
};

/* What a case takes of the machine at its peak. The harness checks it before the case runs. A
 * family that only has connected pairs leaves it at 0: lm_list_add fills it. */
struct lm_needs {
    uint32_t descriptors; /* sockets open at once, those of the backend's own making apart */
    uint32_t ports;       /* of the range for outgoing connections, listeners' included */
    uint32_t backlog;     /* connections that wait at one listener at once; 0: it accepts none
                             while it measures */
};

struct lm_case {
    char name[64]; /* family/case[/argument], the name everywhere */
    const struct lm_family *family;
    const char *operation; /* what one operation is, one sentence */
    enum lm_metric metric;
    uint32_t flags;        /* enum lm_case_flag */
    uint32_t capabilities; /* enum lm_capability that the backend must have */
    uint32_t threads;      /* threads that run the loop, or one loop each where LM_CASE_SPLIT */
    /* Runs it to its end. 0, or a negative errno with result->error filled. */
    int (*run)(const struct lm_case *which, const struct lm_case_setup *setup,
               struct lm_case_result *result);
    /* The family's own parameters. */
    bool local;         /* AF_UNIX instead of TCP */
    bool bidirectional; /* both ends send and receive at once */
    uint32_t pairs;     /* connections */
    uint32_t bytes;     /* message or buffer size */
    uint32_t parents;   /* fan_out: that wait for requests, each for its own */
    uint32_t groups;    /* fan_out: of each parent, with a counter of their own */
    uint32_t batch;     /* started at once: connections of a burst, posts, timers */
    uint32_t feeders;   /* event_loop: threads that post, a share each */
    struct lm_needs needs;
};

/* All cases in page order. Built once, on first use, by one thread. */
size_t lm_case_count(void);
const struct lm_case *lm_case_at(size_t index);
/* NULL when there is no case of that exact name. */
const struct lm_case *lm_case_find(const char *name);

/* How a case is to be run. */
struct lm_case_setup {
    const struct lm_backend *backend;
    const uint64_t *options;         /* a value for each of the backend's options */
    uint64_t warmup_ns, duration_ns; /* both > 0 */
    /* Called once each, from a thread of the case, where the measured phase begins and ends. */
    void (*on_measure_begin)(void *context);
    void (*on_measure_end)(void *context);
    void *context;
};

/* What a run of a case found. Filled by lm_case_run. */
struct lm_case_result {
    char error[256];            /* empty when all is well, else what went wrong, for a person */
    uint64_t elapsed_ns;        /* measured phase */
    uint64_t operations, bytes; /* in the measured phase; bytes as the receivers counted them */
    /* When duration_ns was over. Part of the figures above in a case whose measured phase lasts
     * until the last byte has arrived (LM_METRIC_BYTES_PER_S), else of none. */
    uint64_t drained_operations, drained_bytes;
    double metric;               /* in the case's unit */
    struct lm_histogram latency; /* one value per operation of the measured phase */
    struct lm_counters counters; /* of the measured phase, all loops */
};

/* Reason why the case can not run on this backend with these options, or NULL when it can. */
const char *lm_case_skip_reason(const struct lm_case *which, const struct lm_backend *backend,
                                const uint64_t *options);

/* Runs one case. 0 and an empty error, or a negative errno and result->error. Blocks until done; a
 * backend that loses a completion makes it block for ever, so the caller bounds its time. */
int lm_case_run(const struct lm_case *which, const struct lm_case_setup *setup,
                struct lm_case_result *result);

#endif
