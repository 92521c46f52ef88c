/* recorder.h - the measuring core: one clock read and one histogram increment per operation.
 *
 * A case passes three phases on one set of connections: warm-up (not recorded), measure (recorded),
 * drain (operations in flight end, counted apart). Each thread of a case has a recorder of its own;
 * recorders are merged when the threads have ended. On the hot path there is no lock, no atomic, no
 * allocation, and memory does not grow with the length of the run.
 */
#ifndef LM_RECORDER_H
#define LM_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/clock.h"
#include "suites/histogram.h"

enum lm_phase {
    LM_PHASE_WARMUP,
    LM_PHASE_MEASURE,
    LM_PHASE_DRAIN
};

/* Told when a recorder enters a phase: LM_PHASE_MEASURE, then LM_PHASE_DRAIN. */
typedef void lm_phase_fn(void *context, enum lm_phase phase);

struct lm_recorder {
    enum lm_phase phase;
    uint64_t phase_end_ns; /* of this phase; 0 in the drain phase, which takes the slow path */
    uint64_t duration_ns;
    uint64_t begin_ns, end_ns; /* of the measured phase: times of the laps that bound it */
    uint64_t bytes;
    uint64_t drained_operations, drained_bytes;
    bool measures_drain; /* operations of the drain phase are part of the measurement (throughput:
                            elapsed time includes the drain and the bytes it delivers) */
    lm_phase_fn *on_phase;
    void *context;
    struct lm_histogram latency;
};

/* Starts the warm-up now. */
void lm_recorder_start(struct lm_recorder *recorder, uint64_t warmup_ns, uint64_t duration_ns,
                       bool measures_drain, lm_phase_fn *on_phase, void *context);

/* For lm_recorder_lap only: a lap that ended at or after the end of its phase. */
void lm_recorder_boundary(struct lm_recorder *recorder, uint64_t started_ns, uint64_t now_ns,
                          uint64_t bytes);

/* One operation has ended: records its time since *started_ns and the bytes it delivered, sets
 * *started_ns to now for the operation that follows. Returns the phase that one is in: a chain ends
 * at LM_PHASE_DRAIN. The lap that first crosses the end of the warm-up begins the measured phase,
 * the lap that first crosses the end of that is its last, so whole laps fill the time between. */
static inline enum lm_phase lm_recorder_lap(struct lm_recorder *recorder, uint64_t *started_ns,
                                            uint64_t bytes)
{
    uint64_t now_ns = lm_clock_ns(), began_ns = *started_ns;
    *started_ns = now_ns;
    if (now_ns < recorder->phase_end_ns) {
        lm_histogram_add(&recorder->latency, now_ns - began_ns);
        recorder->bytes += bytes;
        return recorder->phase;
    }
    lm_recorder_boundary(recorder, began_ns, now_ns, bytes);
    return recorder->phase;
}

/* The general form, not for hot paths: at now_ns `operations` (> 0) operations have ended whose
 * values are total_ns in sum; each counts as the same value. For what is too short to be timed one
 * by one, and for values that are no lap times. Returns the phase as lm_recorder_lap does. */
enum lm_phase lm_recorder_add(struct lm_recorder *recorder, uint64_t now_ns, uint64_t total_ns,
                              uint64_t operations, uint64_t bytes);

/* Only with measures_drain: the drain has lasted until now although nothing more was delivered (the
 * end of the stream was seen). */
void lm_recorder_extend(struct lm_recorder *recorder);

#endif
