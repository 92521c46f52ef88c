/* comparison_build.h - what the builders of a comparison share; private to report/.
 *
 * A builder makes an empty comparison, fills cases, families, implementations and their
 * measurements, then calls lm_build_matchup for each pair and lm_build_finish once. All memory
 * belongs to the comparison and goes with it, so builders free nothing on their own.
 */
#ifndef LM_COMPARISON_BUILD_H
#define LM_COMPARISON_BUILD_H

#include "report/comparison.h"

/* NULL when memory is short. */
struct lm_comparison *lm_build_new(void);

/* Zeroed memory, owned by the comparison. NULL when memory is short. count and bytes may be 0. */
void *lm_build_alloc(struct lm_comparison *comparison, size_t count, size_t bytes);

/* Formatted text, owned by the comparison. NULL when memory is short. */
const char *lm_build_text(struct lm_comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for one more element in an array of `count` elements of `bytes` each; doubles when full.
 * 0 or -ENOMEM. */
int lm_build_grow(struct lm_comparison *comparison, void **array, size_t count, size_t bytes);

/* Counts a case to its family, which is added when new. 0 or -ENOMEM. */
int lm_build_family(struct lm_comparison *comparison, const char *name, enum lm_section section,
                    size_t *index);

/* All NAN and zero: nothing known. */
void lm_build_unknown(struct lm_measurement *measurement);

/* The clusters of sorted samples under the policy in force. */
struct lm_clusters lm_build_clusters(const double *sorted, size_t count);

/* Adds a remark, or counts it to an equal one. 0 or -ENOMEM. */
int lm_build_remark(struct lm_comparison *comparison, enum lm_remark_kind kind,
                    size_t implementation, size_t case_index, uint32_t iteration, const char *text);

/* Adds a note; both texts are kept. 0 or -ENOMEM. */
int lm_build_note(struct lm_comparison *comparison, const char *subject, const char *text);

/* Adds a pair; at most implementation_count pairs. 0 or -ENOMEM. */
int lm_build_matchup(struct lm_comparison *comparison, size_t candidate, size_t baseline, bool aa);

/* Gives all verdicts and counts them. 0 or -ENOMEM. */
int lm_build_finish(struct lm_comparison *comparison);

/* Whether a case is asked for: options->cases is NULL or one of its globs matches. A slash is an
 * ordinary character for *. */
bool lm_build_wants(const struct lm_compare_options *options, const char *case_name);

/* Reads the index-th name of a source; NULL when it is not to be named. */
typedef const char *lm_name_at_fn(const void *source, size_t index);

/* Refuses a source without cases (-EINVAL) and a glob that matches none of its cases (-ENOENT),
 * with a line in `error`. */
int lm_build_check_globs(const struct lm_compare_options *options, const void *source,
                         lm_name_at_fn *case_name_at, size_t case_count, const char *path,
                         char *error, size_t error_bytes);

/* Finds options->baseline among a source's implementations. 0, or -ENOENT with a line in `error`
 * that names those there are. */
int lm_build_find_baseline(const char *baseline, const void *source, lm_name_at_fn *name_at,
                           size_t count, const char *path, size_t *index, char *error,
                           size_t error_bytes);

/* Ends a builder: hands over the comparison when status is 0, else frees it, after which `error`
 * holds a line for -ENOMEM too. Returns status. */
int lm_build_conclude(struct lm_comparison *built, int status, struct lm_comparison **comparison,
                      char *error, size_t error_bytes);

#endif
