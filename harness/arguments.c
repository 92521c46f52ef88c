#include "harness/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/nearest.h"

static void refuse_unknown(const char *word, const struct option *options, const char *command)
{
    char name[64];
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, "="), start);
    struct lm_nearest nearest = {.word = name};
    for (const struct option *each = options; each->name != NULL; each++) {
        lm_nearest_offer(&nearest, each->name);
    }
    fprintf(stderr, "loopmark %s: unknown option '%s'; ", command, word);
    if (nearest.best != NULL) {
        fprintf(stderr, "did you mean --%s?\n", nearest.best);
    } else {
        fprintf(stderr, "see: loopmark %s --help\n", command);
    }
}

int lm_next_option(int argc, char **argv, const struct option *options, const char *command)
{
    opterr = 0;
    int before = optind;
    int value = getopt_long(argc, argv, ":h", options, NULL);
    if (value == ':') {
        fprintf(stderr, "loopmark %s: %s needs a value; see: loopmark %s --help\n", command,
                argv[optind - 1], command);
        return '?';
    }
    if (value == '?') {
        /* A cluster of short options leaves optind where it was. */
        refuse_unknown(argv[optind > before ? optind - 1 : optind], options, command);
    }
    return value;
}

bool lm_no_more_words(int argc, char **argv, const char *command)
{
    if (optind >= argc) {
        return true;
    }
    fprintf(stderr, "loopmark %s: '%s' is no option; see: loopmark %s --help\n", command,
            argv[optind], command);
    return false;
}

bool lm_join_list(char **list, const char *more)
{
    size_t used = *list != NULL ? strlen(*list) + 1 : 0;
    char *grown = realloc(*list, used + strlen(more) + 1);
    if (grown == NULL) {
        fputs("loopmark: memory is short; close other programs and try again\n", stderr);
        return false;
    }
    if (used > 0) {
        grown[used - 1] = ',';
    }
    strcpy(grown + used, more);
    *list = grown;
    return true;
}

bool lm_parse_whole(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                    uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || parsed < minimum ||
        parsed > maximum) {
        fprintf(stderr, "loopmark: %s takes a whole number from %llu to %llu, not '%s'\n", option,
                (unsigned long long)minimum, (unsigned long long)maximum, text);
        return false;
    }
    *value = parsed;
    return true;
}

bool lm_parse_seconds(const char *option, const char *text, double minimum, double maximum,
                      double *seconds)
{
    char *end = NULL;
    double parsed = strtod(text, &end);
    /* strtod also takes hexadecimal figures, blanks, nan and infinity. */
    bool is_number = strspn(text, "0123456789.eE+-") == (size_t)(end - text) && end != text &&
                     (*end == '\0' || strcmp(end, "s") == 0);
    if (!is_number || !isfinite(parsed) || parsed < minimum || parsed > maximum) {
        fprintf(stderr, "loopmark: %s takes seconds from %g to %g, such as 0.5, not '%s'\n", option,
                minimum, maximum, text);
        return false;
    }
    *seconds = parsed;
    return true;
}
