/* transfer.h - exactly-sized sends and receives, written once above the contract. */
#ifndef LM_TRANSFER_H
#define LM_TRANSFER_H

#include "backends/backend.h"

struct lm_transfer;

/* result: 0 when all bytes have moved; -EPIPE when the stream ended first (transfer->moved_bytes
 * says how many bytes came before); else a negative errno. */
typedef void lm_transfer_fn(struct lm_transfer *transfer, int64_t result);

/* One direction of one socket. Owned by the caller, at one address while a transfer is under way.
 */
struct lm_transfer {
    struct lm_op op;
    const struct lm_backend *backend;
    struct lm_socket *socket;
    char *buffer;
    size_t moved_bytes, total_bytes;
    lm_transfer_fn *done; /* called inside loop_run; may start the next transfer */
    void *owner;          /* the caller's */
};

/* Sends, or receives, exactly `bytes` (> 0). `transfer->done` and `owner` are set by the caller. */
void lm_send_all(struct lm_transfer *transfer, const struct lm_backend *backend,
                 struct lm_socket *socket, const void *buffer, size_t bytes);
void lm_recv_exactly(struct lm_transfer *transfer, const struct lm_backend *backend,
                     struct lm_socket *socket, void *buffer, size_t bytes);

#endif
