/* io_uring_submit.c - what goes into a lane's ring: a turn's operations in their order, cancels,
 * closes; and what hybrid tries without the ring.
 */
#include "backends/io_uring_lane.h"

#include <errno.h>
#include <poll.h>

/* Puts what is in `rest` behind what is in `queue`. */
static void append(struct lm_queue *queue, struct lm_queue *rest)
{
    if (!rest->first) {
        return;
    }
    if (queue->first) {
        lm_work_of(queue->last)->next = rest->first;
        queue->last = rest->last;
    } else {
        *queue = *rest;
    }
}

/* Puts op before what is in `queue`. */
static void push_front(struct lm_queue *queue, struct lm_op *op)
{
    lm_work_of(op)->next = queue->first;
    if (!queue->first) {
        queue->last = op;
    }
    queue->first = op;
}

static void prepare_send(struct lm_ring_lane *lane, struct lm_op *op, struct io_uring_sqe *sqe)
{
    const struct lm_work *work = lm_work_of(op);
    size_t bytes = lm_ring_send_bytes(lane, work);
    lane->sends++;
    if (bytes >= lane->zerocopy_bytes) {
        io_uring_prep_send_zc(sqe, work->socket->fd, work->buffer, bytes, MSG_NOSIGNAL, 0);
        lm_ring_mark(sqe, work->socket, LM_RING_TAG_ZEROCOPY);
    } else {
        io_uring_prep_send(sqe, work->socket->fd, work->buffer, bytes, MSG_NOSIGNAL);
        lm_ring_mark(sqe, op, LM_RING_TAG_OP);
    }
}

static void prepare(struct lm_ring_lane *lane, struct lm_op *op, struct io_uring_sqe *sqe)
{
    const struct lm_work *work = lm_work_of(op);
    int fd = work->socket->fd;
    switch (work->kind) {
    case LM_OP_SEND:
        prepare_send(lane, op, sqe);
        break;
    case LM_OP_RECV:
        io_uring_prep_recv(sqe, fd, work->buffer, work->bytes, 0);
        sqe->ioprio |= (uint16_t)lane->recv_ioprio;
        lm_ring_mark(sqe, op, LM_RING_TAG_OP);
        break;
    case LM_OP_ACCEPT:
        io_uring_prep_accept(sqe, fd, NULL, NULL, SOCK_CLOEXEC);
        lm_ring_mark(sqe, op, LM_RING_TAG_OP);
        break;
    default:
        io_uring_prep_connect(sqe, fd, work->address, (socklen_t)work->bytes);
        lm_ring_mark(sqe, op, LM_RING_TAG_OP);
    }
    lm_ring_target(lane, (struct lm_ring_socket *)work->socket, sqe);
}

static bool is_multishot(const struct lm_ring_lane *lane, const struct lm_work *work)
{
    return (work->kind == LM_OP_ACCEPT && lane->multishot_accept) ||
           (work->kind == LM_OP_RECV && lane->buffers.ring);
}

/* False: the ring has no room, the operation stays with the caller. */
static bool submit(struct lm_ring_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    if (lane->in_flight >= (lm_ring_is_receive(work) ? lane->in_limit : lane->limit)) {
        return false;
    }
    bool plain = !is_multishot(lane, work);
    if (!plain && !lm_ring_serve(lane, op, &plain)) {
        return false;
    }
    if (plain) {
        struct io_uring_sqe *sqe = lm_ring_entry(lane);
        if (!sqe) {
            return false;
        }
        prepare(lane, op, sqe);
        work->state = LM_OP_PARKED;
        lane->in_flight++;
    }
    lane->queued--;
    return true;
}

/* A plain call instead of a submission; what would block is queued again. */
static void try_directly(struct lm_ring_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    ssize_t moved;
    lane->queued--;
    if (work->kind == LM_OP_CONNECT || work->kind == LM_OP_ACCEPT) {
        lm_ring_queue(lane, op); /* the descriptor is a blocking one */
        return;
    }
    do {
        if (work->kind == LM_OP_SEND) {
            lm_count_syscall(&lane->lane.counters, LM_SYS_SEND);
            moved = send(work->socket->fd, work->buffer, lm_ring_send_bytes(lane, work),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        } else {
            lm_count_syscall(&lane->lane.counters, LM_SYS_RECV);
            moved = recv(work->socket->fd, work->buffer, work->bytes, MSG_DONTWAIT);
        }
    } while (moved < 0 && errno == EINTR);
    if (moved < 0 && errno == EAGAIN) {
        lm_count(&lane->lane.counters.speculative_misses);
        lm_ring_queue(lane, op);
        return;
    }
    lm_count(&lane->lane.counters.speculative_hits);
    lm_ring_finish(lane, op, moved < 0 ? -errno : moved);
}

/* True when op has left the caller's queue. */
static bool step(struct lm_ring_lane *lane, struct lm_op *op, bool directly)
{
    if (directly) {
        try_directly(lane, op);
        return true;
    }
    return submit(lane, op);
}

/* Works off the `count` oldest of a queue taken from the lane. */
static void walk_in(struct lm_ring_lane *lane, struct lm_queue *in, size_t count, bool directly)
{
    struct lm_op *op;
    while (count-- && (op = lm_queue_pop(in))) {
        if (!step(lane, op, directly)) {
            push_front(in, op);
            return;
        }
    }
}

/* All sends, then all receives; but after each burst of sends as many receives as there were sends
 * in it, for the reason that readiness.c gives. Order eager has all of them in `out`. */
void lm_ring_walk(struct lm_ring_lane *lane, bool directly)
{
    struct lm_queue out = lane->out, in = lane->in;
    lane->out.first = lane->in.first = NULL;
    size_t burst_bytes = 0, burst_sends = 0;
    struct lm_op *op;
    while ((op = lm_queue_pop(&out))) {
        const struct lm_work *work = lm_work_of(op);
        size_t bytes = work->kind == LM_OP_SEND ? lm_ring_send_bytes(lane, work) : 0;
        if (!step(lane, op, directly)) {
            if (lm_ring_is_receive(work)) {
                lm_queue_push(&in, op); /* it must not keep the sends behind it from the ring */
                continue;
            }
            push_front(&out, op);
            break;
        }
        burst_bytes += bytes;
        burst_sends++;
        if (burst_bytes >= lane->write_burst_bytes) {
            walk_in(lane, &in, burst_sends, directly);
            burst_bytes = burst_sends = 0;
        }
    }
    walk_in(lane, &in, SIZE_MAX, directly);
    append(&lane->out, &out);
    append(&lane->in, &in);
}

static void skip_completion(struct lm_ring_lane *lane, struct io_uring_sqe *sqe)
{
    if (lane->settings.cqe_skip) {
        sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    }
}

static bool submit_cancel(struct lm_ring_lane *lane, const void *object, enum lm_ring_tag tag)
{
    struct io_uring_sqe *sqe = lm_ring_entry(lane);
    if (sqe) {
        io_uring_prep_cancel64(sqe, (uintptr_t)object | tag, 0);
        skip_completion(lane, sqe);
        lm_ring_mark(sqe, NULL, LM_RING_TAG_NOTHING);
    }
    return sqe != NULL;
}

static bool submit_cancel_op(struct lm_ring_lane *lane, struct lm_op *op)
{
    const struct lm_work *work = lm_work_of(op);
    bool zerocopy =
        work->kind == LM_OP_SEND && lm_ring_send_bytes(lane, work) >= lane->zerocopy_bytes;
    return zerocopy ? submit_cancel(lane, work->socket, LM_RING_TAG_ZEROCOPY)
                    : submit_cancel(lane, op, LM_RING_TAG_OP);
}

static bool submit_close(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    struct io_uring_sqe *sqe = lm_ring_entry(lane);
    if (!sqe) {
        return false;
    }
    io_uring_prep_close(sqe, socket->base.fd);
    socket->base.fd = -1;
    if (lane->settings.cqe_skip && !lane->settings.sqpoll) {
        /* The entry needs nothing of the socket, and the descriptor's number is free for others
         * only when the kernel has executed it: in the call that submits it. Only of a submission
         * thread would nobody know when. */
        skip_completion(lane, sqe);
        lm_ring_mark(sqe, NULL, LM_RING_TAG_NOTHING);
        lm_ring_closed(lane, socket);
    } else {
        lm_ring_mark(sqe, socket, LM_RING_TAG_CLOSE);
        lane->in_flight++;
    }
    return true;
}

static bool submit_disarm(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    if (socket->armed && !socket->disarming) {
        socket->disarming = submit_cancel(lane, socket, LM_RING_TAG_MULTISHOT);
    }
    return !socket->armed || socket->disarming;
}

/* A socket has one chore at a time: it is closed only when its multishot operation is over. */
static void submit_chores(struct lm_ring_lane *lane)
{
    struct lm_ring_socket *socket;
    while ((socket = lane->chores)) {
        struct lm_ring_socket *next = socket->next_chore;
        if (socket->chores == LM_RING_CHORE_CLOSE) {
            if (!submit_close(lane, socket)) {
                return;
            }
            lane->chores = next;
        } else {
            if (!submit_disarm(lane, socket)) {
                return;
            }
            lane->chores = next;
            socket->chores = 0;
            lm_ring_close_if_free(lane, socket);
        }
    }
}

static bool submit_wake_poll(struct lm_ring_lane *lane)
{
    struct io_uring_sqe *sqe = lm_ring_entry(lane);
    if (sqe) {
        io_uring_prep_poll_multishot(sqe, lane->wakeup.read_fd, POLLIN);
        lm_ring_mark(sqe, NULL, LM_RING_TAG_WAKE);
    }
    return sqe != NULL;
}

/* Cancels, closes, the wake-up: all that is not an operation's first submission. */
void lm_ring_submit_rest(struct lm_ring_lane *lane)
{
    if (lane->wake_due) {
        lane->wake_due = !submit_wake_poll(lane);
    }
    submit_chores(lane);
    struct lm_op *op;
    while ((op = lane->cancels.first) && submit_cancel_op(lane, op)) {
        lm_queue_pop(&lane->cancels);
        lm_work_of(op)->flags &= ~(uint32_t)LM_RING_OP_CANCEL_QUEUED;
    }
}
