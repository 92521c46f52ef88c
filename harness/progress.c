#include "harness/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/clock.h"

void lm_format_duration(double seconds, char *text, size_t text_bytes)
{
    if (seconds < 90.0) {
        snprintf(text, text_bytes, "%.0f s", ceil(seconds));
    } else if (seconds < 90.0 * 60.0) {
        snprintf(text, text_bytes, "%.0f min", ceil(seconds / 60.0));
    } else {
        unsigned minutes = (unsigned)ceil(seconds / 60.0);
        snprintf(text, text_bytes, "%u h %u min", minutes / 60, minutes % 60);
    }
}

static void format_value(const struct lm_progress *progress, const struct lm_sample *sample,
                         char *text, size_t text_bytes)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    const char *unit = progress->run->cases[sample->case_index].unit;
    double value = sample->metric;
    size_t prefix = 0;
    if (sample->status != LM_SAMPLE_OK) {
        snprintf(text, text_bytes, "failed");
        return;
    }
    while (strcmp(unit, "ns") != 0 && value >= 1000.0 && prefix + 1 < 5) {
        value /= 1000.0;
        prefix++;
    }
    snprintf(text, text_bytes, "%.*f %s%s", value < 100.0 ? 2 : 0, value, prefixes[prefix], unit);
}

static double seconds_left(const struct lm_progress *progress)
{
    double elapsed_s = (double)(lm_clock_ns() - progress->begin_ns) / 1e9;
    double each_s = progress->done > 0 ? elapsed_s / (double)progress->done
                                       : progress->run->warmup_s + progress->run->duration_s;
    return each_s * (double)(progress->total - progress->done);
}

static size_t columns(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

/* Can its last line be written over? */
static bool is_terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && kind != NULL && kind[0] != '\0' &&
           strcmp(kind, "dumb") != 0;
}

void lm_progress_begin(struct lm_progress *progress, const struct lm_run *run, size_t total)
{
    *progress = (struct lm_progress){.run = run,
                                     .total = total,
                                     .terminal = is_terminal(),
                                     .begin_ns = lm_clock_ns(),
                                     .last_iteration = UINT32_MAX};
}

/* A plain line at each iteration's beginning and at each tenth of the way. */
static bool is_line_due(struct lm_progress *progress, uint32_t iteration)
{
    size_t tenth = progress->done * 10 / progress->total;
    bool due = iteration != progress->last_iteration || tenth != progress->last_tenth;
    progress->last_iteration = iteration;
    progress->last_tenth = tenth;
    return due;
}

void lm_progress_next(struct lm_progress *progress, const struct lm_sample *place)
{
    char left[32], line[512], failures[48] = "";
    if (!progress->terminal && !is_line_due(progress, place->iteration)) {
        return;
    }
    lm_format_duration(seconds_left(progress), left, sizeof(left));
    if (progress->failed > 0) {
        snprintf(failures, sizeof(failures), ", %zu failed", progress->failed);
    }
    int length =
        snprintf(line, sizeof(line), "[%zu/%zu%s, %s left] %s%siteration %u: %s on %s",
                 progress->done + 1, progress->total, failures, left, progress->last_value,
                 progress->last_value[0] != '\0' ? "; " : "", (unsigned)place->iteration + 1,
                 progress->run->cases[place->case_index].name,
                 progress->run->backends[place->backend_index].spec);
    if (!progress->terminal) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    /* A line that wraps could not be overwritten. */
    size_t width = columns() - 1;
    if (length > 0 && (size_t)length > width && width < sizeof(line)) {
        line[width] = '\0';
    }
    fprintf(stderr, "\r\033[K%s", line);
}

void lm_progress_sample(struct lm_progress *progress, const struct lm_sample *sample)
{
    const struct lm_run *run = progress->run;
    progress->done++;
    format_value(progress, sample, progress->last_value, sizeof(progress->last_value));
    const char *text = sample->status == LM_SAMPLE_FAILED ? sample->reason : sample->warning;
    progress->failed += sample->status == LM_SAMPLE_FAILED;
    if (text != NULL) {
        lm_progress_end(progress);
        fprintf(stderr, "%s: %s on %s, iteration %u: %s\n",
                sample->status == LM_SAMPLE_FAILED ? "failed" : "warning",
                run->cases[sample->case_index].name, run->backends[sample->backend_index].spec,
                (unsigned)sample->iteration + 1, text);
    }
}

void lm_progress_end(struct lm_progress *progress)
{
    if (progress->terminal) {
        fputs("\r\033[K", stderr);
    }
}
