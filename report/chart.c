#include "report/chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/string_stream.h"
#include "report/assets.h"
#include "report/escape.h"
#include "report/numbers.h"
#include "report/page_parts.h"
#include "report/policy.h"
#include "report/wording.h"

/* Heights in pixels. */
enum {
    LINE = 18,  /* of text */
    LANE = 11,  /* of a candidate in a case's row */
    GAP = 8,    /* between rows */
    TICKS = 34, /* the two lines of a tick's labels */
    BAR = 20,   /* of a stacked bar with the space around it */
    KEY_LINES = 4
};

/* Width of a chart that stands alone. */
#define ALONE_WIDTH 960

struct drawing {
    FILE *out;
    const struct lm_comparison *comparison;
    const struct lm_chart *chart;
    bool alone;
    int y;      /* where the next thing goes */
    int status; /* 0 or -ENOMEM */
};

/* A bold line, a tick's distance from the edge, and a bar's beginning, in characters of about 7
 * pixels on a chart of 320. */
const size_t lm_chart_name_columns[LM_NAME_COUNT] = {
    [LM_NAME_LINE] = 40, [LM_NAME_AXIS] = 28, [LM_NAME_BAR] = 17};

/* Length of the character at the beginning of text, in bytes; bytes that begin none count as one.
 */
static size_t character_bytes(const char *text)
{
    size_t bytes = 1;
    while (((unsigned char)text[bytes] & 0xc0) == 0x80 && bytes < 4) {
        bytes++;
    }
    return bytes;
}

/* At most as many columns of `name` as there is room for. */
static char *cut_name(enum lm_chart_name where, const char *name)
{
    size_t limit = lm_chart_name_columns[where], bytes = 0, columns = 0;
    if (lm_text_columns(name) <= limit) {
        return strdup(name);
    }
    while (name[bytes] != '\0') {
        char character[8] = "";
        size_t length = character_bytes(name + bytes);
        memcpy(character, name + bytes, length);
        columns += lm_text_columns(character);
        if (columns > limit - 1) {
            break;
        }
        bytes += length;
    }
    return lm_page_text("%.*s…", (int)bytes, name);
}

/* What can not be shown is written out before it is measured: that is how the reader sees it. */
char *lm_chart_short(enum lm_chart_name where, const char *name)
{
    char *shown = lm_escape_text(LM_FORM_TERMINAL, name);
    char *cut = shown != NULL ? cut_name(where, shown) : NULL;
    free(shown);
    return cut;
}

static void text(const struct drawing *d, const char *string)
{
    lm_put_text(d->out, LM_FORM_MARKUP, string);
}

static void short_name(struct drawing *d, enum lm_chart_name where, const char *name)
{
    char *cut = lm_chart_short(where, name);
    if (cut == NULL) {
        d->status = -ENOMEM;
        return;
    }
    text(d, cut);
    free(cut);
}

/* Candidates in the order of their lanes. */
static const struct lm_matchup *next_candidate(const struct lm_comparison *comparison,
                                               size_t *index)
{
    while (*index < comparison->matchup_count) {
        const struct lm_matchup *matchup = &comparison->matchups[(*index)++];
        if (!matchup->aa) {
            return matchup;
        }
    }
    return NULL;
}

static size_t candidate_count(const struct lm_comparison *comparison)
{
    size_t count = 0, index = 0;
    while (next_candidate(comparison, &index) != NULL) {
        count++;
    }
    return count;
}

/* `whole`: for those who hear it, else cut to the room there is. */
static void title(struct drawing *d, bool whole)
{
    const struct lm_chart *chart = d->chart;
    if (chart->kind == LM_CHART_SUMMARY) {
        fputs("Verdicts by family", d->out);
        return;
    }
    const char *family = d->comparison->families[chart->family].name;
    if (whole) {
        text(d, family);
    } else {
        short_name(d, LM_NAME_AXIS, family);
    }
    if (chart->parts > 1) {
        fprintf(d->out, ", part %zu of %zu", chart->part, chart->parts);
    }
}

char *lm_chart_description(const struct lm_comparison *comparison, const struct lm_chart *chart)
{
    const char *baseline = comparison->implementations[comparison->baseline].name;
    if (chart->kind == LM_CHART_SUMMARY) {
        return lm_page_text(
            "For each family and candidate, how many cases are slower than, within noise of "
            "and faster than %s, and the median difference.",
            baseline);
    }
    return lm_page_text(
        "For %zu case%s of %s, each candidate's ratio to %s on a logarithmic axis, better to "
        "the right, with its interval and the band that is within noise. The table that "
        "follows has the same figures.",
        chart->case_count, chart->case_count == 1 ? "" : "s",
        comparison->families[chart->family].name, baseline);
}

/* A mark of an implementation at a place; `look` says what is filled. */
static void mark(const struct drawing *d, size_t implementation, double percent, int y,
                 const char *look)
{
    fprintf(d->out,
            "<svg class=\"m c%zu %s\" x=\"%.2f%%\" y=\"%d\" overflow=\"visible\"><path d=\"%s\"/>"
            "</svg>",
            lm_chart_colour(implementation), look, percent, y, lm_chart_shape(implementation));
}

const char *lm_chart_look(enum lm_verdict verdict)
{
    switch (verdict) {
    case LM_VERDICT_FASTER:
    case LM_VERDICT_SLOWER:
        return "f";
    case LM_VERDICT_WITHIN_NOISE:
        return "w";
    default:
        return "u";
    }
}

/* Whether all names fit side by side, as they are shown. The baseline's is among them: a script can
 * make a candidate of it. */
static bool has_short_names(const struct lm_comparison *comparison)
{
    bool short_ones = true;
    for (size_t i = 0; i < comparison->implementation_count && short_ones; i++) {
        char *shown = comparison->implementations[i].aa
                          ? NULL
                          : lm_escape_text(LM_FORM_TERMINAL, comparison->implementations[i].name);
        short_ones = shown == NULL || lm_text_columns(shown) <= lm_chart_name_columns[LM_NAME_BAR];
        free(shown);
    }
    return short_ones;
}

/* Lines of the legend: two candidates a line where their names are short. */
static int legend_lines(const struct lm_comparison *comparison)
{
    int count = (int)candidate_count(comparison);
    return has_short_names(comparison) ? (count + 1) / 2 : count;
}

/* Which shape is whose. */
static void candidates_legend(struct drawing *d)
{
    size_t index = 0, place = 0, columns = has_short_names(d->comparison) ? 2 : 1;
    const struct lm_matchup *matchup;
    fputs("<g class=\"legend\">\n", d->out);
    while ((matchup = next_candidate(d->comparison, &index)) != NULL) {
        bool right = place % columns == 1;
        int y = d->y + (int)(place / columns) * LINE + LINE / 2;
        mark(d, matchup->candidate, right ? 52.0 : 2.0, y, "f");
        fprintf(d->out, "<text x=\"%s\" y=\"%d\" dx=\"10\">", right ? "52%" : "2%", y + 4);
        short_name(d, LM_NAME_LINE, d->comparison->implementations[matchup->candidate].name);
        fputs("</text>\n", d->out);
        place++;
    }
    fputs("</g>\n", d->out);
    d->y += legend_lines(d->comparison) * LINE;
}

/* What marks, bands and lines mean. */
static void ratios_key(struct drawing *d)
{
    static const struct {
        const char *look, *words;
    } marks[] = {{"f", "filled: beyond the noise"},
                 {"w", "grey: within noise"},
                 {"u", "hollow: no sure verdict"}};
    fputs("<g class=\"key\">\n", d->out);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        bool right = i % 2 == 1;
        int y = d->y + (int)(i / 2) * LINE + LINE / 2;
        mark(d, 0, right ? 52.0 : 2.0, y, marks[i].look);
        fprintf(d->out, "<text x=\"%s\" y=\"%d\" dx=\"10\">%s</text>\n", right ? "52%" : "2%",
                y + 4, marks[i].words);
    }
    fprintf(d->out,
            "<text class=\"x\" x=\"52%%\" y=\"%d\" dx=\"-4\">✕<tspan dx=\"5\">failed, "
            "skipped</tspan></text>\n",
            d->y + LINE + LINE / 2 + 4);
    fprintf(d->out,
            "<rect class=\"b\" x=\"1%%\" y=\"%d\" width=\"2%%\" height=\"%d\"/>"
            "<text x=\"3%%\" y=\"%d\" dx=\"6\">band: within noise</text>\n",
            d->y + 2 * LINE + 3, LANE, d->y + 2 * LINE + LINE / 2 + 4);
    fprintf(
        d->out,
        "<line class=\"i c0\" x1=\"1%%\" x2=\"3%%\" y1=\"%d\" y2=\"%d\"/>"
        "<text x=\"3%%\" y=\"%d\" dx=\"6\">line: %g %% interval of the paired ratio</text>\n</g>\n",
        d->y + 3 * LINE + LINE / 2, d->y + 3 * LINE + LINE / 2, d->y + 3 * LINE + LINE / 2 + 4,
        lm_policy.interval_confidence * 100.0);
    d->y += KEY_LINES * LINE;
}

char *lm_chart_hint(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                    size_t case_index)
{
    const struct lm_compared_case *which = &comparison->cases[case_index];
    const struct lm_cell *cell = &matchup->cells[case_index];
    const size_t sides[] = {matchup->candidate, matchup->baseline};
    struct lm_string_stream hint;
    FILE *out = lm_string_begin(&hint);
    if (out == NULL) {
        return NULL;
    }
    fputs(which->name, out);
    if (which->operation[0] != '\0') {
        fprintf(out, " (%s)", which->operation);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct lm_implementation *side = &comparison->implementations[sides[i]];
        char median[LM_NUMBER_BYTES], cv[LM_NUMBER_BYTES];
        lm_format_value(median, side->cases[case_index].metric.median, which->unit);
        lm_format_percent(cv, side->cases[case_index].metric.cv);
        fprintf(out, "%s%s %s, CV %s", i == 0 ? ": " : "; ", side->name, median, cv);
    }
    char difference[LM_NUMBER_BYTES], noise[LM_NUMBER_BYTES];
    lm_format_difference(difference, cell->difference);
    lm_format_percent(noise, cell->noise);
    fprintf(out, "; %s, %s (noise %s)", difference, lm_verdict_word(cell->verdict), noise);
    if (isfinite(cell->paired.low)) {
        char low[LM_NUMBER_BYTES], high[LM_NUMBER_BYTES];
        lm_format_ratio(low, cell->paired.low);
        lm_format_ratio(high, cell->paired.high);
        fprintf(out, "; paired ratio %s to %s", low, high);
    }
    if (cell->reason != NULL) {
        fprintf(out, "; %s", cell->reason);
    }
    return lm_string_end(&hint);
}

/* One candidate on one case. Every lane has all parts, hidden where there is nothing to show, so
 * that a script can show another baseline by moving them. */
static void lane(struct drawing *d, const struct lm_axis *axis, const struct lm_matchup *matchup,
                 size_t case_index, size_t place, int y)
{
    const struct lm_cell *cell = &matchup->cells[case_index];
    struct lm_placed placed = lm_chart_placed(d->comparison, matchup, case_index);
    char *hint = lm_chart_hint(d->comparison, matchup, case_index);
    if (hint == NULL) {
        d->status = -ENOMEM;
        return;
    }
    fprintf(d->out,
            "<svg class=\"lane\" data-case=\"%zu\" data-lane=\"%zu\" y=\"%d\" width=\"100%%\" "
            "height=\"%d\" overflow=\"visible\"><title>",
            case_index, place, y, LANE);
    text(d, hint);
    free(hint);
    fputs("</title>", d->out);
    if (isfinite(placed.band_low)) {
        double low = lm_axis_place(axis, placed.band_low);
        fprintf(d->out, "<rect class=\"b\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"%d\"/>", low,
                lm_axis_place(axis, placed.band_high) - low, LANE);
    }
    if (isfinite(placed.low)) {
        fprintf(d->out, "<line class=\"i c%zu\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
                lm_chart_colour(matchup->candidate), lm_axis_place(axis, placed.low),
                lm_axis_place(axis, placed.high), LANE / 2, LANE / 2);
    }
    if (isfinite(placed.ratio)) {
        mark(d, matchup->candidate, lm_axis_place(axis, placed.ratio), LANE / 2,
             lm_chart_look(cell->verdict));
    } else {
        fprintf(d->out, "<text class=\"x\" x=\"2%%\" y=\"%d\">✕ %s</text>", LANE - 1,
                lm_verdict_word(cell->verdict));
    }
    fputs("</svg>\n", d->out);
}

static void axis_labels(const struct drawing *d, const struct lm_axis *axis, int top, int bottom)
{
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct lm_tick *tick = &axis->ticks[i];
        fprintf(d->out,
                "<svg class=\"tick%s\" x=\"%.2f%%\" overflow=\"visible\"><line y1=\"%d\" "
                "y2=\"%d\"/>",
                tick->ratio == 1.0 ? " one" : "", tick->percent, top, bottom);
        const int lines[] = {top - 20, top - 6, bottom + 14, bottom + 28};
        for (size_t line = 0; line < 4; line++) {
            fprintf(d->out, "<text y=\"%d\">%s</text>", lines[line],
                    line % 2 == 0 ? tick->times : tick->difference);
        }
        fputs("</svg>\n", d->out);
    }
}

/* "times as fast as BASELINE", and which way is better. */
static void axis_title(struct drawing *d)
{
    fprintf(d->out,
            "<text class=\"axis\" x=\"50%%\" y=\"%d\">times as fast as <tspan class=\"baseline\">",
            d->y + 12);
    short_name(d, LM_NAME_AXIS, d->comparison->implementations[d->comparison->baseline].name);
    fprintf(d->out,
            "</tspan></text>\n<text class=\"axis\" x=\"50%%\" y=\"%d\">← slower · faster, better "
            "→</text>\n",
            d->y + LINE + 10);
    d->y += 2 * LINE;
}

/* A case's name without its family, which the title has. */
static const char *name_in_family(const struct lm_comparison *comparison, size_t case_index)
{
    const struct lm_compared_case *which = &comparison->cases[case_index];
    const char *family = comparison->families[which->family].name;
    size_t bytes = strlen(family);
    return strncmp(which->name, family, bytes) == 0 && which->name[bytes] == '/'
               ? which->name + bytes + 1
               : which->name;
}

static void draw_ratios(struct drawing *d)
{
    const struct lm_comparison *c = d->comparison;
    struct lm_axis axis = lm_chart_axis(c, d->chart);
    size_t lanes = candidate_count(c);
    int row = LINE + (int)lanes * LANE + GAP;
    candidates_legend(d);
    ratios_key(d);
    axis_title(d);
    d->y += TICKS;
    int top = d->y, bottom = top + (int)d->chart->case_count * row;
    fputs("<g class=\"ticks\">\n", d->out);
    axis_labels(d, &axis, top, bottom);
    fputs("</g>\n", d->out);
    for (size_t i = 0; i < d->chart->case_count; i++) {
        size_t case_index = d->chart->cases[i], index = 0, place = 0;
        const struct lm_matchup *matchup;
        int y = top + (int)i * row;
        fprintf(d->out, "<text class=\"case\" x=\"0\" y=\"%d\">", y + LINE - 4);
        short_name(d, LM_NAME_LINE, name_in_family(c, case_index));
        fputs("</text>\n", d->out);
        while ((matchup = next_candidate(c, &index)) != NULL) {
            lane(d, &axis, matchup, case_index, place, y + LINE + (int)place * LANE);
            place++;
        }
    }
    d->y = bottom + TICKS;
}

static int ratios_height(const struct drawing *d)
{
    size_t lanes = candidate_count(d->comparison);
    return LINE + legend_lines(d->comparison) * LINE + KEY_LINES * LINE + 2 * LINE + 2 * TICKS +
           (int)d->chart->case_count * (LINE + (int)lanes * LANE + GAP);
}

static const char *const bar_classes[LM_BAR_PARTS] = {"slower", "within", "faster", "other"};
static const char *const bar_words[LM_BAR_PARTS] = {"slower", "within noise", "faster",
                                                    "no verdict"};

static void summary_key(struct drawing *d)
{
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        int y = d->y + (int)(i / 2) * LINE;
        const char *x = i % 2 == 0 ? "1%" : "51%", *text_x = i % 2 == 0 ? "3%" : "53%";
        fprintf(d->out,
                "<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"2%%\" height=\"11\"/><text x=\"%s\" "
                "y=\"%d\" dx=\"6\">%s</text>\n",
                bar_classes[i], x, y + 4, text_x, y + 13, bar_words[i]);
    }
    d->y += LM_BAR_PARTS / 2 * LINE;
}

/* One candidate's bar in one family. As with lanes, all parts are always there. */
static void bar(struct drawing *d, const struct lm_matchup *matchup, size_t family, size_t place,
                const char *family_name)
{
    const struct lm_tally *tally = &matchup->families[family];
    struct lm_bar_part parts[LM_BAR_PARTS];
    char median[LM_NUMBER_BYTES];
    lm_chart_bar(tally, parts);
    lm_format_difference(median, tally->median_difference);
    fprintf(d->out,
            "<svg class=\"bar\" data-family=\"%zu\" data-lane=\"%zu\" y=\"%d\" width=\"100%%\" "
            "height=\"%d\" overflow=\"visible\">",
            family, place, d->y, BAR);
    if (family_name != NULL) {
        fputs("<text x=\"0\" y=\"14\">", d->out);
        short_name(d, LM_NAME_BAR, family_name);
        fputs("</text>", d->out);
    } else {
        mark(d, matchup->candidate, 2.0, 10, "f");
        fputs("<text class=\"who\" x=\"2%\" y=\"14\" dx=\"10\">", d->out);
        short_name(d, LM_NAME_BAR, d->comparison->implementations[matchup->candidate].name);
        fputs("</text>", d->out);
    }
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        fprintf(d->out, "<rect class=\"%s\" x=\"%.2f%%\" y=\"3\" width=\"%.2f%%\" height=\"14\"/>",
                bar_classes[i], parts[i].x, parts[i].width);
    }
    for (size_t i = 0; i < LM_BAR_PARTS; i++) {
        fprintf(d->out, "<text class=\"n %s\" x=\"%.2f%%\" y=\"14\">", bar_classes[i],
                parts[i].x + parts[i].width / 2.0);
        if (parts[i].labelled) {
            fprintf(d->out, "%zu", parts[i].count);
        }
        fputs("</text>", d->out);
    }
    fprintf(d->out, "<text class=\"median\" x=\"99%%\" y=\"14\">%s</text></svg>\n", median);
    d->y += BAR;
}

static void draw_summary(struct drawing *d)
{
    const struct lm_comparison *c = d->comparison;
    bool one = candidate_count(c) == 1;
    summary_key(d);
    fprintf(d->out, "<text class=\"median axis\" x=\"99%%\" y=\"%d\">median difference from ",
            d->y + 12);
    short_name(d, LM_NAME_AXIS, c->implementations[c->baseline].name);
    fputs("</text>\n", d->out);
    d->y += LINE;
    for (size_t family = 0; family < c->family_count; family++) {
        size_t index = 0, place = 0;
        const struct lm_matchup *matchup;
        if (!one) {
            fprintf(d->out, "<text class=\"case\" x=\"0\" y=\"%d\">", d->y + LINE - 4);
            short_name(d, LM_NAME_LINE, c->families[family].name);
            fputs("</text>\n", d->out);
            d->y += LINE;
        }
        while ((matchup = next_candidate(c, &index)) != NULL) {
            bar(d, matchup, family, place++, one ? c->families[family].name : NULL);
        }
        d->y += one ? 0 : GAP;
    }
}

static int summary_height(const struct drawing *d)
{
    int candidates = (int)candidate_count(d->comparison),
        families = (int)d->comparison->family_count;
    int family = candidates == 1 ? BAR : LINE + candidates * BAR + GAP;
    return LINE + LM_BAR_PARTS / 2 * LINE + LINE + families * family + GAP;
}

/* The opening tag, with title and description for those who do not see the chart. */
static void begin(struct drawing *d, int height)
{
    const char *id = d->chart->id;
    fprintf(
        d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" id=\"chart-%s\" role=\"img\" "
        "aria-labelledby=\"title-%s desc-%s\"",
        id, id, id);
    if (d->alone) {
        fprintf(d->out, " width=\"%d\" height=\"%d\"", ALONE_WIDTH, height);
    } else {
        fprintf(d->out, " width=\"100%%\" height=\"%d\"", height);
    }
    fprintf(d->out, ">\n<title id=\"title-%s\">", id);
    title(d, true);
    fprintf(d->out, "</title>\n<desc id=\"desc-%s\">", id);
    char *words = lm_chart_description(d->comparison, d->chart);
    if (words != NULL) {
        text(d, words);
        free(words);
    } else {
        d->status = -ENOMEM;
    }
    fputs("</desc>\n", d->out);
    if (d->alone) {
        fprintf(d->out,
                "<style>%s</style>\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
                lm_asset_chart_css);
    }
}

int lm_chart_draw(const struct lm_page *page, const struct lm_chart *chart, bool alone, FILE *out)
{
    struct drawing d = {.out = out, .comparison = page->own, .chart = chart, .alone = alone};
    begin(&d, chart->kind == LM_CHART_SUMMARY ? summary_height(&d) : ratios_height(&d));
    fprintf(out, "<text class=\"title\" x=\"0\" y=\"%d\">", LINE - 4);
    title(&d, false);
    fputs("</text>\n", out);
    d.y = LINE;
    if (chart->kind == LM_CHART_SUMMARY) {
        draw_summary(&d);
    } else {
        draw_ratios(&d);
    }
    fputs("</svg>\n", out);
    return d.status;
}

/* The charts of one family: its cases in page order, in parts of about equal length. */
static int list_family(struct lm_page *page, size_t family)
{
    const struct lm_comparison *c = page->own;
    size_t count = c->families[family].case_count, next = 0;
    size_t parts = (count + LM_CHART_CASES - 1) / LM_CHART_CASES;
    for (size_t part = 0; part < parts; part++) {
        struct lm_chart *chart = &page->charts[page->chart_count];
        size_t until = count * (part + 1) / parts, seen = 0;
        *chart = (struct lm_chart){
            .kind = LM_CHART_RATIOS, .family = family, .part = part + 1, .parts = parts};
        snprintf(chart->id, sizeof chart->id, parts > 1 ? "%.63s--part-%zu" : "%.63s",
                 page->family_ids[family], part + 1);
        chart->cases = calloc(until - next + 1, sizeof *chart->cases);
        if (chart->cases == NULL) {
            return -ENOMEM;
        }
        page->chart_count++;
        for (size_t i = 0; i < c->case_count; i++) {
            if (c->cases[i].family == family && seen++ >= next && seen <= until) {
                chart->cases[chart->case_count++] = i;
            }
        }
        next = until;
    }
    return 0;
}

int lm_page_list_charts(struct lm_page *page)
{
    const struct lm_comparison *c = page->own;
    size_t most = 1 + c->family_count + c->case_count / LM_CHART_CASES;
    page->charts = calloc(most + 1, sizeof *page->charts);
    if (page->charts == NULL) {
        return -ENOMEM;
    }
    if (candidate_count(c) == 0) {
        return 0;
    }
    page->charts[page->chart_count++] =
        (struct lm_chart){.kind = LM_CHART_SUMMARY, .id = "summary"};
    int status = 0;
    for (size_t family = 0; family < c->family_count && status == 0; family++) {
        status = list_family(page, family);
    }
    return status;
}
