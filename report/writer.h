/* writer.h - what a page may consist of, and the forms it is written in.
 *
 * Content (content.h) calls these functions in reading order; a writer turns them into AsciiDoc,
 * HTML or Markdown and decides nothing about what is said. Errors of the stream are left in its
 * error flag, a shortage of memory in writer->status.
 */
#ifndef LM_WRITER_H
#define LM_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "report/escape.h"
#include "report/page.h"

enum lm_block {
    LM_PARAGRAPH,
    LM_LIST,
    LM_ITEM,
    LM_STRONG,  /* inline */
    LM_LEAD,    /* a paragraph that stands out */
    LM_ANSWERS, /* a list of the candidates' answers, which scripts know */
    LM_PART,    /* what belongs to one heading, where the form has such a thing */
    LM_BLOCKS
};

enum lm_column_kind {
    LM_SHORT,  /* names and words that stay in one piece */
    LM_NUMBER, /* set to the right */
    LM_LONG    /* sentences, and whatever a file holds: may be cut anywhere */
};

struct lm_column {
    const char *title;
    enum lm_column_kind kind;
};

/* What a table's rows are, for scripts. */
enum lm_table_kind {
    LM_TABLE_PLAIN,
    LM_TABLE_CASES,   /* rows of one implementation on one case */
    LM_TABLE_FAMILIES /* rows of one candidate in one family */
};

struct lm_table {
    const char *caption; /* own words, for those who do not see where it stands */
    const char *name;    /* from outside, after the caption; or NULL */
    const struct lm_column *columns;
    size_t column_count;
    enum lm_table_kind kind;
    bool named; /* the titles but the first are names from outside */
};

/* What a row is about, in a table that is not LM_TABLE_PLAIN; indices into the comparison. */
struct lm_row {
    size_t group;   /* the case, or the family; SIZE_MAX: a whole section */
    size_t section; /* of LM_TABLE_FAMILIES */
    size_t who;     /* implementation of a case's row, matchup of a family's */
};

/* Where a link leads: a page of the same form, a part of it, or a file beside the pages. */
struct lm_link {
    const char *page;     /* without extension; NULL: this one */
    const char *fragment; /* NULL: its beginning */
    const char *file;     /* a file beside the pages instead; NULL: none */
};

struct lm_writer;

/* What stands before and after something. */
struct lm_marks {
    const char *before, *after;
};

/* A form of pages. Every function is there; what a form has no use for does nothing. */
struct lm_writer_kind {
    const char *extension; /* without the dot; --format takes it too */
    enum lm_form escape;
    struct lm_marks marks[LM_BLOCKS];
    struct lm_marks name;   /* what stands around a name, which is escaped itself */
    const char *line_break; /* within a cell */
    bool chart_files;       /* charts are files of their own unless the user wants them inline */

    void (*begin)(struct lm_writer *writer, const char *title, const char *title_name);
    void (*end)(struct lm_writer *writer);
    /* `name` comes from outside and follows the words; either may be NULL. Levels from 2. */
    void (*heading)(struct lm_writer *writer, int level, const char *id, const char *words,
                    const char *name);
    void (*link)(struct lm_writer *writer, const struct lm_link *link); /* what follows is linked */
    void (*unlink)(struct lm_writer *writer);
    void (*fold)(struct lm_writer *writer, const char *summary);
    void (*unfold)(struct lm_writer *writer);
    void (*code)(struct lm_writer *writer, const char *text); /* lines, may come from outside */
    void (*table)(struct lm_writer *writer, const struct lm_table *table);
    void (*row)(struct lm_writer *writer, const struct lm_row *row); /* NULL in a plain table */
    void (*cell)(struct lm_writer *writer);                          /* its content follows */
    void (*end_cell)(struct lm_writer *writer);
    void (*end_row)(struct lm_writer *writer);
    void (*end_table)(struct lm_writer *writer);
    void (*chart)(struct lm_writer *writer, const struct lm_chart *chart);
    void (*controls)(struct lm_writer *writer); /* where scripts put what a reader can choose */
};

extern const struct lm_writer_kind lm_write_asciidoc, lm_write_html, lm_write_markdown;

struct lm_writer {
    const struct lm_writer_kind *kind;
    FILE *out;
    const struct lm_page *page; /* whose charts are drawn; NULL on pages without any */
    bool inline_charts;         /* for forms with chart files: put the SVG into the page */
    int status;                 /* 0 or -ENOMEM */
    /* Private to the kinds. */
    const struct lm_table *open_table;
    struct lm_link open_link;
    size_t column; /* of the next cell */
};

/* Begins and ends a block. */
void lm_open(struct lm_writer *writer, enum lm_block block);
void lm_close(struct lm_writer *writer, enum lm_block block);
/* Within a cell. */
void lm_line_break(struct lm_writer *writer);
/* Own words, formatted. */
void lm_say(struct lm_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A name from outside. */
void lm_name(struct lm_writer *writer, const char *name);
/* A paragraph of own words. */
void lm_paragraph(struct lm_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A cell of own words, or of one name. */
void lm_cell(struct lm_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lm_name_cell(struct lm_writer *writer, const char *name);
/* A column's title. */
void lm_put_title(struct lm_writer *writer, const struct lm_table *table, size_t column);
/* A link with own words. */
void lm_link(struct lm_writer *writer, const char *page, const char *fragment, const char *words);

/* Lines in a form, each end of a line as it is. */
void lm_put_lines(struct lm_writer *writer, enum lm_form form, const char *text);

/* File of a chart, relative to its page: "charts/linux-summary.svg". */
#define LM_CHART_PATH_BYTES 192
void lm_chart_path(char path[LM_CHART_PATH_BYTES], const struct lm_page *page,
                   const struct lm_chart *chart);

#endif
