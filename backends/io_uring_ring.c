/* io_uring_ring.c - a lane's ring: set-up, io_uring_enter, registered descriptors, tear-down.
 *
 * Entries are handed over here instead of by io_uring_submit...: those may call the kernel any
 * number of times, and the counters promise each call (LM_SYS_RING_ENTER equals what strace
 * counts). What is relied upon is in liburing's public structures: sq.sqe_tail is the next entry to
 * be filled, sq.ktail what the kernel may read up to.
 */
#include "backends/io_uring_lane.h"

#include <errno.h>
#include <sys/resource.h>

#include "backends/readiness.h"

/* Set-up. */

static void configure(struct lm_ring_lane *lane)
{
    const uint64_t *options = lane->settings.options;
    uint32_t flags = lane->settings.setup_flags, half = lane->ring.cq.ring_entries / 2;
    lane->limit = half - half / 8;
    if (options[LM_RING_ZEROCOPY]) {
        lane->limit /= 2; /* each has two completions */
    }
    lane->in_limit = lane->limit - lane->limit / 4;
    lane->eager = options[LM_RING_ORDER] == LM_ORDER_EAGER;
    lane->write_max_bytes = options[LM_RING_WRITE_MAX];
    lane->write_burst_bytes = options[LM_RING_WRITE_BURST];
    lane->hybrid_max = options[LM_RING_HYBRID] ? (uint32_t)options[LM_RING_HYBRID_MAX] : 0;
    lane->multishot_accept = options[LM_RING_MULTISHOT_ACCEPT];
    lane->zerocopy_bytes = options[LM_RING_ZEROCOPY] ? options[LM_RING_ZEROCOPY] : SIZE_MAX;
    lane->async_close = options[LM_RING_ASYNC_CLOSE];
    lane->recv_ioprio = options[LM_RING_POLL_FIRST] ? IORING_RECVSEND_POLL_FIRST : 0;
    lane->spin_ns = options[LM_RING_SPIN_US] * 1000u;
    lane->work_flags = IORING_SQ_CQ_OVERFLOW;
    if (flags & IORING_SETUP_TASKRUN_FLAG) {
        lane->work_flags |= IORING_SQ_TASKRUN;
    } else {
        lane->blind =
            flags & (IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SQPOLL);
    }
    lane->enter_fd = lane->ring.ring_fd;
    lane->entries = lane->settings.sqpoll ? 0 : lane->ring.sq.ring_entries;
}

/* The ring's index array maps entry i to entry i once and for all. liburing does so too since 2.3;
 * newer ones may have no array (IORING_SETUP_NO_SQARRAY). */
static void map_entries(struct io_uring *ring)
{
    for (unsigned i = 0; ring->sq.array && i < ring->sq.ring_entries; i++) {
        ring->sq.array[i] = i;
    }
}

int lm_ring_lane_open(struct lm_lane *base, const struct lm_loop_config *config)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    int result = lm_ring_settle(config->options, &lane->settings, NULL, 0);
    if (!result) {
        result = lm_ring_make(&lane->settings, &lane->ring, NULL, 0);
    }
    if (result) {
        return result;
    }
    map_entries(&lane->ring);
    configure(lane);
    if (config->options[LM_RING_MULTISHOT_RECV]) {
        result = lm_ring_buffers_open(lane);
    }
    /* A lane that is alone and lockless is never woken: nobody else may hand it work. */
    if (!result && !config->lockless) {
        result = lm_wakeup_open(&lane->wakeup);
        lane->wakes = lane->wake_due = !result;
    }
    if (result) {
        lm_ring_buffers_close(lane);
        io_uring_queue_exit(&lane->ring);
    }
    return result;
}

static int count_register(struct lm_ring_lane *lane, int result)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_RING_REGISTER);
    return result < 0 ? result : 0;
}

static int register_ring(struct lm_ring_lane *lane)
{
    int registered = lm_ring_register(&lane->ring);
    count_register(lane, 0);
    if (registered >= 0) {
        lane->enter_fd = registered;
        lane->enter_flags = IORING_ENTER_REGISTERED_RING;
        return 0;
    }
    return lm_ring_is_asked(lane->settings.options, LM_RING_REGISTERED_RING) ? registered : 0;
}

static int register_files(struct lm_ring_lane *lane)
{
    struct rlimit limit = {.rlim_cur = LM_RING_FIXED_SOCKETS};
    getrlimit(RLIMIT_NOFILE, &limit); /* the kernel allows no larger table */
    uint32_t count = LM_RING_FIXED_SOCKETS;
    count = limit.rlim_cur < count ? (uint32_t)limit.rlim_cur : count;
    int result = count_register(lane, io_uring_register_files_sparse(&lane->ring, count));
    if (result) {
        return lm_ring_is_asked(lane->settings.options, LM_RING_FIXED_FILES) ? result : 0;
    }
    lane->fixed_count = count;
    lane->uses_to_fix =
        lm_ring_is_asked(lane->settings.options, LM_RING_FIXED_FILES) ? 0 : LM_RING_USES_TO_FIX;
    return 0;
}

/* Enabling makes this thread the ring's only issuer, so it waits until the one that will run the
 * lane is here. */
int lm_ring_lane_enter(struct lm_lane *base)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    if (!lane->enabled) {
        int result = count_register(lane, lm_ring_enable(&lane->ring));
        if (result) {
            return result;
        }
        lane->enabled = true;
    }
    int result = 0;
    if (lane->settings.registered_ring && !lane->enter_flags) {
        result = register_ring(lane);
    }
    if (!result && lane->settings.fixed_files && !lane->fixed_count) {
        result = register_files(lane);
    }
    if (!result && lane->buffers.ring) {
        result = count_register(lane, lm_ring_buffers_register(lane));
    }
    return result;
}

/* Nothing in the ring refers to operations or sockets any more: lane_leave has seen to that. */
void lm_ring_lane_close(struct lm_lane *base)
{
    struct lm_ring_lane *lane = (struct lm_ring_lane *)base;
    /* The number is this thread's own or, if another ran the lane, another's: it goes with that. */
    if (lane->enter_flags && pthread_equal(base->owner, pthread_self())) {
        lm_ring_unregister(&lane->ring, lane->enter_fd);
    }
    io_uring_queue_exit(&lane->ring);
    lm_ring_buffers_close(lane);
    if (lane->wakes) {
        lm_wakeup_close(&lane->wakeup);
    }
}

void lm_ring_wake(struct lm_lane *base)
{
    lm_wakeup_signal(&((struct lm_ring_lane *)base)->wakeup);
}

/* Entering. */

/* Shows the kernel all entries filled so far. False: that is all, no call is needed, because there
 * is a submission thread, which is awake, and nothing to wait for. */
static bool publish(struct lm_ring_lane *lane, unsigned *flags)
{
    struct io_uring_sq *sq = &lane->ring.sq;
    sq->sqe_head = sq->sqe_tail;
    if (!lane->settings.sqpoll) {
        io_uring_smp_store_release(sq->ktail, sq->sqe_tail);
        return true;
    }
    lane->unsubmitted = 0;
    /* The thread says that it goes to sleep, then looks at the tail once more; so here the tail has
     * to be visible before the flag is read. */
    __atomic_store_n(sq->ktail, sq->sqe_tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(sq->kflags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP) {
        *flags |= IORING_ENTER_SQ_WAKEUP;
    }
    return *flags != 0;
}

static int enter_error(struct lm_ring_lane *lane, int result)
{
    switch (result) {
    case -EINTR:
    case -ETIME:
    case -EAGAIN: /* short of memory for requests */
    case -EBUSY:  /* the completion queue has to be emptied first */
        return 0;
    case -EBADR: /* completions are lost for good */
        lm_count_many(&lane->lane.counters.overflows, IO_URING_READ_ONCE(*lane->ring.cq.koverflow));
        return result;
    default:
        return result;
    }
}

static int enter(struct lm_ring_lane *lane, unsigned min_complete, unsigned flags,
                 struct io_uring_getevents_arg *argument)
{
    lane->sends = 0;
    if (!publish(lane, &flags)) {
        return 0;
    }
    lm_count_syscall(&lane->lane.counters, LM_SYS_RING_ENTER);
    int result = io_uring_enter2((unsigned)lane->enter_fd, lane->unsubmitted, min_complete,
                                 flags | lane->enter_flags, (sigset_t *)argument,
                                 argument ? sizeof(*argument) : 0);
    if (result < 0) {
        return enter_error(lane, result);
    }
    /* What a submission thread takes is not in the result. */
    lane->unsubmitted -= lane->settings.sqpoll ? 0 : (unsigned)result;
    return 0;
}

int lm_ring_enter(struct lm_ring_lane *lane, unsigned min_complete, unsigned flags)
{
    return enter(lane, min_complete, flags, NULL);
}

int lm_ring_enter_timed(struct lm_ring_lane *lane, int64_t timeout_ns)
{
    struct __kernel_timespec timeout = {.tv_sec = timeout_ns / 1000000000,
                                        .tv_nsec = timeout_ns % 1000000000};
    struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&timeout};
    return enter(lane, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument);
}

struct io_uring_sqe *lm_ring_entry_slow(struct lm_ring_lane *lane)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&lane->ring);
    if (!sqe) {
        /* An error shows again in the enter that ends the turn. */
        lm_ring_enter(lane, 0, lane->settings.sqpoll ? IORING_ENTER_SQ_WAIT : 0);
        sqe = io_uring_get_sqe(&lane->ring);
    }
    lane->unsubmitted += sqe != NULL;
    return sqe;
}

/* Registered descriptors. */

static int update_fixed(struct lm_ring_lane *lane, struct lm_ring_socket *socket, int fd)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_RING_REGISTER);
    return io_uring_register_files_update(&lane->ring, socket->base.slab.index, &fd, 1);
}

void lm_ring_fix(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    socket->fixed_tried = true;
    socket->fixed = socket->base.slab.index < lane->fixed_count &&
                    update_fixed(lane, socket, socket->base.fd) == 1;
}

void lm_ring_forget_fixed(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    if (socket->fixed && lane->fixed_count) {
        update_fixed(lane, socket, -1);
    }
}

void lm_ring_forget_all_fixed(struct lm_ring_lane *lane)
{
    if (lane->fixed_count) {
        count_register(lane, io_uring_unregister_files(&lane->ring));
        lane->fixed_count = 0;
    }
}
