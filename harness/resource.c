#include "harness/resource.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* ru_maxrss in the unit it has here; 0 when it can not be read. */
static uint64_t peak_units(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
}

#if defined(__linux__)

/* A line such as "VmHWM:      1234 kB" of /proc/self/status, in bytes; 0 when it is not there. */
static uint64_t status_bytes(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    return line ? strtoull(line + strlen(key), NULL, 10) * 1024u : 0;
}

/* Not ru_maxrss: Linux carries that over execve, so a worker would report the peak of the runner it
 * was forked from (setmax_mm_hiwater_rss in fs/exec.c; tests/test_resource.c shows it). */
void lm_resource_add_memory(struct lm_resource *resource)
{
    char status[4096];
    ssize_t bytes = -1;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        bytes = read(fd, status, sizeof(status) - 1);
        close(fd);
    }
    status[bytes > 0 ? bytes : 0] = '\0';
    resource->rss_bytes = status_bytes(status, "\nVmRSS:");
    resource->rss_peak_bytes = status_bytes(status, "\nVmHWM:");
    if (resource->rss_peak_bytes == 0) {
        resource->rss_peak_bytes = peak_units() * 1024u;
    }
}

#elif defined(__APPLE__)

void lm_resource_add_memory(struct lm_resource *resource)
{
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    kern_return_t result =
        task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count);
    resource->rss_bytes = result == KERN_SUCCESS ? info.resident_size : 0;
    resource->rss_peak_bytes = peak_units(); /* bytes here, KiB elsewhere */
}

#else

void lm_resource_add_memory(struct lm_resource *resource)
{
    resource->rss_bytes = 0;
    resource->rss_peak_bytes = peak_units() * 1024u;
}

#endif

int lm_resource_snapshot(struct lm_resource *resource)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return -errno;
    }
    *resource = (struct lm_resource){
        .cpu_user_ns = timeval_ns(usage.ru_utime),
        .cpu_system_ns = timeval_ns(usage.ru_stime),
        .voluntary_switches = (uint64_t)usage.ru_nvcsw,
        .involuntary_switches = (uint64_t)usage.ru_nivcsw,
    };
    return 0;
}

static uint64_t grown(uint64_t begin, uint64_t end)
{
    return end > begin ? end - begin : 0;
}

void lm_resource_difference(const struct lm_resource *begin, const struct lm_resource *end,
                            struct lm_resource *used)
{
    *used = (struct lm_resource){
        .cpu_user_ns = grown(begin->cpu_user_ns, end->cpu_user_ns),
        .cpu_system_ns = grown(begin->cpu_system_ns, end->cpu_system_ns),
        .voluntary_switches = grown(begin->voluntary_switches, end->voluntary_switches),
        .involuntary_switches = grown(begin->involuntary_switches, end->involuntary_switches),
        .rss_peak_bytes = end->rss_peak_bytes,
        .rss_bytes = end->rss_bytes,
    };
}
