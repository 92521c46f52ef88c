#include "backends/readiness.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Operations that may end between two looks at the operating system while others are parked.
 * Looking after each cost 17 % of a round trip, after every 16 nothing measurable. */
#define POLL_EVERY 16u

const char *const lm_order_choices[] = {"two_phase", "eager", NULL};

void lm_ready_describe(const uint64_t *options, char *text, size_t text_bytes)
{
    snprintf(
        text, text_bytes, "order %s, at most %llu bytes a send, receives after %llu bytes sent",
        lm_order_choices[options[LM_READY_ORDER]], (unsigned long long)options[LM_READY_WRITE_MAX],
        (unsigned long long)options[LM_READY_WRITE_BURST]);
}

/* --- the calls
 * ------------------------------------------------------------------------------------ */

static int set_nonblocking(struct lm_ready_lane *lane, struct lm_ready_socket *socket)
{
    if (socket->nonblocking) {
        return 0;
    }
    int on = 1;
    lm_count_syscall(&lane->lane.counters, LM_SYS_IOCTL);
    if (ioctl(socket->base.fd, FIONBIO, &on)) {
        return -errno;
    }
    socket->nonblocking = true;
    return 0;
}

static int64_t try_accept(struct lm_ready_lane *lane, struct lm_ready_socket *listener,
                          struct lm_work *work)
{
    int result = set_nonblocking(lane, listener);
    if (result) {
        return result;
    }
    lm_count_syscall(&lane->lane.counters, LM_SYS_ACCEPT);
    int fd = accept4(listener->base.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return errno == ECONNABORTED ? -EINTR : -errno; /* the next one may be there already */
    }
    struct lm_base *socket = lm_lane_socket(&lane->lane, fd);
    if (!socket) {
        close(fd);
        return -ENOMEM;
    }
    *work->accepted = (struct lm_socket *)socket;
    return 0;
}

static int64_t call_connect(struct lm_ready_lane *lane, struct lm_ready_socket *socket,
                            const struct lm_work *work)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_CONNECT);
    return connect(socket->base.fd, work->address, (socklen_t)work->bytes) ? -errno : 0;
}

static int64_t try_connect(struct lm_ready_lane *lane, struct lm_ready_socket *socket,
                           const struct lm_work *work)
{
    if (!socket->connecting) {
        int64_t result = set_nonblocking(lane, socket);
        if (!result) {
            result = call_connect(lane, socket, work);
        }
        if (result != -EINPROGRESS) {
            return result;
        }
        socket->connecting = true;
    } else {
        /* Asked first, because on some systems a connect after a failed one starts anew. */
        int error = 0;
        socklen_t error_bytes = sizeof(error);
        lm_count_syscall(&lane->lane.counters, LM_SYS_GETSOCKOPT);
        getsockopt(socket->base.fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes);
        if (error) {
            return -error;
        }
    }
    /* On loopback the connection exists by now, so asking again at once saves arming, a wait and
     * the question how it went. */
    int64_t result = call_connect(lane, socket, work);
    if (result == -EALREADY || result == -EINPROGRESS) {
        return -EAGAIN;
    }
    return result == -EISCONN ? 0 : result;
}

static int64_t try_once(struct lm_ready_lane *lane, struct lm_ready_socket *socket,
                        struct lm_work *work)
{
    int fd = socket->base.fd;
    ssize_t moved;
    switch (work->kind) {
    case LM_OP_SEND: {
        size_t bytes = work->bytes < lane->write_max_bytes ? work->bytes : lane->write_max_bytes;
        lm_count_syscall(&lane->lane.counters, LM_SYS_SEND);
        moved = send(fd, work->buffer, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        return moved < 0 ? -errno : moved;
    }
    case LM_OP_RECV:
        lm_count_syscall(&lane->lane.counters, LM_SYS_RECV);
        moved = recv(fd, work->buffer, work->bytes, MSG_DONTWAIT);
        return moved < 0 ? -errno : moved;
    case LM_OP_ACCEPT:
        return try_accept(lane, socket, work);
    default:
        return try_connect(lane, socket, work);
    }
}

/* Result of the operation, or -EAGAIN when it would block. A full AF_UNIX backlog makes connect say
 * EAGAIN too; no event would ever tell of room, so that one is an end. */
static int64_t try_operation(struct lm_ready_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    struct lm_ready_socket *socket = (struct lm_ready_socket *)work->socket;
    int64_t result;
    do {
        result = try_once(lane, socket, work);
    } while (result == -EINTR);
    return result == -EWOULDBLOCK ? -EAGAIN : result;
}

static bool is_end(const struct lm_op *op, int64_t result)
{
    const struct lm_work *work = (const struct lm_work *)op->backend_private;
    const struct lm_ready_socket *socket = (const struct lm_ready_socket *)work->socket;
    return result != -EAGAIN || (work->kind == LM_OP_CONNECT && !socket->connecting);
}

/* --- queues and parking
 * ----------------------------------------------------------------------------- */

static void finish(struct lm_ready_lane *lane, struct lm_op *op, int64_t result)
{
    lane->since_poll++;
    lm_lane_complete(&lane->lane, op, result);
}

static void unpark(struct lm_ready_lane *lane, struct lm_op *op, int64_t result)
{
    struct lm_ready_socket *socket = (struct lm_ready_socket *)lm_work_of(op)->socket;
    lane->parked--;
    finish(lane, op, result);
    if (lane->poller->disarm) {
        lane->poller->disarm(lane, socket);
    }
}

static void park(struct lm_ready_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    if (!lane->poller->arm) {
        lm_queue_push(work->kind >= LM_OP_RECV ? &lane->in : &lane->out, op);
        return;
    }
    work->state = LM_OP_PARKED;
    lane->parked++;
    int result = lane->poller->arm(lane, (struct lm_ready_socket *)work->socket, op);
    if (result) {
        unpark(lane, op, result);
    }
}

/* First try of an operation. Returns the bytes it moved, 0 when none. */
static size_t try_new(struct lm_ready_lane *lane, struct lm_op *op)
{
    int64_t result = try_operation(lane, op);
    if (!is_end(op, result)) {
        lm_count(&lane->lane.counters.speculative_misses);
        park(lane, op);
        return 0;
    }
    lm_count(&lane->lane.counters.speculative_hits);
    finish(lane, op, result);
    return result > 0 ? (size_t)result : 0;
}

/* Receives that follow a burst of `sends` sends: as many as there were sends, the oldest first. One
 * that has nothing to read goes to the end of the queue, and another is tried in its place. */
static void try_in_burst(struct lm_ready_lane *lane, struct lm_queue *queue, size_t sends)
{
    size_t tries = 2 * sends;
    struct lm_op *op;
    while (sends && tries-- && (op = lm_queue_pop(queue))) {
        int64_t result = try_operation(lane, op);
        if (is_end(op, result)) {
            lm_count(&lane->lane.counters.speculative_hits);
            finish(lane, op, result);
            sends--;
        } else {
            lm_count(&lane->lane.counters.speculative_misses);
            lm_queue_push(queue, op);
        }
    }
}

/* All sends, then all receives; but after each burst of sends as many receives as there were sends
 * in it, so that what is in flight stays in the processor's cache. The queues are in the order in
 * which chains started their operations, and soon in the order of completions, so those receives
 * are the ones that have something to read: trying all of them instead made half of
 * socket_throughput/multithread's receives miss. */
static void try_queued(struct lm_ready_lane *lane)
{
    struct lm_queue out = lane->out, in = lane->in;
    lane->out.first = lane->in.first = NULL;
    size_t burst_bytes = 0, burst_sends = 0;
    struct lm_op *op;
    while ((op = lm_queue_pop(&out))) {
        burst_bytes += try_new(lane, op);
        burst_sends++;
        if (burst_bytes >= lane->write_burst_bytes) {
            try_in_burst(lane, &in, burst_sends);
            burst_bytes = burst_sends = 0;
        }
    }
    while ((op = lm_queue_pop(&in))) {
        try_new(lane, op);
    }
}

static void try_parked(struct lm_ready_lane *lane, struct lm_op *op)
{
    int64_t result = try_operation(lane, op);
    if (is_end(op, result)) {
        unpark(lane, op, result);
    }
}

void lm_ready_event(struct lm_ready_lane *lane, struct lm_ready_socket *socket, bool in, bool out)
{
    struct lm_op *writer = socket->base.out, *reader = socket->base.in;
    if (out && writer && lm_work_of(writer)->state == LM_OP_PARKED) {
        try_parked(lane, writer);
    }
    if (in && reader && lm_work_of(reader)->state == LM_OP_PARKED) {
        try_parked(lane, reader);
    }
}

/* --- the engine
 * ------------------------------------------------------------------------------------- */

int lm_ready_lane_open(struct lm_ready_lane *lane, const struct lm_poller *poller,
                       const struct lm_loop_config *config, uint64_t spin_us)
{
    lane->poller = poller;
    lane->eager = config->options[LM_READY_ORDER] == LM_ORDER_EAGER;
    lane->write_max_bytes = config->options[LM_READY_WRITE_MAX];
    lane->write_burst_bytes = config->options[LM_READY_WRITE_BURST];
    lane->spin_ns = spin_us * 1000u;
    int result = lm_wakeup_open(&lane->wakeup);
    if (result) {
        return result;
    }
    result = poller->open ? poller->open(lane) : 0;
    if (result) {
        lm_wakeup_close(&lane->wakeup);
    }
    return result;
}

void lm_ready_lane_close(struct lm_lane *base)
{
    struct lm_ready_lane *lane = (struct lm_ready_lane *)base;
    if (lane->poller->close) {
        lane->poller->close(lane);
    }
    lm_wakeup_close(&lane->wakeup);
}

void lm_ready_start(struct lm_lane *base, struct lm_op *op)
{
    struct lm_ready_lane *lane = (struct lm_ready_lane *)base;
    if (lane->eager) {
        try_new(lane, op);
    } else {
        lm_queue_push(lm_work_of(op)->kind >= LM_OP_RECV ? &lane->in : &lane->out, op);
    }
}

void lm_ready_cancel(struct lm_lane *base, struct lm_op *op)
{
    struct lm_ready_lane *lane = (struct lm_ready_lane *)base;
    struct lm_work *work = lm_work_of(op);
    if (work->state == LM_OP_PARKED) {
        unpark(lane, op, -ECANCELED);
    } else {
        lm_queue_remove(work->kind >= LM_OP_RECV ? &lane->in : &lane->out, op);
        finish(lane, op, -ECANCELED);
    }
}

void lm_ready_close(struct lm_lane *base, struct lm_base *socket)
{
    lm_count_syscall(&base->counters, LM_SYS_CLOSE);
    close(socket->fd);
    socket->fd = -1;
    lm_slab_give(&base->sockets, socket);
}

static int look(struct lm_lane *base)
{
    struct lm_ready_lane *lane = (struct lm_ready_lane *)base;
    return lane->poller->wait(lane, 0);
}

int lm_ready_turn(struct lm_lane *base, int64_t timeout_ns)
{
    struct lm_ready_lane *lane = (struct lm_ready_lane *)base;
    int result = 0;
    try_queued(lane);
    if (!lane->poller->wait) {
        return 0;
    }
    if (timeout_ns == 0 || base->ready.first) {
        if (!lane->parked || (lane->since_poll < POLL_EVERY && ++lane->turns < POLL_EVERY)) {
            return 0;
        }
        lane->since_poll = lane->turns = 0;
        return look(base);
    }
    if (lane->spin_ns && lm_lane_spin(base, look, lane->spin_ns, &timeout_ns, &result)) {
        return result;
    }
    if (!lm_lane_may_sleep(base)) {
        return 0;
    }
    lane->since_poll = lane->turns = 0;
    lm_count(&base->counters.waits);
    result = lane->poller->wait(lane, timeout_ns);
    lm_lane_woke(base);
    return result;
}

void lm_ready_wake(struct lm_lane *base)
{
    lm_wakeup_signal(&((struct lm_ready_lane *)base)->wakeup);
}
