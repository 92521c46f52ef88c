/* Fuzz target: any text read as a list of specs is refused with one printable line, or means the
 * same when its canonical form is read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/registry.h"
#include "tests/fuzz/fuzz.h"

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct lm_option options[] = {
    {"fast", "a switch", 0, 0, 1, NULL},
    {"entries", "a number", 4096, 16, 32768, NULL},
    {"colour", "a word", 1, 0, 2, colours},
    {"wide", "any number", 7, 0, UINT64_MAX, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};
static const struct lm_backend paint = {.name = "paint", .options = options};

static int parse(const char *text, struct lm_spec *spec, char *error, size_t error_bytes)
{
    int result = lm_spec_parse_for(&paint, text, spec, error, error_bytes);
    return result == 0 ? 0 : lm_spec_parse(text, spec, error, error_bytes);
}

static void check_refusal(const char *error)
{
    fuzz_check(error[0] != '\0');
    for (const char *c = error; *c; c++) {
        fuzz_check(*c >= ' ' && *c <= '~');
    }
}

static void check_accepted(const struct lm_spec *spec)
{
    struct lm_spec again;
    char error[512] = "";
    fuzz_check(memchr(spec->text, '\0', sizeof spec->text) != NULL);
    fuzz_check(parse(spec->text, &again, error, sizeof error) == 0);
    fuzz_check(strcmp(again.text, spec->text) == 0);
    fuzz_check(again.backend == spec->backend);
    for (size_t i = 0; spec->backend->options && spec->backend->options[i].key; i++) {
        fuzz_check(spec->options[i] >= spec->backend->options[i].minimum);
        fuzz_check(spec->options[i] <= spec->backend->options[i].maximum);
        fuzz_check(again.options[i] == spec->options[i]);
    }
}

static int each(void *context, const char *text)
{
    struct lm_spec spec;
    char error[512] = "";
    size_t *bytes = context;
    *bytes += strlen(text) + 1;
    if (parse(text, &spec, error, sizeof error) == 0) {
        check_accepted(&spec);
    } else {
        check_refusal(error);
    }
    char little[8];
    parse(text, &spec, little, strlen(text) % sizeof little);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    fuzz_check(text != NULL);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    size_t seen = 0;
    fuzz_check(lm_spec_split(text, each, &seen) == 0);
    /* Nothing of the list is lost: each part, and the comma or the end after it. */
    fuzz_check(seen == strlen(text) + 1);
    free(text);
    return 0;
}
