/* io_uring_lane.h - the io_uring engine's lane and socket, and the parts it is made of:
 *   io_uring.c            the engine: a turn, what comes out of the ring
 *   io_uring_submit.c     what goes into it
 *   io_uring_ring.c       the ring itself: set-up, io_uring_enter, room
 *   io_uring_multishot.c  accepts and receives that go on after their first completion
 *
 * What is in flight. A lane lets at most `limit` operations into the kernel, less than half of the
 * completion queue; the rest wait in the lane's queues until others complete. The other half is for
 * what can complete besides: a cancel for each operation, the second completion of a zero-copy
 * send, the wake-up, the extra ones of multishot operations (which the kernel ends when there is no
 * room for another). So the queue can not overflow.
 * Receives and accepts stop at three quarters of the limit (`in_limit`), so that any number of
 * them, waiting for a send, never keeps that send out.
 */
#ifndef LM_IO_URING_LANE_H
#define LM_IO_URING_LANE_H

#include <liburing.h>

#include "backends/io_uring_options.h"
#include "backends/loop.h"
#include "backends/wakeup.h"

/* The low bits of a completion's user_data say what the rest points to. Operations and sockets are
 * aligned to at least a word of 8 bytes. */
enum lm_ring_tag {
    LM_RING_TAG_OP,        /* struct lm_op */
    LM_RING_TAG_MULTISHOT, /* struct lm_ring_socket */
    LM_RING_TAG_ZEROCOPY,  /* struct lm_ring_socket */
    LM_RING_TAG_CLOSE,     /* struct lm_ring_socket */
    LM_RING_TAG_WAKE,
    LM_RING_TAG_NOTHING, /* of no interest: cancels */
    LM_RING_TAG_MASK = 7
};

/* lm_work.flags of this engine. */
enum lm_ring_op_flag {
    LM_RING_OP_CANCELLED = 1u << 0,     /* a cancel has been asked for */
    LM_RING_OP_CANCEL_QUEUED = 1u << 1, /* ... and waits in lane->cancels */
    LM_RING_OP_WAITING = 1u << 2 /* parked, but not in the ring: fed by a multishot operation */
};

/* What is to be submitted for a socket besides operations. */
enum lm_ring_chore {
    LM_RING_CHORE_DISARM = 1u << 0, /* cancel its multishot operation */
    LM_RING_CHORE_CLOSE = 1u << 1
};

struct lm_ring_socket {
    struct lm_base base;
    bool closing;   /* its descriptor is closed as soon as nothing in the ring refers to it */
    bool armed;     /* a multishot operation is in the ring */
    bool disarming; /* ... and a cancel for it */
    bool listener;  /* ... which accepts */
    bool ended;     /* the multishot operation ended with `end_result`, nobody knows yet */
    bool starved;   /* it ended because the buffers ran out */
    bool fixed_tried, fixed; /* its descriptor is registered, at its slab index */
    uint8_t chores;          /* enum lm_ring_chore */
    bool sent;               /* the result of its zero-copy send is in sent_bytes; the kernel will
                                say when it needs the buffer no more */
    int32_t sent_bytes;
    int32_t end_result;
    uint16_t uses; /* submissions so far, as long as its descriptor is not registered */
    struct lm_ring_socket *next_chore;
    /* Multishot accept: connections that came before their accept operation. */
    struct lm_ring_socket *accepted_first, *accepted_last, *next_accepted;
    uint32_t accepted_count;
    /* Multishot receive: filled buffers before their receive operation, as buffer number + 1. */
    uint16_t buffer_first, buffer_last; /* 0 = none */
    uint32_t buffer_offset;             /* bytes of the first that are used up */
};

/* Buffers that the kernel fills for multishot receives. */
struct lm_ring_buffers {
    struct io_uring_buf_ring *ring; /* NULL when the lane has none */
    char *memory;
    uint32_t count;
    uint16_t *next;  /* by buffer: the next one of the same socket, + 1; 0 = none */
    uint32_t *bytes; /* by buffer: how much is in it */
};

struct lm_ring_lane {
    struct lm_lane lane;
    struct io_uring ring;
    /* Started, not in the ring. Order eager keeps all of them in `out`. */
    struct lm_queue out, in;
    struct lm_queue cancels; /* parked operations to be cancelled */
    struct lm_ring_socket *chores;
    uint32_t queued;      /* operations in `out` and `in` */
    uint32_t unsubmitted; /* submission entries that the kernel has not taken */
    uint32_t entries;     /* submission entries there are; 0 with a submission thread */
    uint32_t in_flight;   /* operations, multishot ones and closes in the ring */
    uint32_t limit, in_limit;
    uint32_t armed;        /* multishot operations in the ring */
    uint32_t sent_waiting; /* sockets with `sent` */
    uint32_t sends;        /* sends among the unsubmitted */
    int luck;              /* how likely receives complete at once: see look_first */
    uint32_t blind_turns;
    int enter_fd;            /* the ring's descriptor or its registered number */
    unsigned enter_flags;    /* IORING_ENTER_REGISTERED_RING or 0 */
    unsigned work_flags;     /* bits of the ring's flags that ask for an io_uring_enter */
    bool blind;              /* completions need an io_uring_enter and no flag tells of them */
    bool enabled, quiescent; /* the ring takes submissions; loop_run has been left for good */
    bool eager;
    bool wakes;    /* other threads may wake this lane */
    bool wake_due; /* the wake-up descriptor is to be polled (again) */
    bool multishot_accept, async_close;
    size_t zerocopy_bytes; /* sends of at least so many are zero-copy; SIZE_MAX: none */
    uint32_t fixed_count;  /* slots for registered descriptors */
    uint16_t uses_to_fix;  /* submissions of a socket before its descriptor is registered */
    unsigned recv_ioprio;
    uint32_t hybrid_max; /* 0: not hybrid */
    size_t write_max_bytes, write_burst_bytes;
    uint64_t spin_ns;
    struct lm_ring_settings settings;
    struct lm_ring_buffers buffers;
    struct lm_wakeup wakeup;
};

static inline bool lm_ring_is_receive(const struct lm_work *work)
{
    return work->kind >= LM_OP_RECV;
}

/* Bytes one send of this operation may take. */
static inline size_t lm_ring_send_bytes(const struct lm_ring_lane *lane, const struct lm_work *work)
{
    return work->bytes < lane->write_max_bytes ? work->bytes : lane->write_max_bytes;
}

/* io_uring_ring.c */

int lm_ring_lane_open(struct lm_lane *base, const struct lm_loop_config *config);
int lm_ring_lane_enter(struct lm_lane *base);
void lm_ring_lane_close(struct lm_lane *base);
void lm_ring_wake(struct lm_lane *base);

/* Submits all there is and, with min_complete, sleeps until so many completions are in the queue.
 * flags: IORING_ENTER_.... Being interrupted, timing out, and what a later try may cure (-EAGAIN,
 * -EBUSY) are no errors. */
int lm_ring_enter(struct lm_ring_lane *lane, unsigned min_complete, unsigned flags);
/* Submits all there is and sleeps until there is a completion or timeout_ns has passed. */
int lm_ring_enter_timed(struct lm_ring_lane *lane, int64_t timeout_ns);

/* A submission entry when the ring has none free at once: see lm_ring_entry. */
struct io_uring_sqe *lm_ring_entry_slow(struct lm_ring_lane *lane);

/* A submission entry to be filled and marked; NULL when the kernel takes none now. The kernel takes
 * all entries in the call that submits them, so the free ones can be counted here; but with a
 * submission thread it has to be asked. */
static inline struct io_uring_sqe *lm_ring_entry(struct lm_ring_lane *lane)
{
    struct io_uring_sq *sq = &lane->ring.sq;
    if (lane->unsubmitted >= lane->entries) {
        return lm_ring_entry_slow(lane);
    }
    lane->unsubmitted++;
    return &sq->sqes[sq->sqe_tail++ & sq->ring_mask];
}

/* Says whose the completion will be. After io_uring_prep_...: those may write all of the entry. */
static inline void lm_ring_mark(struct io_uring_sqe *sqe, const void *object, enum lm_ring_tag tag)
{
    sqe->user_data = (uintptr_t)object | tag;
}

/* The ring's flags as the kernel last wrote them: IORING_SQ_.... */
static inline unsigned lm_ring_flags(const struct lm_ring_lane *lane)
{
    return IO_URING_READ_ONCE(*lane->ring.sq.kflags);
}

/* Registers the socket's descriptor with the ring if that is worth it by now. */
void lm_ring_fix(struct lm_ring_lane *lane, struct lm_ring_socket *socket);

/* Makes the entry refer to the socket's descriptor or its registered slot. */
static inline void lm_ring_target(struct lm_ring_lane *lane, struct lm_ring_socket *socket,
                                  struct io_uring_sqe *sqe)
{
    if (socket->uses < lane->uses_to_fix) {
        socket->uses++;
        return;
    }
    if (!socket->fixed_tried) {
        lm_ring_fix(lane, socket);
    }
    if (socket->fixed) {
        sqe->fd = (int)socket->base.slab.index;
        sqe->flags |= IOSQE_FIXED_FILE;
    }
}

/* Takes one socket's registered descriptor back, or all. */
void lm_ring_forget_fixed(struct lm_ring_lane *lane, struct lm_ring_socket *socket);
void lm_ring_forget_all_fixed(struct lm_ring_lane *lane);

/* io_uring.c */

/* Puts an operation (back) into the lane's queues. */
void lm_ring_queue(struct lm_ring_lane *lane, struct lm_op *op);
/* The operation is over: one of a closing socket, or with a cancel that is not submitted. */
void lm_ring_finish_rare(struct lm_ring_lane *lane, struct lm_op *op, int64_t result);

/* The operation is over. Of a closing socket the result is -ECANCELED whatever it was. */
static inline void lm_ring_finish(struct lm_ring_lane *lane, struct lm_op *op, int64_t result)
{
    const struct lm_work *work = lm_work_of(op);
    if (work->flags & LM_RING_OP_CANCEL_QUEUED ||
        ((const struct lm_ring_socket *)work->socket)->closing) {
        lm_ring_finish_rare(lane, op, result);
    } else {
        lm_lane_complete(&lane->lane, op, result);
    }
}

/* Asks for something to be submitted for the socket in the next turn. */
void lm_ring_add_chore(struct lm_ring_lane *lane, struct lm_ring_socket *socket,
                       enum lm_ring_chore chore);
/* The ring has closed the socket's descriptor, or will before anything that is submitted later. */
void lm_ring_closed(struct lm_ring_lane *lane, struct lm_ring_socket *socket);
/* Closes a closing socket's descriptor and gives its memory back if nothing refers to it. */
void lm_ring_close_if_free(struct lm_ring_lane *lane, struct lm_ring_socket *socket);

/* io_uring_submit.c */

/* Works off what is queued: puts it into the ring, or (directly) tries it by plain calls, after
 * which only what would block is queued. */
void lm_ring_walk(struct lm_ring_lane *lane, bool directly);
/* Cancels, closes, the wake-up: all that is not an operation's first submission. */
void lm_ring_submit_rest(struct lm_ring_lane *lane);

/* io_uring_multishot.c */

/* Serves an operation from what has come already, or lets it wait for the socket's multishot
 * operation, which is armed if need be, or finds that it has to be submitted like others: *plain.
 * False: the ring has no room, ask again. */
bool lm_ring_serve(struct lm_ring_lane *lane, struct lm_op *op, bool *plain);
/* A completion of the socket's multishot operation. */
void lm_ring_multishot_done(struct lm_ring_lane *lane, struct lm_ring_socket *socket, int result,
                            unsigned flags);
/* Gives back what came for a socket that is being closed. */
void lm_ring_multishot_drop(struct lm_ring_lane *lane, struct lm_ring_socket *socket);

/* Buffers for multishot receives: memory, and telling the kernel. */
int lm_ring_buffers_open(struct lm_ring_lane *lane);
int lm_ring_buffers_register(struct lm_ring_lane *lane);
void lm_ring_buffers_close(struct lm_ring_lane *lane);

#endif
