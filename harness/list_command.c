/* `loopmark list`: what can run here, as text or JSON. */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "harness/arguments.h"
#include "harness/commands.h"
#include "harness/selection.h"

struct list_options {
    bool backends, cases, json, help;
    const char *globs; /* NULL lists all cases, micro ones too */
};

static const struct option long_options[] = {
    {"backends", no_argument, NULL, 'b'},
    {"cases", optional_argument, NULL, 'c'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Words for bits, in the order of the bits. */
struct word {
    uint32_t bit;
    const char *text;
};

static const struct word flag_words[] = {
    {LM_CASE_MICRO, "micro"},
    {LM_CASE_SPLIT, "split"},
    {LM_CASE_REPRESENTATIVE, "quick"},
    {LM_CASE_LOCKLESS, "lockless"},
    {0, NULL},
};

static const struct word capability_words[] = {
    {LM_CAP_THREADS, "threads"},
    {LM_CAP_LOOPS, "loops"},
    {LM_CAP_LOCKLESS, "lockless"},
    {LM_CAP_LOCAL, "local"},
    {0, NULL},
};

static void print_help(void)
{
    puts("usage: loopmark list [--backends] [--cases [GLOB,...]] [--json]\n"
         "\n"
         "Lists backends (available, or why not; options with default and range) and cases.\n"
         "\n"
         "  --backends          only backends\n"
         "  --cases [GLOB,...]  only cases, those that match\n"
         "  --json              as JSON\n"
         "\n"
         "  loopmark list --backends\n"
         "  loopmark list --cases 'socket_latency/*'");
}

static bool parse_options(int argc, char **argv, struct list_options *options)
{
    *options = (struct list_options){.globs = NULL};
    for (int option; (option = lm_next_option(argc, argv, long_options, "list")) != -1;) {
        options->backends |= option == 'b';
        options->json |= option == 'j';
        options->help |= option == 'h';
        if (option == 'c') {
            options->cases = true;
            options->globs = optarg;
        } else if (option == '?') {
            return false;
        }
    }
    /* getopt takes an optional value only after an equals sign; a word of its own means the same.
     */
    if (options->cases && options->globs == NULL && optind < argc) {
        options->globs = argv[optind++];
    }
    if (!options->backends && !options->cases) {
        options->backends = options->cases = true;
    }
    return lm_no_more_words(argc, argv, "list");
}

/* A value as users write it. */
static const char *format_setting(const struct lm_option *option, uint64_t value, char *text,
                                  size_t text_bytes)
{
    if (option->choices != NULL) {
        return option->choices[value];
    }
    snprintf(text, text_bytes, "%" PRIu64, value);
    return text;
}

static void print_backend_options(const struct lm_backend *backend)
{
    for (const struct lm_option *option = backend->options; option != NULL && option->key != NULL;
         option++) {
        char range[128], preset[24];
        size_t used = 0;
        if (option->choices == NULL) {
            snprintf(range, sizeof(range), "%" PRIu64 "..%" PRIu64, option->minimum,
                     option->maximum);
        }
        for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++) {
            int wrote = snprintf(range + used, sizeof(range) - used, "%s%s", i > 0 ? "|" : "",
                                 option->choices[i]);
            used += wrote > 0 && used + (size_t)wrote < sizeof(range) ? (size_t)wrote : 0;
        }
        printf("    %-14s %-18s default %-10s %s\n", option->key, range,
               format_setting(option, option->default_value, preset, sizeof(preset)), option->help);
    }
}

static void print_backends(const struct lm_candidates *rows)
{
    puts("backends:");
    for (size_t i = 0; i < rows->count; i++) {
        const struct lm_candidate *row = &rows->items[i];
        printf("  %s: %s\n", row->spec.text, row->title);
        if (row->unavailable[0] != '\0') {
            printf("    can not run here: %s\n", row->unavailable);
        } else if (row->settings[0] != '\0') {
            printf("    in force: %s\n", row->settings);
        }
        /* A second row of one backend has the same options. */
        if (row->spec.backend != NULL && strchr(row->spec.text, ':') == NULL) {
            if (row->spec.backend->limits != NULL) {
                printf("    limits: %s\n", row->spec.backend->limits);
            }
            print_backend_options(row->spec.backend);
        }
    }
}

static void print_words(const char *label, uint32_t bits, const struct word *words)
{
    const char *separator = label;
    for (; words->text != NULL; words++) {
        if ((bits & words->bit) != 0) {
            printf("%s%s", separator, words->text);
            separator = ",";
        }
    }
}

static void print_cases(const struct lm_case_list *cases)
{
    const struct lm_family *family = NULL;
    const char *operation = "";
    puts("cases:");
    for (size_t i = 0; i < cases->count; i++) {
        const struct lm_case *which = cases->items[i];
        if (which->family != family) {
            printf("  %s: %s\n", which->family->name, which->family->measures);
        }
        if (which->family != family || strcmp(which->operation, operation) != 0) {
            printf("  one operation is %s\n", which->operation);
        }
        family = which->family;
        operation = which->operation;
        printf("    %-55s %s, %s is better", which->name, lm_metric_unit(which->metric),
               lm_metric_higher_is_better(which->metric) ? "higher" : "lower");
        print_words("; ", which->flags, flag_words);
        print_words("; needs ", which->capabilities, capability_words);
        putchar('\n');
    }
}

static json_t *words_json(uint32_t bits, const struct word *words)
{
    json_t *list = json_array();
    for (; words->text != NULL; words++) {
        if ((bits & words->bit) != 0) {
            json_array_append_new(list, json_string(words->text));
        }
    }
    return list;
}

static json_t *options_json(const struct lm_option *option)
{
    json_t *list = json_array();
    for (; option != NULL && option->key != NULL; option++) {
        char preset[24];
        json_t *object = json_pack(
            "{s:s, s:s, s:s, s:I, s:I}", "key", option->key, "help", option->help, "default",
            format_setting(option, option->default_value, preset, sizeof(preset)), "minimum",
            (json_int_t)option->minimum, "maximum", (json_int_t)option->maximum);
        json_t *choices = option->choices != NULL ? json_array() : json_null();
        for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++) {
            json_array_append_new(choices, json_string(option->choices[i]));
        }
        json_object_set_new(object, "choices", choices);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *backends_json(const struct lm_candidates *rows)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++) {
        const struct lm_candidate *row = &rows->items[i];
        const struct lm_backend *backend = row->spec.backend;
        const char *limits = NULL;
        uint32_t capabilities =
            backend != NULL ? lm_capabilities(backend, row->spec.options, &limits) : 0;
        bool available = row->unavailable[0] == '\0';
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:b, s:s?, s:s, s:o, s:s?, s:o}", "spec", row->spec.text, "title",
                      row->title, "available", available, "unavailable",
                      available ? NULL : row->unavailable, "settings", row->settings,
                      "capabilities", words_json(capabilities, capability_words), "limits", limits,
                      "options", options_json(backend != NULL ? backend->options : NULL)));
    }
    return list;
}

static json_t *cases_json(const struct lm_case_list *cases)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cases->count; i++) {
        const struct lm_case *which = cases->items[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "name",
                                              which->name, "family", which->family->name,
                                              "operation", which->operation, "unit",
                                              lm_metric_unit(which->metric), "higher_is_better",
                                              lm_metric_higher_is_better(which->metric), "flags",
                                              words_json(which->flags, flag_words), "needs",
                                              words_json(which->capabilities, capability_words)));
    }
    return list;
}

static void print_json(const struct list_options *options, const struct lm_candidates *rows,
                       const struct lm_case_list *cases)
{
    json_t *object = json_object();
    if (options->backends) {
        json_object_set_new(object, "backends", backends_json(rows));
    }
    if (options->cases) {
        json_object_set_new(object, "cases", cases_json(cases));
    }
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

/* Every backend that is known, and each setting that is a row of its own. */
static int read_rows(struct lm_candidates *rows)
{
    *rows = (struct lm_candidates){.items = NULL};
    int error = 0;
    for (size_t i = 0; i < lm_backend_count() && error == 0; i++) {
        error = lm_candidates_add(rows, lm_backend_at(i)->name, "list", NULL);
    }
    for (const char *const *spec = lm_default_specs(); *spec != NULL && error == 0; spec++) {
        error = lm_candidates_add(rows, *spec, "list", NULL);
    }
    return error;
}

int lm_list_command(int argc, char **argv)
{
    struct list_options options;
    struct lm_candidates rows = {.items = NULL};
    struct lm_case_list cases = {.items = NULL};
    if (!parse_options(argc, argv, &options)) {
        return LM_EXIT_USAGE;
    }
    if (options.help) {
        print_help();
        return LM_EXIT_OK;
    }
    int error = options.backends ? read_rows(&rows) : 0;
    if (error == 0 && options.cases) {
        bool all_micro = options.globs == NULL;
        error = lm_case_list_read(options.globs, all_micro, false, "--cases", &cases);
    }
    if (error == 0 && options.json) {
        print_json(&options, &rows, &cases);
    } else if (error == 0) {
        if (options.backends) {
            print_backends(&rows);
        }
        if (options.cases) {
            print_cases(&cases);
        }
    }
    lm_candidates_free(&rows);
    lm_case_list_free(&cases);
    return error == 0 ? LM_EXIT_OK : LM_EXIT_USAGE;
}
