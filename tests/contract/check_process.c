/* check_process.c - both sides of one rule's process. It is told what to run by names and numbers
 * alone. Its own alarm tells what it was waiting for when it hangs; the time limit here is for one
 * that can not even do that.
 */
#include "tests/contract/check_process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/registry.h"
#include "harness/arguments.h"
#include "harness/commands.h"
#include "harness/process.h"
#include "harness/text.h"
#include "tests/contract/check.h"

/* Seconds a process gets beyond its own alarm. */
#define GRACE_S 5.0

bool check_mode_parse(const char *word, size_t bytes, struct check_mode *mode)
{
    *mode = (struct check_mode){.threads = 1};
    if (bytes >= sizeof(mode->name)) {
        return false;
    }
    memcpy(mode->name, word, bytes);
    if (!strcmp(mode->name, "normal")) {
        return true;
    }
    if (!strcmp(mode->name, "lockless")) {
        mode->lockless = true;
        return true;
    }
    char *end = mode->name;
    if (!strncmp(mode->name, "shared", 6) && mode->name[6] >= '1' && mode->name[6] <= '9') {
        mode->threads = (uint32_t)strtoul(mode->name + 6, &end, 10);
    }
    return end != mode->name && *end == '\0' && mode->threads >= 2 &&
           mode->threads <= LM_MAX_THREADS;
}

static void see(struct contract_outcome *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void see(struct contract_outcome *outcome, const char *format, ...)
{
    va_list arguments;
    outcome->verdict = CONTRACT_FAILED;
    va_start(arguments, format);
    vsnprintf(outcome->seen, sizeof(outcome->seen), format, arguments);
    va_end(arguments);
}

/* What the process's end says, beyond what it reported. */
static void judge(const struct lm_process_outcome *process, struct contract_outcome *outcome)
{
    char words[300] = "", said[320] = "";
    bool reported = process->result_bytes == sizeof(*outcome);
    if (reported) {
        memcpy(outcome, process->result, sizeof(*outcome));
        outcome->seen[sizeof(outcome->seen) - 1] = '\0';
        reported = outcome->verdict <= CONTRACT_SKIPPED;
    }
    bool ended_well = process->end == LM_PROCESS_EXITED && process->code == 0;
    if (reported && outcome->verdict == CONTRACT_FAILED) {
        return;
    }
    if (lm_text_clean(words, sizeof(words), process->output, strlen(process->output))) {
        snprintf(said, sizeof(said), "; it said: %s", words);
    }
    if (reported && ended_well && !said[0]) {
        return;
    }
    if (reported && ended_well) { /* rule 9; the tests themselves print nothing */
        see(outcome, "the backend printed: %s", words);
        return;
    }
    switch (process->end) {
    case LM_PROCESS_EXITED:
        see(outcome, "the process ended with exit code %d%s%s", process->code,
            reported ? " after the test had passed" : "", said);
        break;
    case LM_PROCESS_SIGNALLED:
        see(outcome, "the process died of signal %d (%s)%s", process->code,
            strsignal(process->code), said);
        break;
    case LM_PROCESS_TIMED_OUT:
        see(outcome, "the process did not end in time and was killed%s", said);
        break;
    case LM_PROCESS_INTERRUPTED:
        see(outcome, "interrupted");
    }
}

void check_directory_clean(const char *directory)
{
    for (unsigned i = 0; i < CONTRACT_NAMES; i++) {
        char path[300];
        snprintf(path, sizeof(path), "%s/s%u", directory, i);
        unlink(path);
    }
}

int check_rule_run(const struct check_rule *rule, const char *spec, const struct check_mode *mode,
                   const char *directory, uint64_t timeout_s, struct contract_outcome *outcome)
{
    char numbers[5][24];
    const uint64_t values[5] = {rule->table, rule->test, rule->local, timeout_s,
                                (uint64_t)getpid()};
    for (int i = 0; i < 5; i++) {
        snprintf(numbers[i], sizeof(numbers[i]), "%llu", (unsigned long long)values[i]);
    }
    const char *const arguments[] = {"loopmark", "check-rule", spec,       mode->name,
                                     directory,  numbers[0],   numbers[1], numbers[2],
                                     numbers[3], numbers[4],   NULL};
    struct lm_process_outcome process;
    int error =
        lm_process_run((char *const *)(uintptr_t)arguments, (double)timeout_s + GRACE_S, &process);
    if (error) {
        return error;
    }
    judge(&process, outcome);
    lm_process_outcome_free(&process);
    check_directory_clean(directory);
    return 0;
}

int lm_check_rule_command(int argc, char **argv)
{
    uint64_t values[5] = {0};
    char error[512];
    struct lm_spec spec;
    struct check_mode mode;
    if (argc != 9) {
        fputs("loopmark check-rule is for loopmark check alone; see: loopmark check --help\n",
              stderr);
        return LM_EXIT_USAGE;
    }
    for (int i = 0; i < 5; i++) {
        if (!lm_parse_whole("check-rule", argv[4 + i], 0, INT32_MAX, &values[i])) {
            return LM_EXIT_USAGE;
        }
    }
    if (lm_process_die_with_parent((int64_t)values[4])) {
        return LM_EXIT_USAGE;
    }
    if (lm_spec_parse(argv[1], &spec, error, sizeof(error)) ||
        !check_mode_parse(argv[2], strlen(argv[2]), &mode)) {
        return LM_EXIT_USAGE;
    }
    struct contract_subject subject = {.backend = spec.backend,
                                       .options = spec.options,
                                       .threads = mode.threads,
                                       .lockless = mode.lockless,
                                       .directory = argv[3],
                                       .limit_s = (unsigned)values[3]};
    contract_run(&subject, &contract_tables[values[0]].tests[values[1]], values[2] != 0,
                 LM_PROCESS_RESULT_FD);
}
