/* results_fixture.h - a small run and its samples, with a distinct value in every member. */
#ifndef LM_TESTS_RESULTS_FIXTURE_H
#define LM_TESTS_RESULTS_FIXTURE_H

#include <string.h>

#include "harness/results.h"

static struct lm_run_backend fixture_backends[] = {
    {"reactor", "Asio-equivalent reactor", "order=eager", NULL, false, false},
    {"io_uring:hybrid=1", "io_uring, hybrid", "", "io_uring_setup: not permitted", true, false},
    {"reactor", "Asio-equivalent reactor", "order=eager", NULL, false, true},
};

static struct lm_run_case fixture_cases[] = {
    {"socket_latency/pingpong/64", "socket_latency", "one round trip", "ns", false, false, false},
    {"event_loop/post", "event_loop", "one post", "ops/s", true, true, false},
    {"split/socket_throughput/65536", "split", "one chunk", "bytes/s", true, false, true},
};

static struct lm_bucket fixture_buckets[] = {{90, 3}, {8064, 40}, {1048576, 1}};

/* A run of 2 iterations. Borrows everything but `environment`, a new value: {"host": host}. */
static inline struct lm_run fixture_run(const char *host)
{
    return (struct lm_run){
        .schema = LM_RESULTS_SCHEMA,
        .id = (char *)"4f6d1c",
        .label = (char *)"after the change, ä",
        .environment =
            json_pack("{s:s, s:{s:n, s:i}}", "host", host, "cpu", "governor", "cores", 2),
        .iterations = 2,
        .duration_s = 0.1,
        .warmup_s = 0.025,
        .timeout_s = 30.5,
        .seed = UINT64_MAX - 1,
        .interleaved = true,
        .baseline_index = 0,
        .backends = fixture_backends,
        .backend_count = 3,
        .cases = fixture_cases,
        .case_count = 3,
    };
}

static inline struct lm_sample fixture_sample(size_t case_index, size_t backend_index,
                                              uint32_t iteration)
{
    struct lm_sample sample = {
        .case_index = case_index,
        .backend_index = backend_index,
        .iteration = iteration,
        .status = LM_SAMPLE_OK,
        .warning = (char *)"the ring overflowed 2 times",
        .metric = 8123.456789012345,
        .elapsed_s = 0.1000123,
        .operations = 44,
        .bytes = 5632,
        .drained_operations = 1,
        .drained_bytes = 64,
        .latency = {8123.25, 80, 8064, 8065, 8066, 8067, 1048570, 1048571, fixture_buckets, 3},
        .cpu_user_s = 0.031,
        .cpu_system_s = 0.062,
        .rss_peak_bytes = 5000001,
        .rss_bytes = 4000003,
        .voluntary_switches = 7,
        .involuntary_switches = 11,
        .counters = {.waits = 101,
                     .wakeups = 102,
                     .speculative_hits = 103,
                     .speculative_misses = 104,
                     .overflows = 2},
        .has_network = true,
        .network = {301, 302, 303, 304},
    };
    for (unsigned kind = 1; kind < LM_SYS_COUNT; kind++) { /* the first stays 0: left out */
        sample.counters.syscalls[kind] = 200 + kind;
    }
    return sample;
}

static inline struct lm_sample fixture_failed(size_t case_index, size_t backend_index,
                                              uint32_t iteration)
{
    return (struct lm_sample){
        .case_index = case_index,
        .backend_index = backend_index,
        .iteration = iteration,
        .status = LM_SAMPLE_FAILED,
        .reason = (char *)"killed by signal 11 (Segmentation fault)",
    };
}

#endif
