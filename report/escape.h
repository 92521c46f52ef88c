/* escape.h - strings from outside (names, reasons, settings) made safe for the form they go into.
 *
 * Results files and imported tables are input: a name may hold a terminal's escape sequence, a
 * table's separator or a spreadsheet's formula. Everything that is not this program's own wording
 * goes through lm_put_text.
 */
#ifndef LM_ESCAPE_H
#define LM_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum lm_form {
    LM_FORM_PLAIN,    /* as it is: for a form whose own library escapes (JSON) */
    LM_FORM_TERMINAL, /* control and direction-changing characters shown as \xNN or \u{NNNN} */
    LM_FORM_MARKDOWN, /* a code span, fit for a table cell: GitHub takes no markup, HTML, mention or
                         issue number from it, which backslashes and entities do not achieve */
    LM_FORM_CSV, /* as TERMINAL, quoted as RFC 4180 says; a leading = + - @ gets a ' before it, so
                    that no spreadsheet takes it for a formula */
    LM_FORM_MARKUP,  /* HTML, SVG and XML: the same for content and for quoted attributes */
    LM_FORM_ASCIIDOC /* monospaced, fit for a table cell: every character that could begin markup, a
                        macro or an attribute is a numeric reference */
};

/* Writes text in a form. Errors are left in the stream's error flag. Bytes that are not UTF-8 are
 * shown as \xNN, except in LM_FORM_PLAIN. */
void lm_put_text(FILE *out, enum lm_form form, const char *text);

/* Writes this program's own words, as running text: what the form would take for markup is escaped.
 * Text from outside goes through lm_put_text, in which it can be told from these. */
void lm_put_words(FILE *out, enum lm_form form, const char *words);

/* lm_put_text to a string that the caller frees; NULL when memory is short. */
char *lm_escape_text(enum lm_form form, const char *text);

/* Columns that UTF-8 text takes in a terminal: 0 for combining marks, 2 for wide East Asian
 * characters and pictures, 1 for the rest. Not from the C library, whose answer depends on the
 * locale, so that equal results give equal bytes everywhere. */
size_t lm_text_columns(const char *text);

/* Whether bytes are well-formed UTF-8 without NUL. */
bool lm_text_is_utf8(const char *text, size_t bytes);

#endif
