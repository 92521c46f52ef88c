/* backend.h - the contract between loopmark and an asynchronous I/O backend.
 *
 * This is the one header a backend author reads, and the only one a plugin includes. It declares
 * what a backend provides (struct lm_backend) and the objects both sides share. It holds no
 * benchmark, no measuring and no helper of one particular backend.
 *
 * The style is proactor: the caller starts an operation and is told of its completion. The rules
 * every backend keeps, each of which is a conformance test:
 *
 *  1. An operation (struct lm_op) is owned by the caller. It stays at one address, untouched by
 *     the caller, from the call that starts it until its completion. The backend links it by means
 *     of `backend_private` and allocates nothing per operation.
 *  2. `done` is called exactly once per started operation, only from inside `loop_run`, never from
 *     the call that started it. Inside `done` the operation already belongs to the caller again
 *     and may be started anew.
 *  3. `recv` completes with 1..length bytes, 0 at end of stream, or an error. `send` completes with
 *     1..length bytes (it may be short) or an error.
 *  4. Per socket at most one recv or accept and at most one send or connect are outstanding.
 *     One of each at the same time is legal.
 *  5. `socket_close` completes every pending operation of that socket with -ECANCELED, later, in
 *     `loop_run`. A completion that belongs to a closed descriptor never reaches another socket
 *     that received the same descriptor number.
 *  6. `cancel` of an operation that has completed is harmless. `post` and `loop_stop` may be called
 *     from any thread, unless the loop is lockless. In shared mode (threads > 1) every call is
 *     legal from any thread that runs the loop. A lockless loop takes no lock and uses no atomic
 *     read-modify-write instruction; all calls to it come from the one thread that runs it.
 *  7. `loop_run` returns when the loop was stopped, or when no operation is outstanding.
 *  8. Ready work never starves polling, and one busy socket never starves the others: the work done
 *     between two looks at the operating system is bounded.
 *  9. A backend does not print, exit or raise signals. SIGPIPE never happens. Every failure is a
 *     negative errno value, from the call or from the completion.
 *
 * Threads. A loop is run by exactly `lm_loop_config.threads` threads, each inside `loop_run` at the
 * same time; work may be tied to one of them, so progress is promised only while all of them run.
 * Every later `loop_run` of the same loop comes from the same threads. Operations started before
 * the first `loop_run` may be started from the thread that created the loop.
 */
#ifndef LM_BACKEND_H
#define LM_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this contract. A plugin whose `abi` differs is refused. It changes with every change of
 * a structure or a rule in this file. */
#define LM_BACKEND_ABI 1u

/* Most threads that may run one loop. */
#define LM_MAX_THREADS 64u

struct lm_loop;   /* a backend's event loop; defined by each backend */
struct lm_socket; /* a backend's socket; defined by each backend */
struct lm_op;

/* Completion of an operation.
 * op      the operation; it may be started again from here.
 * result  recv and send: bytes moved (0 = end of stream); others: 0; on failure a negative errno.
 * Called on a thread inside loop_run. */
typedef void lm_done_fn(struct lm_op *op, int64_t result);

/* One asynchronous operation. Embed it in a structure of your own. Set it to all zero once, set
 * `done`, then hand it to the starting calls; between completions leave `backend_private` alone. */
struct lm_op {
    lm_done_fn *done;
    uintptr_t backend_private[8];
};

/* What a backend can do beyond the calls themselves; a case that needs a capability a backend does
 * not have is skipped, with lm_backend.limits as the reason. */
enum lm_capability {
    LM_CAP_THREADS = 1u << 0, /* several threads may run one loop */
    LM_CAP_LOOPS = 1u << 1, /* loops of several threads may run side by side: it sleeps when idle */
    LM_CAP_LOCKLESS = 1u << 2, /* has a lockless mode; without it the normal mode runs instead */
    LM_CAP_LOCAL = 1u << 3     /* AF_UNIX stream sockets */
};

/* One setting of a backend, given by users as name:key=value. A value is a whole number; where
 * `choices` is set it is the index of a word in that list and users write the word. */
struct lm_option {
    const char *key;            /* lower case, digits and _; NULL ends a table */
    const char *help;           /* one line, no full stop */
    uint64_t default_value;     /* minimum..maximum */
    uint64_t minimum, maximum;  /* both inclusive; 0..1 is a switch */
    const char *const *choices; /* NULL, or maximum + 1 words and a NULL */
};

/* How a loop is to be made. */
struct lm_loop_config {
    uint32_t threads;        /* threads that will be inside loop_run at once, 1..LM_MAX_THREADS */
    bool lockless;           /* rule 6; only with threads == 1 */
    const uint64_t *options; /* a value for each entry of lm_backend.options, in that order */
};

/* System calls that a backend counts, by the name strace shows on Linux. What libc calls for a
 * contended mutex or a condition variable (futex) is not among them: a backend can not see it. */
enum lm_syscall {
    LM_SYS_SEND,   /* sendto, sendmsg, send */
    LM_SYS_RECV,   /* recvfrom, recvmsg, recv */
    LM_SYS_ACCEPT, /* accept, accept4 */
    LM_SYS_CONNECT,
    LM_SYS_CLOSE,
    LM_SYS_SETSOCKOPT,
    LM_SYS_GETSOCKOPT,
    LM_SYS_FCNTL,
    LM_SYS_IOCTL,
    LM_SYS_POLL,       /* poll, ppoll */
    LM_SYS_EPOLL_WAIT, /* epoll_wait, epoll_pwait, epoll_pwait2 */
    LM_SYS_EPOLL_CTL,
    LM_SYS_KEVENT,
    LM_SYS_RING_ENTER,    /* io_uring_enter */
    LM_SYS_RING_REGISTER, /* io_uring_register */
    LM_SYS_TIMER_SET,     /* timerfd_settime */
    LM_SYS_READ,
    LM_SYS_WRITE,
    LM_SYS_COUNT
};

/* What a loop has done since it was created. All values only grow. */
struct lm_counters {
    uint64_t syscalls[LM_SYS_COUNT]; /* calls made by this backend, by kind */
    uint64_t waits;                  /* looks at the operating system that were allowed to sleep */
    uint64_t wakeups;                /* times another thread was woken */
    uint64_t speculative_hits;       /* operations tried at once that succeeded */
    uint64_t speculative_misses;     /* ... that would have blocked */
    uint64_t overflows;              /* completions the kernel could not queue in time (io_uring) */
};

/* A backend: one table, one symbol. All members are set unless marked optional. Functions that
 * return int return 0 or a negative errno. `loop` and `socket` arguments are never NULL. */
struct lm_backend {
    uint32_t abi;                    /* LM_BACKEND_ABI */
    const char *name;                /* short name used in specs: lower case, digits and _ */
    const char *title;               /* what pages call it */
    uint32_t capabilities;           /* enum lm_capability */
    const char *limits;              /* sentence: why a capability is missing; NULL when none is */
    const struct lm_option *options; /* ended by a NULL key; NULL when it has none */

    /* Can this backend, with these options, run here? Called before any loop is made.
     * Returns 0, or a negative errno with a sentence in `why` (capacity why_bytes) that names the
     * cause and what a person can do about it. */
    int (*available)(const uint64_t *options, char *why, size_t why_bytes);

    /* Optional. The capabilities (enum lm_capability) that these options take away, and in *why,
     * when there are any, a sentence that says so; 0 when they take none. */
    uint32_t (*takes_away)(const uint64_t *options, const char **why);

    /* Optional. Writes the settings in force (library version, kernel flags, order of work) as one
     * line without a full stop into text. */
    void (*describe)(const uint64_t *options, char *text, size_t text_bytes);

    /* Makes a loop. `config` is only read during the call. Failure leaves *loop unset. */
    int (*loop_create)(const struct lm_loop_config *config, struct lm_loop **loop);

    /* Frees a loop that no thread is running. Outstanding operations are forgotten: their `done` is
     * not called. Sockets that are still open are closed. */
    void (*loop_destroy)(struct lm_loop *loop);

    /* Runs completions on the calling thread until the loop is stopped or no operation is
     * outstanding on it. Returns 0, or a negative errno when the loop can not go on. May be called
     * again after it returned because nothing was outstanding. */
    int (*loop_run)(struct lm_loop *loop);

    /* Makes every present and future loop_run of this loop return soon, work or no work. Final. */
    void (*loop_stop)(struct lm_loop *loop);

    /* Writes the loop's counters. Any thread, any time; what other threads count while it runs may
     * be missing. */
    void (*loop_counters)(struct lm_loop *loop, struct lm_counters *counters);

    /* Gives a stream or listening socket descriptor to the loop. On success the backend owns fd and
     * closes it in socket_close; on failure the caller still does. fd is in blocking mode; the
     * backend changes that as it likes.
     * affinity  sockets with equal numbers are expected to talk with each other; a backend that
     *           ties sockets to threads puts them on the same one (affinity modulo threads). */
    int (*socket_open)(struct lm_loop *loop, int fd, uint32_t affinity, struct lm_socket **socket);

    /* Rule 5. The handle is invalid when the call returns. SO_LINGER of the descriptor is kept. */
    void (*socket_close)(struct lm_socket *socket);

    /* Waits for one connection on a listening socket. On success *accepted is set before `done`
     * runs: an open socket of the same loop with the listener's affinity. */
    void (*accept)(struct lm_socket *listener, struct lm_op *op, struct lm_socket **accepted);

    /* Connects. `address` stays valid until completion. */
    void (*connect)(struct lm_socket *socket, struct lm_op *op, const struct sockaddr *address,
                    socklen_t address_bytes);

    /* Receives into, or sends from, `buffer` (1 <= bytes <= INT32_MAX), which stays valid and, for
     * send, unchanged until completion. */
    void (*recv)(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes);
    void (*send)(struct lm_socket *socket, struct lm_op *op, const void *buffer, size_t bytes);

    /* Completes with 0 in loop_run. Posts of one thread to a loop of one thread complete in order.
     */
    void (*post)(struct lm_loop *loop, struct lm_op *op);

    /* Completes with 0 no earlier than delay_ns from now (monotonic clock). */
    void (*timer)(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns);

    /* Asks for an early end: the operation completes with -ECANCELED unless it completes otherwise
     * first. `op` was started on this loop. In shared mode, called from a thread other than the one
     * its `done` runs on, op's memory must stay valid until loop_run returns, and op must not be
     * started again by the time the cancel is acted on. */
    void (*cancel)(struct lm_loop *loop, struct lm_op *op);
};

/* What a backend can do with these options. *why gets the sentence that says why a capability is
 * missing, or NULL when the backend gives none. */
static inline uint32_t lm_capabilities(const struct lm_backend *backend, const uint64_t *options,
                                       const char **why)
{
    *why = backend->limits;
    if (!backend->takes_away) {
        return backend->capabilities;
    }
    return backend->capabilities & ~backend->takes_away(options, why);
}

/* The one symbol a plugin (shared object) exports. The table lives as long as the process. */
const struct lm_backend *loopmark_backend(void);

#ifdef __cplusplus
}
#endif

#endif
