#include "report/page_data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/compare_rows.h"
#include "report/escape.h"
#include "report/numbers.h"
#include "report/wording.h"

/* Digits of a number: enough to place a mark and to sort a column. */
#define DIGITS 6

/* Raw points of an implementation on a case: its first iterations. */
#define MOST_POINTS 1000u

/* Jansson answers NULL when memory is short, and takes NULL for an element's failure; the failure
 * is kept and asked for once. */
struct data {
    const struct lm_page *page;
    bool failed;
};

static json_t *keep(struct data *data, json_t *value)
{
    data->failed = data->failed || value == NULL;
    return value;
}

static void add(struct data *data, json_t *list, json_t *value)
{
    data->failed = json_array_append_new(list, value) != 0 || data->failed;
}

static void set(struct data *data, json_t *object, const char *name, json_t *value)
{
    data->failed = json_object_set_new(object, name, value) != 0 || data->failed;
}

static json_t *list(struct data *data)
{
    return keep(data, json_array());
}

static json_t *object(struct data *data)
{
    return keep(data, json_object());
}

/* Text with what can not be shown made visible, as everywhere on a page. */
static json_t *string(struct data *data, const char *text)
{
    char *clean = lm_escape_text(LM_FORM_TERMINAL, text);
    json_t *value = clean != NULL ? json_string(clean) : NULL;
    free(clean);
    return keep(data, value);
}

static json_t *number(struct data *data, double value)
{
    return keep(data, isfinite(value) ? json_real(value) : json_null());
}

static json_t *whole(struct data *data, size_t value)
{
    return keep(data, json_integer((json_int_t)value));
}

/* A place in percent: two decimals are a tenth of a pixel. */
static json_t *place(struct data *data, double percent)
{
    return number(data, round(percent * 100.0) / 100.0);
}

static json_t *implementations(struct data *data)
{
    const struct lm_comparison *c = data->page->own;
    json_t *all = list(data);
    for (size_t i = 0; i < c->implementation_count; i++) {
        json_t *one = object(data);
        set(data, one, "name", string(data, c->implementations[i].name));
        json_t *cut = list(data);
        for (int where = 0; where < LM_NAME_COUNT; where++) {
            char *text = lm_chart_short((enum lm_chart_name)where, c->implementations[i].name);
            add(data, cut, string(data, text != NULL ? text : ""));
            data->failed = data->failed || text == NULL;
            free(text);
        }
        set(data, one, "cut", cut);
        set(data, one, "aa", json_boolean(c->implementations[i].aa));
        set(data, one, "shape", string(data, lm_chart_shape(i)));
        set(data, one, "colour", whole(data, lm_chart_colour(i)));
        add(data, all, one);
    }
    return all;
}

static json_t *families(struct data *data)
{
    const struct lm_comparison *c = data->page->own;
    json_t *all = list(data);
    for (size_t i = 0; i < c->family_count; i++) {
        json_t *one = object(data);
        set(data, one, "name", string(data, c->families[i].name));
        set(data, one, "id", string(data, data->page->family_ids[i]));
        add(data, all, one);
    }
    return all;
}

static json_t *cases(struct data *data)
{
    const struct lm_comparison *c = data->page->own;
    json_t *all = list(data);
    for (size_t i = 0; i < c->case_count; i++) {
        json_t *one = object(data);
        set(data, one, "name", string(data, c->cases[i].name));
        set(data, one, "operation", string(data, c->cases[i].operation));
        set(data, one, "family", whole(data, c->cases[i].family));
        set(data, one, "higher", json_boolean(c->cases[i].higher_is_better));
        add(data, all, one);
    }
    return all;
}

static json_t *verdicts(struct data *data)
{
    json_t *all = list(data);
    for (int verdict = 0; verdict < LM_VERDICT_COUNT; verdict++) {
        json_t *one = object(data);
        set(data, one, "word", string(data, lm_verdict_word((enum lm_verdict)verdict)));
        set(data, one, "look", string(data, lm_chart_look((enum lm_verdict)verdict)));
        add(data, all, one);
    }
    return all;
}

static json_t *columns(struct data *data)
{
    static const enum lm_case_column order[] = {LM_COLUMN_MEDIAN, LM_COLUMN_CV,
                                                LM_COLUMN_P50,    LM_COLUMN_P99,
                                                LM_COLUMN_CPU,    LM_COLUMN_SYSCALLS};
    json_t *all = object(data);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        set(data, all, lm_case_column_title(order[i]), whole(data, i));
    }
    return all;
}

/* In the order of columns(). */
static json_t *figures_of(struct data *data, const struct lm_measurement *m)
{
    const double values[] = {
        m->metric.median,         m->metric.cv, m->p50_ns, m->p99_ns, m->cpu_ns_per_operation,
        m->syscalls_per_operation};
    json_t *all = list(data);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        add(data, all, number(data, values[i]));
    }
    return all;
}

/* By iteration, null where there is none, so that those of two implementations belong together. */
static json_t *points_of(struct data *data, const struct lm_measurement *m)
{
    json_t *all = list(data);
    size_t next = 0;
    for (size_t i = 0; m->points != NULL && i < m->metric.count; i++) {
        if (m->points[i].iteration >= MOST_POINTS) {
            break; /* a page is no archive, and a file may have any number of them */
        }
        for (; next < m->points[i].iteration; next++) {
            add(data, all, json_null());
        }
        add(data, all, number(data, m->points[i].metric));
        next++;
    }
    return all;
}

static json_t *curve_of(struct data *data, size_t implementation, size_t case_index)
{
    const struct lm_page *page = data->page;
    const struct lm_curve *curve =
        page->curves != NULL ? &page->curves[implementation * page->own->case_count + case_index]
                             : NULL;
    if (curve == NULL || !curve->known) {
        return json_null();
    }
    json_t *values = list(data), *texts = list(data), *both = list(data);
    for (size_t i = 0; i < LM_CURVE_POINTS; i++) {
        char text[LM_NUMBER_BYTES];
        lm_format_time_ns(text, curve->value_ns[i]);
        add(data, values, number(data, curve->value_ns[i]));
        add(data, texts, string(data, text));
    }
    add(data, both, values);
    add(data, both, texts);
    return both;
}

/* [implementation][case] of a kind. */
enum grid_kind {
    GRID_FIGURES,
    GRID_POINTS,
    GRID_CURVES
};

static json_t *grid(struct data *data, enum grid_kind kind)
{
    const struct lm_comparison *c = data->page->own;
    json_t *all = list(data);
    for (size_t i = 0; i < c->implementation_count; i++) {
        json_t *row = list(data);
        for (size_t j = 0; j < c->case_count; j++) {
            const struct lm_measurement *m = &c->implementations[i].cases[j];
            add(data, row,
                kind == GRID_FIGURES  ? figures_of(data, m)
                : kind == GRID_POINTS ? points_of(data, m)
                                      : curve_of(data, i, j));
        }
        add(data, all, row);
    }
    return all;
}

static json_t *curve(struct data *data)
{
    json_t *both = object(data), *labels = list(data);
    for (size_t i = 0; i < LM_CURVE_POINTS; i++) {
        add(data, labels, string(data, lm_curve_labels[i]));
    }
    set(data, both, "labels", labels);
    set(data, both, "values", grid(data, GRID_CURVES));
    return both;
}

static json_t *answers_of(struct data *data, const struct lm_comparison *c,
                          const struct lm_matchup *matchup)
{
    json_t *all = list(data);
    for (int section = 0; section < LM_SECTION_COUNT; section++) {
        const struct lm_tally *tally = &matchup->sections[section];
        if (tally->case_count == 0) {
            add(data, all, json_null());
            continue;
        }
        char *answer = lm_answer_text(tally, c->implementations[matchup->baseline].name);
        add(data, all, string(data, answer != NULL ? answer : ""));
        data->failed = data->failed || answer == NULL;
        free(answer);
    }
    return all;
}

static json_t *tally_cells(struct data *data, const struct lm_tally *tally)
{
    struct lm_tally_row row;
    json_t *all = list(data);
    lm_tally_cells(&row, tally);
    for (int i = 0; i < LM_TALLY_COLUMNS; i++) {
        add(data, all, string(data, row.cells[i]));
    }
    return all;
}

static json_t *tallies_of(struct data *data, const struct lm_tally *tallies, size_t count)
{
    json_t *all = list(data);
    for (size_t i = 0; i < count; i++) {
        add(data, all, tally_cells(data, &tallies[i]));
    }
    return all;
}

static json_t *bars_of(struct data *data, const struct lm_comparison *c,
                       const struct lm_matchup *matchup)
{
    json_t *all = list(data);
    for (size_t family = 0; family < c->family_count; family++) {
        struct lm_bar_part parts[LM_BAR_PARTS];
        json_t *bar = list(data);
        lm_chart_bar(&matchup->families[family], parts);
        for (size_t i = 0; i < LM_BAR_PARTS; i++) {
            json_t *part = list(data);
            add(data, part, place(data, parts[i].x));
            add(data, part, place(data, parts[i].width));
            add(data, part, parts[i].labelled ? whole(data, parts[i].count) : json_string(""));
            add(data, bar, part);
        }
        add(data, all, bar);
    }
    return all;
}

static json_t *cells_of(struct data *data, const struct lm_comparison *c,
                        const struct lm_matchup *matchup)
{
    json_t *all = list(data);
    for (size_t i = 0; i < c->case_count; i++) {
        const struct lm_cell *cell = &matchup->cells[i];
        struct lm_placed placed = lm_chart_placed(c, matchup, i);
        struct lm_case_row row;
        json_t *one = list(data);
        lm_case_cells(&row, cell);
        add(data, one, whole(data, (size_t)cell->verdict));
        add(data, one, string(data, row.cells[LM_COLUMN_DIFFERENCE]));
        add(data, one, string(data, row.cells[LM_COLUMN_PAIRED]));
        const double numbers[] = {cell->difference, placed.ratio,    placed.low,
                                  placed.high,      placed.band_low, placed.band_high};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            add(data, one, number(data, numbers[j]));
        }
        add(data, all, one);
    }
    return all;
}

static json_t *axis_of(struct data *data, const struct lm_comparison *c,
                       const struct lm_chart *chart)
{
    if (chart->kind != LM_CHART_RATIOS) {
        return json_null();
    }
    struct lm_axis axis = lm_chart_axis(c, chart);
    json_t *all = object(data), *ticks = list(data);
    for (size_t i = 0; i < axis.tick_count; i++) {
        json_t *tick = list(data);
        add(data, tick, place(data, axis.ticks[i].percent));
        add(data, tick, string(data, axis.ticks[i].times));
        add(data, tick, string(data, axis.ticks[i].difference));
        add(data, ticks, tick);
    }
    set(data, all, "low", number(data, axis.low));
    set(data, all, "high", number(data, axis.high));
    set(data, all, "ticks", ticks);
    return all;
}

static json_t *against(struct data *data, const struct lm_comparison *c)
{
    json_t *all = object(data), *lanes = list(data), *answers = list(data), *axes = list(data);
    json_t *rows = list(data), *sections = list(data), *bars = list(data), *cells = list(data);
    json_t *copy = json_null(), *descriptions = list(data);
    for (size_t i = 0; i < c->matchup_count; i++) {
        const struct lm_matchup *matchup = &c->matchups[i];
        if (matchup->aa) {
            json_decref(copy);
            copy = cells_of(data, c, matchup);
            continue;
        }
        add(data, lanes, whole(data, lm_page_own(data->page, c, matchup->candidate)));
        add(data, answers, answers_of(data, c, matchup));
        add(data, rows, tallies_of(data, matchup->families, c->family_count));
        add(data, sections, tallies_of(data, matchup->sections, LM_SECTION_COUNT));
        add(data, bars, bars_of(data, c, matchup));
        add(data, cells, cells_of(data, c, matchup));
    }
    for (size_t i = 0; i < data->page->chart_count; i++) {
        char *description = lm_chart_description(c, &data->page->charts[i]);
        add(data, axes, axis_of(data, c, &data->page->charts[i]));
        add(data, descriptions, string(data, description != NULL ? description : ""));
        data->failed = data->failed || description == NULL;
        free(description);
    }
    set(data, all, "lanes", lanes);
    set(data, all, "answers", answers);
    set(data, all, "families", rows);
    set(data, all, "sections", sections);
    set(data, all, "bars", bars);
    set(data, all, "cells", cells);
    set(data, all, "copy", copy);
    set(data, all, "axes", axes);
    set(data, all, "descriptions", descriptions);
    return all;
}

static json_t *all_against(struct data *data)
{
    json_t *all = list(data);
    for (size_t i = 0; i < data->page->own->implementation_count; i++) {
        const struct lm_comparison *c = data->page->against[i];
        add(data, all, c != NULL ? against(data, c) : json_null());
    }
    return all;
}

static json_t *charts(struct data *data)
{
    json_t *all = list(data);
    for (size_t i = 0; i < data->page->chart_count; i++) {
        json_t *one = object(data), *of = list(data);
        for (size_t j = 0; j < data->page->charts[i].case_count; j++) {
            add(data, of, whole(data, data->page->charts[i].cases[j]));
        }
        set(data, one, "id", string(data, data->page->charts[i].id));
        set(data, one, "cases", of);
        add(data, all, one);
    }
    return all;
}

/* A `<` is only found in strings, where its escape means the same. */
static int write_part(const char *buffer, size_t size, void *context)
{
    FILE *out = context;
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] == '<') {
            fputs("\\u003c", out);
        } else {
            fputc(buffer[i], out);
        }
    }
    return 0;
}

int lm_page_put_data(const struct lm_page *page, FILE *out)
{
    struct data data = {.page = page};
    json_t *all = object(&data);
    set(&data, all, "baseline", whole(&data, page->own->baseline));
    set(&data, all, "implementations", implementations(&data));
    set(&data, all, "families", families(&data));
    set(&data, all, "cases", cases(&data));
    set(&data, all, "verdicts", verdicts(&data));
    set(&data, all, "columns", columns(&data));
    set(&data, all, "figures", grid(&data, GRID_FIGURES));
    set(&data, all, "points", grid(&data, GRID_POINTS));
    set(&data, all, "curve", curve(&data));
    set(&data, all, "charts", charts(&data));
    set(&data, all, "against", all_against(&data));
    if (!data.failed) {
        data.failed = json_dump_callback(all, write_part, out,
                                         JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) != 0;
    }
    json_decref(all);
    return data.failed ? -ENOMEM : 0;
}
