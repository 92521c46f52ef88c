/* text.h - text that came from outside (other programs' output, files of the system) made fit to be
 * stored and shown: one line, valid UTF-8, bounded, no control characters.
 */
#ifndef LM_TEXT_H
#define LM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `bytes` bytes of `in` to `out` (capacity out_bytes >= 4, always ended by a NUL): runs of
 * white space and control characters become one space, none at either end; each byte that is not
 * part of valid UTF-8 becomes U+FFFD; what does not fit is cut at a character and ends in "...".
 * Returns the length of the text written. `in` and `out` do not overlap. */
size_t lm_text_clean(char *out, size_t out_bytes, const char *in, size_t bytes);

/* Does this valid UTF-8 text hold a control character (C0, DEL, C1)? Shown on a terminal it could
 * do more than be read. */
bool lm_text_has_control(const char *text);

#endif
