/* check_command.c - `loopmark check`: each contract test against backends, in the modes they have.
 * What one rule's process is told and says is check_process.c's.
 */
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/clock.h"
#include "harness/arguments.h"
#include "harness/commands.h"
#include "harness/headroom.h"
#include "harness/process.h"
#include "harness/progress.h"
#include "harness/selection.h"
#include "harness/text.h"
#include "suites/connection.h"
#include "tests/contract/check.h"
#include "tests/contract/check_process.h"

/* Version of what --json prints; described in README.md beside this file. */
#define CHECK_SCHEMA 1

enum {
    MODES_MAX = 16
};

struct tally {
    unsigned passed, failed, skipped;
};

struct check_options {
    char *backends; /* NULL: all that runs here */
    const char *rules;
    struct check_mode modes[MODES_MAX];
    size_t mode_count;
    uint64_t timeout_s;
    bool settings, list, json, help;
};

/* A check under way. */
struct check {
    const struct check_options *options;
    char directory[256];
    struct tally all;
    uint64_t listen_queue;
    bool broken_off; /* interrupted, or no process could be started */
    json_t *runs;    /* NULL without --json */
    json_t *rules;   /* of the latest of runs */
    /* For the estimate. */
    bool terminal;
    uint64_t begin_ns;
    size_t done, planned;
};

static const struct option long_options[] = {
    {"backend", required_argument, NULL, 'b'},
    {"mode", required_argument, NULL, 'm'},
    {"rule", required_argument, NULL, 'r'},
    {"timeout", required_argument, NULL, 't'},
    {"settings", no_argument, NULL, 's'},
    {"list", no_argument, NULL, 'l'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: loopmark check [--backend SPEC,...] [--mode MODE,...] [--rule GLOB] [OPTION...]\n"
         "\n"
         "Puts backends through the contract (backends/backend.h), rule by rule, each in a fresh\n"
         "process with a time limit: pass, FAIL with what was seen, or skip with the reason.\n"
         "\n"
         "  --backend SPEC,...  backends, as name[:key=value[,key=value...]] (default: all here)\n"
         "  --mode MODE,...     normal, lockless, sharedN: a loop run by N threads, 2 to 64\n"
         "                      (default: normal,lockless,shared2)\n"
         "  --rule GLOB         only rules whose line, SUBJECT: SENTENCE, matches\n"
         "  --settings          once more for each switch turned and each other word of a choice;\n"
         "                      in shared modes without the crowds of thousands of sockets\n"
         "  --timeout S         time limit of a rule (default: 20)\n"
         "  --list              the rules, without checking any\n"
         "  --json              one JSON document instead of lines\n"
         "\n"
         "  loopmark check --backend io_uring:hybrid=1\n"
         "  loopmark check --backend epoll --mode shared4 --rule 'timers: *'\n"
         "  loopmark check --backend poll --rule '*starves nobody' --timeout 60\n"
         "\n"
         "Exit codes: 0 no rule failed; 1 a rule failed, whatever came after; 2 wrong use, or "
         "nothing\n"
         "could be checked; 3 interrupted, or a process could not be started.");
}

/* --- options
 * -------------------------------------------------------------------------------------- */

static bool parse_modes(const char *list, struct check_options *options)
{
    options->mode_count = 0;
    while (true) {
        size_t bytes = strcspn(list, ",");
        if (options->mode_count == MODES_MAX) {
            fprintf(stderr, "loopmark check: --mode takes at most %d modes\n", MODES_MAX);
            return false;
        }
        if (!check_mode_parse(list, bytes, &options->modes[options->mode_count])) {
            fprintf(stderr,
                    "loopmark check: --mode: '%.*s' is none; choose from normal, lockless, "
                    "shared2 to shared%u\n",
                    (int)(bytes < 40 ? bytes : 40), list, LM_MAX_THREADS);
            return false;
        }
        options->mode_count++;
        if (list[bytes] == '\0') {
            return true;
        }
        list += bytes + 1;
    }
}

static bool parse_options(int argc, char **argv, struct check_options *options)
{
    *options = (struct check_options){.rules = "*", .timeout_s = 20};
    parse_modes("normal,lockless,shared2", options);
    for (int option; (option = lm_next_option(argc, argv, long_options, "check")) != -1;) {
        bool good = true;
        switch (option) {
        case 'b':
            good = lm_join_list(&options->backends, optarg);
            break;
        case 'm':
            good = parse_modes(optarg, options);
            break;
        case 'r':
            options->rules = optarg;
            break;
        case 't':
            good = lm_parse_whole("--timeout", optarg, 1, 3600, &options->timeout_s);
            break;
        case 's':
            options->settings = true;
            break;
        case 'l':
            options->list = true;
            break;
        case 'j':
            options->json = true;
            break;
        case 'h':
            options->help = true;
            break;
        default:
            good = false;
        }
        if (!good) {
            return false;
        }
    }
    return lm_no_more_words(argc, argv, "check");
}

/* --- rules
 * ---------------------------------------------------------------------------------------- */

/* Calls each(context, rule) for the rules that match; returns how many. */
static size_t each_rule(const char *glob,
                        void (*each)(void *context, const struct check_rule *rule), void *context)
{
    size_t count = 0;
    for (size_t table = 0; contract_tables[table].subject; table++) {
        const struct contract_test *tests = contract_tables[table].tests;
        for (size_t test = 0; tests[test].name; test++) {
            for (int local = 0; local <= !!(tests[test].needs & ALSO_LOCAL); local++) {
                struct check_rule rule = {.table = table, .test = test, .of = &tests[test]};
                rule.local = local;
                snprintf(rule.name, sizeof(rule.name), "%s: %s%s", contract_tables[table].subject,
                         tests[test].name, local ? " (AF_UNIX)" : "");
                if (fnmatch(glob, rule.name, 0) == 0) {
                    each(context, &rule);
                    count++;
                }
            }
        }
    }
    return count;
}

static void count_rule(void *context, const struct check_rule *rule)
{
    (void)context, (void)rule;
}

static void print_rule(void *context, const struct check_rule *rule)
{
    (void)context;
    printf("rule %u  %s\n", rule->of->rule, rule->name);
}

static void list_rule_as_json(void *context, const struct check_rule *rule)
{
    json_array_append_new(context,
                          json_pack("{s:i, s:s}", "rule", (int)rule->of->rule, "name", rule->name));
}

/* --- one backend in one mode
 * ----------------------------------------------------------------------- */

struct pass {
    struct check *check;
    const struct lm_spec *spec;
    const struct check_mode *mode;
    struct contract_subject subject; /* for the reasons to skip */
    bool without_crowds;
    struct tally tally;
};

static const char *const verdict_words[] = {"pass", "FAIL", "skip"};
static const char *const verdict_keys[] = {"pass", "fail", "skip"};

/* How far it is, on a terminal only: elsewhere the lines themselves tell. */
static void show_progress(const struct check *check, const struct pass *pass,
                          const struct check_rule *rule)
{
    char left[48] = "";
    if (!check->terminal) {
        return;
    }
    if (check->done > 20 && check->planned > check->done) {
        double spent_s = (double)(lm_clock_ns() - check->begin_ns) / 1e9;
        char text[32];
        lm_format_duration(spent_s / (double)check->done * (double)(check->planned - check->done),
                           text, sizeof(text));
        snprintf(left, sizeof(left), "about %s left, ", text);
    }
    fprintf(stderr, "\r\033[K[%zu/%zu] %s%s %s: %.40s", check->done + 1, check->planned, left,
            pass->spec->text, pass->mode->name, rule->name);
    fflush(stderr);
}

static void clear_progress(const struct check *check)
{
    if (check->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

static void tell(struct pass *pass, const struct check_rule *rule,
                 const struct contract_outcome *outcome)
{
    struct check *check = pass->check;
    unsigned *counts[] = {&pass->tally.passed, &pass->tally.failed, &pass->tally.skipped};
    char seen[sizeof(outcome->seen) + 16];
    ++*counts[outcome->verdict];
    lm_text_clean(seen, sizeof(seen), outcome->seen, strlen(outcome->seen));
    clear_progress(check);
    if (check->rules) {
        json_array_append_new(check->rules, json_pack("{s:i, s:s, s:s, s:s?}", "rule",
                                                      (int)rule->of->rule, "name", rule->name,
                                                      "verdict", verdict_keys[outcome->verdict],
                                                      "seen", seen[0] ? seen : NULL));
        return;
    }
    printf("%s  rule %u  %s%s%s\n", verdict_words[outcome->verdict], rule->of->rule, rule->name,
           seen[0] ? ": " : "", seen);
    fflush(stdout);
}

/* Asked before each rule and each run: what is left then stays undone, and the end says so. */
static bool is_broken_off(struct check *check)
{
    check->broken_off = check->broken_off || lm_process_interrupts() || ferror(stdout);
    return check->broken_off;
}

static void check_rule(void *context, const struct check_rule *rule)
{
    struct pass *pass = context;
    struct check *check = pass->check;
    struct contract_outcome outcome = {.verdict = CONTRACT_SKIPPED};
    if (is_broken_off(check)) {
        return;
    }
    const char *reason = contract_skip_reason(&pass->subject, rule->of, rule->local);
    if (pass->without_crowds && !strcmp(contract_tables[rule->table].subject, "crowds")) {
        reason = "crowds are left out where settings are turned in shared modes";
    }
    if (reason) {
        snprintf(outcome.seen, sizeof(outcome.seen), "%s", reason);
    } else {
        show_progress(check, pass, rule);
        int error = check_rule_run(rule, pass->spec->text, pass->mode, check->directory,
                                   check->options->timeout_s, &outcome);
        if (error) {
            clear_progress(check);
            fprintf(stderr, "loopmark check: no process could be started: %s; %s\n",
                    strerror(-error), lm_process_remedy(error));
            check->broken_off = true;
            return;
        }
    }
    if (lm_process_interrupts() >= 2) { /* it was killed, which says nothing of the backend */
        check->broken_off = true;
        return;
    }
    check->done++;
    tell(pass, rule, &outcome);
}

/* Nothing of this mode can be checked: says why. */
static void skip_pass(struct check *check, const struct lm_spec *spec,
                      const struct check_mode *mode, const char *reason)
{
    if (check->runs) {
        json_array_append_new(check->runs,
                              json_pack("{s:s, s:s, s:s, s:[]}", "backend", spec->text, "mode",
                                        mode->name, "skipped", reason, "rules"));
    } else {
        printf("-- %s, %s: skipped: %s\n", spec->text, mode->name, reason);
    }
}

static void begin_pass(struct pass *pass)
{
    struct check *check = pass->check;
    if (!check->runs) {
        printf("-- %s, %s\n", pass->spec->text, pass->mode->name);
        fflush(stdout);
        return;
    }
    check->rules = json_array();
    json_array_append_new(check->runs,
                          json_pack("{s:s, s:s, s:n, s:O}", "backend", pass->spec->text, "mode",
                                    pass->mode->name, "skipped", "rules", check->rules));
    json_decref(check->rules); /* the run holds it */
}

static void check_pass(struct check *check, const struct lm_spec *spec,
                       const struct check_mode *mode, bool without_crowds)
{
    const char *why, *reason = NULL;
    char text[256] = "";
    if (is_broken_off(check)) {
        return;
    }
    uint32_t capabilities = lm_capabilities(spec->backend, spec->options, &why);
    if (spec->backend->available(spec->options, text, sizeof(text))) {
        reason = text;
    } else if (mode->lockless && !(capabilities & LM_CAP_LOCKLESS)) {
        reason = why ? why : "the backend has no lockless mode";
    } else if (mode->threads > 1 && !(capabilities & LM_CAP_THREADS)) {
        reason = why ? why : "the backend can not have several threads run one loop";
    }
    if (reason) {
        skip_pass(check, spec, mode, reason);
        return;
    }
    struct pass pass = {.check = check,
                        .spec = spec,
                        .mode = mode,
                        .without_crowds = without_crowds,
                        .subject = {.backend = spec->backend,
                                    .options = spec->options,
                                    .threads = mode->threads,
                                    .lockless = mode->lockless,
                                    .listen_queue = check->listen_queue}};
    begin_pass(&pass);
    each_rule(check->options->rules, check_rule, &pass);
    check->all.passed += pass.tally.passed;
    check->all.failed += pass.tally.failed;
    check->all.skipped += pass.tally.skipped;
    if (!check->runs) {
        printf("%s, %s: %u passed, %u failed, %u skipped\n", spec->text, mode->name,
               pass.tally.passed, pass.tally.failed, pass.tally.skipped);
    }
}

/* Each setting that a person can flip, flipped: calls each for its spec. */
static void each_setting(struct check *check, const struct lm_spec *spec,
                         const struct check_mode *mode,
                         void (*each)(struct check *check, const struct lm_spec *spec,
                                      const struct check_mode *mode, bool without_crowds))
{
    const struct lm_option *option = spec->backend->options;
    for (size_t i = 0; option && option[i].key; i++) {
        if (!option[i].choices && option[i].maximum != 1) {
            continue;
        }
        for (uint64_t value = option[i].minimum; value <= option[i].maximum; value++) {
            struct lm_spec turned = *spec;
            turned.options[i] = value;
            if (value != spec->options[i] && lm_spec_write(&turned)) {
                each(check, &turned, mode, mode->threads > 1);
            }
        }
    }
}

/* --- all of it
 * ------------------------------------------------------------------------------------ */

static void plan_pass(struct check *check, const struct lm_spec *spec,
                      const struct check_mode *mode, bool without_crowds)
{
    (void)spec, (void)mode, (void)without_crowds;
    check->planned += each_rule(check->options->rules, count_rule, NULL);
}

static void each_pass(struct check *check, const struct lm_candidates *candidates,
                      void (*each)(struct check *check, const struct lm_spec *spec,
                                   const struct check_mode *mode, bool without_crowds))
{
    const struct check_options *options = check->options;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct lm_spec *spec = &candidates->items[i].spec;
        for (size_t j = 0; j < options->mode_count && spec->backend; j++) {
            if (options->settings) {
                each_setting(check, spec, &options->modes[j], each);
            } else {
                each(check, spec, &options->modes[j], false);
            }
        }
    }
}

static void tell_missing(struct check *check, const struct lm_candidates *candidates)
{
    static const struct check_mode any = {.name = "any"};
    for (size_t i = 0; i < candidates->count; i++) {
        if (!candidates->items[i].spec.backend) {
            skip_pass(check, &candidates->items[i].spec, &any, candidates->items[i].unavailable);
        }
    }
}

static bool print_json(json_t *document)
{
    bool printed = document && json_dumpf(document, stdout, JSON_INDENT(2)) == 0;
    putchar('\n');
    json_decref(document);
    return printed;
}

/* The last lines, and the exit code. */
static int conclude(struct check *check)
{
    bool nothing = !check->all.passed && !check->all.failed && !check->broken_off;
    if (check->runs) {
        json_t *document = json_pack("{s:i, s:b, s:i, s:i, s:i, s:O}", "loopmark_check",
                                     CHECK_SCHEMA, "complete", !check->broken_off, "passed",
                                     (int)check->all.passed, "failed", (int)check->all.failed,
                                     "skipped", (int)check->all.skipped, "runs", check->runs);
        if (!print_json(document)) {
            fputs("loopmark check: the JSON document could not be printed\n", stderr);
            return LM_EXIT_USAGE;
        }
    } else {
        printf("in all: %u passed, %u failed, %u skipped%s\n", check->all.passed, check->all.failed,
               check->all.skipped, check->broken_off ? "; it was not finished" : "");
    }
    if (nothing) {
        fputs("loopmark check: nothing could be checked: the reasons stand above; see: loopmark "
              "list --backends\n",
              stderr);
        return LM_EXIT_USAGE;
    }
    if (check->all.failed) {
        return LM_EXIT_GATE;
    }
    return check->broken_off ? LM_EXIT_FAILED : LM_EXIT_OK;
}

static bool open_directory(struct check *check)
{
    const char *parent = getenv("TMPDIR");
    /* Names of AF_UNIX sockets are short: about 100 bytes. */
    if (parent && strlen(parent) > 60) {
        fputs("loopmark check: TMPDIR is too long for names of AF_UNIX sockets: /tmp is used\n",
              stderr);
        parent = NULL;
    }
    if (!parent) {
        parent = "/tmp";
    }
    snprintf(check->directory, sizeof(check->directory), "%s/loopmark-check-XXXXXX", parent);
    if (!mkdtemp(check->directory)) {
        fprintf(stderr,
                "loopmark check: no directory for AF_UNIX sockets: %s: %s; set TMPDIR to one that "
                "can be written\n",
                check->directory, strerror(errno));
        return false;
    }
    return true;
}

/* What no rule can do without; its lack would look like a fault of every backend. */
static bool has_loopback(void)
{
    int ends[2];
    int error = lm_connected_pair(false, ends);
    if (error) {
        fprintf(stderr, "loopmark check: no TCP connection over 127.0.0.1 can be made: %s; %s\n",
                strerror(-error),
                error == -ENETUNREACH || error == -EADDRNOTAVAIL
                    ? "bring the loopback interface up: ip link set lo up"
                    : lm_process_remedy(error));
        return false;
    }
    close(ends[0]);
    close(ends[1]);
    return true;
}

static int check_all(const struct check_options *options, const struct lm_candidates *candidates)
{
    struct check check = {.options = options,
                          .runs = options->json ? json_array() : NULL,
                          .terminal = isatty(STDERR_FILENO) == 1,
                          .begin_ns = lm_clock_ns()};
    int error = lm_process_catch_signals();
    if (error) {
        fprintf(stderr, "loopmark check: signals can not be caught: %s; %s\n", strerror(-error),
                lm_process_remedy(error));
        return LM_EXIT_USAGE;
    }
    if (!has_loopback() || !open_directory(&check)) {
        json_decref(check.runs);
        return LM_EXIT_USAGE;
    }
    struct lm_headroom headroom;
    lm_headroom_read(&headroom);
    check.listen_queue = headroom.backlog;
    each_pass(&check, candidates, plan_pass);
    tell_missing(&check, candidates);
    each_pass(&check, candidates, check_pass);
    clear_progress(&check);
    check_directory_clean(check.directory);
    rmdir(check.directory);
    int code = conclude(&check);
    json_decref(check.runs);
    return code;
}

static int list_rules(const struct check_options *options)
{
    if (!options->json) {
        each_rule(options->rules, print_rule, NULL);
        return LM_EXIT_OK;
    }
    json_t *rules = json_array();
    each_rule(options->rules, list_rule_as_json, rules);
    return print_json(json_pack("{s:i, s:o}", "loopmark_check", CHECK_SCHEMA, "rules", rules))
               ? LM_EXIT_OK
               : LM_EXIT_USAGE;
}

int lm_check_command(int argc, char **argv)
{
    struct check_options options;
    struct lm_candidates candidates = {.items = NULL};
    int code = LM_EXIT_USAGE;
    if (!parse_options(argc, argv, &options)) {
        goto out;
    }
    if (options.help) {
        print_help();
        code = LM_EXIT_OK;
    } else if (!each_rule(options.rules, count_rule, NULL)) {
        fprintf(stderr,
                "loopmark check: --rule: no rule matches '%s'; see: loopmark check --list\n",
                options.rules);
    } else if (lm_candidates_read(options.backends, "--backend", &candidates) == 0) {
        code = options.list ? list_rules(&options) : check_all(&options, &candidates);
    }
out:
    lm_candidates_free(&candidates);
    free(options.backends);
    return code;
}
