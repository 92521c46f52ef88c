#include "harness/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/arguments.h"
#include "harness/commands.h"
#include "harness/process.h"
#include "harness/results_json.h"
#include "harness/text.h"
#include "harness/write_all.h"

/* Most lines of a worker's last words that are kept in a reason. */
#define LAST_LINES 3

/* A run record small enough to describe just this one exchange. It only gives the sample's names
 * their meaning; both sides make it from the same request. */
struct exchange {
    struct lm_run run;
    struct lm_run_case which;
    struct lm_run_backend backend;
};

static void make_exchange(const struct lm_worker_request *request, struct exchange *exchange)
{
    *exchange = (struct exchange){
        .run = {.schema = LM_RESULTS_SCHEMA, .id = (char *)(uintptr_t) "worker", .iterations = 1},
        .which = {.name = (char *)(uintptr_t)request->case_name},
        .backend = {.spec = (char *)(uintptr_t)request->spec},
    };
    exchange->run.cases = &exchange->which;
    exchange->run.backends = &exchange->backend;
    exchange->run.case_count = exchange->run.backend_count = 1;
}

static int fail(struct lm_sample *sample, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(struct lm_sample *sample, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    lm_sample_clear(sample);
    *sample = (struct lm_sample){.status = LM_SAMPLE_FAILED, .reason = strdup(text)};
    return sample->reason != NULL ? 0 : -ENOMEM;
}

/* The last lines the worker printed, as a clause; "" when it printed nothing. */
static const char *last_words(const struct lm_process_outcome *outcome, char *text,
                              size_t text_bytes)
{
    char clean[700];
    const char *end = outcome->output + strlen(outcome->output);
    while (end > outcome->output && (end[-1] == '\n' || end[-1] == ' ')) {
        end--;
    }
    const char *begin = end;
    for (int lines = 0; begin > outcome->output; begin--) {
        if (begin[-1] == '\n' && ++lines == LAST_LINES) {
            break;
        }
    }
    if (end - begin >= (ptrdiff_t)sizeof(clean)) {
        begin = end - sizeof(clean) + 1;
    }
    if (lm_text_clean(clean, sizeof(clean), begin, (size_t)(end - begin)) == 0) {
        return "";
    }
    snprintf(text, text_bytes, "; it said: %s", clean);
    return text;
}

static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGABRT, "SIGABRT"}, {SIGILL, "SIGILL"},
        {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"},
        {SIGSYS, "SIGSYS"},   {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
        {SIGALRM, "SIGALRM"}, {SIGPIPE, "SIGPIPE"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "a signal";
}

/* How to see the failure again without the runner around it. */
static const char *repeat(const struct lm_worker_request *request, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes,
             "repeat it alone: loopmark bench --backend %s --benchmark_filter=^%s/", request->spec,
             request->case_name);
    return text;
}

/* Reads the worker's answer into *sample. 0, or a negative errno with a problem. */
static int read_answer(const struct lm_worker_request *request,
                       const struct lm_process_outcome *outcome, struct lm_sample *sample,
                       struct lm_problem *problem)
{
    struct exchange exchange;
    json_error_t error;
    make_exchange(request, &exchange);
    json_t *record =
        json_loadb(outcome->result, outcome->result_bytes, JSON_REJECT_DUPLICATES, &error);
    if (record == NULL) {
        return lm_problem(problem, "not JSON: %s", error.text);
    }
    int result = lm_sample_from_json(&exchange.run, record, sample, problem);
    json_decref(record);
    if (result == -ENOMEM) {
        lm_problem(problem, "too large for the memory left");
    }
    return result;
}

int lm_worker_exit_code(enum lm_sample_status status)
{
    static const enum lm_exit codes[] = {[LM_SAMPLE_OK] = LM_EXIT_OK,
                                         [LM_SAMPLE_FAILED] = LM_EXIT_FAILED,
                                         [LM_SAMPLE_SKIPPED] = LM_EXIT_USAGE};
    return codes[status];
}

/* A worker that came to its own end: is its answer there, and does its exit code agree? */
static int judge_exit(const struct lm_worker_request *request,
                      const struct lm_process_outcome *outcome, struct lm_sample *sample)
{
    char words[800], again[400];
    struct lm_problem problem;
    bool ended_well = outcome->code == LM_EXIT_OK || outcome->code == LM_EXIT_FAILED ||
                      outcome->code == LM_EXIT_USAGE;
    if (ended_well && outcome->result_bytes > 0) {
        if (read_answer(request, outcome, sample, &problem) != 0) {
            return fail(sample, "the worker's answer is no sample (%s)%s; %s", problem.text,
                        last_words(outcome, words, sizeof(words)),
                        repeat(request, again, sizeof(again)));
        }
        if (outcome->code == lm_worker_exit_code(sample->status)) {
            return 0;
        }
    }
    return fail(sample, "the worker ended with exit code %d and %s%s; %s", outcome->code,
                outcome->result_bytes > 0 ? "a sample that does not match it" : "without a sample",
                last_words(outcome, words, sizeof(words)), repeat(request, again, sizeof(again)));
}

static int judge(const struct lm_worker_request *request, const struct lm_process_outcome *outcome,
                 double timeout_s, struct lm_sample *sample)
{
    char words[800], again[400];
    switch (outcome->end) {
    case LM_PROCESS_EXITED:
        return judge_exit(request, outcome, sample);
    case LM_PROCESS_SIGNALLED:
        return fail(sample, "the worker died of %s (signal %d) after %.1f s%s; %s",
                    signal_name(outcome->code), outcome->code, outcome->seconds,
                    last_words(outcome, words, sizeof(words)),
                    outcome->code == SIGKILL
                        ? "see whether the system ran out of memory: dmesg | tail"
                        : repeat(request, again, sizeof(again)));
    case LM_PROCESS_TIMED_OUT:
        return fail(sample,
                    "the worker did not end within the time limit of %g s and was killed%s; a lost "
                    "completion blocks for ever, a slow machine needs a larger --timeout",
                    timeout_s, last_words(outcome, words, sizeof(words)));
    case LM_PROCESS_INTERRUPTED:
        break;
    }
    return -EINTR;
}

int lm_worker_run(const struct lm_worker_request *request, double timeout_s,
                  struct lm_sample *sample)
{
    char warmup[24], duration[24], parent[24];
    struct lm_process_outcome outcome;
    *sample = (struct lm_sample){.status = LM_SAMPLE_FAILED};
    snprintf(warmup, sizeof(warmup), "%" PRIu64, request->warmup_ns);
    snprintf(duration, sizeof(duration), "%" PRIu64, request->duration_ns);
    snprintf(parent, sizeof(parent), "%" PRId64, (int64_t)getpid());
    const char *const arguments[] = {
        "loopmark", "worker", request->case_name, request->spec, warmup, duration, parent, NULL};
    int error = lm_process_run((char *const *)(uintptr_t)arguments, timeout_s, &outcome);
    if (error != 0) {
        return error;
    }
    error = judge(request, &outcome, timeout_s, sample);
    lm_process_outcome_free(&outcome);
    return error;
}

int lm_worker_begin(int argc, char **argv, struct lm_worker_request *request)
{
    uint64_t parent = 0;
    if (argc != 6) {
        fputs("loopmark worker is for loopmark run alone; see: loopmark run --help\n", stderr);
        return -EINVAL;
    }
    *request = (struct lm_worker_request){.case_name = argv[1], .spec = argv[2]};
    if (!lm_parse_whole("warm-up", argv[3], 1, UINT64_MAX, &request->warmup_ns) ||
        !lm_parse_whole("duration", argv[4], 1, UINT64_MAX, &request->duration_ns) ||
        !lm_parse_whole("parent", argv[5], 1, INT32_MAX, &parent)) {
        return -EINVAL;
    }
    int error = lm_process_die_with_parent((int64_t)parent);
    if (error != 0) {
        fprintf(stderr, "loopmark worker: its runner is gone: %s\n", strerror(-error));
    }
    return error;
}

int lm_worker_answer(const struct lm_worker_request *request, const struct lm_sample *sample)
{
    struct exchange exchange;
    make_exchange(request, &exchange);
    json_t *record = lm_sample_to_json(&exchange.run, sample);
    char *text = record != NULL ? json_dumps(record, JSON_COMPACT) : NULL;
    int error = text != NULL ? lm_write_all(LM_PROCESS_RESULT_FD, text, strlen(text)) : -ENOMEM;
    free(text);
    json_decref(record);
    return error;
}
