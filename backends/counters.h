/* counters.h - counting what a backend does, without a locked instruction on the hot path.
 *
 * Each thread that runs a loop counts in a block of its own: one writer, so an increment is a plain
 * load and store (relaxed atomics, for readers on other threads). lm_counters_add sums the blocks
 * when somebody asks. Only for code inside backends; what the figures mean says backend.h.
 */
#ifndef LM_COUNTERS_H
#define LM_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "backends/backend.h"

/* One thread's share of a struct lm_counters. Starts as all zero. */
struct lm_atomic_counters {
    _Atomic uint64_t syscalls[LM_SYS_COUNT];
    _Atomic uint64_t waits, wakeups, speculative_hits, speculative_misses, overflows;
};

/* Adds to a counter. Only from the one thread that writes it, or with all writers behind one lock.
 */
static inline void lm_count_many(_Atomic uint64_t *counter, uint64_t count)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + count, memory_order_relaxed);
}

static inline void lm_count(_Atomic uint64_t *counter)
{
    lm_count_many(counter, 1);
}

static inline void lm_count_syscall(struct lm_atomic_counters *counters, enum lm_syscall kind)
{
    lm_count(&counters->syscalls[kind]);
}

/* Adds what one thread counted to a total. Any thread, any time; each value read is one that the
 * counter had, not all of the same instant. */
static inline void lm_counters_add(struct lm_counters *total, struct lm_atomic_counters *part)
{
    for (int i = 0; i < LM_SYS_COUNT; i++) {
        total->syscalls[i] += atomic_load_explicit(&part->syscalls[i], memory_order_relaxed);
    }
    total->waits += atomic_load_explicit(&part->waits, memory_order_relaxed);
    total->wakeups += atomic_load_explicit(&part->wakeups, memory_order_relaxed);
    total->speculative_hits += atomic_load_explicit(&part->speculative_hits, memory_order_relaxed);
    total->speculative_misses +=
        atomic_load_explicit(&part->speculative_misses, memory_order_relaxed);
    total->overflows += atomic_load_explicit(&part->overflows, memory_order_relaxed);
}

#endif
