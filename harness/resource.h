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

/* Takes a snapshot of times and switches; memory is 0. Any thread; one system call, so that the
 * operations under way at the border of a measured phase are not held up. 0 or -errno. */
int lm_resource_snapshot(struct lm_resource *resource);

/* Adds memory to a snapshot. Any thread. On Linux a file is read for it, which takes 12 us and the
 * first time 54 us (2-core virtual machine): not while something is being measured. */
void lm_resource_add_memory(struct lm_resource *resource);

/* What was used between two snapshots of one process: times and switches are subtracted, memory is
 * the end's. A value that ran backwards gives 0. `used` may be one of the two. */
void lm_resource_difference(const struct lm_resource *begin, const struct lm_resource *end,
                            struct lm_resource *used);

#endif
