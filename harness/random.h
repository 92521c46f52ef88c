/* random.h - splitmix64 (Steele, Lea, Flood 2014): one 64-bit word of state, every seed is a good
 * one, and who keeps the state finds the same numbers again. Not for secrets.
 */
#ifndef LM_RANDOM_H
#define LM_RANDOM_H

#include <stdint.h>

static inline uint64_t lm_random_next(uint64_t *state)
{
    uint64_t mixed = (*state += UINT64_C(0x9e3779b97f4a7c15));
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

#endif
