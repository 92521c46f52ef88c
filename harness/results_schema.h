/* results_schema.h - the members of each record, once, for writing and for reading.
 *
 * Internal to the results files of this folder; what the members mean is in results.md.
 */
#ifndef LM_RESULTS_SCHEMA_H
#define LM_RESULTS_SCHEMA_H

#include "harness/results.h"
#include "harness/text.h"

/* Longest strings, in bytes. Writing cuts, reading refuses. */
#define LM_RESULTS_NAME_BYTES 255u
#define LM_RESULTS_TEXT_BYTES (LM_TEXT_BYTES - 1u)

/* Form of a member: the C type of the field and what values are legal. */
enum lm_member_kind {
    LM_MEMBER_NAME,         /* char *: 1..LM_RESULTS_NAME_BYTES bytes */
    LM_MEMBER_TEXT,         /* char *: 0..LM_RESULTS_TEXT_BYTES bytes */
    LM_MEMBER_TEXT_OR_NULL, /* as before, or null */
    LM_MEMBER_U64,          /* uint64_t: whole number 0..2^63 - 1, JSON libraries' common range */
    LM_MEMBER_U64_TEXT,     /* uint64_t with all its bits: a string of decimal digits */
    LM_MEMBER_U32,          /* uint32_t */
    LM_MEMBER_INDEX,        /* size_t */
    LM_MEMBER_REAL,         /* double: finite, not negative */
    LM_MEMBER_BOOL,         /* bool */
    LM_MEMBER_FLAG          /* bool, false when missing: came after the first files were written */
};

struct lm_member {
    const char *name; /* NULL ends a table */
    enum lm_member_kind kind;
    size_t offset;
};

extern const struct lm_member lm_run_members[], lm_run_backend_members[], lm_run_case_members[];
extern const struct lm_member lm_sample_members[], lm_sample_figures[], lm_latency_members[];
extern const struct lm_member lm_counter_members[], lm_network_members[];

/* The word for each enum lm_sample_status, and NULL. */
extern const char *const lm_sample_status_words[];

/* What is wrong with a record: a clause such as "operations is -3, not a whole number from 0". */
struct lm_problem {
    char text[384];
};

/* Writes the clause and returns -EBADMSG. */
int lm_problem(struct lm_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a JSON value is, for such a clause: "missing", "-3", "a string"; `text` is scratch. */
const char *lm_json_word(const json_t *value, char text[32]);

/* A string made fit to be stored (see text.h), cut at max_bytes. NULL when memory is short. */
json_t *lm_schema_string(const char *text, size_t max_bytes);

/* Sets all members of the structure at `base` in `object`. 0 or -ENOMEM. */
int lm_schema_encode(json_t *object, const struct lm_member *members, const void *base);

/* Fills the structure at `base` from `object`; strings become the structure's own. Members that the
 * table does not have are ignored, missing ones are a problem. `where` is put before a member's
 * name, e.g. "cases[3].". 0, -EBADMSG with a problem, or -ENOMEM. */
int lm_schema_decode(const json_t *object, const struct lm_member *members, void *base,
                     const char *where, struct lm_problem *problem);

#endif
