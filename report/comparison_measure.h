/* comparison_measure.h - from a results file's samples to a comparison's measurements; private to
 * the builders in report/.
 */
#ifndef LM_COMPARISON_MEASURE_H
#define LM_COMPARISON_MEASURE_H

#include "report/comparison.h"

/* The samples of a results file, in groups of one backend and one case. */
struct lm_groups {
    const struct lm_results *results;
    const struct lm_sample **samples; /* by group, then iteration, then file order */
    size_t *first;   /* of each group, backend * case_count + case; one more at the end */
    double *scratch; /* room for a figure of every sample */
};

/* 0 or -ENOMEM; lm_groups_free is due either way. `results` must outlive the groups. */
int lm_groups_fill(struct lm_groups *groups, const struct lm_results *results);
void lm_groups_free(struct lm_groups *groups);

/* Sets the comparison's source and makes room for `implementations` and all cases. 0 or -ENOMEM. */
int lm_build_begin(struct lm_comparison *comparison, const struct lm_results *results,
                   size_t implementations);

/* Adds a case and counts it to its family. 0 or -ENOMEM. */
int lm_build_case(struct lm_comparison *comparison, const struct lm_run_case *from);

/* Adds one backend of a results file with its measurements of all cases added before.
 * source_cases[i] is the place in the file of comparison->cases[i]; `suffix` is added to the spec.
 * 0 or -ENOMEM. */
int lm_build_implementation(struct lm_comparison *comparison, struct lm_groups *groups,
                            size_t backend, const size_t *source_cases, const char *suffix);

/* Notes a torn line and a missing end, and warns of what about the machine spoiled the figures. 0
 * or -ENOMEM. */
int lm_build_source_facts(struct lm_comparison *comparison, const struct lm_results *results);

/* A list of lines in a comparison, being filled by a callback. */
struct lm_lines {
    struct lm_comparison *comparison;
    const char ***lines; /* the comparison's own members */
    size_t *count;
    int status; /* the first failure */
};

/* Adds a line unless it is there. 0 or -ENOMEM. */
int lm_build_add_line(struct lm_lines *lines, const char *line);

/* Name of a case; `source` is a struct lm_results (lm_name_at_fn). */
const char *lm_run_case_name_at(const void *source, size_t index);

#endif
