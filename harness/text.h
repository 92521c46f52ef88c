/* text.h - text that came from outside (other programs' output, files of the system) made fit to be
 * stored and shown: one line, valid UTF-8, bounded, no control characters.
 */
#ifndef LM_TEXT_H
#define LM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the longest text that is stored, with its NUL. */
#define LM_TEXT_BYTES 8192u

/* Writes `bytes` bytes of `in` to `out` (capacity out_bytes >= 4, always ended by a NUL): runs of
 * white space and control characters become one space, none at either end; each byte that is not
 * part of valid UTF-8 becomes U+FFFD; what does not fit is cut at a character and ends in "...".
 * Returns the length of the text written. `in` and `out` do not overlap. */
size_t lm_text_clean(char *out, size_t out_bytes, const char *in, size_t bytes);

/* Is this text, NUL-ended, as lm_text_clean leaves it and shorter than LM_TEXT_BYTES? What is not
 * could do more on a terminal than be read. */
bool lm_text_is_clean(const char *text);

#endif
