/* spec.c - reading what users write to name a backend: name[:key=value[,key=value...]].
 *
 * The text is a stranger's: everything is bounded, and what is quoted in an error is made
 * printable.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/nearest.h"
#include "backends/registry.h"

/* Longest piece of the user's text that an error repeats. */
#define QUOTE_BYTES 40

/* A piece of the text being read. */
struct piece {
    const char *begin;
    size_t length;
};

/* Where the one line for the user goes, written in parts. */
struct message {
    char *text;
    size_t bytes, used;
};

static void say(struct message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct message *message, const char *format, ...)
{
    if (message->used >= message->bytes) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(message->text + message->used, message->bytes - message->used, format, arguments);
    va_end(arguments);
    if (written > 0) {
        message->used += (size_t)written;
    }
}

static struct piece whole(const char *text)
{
    return (struct piece){text, strlen(text)};
}

/* Cuts `rest` at the first `separator`: returns what is before it and leaves what is after it.
 * Without one, returns all and leaves a NULL piece. */
static struct piece cut(struct piece *rest, char separator)
{
    struct piece head = *rest;
    const char *found = memchr(head.begin, separator, head.length);
    if (!found) {
        *rest = (struct piece){NULL, 0};
        return head;
    }
    head.length = (size_t)(found - head.begin);
    rest->begin = found + 1;
    rest->length -= head.length + 1;
    return head;
}

static bool equal(struct piece piece, const char *word)
{
    return strlen(word) == piece.length && memcmp(piece.begin, word, piece.length) == 0;
}

/* Repeats a piece of the user's text between quotes. */
static void quote(struct message *message, struct piece piece)
{
    char safe[QUOTE_BYTES + 1];
    size_t length = piece.length < QUOTE_BYTES ? piece.length : QUOTE_BYTES;
    for (size_t i = 0; i < length; i++) {
        char c = piece.begin[i];
        safe[i] = c >= ' ' && c <= '~' ? c : '.';
    }
    safe[length] = '\0';
    say(message, "'%s%s'", safe, piece.length > length ? "..." : "");
}

/* The word of a list that the user most likely meant. */
struct guess {
    struct lm_nearest nearest;
    char word[QUOTE_BYTES + 1];
};

static void guess_begin(struct guess *guess, struct piece piece)
{
    *guess = (struct guess){.nearest.word = guess->word};
    if (piece.length < sizeof guess->word) {
        memcpy(guess->word, piece.begin, piece.length);
    }
}

static void say_guess(struct message *message, const struct guess *guess)
{
    if (guess->nearest.best) {
        say(message, " (did you mean '%s'?)", guess->nearest.best);
    }
}

static void say_backends(struct message *message)
{
    for (size_t i = 0; i < lm_backend_count(); i++) {
        say(message, "%s%s", i ? ", " : "", lm_backend_at(i)->name);
    }
}

static void say_range(struct message *message, const struct lm_option *option)
{
    if (!option->choices) {
        say(message, "a whole number from %llu to %llu", (unsigned long long)option->minimum,
            (unsigned long long)option->maximum);
        return;
    }
    say(message, "one of ");
    for (size_t i = 0; option->choices[i]; i++) {
        say(message, "%s%s", i ? ", " : "", option->choices[i]);
    }
}

static size_t option_count(const struct lm_backend *backend)
{
    size_t count = 0;
    while (backend->options && count < LM_MAX_OPTIONS && backend->options[count].key) {
        count++;
    }
    return count;
}

/* Digits only: no sign, no blank, no overflow. */
static bool parse_whole(struct piece piece, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < piece.length; i++) {
        if (piece.begin[i] < '0' || piece.begin[i] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(piece.begin[i] - '0');
        if (*value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return piece.length > 0;
}

static bool parse_value(const struct lm_option *option, struct piece piece, uint64_t *value)
{
    if (!option->choices) {
        return parse_whole(piece, value) && *value >= option->minimum && *value <= option->maximum;
    }
    for (uint64_t i = 0; option->choices[i]; i++) {
        if (equal(piece, option->choices[i])) {
            *value = i;
            return true;
        }
    }
    return false;
}

static int refuse_value(const struct lm_backend *backend, const struct lm_option *option,
                        struct piece value, struct message *message)
{
    struct guess guess;
    guess_begin(&guess, value);
    say(message, "%s: option '%s' can not be ", backend->name, option->key);
    quote(message, value);
    for (size_t i = 0; option->choices && option->choices[i]; i++) {
        lm_nearest_offer(&guess.nearest, option->choices[i]);
    }
    say_guess(message, &guess);
    say(message, "; give it ");
    say_range(message, option);
    return -EINVAL;
}

static int refuse_key(const struct lm_backend *backend, struct piece key, struct message *message)
{
    struct guess guess;
    guess_begin(&guess, key);
    size_t count = option_count(backend);
    say(message, "%s has no option ", backend->name);
    quote(message, key);
    for (size_t i = 0; i < count; i++) {
        lm_nearest_offer(&guess.nearest, backend->options[i].key);
    }
    say_guess(message, &guess);
    if (count == 0) {
        say(message, "; it has none: write just '%s'", backend->name);
    }
    for (size_t i = 0; i < count; i++) {
        say(message, "%s%s", i ? ", " : "; it has ", backend->options[i].key);
    }
    return -EINVAL;
}

/* One key=value. `given` tells which options the text has set so far. */
static int parse_option(struct lm_spec *spec, struct piece part, bool *given,
                        struct message *message)
{
    const struct lm_backend *backend = spec->backend;
    struct piece value = part;
    struct piece key = cut(&value, '=');
    if (!value.begin || key.length == 0) {
        say(message, "%s: ", backend->name);
        quote(message, part);
        say(message, " is not an option; write options as key=value, separated by commas");
        return -EINVAL;
    }
    size_t index = 0;
    size_t count = option_count(backend);
    while (index < count && !equal(key, backend->options[index].key)) {
        index++;
    }
    if (index == count) {
        return refuse_key(backend, key, message);
    }
    if (given[index]) {
        say(message, "%s: option '%s' is given twice; give it once", backend->name,
            backend->options[index].key);
        return -EINVAL;
    }
    given[index] = true;
    if (!parse_value(&backend->options[index], value, &spec->options[index])) {
        return refuse_value(backend, &backend->options[index], value, message);
    }
    return 0;
}

/* Writes spec->text. False when it does not fit. */
bool lm_spec_write(struct lm_spec *spec)
{
    struct message text = {spec->text, sizeof spec->text, 0};
    say(&text, "%s", spec->backend->name);
    char separator = ':';
    for (size_t i = 0; i < option_count(spec->backend); i++) {
        const struct lm_option *option = &spec->backend->options[i];
        uint64_t value = spec->options[i];
        if (value == option->default_value) {
            continue;
        }
        if (option->choices) {
            say(&text, "%c%s=%s", separator, option->key, option->choices[value]);
        } else {
            say(&text, "%c%s=%llu", separator, option->key, (unsigned long long)value);
        }
        separator = ',';
    }
    return text.used < text.bytes;
}

/* Everything after the name; options.begin is NULL when there is no colon. */
static int parse_options(const struct lm_backend *backend, struct piece options,
                         struct lm_spec *spec, struct message *message)
{
    bool given[LM_MAX_OPTIONS] = {false};
    *spec = (struct lm_spec){.backend = backend};
    for (size_t i = 0; i < option_count(backend); i++) {
        spec->options[i] = backend->options[i].default_value;
    }
    while (options.begin) {
        struct piece part = cut(&options, ',');
        int error = parse_option(spec, part, given, message);
        if (error) {
            return error;
        }
    }
    if (!lm_spec_write(spec)) {
        say(message, "%s: the settings do not fit into %zu characters; name fewer", backend->name,
            sizeof spec->text - 1);
        return -EINVAL;
    }
    return 0;
}

/* Splits text into name and options. Checks what is the same for every backend. */
static int parse_name(const char *text, struct piece *name, struct piece *options,
                      struct message *message)
{
    *options = whole(text);
    if (options->length >= sizeof((struct lm_spec *)0)->text) {
        say(message, "a backend spec of %zu characters is too long; the limit is %zu",
            options->length, sizeof((struct lm_spec *)0)->text - 1);
        return -EINVAL;
    }
    *name = cut(options, ':');
    if (memchr(name->begin, '/', name->length)) {
        quote(message, *name);
        say(message,
            " is the path of a plugin, and this version does not load plugins; use one of ");
        say_backends(message);
        return -ENOTSUP;
    }
    if (name->length == 0) {
        say(message, "the name of a backend is missing; use one of ");
        say_backends(message);
        return -EINVAL;
    }
    if (memchr(name->begin, '=', name->length)) {
        quote(message, *name);
        say(message, " has options without a colon; write name:key=value");
        return -EINVAL;
    }
    return 0;
}

static int refuse_name(struct piece name, struct message *message)
{
    struct guess guess;
    guess_begin(&guess, name);
    say(message, "there is no backend ");
    quote(message, name);
    for (size_t i = 0; i < lm_backend_count(); i++) {
        lm_nearest_offer(&guess.nearest, lm_backend_at(i)->name);
    }
    say_guess(message, &guess);
    say(message, "; use one of ");
    say_backends(message);
    return -ENOENT;
}

int lm_spec_parse(const char *text, struct lm_spec *spec, char *error, size_t error_bytes)
{
    struct message message = {error, error_bytes, 0};
    struct piece name, options;
    int result = parse_name(text, &name, &options, &message);
    if (result) {
        return result;
    }
    for (size_t i = 0; i < lm_backend_count(); i++) {
        const struct lm_registered *entry = lm_backend_at(i);
        if (!equal(name, entry->name)) {
            continue;
        }
        if (!entry->backend) {
            say(&message, "backend %s is not in this program: %s", entry->name, entry->missing);
            return -ENOSYS;
        }
        return parse_options(entry->backend, options, spec, &message);
    }
    return refuse_name(name, &message);
}

int lm_spec_parse_for(const struct lm_backend *backend, const char *text, struct lm_spec *spec,
                      char *error, size_t error_bytes)
{
    struct message message = {error, error_bytes, 0};
    struct piece name, options;
    int result = parse_name(text, &name, &options, &message);
    if (result) {
        return result;
    }
    if (!equal(name, backend->name)) {
        say(&message, "the backend is called '%s', not ", backend->name);
        quote(&message, name);
        return -ENOENT;
    }
    return parse_options(backend, options, spec, &message);
}

/* Does this part of a list continue the spec before it? */
static bool is_option(struct piece part)
{
    for (size_t i = 0; i < part.length; i++) {
        if (part.begin[i] == '=') {
            return true;
        }
        if (part.begin[i] == ':' || part.begin[i] == '/') {
            return false;
        }
    }
    return false;
}

int lm_spec_split(const char *list, int (*each)(void *context, const char *spec), void *context)
{
    char *copy = strdup(list);
    if (!copy) {
        return -ENOMEM;
    }
    int result = 0;
    struct piece rest = whole(copy);
    while (rest.begin && result == 0) {
        char *spec = copy + (rest.begin - copy);
        struct piece part = cut(&rest, ',');
        for (struct piece after = rest; after.begin; rest = after) {
            struct piece next = cut(&after, ',');
            if (!is_option(next)) {
                break;
            }
            part.length = (size_t)(next.begin + next.length - spec);
        }
        spec[part.length] = '\0';
        result = each(context, spec);
    }
    free(copy);
    return result;
}
