/* spin - no readiness API at all: non-blocking calls retried in turn. The floor: what the bare
 * system calls of a case cost, without any event loop's help or hindrance. */
#include <errno.h>

#include "backends/backends.h"
#include "backends/readiness.h"

static const struct lm_option spin_options[] = {
    LM_READY_ORDER_OPTION(LM_ORDER_TWO_PHASE),
    LM_READY_WRITE_OPTIONS,
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct lm_poller spin_poller = {0};

static int spin_lane_open(struct lm_lane *lane, const struct lm_loop_config *config)
{
    return lm_ready_lane_open((struct lm_ready_lane *)lane, &spin_poller, config, 0);
}

static const struct lm_engine spin_engine = {LM_READY_ENGINE(struct lm_ready_lane),
                                             .lane_open = spin_lane_open};

static int spin_available(const uint64_t *options, char *why, size_t why_bytes)
{
    (void)options, (void)why, (void)why_bytes;
    return 0;
}

static int spin_loop_create(const struct lm_loop_config *config, struct lm_loop **loop)
{
    if (config->threads > 1) {
        return -ENOTSUP;
    }
    return lm_loop_create(&spin_engine, config, loop);
}

const struct lm_backend lm_backend_spin = {
    .abi = LM_BACKEND_ABI,
    .name = "spin",
    .title = "spin (non-blocking calls retried, no readiness API)",
    .capabilities = LM_CAP_LOCKLESS | LM_CAP_LOCAL,
    .limits = "spin is the floor of same-loop cases only: it never sleeps, so several threads or "
              "loops would take each other's processor time",
    .options = spin_options,
    .available = spin_available,
    .describe = lm_ready_describe,
    .loop_create = spin_loop_create,
    LM_LOOP_MEMBERS,
};
