#include "report/best.h"

#include <math.h>
#include <string.h>

#include "report/policy.h"

/* Has it a figure of this case that another can be held against? */
static bool has_figure(const struct lm_measurement *measurement)
{
    return measurement->failed == 0 && measurement->skipped == 0 &&
           isfinite(measurement->metric.median) && measurement->metric.median > 0.0;
}

static bool is_choice(const struct lm_implementation *implementation)
{
    return !implementation->aa && !implementation->floor;
}

/* Whether `a` is better than `b` beyond the noise of both. */
static bool is_ahead(const struct lm_measurement *a, const struct lm_measurement *b,
                     bool higher_is_better)
{
    double difference = lm_difference(a->metric.median, b->metric.median, higher_is_better);
    double noise = lm_noise(a->metric.cv, b->metric.cv, lm_policy.noise_factor);
    return isfinite(noise) && difference > 0.0 && !lm_within_noise(difference, noise);
}

static bool is_ahead_of_all(const struct lm_comparison *comparison, size_t implementation,
                            size_t case_index)
{
    const struct lm_measurement *own =
        &comparison->implementations[implementation].cases[case_index];
    size_t others = 0;
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        const struct lm_implementation *other = &comparison->implementations[i];
        if (i == implementation || !is_choice(other) || !has_figure(&other->cases[case_index])) {
            continue;
        }
        others++;
        if (!is_ahead(own, &other->cases[case_index],
                      comparison->cases[case_index].higher_is_better)) {
            return false;
        }
    }
    return others > 0;
}

size_t lm_best_of_case(const struct lm_comparison *comparison, size_t case_index)
{
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        const struct lm_implementation *implementation = &comparison->implementations[i];
        const struct lm_measurement *own = &implementation->cases[case_index];
        if (is_choice(implementation) && has_figure(own) && !lm_is_unstable(own) &&
            is_ahead_of_all(comparison, i, case_index)) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct lm_matchup *lm_matchup_of(const struct lm_comparison *comparison, size_t candidate)
{
    for (size_t i = 0; i < comparison->matchup_count; i++) {
        if (comparison->matchups[i].candidate == candidate) {
            return &comparison->matchups[i];
        }
    }
    return NULL;
}

size_t lm_judged_cases(const struct lm_tally *tally)
{
    return tally->verdicts[LM_VERDICT_FASTER] + tally->verdicts[LM_VERDICT_WITHIN_NOISE] +
           tally->verdicts[LM_VERDICT_SLOWER];
}

bool lm_is_lead(const struct lm_tally *against_the_next)
{
    size_t faster = against_the_next->verdicts[LM_VERDICT_FASTER];
    double least = lm_policy.lead_share * (double)lm_judged_cases(against_the_next);
    return faster > against_the_next->verdicts[LM_VERDICT_SLOWER] && (double)faster >= least;
}

/* Whether two implementations are one backend with other settings: a spec's name ends at a colon.
 */
static bool is_one_backend(const struct lm_implementation *a, const struct lm_implementation *b)
{
    size_t bytes = strcspn(a->name, ":");
    return bytes == strcspn(b->name, ":") && memcmp(a->name, b->name, bytes) == 0;
}

/* The choice with the highest median difference, of those that are another backend than `besides`
 * (SIZE_MAX: of all); SIZE_MAX when there is none. */
static size_t highest(const struct lm_comparison *comparison, size_t family, size_t besides)
{
    size_t found = SIZE_MAX;
    double most = NAN;
    for (size_t i = 0; i < comparison->implementation_count; i++) {
        const struct lm_implementation *implementation = &comparison->implementations[i];
        const struct lm_matchup *matchup = lm_matchup_of(comparison, i);
        double median = matchup != NULL ? matchup->families[family].median_difference : 0.0;
        bool wanted = besides == SIZE_MAX ||
                      !is_one_backend(implementation, &comparison->implementations[besides]);
        if (wanted && is_choice(implementation) && !isnan(median) &&
            (found == SIZE_MAX || median > most)) {
            found = i;
            most = median;
        }
    }
    return found;
}

struct lm_leaders lm_leaders_of_family(const struct lm_comparison *comparison, size_t family)
{
    struct lm_leaders leaders = {.first = highest(comparison, family, SIZE_MAX),
                                 .second = SIZE_MAX};
    if (leaders.first != SIZE_MAX) {
        leaders.second = highest(comparison, family, leaders.first);
    }
    /* Alone, the baseline leads nobody; where it failed, every other one is without a median. */
    return leaders.second != SIZE_MAX ? leaders : (struct lm_leaders){SIZE_MAX, SIZE_MAX};
}
