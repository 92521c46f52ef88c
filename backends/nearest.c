#include "backends/nearest.h"

#include <stdbool.h>
#include <string.h>

#define MAX_LENGTH 63u

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance. Both words are at most MAX_LENGTH long. */
static size_t edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][MAX_LENGTH + 1u];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller(best, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = smaller(best, two_above[j - 2] + 1);
            }
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

void lm_nearest_offer(struct lm_nearest *nearest, const char *name)
{
    size_t word_length = strlen(nearest->word);
    size_t name_length = strlen(name);
    if (word_length == 0 || word_length > MAX_LENGTH || name_length > MAX_LENGTH) {
        return;
    }
    size_t distance = edits(nearest->word, word_length, name, name_length);
    bool is_beginning = word_length >= 2 && strncmp(nearest->word, name, word_length) == 0;
    if (!is_beginning && distance * 3 > name_length) {
        return;
    }
    if (nearest->best == NULL || distance < nearest->distance) {
        nearest->best = name;
        nearest->distance = distance;
    }
}
