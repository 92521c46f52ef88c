/* poll - the portable one: poll(2) over the descriptors that have something parked. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "backends/backends.h"
#include "backends/readiness.h"

enum {
    OPTION_SPIN_US = LM_READY_OPTIONS
};

static const struct lm_option poll_options[] = {
    LM_READY_ORDER_OPTION(LM_ORDER_TWO_PHASE),
    LM_READY_WRITE_OPTIONS,
    LM_READY_SPIN_OPTION,
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Room for one more descriptor; grows by doubling, so arming allocates nothing in the long run. */
static int poll_reserve(struct lm_ready_lane *lane)
{
    if (lane->poll_count < lane->poll_capacity) {
        return 0;
    }
    uint32_t capacity = lane->poll_capacity ? lane->poll_capacity * 2 : 64;
    struct pollfd *set = realloc(lane->poll_set, capacity * sizeof(*set));
    if (!set) {
        return -ENOMEM;
    }
    lane->poll_set = set;
    struct lm_ready_socket **sockets = realloc(lane->poll_sockets, capacity * sizeof(*sockets));
    if (!sockets) {
        return -ENOMEM;
    }
    lane->poll_sockets = sockets;
    lane->poll_capacity = capacity;
    return 0;
}

static int poll_open(struct lm_ready_lane *lane)
{
    int result = poll_reserve(lane);
    if (!result) {
        lane->poll_set[0] = (struct pollfd){.fd = lane->wakeup.read_fd, .events = POLLIN};
        lane->poll_sockets[0] = NULL;
        lane->poll_count = 1;
    }
    return result;
}

static void poll_close(struct lm_ready_lane *lane)
{
    free(lane->poll_set);
    free(lane->poll_sockets);
}

static int poll_arm(struct lm_ready_lane *lane, struct lm_ready_socket *socket, struct lm_op *op)
{
    short event = lm_work_of(op)->kind >= LM_OP_RECV ? POLLIN : POLLOUT;
    if (!socket->armed) {
        int result = poll_reserve(lane);
        if (result) {
            return result;
        }
        socket->slot = lane->poll_count++;
        lane->poll_set[socket->slot] = (struct pollfd){.fd = socket->base.fd};
        lane->poll_sockets[socket->slot] = socket;
        socket->armed = 1;
    }
    lane->poll_set[socket->slot].events |= event;
    return 0;
}

static bool is_parked(const struct lm_op *op)
{
    return op && ((const struct lm_work *)op->backend_private)->state == LM_OP_PARKED;
}

/* poll is level-triggered: a descriptor leaves the set as soon as nothing of it is parked. */
static void poll_disarm(struct lm_ready_lane *lane, struct lm_ready_socket *socket)
{
    short events = 0;
    events |= is_parked(socket->base.in) ? POLLIN : 0;
    events |= is_parked(socket->base.out) ? POLLOUT : 0;
    if (!socket->armed) {
        return; /* arming it failed */
    }
    if (events) {
        lane->poll_set[socket->slot].events = events;
        return;
    }
    uint32_t last = --lane->poll_count;
    lane->poll_set[socket->slot] = lane->poll_set[last];
    lane->poll_sockets[socket->slot] = lane->poll_sockets[last];
    lane->poll_sockets[socket->slot]->slot = socket->slot;
    socket->armed = 0;
}

static int call_poll(struct lm_ready_lane *lane, int64_t timeout_ns)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_POLL);
#ifdef __APPLE__
    int64_t timeout_ms = timeout_ns < 0 ? -1 : (timeout_ns + 999999) / 1000000;
    return poll(lane->poll_set, lane->poll_count,
                timeout_ms < INT32_MAX ? (int)timeout_ms : INT32_MAX);
#else
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
                               .tv_nsec = timeout_ns % 1000000000};
    return ppoll(lane->poll_set, lane->poll_count, timeout_ns < 0 ? NULL : &timeout, NULL);
#endif
}

static int poll_look(struct lm_ready_lane *lane, int64_t timeout_ns)
{
    int count = call_poll(lane, timeout_ns);
    if (count < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    if (count && lane->poll_set[0].revents) {
        lm_count_syscall(&lane->lane.counters, LM_SYS_READ);
        lm_wakeup_clear(&lane->wakeup);
        count--;
    }
    /* From the end, because a descriptor that leaves is replaced by the last one. */
    for (uint32_t slot = lane->poll_count - 1; slot > 0 && count; slot--) {
        short events = lane->poll_set[slot].revents;
        if (events) {
            bool failed = events & (POLLERR | POLLHUP | POLLNVAL);
            lm_ready_event(lane, lane->poll_sockets[slot], failed || events & POLLIN,
                           failed || events & POLLOUT);
            count--;
        }
    }
    return 0;
}

static const struct lm_poller poll_poller = {
    .open = poll_open,
    .close = poll_close,
    .arm = poll_arm,
    .disarm = poll_disarm,
    .wait = poll_look,
};

static int poll_lane_open(struct lm_lane *lane, const struct lm_loop_config *config)
{
    return lm_ready_lane_open((struct lm_ready_lane *)lane, &poll_poller, config,
                              config->options[OPTION_SPIN_US]);
}

static const struct lm_engine poll_engine = {LM_READY_ENGINE(struct lm_ready_lane),
                                             .lane_open = poll_lane_open};

static int poll_available(const uint64_t *options, char *why, size_t why_bytes)
{
    (void)options, (void)why, (void)why_bytes;
    return 0; /* POSIX has it */
}

static int poll_loop_create(const struct lm_loop_config *config, struct lm_loop **loop)
{
    return lm_loop_create(&poll_engine, config, loop);
}

const struct lm_backend lm_backend_poll = {
    .abi = LM_BACKEND_ABI,
    .name = "poll",
    .title = "poll",
    .capabilities = LM_CAP_THREADS | LM_CAP_LOOPS | LM_CAP_LOCKLESS | LM_CAP_LOCAL,
    .options = poll_options,
    .available = poll_available,
    .describe = lm_ready_describe,
    .loop_create = poll_loop_create,
    LM_LOOP_MEMBERS,
};
