/* registry.c - the list of backends this program knows, built or not. */
#include "backends/registry.h"

#define MISSING(table_name, why)                                                                   \
    {                                                                                              \
        .name = table_name, .missing = why                                                         \
    }

static const struct lm_registered registered[] = {
    MISSING("io_uring", "it is not written yet"), MISSING("epoll", "it is not written yet"),
    MISSING("poll", "it is not written yet"),     MISSING("spin", "it is not written yet"),
    MISSING("reactor", "it is not written yet"),
};

static const char *const default_specs[] = {NULL};

size_t lm_backend_count(void)
{
    return sizeof registered / sizeof registered[0];
}

const struct lm_registered *lm_backend_at(size_t index)
{
    return &registered[index];
}

const char *const *lm_default_specs(void)
{
    return default_specs;
}
