/* registry.c - the list of backends this program knows, built or not. */
#include "backends/registry.h"

#include "backends/backends.h"

#define BUILT(table_name, table)                                                                   \
    {                                                                                              \
        .name = table_name, .backend = &(table)                                                    \
    }
#define MISSING(table_name, why)                                                                   \
    {                                                                                              \
        .name = table_name, .missing = why                                                         \
    }

#ifdef __linux__
#define NEEDS_EPOLL(table_name, table) BUILT(table_name, table)
#else
#define NEEDS_EPOLL(table_name, table)                                                             \
    MISSING(table_name, "it needs epoll, which this system does not have (only Linux does)")
#endif

#ifdef LM_HAVE_LIBURING
#define NEEDS_LIBURING(table_name, table) BUILT(table_name, table)
#elif defined(__linux__)
#define NEEDS_LIBURING(table_name, table)                                                          \
    MISSING(table_name, "it was built without liburing 2.3 or newer; install liburing-dev "        \
                        "(Fedora: liburing-devel) and build again")
#else
#define NEEDS_LIBURING(table_name, table)                                                          \
    MISSING(table_name, "it needs io_uring, which this system does not have (only Linux does)")
#endif

static const struct lm_registered registered[] = {
    NEEDS_LIBURING("io_uring", lm_backend_io_uring),
    NEEDS_EPOLL("epoll", lm_backend_epoll),
    BUILT("poll", lm_backend_poll),
    BUILT("spin", lm_backend_spin),
    NEEDS_EPOLL("reactor", lm_backend_reactor),
};

static const char *const default_specs[] = {
#ifdef LM_HAVE_LIBURING
    "io_uring", "io_uring:hybrid=1",
#endif
#ifdef __linux__
    "epoll",
#endif
    "poll",     "spin",
#ifdef __linux__
    "reactor",
#endif
    NULL,
};

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
