/* io_uring - native completion: a turn's operations go into the ring together, with one call, and
 * their completions come out of it. What is special to some settings is in io_uring_multishot.c */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/io_uring_lane.h"

/* Turns between two looks at a ring whose flags do not tell whether there is something to see, and
 * receives between two tries whether they complete at once (see look_first). */
#define LOOK_EVERY 16u

/* Queues. */

void lm_ring_queue(struct lm_ring_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    work->state = LM_OP_QUEUED;
    lane->queued++;
    lm_queue_push(lm_ring_is_receive(work) && !lane->eager ? &lane->in : &lane->out, op);
}

/* Ends. */

void lm_ring_finish_rare(struct lm_ring_lane *lane, struct lm_op *op, int64_t result)
{
    struct lm_work *work = lm_work_of(op);
    struct lm_ring_socket *socket = (struct lm_ring_socket *)work->socket;
    if (work->flags & LM_RING_OP_CANCEL_QUEUED) {
        lm_queue_remove(&lane->cancels, op);
    }
    lm_lane_complete(&lane->lane, op, socket->closing ? -ECANCELED : result);
    lm_ring_close_if_free(lane, socket);
}

void lm_ring_add_chore(struct lm_ring_lane *lane, struct lm_ring_socket *socket,
                       enum lm_ring_chore chore)
{
    if (!socket->chores) {
        socket->next_chore = lane->chores;
        lane->chores = socket;
    }
    socket->chores |= (uint8_t)chore;
}

void lm_ring_closed(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    socket->chores = 0;
    lane->lane.outstanding--;
    lm_ring_close_if_free(lane, socket);
}

void lm_ring_close_if_free(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    struct lm_base *base = &socket->base;
    if (!socket->closing || base->in || base->out || socket->armed || socket->chores) {
        return;
    }
    if (base->fd >= 0) {
        lm_ring_multishot_drop(lane, socket);
        lm_ring_forget_fixed(lane, socket);
        if (lane->async_close && !lane->quiescent) {
            lane->lane.outstanding++; /* loop_run does not return before it is done */
            lm_ring_add_chore(lane, socket, LM_RING_CHORE_CLOSE);
            return;
        }
        lm_count_syscall(&lane->lane.counters, LM_SYS_CLOSE);
        close(base->fd);
        base->fd = -1;
    }
    if (!socket->sent) {
        lm_slab_give(&lane->lane.sockets, socket);
    }
}

/* Out of the ring. */

static int64_t take_accepted(struct lm_ring_lane *lane, struct lm_work *work, int fd)
{
    bool closing = ((struct lm_ring_socket *)work->socket)->closing;
    struct lm_base *socket = closing ? NULL : lm_lane_socket(&lane->lane, fd);
    if (!socket) {
        lm_count_syscall(&lane->lane.counters, LM_SYS_CLOSE);
        close(fd);
        return -ENOMEM;
    }
    *work->accepted = (struct lm_socket *)socket;
    return 0;
}

/* A failure that is none: the operation is to be submitted again. */
static bool is_to_be_repeated(const struct lm_ring_lane *lane, const struct lm_work *work,
                              int result)
{
    const struct lm_ring_socket *socket = (const struct lm_ring_socket *)work->socket;
    return !socket->closing && !lane->quiescent && !(work->flags & LM_RING_OP_CANCELLED) &&
           (result == -EINTR || (result == -ECONNABORTED && work->kind == LM_OP_ACCEPT));
}

/* A zero-copy send has two completions, its result and that its buffer is free, or one if it
 * failed. They name the socket: close does not wait for the second, which may not come before the
 * peer has received everything, and then the operation is its owner's again. */
static void take_zerocopy(struct lm_ring_lane *lane, struct lm_ring_socket *socket, int result,
                          unsigned flags)
{
    struct lm_op *op = socket->base.out;
    if (flags & IORING_CQE_F_MORE) {
        socket->sent = true;
        socket->sent_bytes = result;
        lane->sent_waiting++;
        if (socket->closing) {
            lm_ring_finish(lane, op, -ECANCELED);
        }
        return;
    }
    lane->in_flight--;
    if (flags & IORING_CQE_F_NOTIF) {
        socket->sent = false;
        lane->sent_waiting--;
        result = socket->sent_bytes;
    }
    if (op) {
        lm_ring_finish(lane, op, result);
    } else {
        lm_ring_close_if_free(lane, socket);
    }
}

/* All but the success of a send, receive or connect. */
static void take_rare(struct lm_ring_lane *lane, struct lm_op *op, int result)
{
    struct lm_work *work = lm_work_of(op);
    if (result >= 0) {
        lm_ring_finish(lane, op, take_accepted(lane, work, result));
    } else if (is_to_be_repeated(lane, work, result)) {
        lm_ring_queue(lane, op);
    } else {
        /* -EINTR: a cancel reached it in one of the kernel's worker threads. */
        lm_ring_finish(lane, op, result == -EINTR ? -ECANCELED : result);
    }
}

static void take_operation(struct lm_ring_lane *lane, struct lm_op *op, int result)
{
    lane->in_flight--;
    if (result >= 0 && lm_work_of(op)->kind != LM_OP_ACCEPT) {
        lm_ring_finish(lane, op, result);
    } else {
        take_rare(lane, op, result);
    }
}

static void take(struct lm_ring_lane *lane, const struct io_uring_cqe *cqe)
{
    uint64_t tag = cqe->user_data & LM_RING_TAG_MASK;
    void *object = (void *)(uintptr_t)(cqe->user_data - tag);
    if (tag == LM_RING_TAG_OP) {
        take_operation(lane, object, cqe->res);
        return;
    }
    switch (tag) {
    case LM_RING_TAG_MULTISHOT:
        lm_ring_multishot_done(lane, object, cqe->res, cqe->flags);
        break;
    case LM_RING_TAG_ZEROCOPY:
        take_zerocopy(lane, object, cqe->res, cqe->flags);
        break;
    case LM_RING_TAG_CLOSE:
        lane->in_flight--;
        lm_ring_closed(lane, object);
        break;
    case LM_RING_TAG_WAKE:
        lane->wake_due = !(cqe->flags & IORING_CQE_F_MORE);
        break;
    default:
        break;
    }
}

/* False when there was nothing. */
static bool take_all(struct lm_ring_lane *lane)
{
    struct io_uring_cq *cq = &lane->ring.cq;
    unsigned head = *cq->khead, tail = io_uring_smp_load_acquire(cq->ktail);
    if (head == tail) {
        return false;
    }
    while (head != tail) {
        take(lane, &cq->cqes[head++ & cq->ring_mask]);
    }
    io_uring_smp_store_release(cq->khead, head);
    return true;
}

/* A turn. */

/* Work that the kernel does outside this thread's calls gets its turn: by a call where that makes
 * it, by the processor where a submission thread does. (One that was woken on this processor could
 * otherwise wait for it as long as this thread has anything to do.) */
static unsigned let_kernel_work(struct lm_ring_lane *lane)
{
    if (lane->settings.sqpoll) {
        sched_yield();
        return 0;
    }
    return IORING_ENTER_GETEVENTS;
}

/* Submits and takes what has completed, without sleeping; enters the kernel only if there is
 * something to submit or the ring says that it has work for this thread. Returns 1 when something
 * had completed, else 0, or -errno. */
static int look(struct lm_lane *base)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    unsigned ring_flags = lm_ring_flags(lane) & lane->work_flags, flags = 0;
    int result = 0;
    if (ring_flags) {
        flags = IORING_ENTER_GETEVENTS;
        if (ring_flags & IORING_SQ_CQ_OVERFLOW) {
            lm_count(&lane->lane.counters.overflows);
        }
    } else if (lane->blind && lane->in_flight && ++lane->blind_turns % LOOK_EVERY == 0) {
        flags = let_kernel_work(lane);
    }
    if (lane->unsubmitted || flags) {
        bool sends = lane->sends;
        result = lm_ring_enter(lane, 0, flags);
        /* A receive that was armed before its data came is one turn late, and its chain stays so:
         * a second chunk is in flight from then on. Fetching it now puts it back in step, at the
         * price of one call (socket_throughput/bidirectional/262144: 72 against 98 us a chunk). */
        if (sends && !result && lm_ring_flags(lane) & lane->work_flags) {
            result = lm_ring_enter(lane, 0, IORING_ENTER_GETEVENTS);
        }
    }
    bool taken = take_all(lane);
    return result ? result : taken;
}

/* Nothing is left to do but to wait. Is it better to look first? Asking the kernel for events makes
 * a call 60 ns dearer (6 % of a unix-domain send), so that pays if something completes at once, and
 * costs a second call if not. Sends nearly always complete at once; receives do as the last ones
 * did, and now and then are given a new chance. */
static bool look_first(struct lm_ring_lane *lane)
{
    return !lane->unsubmitted || lane->sends || lane->spin_ns || lane->luck > 0 ||
           ++lane->blind_turns % LOOK_EVERY == 0;
}

static int look_and_learn(struct lm_ring_lane *lane)
{
    bool telling = lane->unsubmitted && !lane->sends;
    int result = look(&lane->lane);
    if (telling) {
        lane->luck += result > 0 ? 1 : -2;
        lane->luck = lane->luck < 0 ? 0 : lane->luck > 3 ? 3 : lane->luck;
    }
    return result;
}

static int sleep_in_ring(struct lm_ring_lane *lane, int64_t timeout_ns)
{
    if (!lm_lane_may_sleep(&lane->lane)) {
        return look(&lane->lane);
    }
    lm_count(&lane->lane.counters.waits);
    int result = timeout_ns < 0 ? lm_ring_enter(lane, 1, IORING_ENTER_GETEVENTS)
                                : lm_ring_enter_timed(lane, timeout_ns);
    lm_lane_woke(&lane->lane);
    take_all(lane);
    return result;
}

static int wait_for_something(struct lm_ring_lane *lane, int64_t timeout_ns, bool tried)
{
    int result = 0;
    /* What was just tried would block: it does not complete at once. */
    if (!tried && look_first(lane)) {
        result = look_and_learn(lane);
    }
    if (result ||
        (lane->spin_ns && lm_lane_spin(&lane->lane, look, lane->spin_ns, &timeout_ns, &result))) {
        return result;
    }
    return sleep_in_ring(lane, timeout_ns);
}

static int ring_turn(struct lm_lane *base, int64_t timeout_ns)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    uint64_t outstanding = base->outstanding;
    bool tried = lane->queued && lane->queued <= lane->hybrid_max;
    if (lane->chores || lane->cancels.first || lane->wake_due) {
        lm_ring_submit_rest(lane);
    }
    if (tried) {
        lm_ring_walk(lane, true);
    }
    if (lane->queued) {
        lm_ring_walk(lane, false);
    }
    /* A close without completion may have been the last thing outstanding. */
    bool waits = timeout_ns != 0 && !base->ready.first && base->outstanding == outstanding;
    int result = waits ? wait_for_something(lane, timeout_ns, tried) : look(base);
    return result < 0 ? result : 0;
}

/* The rest of the engine. */

static void ring_start(struct lm_lane *base, struct lm_op *op)
{
    lm_work_of(op)->flags = 0;
    lm_ring_queue((struct lm_ring_lane *)base, op);
}

static void ring_cancel(struct lm_lane *base, struct lm_op *op)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    struct lm_work *work = lm_work_of(op);
    if (work->state == LM_OP_QUEUED) {
        lane->queued--;
        lm_queue_remove(&lane->out, op);
        lm_queue_remove(&lane->in, op);
        lm_ring_finish(lane, op, -ECANCELED);
    } else if (work->flags & LM_RING_OP_WAITING) {
        lm_ring_finish(lane, op, -ECANCELED);
    } else if (!(work->flags & LM_RING_OP_CANCELLED)) {
        work->flags |= LM_RING_OP_CANCELLED | LM_RING_OP_CANCEL_QUEUED;
        lm_queue_push(&lane->cancels, op);
    }
}

static void ring_close(struct lm_lane *base, struct lm_base *socket)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    struct lm_ring_socket *closed = (struct lm_ring_socket *)socket;
    closed->closing = true;
    if (closed->armed) {
        lm_ring_add_chore(lane, closed, LM_RING_CHORE_DISARM);
    }
    if (closed->sent && socket->out) {
        lm_ring_finish(lane, socket->out, -ECANCELED);
    } else {
        lm_ring_close_if_free(lane, closed);
    }
}

/* Asks the kernel to give everything back that it has of this lane. */
static void cancel_all(struct lm_ring_lane *lane)
{
    for (uint32_t i = 0; i < lane->lane.sockets.count; i++) {
        struct lm_base *socket = (struct lm_base *)lm_slab_at(&lane->lane.sockets, i);
        if (!lm_slab_used(&socket->slab)) {
            continue;
        }
        struct lm_op *ops[] = {socket->in, socket->out};
        for (int j = 0; j < 2; j++) {
            if (ops[j] && lm_work_of(ops[j])->state == LM_OP_PARKED) {
                ring_cancel(&lane->lane, ops[j]);
            }
        }
        if (((struct lm_ring_socket *)socket)->armed) {
            lm_ring_add_chore(lane, (struct lm_ring_socket *)socket, LM_RING_CHORE_DISARM);
        }
    }
}

/* When loop_run returns, only the poll of the wake-up descriptor stays in the ring: the loop may be
 * freed by another thread, which a ring of a single issuer does not let cancel anything, and then
 * the kernel must not know of any buffer. A zero-copy send whose buffer is only read, and pinned by
 * the kernel, is not waited for. */
static void ring_leave(struct lm_lane *base)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    bool final = atomic_load(&base->loop->stopped);
    if (lane->in_flight) {
        cancel_all(lane);
    }
    lane->quiescent = final;
    int result = 0;
    while ((lane->in_flight > lane->sent_waiting || lane->chores || lane->unsubmitted) && !result) {
        lm_ring_submit_rest(lane);
        bool waits = lane->in_flight > lane->sent_waiting;
        result = lm_ring_enter(lane, waits, waits ? IORING_ENTER_GETEVENTS : 0);
        take_all(lane);
    }
    if (final) {
        lm_ring_forget_all_fixed(lane);
    }
}

static const struct lm_engine ring_engine = {
    .lane_bytes = sizeof(struct lm_ring_lane),
    .socket_bytes = sizeof(struct lm_ring_socket),
    .lane_open = lm_ring_lane_open,
    .lane_close = lm_ring_lane_close,
    .lane_enter = lm_ring_lane_enter,
    .lane_leave = ring_leave,
    .start = ring_start,
    .cancel = ring_cancel,
    .close = ring_close,
    .turn = ring_turn,
    .wake = lm_ring_wake,
};

static uint32_t ring_takes_away(const uint64_t *options, const char **why)
{
    if (!options[LM_RING_ZEROCOPY]) {
        return 0;
    }
    *why = "AF_UNIX sockets refuse zero-copy sends (zerocopy); leave it at 0 for them";
    return LM_CAP_LOCAL;
}

static int ring_loop_create(const struct lm_loop_config *config, struct lm_loop **loop)
{
    return lm_loop_create(&ring_engine, config, loop);
}

const struct lm_backend lm_backend_io_uring = {
    .abi = LM_BACKEND_ABI,
    .name = "io_uring",
    .title = "io_uring",
    .capabilities = LM_CAP_THREADS | LM_CAP_LOOPS | LM_CAP_LOCKLESS | LM_CAP_LOCAL,
    .options = lm_ring_options,
    .available = lm_ring_available,
    .takes_away = ring_takes_away,
    .describe = lm_ring_describe,
    .loop_create = ring_loop_create,
    LM_LOOP_MEMBERS,
};
