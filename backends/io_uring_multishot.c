/* io_uring_multishot.c - one submission, many completions: connections and data that come while no
 * operation asks for them are kept by their socket until one does.
 *
 * A receive of this kind needs buffers the kernel may fill at any time; the lane's sockets share a
 * ring of them and their content is copied to where the operation wants it. When sockets whose
 * owners do not receive hold them all, the others are served by plain receives.
 */
#include "backends/io_uring_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 16384u
#define BUFFERS      256u

/* Connections kept for accepts to come; beyond that they wait in the kernel's backlog. */
#define KEPT_CONNECTIONS 64u

/* Buffers. */

static char *buffer_at(const struct lm_ring_buffers *buffers, uint32_t number)
{
    return buffers->memory + (size_t)number * BUFFER_BYTES;
}

/* Gives a buffer to the kernel. */
static void recycle(struct lm_ring_buffers *buffers, uint32_t number)
{
    io_uring_buf_ring_add(buffers->ring, buffer_at(buffers, number), BUFFER_BYTES, (uint16_t)number,
                          io_uring_buf_ring_mask(buffers->count), 0);
    io_uring_buf_ring_advance(buffers->ring, 1);
}

int lm_ring_buffers_open(struct lm_ring_lane *lane)
{
    struct lm_ring_buffers *buffers = &lane->buffers;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    /* Each may complete once more than the lane counts, so a small completion queue has few. */
    uint32_t room = lane->ring.cq.ring_entries / 8;
    buffers->count = room < BUFFERS ? room : BUFFERS;
    size_t ring_bytes = buffers->count * sizeof(struct io_uring_buf);
    ring_bytes = (ring_bytes + page_bytes - 1) / page_bytes * page_bytes;
    buffers->ring = aligned_alloc(page_bytes, ring_bytes);
    buffers->memory = malloc((size_t)buffers->count * BUFFER_BYTES);
    buffers->next = calloc(buffers->count, sizeof(*buffers->next));
    buffers->bytes = calloc(buffers->count, sizeof(*buffers->bytes));
    return buffers->ring && buffers->memory && buffers->next && buffers->bytes ? 0 : -ENOMEM;
}

int lm_ring_buffers_register(struct lm_ring_lane *lane)
{
    struct lm_ring_buffers *buffers = &lane->buffers;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)buffers->ring,
        .ring_entries = buffers->count,
    };
    int result = io_uring_register_buf_ring(&lane->ring, &registration, 0);
    if (result) {
        return result;
    }
    io_uring_buf_ring_init(buffers->ring);
    for (uint32_t i = 0; i < buffers->count; i++) {
        recycle(buffers, i);
    }
    return 0;
}

void lm_ring_buffers_close(struct lm_ring_lane *lane)
{
    free(lane->buffers.ring);
    free(lane->buffers.memory);
    free(lane->buffers.next);
    free(lane->buffers.bytes);
}

/* What is kept. */

static void keep_buffer(struct lm_ring_buffers *buffers, struct lm_ring_socket *socket,
                        uint32_t number, uint32_t bytes)
{
    buffers->bytes[number] = bytes;
    buffers->next[number] = 0;
    if (socket->buffer_first) {
        buffers->next[socket->buffer_last - 1] = (uint16_t)(number + 1);
    } else {
        socket->buffer_first = (uint16_t)(number + 1);
    }
    socket->buffer_last = (uint16_t)(number + 1);
}

static void drop_first_buffer(struct lm_ring_buffers *buffers, struct lm_ring_socket *socket)
{
    uint32_t number = socket->buffer_first - 1u;
    socket->buffer_first = buffers->next[number];
    socket->buffer_offset = 0;
    recycle(buffers, number);
}

static size_t copy_kept(struct lm_ring_buffers *buffers, struct lm_ring_socket *socket,
                        char *target, size_t bytes)
{
    size_t copied = 0;
    while (socket->buffer_first && copied < bytes) {
        uint32_t number = socket->buffer_first - 1u;
        size_t kept = buffers->bytes[number] - socket->buffer_offset;
        size_t part = kept < bytes - copied ? kept : bytes - copied;
        memcpy(target + copied, buffer_at(buffers, number) + socket->buffer_offset, part);
        copied += part;
        socket->buffer_offset += (uint32_t)part;
        if (part == kept) {
            drop_first_buffer(buffers, socket);
        }
    }
    return copied;
}

static struct lm_ring_socket *take_kept_connection(struct lm_ring_socket *listener)
{
    struct lm_ring_socket *socket = listener->accepted_first;
    listener->accepted_first = socket->next_accepted;
    listener->accepted_count--;
    return socket;
}

static void close_fd(struct lm_ring_lane *lane, int fd)
{
    lm_count_syscall(&lane->lane.counters, LM_SYS_CLOSE);
    close(fd);
}

static void keep_connection(struct lm_ring_lane *lane, struct lm_ring_socket *listener, int fd)
{
    struct lm_ring_socket *socket =
        listener->closing ? NULL : (struct lm_ring_socket *)lm_lane_socket(&lane->lane, fd);
    if (!socket) {
        close_fd(lane, fd);
        listener->ended = true;
        listener->end_result = -ENOMEM;
        return;
    }
    if (listener->accepted_first) {
        listener->accepted_last->next_accepted = socket;
    } else {
        listener->accepted_first = socket;
    }
    listener->accepted_last = socket;
    listener->accepted_count++;
    if (listener->accepted_count >= KEPT_CONNECTIONS && listener->armed) {
        lm_ring_add_chore(lane, listener, LM_RING_CHORE_DISARM);
    }
}

void lm_ring_multishot_drop(struct lm_ring_lane *lane, struct lm_ring_socket *socket)
{
    while (socket->accepted_first) {
        struct lm_ring_socket *accepted = take_kept_connection(socket);
        close_fd(lane, accepted->base.fd);
        accepted->base.fd = -1;
        lm_slab_give(&lane->lane.sockets, accepted);
    }
    while (socket->buffer_first) {
        drop_first_buffer(&lane->buffers, socket);
    }
}

/* Serving operations. */

/* Completes op from what is kept; false when that is nothing. */
static bool serve_kept(struct lm_ring_lane *lane, struct lm_ring_socket *socket, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    int64_t result;
    if (socket->accepted_first) {
        *work->accepted = (struct lm_socket *)take_kept_connection(socket);
        result = 0;
    } else if (socket->buffer_first) {
        result = (int64_t)copy_kept(&lane->buffers, socket, work->buffer, work->bytes);
    } else if (socket->ended) {
        socket->ended = false;
        result = socket->end_result;
    } else {
        return false;
    }
    lm_ring_finish(lane, op, result);
    return true;
}

static bool arm(struct lm_ring_lane *lane, struct lm_ring_socket *socket, bool listener)
{
    struct io_uring_sqe *sqe = lm_ring_entry(lane);
    if (!sqe) {
        return false;
    }
    if (listener) {
        io_uring_prep_multishot_accept(sqe, socket->base.fd, NULL, NULL, SOCK_CLOEXEC);
    } else {
        io_uring_prep_recv_multishot(sqe, socket->base.fd, NULL, 0, 0);
        sqe->ioprio |= (uint16_t)lane->recv_ioprio;
        sqe->flags |= IOSQE_BUFFER_SELECT;
    }
    lm_ring_target(lane, socket, sqe);
    lm_ring_mark(sqe, socket, LM_RING_TAG_MULTISHOT);
    socket->listener = listener;
    socket->armed = true;
    lane->armed++;
    lane->in_flight++;
    return true;
}

/* Armed operations stay in the ring though nobody may wait for them, so they must leave room for
 * plain ones. */
static bool may_arm(const struct lm_ring_lane *lane)
{
    return lane->armed < lane->in_limit / 2;
}

bool lm_ring_serve(struct lm_ring_lane *lane, struct lm_op *op, bool *plain)
{
    struct lm_work *work = lm_work_of(op);
    struct lm_ring_socket *socket = (struct lm_ring_socket *)work->socket;
    if (serve_kept(lane, socket, op)) {
        return true;
    }
    if (!socket->armed && (socket->starved || !may_arm(lane))) {
        socket->starved = false;
        *plain = true;
        return true;
    }
    if (!socket->armed && !arm(lane, socket, work->kind == LM_OP_ACCEPT)) {
        return false;
    }
    work->state = LM_OP_PARKED;
    work->flags |= LM_RING_OP_WAITING;
    return true;
}

/* Completions. */

static bool is_passing(int result)
{
    return result == -ECANCELED || result == -EINTR || result == -ECONNABORTED ||
           result == -ENOBUFS;
}

static void keep_result(struct lm_ring_lane *lane, struct lm_ring_socket *socket, int result,
                        unsigned flags)
{
    if (socket->listener && result >= 0) {
        keep_connection(lane, socket, result);
    } else if (flags & IORING_CQE_F_BUFFER) {
        uint32_t number = flags >> IORING_CQE_BUFFER_SHIFT;
        if (result > 0 && !socket->closing) {
            keep_buffer(&lane->buffers, socket, number, (uint32_t)result);
        } else {
            recycle(&lane->buffers, number);
        }
    }
    socket->starved = result == -ENOBUFS;
    if (result < 0 ? !is_passing(result) : result == 0 && !socket->listener) {
        socket->ended = true;
        socket->end_result = result;
    }
}

void lm_ring_multishot_done(struct lm_ring_lane *lane, struct lm_ring_socket *socket, int result,
                            unsigned flags)
{
    if (!(flags & IORING_CQE_F_MORE)) {
        socket->armed = socket->disarming = false;
        lane->armed--;
        lane->in_flight--;
    }
    keep_result(lane, socket, result, flags);
    struct lm_op *op = socket->base.in;
    if (socket->closing) {
        lm_ring_close_if_free(lane, socket);
    } else if (op && lm_work_of(op)->flags & LM_RING_OP_WAITING) {
        if (!serve_kept(lane, socket, op) && !socket->armed) {
            lm_work_of(op)->flags &= ~(uint32_t)LM_RING_OP_WAITING;
            lm_ring_queue(lane, op);
        }
    }
}
