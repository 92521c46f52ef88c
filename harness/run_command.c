/* `loopmark run`: from the command line to a results file and its comparison. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/arguments.h"
#include "harness/commands.h"
#include "harness/environment.h"
#include "harness/plan.h"
#include "harness/process.h"
#include "harness/progress.h"
#include "harness/results_writer.h"
#include "harness/runner.h"

#define DEFAULT_FOLDER "results"

/* Start and end of a worker: 8 ms, seen on a 2-core virtual machine. Only for the estimate before
 * the first sample; afterwards the samples themselves tell. */
#define WORKER_OVERHEAD_S 0.01

/* What a run may be asked for. */
#define MAX_ITERATIONS 10000
#define MIN_PHASE_S    0.001
#define MAX_PHASE_S    3600.0
#define MIN_TIMEOUT_S  0.1
#define MAX_TIMEOUT_S  86400.0

struct run_options {
    struct lm_plan_request request;
    char *backends, *cases; /* owned; each --backend and each --case joined */
    bool quick, help;
    bool has_iterations, has_duration, has_warmup, has_timeout, has_seed, has_order;
    const char *not_with_resume; /* the first option given that --resume takes from the file */
    const char *out, *resume;
};

enum option_value {
    OPTION_BACKEND = 1000,
    OPTION_BASELINE,
    OPTION_CASE,
    OPTION_MICRO,
    OPTION_ITERATIONS,
    OPTION_DURATION,
    OPTION_WARMUP,
    OPTION_QUICK,
    OPTION_ORDER,
    OPTION_SEED,
    OPTION_TIMEOUT,
    OPTION_OUT,
    OPTION_RESUME,
    OPTION_LABEL,
    OPTION_CALIBRATE
};

static const struct option long_options[] = {
    {"backend", required_argument, NULL, OPTION_BACKEND},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"case", required_argument, NULL, OPTION_CASE},
    {"micro", no_argument, NULL, OPTION_MICRO},
    {"iterations", required_argument, NULL, OPTION_ITERATIONS},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"order", required_argument, NULL, OPTION_ORDER},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"out", required_argument, NULL, OPTION_OUT},
    {"resume", required_argument, NULL, OPTION_RESUME},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"calibrate", no_argument, NULL, OPTION_CALIBRATE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: loopmark run [OPTION...]\n"
         "\n"
         "Runs cases x backends x iterations, each sample in a fresh process, appends them to a\n"
         "results file and prints the comparison.\n"
         "\n"
         "  --backend SPEC,...   backends, as name[:key=value[,key=value...]] (default: all here)\n"
         "  --baseline SPEC      what the others are compared with (default: " LM_DEFAULT_BASELINE
         ")\n"
         "  --case GLOB,...      cases; * also matches a slash (default: all but micro cases)\n"
         "  --micro              micro cases too\n"
         "  --iterations N       samples per case and backend (default: 7)\n"
         "  --duration S         measured seconds per sample (default: 2)\n"
         "  --warmup S           seconds before them (default: 0.25)\n"
         "  --quick              3 iterations of 0.2 s after 0.05 s, representative cases only\n"
         "                       unless --case names others\n"
         "  --order interleaved  backends take turns within each case (default)\n"
         "  --order blocked      backend after backend: unfair when the machine drifts\n"
         "  --seed N             of the order of cases (default: drawn); it is recorded\n"
         "  --timeout S          time limit of a sample (default: 20 s more than it should take)\n"
         "  --out FILE           results file (default: " DEFAULT_FOLDER
         "/loopmark-DATE-TIME.jsonl)\n"
         "  --resume FILE        go on with an interrupted run, as it was configured\n"
         "  --label TEXT         kept with the results\n"
         "  --calibrate          the baseline once more against itself: the machine's noise\n"
         "\n"
         "  loopmark run --quick\n"
         "  loopmark run --backend epoll,io_uring:hybrid=1 --case 'socket_latency/*'\n"
         "  loopmark run --resume results/loopmark-20261130-204500.jsonl\n"
         "\n"
         "Ctrl-C ends the run after the present sample, a second one at once. Exit codes: 0 all\n"
         "samples are good; 2 nothing could be run or written; 3 samples failed, or the run was\n"
         "interrupted.");
}

static bool parse_order(const char *text, struct run_options *options)
{
    options->has_order = true;
    options->request.interleaved = strcmp(text, "interleaved") == 0;
    if (!options->request.interleaved && strcmp(text, "blocked") != 0) {
        fprintf(stderr, "loopmark run: --order takes interleaved or blocked, not '%s'\n", text);
        return false;
    }
    return true;
}

/* The options that say how much is measured. */
static bool parse_amount(int option, const char *text, struct run_options *options)
{
    uint64_t whole = 0;
    switch (option) {
    case OPTION_ITERATIONS:
        options->has_iterations = lm_parse_whole("--iterations", text, 1, MAX_ITERATIONS, &whole);
        options->request.iterations = (uint32_t)whole;
        return options->has_iterations;
    case OPTION_DURATION:
        return options->has_duration = lm_parse_seconds("--duration", text, MIN_PHASE_S,
                                                        MAX_PHASE_S, &options->request.duration_s);
    case OPTION_WARMUP:
        return options->has_warmup = lm_parse_seconds("--warmup", text, MIN_PHASE_S, MAX_PHASE_S,
                                                      &options->request.warmup_s);
    case OPTION_TIMEOUT:
        return options->has_timeout = lm_parse_seconds("--timeout", text, MIN_TIMEOUT_S,
                                                       MAX_TIMEOUT_S, &options->request.timeout_s);
    default:
        return options->has_seed =
                   lm_parse_whole("--seed", text, 0, UINT64_MAX, &options->request.seed);
    }
}

static bool parse_option(int option, const char *text, struct run_options *options)
{
    switch (option) {
    case OPTION_BACKEND:
        if (!lm_join_list(&options->backends, text)) {
            return false;
        }
        options->request.backends = options->backends;
        break;
    case OPTION_BASELINE:
        options->request.baseline = text;
        break;
    case OPTION_CASE:
        if (!lm_join_list(&options->cases, text)) {
            return false;
        }
        options->request.cases = options->cases;
        break;
    case OPTION_MICRO:
        options->request.micro = true;
        break;
    case OPTION_QUICK:
        options->quick = true;
        break;
    case OPTION_OUT:
        options->out = text;
        break;
    case OPTION_LABEL:
        options->request.label = text;
        break;
    case OPTION_CALIBRATE:
        options->request.calibrate = true;
        break;
    case OPTION_RESUME:
        options->resume = text;
        return true;
    case OPTION_ORDER:
        return parse_order(text, options);
    case 'h':
        options->help = true;
        return true;
    default:
        return parse_amount(option, text, options);
    }
    for (const struct option *each = long_options; each->name != NULL; each++) {
        if (each->val == option && options->not_with_resume == NULL) {
            options->not_with_resume = each->name;
        }
    }
    return true;
}

/* What was not given takes its default; --quick has other defaults. */
static void set_defaults(struct run_options *options)
{
    struct lm_plan_request *request = &options->request;
    if (!options->has_iterations) {
        request->iterations = options->quick ? 3 : 7;
    }
    if (!options->has_duration) {
        request->duration_s = options->quick ? 0.2 : 2.0;
    }
    if (!options->has_warmup) {
        request->warmup_s = options->quick ? 0.05 : 0.25;
    }
    if (!options->has_seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        /* Short enough to be typed again. */
        request->seed =
            ((uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u) % 1000000000u;
    }
    request->representative = options->quick;
}

/* A time limit that no sample can keep makes a run of failures. */
static bool check_timeout(const struct run_options *options)
{
    const struct lm_plan_request *request = &options->request;
    double needed_s = request->warmup_s + request->duration_s;
    if (options->resume != NULL || !options->has_timeout || request->timeout_s > needed_s) {
        return true;
    }
    fprintf(stderr,
            "loopmark run: --timeout %g is over before a sample's warm-up and duration of %g s "
            "together are; give it more, or leave it out\n",
            request->timeout_s, needed_s);
    return false;
}

static bool parse_options(int argc, char **argv, struct run_options *options)
{
    *options = (struct run_options){.request = {.interleaved = true}};
    for (;;) {
        int option = lm_next_option(argc, argv, long_options, "run");
        if (option == -1) {
            break;
        }
        if (option == '?' || !parse_option(option, optarg, options)) {
            return false;
        }
    }
    set_defaults(options);
    return lm_no_more_words(argc, argv, "run") && check_timeout(options);
}

static bool refuse_contradiction(const char *option, double recorded, double asked)
{
    fprintf(stderr,
            "loopmark run: --%s %g contradicts %g, with which this run was begun; leave it out, or "
            "begin a new run\n",
            option, asked, recorded);
    return false;
}

/* The configuration of a resumed run is the recorded one. An option that repeats it is harmless. */
static bool check_resume_options(const struct run_options *options, const struct lm_run *run)
{
    const struct lm_plan_request *request = &options->request;
    if (options->has_iterations && request->iterations != run->iterations) {
        return refuse_contradiction("iterations", run->iterations, request->iterations);
    }
    if (options->has_duration && request->duration_s != run->duration_s) {
        return refuse_contradiction("duration", run->duration_s, request->duration_s);
    }
    if (options->has_warmup && request->warmup_s != run->warmup_s) {
        return refuse_contradiction("warmup", run->warmup_s, request->warmup_s);
    }
    if (options->has_timeout && request->timeout_s != run->timeout_s) {
        return refuse_contradiction("timeout", run->timeout_s, request->timeout_s);
    }
    if (options->has_seed && request->seed != run->seed) {
        return refuse_contradiction("seed", (double)run->seed, (double)request->seed);
    }
    if (options->has_order && request->interleaved != run->interleaved) {
        fputs("loopmark run: --order contradicts the order with which this run was begun; leave it "
              "out, or begin a new run\n",
              stderr);
        return false;
    }
    return true;
}

/* A file that was edited must not ask for what no command line may. */
static bool check_resumed_amounts(const char *path, const struct lm_run *run)
{
    const struct {
        const char *name;
        double value, minimum, maximum;
    } amounts[] = {{"iterations", run->iterations, 1, MAX_ITERATIONS},
                   {"duration_s", run->duration_s, MIN_PHASE_S, MAX_PHASE_S},
                   {"warmup_s", run->warmup_s, MIN_PHASE_S, MAX_PHASE_S},
                   {"timeout_s", run->timeout_s, MIN_TIMEOUT_S, MAX_TIMEOUT_S}};
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
        if (amounts[i].value < amounts[i].minimum || amounts[i].value > amounts[i].maximum) {
            fprintf(stderr,
                    "loopmark run: %s: %s is %g, not from %g to %g; the file was changed: begin a "
                    "new run\n",
                    path, amounts[i].name, amounts[i].value, amounts[i].minimum,
                    amounts[i].maximum);
            return false;
        }
    }
    return true;
}

static void print_warning(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "warning: %s\n", line);
}

/* Tells of cases a backend does not run, once per reason. */
static void print_skips(const struct lm_plan *plan, size_t backend)
{
    const char *told = NULL;
    size_t count = 0;
    for (size_t c = 0; c < plan->run->case_count; c++) {
        const char *reason = lm_plan_skip_reason(plan, c, backend);
        count += reason != NULL;
        told = reason != NULL ? reason : told;
    }
    if (count > 0) {
        fprintf(stderr, "    skipped: %zu of %zu cases: %s\n", count, plan->run->case_count, told);
    }
}

static void print_settings(const struct lm_plan *plan, size_t left)
{
    const struct lm_run *run = plan->run;
    char time_text[32];
    double each_s = run->warmup_s + run->duration_s + WORKER_OVERHEAD_S;
    lm_format_duration(each_s * (double)left, time_text, sizeof(time_text));
    fprintf(stderr,
            "samples to take: %zu, about %s (cases: %zu, backends: %zu, iterations: %u)\n"
            "each: %g s warm-up, %g s measured, time limit %g s\n"
            "order: %s, seed %llu\n",
            left, time_text, run->case_count, run->backend_count, (unsigned)run->iterations,
            run->warmup_s, run->duration_s, run->timeout_s,
            run->interleaved ? "interleaved" : "blocked (unfair when the machine drifts)",
            (unsigned long long)run->seed);
    for (size_t i = 0; i < run->backend_count; i++) {
        const struct lm_run_backend *backend = &run->backends[i];
        const char *role = backend->aa                ? " (baseline again: --calibrate)"
                           : i != run->baseline_index ? ""
                           : plan->baseline_added     ? " (baseline, added)"
                                                      : " (baseline)";
        fprintf(stderr, "  %s%s: %s%s%s\n", backend->spec, role, backend->title,
                backend->settings[0] != '\0' ? "; " : "", backend->settings);
        if (backend->unavailable != NULL) {
            fprintf(stderr, "    can not run here: %s\n", backend->unavailable);
        } else {
            print_skips(plan, i);
        }
    }
    lm_environment_warnings(run->environment, print_warning, NULL);
}

/* Reads the finished file as any reader would and prints its comparison. */
static int print_results(const char *path, lm_print_comparison_fn *print_comparison)
{
    char error[512];
    struct lm_results results;
    if (lm_results_read(path, &results, error, sizeof(error)) != 0) {
        fprintf(stderr, "loopmark run: %s\n", error);
        return LM_EXIT_USAGE;
    }
    int result = print_comparison(&results);
    lm_results_free(&results);
    if (result != 0) {
        fprintf(stderr,
                "loopmark run: the comparison can not be printed: %s; the results are kept, see: "
                "loopmark compare %s\n",
                strerror(-result), path);
        return LM_EXIT_USAGE;
    }
    printf("results: %s\n", path);
    return LM_EXIT_OK;
}

/* Takes the samples and closes the file. Returns the exit code. */
static int run_plan(const struct lm_plan *plan, const struct lm_results *earlier,
                    struct lm_results_writer *writer, const char *path,
                    lm_print_comparison_fn *print_comparison)
{
    char error[512];
    struct lm_run_outcome outcome;
    int result = lm_runner_run(plan, earlier->samples, earlier->sample_count, writer, &outcome,
                               error, sizeof(error));
    bool complete = result == 0 && !outcome.interrupted;
    if (complete) {
        result = lm_results_writer_end(writer, error, sizeof(error));
    }
    if (result != 0) {
        fprintf(stderr, "loopmark run: %s\n", error);
    }
    if (lm_results_writer_close(writer, error, sizeof(error)) != 0 && result == 0) {
        result = -EIO;
        fprintf(stderr, "loopmark run: %s\n", error);
    }
    if (result != 0) {
        return LM_EXIT_USAGE;
    }
    if (!complete) {
        fprintf(stderr,
                "interrupted: %zu of %zu samples are in %s; go on with: loopmark run --resume %s\n",
                outcome.present, outcome.planned, path, path);
        return LM_EXIT_FAILED;
    }
    int code = print_results(path, print_comparison);
    if (code == LM_EXIT_OK && outcome.failed > 0) {
        fprintf(stderr, "%zu of %zu samples failed; %s holds the reason of each\n", outcome.failed,
                outcome.planned, path);
        code = LM_EXIT_FAILED;
    }
    return code;
}

/* The file of a run that names none: a new one in a folder of its own. */
static bool default_path(char *path, size_t path_bytes)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &utc);
    snprintf(path, path_bytes, DEFAULT_FOLDER "/loopmark-%s.jsonl", stamp);
    if (mkdir(DEFAULT_FOLDER, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr,
                "loopmark run: the folder " DEFAULT_FOLDER
                " can not be made here: %s; name a results file with --out\n",
                strerror(errno));
        return false;
    }
    return true;
}

static int begin_run(const struct run_options *options, lm_print_comparison_fn *print_comparison)
{
    char path[64], error[512];
    struct lm_plan plan;
    struct lm_results_writer *writer = NULL;
    const struct lm_results nothing = {.samples = NULL};
    const char *out = options->out != NULL ? options->out : path;
    int code = LM_EXIT_USAGE;
    if (lm_plan_new(&options->request, &plan) != 0 ||
        (options->out == NULL && !default_path(path, sizeof(path)))) {
        goto out;
    }
    if (lm_results_writer_create(out, plan.run, &writer, error, sizeof(error)) != 0) {
        fprintf(stderr, "loopmark run: %s\n", error);
        goto out;
    }
    print_settings(&plan, lm_runner_left(&plan, NULL, 0));
    fprintf(stderr, "results go to %s\n", out);
    code = run_plan(&plan, &nothing, writer, out, print_comparison);
out:
    lm_plan_free(&plan);
    return code;
}

static int resume_run(const struct run_options *options, lm_print_comparison_fn *print_comparison)
{
    char error[512];
    struct lm_results results;
    struct lm_results_writer *writer = NULL;
    struct lm_plan plan = {.run = NULL};
    if (options->not_with_resume != NULL) {
        fprintf(
            stderr,
            "loopmark run: --resume goes on as the file says, so leave --%s out, or begin a new "
            "run\n",
            options->not_with_resume);
        return LM_EXIT_USAGE;
    }
    json_t *environment = lm_environment_capture();
    int result = lm_results_writer_resume(options->resume, environment, &results, &writer, error,
                                          sizeof(error));
    json_decref(environment);
    if (result != 0) {
        fprintf(stderr, "loopmark run: %s\n", error);
        return LM_EXIT_USAGE;
    }
    int code = LM_EXIT_USAGE;
    if (check_resumed_amounts(options->resume, &results.run) &&
        check_resume_options(options, &results.run) && lm_plan_resume(&results, &plan) == 0) {
        if (results.torn) {
            fprintf(stderr, "%s: the last line was cut short; its sample is taken again\n",
                    options->resume);
        }
        print_settings(&plan, lm_runner_left(&plan, results.samples, results.sample_count));
        fprintf(stderr, "going on with %s\n", options->resume);
        code = run_plan(&plan, &results, writer, options->resume, print_comparison);
    } else {
        lm_results_writer_close(writer, error, sizeof(error));
    }
    lm_plan_free(&plan);
    lm_results_free(&results);
    return code;
}

static int run(const struct run_options *options, lm_print_comparison_fn *print_comparison)
{
    if (options->help) {
        print_help();
        return LM_EXIT_OK;
    }
    int error = lm_process_catch_signals();
    if (error != 0) {
        fprintf(stderr, "loopmark run: signals can not be caught: %s; %s\n", strerror(-error),
                lm_process_remedy(error));
        return LM_EXIT_USAGE;
    }
    return options->resume != NULL ? resume_run(options, print_comparison)
                                   : begin_run(options, print_comparison);
}

int lm_run_command(int argc, char **argv, lm_print_comparison_fn *print_comparison)
{
    struct run_options options;
    int code = LM_EXIT_USAGE;
    if (parse_options(argc, argv, &options)) {
        code = run(&options, print_comparison);
    }
    free(options.backends);
    free(options.cases);
    return code;
}
