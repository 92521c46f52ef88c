/* resource.h - what this process has used of the machine: CPU time, context switches, memory.
 *
 * For a worker, around its measured phase. Not for other processes and not for single threads.
 */
#ifndef LM_RESOURCE_H
#define LM_RESOURCE_H

#include <stdint.h>

/* Totals of the whole process, all threads, since it started; memory as it is now. */
struct lm_resource {
    uint64_t cpu_user_ns, cpu_system_ns; /* microsecond steps at best */
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t rss_peak_bytes; /* most resident memory so far; 0 when not known */
    uint64_t rss_bytes;      /* resident memory; 0 when not known (BSD systems other than macOS) */
};

/* Takes a snapshot. Any thread; a few system calls, so not for a hot path. 0 or -errno. */
int lm_resource_snapshot(struct lm_resource *resource);

/* What was used between two snapshots of one process: times and switches are subtracted, memory is
 * the end's. A value that ran backwards gives 0. `used` may be one of the two. */
void lm_resource_difference(const struct lm_resource *begin, const struct lm_resource *end,
                            struct lm_resource *used);

#endif
