#include "report/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void lm_open(struct lm_writer *writer, enum lm_block block)
{
    fputs(writer->kind->marks[block].before, writer->out);
}

void lm_close(struct lm_writer *writer, enum lm_block block)
{
    fputs(writer->kind->marks[block].after, writer->out);
}

void lm_line_break(struct lm_writer *writer)
{
    fputs(writer->kind->line_break, writer->out);
}

static void say(struct lm_writer *writer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int bytes = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *words = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (words == NULL) {
        writer->status = -ENOMEM;
        return;
    }
    vsnprintf(words, (size_t)bytes + 1, format, arguments);
    lm_put_words(writer->out, writer->kind->escape, words);
    free(words);
}

void lm_say(struct lm_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(writer, format, arguments);
    va_end(arguments);
}

void lm_name(struct lm_writer *writer, const char *name)
{
    fputs(writer->kind->name.before, writer->out);
    lm_put_text(writer->out, writer->kind->escape, name);
    fputs(writer->kind->name.after, writer->out);
}

void lm_paragraph(struct lm_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lm_open(writer, LM_PARAGRAPH);
    say(writer, format, arguments);
    lm_close(writer, LM_PARAGRAPH);
    va_end(arguments);
}

void lm_cell(struct lm_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    writer->kind->cell(writer);
    say(writer, format, arguments);
    writer->kind->end_cell(writer);
    va_end(arguments);
}

void lm_name_cell(struct lm_writer *writer, const char *name)
{
    writer->kind->cell(writer);
    lm_name(writer, name);
    writer->kind->end_cell(writer);
}

void lm_put_title(struct lm_writer *writer, const struct lm_table *table, size_t column)
{
    if (table->named && column > 0) {
        lm_name(writer, table->columns[column].title);
    } else {
        lm_say(writer, "%s", table->columns[column].title);
    }
}

void lm_link(struct lm_writer *writer, const char *page, const char *fragment, const char *words)
{
    const struct lm_link link = {.page = page, .fragment = fragment};
    writer->kind->link(writer, &link);
    lm_say(writer, "%s", words);
    writer->kind->unlink(writer);
}

void lm_put_lines(struct lm_writer *writer, enum lm_form form, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        char *copy = strndup(line, bytes);
        if (copy == NULL) {
            writer->status = -ENOMEM;
            return;
        }
        lm_put_text(writer->out, form, copy);
        free(copy);
        line += bytes;
        if (*line == '\n') {
            fputc(*line++, writer->out);
        }
    }
}

void lm_chart_path(char path[LM_CHART_PATH_BYTES], const struct lm_page *page,
                   const struct lm_chart *chart)
{
    snprintf(path, LM_CHART_PATH_BYTES, "charts/%s-%s.svg", page->slug, chart->id);
}
