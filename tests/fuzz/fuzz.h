/* fuzz.h - what every fuzz target shares. A target is one file fuzz_NAME.c that defines
 * LLVMFuzzerTestOneInput; it is built with libFuzzer (clang, -DLOOPMARK_FUZZ=ON) and, everywhere,
 * with replay.c, which feeds it the stored corpus as a plain test.
 */
#ifndef LM_FUZZ_H
#define LM_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Tries one input. Returns 0; a broken promise aborts the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Like assert, but there in every build. */
#define fuzz_check(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition);        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
