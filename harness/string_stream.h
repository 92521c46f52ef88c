/* string_stream.h - a string that is written like a file.
 */
#ifndef LM_STRING_STREAM_H
#define LM_STRING_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct lm_string_stream {
    FILE *out;  /* print here; NULL when memory was short at the beginning */
    char *text; /* private */
    size_t bytes;
};

/* Returns stream->out. */
FILE *lm_string_begin(struct lm_string_stream *stream);

/* Ends it. The caller frees the string; NULL when memory was short at any time. */
char *lm_string_end(struct lm_string_stream *stream);

#endif
