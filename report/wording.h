/* wording.h - the words of a comparison, in one place: verdicts, sentences, headings.
 *
 * Every form and page says the same thing in the same words. Strings from outside are not among
 * them: they go through lm_put_text.
 */
#ifndef LM_WORDING_H
#define LM_WORDING_H

#include "report/comparison.h"
#include "report/escape.h"

#define LM_SENTENCE_BYTES 256

/* Why a cell names no winner, where the samples themselves do not say it. */
#define LM_REASON_UNKNOWN            "no reason was recorded"
#define LM_REASON_CANDIDATE_UNSTABLE "the candidate is unstable"
#define LM_REASON_BASELINE_UNSTABLE  "the baseline is unstable"
#define LM_REASON_WITHHELD           "the files differ in settings; --force gives verdicts all the same"
#define LM_REASON_ITERATIONS         "a side has fewer good iterations than a verdict needs"
#define LM_REASON_NO_FIGURE          "a side has no usable figure (nothing measured, or 0)"

#define LM_HEADING_POLICY   "Policy: every threshold behind the verdicts"
#define LM_HEADING_FAMILIES "By family"
#define LM_HEADING_CASES    "By case"
#define LM_HEADING_WARNINGS "Warnings about the machine when it was measured"

/* Heading above the settings in which two files differ. */
const char *lm_settings_heading(const struct lm_comparison *comparison);

/* "within noise" and so on. */
const char *lm_verdict_word(enum lm_verdict verdict);

/* Key for machine-read forms: "within_noise" and so on. */
const char *lm_verdict_key(enum lm_verdict verdict);

/* "" for the main section, which has no heading. */
const char *lm_section_word(enum lm_section section);
const char *lm_section_key(enum lm_section section);

/* Heading of a list of remarks, with a clause that says what it means; and its key. */
const char *lm_remark_heading(enum lm_remark_kind kind);
const char *lm_remark_key(enum lm_remark_kind kind);

/* The answer of one candidate in one line:
 * "68 faster · 15 within noise · 30 slower of 113 — median +58.8 % vs BASELINE"; unstable, skipped,
 * failed and undecided cases are counted between "slower" and "of" when there are any, so that the
 * counts add up. */
void lm_word_answer(FILE *out, enum lm_form form, const struct lm_tally *tally,
                    const char *baseline);

/* The same as a string that the caller frees, names as they are; NULL when memory is short. */
char *lm_answer_text(const struct lm_tally *tally, const char *baseline);

/* What an A/A pair found, in one line. */
void lm_word_noise_floor(FILE *out, enum lm_form form, const struct lm_comparison *comparison,
                         const struct lm_noise_floor *floor);

/* What the paired intervals say to the verdicts of a comparison, and to the baseline against
 * itself; nothing when there are no intervals. Begins with a space. */
void lm_word_intervals(FILE *out, enum lm_form form, const struct lm_comparison *comparison);

/* What "within noise" means and which way differences point. */
void lm_word_within_noise(FILE *out, enum lm_form form);

/* What the columns of a case table are. */
void lm_word_columns(FILE *out, enum lm_form form);

/* Why a measurement is unstable. */
void lm_word_unstable(char text[LM_SENTENCE_BYTES], const struct lm_measurement *side,
                      const char *unit);

/* Where a remark applies: "CASE, iteration 3" or "12 cases, CASE first". */
void lm_word_place(FILE *out, enum lm_form form, const struct lm_comparison *comparison,
                   const struct lm_remark *remark);

#endif
