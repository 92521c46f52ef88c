/* results_json.h - from a record's JSON form back to its structure; the other direction is in
 * results.h.
 */
#ifndef LM_RESULTS_JSON_H
#define LM_RESULTS_JSON_H

#include "harness/results.h"
#include "harness/results_schema.h"

/* Fills *run from a `run` record. 0 and *run is the caller's (lm_run_clear); -EBADMSG or -ENOTSUP
 * (newer schema) with a problem, or -ENOMEM: then *run is empty. */
int lm_run_from_json(const json_t *record, struct lm_run *run, struct lm_problem *problem);
void lm_run_clear(struct lm_run *run);

/* Fills *sample from a `sample` record of that run. 0 and *sample is the caller's
 * (lm_sample_clear), or -EBADMSG with a problem or -ENOMEM: then *sample is empty. */
int lm_sample_from_json(const struct lm_run *run, const json_t *record, struct lm_sample *sample,
                        struct lm_problem *problem);
void lm_sample_clear(struct lm_sample *sample);

/* Is this record, an `end` record, that of this run with this many samples? 0 or -EBADMSG. */
int lm_end_from_json(const struct lm_run *run, const json_t *record, size_t sample_count,
                     struct lm_problem *problem);
json_t *lm_end_to_json(const struct lm_run *run, size_t sample_count);

/* The word after "record" in a record, NULL when it has none. */
const char *lm_record_kind(const json_t *record);

#endif
