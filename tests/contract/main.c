/* main.c - the contract tests as a program: contract SPEC MODE [PATTERN].
 *
 * MODE is normal, lockless, shared2 or shared4 (a loop of so many threads), or one of:
 *   settings  lockless once more for each switch turned and for each other word of a choice
 *   settings2 shared2, the same
 *   counters  a fixed piece of work between two marks in the system call trace, then what the
 *             backend counted (workload.c)
 * PATTERN is a shell pattern for names as they are printed. Exit status: 0, 1 for a failure, 77
 * when the backend can not run here (the reason is printed), 2 for wrong arguments.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/registry.h"
#include "tests/contract/contract.h"
#include "tests/contract/workload.h"

enum {
    EXIT_SKIP = 77,
    LIMIT_S = 20
};

struct tally {
    int passed, failed, skipped;
};

static void run_one(const struct contract_subject *subject, const char *table,
                    const struct contract_test *test, bool local, const char *pattern,
                    struct tally *tally)
{
    static const char *const words[] = {"ok  ", "FAIL", "skip"};
    struct contract_outcome outcome = {.verdict = CONTRACT_SKIPPED};
    char name[160];
    snprintf(name, sizeof name, "%s: %s%s", table, test->name, local ? " (AF_UNIX)" : "");
    if (fnmatch(pattern, name, 0)) {
        return;
    }
    const char *reason = contract_skip_reason(subject, test, local);
    if (reason) {
        tally->skipped++;
        return; /* what a mode does not promise is no news */
    }
    contract_run(subject, test, local, &outcome);
    printf("%s  rule %u  %s%s%s\n", words[outcome.verdict], test->rule, name,
           outcome.seen[0] ? ": " : "", outcome.seen);
    int *counts[] = {&tally->passed, &tally->failed, &tally->skipped};
    ++*counts[outcome.verdict];
}

static void run_all(const struct contract_subject *subject, const char *pattern, bool crowds,
                    struct tally *tally)
{
    for (const struct contract_table *table = contract_tables; table->subject; table++) {
        if (!crowds && !strcmp(table->subject, "crowds")) {
            continue;
        }
        for (const struct contract_test *test = table->tests; test->name; test++) {
            run_one(subject, table->subject, test, false, pattern, tally);
            if (test->needs & ALSO_LOCAL) {
                run_one(subject, table->subject, test, true, pattern, tally);
            }
        }
    }
}

/* False with the reason printed when the backend can not run with these options. */
static bool is_available(const struct lm_spec *spec)
{
    char why[256] = "";
    if (spec->backend->available(spec->options, why, sizeof why)) {
        printf("%s can not run here: %s\n", spec->text, why);
        return false;
    }
    return true;
}

/* One changed setting, in the mode asked for. With several threads the crowds (thousands of
 * sockets, most of the time) are left out. */
static void run_setting(const struct lm_spec *turned, struct contract_subject *subject,
                        const char *pattern, struct tally *tally)
{
    const char *why;
    uint32_t capabilities = lm_capabilities(turned->backend, turned->options, &why);
    bool shared = subject->threads > 1;
    if (!is_available(turned)) {
        return;
    }
    if (shared && !(capabilities & LM_CAP_THREADS)) {
        printf("%s can not be run by several threads: %s\n", turned->text, why);
        return;
    }
    subject->lockless = !shared && capabilities & LM_CAP_LOCKLESS;
    subject->options = turned->options;
    run_all(subject, pattern, !shared, tally);
}

/* Each setting that a person can flip, flipped. */
static void run_settings(const struct lm_spec *spec, struct contract_subject *subject,
                         const char *pattern, struct tally *tally)
{
    const struct lm_option *option = spec->backend->options;
    for (size_t i = 0; option && option[i].key; i++) {
        if (!option[i].choices && option[i].maximum != 1) {
            continue;
        }
        for (uint64_t value = option[i].minimum; value <= option[i].maximum; value++) {
            struct lm_spec turned = *spec;
            turned.options[i] = value;
            if (value == spec->options[i]) {
                continue;
            }
            if (option[i].choices) {
                printf("-- %s=%s\n", option[i].key, option[i].choices[value]);
            } else {
                printf("-- %s=%llu\n", option[i].key, (unsigned long long)value);
            }
            run_setting(&turned, subject, pattern, tally);
        }
    }
}

/* Sets threads and lockless. False when the backend has no such mode, with the reason printed. */
static bool choose_mode(const char *mode, struct contract_subject *subject)
{
    const char *why;
    uint32_t capabilities = lm_capabilities(subject->backend, subject->options, &why);
    subject->threads = 1;
    if (strcmp(mode, "lockless") == 0) {
        subject->lockless = true;
        if (!(capabilities & LM_CAP_LOCKLESS)) {
            printf("%s has no lockless mode: %s\n", subject->backend->name, why);
            return false;
        }
    } else if (strpbrk(mode, "24")) {
        subject->threads = (uint32_t)atoi(strpbrk(mode, "24"));
        if (!(capabilities & LM_CAP_THREADS)) {
            printf("%s can not be run by several threads: %s\n", subject->backend->name, why);
            return false;
        }
    }
    return true;
}

static int report(const struct lm_spec *spec, const char *mode, const struct tally *tally)
{
    printf("%s %s: %d passed, %d failed, %d skipped\n", spec->text, mode, tally->passed,
           tally->failed, tally->skipped);
    if (tally->failed) {
        return EXIT_FAILURE;
    }
    return tally->passed ? EXIT_SUCCESS : EXIT_SKIP;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"normal",   "lockless",  "shared2", "shared4",
                                        "settings", "settings2", "counters"};
    enum {
        MODES = sizeof modes / sizeof modes[0]
    };
    struct lm_spec spec;
    char error[512] = "";
    char directory[] = "/tmp/loopmark-contract-XXXXXX";
    size_t mode = 0;
    while (argc > 2 && mode < MODES && strcmp(argv[2], modes[mode])) {
        mode++;
    }
    if (argc < 3 || argc > 4 || mode == MODES) {
        fprintf(stderr, "usage: contract SPEC normal|lockless|shared2|shared4|settings|settings2|"
                        "counters [PATTERN]\n");
        return 2;
    }
    int result = lm_spec_parse(argv[1], &spec, error, sizeof error);
    if (result) {
        printf("%s\n", error);
        return result == -ENOSYS ? EXIT_SKIP : 2;
    }
    struct contract_subject subject = {.backend = spec.backend,
                                       .options = spec.options,
                                       .directory = directory,
                                       .limit_s = LIMIT_S};
    const char *pattern = argc == 4 ? argv[3] : "*";
    if (!is_available(&spec) || !choose_mode(modes[mode], &subject)) {
        return EXIT_SKIP;
    }
    if (strcmp(modes[mode], "counters") == 0) {
        return run_workload(&subject);
    }
    if (!mkdtemp(directory)) {
        perror(directory);
        return EXIT_FAILURE;
    }
    struct tally tally = {0};
    if (strncmp(modes[mode], "settings", 8) == 0) {
        run_settings(&spec, &subject, pattern, &tally);
    } else {
        run_all(&subject, pattern, true, &tally);
    }
    rmdir(directory);
    return report(&spec, modes[mode], &tally);
}
