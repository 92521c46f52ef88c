#include "harness/string_stream.h"

#include <stdbool.h>
#include <stdlib.h>

FILE *lm_string_begin(struct lm_string_stream *stream)
{
    *stream = (struct lm_string_stream){.text = NULL};
    stream->out = open_memstream(&stream->text, &stream->bytes);
    return stream->out;
}

char *lm_string_end(struct lm_string_stream *stream)
{
    if (stream->out == NULL) {
        return NULL;
    }
    bool failed = ferror(stream->out) != 0;
    if (fclose(stream->out) != 0 || failed) {
        free(stream->text);
        return NULL;
    }
    return stream->text;
}
