/* content.h - known bytes to send, so that what arrives can be checked. */
#ifndef LM_CONTENT_H
#define LM_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length after which a stream's content repeats. 64 times a prime: a loss or a repeat of any size
 * that is not a multiple of it shows, and offsets that are multiples of a cache line stay so. */
#define LM_CONTENT_PERIOD ((size_t)64 * 1021)

/* A block of stream content for writes of up to `bytes`, from any offset: bytes + LM_CONTENT_PERIOD
 * long, page-aligned, so that block + offset % LM_CONTENT_PERIOD is what a stream holds at offset.
 * NULL when memory is short; freed with free(). */
char *lm_content_block(size_t bytes);

/* Whether the `bytes` bytes received at stream offset `offset` are those sent. `bytes` is at most
 * what the block was made for. */
bool lm_content_matches(const char *block, uint64_t offset, const char *received, size_t bytes);

/* Fills a message that is `sequence`'s own, and checks one. Every byte depends on the sequence. */
void lm_content_fill(char *message, size_t bytes, uint64_t sequence);
bool lm_content_is(const char *message, size_t bytes, uint64_t sequence);

/* The cheap form for the measured phase: marks the message's first (at most 8) bytes, and checks
 * the mark. */
void lm_content_stamp(char *message, size_t bytes, uint64_t sequence);
bool lm_content_stamped(const char *message, size_t bytes, uint64_t sequence);

#endif
