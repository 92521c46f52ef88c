/* comparison.h - the model of a comparison: what every form, page and gate is made from.
 *
 * It is built from one results file (each backend against the baseline), from two (each backend
 * before against itself after) or from an imported table. It holds numbers and outcomes, no layout
 * and no words for them (wording.h). It owns everything it points to: its source may be freed.
 */
#ifndef LM_COMPARISON_H
#define LM_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/results.h"
#include "report/statistics.h"

struct lm_import;

/* In the order in which they are tried; the first that applies is the verdict. */
enum lm_verdict {
    LM_VERDICT_FAILED,   /* a sample of either side failed; left out of every summary figure */
    LM_VERDICT_SKIPPED,  /* a side can not run here */
    LM_VERDICT_UNSTABLE, /* a side has two clusters of samples or a CV above the limit */
    LM_VERDICT_NONE,     /* too few iterations, or verdicts are withheld */
    LM_VERDICT_WITHIN_NOISE,
    LM_VERDICT_FASTER,
    LM_VERDICT_SLOWER,
    LM_VERDICT_COUNT
};

/* Parts of a comparison that are summarised apart. */
enum lm_section {
    LM_SECTION_MAIN,
    LM_SECTION_SPLIT, /* the two ends on different loops */
    LM_SECTION_MICRO,
    LM_SECTION_COUNT
};

/* One good sample's primary figure. */
struct lm_point {
    uint32_t iteration;
    double metric;
};

/* One implementation on one case. NAN where something is not known. */
struct lm_measurement {
    size_t failed, skipped; /* samples; skipped is 1 when the whole implementation could not run */
    const char *reason;     /* why: of the first failed, else of the first skipped; or NULL */
    bool imported;          /* a table's median and CV: count, points and the rest unknown */
    struct lm_summary metric; /* of the good samples, in the case's unit */
    double
        published_difference; /* imported: as printed, from the comparison's baseline; else NAN */
    struct lm_clusters clusters;
    struct lm_point *points;       /* metric.count of them, by iteration */
    double p50_ns, p99_ns;         /* median over the samples of each sample's quantile */
    double cpu_ns_per_operation;   /* user and system time of the whole process; median */
    double syscalls_per_operation; /* all kinds; median */
};

struct lm_implementation {
    const char *name;     /* identity: spec, or a table's name; files told apart by "(before)" */
    const char *title;    /* "" when unknown */
    const char *settings; /* "" when unknown */
    bool aa;              /* the baseline's second copy */
    bool floor;           /* never sleeps: no choice for a program, so never named the best */
    struct lm_measurement *cases; /* case_count of them */
};

struct lm_compared_case {
    const char *name;      /* family/case[/argument] */
    const char *operation; /* "" when unknown */
    const char *unit;      /* "ops/s", "bytes/s", "ns" or "s" */
    bool higher_is_better;
    enum lm_section section;
    size_t family; /* into lm_comparison.families */
};

struct lm_compared_family {
    const char *name;
    enum lm_section section;
    size_t case_count;
};

/* A candidate against its baseline on one case. */
struct lm_cell {
    enum lm_verdict verdict;
    const char *reason;        /* why no winner is named; NULL otherwise */
    double difference, noise;  /* fractions; NAN when not known */
    struct lm_interval paired; /* ratio to the baseline, above 1 is better; estimate NAN if none */
};

/* Counts and the median difference of a group of cases. */
struct lm_tally {
    size_t case_count;
    size_t verdicts[LM_VERDICT_COUNT]; /* their sum is case_count */
    double median_difference; /* of all but failed, skipped and unstable; NAN when there is none */
};

/* A candidate against its baseline. */
struct lm_matchup {
    size_t candidate, baseline; /* into lm_comparison.implementations */
    bool aa;                    /* the baseline against itself: no candidate, but the noise floor */
    struct lm_cell *cells;      /* case_count of them */
    struct lm_tally sections[LM_SECTION_COUNT];
    struct lm_tally *families; /* family_count of them */
};

enum lm_remark_kind {
    LM_REMARK_FAILED,   /* one for each failed sample */
    LM_REMARK_SKIPPED,  /* one for each implementation and reason */
    LM_REMARK_UNSTABLE, /* one for each implementation and case */
    LM_REMARK_NONE,     /* no verdict: one for each implementation and reason */
    LM_REMARK_WARNING,  /* one for each implementation, case and text */
    LM_REMARK_COUNT
};

/* Something about an implementation's samples that a reader has to know. */
struct lm_remark {
    enum lm_remark_kind kind;
    size_t implementation;
    size_t case_index;     /* the first one */
    size_t last_case;      /* the latest one; used while counting */
    uint32_t iteration;    /* the first one, from 0 */
    size_t samples, cases; /* how many it stands for */
    const char *text;      /* of a failed or skipped sample, or a warning: may be anything */
};

/* Something about the source itself. */
struct lm_note {
    const char *subject; /* a file or an implementation */
    const char *text;    /* this program's words */
};

struct lm_comparison {
    const char *source;          /* the file, or the first of two */
    const char *source_after;    /* the second of two, or NULL */
    uint32_t iterations;         /* as configured; 0 when unknown */
    double duration_s, warmup_s; /* as configured; 0 when unknown */

    struct lm_compared_case *cases;
    size_t case_count;
    struct lm_compared_family *families;
    size_t family_count;
    struct lm_implementation *implementations;
    size_t implementation_count;
    struct lm_matchup *matchups;
    size_t matchup_count;
    size_t baseline; /* the one baseline; with two files that of the first matchup */

    struct lm_remark *remarks;
    size_t remark_count;
    size_t failed_samples;
    struct lm_note *notes;
    size_t note_count;
    const char **warnings; /* about the machine when it was measured, each with its remedy */
    size_t warning_count;

    const char **settings; /* with two files: "duration_s: 2.0 against 0.5" for each that differs */
    size_t setting_count;
    bool side_by_side; /* iterations of a pair ran next to each other: paired ratios mean something
                        */
    bool withheld;     /* the settings differ and nobody forced it: no verdict is given */

    void **kept; /* everything owned; private */
    size_t kept_count;
};

struct lm_compare_options {
    const char *baseline; /* name of an implementation; NULL: the source's own */
    const char *cases;    /* comma-separated globs over whole case names; NULL: all */
    bool force;           /* give verdicts though two files differ in settings */
};

/* Each builds a comparison that the caller frees with lm_comparison_free. On failure they return
 * -ENOENT (no such baseline, a glob that matches nothing), -EINVAL (nothing in common), -ENOMEM,
 * with one line in `error` that names the thing and what there is instead. */
int lm_comparison_from_results(const struct lm_results *results,
                               const struct lm_compare_options *options,
                               struct lm_comparison **comparison, char *error, size_t error_bytes);
int lm_comparison_from_two(const struct lm_results *before, const struct lm_results *after,
                           const struct lm_compare_options *options,
                           struct lm_comparison **comparison, char *error, size_t error_bytes);
int lm_comparison_from_import(const struct lm_import *import,
                              const struct lm_compare_options *options,
                              struct lm_comparison **comparison, char *error, size_t error_bytes);
void lm_comparison_free(struct lm_comparison *comparison);

/* Two clusters of samples, or a CV above the limit. */
bool lm_is_unstable(const struct lm_measurement *measurement);

/* What an A/A matchup says about the machine. */
struct lm_noise_floor {
    size_t case_count;      /* with a difference */
    size_t judged;          /* of these with a noise band, which one iteration does not have */
    size_t outside;         /* of these beyond it */
    double median, largest; /* of |difference|; NAN when case_count is 0 */
    size_t largest_case;
};
int lm_noise_floor(const struct lm_comparison *comparison, const struct lm_matchup *matchup,
                   struct lm_noise_floor *floor);

#endif
