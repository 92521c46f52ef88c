/* Where things stand on a chart: axes, bars, marks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/chart.h"
#include "report/numbers.h"

/* The plot's edges in percent of the chart's width, and the room left of 100 for labels that are
 * centred on a tick. */
static const double plot_left = 2.0, plot_right = 98.0, tick_left = 9.0, tick_right = 91.0;
/* Least distance of two ticks: a label of eight characters on the narrowest screen (340 pixels). */
static const double tick_distance = 16.0;
/* Every axis shows at least this much on either side of 1. */
static const double least_ratio = 1.08;
/* Part of the axis left free at each end. */
static const double padding = 0.08;
/* A stacked bar's place between name and median. */
static const double bar_left = 40.0, bar_width = 42.0;
/* Least part of the chart's width that a digit needs. */
static const double digit_width = 2.6;

struct lm_placed lm_chart_placed(const struct lm_comparison *comparison,
                                 const struct lm_matchup *matchup, size_t case_index)
{
    const struct lm_cell *cell = &matchup->cells[case_index];
    const struct lm_measurement *candidate =
        &comparison->implementations[matchup->candidate].cases[case_index];
    const struct lm_measurement *baseline =
        &comparison->implementations[matchup->baseline].cases[case_index];
    bool higher = comparison->cases[case_index].higher_is_better;
    struct lm_placed placed = {
        .ratio = NAN, .low = NAN, .high = NAN, .band_low = NAN, .band_high = NAN};
    if (cell->verdict == LM_VERDICT_FAILED || cell->verdict == LM_VERDICT_SKIPPED) {
        return placed;
    }
    placed.ratio = lm_ratio(candidate->metric.median, baseline->metric.median, higher);
    placed.low = cell->paired.low;
    placed.high = cell->paired.high;
    if (isfinite(cell->noise)) {
        /* The differences -noise and +noise as ratios. A band that has no end goes to the axis'. */
        placed.band_low = higher ? fmax(1.0 - cell->noise, 0.0) : 1.0 / (1.0 + cell->noise);
        placed.band_high = higher              ? 1.0 + cell->noise
                           : cell->noise < 1.0 ? 1.0 / (1.0 - cell->noise)
                                               : INFINITY;
    }
    return placed;
}

static void widen(struct lm_axis *axis, double ratio)
{
    if (isfinite(ratio) && ratio > 0.0) {
        axis->low = fmin(axis->low, log10(ratio));
        axis->high = fmax(axis->high, log10(ratio));
    }
}

double lm_axis_place(const struct lm_axis *axis, double ratio)
{
    double at = ratio > 0.0 ? (log10(ratio) - axis->low) / (axis->high - axis->low) : 0.0;
    at = fmin(fmax(at, 0.0), 1.0);
    return plot_left + at * (plot_right - plot_left);
}

static void add_tick(struct lm_axis *axis, double ratio, bool times)
{
    double percent = lm_axis_place(axis, ratio);
    if (axis->tick_count == LM_TICKS || percent < tick_left || percent > tick_right) {
        return;
    }
    for (size_t i = 0; i < axis->tick_count; i++) {
        if (fabs(axis->ticks[i].percent - percent) < tick_distance) {
            return;
        }
    }
    struct lm_tick *tick = &axis->ticks[axis->tick_count++];
    double difference = times ? (1.0 - 1.0 / ratio) * 100.0 : (ratio - 1.0) * 100.0;
    *tick = (struct lm_tick){.ratio = ratio, .percent = percent};
    snprintf(tick->times, sizeof tick->times, "%.5g×", ratio);
    snprintf(tick->difference, sizeof tick->difference,
             fabs(difference) < 10.0     ? "%+.2g %%"
             : fabs(difference) < 1000.0 ? "%+.3g %%"
             : fabs(difference) < 1e5    ? "%+.0f %%"
                                         : "%+.0e %%",
             difference);
    lm_shorten_exponent(tick->times);
    lm_shorten_exponent(tick->difference);
    if (ratio == 1.0) {
        strcpy(tick->difference, "0 %");
    }
}

/* Round ratios first: 1, then powers of ten, then ever finer steps wherever there is room. */
static void add_ticks(struct lm_axis *axis, bool times)
{
    static const double steps[][10] = {
        {1.0},           {2.0, 5.0},       {3.0, 1.5, 7.0},   {1.2, 8.0, 6.0, 4.0},
        {1.1, 9.0, 2.5}, {1.05, 9.5, 1.3}, {1.02, 9.8, 1.03},
    };
    add_tick(axis, 1.0, times);
    for (size_t level = 0; level < sizeof steps / sizeof *steps; level++) {
        for (const double *step = steps[level]; *step != 0.0; step++) {
            for (double power = floor(axis->low); power <= ceil(axis->high); power += 1.0) {
                add_tick(axis, *step * pow(10.0, power), times);
            }
        }
    }
}

struct lm_axis lm_chart_axis(const struct lm_comparison *comparison, const struct lm_chart *chart)
{
    struct lm_axis axis = {.low = -log10(least_ratio), .high = log10(least_ratio)};
    bool all_times = chart->case_count > 0;
    for (size_t i = 0; i < chart->case_count; i++) {
        all_times = all_times && !comparison->cases[chart->cases[i]].higher_is_better;
        for (size_t j = 0; j < comparison->matchup_count; j++) {
            if (!comparison->matchups[j].aa) {
                struct lm_placed placed =
                    lm_chart_placed(comparison, &comparison->matchups[j], chart->cases[i]);
                widen(&axis, placed.ratio);
                widen(&axis, placed.low);
                widen(&axis, placed.high);
            }
        }
    }
    double free_part = (axis.high - axis.low) * padding;
    axis.low -= free_part;
    axis.high += free_part;
    add_ticks(&axis, all_times);
    return axis;
}

void lm_chart_bar(const struct lm_tally *tally, struct lm_bar_part parts[LM_BAR_PARTS])
{
    static const enum lm_verdict order[LM_BAR_PARTS - 1] = {
        LM_VERDICT_SLOWER, LM_VERDICT_WITHIN_NOISE, LM_VERDICT_FASTER};
    size_t rest = tally->case_count;
    double x = bar_left;
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        size_t count = i < LM_BAR_PARTS - 1 ? tally->verdicts[order[i]] : rest;
        char digits[24];
        double width =
            tally->case_count > 0 ? bar_width * (double)count / (double)tally->case_count : 0.0;
        snprintf(digits, sizeof digits, "%zu", count);
        parts[i] = (struct lm_bar_part){
            .x = x,
            .width = width,
            .count = count,
            .labelled = count > 0 && width >= digit_width * (double)strlen(digits) + 0.6};
        rest -= i < LM_BAR_PARTS - 1 ? count : 0;
        x += width;
    }
}

/* Paths of about equal weight around 0,0, none wider than 12 pixels. */
static const char *const shapes[] = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",                       /* circle */
    "M-3.5-3.5h7v7h-7z",                                        /* square */
    "M0-4.5L4.7 3.7h-9.4z",                                     /* triangle */
    "M0-5L5 0 0 5-5 0z",                                        /* diamond */
    "M0 4.5L4.7-3.7h-9.4z",                                     /* triangle, pointing down */
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",                    /* cross */
    "M0-4.8L4.6-1.5 2.8 4h-5.6L-4.6-1.5z",                      /* pentagon */
    "M0-5.8L1.6-1.6 5.8 0 1.6 1.6 0 5.8-1.6 1.6-5.8 0-1.6-1.6z" /* star */
};

#define SHAPES (sizeof shapes / sizeof *shapes)

const char *lm_chart_shape(size_t implementation)
{
    return shapes[implementation % SHAPES];
}

size_t lm_chart_colour(size_t implementation)
{
    return (implementation + implementation / SHAPES) % SHAPES;
}
