#include "suites/recorder.h"

void lm_recorder_start(struct lm_recorder *recorder, uint64_t warmup_ns, uint64_t duration_ns,
                       bool measures_drain, lm_phase_fn *on_phase, void *context)
{
    *recorder = (struct lm_recorder){
        .phase = LM_PHASE_WARMUP,
        .phase_end_ns = lm_clock_ns() + warmup_ns,
        .duration_ns = duration_ns,
        .measures_drain = measures_drain,
        .on_phase = on_phase,
        .context = context,
    };
    lm_histogram_clear(&recorder->latency);
}

static void record(struct lm_recorder *recorder, uint64_t now_ns, uint64_t total_ns,
                   uint64_t operations, uint64_t bytes)
{
    lm_histogram_add_many(&recorder->latency, total_ns, operations);
    recorder->bytes += bytes;
    recorder->end_ns = now_ns;
}

/* Operations that ended at or after the end of their phase. */
static void cross(struct lm_recorder *recorder, uint64_t now_ns, uint64_t total_ns,
                  uint64_t operations, uint64_t bytes)
{
    switch (recorder->phase) {
    case LM_PHASE_WARMUP: /* the histogram so far was of the warm-up */
        lm_histogram_clear(&recorder->latency);
        recorder->bytes = 0;
        recorder->begin_ns = recorder->end_ns = now_ns;
        recorder->phase_end_ns = now_ns + recorder->duration_ns;
        recorder->phase = LM_PHASE_MEASURE;
        recorder->on_phase(recorder->context, LM_PHASE_MEASURE);
        break;
    case LM_PHASE_MEASURE:
        record(recorder, now_ns, total_ns, operations, bytes);
        recorder->phase_end_ns = 0;
        recorder->phase = LM_PHASE_DRAIN;
        recorder->on_phase(recorder->context, LM_PHASE_DRAIN);
        break;
    default:
        recorder->drained_operations += operations;
        recorder->drained_bytes += bytes;
        if (recorder->measures_drain) {
            record(recorder, now_ns, total_ns, operations, bytes);
        }
    }
}

void lm_recorder_boundary(struct lm_recorder *recorder, uint64_t started_ns, uint64_t now_ns,
                          uint64_t bytes)
{
    cross(recorder, now_ns, now_ns - started_ns, 1, bytes);
}

enum lm_phase lm_recorder_add(struct lm_recorder *recorder, uint64_t now_ns, uint64_t total_ns,
                              uint64_t operations, uint64_t bytes)
{
    if (now_ns < recorder->phase_end_ns) {
        record(recorder, now_ns, total_ns, operations, bytes);
    } else {
        cross(recorder, now_ns, total_ns, operations, bytes);
    }
    return recorder->phase;
}

void lm_recorder_extend(struct lm_recorder *recorder)
{
    recorder->end_ns = lm_clock_ns();
}
