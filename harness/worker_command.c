/* `loopmark worker`, the hidden sub-command: the measuring side of worker.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench.h"
#include "harness/commands.h"
#include "harness/gbench_shim.h"
#include "harness/network.h"
#include "harness/resource.h"
#include "harness/results_json.h"
#include "harness/worker.h"

/* The measured phase as the process saw it. */
struct observation {
    struct lm_resource begin, end;
    int error; /* of a snapshot, 0 when both were taken */
};

static void observe_begin(void *context)
{
    struct observation *observation = context;
    int error = lm_resource_snapshot(&observation->begin);
    observation->error = error != 0 ? error : observation->error;
}

static void observe_end(void *context)
{
    struct observation *observation = context;
    int error = lm_resource_snapshot(&observation->end);
    lm_resource_add_memory(&observation->end);
    observation->error = error != 0 ? error : observation->error;
}

static int take_buckets(const struct lm_histogram *histogram, struct lm_latency *latency)
{
    latency->buckets = calloc(LM_HISTOGRAM_BUCKETS, sizeof(latency->buckets[0]));
    if (latency->buckets == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < LM_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] > 0) {
            latency->buckets[latency->bucket_count++] = (struct lm_bucket){
                .value_ns = lm_histogram_bucket_ns(i), .count = histogram->buckets[i]};
        }
    }
    return 0;
}

static int take_latency(const struct lm_histogram *histogram, struct lm_latency *latency)
{
    if (histogram->count == 0) {
        return take_buckets(histogram, latency);
    }
    latency->mean_ns = (double)histogram->sum_ns / (double)histogram->count;
    latency->min_ns = histogram->min_ns;
    latency->p50_ns = lm_histogram_quantile_ns(histogram, 0.5);
    latency->p90_ns = lm_histogram_quantile_ns(histogram, 0.9);
    latency->p95_ns = lm_histogram_quantile_ns(histogram, 0.95);
    latency->p99_ns = lm_histogram_quantile_ns(histogram, 0.99);
    latency->p999_ns = lm_histogram_quantile_ns(histogram, 0.999);
    latency->max_ns = histogram->max_ns;
    return take_buckets(histogram, latency);
}

static void take_resources(const struct observation *observation, struct lm_sample *sample)
{
    struct lm_resource used;
    lm_resource_difference(&observation->begin, &observation->end, &used);
    sample->cpu_user_s = (double)used.cpu_user_ns / 1e9;
    sample->cpu_system_s = (double)used.cpu_system_ns / 1e9;
    sample->rss_peak_bytes = used.rss_peak_bytes;
    sample->rss_bytes = used.rss_bytes;
    sample->voluntary_switches = used.voluntary_switches;
    sample->involuntary_switches = used.involuntary_switches;
}

static int refuse_sample(struct lm_sample *sample, enum lm_sample_status status, const char *reason)
{
    sample->status = status;
    sample->reason = strdup(reason);
    return sample->reason != NULL ? 0 : -ENOMEM;
}

/* What makes the figures ones to be looked at, all of it in one line. 0 or -ENOMEM. */
static int warn(const struct lm_case_result *result, struct lm_sample *sample)
{
    const struct lm_network *network = &sample->network;
    char text[512];
    size_t used = 0;
    if (result->counters.overflows > 0) {
        used = (size_t)snprintf(text, sizeof(text),
                                "the kernel's completion queue overflowed %llu times: the figures "
                                "include its recovery; give the backend a larger ring",
                                (unsigned long long)result->counters.overflows);
    }
    /* Such connections make a case slower, whatever the backend did. */
    if (sample->has_network &&
        network->listen_overflows + network->listen_drops + network->syn_retransmits > 0) {
        used += (size_t)snprintf(
            text + used, sizeof(text) - used,
            "%sin this network namespace the kernel counted ListenOverflows %llu, ListenDrops "
            "%llu, SYN retransmits %llu: connections were dropped",
            used > 0 ? "; " : "", (unsigned long long)network->listen_overflows,
            (unsigned long long)network->listen_drops,
            (unsigned long long)network->syn_retransmits);
    }
    sample->warning = used > 0 ? strdup(text) : NULL;
    return used > 0 && sample->warning == NULL ? -ENOMEM : 0;
}

static int fill_sample(const struct lm_bench *bench, const struct observation *observation,
                       struct lm_sample *sample)
{
    const struct lm_case_result *result = bench->result;
    char text[512];
    if (bench->refusal[0] != '\0') {
        return refuse_sample(sample, LM_SAMPLE_SKIPPED, bench->refusal);
    }
    if (bench->runs != 1 || bench->failures > 0) {
        return refuse_sample(sample, LM_SAMPLE_FAILED,
                             bench->runs == 1 ? result->error
                                              : "Google Benchmark did not run the case once");
    }
    if (observation->error != 0) {
        snprintf(text, sizeof(text),
                 "the process can not read its CPU time: %s; allow getrusage here",
                 strerror(-observation->error));
        return refuse_sample(sample, LM_SAMPLE_FAILED, text);
    }
    sample->status = LM_SAMPLE_OK;
    sample->metric = result->metric;
    sample->elapsed_s = (double)result->elapsed_ns / 1e9;
    sample->operations = result->operations;
    sample->bytes = result->bytes;
    sample->drained_operations = result->drained_operations;
    sample->drained_bytes = result->drained_bytes;
    sample->counters = result->counters;
    take_resources(observation, sample);
    int error = warn(result, sample);
    return error != 0 ? error : take_latency(&result->latency, &sample->latency);
}

static void ignore_report(const struct lm_gbench_run *run, void *context)
{
    (void)run, (void)context;
}

/* Runs the case through the same registration as `bench`, once. */
static int run_once(struct lm_bench *bench)
{
    /* Each flag that a BENCHMARK_ variable of the environment could have set otherwise. */
    static char flags[][40] = {"loopmark", "--benchmark_repetitions=1", "--benchmark_filter=.",
                               "--benchmark_list_tests=false", "--benchmark_out="};
    int count = sizeof(flags) / sizeof(flags[0]);
    char *argv[sizeof(flags) / sizeof(flags[0]) + 1] = {NULL};
    for (int i = 0; i < count; i++) {
        argv[i] = flags[i];
    }
    int error = lm_bench_register(bench);
    if (error == 0) {
        lm_gbench_initialize(&count, argv);
        lm_gbench_run_all(ignore_report, NULL);
    }
    return error;
}

static int measure(const struct lm_worker_request *request)
{
    char message[512];
    struct observation observation = {.error = 0};
    static struct lm_case_result result;
    struct lm_sample sample = {.status = LM_SAMPLE_FAILED};
    struct lm_bench bench = {
        .which = lm_case_find(request->case_name),
        .warmup_ns = request->warmup_ns,
        .duration_ns = request->duration_ns,
        .on_measure_begin = observe_begin,
        .on_measure_end = observe_end,
        .context = &observation,
        .result = &result,
    };
    if (bench.which == NULL) {
        fprintf(stderr, "there is no case %s\n", request->case_name);
        return LM_EXIT_USAGE;
    }
    if (lm_spec_parse(request->spec, &bench.spec, message, sizeof(message)) != 0) {
        fprintf(stderr, "%s\n", message);
        return LM_EXIT_USAGE;
    }
    sample.has_network = bench.which->needs.backlog > 0 && lm_network_read(&sample.network);
    int error = run_once(&bench);
    sample.has_network = sample.has_network && lm_network_finish(&sample.network);
    error = error != 0 ? error : fill_sample(&bench, &observation, &sample);
    error = error != 0 ? error : lm_worker_answer(request, &sample);
    enum lm_sample_status status = sample.status;
    lm_sample_clear(&sample);
    if (error != 0) {
        fprintf(stderr, "the sample can not be handed over: %s\n", strerror(-error));
        return LM_EXIT_USAGE;
    }
    return lm_worker_exit_code(status);
}

int lm_worker_command(int argc, char **argv)
{
    struct lm_worker_request request;
    if (lm_worker_begin(argc, argv, &request) != 0) {
        return LM_EXIT_USAGE;
    }
    return measure(&request);
}
