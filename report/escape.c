#include "report/escape.h"

#include <stdint.h>
#include <string.h>

#include "harness/string_stream.h"

#define DIGITS_AND_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Decodes one character. Returns its length in bytes, 0 when text is not UTF-8 there (overlong
 * forms, surrogates and values above U+10FFFF are not). Reads no further than a NUL. */
static size_t decode(const char *text, uint32_t *character)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80) {
        *character = byte[0];
        return 1;
    }
    static const struct {
        unsigned char mask, lead;
        size_t length;
        uint32_t least;
    } kinds[] = {{0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        if ((byte[0] & kinds[kind].mask) != kinds[kind].lead) {
            continue;
        }
        uint32_t value = byte[0] & (unsigned char)~kinds[kind].mask;
        for (size_t i = 1; i < kinds[kind].length; i++) {
            if ((byte[i] & 0xc0) != 0x80) {
                return 0;
            }
            value = (value << 6) | (byte[i] & 0x3fu);
        }
        if (value < kinds[kind].least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
            return 0;
        }
        *character = value;
        return kinds[kind].length;
    }
    return 0;
}

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Controls, and the characters that reorder or hide what stands around them (CVE-2021-42574). */
static bool is_unprintable(uint32_t character)
{
    static const struct range ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    /* The last two of every plane are no characters, and no legal ones in XML. */
    return (character & 0xfffe) == 0xfffe ||
           in_ranges(character, ranges, sizeof ranges / sizeof *ranges);
}

static size_t columns_of(uint32_t character)
{
    static const struct range none[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                        {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
                                        {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    static const struct range two[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (is_unprintable(character) || in_ranges(character, none, sizeof none / sizeof *none)) {
        return 0;
    }
    return in_ranges(character, two, sizeof two / sizeof *two) ? 2 : 1;
}

size_t lm_text_columns(const char *text)
{
    size_t columns = 0;
    while (*text != '\0') {
        uint32_t character = 0;
        size_t length = decode(text, &character);
        columns += length == 0 ? 1 : columns_of(character);
        text += length == 0 ? 1 : length;
    }
    return columns;
}

bool lm_text_is_utf8(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        uint32_t character = 0;
        size_t length = decode(text + at, &character);
        if (length == 0 || length > bytes - at || character == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

/* One visible form for what must not reach a reader's terminal or browser. */
static void put_unprintable(FILE *out, enum lm_form form, uint32_t character)
{
    if (form == LM_FORM_ASCIIDOC) {
        fprintf(out, character < 0x100 ? "&#92;x%02x" : "&#92;u&#123;%x&#125;", character);
    } else {
        fprintf(out, character < 0x100 ? "\\x%02x" : "\\u{%x}", character);
    }
}

static bool is_alphanumeric(char character)
{
    return character != '\0' && strchr(DIGITS_AND_LETTERS, character) != NULL;
}

/* Whether AsciiDoc takes the character for nothing but itself. Between letters or digits that holds
 * for those that begin or end markup at the edge of a word, and for those that mean something only
 * when doubled or before a slash. */
static bool is_tame_asciidoc(const char *text, size_t at)
{
    return (unsigned char)text[at] >= 0x80 || is_alphanumeric(text[at]) ||
           strchr(" ,/)", text[at]) != NULL ||
           (strchr("_-.:", text[at]) != NULL && at > 0 && is_alphanumeric(text[at - 1]) &&
            is_alphanumeric(text[at + 1]));
}

/* What an ASCII character is written as in a form where it means something; NULL when it means
 * nothing. */
static const char *special(enum lm_form form, const char *text, size_t at, char reference[8])
{
    switch (form) {
    case LM_FORM_MARKDOWN:
        return text[at] == '|' ? "\\|" : NULL;
    case LM_FORM_CSV:
        return text[at] == '"' ? "\"\"" : NULL;
    case LM_FORM_MARKUP:
        switch (text[at]) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return NULL;
        }
    case LM_FORM_ASCIIDOC:
        snprintf(reference, 8, "&#%d;", (signed char)text[at]);
        return is_tame_asciidoc(text, at) ? NULL : reference;
    case LM_FORM_PLAIN:
    case LM_FORM_TERMINAL:
        break;
    }
    return NULL;
}

/* Shared body of all forms but LM_FORM_PLAIN: printable characters by the form's rule. */
static void put_escaped(FILE *out, enum lm_form form, const char *text)
{
    for (size_t at = 0; text[at] != '\0';) {
        uint32_t character = 0;
        char reference[8];
        const char *instead;
        size_t length = decode(text + at, &character);
        if (length == 0) {
            put_unprintable(out, form, (unsigned char)text[at]);
            length = 1;
        } else if (is_unprintable(character)) {
            put_unprintable(out, form, character);
        } else if ((instead = special(form, text, at, reference)) != NULL) {
            fputs(instead, out);
        } else {
            fwrite(text + at, 1, length, out);
        }
        at += length;
    }
}

static void put_csv(FILE *out, const char *text)
{
    bool formula = text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
    bool quoted = formula || strpbrk(text, ",\"'; ") != NULL;
    fputs(quoted ? "\"" : "", out);
    fputs(formula ? "'" : "", out);
    put_escaped(out, LM_FORM_CSV, text);
    fputs(quoted ? "\"" : "", out);
}

/* The fence is one backtick longer than any run inside; the spaces are taken off by the reader and
 * let the text begin or end with a backtick or a space of its own. */
static void put_code_span(FILE *out, const char *text)
{
    size_t longest = 0, run = 0;
    for (const char *c = text; *c != '\0'; c++) {
        run = *c == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t bytes = strlen(text);
    if (bytes == 0) {
        return;
    }
    bool padded = strchr("` ", text[0]) != NULL || strchr("` ", text[bytes - 1]) != NULL;
    for (size_t i = 0; i <= longest; i++) {
        fputc('`', out);
    }
    fputs(padded ? " " : "", out);
    put_escaped(out, LM_FORM_MARKDOWN, text);
    fputs(padded ? " " : "", out);
    for (size_t i = 0; i <= longest; i++) {
        fputc('`', out);
    }
}

/* An empty pair of backquotes would stand there as it is. A space at an end, which keeps the pair
 * from being taken for one, becomes a reference too. */
static void put_monospaced(FILE *out, const char *text)
{
    size_t bytes = strlen(text);
    if (bytes == 0) {
        return;
    }
    fputs(text[0] == ' ' || text[bytes - 1] == ' ' ? "``" : "`", out);
    put_escaped(out, LM_FORM_ASCIIDOC, text);
    fputs(text[0] == ' ' || text[bytes - 1] == ' ' ? "``" : "`", out);
}

void lm_put_text(FILE *out, enum lm_form form, const char *text)
{
    switch (form) {
    case LM_FORM_PLAIN:
        fputs(text, out);
        break;
    case LM_FORM_TERMINAL:
        put_escaped(out, form, text);
        break;
    case LM_FORM_MARKDOWN:
        put_code_span(out, text);
        break;
    case LM_FORM_CSV:
        put_csv(out, text);
        break;
    case LM_FORM_MARKUP:
        put_escaped(out, form, text);
        break;
    case LM_FORM_ASCIIDOC:
        put_monospaced(out, text);
        break;
    }
}

void lm_put_words(FILE *out, enum lm_form form, const char *words)
{
    /* In front of these GitHub's Markdown takes a backslash, and AsciiDoc a reference. Others mean
     * something only at the beginning of a line, where no writer puts words of this kind. */
    const char *specials = form == LM_FORM_MARKDOWN   ? "\\`*_<>[]~|"
                           : form == LM_FORM_ASCIIDOC ? "`*_#^~+{}<>[]'&|"
                                                      : "";
    if (form == LM_FORM_MARKUP) {
        put_escaped(out, form, words);
        return;
    }
    for (const char *c = words; *c != '\0'; c++) {
        if (*specials == '\0' || strchr(specials, *c) == NULL) {
            fputc(*c, out);
        } else if (form == LM_FORM_MARKDOWN) {
            fprintf(out, "\\%c", *c);
        } else {
            fprintf(out, "&#%d;", *c);
        }
    }
}

char *lm_escape_text(enum lm_form form, const char *text)
{
    struct lm_string_stream escaped;
    if (lm_string_begin(&escaped) != NULL) {
        lm_put_text(escaped.out, form, text);
    }
    return lm_string_end(&escaped);
}
