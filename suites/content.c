#include "suites/content.h"

#include <stdlib.h>
#include <string.h>

/* One step of splitmix64 (Steele, Lea, Flood 2014): every input gives a well-mixed output. */
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static char content_byte(uint64_t sequence, size_t at)
{
    return (char)(mix(sequence * UINT64_C(0x100000000) + at / 8) >> at % 8 * 8);
}

char *lm_content_block(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, 4096, bytes + LM_CONTENT_PERIOD)) {
        return NULL;
    }
    char *block = memory;
    for (size_t at = 0; at < bytes + LM_CONTENT_PERIOD; at++) {
        block[at] = at < LM_CONTENT_PERIOD ? content_byte(0, at) : block[at - LM_CONTENT_PERIOD];
    }
    return block;
}

bool lm_content_matches(const char *block, uint64_t offset, const char *received, size_t bytes)
{
    return memcmp(block + offset % LM_CONTENT_PERIOD, received, bytes) == 0;
}

void lm_content_fill(char *message, size_t bytes, uint64_t sequence)
{
    for (size_t at = 0; at < bytes; at++) {
        message[at] = content_byte(sequence, at);
    }
}

bool lm_content_is(const char *message, size_t bytes, uint64_t sequence)
{
    for (size_t at = 0; at < bytes; at++) {
        if (message[at] != content_byte(sequence, at)) {
            return false;
        }
    }
    return true;
}

void lm_content_stamp(char *message, size_t bytes, uint64_t sequence)
{
    if (bytes >= sizeof(sequence)) {
        memcpy(message, &sequence, sizeof(sequence));
    } else {
        message[0] = (char)sequence;
    }
}

bool lm_content_stamped(const char *message, size_t bytes, uint64_t sequence)
{
    if (bytes >= sizeof(sequence)) {
        return memcmp(message, &sequence, sizeof(sequence)) == 0;
    }
    return message[0] == (char)sequence;
}
