/* best.h - which implementation leads, in one case and over a family.
 *
 * A leader is named only where the figures carry it: beyond the noise of every other one. Not for
 * verdicts against the baseline: comparison.h.
 */
#ifndef LM_BEST_H
#define LM_BEST_H

#include <stdbool.h>

#include "report/comparison.h"

/* The implementation with the best median of a case, if the difference to each other one is outside
 * their noise; SIZE_MAX when none is. Never one that failed, was skipped, is unstable, is a floor
 * or the baseline's second copy; an unstable one can still keep another from being named. */
size_t lm_best_of_case(const struct lm_comparison *comparison, size_t case_index);

/* The implementation with the highest median difference from the baseline over a family, and the
 * one with the highest of another backend: two settings of one (names equal up to a colon) do not
 * hide what it is worth. The baseline itself counts with 0; floors and second copies are passed
 * over. Both SIZE_MAX where there are not two. */
struct lm_leaders {
    size_t first, second;
};
struct lm_leaders lm_leaders_of_family(const struct lm_comparison *comparison, size_t family);

/* Cases of a tally whose verdict is faster, within noise or slower. */
size_t lm_judged_cases(const struct lm_tally *tally);

/* Whether a leader leads or ties, from its tally over a family with the next one as the baseline.
 */
bool lm_is_lead(const struct lm_tally *against_the_next);

/* The matchup of a candidate; NULL for the baseline. */
const struct lm_matchup *lm_matchup_of(const struct lm_comparison *comparison, size_t candidate);

#endif
