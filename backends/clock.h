/* clock.h - the one clock of the program: monotonic, in nanoseconds. */
#ifndef LM_CLOCK_H
#define LM_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC. Any thread. It can not fail on the systems we build for. */
static inline uint64_t lm_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
