/* readiness.h - operation queues over a readiness API: the engine (loop.h) that epoll, poll and
 * spin share. A backend supplies a poller: how to be told that a descriptor is ready, and how to
 * wait.
 *
 * An operation is first tried as a plain non-blocking call. Only what would block is parked and
 * armed with the poller. Order of work (option `order`):
 *   two_phase  starting queues; each turn tries all sends and connects, then all receives and
 *              accepts, so that a receive finds its data and nothing needs arming
 *   eager      an operation is tried in the call that starts it
 */
#ifndef LM_READINESS_H
#define LM_READINESS_H

#include "backends/loop.h"
#include "backends/wakeup.h"

struct lm_ready_lane;
struct lm_ready_socket;

struct lm_poller {
    /* Makes what the lane needs, in zeroed memory; 0 or a negative errno, after which close is not
     * called. Optional, as close is. */
    int (*open)(struct lm_ready_lane *lane);
    void (*close)(struct lm_ready_lane *lane);
    /* An operation of the socket would block (base.in or base.out, state PARKED): arrange for
     * lm_ready_event. A negative errno ends the operation with it. NULL: the poller has no
     * readiness API, the operation is tried again next turn. */
    int (*arm)(struct lm_ready_lane *lane, struct lm_ready_socket *socket, struct lm_op *op);
    /* An operation that was given to arm has ended, also when arm refused it. Optional. */
    void (*disarm)(struct lm_ready_lane *lane, struct lm_ready_socket *socket);
    /* Waits at most timeout_ns (-1: no limit) and reports through lm_ready_event. 0 or -errno. */
    int (*wait)(struct lm_ready_lane *lane, int64_t timeout_ns);
};

/* Option indices that every backend on this layer has first, in this order. */
enum lm_ready_option {
    LM_READY_ORDER,
    LM_READY_WRITE_MAX,
    LM_READY_WRITE_BURST,
    LM_READY_OPTIONS
};
#define LM_READY_ORDER_OPTION(default_order)                                                       \
    {                                                                                              \
        "order", "when operations are tried: all sends then all receives of a turn, or at once",   \
            default_order, 0, 1, lm_order_choices                                                  \
    }
#define LM_READY_WRITE_OPTIONS                                                                     \
    {"write_max", "most bytes given to one send call", 262144, 4096, INT32_MAX, NULL},             \
    {                                                                                              \
        "write_burst", "bytes sent in a row before receives get their turn", 131072, 4096,         \
            INT32_MAX, NULL                                                                        \
    }
/* Time spent looking before sleeping; for pollers that can sleep. */
#define LM_READY_SPIN_OPTION                                                                       \
    {                                                                                              \
        "spin_us", "microseconds of looking without sleeping before a wait", 0, 0, 1000000, NULL   \
    }

extern const char *const lm_order_choices[]; /* "two_phase", "eager" */
enum lm_order {
    LM_ORDER_TWO_PHASE,
    LM_ORDER_EAGER
};

/* Writes "order ..., writes of at most N bytes, receives after N" for lm_backend.describe. */
void lm_ready_describe(const uint64_t *options, char *text, size_t text_bytes);

struct lm_ready_lane {
    struct lm_lane lane;
    const struct lm_poller *poller;
    struct lm_queue out, in; /* to be tried: sends and connects; receives and accepts */
    uint64_t parked;         /* operations the poller watches */
    uint64_t since_poll;     /* operations that ended since the last look */
    uint64_t turns;          /* turns since then: posts and timers end no socket operation */
    size_t write_max_bytes, write_burst_bytes;
    uint64_t spin_ns;
    bool eager;
    struct lm_wakeup wakeup;
    /* The poller's. */
    int poll_fd;
    struct pollfd *poll_set; /* poll: the descriptors, and whose they are */
    struct lm_ready_socket **poll_sockets;
    uint32_t poll_count, poll_capacity;
};

struct lm_ready_socket {
    struct lm_base base;
    bool nonblocking; /* O_NONBLOCK was set: needed by accept and connect only */
    bool connecting;  /* connect has returned EINPROGRESS */
    uint32_t armed;   /* the poller's: what is registered */
    uint32_t slot;    /* the poller's: place in its set */
};

/* Tells that a socket may be readable or writable now: tries the parked operations. What still
 * would block stays parked and armed. Calls disarm of this socket only, and no `done`. */
void lm_ready_event(struct lm_ready_lane *lane, struct lm_ready_socket *socket, bool in, bool out);

/* Fills the settings shared by all backends of this layer; for lane_open of their engines. */
int lm_ready_lane_open(struct lm_ready_lane *lane, const struct lm_poller *poller,
                       const struct lm_loop_config *config, uint64_t spin_us);

/* The rest of the engine. LM_READY_ENGINE(type) sets every member but lane_open; `type` is struct
 * lm_ready_lane, or a structure that begins with it. */
void lm_ready_lane_close(struct lm_lane *lane);
void lm_ready_start(struct lm_lane *lane, struct lm_op *op);
void lm_ready_cancel(struct lm_lane *lane, struct lm_op *op);
void lm_ready_close(struct lm_lane *lane, struct lm_base *socket);
int lm_ready_turn(struct lm_lane *lane, int64_t timeout_ns);
void lm_ready_wake(struct lm_lane *lane);

#define LM_READY_ENGINE(lane_type)                                                                 \
    .lane_bytes = sizeof(lane_type), .socket_bytes = sizeof(struct lm_ready_socket),               \
    .lane_close = lm_ready_lane_close, .start = lm_ready_start, .cancel = lm_ready_cancel,         \
    .close = lm_ready_close, .turn = lm_ready_turn, .wake = lm_ready_wake

#endif
