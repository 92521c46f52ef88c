#include "suites/transfer.h"

#include <errno.h>

static void send_done(struct lm_op *op, int64_t result);
static void recv_done(struct lm_op *op, int64_t result);

static void begin(struct lm_transfer *transfer, const struct lm_backend *backend,
                  struct lm_socket *socket, const void *buffer, size_t bytes)
{
    transfer->backend = backend;
    transfer->socket = socket;
    transfer->buffer = (char *)(uintptr_t)buffer;
    transfer->moved_bytes = 0;
    transfer->total_bytes = bytes;
}

static void send_rest(struct lm_transfer *transfer)
{
    transfer->backend->send(transfer->socket, &transfer->op,
                            transfer->buffer + transfer->moved_bytes,
                            transfer->total_bytes - transfer->moved_bytes);
}

static void recv_rest(struct lm_transfer *transfer)
{
    transfer->backend->recv(transfer->socket, &transfer->op,
                            transfer->buffer + transfer->moved_bytes,
                            transfer->total_bytes - transfer->moved_bytes);
}

/* Takes one result; true when the transfer goes on. A count outside 1..asked is a backend's lie. */
static bool advance(struct lm_transfer *transfer, int64_t result)
{
    if (result > 0 && (uint64_t)result > transfer->total_bytes - transfer->moved_bytes) {
        transfer->done(transfer, -EPROTO);
        return false;
    }
    if (result <= 0) {
        transfer->done(transfer, result ? result : -EPIPE);
        return false;
    }
    transfer->moved_bytes += (size_t)result;
    if (transfer->moved_bytes < transfer->total_bytes) {
        return true;
    }
    transfer->done(transfer, 0);
    return false;
}

static void send_done(struct lm_op *op, int64_t result)
{
    struct lm_transfer *transfer = (struct lm_transfer *)op;
    if (advance(transfer, result)) {
        send_rest(transfer);
    }
}

static void recv_done(struct lm_op *op, int64_t result)
{
    struct lm_transfer *transfer = (struct lm_transfer *)op;
    if (advance(transfer, result)) {
        recv_rest(transfer);
    }
}

void lm_send_all(struct lm_transfer *transfer, const struct lm_backend *backend,
                 struct lm_socket *socket, const void *buffer, size_t bytes)
{
    begin(transfer, backend, socket, buffer, bytes);
    transfer->op.done = send_done;
    send_rest(transfer);
}

void lm_recv_exactly(struct lm_transfer *transfer, const struct lm_backend *backend,
                     struct lm_socket *socket, void *buffer, size_t bytes)
{
    begin(transfer, backend, socket, buffer, bytes);
    transfer->op.done = recv_done;
    recv_rest(transfer);
}
