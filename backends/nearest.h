/* nearest.h - finds the name a person probably meant.
 *
 *     struct lm_nearest nearest = {.word = "epol"};
 *     lm_nearest_offer(&nearest, "epoll");
 *     ... lm_nearest_offer(&nearest, each other name) ...
 *     if (nearest.best != NULL) ...
 */
#ifndef LM_NEAREST_H
#define LM_NEAREST_H

#include <stddef.h>

struct lm_nearest {
    const char *word; /* what was written; set by the caller, the rest starts as zero */
    const char *best; /* the nearest name offered so far, NULL when none is near enough */
    size_t distance;  /* its edits from word */
};

/* Considers `name`, which must outlive `nearest`. A name is near when the word begins it, or when
 * at most a third of its length in edits (insert, delete, replace, swap of neighbours) leads to it.
 */
void lm_nearest_offer(struct lm_nearest *nearest, const char *name);

#endif
