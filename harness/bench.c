#include "harness/bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backends/clock.h"
#include "harness/gbench_shim.h"
#include "harness/headroom.h"
#include "suites/recorder.h"

/* Google Benchmark begins with one iteration to find out how many it needs. A case runs for a time,
 * not for a number of iterations, so that question is answered with "no time at all" and the real
 * run happens when more are wanted: only then can it claim all its operations as iterations. */
static bool is_probe(struct lm_gbench_state *state)
{
    if (lm_gbench_iterations_wanted(state) > 1) {
        return false;
    }
    while (lm_gbench_claim(state, 1)) {
    }
    lm_gbench_set_elapsed(state, 0.0);
    return true;
}

/* Claims all iterations wanted but one, which starts the CPU timer; it is stopped until the
 * measured phase. */
static void begin_run(struct lm_gbench_state *state)
{
    lm_gbench_claim(state, lm_gbench_iterations_wanted(state) - 1);
    lm_gbench_pause(state);
}

/* Makes the iterations equal the operations. Google Benchmark insists on one count for all
 * repetitions (its debug builds abort otherwise), so later ones claim as many as the first:
 * *iterations, 0 before it. Their time is scaled to that, and so is what they report per iteration;
 * only the CPU column can not be, which is why cpu_ns_per_op is there. */
static void end_run(struct lm_gbench_state *state, uint64_t elapsed_ns, uint64_t operations,
                    uint64_t *iterations)
{
    uint64_t wanted = lm_gbench_iterations_wanted(state);
    if (*iterations < wanted) {
        *iterations = operations > wanted ? operations : wanted;
    }
    lm_gbench_resume(state);
    while (lm_gbench_claim(state, *iterations - (wanted - 1))) {
    }
    double each_s = (double)elapsed_ns / 1e9 / (double)operations;
    lm_gbench_set_elapsed(state, each_s * (double)*iterations);
}

/* CPU time of the whole process so far. */
static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void measure_begin(void *context)
{
    struct lm_bench *bench = context;
    if (bench->on_measure_begin != NULL) {
        bench->on_measure_begin(bench->context);
    }
    bench->cpu_begin_ns = cpu_ns();
    lm_gbench_resume(bench->state);
}

static void measure_end(void *context)
{
    struct lm_bench *bench = context;
    lm_gbench_pause(bench->state);
    bench->cpu_used_ns = cpu_ns() - bench->cpu_begin_ns;
    if (bench->on_measure_end != NULL) {
        bench->on_measure_end(bench->context);
    }
}

static uint64_t total_syscalls(const struct lm_counters *counters)
{
    uint64_t total = 0;
    for (size_t i = 0; i < LM_SYS_COUNT; i++) {
        total += counters->syscalls[i];
    }
    return total;
}

static void report_figures(struct lm_gbench_state *state, const struct lm_bench *bench)
{
    const struct lm_case_result *result = bench->result;
    double elapsed_s = (double)result->elapsed_ns / 1e9;
    double operations = (double)result->operations;
    lm_gbench_rate(state, "items_per_second", operations / elapsed_s);
    if (result->bytes > 0) {
        lm_gbench_rate(state, "bytes_per_second", (double)result->bytes / elapsed_s);
    }
    lm_gbench_counter(state, "p50_ns", (double)lm_histogram_quantile_ns(&result->latency, 0.50));
    lm_gbench_counter(state, "p99_ns", (double)lm_histogram_quantile_ns(&result->latency, 0.99));
    lm_gbench_counter(state, "syscalls_per_op",
                      (double)total_syscalls(&result->counters) / operations);
    lm_gbench_counter(state, "cpu_ns_per_op", (double)bench->cpu_used_ns / operations);
}

/* Adds what a person can do about a failure whose cause is a limit of this machine. */
static void add_next_step(int error, struct lm_case_result *result)
{
    const char *step = "";
    switch (error) {
    case -EMFILE:
        step = "; raise the limit of open files: ulimit -n 4096";
        break;
    case -ENOBUFS:
    case -ENOMEM:
        step = "; free memory, or raise the limit of locked memory: ulimit -l unlimited";
        break;
    case -EADDRINUSE:
    case -EADDRNOTAVAIL:
        step = "; wait a minute for the ports of closed connections to be free again: ss -s";
        break;
    case -ENETUNREACH:
        step = "; bring the loopback interface up: ip link set lo up";
        break;
    default:
        break;
    }
    size_t used = strlen(result->error);
    snprintf(result->error + used, sizeof(result->error) - used, "%s", step);
}

static void run_case(struct lm_gbench_state *state, void *argument)
{
    struct lm_bench *bench = argument;
    if (bench->skip_reason != NULL) {
        lm_gbench_skip(state, bench->skip_reason);
        return;
    }
    if (is_probe(state)) {
        return;
    }
    bench->refusal[0] = '\0';
    if (!lm_headroom_await(bench->which, bench->refusal, sizeof(bench->refusal))) {
        lm_gbench_skip(state, bench->refusal);
        return;
    }
    struct lm_case_setup setup = {
        .backend = bench->spec.backend,
        .options = bench->spec.options,
        .warmup_ns = bench->warmup_ns,
        .duration_ns = bench->duration_ns,
        .on_measure_begin = measure_begin,
        .on_measure_end = measure_end,
        .context = bench,
    };
    struct lm_case_result *result = bench->result;
    bench->state = state;
    bench->runs++;
    begin_run(state);
    int error = lm_case_run(bench->which, &setup, result);
    if (error == 0 && result->error[0] == '\0' && result->operations == 0) {
        snprintf(result->error, sizeof(result->error),
                 "no operation ended within the measured %.3g s; give it a longer duration",
                 (double)bench->duration_ns / 1e9);
    }
    if (error != 0 && result->error[0] == '\0') {
        snprintf(result->error, sizeof(result->error), "%s", strerror(-error));
    }
    if (result->error[0] != '\0') {
        bench->failures++;
        add_next_step(error, result);
        lm_gbench_fail(state, result->error);
        return;
    }
    end_run(state, result->elapsed_ns, result->operations, &bench->iterations);
    report_figures(state, bench);
}

int lm_bench_register(struct lm_bench *bench)
{
    char name[sizeof(bench->which->name) + sizeof(bench->spec.text)];
    int length = snprintf(name, sizeof(name), "%s/%s", bench->which->name, bench->spec.text);
    if (length < 0 || (size_t)length >= sizeof(name)) {
        return -ENAMETOOLONG;
    }
    lm_gbench_register(name, run_case, bench);
    return 0;
}

static void on_phase(void *context, enum lm_phase phase)
{
    (void)context, (void)phase;
}

static void run_recorder(struct lm_gbench_state *state, void *argument)
{
    static struct lm_recorder recorder;
    static uint64_t iterations;
    const uint64_t *duration_ns = argument;
    if (is_probe(state)) {
        return;
    }
    begin_run(state);
    lm_gbench_resume(state);
    lm_recorder_start(&recorder, 1, *duration_ns, false, on_phase, NULL);
    uint64_t started_ns = lm_clock_ns();
    while (lm_recorder_lap(&recorder, &started_ns, 1) != LM_PHASE_DRAIN) {
    }
    lm_gbench_pause(state);
    end_run(state, recorder.end_ns - recorder.begin_ns, recorder.latency.count, &iterations);
}

void lm_bench_register_recorder(const uint64_t *duration_ns)
{
    lm_gbench_register("recorder/lap", run_recorder, (void *)(uintptr_t)duration_ns);
}
