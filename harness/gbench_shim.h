/* gbench_shim.h - Google Benchmark for C: registration, manual time, counters, errors and a
 * reporter callback. Nothing here knows what a case or a backend is.
 *
 * Works with Google Benchmark 1.7.1 and newer. All functions are for the main thread, except
 * where said otherwise.
 */
#ifndef LM_GBENCH_SHIM_H
#define LM_GBENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Google Benchmark's view of one run of a benchmark function. */
struct lm_gbench_state;

/* A benchmark. It may be called several times per repetition: while Google Benchmark looks for an
 * iteration count it asks for 1 first. */
typedef void lm_gbench_fn(struct lm_gbench_state *state, void *argument);

/* Registers a benchmark that reports its own time (lm_gbench_set_elapsed), with CPU time of the
 * whole process. Google Benchmark appends /process_time/manual_time to the name. The name is
 * copied; `argument` must live until the program ends. */
void lm_gbench_register(const char *name, lm_gbench_fn *function, void *argument);

/* Iterations asked for; a function may do more. */
uint64_t lm_gbench_iterations_wanted(const struct lm_gbench_state *state);

/* Claims `count` > 0 more iterations; false when none is wanted any more, and then the function
 * returns. The first call starts the timers, the one that returns false stops them. The last batch
 * may be larger than what is left of those wanted: they are all counted. */
bool lm_gbench_claim(struct lm_gbench_state *state, uint64_t count);

/* Stop and restart the CPU timer, in pairs, between two claims. Any thread, one at a time. */
void lm_gbench_pause(struct lm_gbench_state *state);
void lm_gbench_resume(struct lm_gbench_state *state);

/* The time all claimed iterations took together. */
void lm_gbench_set_elapsed(struct lm_gbench_state *state, double seconds);

/* A figure of its own in the report. A rate is a per-second value that Google Benchmark prints with
 * "/s"; items_per_second and bytes_per_second are names it knows. Only after lm_gbench_set_elapsed.
 */
void lm_gbench_counter(struct lm_gbench_state *state, const char *name, double value);
void lm_gbench_rate(struct lm_gbench_state *state, const char *name, double per_second);

/* Ends the run with an error, or as skipped. Google Benchmark before 1.8 knows no skipping and
 * reports an error there too. The function returns afterwards without further calls. */
void lm_gbench_fail(struct lm_gbench_state *state, const char *message);
void lm_gbench_skip(struct lm_gbench_state *state, const char *message);

/* Hands Google Benchmark its flags; the ones it knows are removed from argv. argv[0] is kept for
 * the report and must live until the program ends. A value it refuses ends the program with exit
 * code 2. */
void lm_gbench_initialize(int *argc, char **argv);

/* Prints Google Benchmark's flags on stdout. */
void lm_gbench_print_flags(void);

/* One finished run. */
struct lm_gbench_run {
    const char *name;
    const char *error; /* NULL when it ran */
    double real_ns;    /* per iteration */
    double cpu_ns;     /* per iteration, whole process */
    uint64_t iterations;
};
typedef void lm_gbench_report_fn(const struct lm_gbench_run *run, void *context);

/* Runs what was registered and matches --benchmark_filter. With report == NULL Google Benchmark's
 * own reporters print as its flags say, else report(run, context) is called for each run and
 * nothing is printed. Returns how many benchmarks matched. */
size_t lm_gbench_run_all(lm_gbench_report_fn *report, void *context);

#ifdef __cplusplus
}
#endif

#endif
