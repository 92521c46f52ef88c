/* bench.h - a case on a backend as a benchmark of Google Benchmark: the one way a case is run, by
 * `loopmark bench` in its own process and by a worker alike.
 */
#ifndef LM_BENCH_H
#define LM_BENCH_H

#include <stdint.h>

#include "backends/registry.h"
#include "suites/case.h"

/* One case on one backend. The caller fills the first part, keeps it alive until the program ends
 * and calls lm_bench_register. */
struct lm_bench {
    const struct lm_case *which;
    struct lm_spec spec;
    uint64_t warmup_ns, duration_ns;
    /* Optional, as in struct lm_case_setup. */
    void (*on_measure_begin)(void *context);
    void (*on_measure_end)(void *context);
    void *context;
    struct lm_case_result *result; /* of the latest repetition; may be shared by several */
    const char *skip_reason;       /* NULL, or why it is reported as skipped and does not run */

    /* Filled by the run. */
    char refusal[256];       /* why this machine has no room for it (headroom.h); "" when it has */
    uint32_t runs, failures; /* repetitions that were run; those of them that failed */
    uint64_t iterations;     /* that Google Benchmark was told of; of the first repetition */
    uint64_t cpu_begin_ns, cpu_used_ns; /* CPU time of the process; used in the measured phase */
    struct lm_gbench_state *state;
};

/* Registers it as CASE/BACKEND-SPEC. 0 or a negative errno. */
int lm_bench_register(struct lm_bench *bench);

/* Registers recorder/lap: what the measuring core costs per operation, measured for duration_ns. */
void lm_bench_register_recorder(const uint64_t *duration_ns);

#endif
