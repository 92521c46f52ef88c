/* page_data.h - what an HTML page's script needs to know, as JSON: every comparison of the page's
 * source, one for each baseline, worked out here. The script computes no statistics.
 */
#ifndef LM_PAGE_DATA_H
#define LM_PAGE_DATA_H

#include <stdio.h>

#include "report/page.h"

/* Writes the data, fit to stand inside <script>: no `<` is in it. 0 or -ENOMEM. Members:
 *   baseline         index of the page's own baseline
 *   implementations  name; cut: on a line, an axis, before a bar; aa; shape: a path; colour: of cN
 *   families         name, id
 *   cases            name, operation, family, higher (is better)
 *   verdicts         words and looks (classes of chart.css), by verdict
 *   columns          of a case's table that can be sorted as numbers: their place in `figures`
 *   figures          [implementation][case]: median, cv, p50, p99, cpu, calls; null if unknown
 *   points           [implementation][case]: the samples' figures by iteration, null where missing
 *   curve            labels; [implementation][case]: values in ns and as text, null if unknown
 *   against          [implementation], null for a second copy:
 *     lanes          the candidates, as implementations, in the order of a chart's lanes
 *     answers        [lane][section]: the answer's words after the name, null without such cases
 *     families       [lane][family] and sections: [lane][section]: the cells of the summary table
 *     bars           [lane][family]: four of x, width, label
 *     cells          [lane][case]: verdict, difference, paired ratio, as in the table; the
 *                    difference as a number; ratio, its interval, the noise band
 *     copy           as a lane of `cells`: the baseline's second copy, null if there is none
 *     axes           [chart]: low and high as log10, ticks with place and two labels; null for the
 *                    summary
 *     descriptions   [chart]: what it shows, in words
 *   charts           id and cases of each chart */
int lm_page_put_data(const struct lm_page *page, FILE *out);

#endif
