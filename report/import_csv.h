/* import_csv.h - reads a published table in the CSV form that compare.md describes.
 *
 * Such a table has only a median and a CV per case and implementation. It comes from outside, so
 * every line is checked; what is wrong is one line that names file, line, column and what belongs
 * there. Not for making a comparison of it: comparison.h.
 */
#ifndef LM_IMPORT_CSV_H
#define LM_IMPORT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bounds on a table; one that goes beyond is refused. */
#define LM_IMPORT_LINE_BYTES      4096u
#define LM_IMPORT_NAME_BYTES      256u
#define LM_IMPORT_ROWS            20000u
#define LM_IMPORT_IMPLEMENTATIONS 64u

/* The first line of a table. */
#define LM_IMPORT_HEADER                                                                           \
    "family,case,implementation,median,unit,cv_percent,printed_median,printed_difference"

struct lm_import_case {
    char *family; /* owned */
    char *name;   /* owned; family/case */
    char *unit;   /* owned; "ops/s", "bytes/s" or "s" */
};

struct lm_import_row {
    size_t case_index, implementation_index;
    double median;            /* in the case's unit, above 0 */
    double cv;                /* fraction */
    char *printed_median;     /* owned; as published */
    char *printed_difference; /* owned; "baseline" in the baseline's rows */
};

struct lm_import {
    char *path;             /* owned */
    char **implementations; /* owned; in order of appearance */
    size_t implementation_count;
    struct lm_import_case *cases; /* owned; in order of appearance */
    size_t case_count;
    struct lm_import_row *rows; /* owned; in file order */
    size_t row_count;
    size_t baseline; /* into implementations; SIZE_MAX when no row says baseline */
};

/* Whether a file's first line says that it is such a table. False also when it can not be read, and
 * for a pipe: what was read from one is gone, and results files come through pipes. */
bool lm_import_csv_recognise(const char *path);

/* Reads a table from a stream; `name` stands for it in messages. 0, -EBADMSG (something is wrong in
 * it), -EIO or -ENOMEM, with one line in `error`. *import is to be freed either way. */
int lm_import_csv_parse(FILE *in, const char *name, struct lm_import *import, char *error,
                        size_t error_bytes);

/* Opens `path` and reads it; also the errors of fopen. */
int lm_import_csv_read(const char *path, struct lm_import *import, char *error, size_t error_bytes);

void lm_import_free(struct lm_import *import);

#endif
