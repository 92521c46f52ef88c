/* epoll - edge-triggered, and armed only when something blocks: a socket whose operations always
 * succeed is never registered, because a registered one pays a wake-up callback per segment
 * (AF_UNIX round trip +14 %). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/readiness.h"

#define EVENTS_PER_WAIT 256
#define WAKEUP_KEY      UINT64_MAX

enum {
    OPTION_SPIN_US = LM_READY_OPTIONS
};

static const struct lm_option epoll_options[] = {
    LM_READY_ORDER_OPTION(LM_ORDER_TWO_PHASE),
    LM_READY_WRITE_OPTIONS,
    LM_READY_SPIN_OPTION,
    {NULL, NULL, 0, 0, 0, NULL},
};

static int epoll_open(struct lm_ready_lane *lane)
{
    lane->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (lane->poll_fd < 0) {
        return -errno;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = WAKEUP_KEY};
    lm_count_syscall(&lane->lane.counters, LM_SYS_EPOLL_CTL);
    if (epoll_ctl(lane->poll_fd, EPOLL_CTL_ADD, lane->wakeup.read_fd, &event)) {
        int result = -errno;
        close(lane->poll_fd);
        return result;
    }
    return 0;
}

static void epoll_close(struct lm_ready_lane *lane)
{
    close(lane->poll_fd);
}

static int epoll_arm(struct lm_ready_lane *lane, struct lm_ready_socket *socket, struct lm_op *op)
{
    uint32_t wanted = socket->armed | (lm_work_of(op)->kind >= LM_OP_RECV ? EPOLLIN : EPOLLOUT);
    if (wanted == socket->armed) {
        return 0; /* its next edge is still to come: the call that just blocked proves it */
    }
    struct epoll_event event = {.events = wanted | EPOLLET,
                                .data.u64 = lm_slab_key(&socket->base.slab)};
    lm_count_syscall(&lane->lane.counters, LM_SYS_EPOLL_CTL);
    if (epoll_ctl(lane->poll_fd, socket->armed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket->base.fd,
                  &event)) {
        return -errno;
    }
    socket->armed = wanted;
    return 0;
}

static int call_epoll_wait(struct lm_ready_lane *lane, struct epoll_event *events,
                           int64_t timeout_ns)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_EPOLL_WAIT);
    if (timeout_ns <= 0) {
        return epoll_wait(lane->poll_fd, events, EVENTS_PER_WAIT, timeout_ns ? -1 : 0);
    }
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
                               .tv_nsec = timeout_ns % 1000000000};
    int count = epoll_pwait2(lane->poll_fd, events, EVENTS_PER_WAIT, &timeout, NULL);
    if (count < 0 && errno == ENOSYS) { /* before Linux 5.11 */
        int64_t timeout_ms = (timeout_ns + 999999) / 1000000;
        lm_count_syscall(&lane->lane.counters, LM_SYS_EPOLL_WAIT);
        count = epoll_wait(lane->poll_fd, events, EVENTS_PER_WAIT,
                           timeout_ms < INT32_MAX ? (int)timeout_ms : INT32_MAX);
    }
    return count;
}

static int epoll_look(struct lm_ready_lane *lane, int64_t timeout_ns)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int count = call_epoll_wait(lane, events, timeout_ns);
    if (count < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    for (int i = 0; i < count; i++) {
        uint64_t key = events[i].data.u64;
        if (key == WAKEUP_KEY) {
            continue; /* edge-triggered, and every signal is a new edge: it needs no reading */
        }
        struct lm_ready_socket *socket = lm_slab_find(&lane->lane.sockets, key);
        if (socket) {
            uint32_t failed = events[i].events & (EPOLLERR | EPOLLHUP);
            lm_ready_event(lane, socket, failed || events[i].events & EPOLLIN,
                           failed || events[i].events & EPOLLOUT);
        }
    }
    return 0;
}

static const struct lm_poller epoll_poller = {
    .open = epoll_open,
    .close = epoll_close,
    .arm = epoll_arm,
    .wait = epoll_look,
};

static int epoll_lane_open(struct lm_lane *lane, const struct lm_loop_config *config)
{
    return lm_ready_lane_open((struct lm_ready_lane *)lane, &epoll_poller, config,
                              config->options[OPTION_SPIN_US]);
}

static const struct lm_engine epoll_engine = {LM_READY_ENGINE(struct lm_ready_lane),
                                              .lane_open = epoll_lane_open};

static int epoll_available(const uint64_t *options, char *why, size_t why_bytes)
{
    (void)options;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        int result = -errno;
        snprintf(why, why_bytes,
                 "epoll_create1 failed (%s); raise `ulimit -n` or the sandbox's list "
                 "of allowed system calls",
                 strerror(-result));
        return result;
    }
    close(fd);
    return 0;
}

static int epoll_loop_create(const struct lm_loop_config *config, struct lm_loop **loop)
{
    return lm_loop_create(&epoll_engine, config, loop);
}

const struct lm_backend lm_backend_epoll = {
    .abi = LM_BACKEND_ABI,
    .name = "epoll",
    .title = "epoll",
    .capabilities = LM_CAP_THREADS | LM_CAP_LOOPS | LM_CAP_LOCKLESS | LM_CAP_LOCAL,
    .options = epoll_options,
    .available = epoll_available,
    .describe = lm_ready_describe,
    .loop_create = epoll_loop_create,
    LM_LOOP_MEMBERS,
};
