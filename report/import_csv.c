#include "report/import_csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/escape.h"

enum column {
    COLUMN_FAMILY,
    COLUMN_CASE,
    COLUMN_IMPLEMENTATION,
    COLUMN_MEDIAN,
    COLUMN_UNIT,
    COLUMN_CV,
    COLUMN_PRINTED_MEDIAN,
    COLUMN_PRINTED_DIFFERENCE,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "family", "case",       "implementation", "median",
    "unit",   "cv_percent", "printed_median", "printed_difference"};

/* Where the parser is, and where its one message goes. */
struct parser {
    struct lm_import *import;
    const char *name;
    size_t line; /* from 1 */
    char *error;
    size_t error_bytes;
    size_t baseline_line; /* the line that named the baseline */
};

/* Writes "NAME:LINE: ..." and returns -EBADMSG. */
__attribute__((format(printf, 2, 3))) static int refuse(struct parser *parser, const char *format,
                                                        ...)
{
    va_list arguments;
    int used = snprintf(parser->error, parser->error_bytes, "%s:%zu: ", parser->name, parser->line);
    if (used >= 0 && (size_t)used < parser->error_bytes) {
        va_start(arguments, format);
        vsnprintf(parser->error + used, parser->error_bytes - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return -EBADMSG;
}

static int short_of_memory(struct parser *parser)
{
    snprintf(parser->error, parser->error_bytes,
             "%s: memory is short; close other programs and try again", parser->name);
    return -ENOMEM;
}

/* Reads one line without its line feed into `line`. Returns 1, 0 at the end of the stream, or a
 * negative errno. */
static int read_line(struct parser *parser, FILE *in, char line[LM_IMPORT_LINE_BYTES])
{
    size_t length = 0;
    int c;
    parser->line++;
    while ((c = getc(in)) != EOF && c != '\n') {
        if (c == '\0') {
            return refuse(parser, "there is a NUL byte; the file is not a text table");
        }
        if (length + 1 >= LM_IMPORT_LINE_BYTES) {
            return refuse(parser, "the line is longer than %u bytes; the file is not such a table",
                          LM_IMPORT_LINE_BYTES - 1);
        }
        line[length++] = (char)c;
    }
    if (c == EOF && ferror(in)) {
        snprintf(parser->error, parser->error_bytes, "%s: can not be read: %s", parser->name,
                 strerror(errno));
        return -EIO;
    }
    if (c == EOF && length == 0) {
        return 0;
    }
    if (length > 0 && line[length - 1] == '\r') {
        length--;
    }
    line[length] = '\0';
    if (!lm_text_is_utf8(line, length)) {
        return refuse(parser, "the line is not UTF-8; save the table as UTF-8");
    }
    return 1;
}

/* Takes a quoted field apart in place; *at is behind its opening quote and ends behind the closing
 * one. False when there is none. */
static bool unquote(char **at)
{
    char *from = *at, *to = *at;
    for (;; from++) {
        if (*from == '\0') {
            return false;
        }
        if (*from == '"' && *++from != '"') {
            break;
        }
        *to++ = *from;
    }
    /* `from` is behind the closing quote, so there is room for the end of the shorter text. */
    *to = '\0';
    *at = from;
    return true;
}

static int split(struct parser *parser, char *line, char *fields[COLUMN_COUNT])
{
    char *at = line;
    size_t count = 0;
    for (bool more = true; more; count++) {
        char *field = at;
        bool quoted = *at == '"';
        if (quoted) {
            field = ++at;
            if (!unquote(&at) || (*at != ',' && *at != '\0')) {
                return refuse(parser, "column %zu has a quote that does not close before a comma",
                              count + 1);
            }
        } else {
            at += strcspn(at, ",");
        }
        more = *at == ',';
        *at = '\0';
        at += more;
        if (count < COLUMN_COUNT) {
            fields[count] = field;
        }
    }
    if (count != COLUMN_COUNT) {
        return refuse(parser, "there are %zu columns instead of %d (%s)", count, COLUMN_COUNT,
                      LM_IMPORT_HEADER);
    }
    return 0;
}

/* Decimal numbers only: strtod alone would take nan, inf and hexadecimal. */
static int parse_number(struct parser *parser, char *const fields[COLUMN_COUNT], enum column column,
                        double *value)
{
    const char *text = fields[column];
    char *end = NULL;
    *value = strtod(text, &end);
    if (*text == '\0' || strspn(text, "0123456789.eE+-") != strlen(text) || *end != '\0' ||
        !isfinite(*value) || *value < 0.0) {
        return refuse(parser, "column %s is '%.32s', which is not a number of 0 or more",
                      column_names[column], text);
    }
    return 0;
}

static int check_names(struct parser *parser, char *const fields[COLUMN_COUNT])
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        bool may_be_empty = column >= COLUMN_PRINTED_MEDIAN;
        if (strlen(fields[column]) >= LM_IMPORT_NAME_BYTES) {
            return refuse(parser, "column %s is longer than %u bytes", column_names[column],
                          LM_IMPORT_NAME_BYTES - 1);
        }
        if (fields[column][0] == '\0' && !may_be_empty) {
            return refuse(parser, "column %s is empty", column_names[column]);
        }
    }
    const char *unit = fields[COLUMN_UNIT];
    if (strcmp(unit, "ops/s") != 0 && strcmp(unit, "bytes/s") != 0 && strcmp(unit, "s") != 0) {
        return refuse(parser, "column unit is '%.32s', not ops/s, bytes/s or s", unit);
    }
    return 0;
}

/* Makes room for one more element; arrays grow by doubling from 16. */
static bool grow(void **array, size_t count, size_t bytes)
{
    if (count != 0 && (count < 16 || (count & (count - 1)) != 0)) {
        return true;
    }
    void *larger = realloc(*array, (count == 0 ? 16 : 2 * count) * bytes);
    if (larger == NULL) {
        return false;
    }
    *array = larger;
    return true;
}

static int find_implementation(struct parser *parser, const char *name, size_t *index)
{
    struct lm_import *import = parser->import;
    size_t count = import->implementation_count;
    for (*index = 0; *index < count; (*index)++) {
        if (strcmp(import->implementations[*index], name) == 0) {
            return 0;
        }
    }
    if (count == LM_IMPORT_IMPLEMENTATIONS) {
        return refuse(parser, "there are more than %u implementations", LM_IMPORT_IMPLEMENTATIONS);
    }
    void *array = import->implementations;
    if (!grow(&array, count, sizeof *import->implementations)) {
        return short_of_memory(parser);
    }
    import->implementations = array;
    import->implementations[count] = strdup(name);
    if (import->implementations[count] == NULL) {
        return short_of_memory(parser);
    }
    import->implementation_count++;
    return 0;
}

static int add_case(struct parser *parser, char *const fields[COLUMN_COUNT], const char *name)
{
    struct lm_import *import = parser->import;
    void *array = import->cases;
    if (!grow(&array, import->case_count, sizeof *import->cases)) {
        return short_of_memory(parser);
    }
    import->cases = array;
    struct lm_import_case *added = &import->cases[import->case_count++];
    added->family = strdup(fields[COLUMN_FAMILY]);
    added->name = strdup(name);
    added->unit = strdup(fields[COLUMN_UNIT]);
    if (added->family == NULL || added->name == NULL || added->unit == NULL) {
        return short_of_memory(parser);
    }
    return 0;
}

/* Searched from the end: the rows of a case stand together. */
static int find_case(struct parser *parser, char *const fields[COLUMN_COUNT], size_t *index)
{
    struct lm_import *import = parser->import;
    char name[2 * LM_IMPORT_NAME_BYTES];
    snprintf(name, sizeof name, "%s/%s", fields[COLUMN_FAMILY], fields[COLUMN_CASE]);
    for (*index = import->case_count; *index > 0; (*index)--) {
        const struct lm_import_case *known = &import->cases[*index - 1];
        if (strcmp(known->name, name) != 0) {
            continue;
        }
        (*index)--;
        if (strcmp(known->unit, fields[COLUMN_UNIT]) != 0) {
            return refuse(parser, "case %s has the units %s and %s; a case has one", name,
                          known->unit, fields[COLUMN_UNIT]);
        }
        return 0;
    }
    *index = import->case_count;
    return add_case(parser, fields, name);
}

static int note_baseline(struct parser *parser, size_t implementation)
{
    struct lm_import *import = parser->import;
    if (import->baseline == SIZE_MAX) {
        import->baseline = implementation;
        parser->baseline_line = parser->line;
    } else if (import->baseline != implementation) {
        return refuse(parser, "'%s' is called the baseline, but on line %zu it was '%s'",
                      import->implementations[implementation], parser->baseline_line,
                      import->implementations[import->baseline]);
    }
    return 0;
}

static int check_row_is_new(struct parser *parser, const struct lm_import_row *row)
{
    const struct lm_import *import = parser->import;
    for (size_t i = import->row_count; i > 0; i--) {
        const struct lm_import_row *known = &import->rows[i - 1];
        if (known->case_index == row->case_index &&
            known->implementation_index == row->implementation_index) {
            return refuse(parser, "case %s of '%s' is there a second time",
                          import->cases[row->case_index].name,
                          import->implementations[row->implementation_index]);
        }
    }
    return 0;
}

static int add_row(struct parser *parser, char *const fields[COLUMN_COUNT])
{
    struct lm_import *import = parser->import;
    struct lm_import_row row = {.case_index = 0};
    double cv_percent = 0.0;
    int status = check_names(parser, fields);
    status = status != 0 ? status : parse_number(parser, fields, COLUMN_MEDIAN, &row.median);
    status = status != 0 ? status : parse_number(parser, fields, COLUMN_CV, &cv_percent);
    if (status == 0 && row.median <= 0.0) {
        status = refuse(parser, "column median is 0; a published median is above it");
    }
    status = status != 0 ? status
                         : find_implementation(parser, fields[COLUMN_IMPLEMENTATION],
                                               &row.implementation_index);
    status = status != 0 ? status : find_case(parser, fields, &row.case_index);
    status = status != 0 ? status : check_row_is_new(parser, &row);
    if (status == 0 && strcmp(fields[COLUMN_PRINTED_DIFFERENCE], "baseline") == 0) {
        status = note_baseline(parser, row.implementation_index);
    }
    if (status == 0 && import->row_count == LM_IMPORT_ROWS) {
        status = refuse(parser, "there are more than %u rows", LM_IMPORT_ROWS);
    }
    void *array = import->rows;
    if (status != 0 || !grow(&array, import->row_count, sizeof row)) {
        return status != 0 ? status : short_of_memory(parser);
    }
    import->rows = array;
    row.cv = cv_percent / 100.0;
    row.printed_median = strdup(fields[COLUMN_PRINTED_MEDIAN]);
    row.printed_difference = strdup(fields[COLUMN_PRINTED_DIFFERENCE]);
    import->rows[import->row_count++] = row;
    return row.printed_median != NULL && row.printed_difference != NULL ? 0
                                                                        : short_of_memory(parser);
}

/* A byte order mark, which spreadsheets write, is no part of the first line. */
static const char *skip_mark(const char *line)
{
    return strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
}

static int parse_rows(struct parser *parser, FILE *in, char line[LM_IMPORT_LINE_BYTES])
{
    char *fields[COLUMN_COUNT];
    int status = read_line(parser, in, line);
    if (status >= 0 && (status == 0 || strcmp(skip_mark(line), LM_IMPORT_HEADER) != 0)) {
        return refuse(parser, "the first line has to be: %s", LM_IMPORT_HEADER);
    }
    while (status >= 0 && (status = read_line(parser, in, line)) > 0) {
        if (line[0] == '\0') {
            continue;
        }
        status = split(parser, line, fields);
        status = status != 0 ? status : add_row(parser, fields);
    }
    if (status == 0 && parser->import->row_count == 0) {
        status = refuse(parser, "there is no row below the header");
    }
    return status;
}

int lm_import_csv_parse(FILE *in, const char *name, struct lm_import *import, char *error,
                        size_t error_bytes)
{
    char line[LM_IMPORT_LINE_BYTES];
    struct parser parser = {
        .import = import, .name = name, .error = error, .error_bytes = error_bytes};
    *import = (struct lm_import){.path = strdup(name), .baseline = SIZE_MAX};
    if (import->path == NULL) {
        return short_of_memory(&parser);
    }
    return parse_rows(&parser, in, line);
}

int lm_import_csv_read(const char *path, struct lm_import *import, char *error, size_t error_bytes)
{
    *import = (struct lm_import){.path = NULL};
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        int status = -errno;
        snprintf(error, error_bytes, "%s: can not be opened: %s", path, strerror(-status));
        return status;
    }
    int status = lm_import_csv_parse(in, path, import, error, error_bytes);
    fclose(in);
    return status;
}

bool lm_import_csv_recognise(const char *path)
{
    /* The beginning that no results file has: those are JSON. A table with other columns is then
     * refused by name. */
    static const char beginning[] = "family,";
    char head[32] = "";
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        return false;
    }
    size_t got = fread(head, 1, sizeof head - 1, in);
    fclose(in);
    head[got] = '\0';
    return strncmp(skip_mark(head), beginning, strlen(beginning)) == 0;
}

void lm_import_free(struct lm_import *import)
{
    for (size_t i = 0; i < import->implementation_count; i++) {
        free(import->implementations[i]);
    }
    for (size_t i = 0; i < import->case_count; i++) {
        free(import->cases[i].family);
        free(import->cases[i].name);
        free(import->cases[i].unit);
    }
    for (size_t i = 0; i < import->row_count; i++) {
        free(import->rows[i].printed_median);
        free(import->rows[i].printed_difference);
    }
    free(import->implementations);
    free(import->cases);
    free(import->rows);
    free(import->path);
    *import = (struct lm_import){.path = NULL};
}
