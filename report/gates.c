#include "report/gates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/numbers.h"
#include "report/wording.h"

/* More than any difference can be is a slip of the hand. */
#define MOST_PERCENT 10000.0

static int refuse(const char *gate, size_t length, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes,
             "--fail-on takes slower, slower:PERCENT (0 to %g, such as slower:5) and failed, not "
             "'%.*s'",
             MOST_PERCENT, (int)length, gate);
    return -EINVAL;
}

/* PERCENT or PERCENT%, plain decimal. */
static bool parse_percent(const char *text, size_t length, double *percent)
{
    char copy[32];
    if (length > 0 && text[length - 1] == '%') {
        length--;
    }
    if (length == 0 || length >= sizeof copy || strspn(text, "0123456789.") < length) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *end = NULL;
    *percent = strtod(copy, &end);
    return *end == '\0' && end != copy && *percent <= MOST_PERCENT;
}

static int parse_one(const char *gate, size_t length, struct lm_gates *gates, char *error,
                     size_t error_bytes)
{
    static const char slower[] = "slower", failed[] = "failed";
    size_t name_length = strlen(slower);
    double percent = 0.0;
    if (length == strlen(failed) && strncmp(gate, failed, length) == 0) {
        gates->failed = true;
        return 0;
    }
    if (length < name_length || strncmp(gate, slower, name_length) != 0) {
        return refuse(gate, length, error, error_bytes);
    }
    if (length > name_length &&
        (gate[name_length] != ':' ||
         !parse_percent(gate + name_length + 1, length - name_length - 1, &percent))) {
        return refuse(gate, length, error, error_bytes);
    }
    gates->slower_percent = gates->slower ? fmin(gates->slower_percent, percent) : percent;
    gates->slower = true;
    return 0;
}

int lm_gates_parse(const char *list, struct lm_gates *gates, char *error, size_t error_bytes)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        int status = parse_one(list, length, gates, error, error_bytes);
        if (status != 0 || list[length] == '\0') {
            return status;
        }
        list += length + 1;
    }
}

static int check_failed(const struct lm_comparison *comparison, FILE *out)
{
    int reasons = 0;
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        const struct lm_implementation *implementation = &comparison->implementations[i];
        for (size_t j = 0; j < comparison->case_count; j++) {
            const struct lm_measurement *side = &implementation->cases[j];
            if (side->failed == 0) {
                continue;
            }
            reasons++;
            fputs("gate failed: ", out);
            lm_put_text(out, LM_FORM_TERMINAL, comparison->cases[j].name);
            fputs(", ", out);
            lm_put_text(out, LM_FORM_TERMINAL, implementation->name);
            fprintf(out, ": %zu failed sample%s: ", side->failed, side->failed == 1 ? "" : "s");
            lm_put_text(out, LM_FORM_TERMINAL, side->reason);
            fputc('\n', out);
        }
    }
    return reasons;
}

static void print_slower(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                         size_t case_index, double percent, FILE *out)
{
    const struct lm_implementation *candidate = &comparison->implementations[matchup->candidate];
    const struct lm_implementation *baseline = &comparison->implementations[matchup->baseline];
    const char *unit = comparison->cases[case_index].unit;
    char difference[LM_NUMBER_BYTES], is[LM_NUMBER_BYTES], was[LM_NUMBER_BYTES];
    lm_format_difference(difference, matchup->cells[case_index].difference);
    lm_format_value(is, candidate->cases[case_index].metric.median, unit);
    lm_format_value(was, baseline->cases[case_index].metric.median, unit);
    fprintf(out, "gate slower:%g: ", percent);
    lm_put_text(out, LM_FORM_TERMINAL, comparison->cases[case_index].name);
    fputs(", ", out);
    lm_put_text(out, LM_FORM_TERMINAL, candidate->name);
    fprintf(out, ": %s, %s against %s of ", difference, is, was);
    lm_put_text(out, LM_FORM_TERMINAL, baseline->name);
    fputc('\n', out);
}

static int check_slower(const struct lm_comparison *comparison, double percent, FILE *out)
{
    int reasons = 0;
    size_t verdicts = 0;
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        const struct lm_matchup *matchup = &comparison->matchups[i];
        for (size_t j = 0; j < comparison->case_count && !matchup->aa; j++) {
            const struct lm_cell *cell = &matchup->cells[j];
            verdicts += cell->verdict >= LM_VERDICT_WITHIN_NOISE;
            if (cell->verdict == LM_VERDICT_SLOWER && -cell->difference * 100.0 > percent) {
                print_slower(comparison, matchup, j, percent, out);
                reasons++;
            }
        }
    }
    if (verdicts > 0) {
        return reasons;
    }
    fprintf(out, "gate slower can not be judged: %s\n",
            comparison->withheld ? LM_REASON_WITHHELD
                                 : "no case has a verdict; the comparison says why");
    return -EINVAL;
}

int lm_gates_check(const struct lm_gates *gates, const struct lm_comparison *comparison, FILE *out)
{
    int failed = gates->failed ? check_failed(comparison, out) : 0;
    int slower = gates->slower ? check_slower(comparison, gates->slower_percent, out) : 0;
    return slower < 0 && failed > 0 ? failed : slower < 0 ? slower : failed + slower;
}
