/* chart.h - the charts of a page as SVG: one drawer for all forms.
 *
 * Widths are in percent and heights in pixels, so that a chart fills 300 pixels as well as 1600
 * without its text being scaled. Not for tables, words around a chart, or what scripts do to it.
 */
#ifndef LM_CHART_H
#define LM_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/comparison.h"

struct lm_page;

enum lm_chart_kind {
    LM_CHART_SUMMARY, /* counts of verdicts, family by family */
    LM_CHART_RATIOS   /* ratios to the baseline, case by case */
};

struct lm_chart {
    enum lm_chart_kind kind;
    char id[80];        /* unique on the page, fit for a file name: "summary", "fan_out-2" */
    size_t family;      /* of a LM_CHART_RATIOS */
    size_t part, parts; /* from 1; a family with many cases has several */
    size_t *cases;      /* owned by the page; indices into the comparison's cases */
    size_t case_count;
};

/* Most cases of a chart; a family with more is split into parts of about equal length. */
#define LM_CHART_CASES 20u

/* One tick of an axis of ratios. */
struct lm_tick {
    double ratio;
    double percent;      /* place, from the left edge of the chart */
    char times[24];      /* "2×" */
    char difference[24]; /* "+100 %": what the tables show for that ratio */
};

#define LM_TICKS 8

/* A logarithmic axis of ratios that holds every mark of a chart. */
struct lm_axis {
    double low, high; /* log10 of the ratios at its ends */
    struct lm_tick ticks[LM_TICKS];
    size_t tick_count;
};

/* A candidate's place on an axis; ratios above 1 are better. NAN where there is nothing to show. */
struct lm_placed {
    double ratio, low, high;    /* of the medians; the paired ratio's interval */
    double band_low, band_high; /* within noise */
};
struct lm_placed lm_chart_placed(const struct lm_comparison *comparison,
                                 const struct lm_matchup *matchup, size_t case_index);

/* The axis on which all candidates of `comparison` on the chart's cases find room. */
struct lm_axis lm_chart_axis(const struct lm_comparison *comparison, const struct lm_chart *chart);

/* Place of a ratio in percent of the chart's width; ratios beyond the axis are put at its ends. */
double lm_axis_place(const struct lm_axis *axis, double ratio);

/* Part of a stacked bar, in percent of the chart's width. */
struct lm_bar_part {
    double x, width;
    size_t count;
    bool labelled; /* it has room for its count */
};
#define LM_BAR_PARTS 4 /* slower, within noise, faster, everything else */
void lm_chart_bar(const struct lm_tally *tally, struct lm_bar_part parts[LM_BAR_PARTS]);

/* The mark of an implementation: the path of its shape around 0,0, and the number of its colour
 * (class cN in chart.css). Shape and colour together are different for 64 implementations. */
const char *lm_chart_shape(size_t implementation);
size_t lm_chart_colour(size_t implementation);

/* What a verdict's mark looks like: a class of chart.css. */
const char *lm_chart_look(enum lm_verdict verdict);

/* Where a name stands on a chart: alone on a line, in an axis' title, before a bar. */
enum lm_chart_name {
    LM_NAME_LINE,
    LM_NAME_AXIS,
    LM_NAME_BAR,
    LM_NAME_COUNT
};

/* Columns there is room for on the narrowest screen. */
extern const size_t lm_chart_name_columns[LM_NAME_COUNT];

/* A name cut to the room there is; hints and tables have it whole. The caller frees it. NULL when
 * memory is short. */
char *lm_chart_short(enum lm_chart_name where, const char *name);

/* What hovering over a candidate's lane tells, plain; the caller frees it. NULL when memory is
 * short. */
char *lm_chart_hint(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                    size_t case_index);

/* What the chart shows of `comparison`, for readers who do not see it: plain; the caller frees it.
 * NULL when memory is short. */
char *lm_chart_description(const struct lm_comparison *comparison, const struct lm_chart *chart);

/* Draws a chart. `alone`: as a file of its own, with its style and a background; else as a part of
 * an HTML page, whose style it takes. Errors are left in the stream's error flag; 0 or -ENOMEM. */
int lm_chart_draw(const struct lm_page *page, const struct lm_chart *chart, bool alone, FILE *out);

#endif
