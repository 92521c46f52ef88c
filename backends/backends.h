/* backends.h - the backend tables of this tree, for the registry and for tests. */
#ifndef LM_BACKENDS_H
#define LM_BACKENDS_H

#include "backends/backend.h"

extern const struct lm_backend lm_backend_io_uring; /* Linux, with liburing */
extern const struct lm_backend lm_backend_epoll;    /* Linux */
extern const struct lm_backend lm_backend_poll;
extern const struct lm_backend lm_backend_spin;
extern const struct lm_backend lm_backend_reactor; /* Linux */

#endif
