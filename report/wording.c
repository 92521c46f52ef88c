#include "report/wording.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/string_stream.h"
#include "report/numbers.h"
#include "report/policy.h"

struct word {
    const char *word, *key;
};

static const struct word verdicts[LM_VERDICT_COUNT] = {
    [LM_VERDICT_FAILED] = {"failed", "failed"},
    [LM_VERDICT_SKIPPED] = {"skipped", "skipped"},
    [LM_VERDICT_UNSTABLE] = {"unstable", "unstable"},
    [LM_VERDICT_NONE] = {"no verdict", "no_verdict"},
    [LM_VERDICT_WITHIN_NOISE] = {"within noise", "within_noise"},
    [LM_VERDICT_FASTER] = {"faster", "faster"},
    [LM_VERDICT_SLOWER] = {"slower", "slower"},
};

static const struct word sections[LM_SECTION_COUNT] = {
    [LM_SECTION_MAIN] = {"", "main"},
    [LM_SECTION_SPLIT] = {"split, the two ends on different loops", "split"},
    [LM_SECTION_MICRO] = {"micro", "micro"},
};

static const struct word remarks[LM_REMARK_COUNT] = {
    [LM_REMARK_FAILED] = {"Failed samples: their cases are left out of every summary figure",
                          "failed"},
    [LM_REMARK_SKIPPED] = {"Skipped: can not run here", "skipped"},
    [LM_REMARK_UNSTABLE] = {"Unstable: shown, never a winner", "unstable"},
    [LM_REMARK_NONE] = {"No verdict", "no_verdict"},
    [LM_REMARK_WARNING] = {"Warnings: counted, but read with care", "warning"},
};

const char *lm_verdict_word(enum lm_verdict verdict)
{
    return verdicts[verdict].word;
}

const char *lm_verdict_key(enum lm_verdict verdict)
{
    return verdicts[verdict].key;
}

const char *lm_section_word(enum lm_section section)
{
    return sections[section].word;
}

const char *lm_section_key(enum lm_section section)
{
    return sections[section].key;
}

const char *lm_remark_heading(enum lm_remark_kind kind)
{
    return remarks[kind].word;
}

const char *lm_remark_key(enum lm_remark_kind kind)
{
    return remarks[kind].key;
}

const char *lm_settings_heading(const struct lm_comparison *comparison)
{
    return comparison->withheld
               ? "The files differ in settings, so there are no verdicts; --force gives them"
               : "The files differ in settings; verdicts are forced";
}

/* Own words into running text of a form; names go through lm_put_text. */
static void put(FILE *out, enum lm_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put(FILE *out, enum lm_form form, const char *format, ...)
{
    char words[2 * LM_SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    lm_put_words(out, form, words);
}

void lm_word_answer(FILE *out, enum lm_form form, const struct lm_tally *tally,
                    const char *baseline)
{
    static const enum lm_verdict always[] = {LM_VERDICT_FASTER, LM_VERDICT_WITHIN_NOISE,
                                             LM_VERDICT_SLOWER};
    static const enum lm_verdict when_any[] = {LM_VERDICT_UNSTABLE, LM_VERDICT_NONE,
                                               LM_VERDICT_SKIPPED, LM_VERDICT_FAILED};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        put(out, form, "%s%zu %s", i == 0 ? "" : " · ", tally->verdicts[always[i]],
            lm_verdict_word(always[i]));
    }
    for (size_t i = 0; i < sizeof when_any / sizeof *when_any; i++) {
        if (tally->verdicts[when_any[i]] > 0) {
            put(out, form, " · %zu %s", tally->verdicts[when_any[i]], lm_verdict_word(when_any[i]));
        }
    }
    char median[LM_NUMBER_BYTES];
    lm_format_difference(median, tally->median_difference);
    put(out, form, " of %zu — median %s vs ", tally->case_count,
        isnan(tally->median_difference) ? "unknown" : median);
    lm_put_text(out, form, baseline);
}

char *lm_answer_text(const struct lm_tally *tally, const char *baseline)
{
    struct lm_string_stream answer;
    if (lm_string_begin(&answer) != NULL) {
        lm_word_answer(answer.out, LM_FORM_PLAIN, tally, baseline);
    }
    return lm_string_end(&answer);
}

void lm_word_noise_floor(FILE *out, enum lm_form form, const struct lm_comparison *comparison,
                         const struct lm_noise_floor *floor)
{
    if (floor->case_count == 0) {
        put(out, form,
            "measured noise floor (the baseline against itself): unknown, no case has samples of "
            "both copies");
        return;
    }
    char median[LM_NUMBER_BYTES], largest[LM_NUMBER_BYTES];
    lm_format_percent(median, floor->median);
    lm_format_percent(largest, floor->largest);
    put(out, form,
        "measured noise floor (the baseline against itself, %zu cases): median |difference| "
        "%s, largest %s (",
        floor->case_count, median, largest);
    lm_put_text(out, form, comparison->cases[floor->largest_case].name);
    if (floor->judged > 0) {
        put(out, form, "), %zu beyond the noise band", floor->outside);
    } else {
        put(out, form, "), noise band unknown");
    }
}

/* Of the cells with an interval and, unless it is LM_VERDICT_COUNT, this verdict: how many there
 * are, and in how many the interval is wholly on one side of 1. */
static size_t count_clear(const struct lm_comparison *comparison, bool aa, enum lm_verdict verdict,
                          size_t *clear)
{
    size_t count = 0;
    *clear = 0;
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        for (size_t j = 0; j < comparison->case_count; j++) {
            const struct lm_cell *cell = &comparison->matchups[i].cells[j];
            bool judged = verdict == LM_VERDICT_COUNT ? cell->verdict != LM_VERDICT_UNSTABLE
                                                      : cell->verdict == verdict;
            if (comparison->matchups[i].aa == aa && judged && isfinite(cell->paired.low)) {
                count++;
                *clear += cell->paired.low > 1.0 || cell->paired.high < 1.0;
            }
        }
    }
    return count;
}

void lm_word_intervals(FILE *out, enum lm_form form, const struct lm_comparison *comparison)
{
    size_t clear, count = count_clear(comparison, false, LM_VERDICT_WITHIN_NOISE, &clear);
    if (count > 0) {
        put(out, form,
            " The rule is cautious: of %zu results within noise, %zu have an interval of the "
            "paired "
            "ratio that lies wholly on one side of 1×.",
            count, clear);
    }
    count = count_clear(comparison, true, LM_VERDICT_COUNT, &clear);
    if (count > 0) {
        put(out, form,
            " The baseline against itself has such an interval in %zu of %zu stable cases.", clear,
            count);
    }
}

void lm_word_within_noise(FILE *out, enum lm_form form)
{
    put(out, form,
        "Within noise: |difference| is at most %g·√(CV² + CV²) of the two sides. "
        "Positive differences and ratios above 1 are better, whatever the unit.",
        lm_policy.noise_factor);
}

void lm_word_columns(FILE *out, enum lm_form form)
{
    put(out, form,
        "p50, p99, CPU/op and calls/op are medians over the iterations. An operation is what the "
        "case counts, a received chunk where the unit is bytes; CPU is that of the whole process, "
        "both ends; calls are the backend's system calls (those that libc makes for contended "
        "locks are not seen).");
}

void lm_word_unstable(char text[LM_SENTENCE_BYTES], const struct lm_measurement *side,
                      const char *unit)
{
    if (side->clusters.found) {
        char low[LM_NUMBER_BYTES], high[LM_NUMBER_BYTES];
        lm_format_value(low, side->clusters.low_median, unit);
        lm_format_value(high, side->clusters.high_median, unit);
        snprintf(text, LM_SENTENCE_BYTES, "two clusters of samples: %zu around %s, %zu around %s",
                 side->clusters.low_count, low, side->clusters.high_count, high);
        return;
    }
    char cv[LM_NUMBER_BYTES];
    lm_format_percent(cv, side->metric.cv);
    snprintf(text, LM_SENTENCE_BYTES, "CV %s is above %g %%", cv, lm_policy.cv_limit * 100.0);
}

void lm_word_place(FILE *out, enum lm_form form, const struct lm_comparison *comparison,
                   const struct lm_remark *remark)
{
    if (remark->cases > 1) {
        put(out, form, "%zu cases, first ", remark->cases);
    }
    lm_put_text(out, form, comparison->cases[remark->case_index].name);
    if (remark->kind == LM_REMARK_FAILED) {
        put(out, form, ", iteration %u", remark->iteration + 1);
        if (comparison->iterations > 0) {
            put(out, form, " of %u", comparison->iterations);
        }
    } else if (remark->kind == LM_REMARK_WARNING && remark->samples > 1) {
        put(out, form, ", %zu samples", remark->samples);
    }
}
