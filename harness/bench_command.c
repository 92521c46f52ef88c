/* `loopmark bench`: every case on every backend as a benchmark of Google Benchmark. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/arguments.h"
#include "harness/bench.h"
#include "harness/commands.h"
#include "harness/gbench_shim.h"
#include "harness/selection.h"

#define DEFAULT_DURATION_S 0.5 /* Google Benchmark's own */
#define DEFAULT_WARMUP_S   0.05

struct bench_options {
    char *backends; /* owned; each --backend joined; NULL when not given */
    double duration_s, warmup_s;
    bool help;
};

static void print_help(void)
{
    puts("usage: loopmark bench [--backend SPEC,...] [--benchmark_...]\n"
         "\n"
         "Runs cases in this process, under Google Benchmark. Each case on each backend is a\n"
         "benchmark CASE/SPEC; time is the mean per operation, CPU that of the whole process.\n"
         "A hang is not caught and a crash ends everything here: loopmark run isolates each "
         "sample.\n"
         "\n"
         "  --backend SPEC,...                backends (default: all that can run here)\n"
         "  --benchmark_min_time=SECONDS      measured phase of each run (default 0.5; 0.5s also)\n"
         "  --benchmark_min_warmup_time=SECONDS\n"
         "                                    warm-up before it (default 0.05)\n"
         "\n"
         "  loopmark bench --benchmark_filter='socket_latency/pingpong/64/epoll'\n"
         "  loopmark bench --backend epoll,reactor --benchmark_format=json\n"
         "  loopmark bench --benchmark_filter='^recorder' (what measuring costs)\n"
         "\n"
         "Google Benchmark's flags:\n");
    fflush(stdout);
    lm_gbench_print_flags();
}

/* The value of --name=value or --name value; NULL when argv[*at] is another option. */
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    size_t length = strlen(name);
    const char *word = argv[*at];
    if (strncmp(word, name, length) != 0) {
        return NULL;
    }
    if (word[length] == '=') {
        return word + length + 1;
    }
    if (word[length] == '\0' && *at + 1 < argc) {
        return argv[++*at];
    }
    return NULL;
}

/* Takes out the options that are ours and leaves the rest to Google Benchmark. The two times are
 * among ours: a case runs for a time, so a search for an iteration count has no place here. */
static bool parse_options(int *argc, char **argv, struct bench_options *options)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *value = NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->help = true;
        } else if ((value = value_of("--backend", *argc, argv, &i)) != NULL) {
            if (!lm_join_list(&options->backends, value)) {
                return false;
            }
        } else if (strcmp(argv[i], "--backend") == 0) {
            fputs("loopmark bench: --backend needs a value; see: loopmark bench --help\n", stderr);
            return false;
        } else if ((value = value_of("--benchmark_min_time", *argc, argv, &i)) != NULL) {
            if (!lm_parse_seconds("--benchmark_min_time", value, 0.001, 3600.0,
                                  &options->duration_s)) {
                return false;
            }
        } else if ((value = value_of("--benchmark_min_warmup_time", *argc, argv, &i)) != NULL) {
            if (!lm_parse_seconds("--benchmark_min_warmup_time", value, 0.0, 3600.0,
                                  &options->warmup_s)) {
                return false;
            }
        } else {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return true;
}

/* Hands the remaining flags to Google Benchmark and refuses what it does not know. */
static bool initialize(int argc, char **argv)
{
    static char program[] = "loopmark"; /* not "bench": the report's executable name */
    argv[0] = program;
    lm_gbench_initialize(&argc, argv);
    if (argc > 1) {
        fprintf(stderr,
                "loopmark bench: '%s' is no flag that it or Google Benchmark takes; see: loopmark "
                "bench --help\n",
                argv[1]);
    }
    return argc <= 1;
}

/* Registers each case on each backend that can run here, the backends of a case side by side.
 * Returns how many entries of `benches` it used. */
static size_t register_all(const struct bench_options *options,
                           const struct lm_candidates *candidates, struct lm_case_result *result,
                           struct lm_bench *benches)
{
    size_t used = 0;
    for (size_t i = 0; i < lm_case_count() * candidates->count; i++) {
        const struct lm_candidate *candidate = &candidates->items[i % candidates->count];
        const struct lm_case *which = lm_case_at(i / candidates->count);
        if (candidate->unavailable[0] != '\0') {
            continue;
        }
        benches[used] = (struct lm_bench){
            .which = which,
            .spec = candidate->spec,
            .warmup_ns = (uint64_t)(options->warmup_s * 1e9) + 1,
            .duration_ns = (uint64_t)(options->duration_s * 1e9),
            .result = result,
            .skip_reason = lm_candidate_skip_reason(candidate, which),
        };
        lm_bench_register(&benches[used++]);
    }
    return used;
}

static int run_all(const struct bench_options *options, const struct lm_candidates *candidates)
{
    int code = LM_EXIT_USAGE;
    uint64_t duration_ns = (uint64_t)(options->duration_s * 1e9);
    struct lm_case_result *result = calloc(1, sizeof(*result));
    struct lm_bench *benches = calloc(candidates->count * lm_case_count() + 1, sizeof(*benches));
    if (result == NULL || benches == NULL) {
        fputs("loopmark bench: memory is short; close other programs and try again\n", stderr);
        goto out;
    }
    for (size_t i = 0; i < candidates->count; i++) {
        if (candidates->items[i].unavailable[0] != '\0') {
            fprintf(stderr, "loopmark bench: left out: %s: %s\n", candidates->items[i].spec.text,
                    candidates->items[i].unavailable);
        }
    }
    size_t used = register_all(options, candidates, result, benches);
    if (used == 0) {
        fputs("loopmark bench: no backend can run here; see: loopmark list --backends\n", stderr);
        goto out;
    }
    lm_bench_register_recorder(&duration_ns);
    code = lm_gbench_run_all(NULL, NULL) > 0 ? LM_EXIT_OK : LM_EXIT_USAGE;
    for (size_t i = 0; i < used && code == LM_EXIT_OK; i++) {
        code = benches[i].failures > 0 ? LM_EXIT_FAILED : LM_EXIT_OK;
    }
out:
    free(benches);
    free(result);
    return code;
}

static int bench(int argc, char **argv, struct bench_options *options)
{
    if (!parse_options(&argc, argv, options)) {
        return LM_EXIT_USAGE;
    }
    if (options->help) {
        print_help();
        return LM_EXIT_OK;
    }
    struct lm_candidates candidates;
    int code = LM_EXIT_USAGE;
    if (lm_candidates_read(options->backends, "--backend", &candidates) == 0 &&
        initialize(argc, argv)) {
        code = run_all(options, &candidates);
    }
    lm_candidates_free(&candidates);
    return code;
}

int lm_bench_command(int argc, char **argv)
{
    struct bench_options options = {.duration_s = DEFAULT_DURATION_S, .warmup_s = DEFAULT_WARMUP_S};
    int code = bench(argc, argv, &options);
    free(options.backends);
    return code;
}
