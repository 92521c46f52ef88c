/* The methodology page. Every number on it comes from policy.h or chart.h, so that it can not say
 * another thing than the program does. */
#include <stdarg.h>

#include "lm_config.h"
#include "report/content.h"
#include "report/policy.h"
#include "report/wording.h"

static void heading(struct lm_writer *w, const char *id, const char *words)
{
    w->kind->heading(w, 2, id, words, NULL);
}

static void item(struct lm_writer *w, const char *strong, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void item(struct lm_writer *w, const char *strong, const char *format, ...)
{
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    lm_open(w, LM_ITEM);
    lm_open(w, LM_STRONG);
    lm_say(w, "%s", strong);
    lm_close(w, LM_STRONG);
    lm_say(w, ": %s", words);
    lm_close(w, LM_ITEM);
}

static void list(struct lm_writer *w)
{
    lm_open(w, LM_LIST);
}

static void end_list(struct lm_writer *w)
{
    lm_close(w, LM_LIST);
}

static void sample(struct lm_writer *w)
{
    heading(w, "one-sample", "One sample");
    lm_paragraph(w, "One case on one backend, once, in a process of its own that ends with it. The "
                    "process makes its loop and its connections, and goes through three phases on "
                    "them:");
    list(w);
    item(w, "Warm-up",
         "the work runs and is not recorded; every byte that arrives is compared "
         "with what was sent.");
    item(w, "Measure",
         "each operation is recorded by one reading of the monotonic clock and one "
         "increment in a histogram. Processor time, system calls, waits and context "
         "switches are differences over this phase.");
    item(w, "Drain",
         "operations in flight end; they are counted apart. Where the figure is bytes "
         "per second, time and bytes go on until the last byte has arrived, so that "
         "none in a socket's buffer is counted as transferred.");
    end_list(w);
    lm_paragraph(w, "A wrong byte, a lost or doubled completion, an error, a crash, a hang beyond "
                    "the time limit: the sample failed, with the reason, and gives no figure. A "
                    "backend that can not run a case, or a machine without room for it "
                    "(descriptors, ports, listen queue), gives a skipped sample with the reason.");
}

static void order(struct lm_writer *w)
{
    heading(w, "order-and-isolation", "Order and isolation");
    list(w);
    item(w, "Isolation",
         "nothing is measured in the process that runs the suite, and nothing is "
         "carried from one sample to the next: heap, caches of the allocator, "
         "descriptors and rings are new each time.");
    item(w, "Order",
         "iteration by iteration; within each, the cases in an order shuffled by the "
         "recorded seed; for each case all backends one after the other, another one "
         "first each time. What slows the machine down for a while hits all of them. "
         "A run with --order blocked takes backend after backend instead, says so, and has no "
         "paired ratios.");
    item(w, "The same work",
         "each backend gets the same sockets, options, buffers, warm-up and "
         "steps: families are written once against one contract and know no "
         "backend. The contract itself is tested by loopmark check.");
    item(w, "Head-room",
         "a case that accepts connections first waits until sockets in TIME_WAIT "
         "have left it enough ports. Connections that the kernel dropped or "
         "retransmitted during a sample are recorded and shown as a warning.");
    end_list(w);
}

static void figures(struct lm_writer *w)
{
    heading(w, "figures", "Figures of a sample");
    list(w);
    item(w, "Throughput",
         "operations, or bytes as the receivers counted them, divided by the "
         "elapsed time of the phase. Higher is better. K, M, G and T are powers "
         "of 1000.");
    item(w, "Mean latency",
         "where a case's figure is a time, the mean time of an operation. Lower "
         "is better.");
    item(w, "p50 and p99",
         "of the times of single operations, from a log-linear histogram that is "
         "within 1 %% of each of them. The tables show the median over the "
         "samples of each sample's own quantile. An operation that waits behind "
         "others of its batch counts its whole wait.");
    item(w, "CPU/op",
         "user and system time of the whole process, both ends of each connection, "
         "divided by the operations of the phase. It can be more than the time of an "
         "operation when kernel threads or several loops work at once.");
    item(w, "calls/op",
         "system calls that the backend made, divided by the operations, counted "
         "in its own code and checked against strace by a test.");
    item(w, "Percentile curves",
         "quantiles of all good samples of a case pooled: the bucket that "
         "holds the ceil(q·n)-th of n operations; minimum and maximum are exact.");
    end_list(w);
}

static void statistics(struct lm_writer *w)
{
    heading(w, "statistics", "Statistics over the iterations");
    lm_paragraph(w, "Of the primary figures x₁ … xₙ of the n good samples of one backend on one "
                    "case:");
    w->kind->code(w,
                  "median      the middle one of the sorted figures; the mean of the two middle "
                  "ones when n is even\n"
                  "mean        (x1 + ... + xn) / n\n"
                  "sd          sqrt(((x1 - mean)^2 + ... + (xn - mean)^2) / (n - 1))\n"
                  "CV          sd / mean\n"
                  "difference  candidate / baseline - 1   of the medians, where higher is better\n"
                  "            1 - candidate / baseline   where lower is better\n"
                  "ratio       candidate / baseline       where higher is better\n"
                  "            baseline / candidate       where lower is better");
    lm_paragraph(w, "So a positive difference and a ratio above 1 are better, whatever the unit. "
                    "Where lower is better a difference can not reach 100 %%; half the time is "
                    "+50 %% and 2×.");
    list(w);
    item(w, "Median difference",
         "of a family or of all cases: the median of the cases' differences, without those that "
         "failed, were skipped or are unstable. Cases count alike, however many threads or bytes "
         "they have.");
    item(w, "Paired ratio",
         "for each iteration that both sides have, the ratio of their two samples, which ran one "
         "after the other; then the median of these. Drift of the machine cancels out in it. The "
         "interval is a percentile bootstrap: %zu resamples with replacement, of whose medians the "
         "middle %g %% are taken, from a fixed seed, so that equal figures give an equal interval. "
         "With fewer than 6 iterations it covers less than it says: n values hold the true median "
         "between them with a probability of 1 - 2^(1-n).",
         lm_policy.bootstrap_resamples, lm_policy.interval_confidence * 100.0);
    item(w, "Noise floor",
         "with --calibrate the baseline runs a second time as a candidate of its "
         "own. Its differences from itself are what this machine shows where "
         "there is nothing to show.");
    item(w, "The bold median",
         "one that is better than that of every other implementation beyond "
         "the noise of both. Floors, which never sleep, are not counted: "
         "they are no choice for a program.");
    item(w, "Who leads",
         "the implementation with the highest median difference of a family, with the highest of "
         "another backend (another name before the colon) as its baseline. It leads when it is "
         "faster in at least %g %% of the cases with a verdict, and in more than it is slower in; "
         "else it leads in those cases only, or the two tie.",
         lm_policy.lead_share * 100.0);
    end_list(w);
}

static void verdicts(struct lm_writer *w)
{
    heading(w, "verdicts", "Verdicts");
    lm_paragraph(w, "In this order; the first that applies is the verdict of a candidate on a "
                    "case:");
    list(w);
    item(w, lm_verdict_word(LM_VERDICT_FAILED),
         "a sample of either side failed. The case is in no summary figure.");
    item(w, lm_verdict_word(LM_VERDICT_SKIPPED), "a side can not run it here.");
    item(w, lm_verdict_word(LM_VERDICT_UNSTABLE),
         "a side has a CV above %g %%, or two separate clusters of samples: with at least %zu "
         "samples, at least %zu on each side of a gap that is %g times the pooled standard "
         "deviation inside the two groups and %g %% of the median or wider. Shown, never a winner.",
         lm_policy.cv_limit * 100.0, lm_policy.cluster_minimum_samples,
         lm_policy.cluster_minimum_side, lm_policy.cluster_gap_sd,
         lm_policy.cluster_gap_fraction * 100.0);
    item(w, lm_verdict_word(LM_VERDICT_NONE), "a side has fewer than %zu good iterations.",
         lm_policy.minimum_iterations);
    item(w, lm_verdict_word(LM_VERDICT_WITHIN_NOISE),
         "|difference| is at most %g·√(CV² + CV²) of the two sides. That is no proof of equality: "
         "it says that these samples do not tell the two apart.",
         lm_policy.noise_factor);
    item(w, "faster, slower", "the difference is beyond that, to one side or the other.");
    end_list(w);
    lm_paragraph(w, "Every threshold is in one table, which the program itself uses and prints "
                    "with each comparison:");
    lm_content_policy(w);
    lm_paragraph(w, "With many cases some verdicts are wrong by chance; the noise floor shows how "
                    "many of a run's cases the rule gets wrong when both sides are the same.");
}

void lm_content_policy(struct lm_writer *w)
{
    static const struct lm_column columns[] = {
        {"threshold", LM_SHORT}, {"value", LM_SHORT}, {"meaning", LM_LONG}};
    const struct lm_table table = {
        .caption = LM_HEADING_POLICY, .columns = columns, .column_count = 3};
    w->kind->table(w, &table);
    for (size_t i = 0; i < lm_policy_row_count(); i++) {
        struct lm_policy_row row;
        lm_policy_row(i, &row);
        w->kind->row(w, NULL);
        lm_name_cell(w, row.name);
        lm_name_cell(w, row.value);
        lm_cell(w, "%s", row.meaning);
        w->kind->end_row(w);
    }
    w->kind->end_table(w);
}

static void charts(struct lm_writer *w)
{
    heading(w, "charts", "How to read the charts");
    list(w);
    item(w, "Summary",
         "for each family and candidate a bar of its cases: slower, within noise, "
         "faster, without a verdict; the family's median difference at its end.");
    item(w, "Ratios",
         "one row for each case, one mark for each candidate at the ratio of the "
         "medians. The axis is logarithmic, so twice and half are equally far from "
         "the line at 1×; better is to the right for every unit. Families with more "
         "than %u cases are split into parts.",
         LM_CHART_CASES);
    item(w, "Marks",
         "filled: beyond the noise; grey: within it; hollow: unstable or without a verdict; ✕: "
         "failed or "
         "skipped. Each candidate has a shape as well as a colour.");
    item(w, "Band and line",
         "the shaded band is what is within noise of 1×; the line through a "
         "mark is the interval of the paired ratio. Where the machine drifted, "
         "a mark may stand beside its line: the line is the better witness.");
    end_list(w);
}

static void limits(struct lm_writer *w)
{
    heading(w, "comparable", "What may be compared");
    list(w);
    item(w, "On one page",
         "every figure of a case with every other one of that case. Not bytes "
         "with operations, and not one case with another: a median difference "
         "over a family is a summary of ratios.");
    item(w, "Across pages",
         "nothing but ratios, with care: machine, kernel, compiler, settings "
         "and mitigations move all figures, and some ratios.");
    item(w, "Two runs of one machine",
         "with loopmark compare, which lists differing settings "
         "first and gives no verdict when there are any.");
    end_list(w);
    heading(w, "known-limits", "Known limits");
    list(w);
    item(w, "Loopback",
         "no network card, no distance, no loss. What a backend saves in system "
         "calls shows at its largest here, what it saves in interrupts not at all.");
    item(w, "Both ends in one process",
         "client and server share a loop, a core and caches, but in "
         "the split cases, where each has a thread. With one core "
         "busy by the other end, throughput is that of both.");
    item(w, "Virtual machines",
         "clocks, wake-ups and system calls cost other amounts there, and "
         "neighbours take time unseen. The environment table says whether "
         "there is a hypervisor.");
    item(w, "Closed loops",
         "an operation starts when the one before it has ended, so a slow one "
         "delays those behind it without being charged for their wait: high "
         "percentiles are lower than under an open arrival rate.");
    item(w, "The baseline",
         "reactor is Asio's design written again in C, with the same system "
         "calls and locks; it is not Asio.");
    item(w, "The floor", "spin never sleeps and takes a whole core even when idle.");
    end_list(w);
}

void lm_content_methodology(struct lm_writer *w)
{
    w->kind->begin(w, "Methodology", NULL);
    lm_paragraph(
        w, "What stands behind every figure of these pages. Fully generated by loopmark " LM_VERSION
           " from the rules the program uses; do not edit by hand.");
    sample(w);
    order(w);
    figures(w);
    statistics(w);
    verdicts(w);
    charts(w);
    limits(w);
    w->kind->end(w);
}
