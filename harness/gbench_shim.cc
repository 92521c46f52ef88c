#include "harness/gbench_shim.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

struct lm_gbench_state {
    benchmark::State &state;
    double elapsed_s;
};

namespace
{

/* 1.8 renamed Run::error_occurred to skipped and added SkipWithMessage. The library's headers carry
 * no version number, so each name is tried in turn: the overload with int wins where it compiles.
 */
template <class Run>
auto error_of(const Run &run, int)
    -> decltype(run.error_occurred, static_cast<const char *>(nullptr))
{
    return run.error_occurred ? run.error_message.c_str() : nullptr;
}

template <class Run>
auto error_of(const Run &run, long)
    -> decltype(run.skip_message, static_cast<const char *>(nullptr))
{
    return run.skipped ? run.skip_message.c_str() : nullptr;
}

template <class State>
auto skip(State &state, const char *message, int) -> decltype(state.SkipWithMessage(message))
{
    state.SkipWithMessage(message);
}

template <class State> void skip(State &state, const char *message, long)
{
    state.SkipWithError((std::string("skipped: ") + message).c_str());
}

/* The time after which Google Benchmark stops raising the iteration count: none, for a run here
 * decides its own length. 1.8 warns when the unit is missing, 1.7 refuses it. */
template <class Run>
auto any_time(int) -> decltype(std::declval<Run>().skip_message, static_cast<const char *>(nullptr))
{
    return "--benchmark_min_time=1e-12s";
}

template <class Run> const char *any_time(long)
{
    return "--benchmark_min_time=1e-12";
}

class CallbackReporter : public benchmark::BenchmarkReporter
{
  public:
    CallbackReporter(lm_gbench_report_fn *report, void *context)
        : report_(report), context_(context)
    {
    }

    bool ReportContext(const Context &) override
    {
        return true;
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            if (run.run_type != Run::RT_Iteration) {
                continue;
            }
            const std::string name = run.benchmark_name();
            const double count = run.iterations > 0 ? static_cast<double>(run.iterations) : 1.0;
            const lm_gbench_run plain = {
                name.c_str(), error_of(run, 0), run.real_accumulated_time * 1e9 / count,
                run.cpu_accumulated_time * 1e9 / count, static_cast<uint64_t>(run.iterations)};
            report_(&plain, context_);
        }
    }

  private:
    lm_gbench_report_fn *report_;
    void *context_;
};

/* Google Benchmark calls this and then exits with 0 when it refuses a flag's value. */
void refuse_flags()
{
    std::fputs(
        "loopmark bench: a --benchmark_ flag has a value Google Benchmark does not take; see: "
        "loopmark bench --help\n",
        stderr);
    std::exit(2);
}

} // namespace

void lm_gbench_register(const char *name, lm_gbench_fn *function, void *argument)
{
    benchmark::RegisterBenchmark(name,
                                 [function, argument](benchmark::State &state) {
                                     lm_gbench_state wrapped = {state, 0.0};
                                     function(&wrapped, argument);
                                 })
        ->UseManualTime()
        ->MeasureProcessCPUTime();
}

uint64_t lm_gbench_iterations_wanted(const struct lm_gbench_state *state)
{
    return static_cast<uint64_t>(state->state.max_iterations);
}

bool lm_gbench_claim(struct lm_gbench_state *state, uint64_t count)
{
    return state->state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count));
}

void lm_gbench_pause(struct lm_gbench_state *state)
{
    state->state.PauseTiming();
}

void lm_gbench_resume(struct lm_gbench_state *state)
{
    state->state.ResumeTiming();
}

void lm_gbench_set_elapsed(struct lm_gbench_state *state, double seconds)
{
    state->elapsed_s = seconds;
    state->state.SetIterationTime(seconds);
}

void lm_gbench_counter(struct lm_gbench_state *state, const char *name, double value)
{
    state->state.counters[name] = benchmark::Counter(value);
}

void lm_gbench_rate(struct lm_gbench_state *state, const char *name, double per_second)
{
    state->state.counters[name] =
        benchmark::Counter(per_second * state->elapsed_s, benchmark::Counter::kIsRate);
}

void lm_gbench_fail(struct lm_gbench_state *state, const char *message)
{
    state->state.SkipWithError(message);
}

void lm_gbench_skip(struct lm_gbench_state *state, const char *message)
{
    skip(state->state, message, 0);
}

void lm_gbench_initialize(int *argc, char **argv)
{
    std::string time = any_time<benchmark::BenchmarkReporter::Run>(0);
    std::string warmup = "--benchmark_min_warmup_time=0";
    std::vector<char *> flags(argv, argv + *argc);
    flags.push_back(time.data());
    flags.push_back(warmup.data());
    int left = static_cast<int>(flags.size());
    flags.push_back(nullptr);
    benchmark::Initialize(&left, flags.data(), refuse_flags);
    *argc = std::min(left, *argc);
    std::copy(flags.begin(), flags.begin() + *argc, argv);
    argv[*argc] = nullptr;
}

void lm_gbench_print_flags(void)
{
    benchmark::PrintDefaultHelp();
}

size_t lm_gbench_run_all(lm_gbench_report_fn *report, void *context)
{
    size_t matched = 0;
    if (report != nullptr) {
        CallbackReporter reporter(report, context);
        matched = benchmark::RunSpecifiedBenchmarks(&reporter);
    } else {
        matched = benchmark::RunSpecifiedBenchmarks();
    }
    benchmark::Shutdown();
    return matched;
}
