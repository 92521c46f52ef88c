/* The backend `reactor`: Asio's design re-implemented in C, the baseline. reactor_op.h says which
 * file stands for which part of Asio. This one holds the system calls of socket operations and the
 * backend's table. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/reactor_epoll.h"

enum option {
    OPTION_HINT,
    OPTION_ASIO_COMPAT
};

enum hint {
    HINT_AUTO,
    HINT_SAFE,
    HINT_1,
    HINT_UNSAFE_IO,
    HINT_UNSAFE
};
static const char *const hints[] = {"auto", "safe", "1", "unsafe_io", "unsafe", NULL};

enum compat {
    COMPAT_1_30,
    COMPAT_1_34,
    COMPAT_1_38
};
static const char *const compats[] = {"1.30", "1.34", "1.38", NULL};

static const struct lm_option options[] = {
    [OPTION_HINT] = {.key = "hint",
                     .help = "Asio's concurrency hint; auto: unsafe in lockless cases, else safe; "
                             "unsafe: no lock, so no call from another thread",
                     .default_value = HINT_AUTO,
                     .maximum = HINT_UNSAFE,
                     .choices = hints},
    [OPTION_ASIO_COMPAT] = {.key = "asio_compat",
                            .help = "Asio version whose way of not blocking is used: ioctl (1.30), "
                                    "fcntl on accepted sockets (1.34), MSG_DONTWAIT (1.38)",
                            .default_value = COMPAT_1_34,
                            .maximum = COMPAT_1_38,
                            .choices = compats},
    {.key = NULL},
};

/* What a concurrency hint switches on. */
struct hint_meaning {
    bool one_thread, scheduler_locking, registration_locking, io_locking;
};

static const struct hint_meaning hint_meanings[] = {
    [HINT_SAFE] = {.scheduler_locking = true, .registration_locking = true, .io_locking = true},
    [HINT_1] = {.one_thread = true,
                .scheduler_locking = true,
                .registration_locking = true,
                .io_locking = true},
    [HINT_UNSAFE_IO] = {.one_thread = true,
                        .scheduler_locking = true,
                        .registration_locking = true},
    [HINT_UNSAFE] = {.one_thread = true},
};

struct lm_loop {
    struct lm_reactor_scheduler scheduler;
    struct lm_reactor reactor;
    enum compat compat;
};

static struct lm_loop *loop_of(struct lm_socket *socket)
{
    return (struct lm_loop *)(void *)((char *)socket->reactor - offsetof(struct lm_loop, reactor));
}

/* Makes the descriptor non-blocking on its first operation. */
static int set_non_blocking(struct lm_socket *socket)
{
    struct lm_loop *loop = loop_of(socket);

    if (atomic_load_explicit(&socket->non_blocking, memory_order_relaxed)) {
        return 0;
    }
    if (socket->possible_dup && loop->compat == COMPAT_1_34) {
        LM_REACTOR_COUNT(&loop->scheduler, syscalls[LM_SYS_FCNTL]);
        int flags = fcntl(socket->fd, F_GETFL);
        if (flags < 0) {
            return -errno;
        }
        if ((flags & O_NONBLOCK) == 0) {
            LM_REACTOR_COUNT(&loop->scheduler, syscalls[LM_SYS_FCNTL]);
            if (fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
                return -errno;
            }
        }
    } else {
        int on = 1;
        LM_REACTOR_COUNT(&loop->scheduler, syscalls[LM_SYS_IOCTL]);
        if (ioctl(socket->fd, FIONBIO, &on) != 0) {
            return -errno;
        }
    }
    atomic_store_explicit(&socket->non_blocking, true, memory_order_relaxed);
    return 0;
}

/* Flag for send and recv that makes set_non_blocking needless, 0 when the version has none. */
static int dont_wait(struct lm_socket *socket)
{
    return loop_of(socket)->compat == COMPAT_1_38 ? MSG_DONTWAIT : 0;
}

static void finish_now(struct lm_socket *socket, struct lm_reactor_op *op, int64_t result)
{
    op->result = result;
    lm_reactor_post_immediate(socket->reactor->scheduler, &op->task);
}

static struct lm_reactor_op *prepare(struct lm_op *op, struct lm_socket *socket,
                                     lm_reactor_run_fn *run,
                                     enum lm_reactor_status (*perform)(struct lm_reactor_op *))
{
    struct lm_reactor_op *prepared = lm_reactor_op_of(op);

    prepared->task.run = run;
    prepared->task.kind = LM_REACTOR_IO;
    prepared->perform = perform;
    prepared->socket = socket;
    return prepared;
}

static void start_transfer(struct lm_reactor_op *op, enum lm_reactor_direction direction)
{
    int rc = dont_wait(op->socket) != 0 ? 0 : set_non_blocking(op->socket);

    if (rc != 0) {
        finish_now(op->socket, op, rc);
        return;
    }
    lm_reactor_start(op, direction, true);
}

/* What became of a system call that moved `bytes`, or failed with errno. Fewer than `least` mean
 * that the next one would block. Asio takes the end of the stream and an error for that too, so
 * that a receive after them waits for an edge that never comes; backend.h wants them told again. */
static enum lm_reactor_status transferred(struct lm_reactor_op *op, ssize_t bytes, size_t least)
{
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return LM_REACTOR_NOT_DONE;
    }
    op->result = bytes < 0 ? -errno : bytes;
    return bytes >= 0 && (size_t)bytes < least ? LM_REACTOR_DONE_AND_EXHAUSTED : LM_REACTOR_DONE;
}

static enum lm_reactor_status perform_recv(struct lm_reactor_op *op)
{
    int flags = dont_wait(op->socket);
    ssize_t bytes;

    do {
        LM_REACTOR_COUNT(op->socket->reactor->scheduler, syscalls[LM_SYS_RECV]);
        bytes = recv(op->socket->fd, op->buffer, op->bytes, flags);
    } while (bytes < 0 && errno == EINTR);
    return transferred(op, bytes, 0);
}

static enum lm_reactor_status perform_send(struct lm_reactor_op *op)
{
    int flags = MSG_NOSIGNAL | dont_wait(op->socket);
    ssize_t bytes;

    do {
        LM_REACTOR_COUNT(op->socket->reactor->scheduler, syscalls[LM_SYS_SEND]);
        bytes = send(op->socket->fd, op->const_buffer, op->bytes, flags);
    } while (bytes < 0 && errno == EINTR);
    return transferred(op, bytes, op->bytes);
}

static void reactor_recv(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes)
{
    struct lm_reactor_op *recv_op = prepare(op, socket, lm_reactor_done, perform_recv);

    recv_op->buffer = buffer;
    recv_op->bytes = bytes;
    start_transfer(recv_op, LM_REACTOR_READ);
}

static void reactor_send(struct lm_socket *socket, struct lm_op *op, const void *buffer,
                         size_t bytes)
{
    struct lm_reactor_op *send_op = prepare(op, socket, lm_reactor_done, perform_send);

    send_op->const_buffer = buffer;
    send_op->bytes = bytes;
    start_transfer(send_op, LM_REACTOR_WRITE);
}

/* The result is the descriptor until accept_done. */
static enum lm_reactor_status perform_accept(struct lm_reactor_op *op)
{
    int fd;

    do {
        LM_REACTOR_COUNT(op->socket->reactor->scheduler, syscalls[LM_SYS_ACCEPT]);
        fd = accept(op->socket->fd, NULL, NULL);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return LM_REACTOR_NOT_DONE;
    }
    op->result = fd < 0 ? -errno : fd;
    /* Kept in the pool's list, so that it is closed even if the loop ends before accept_done. */
    op->peer->fd = fd;
    return LM_REACTOR_DONE;
}

static void accept_done(struct lm_reactor_task *task, uint32_t result)
{
    struct lm_reactor_op *op = (struct lm_reactor_op *)task;

    if (op->result >= 0) {
        int fd = (int)op->result;

        op->result = lm_reactor_register(op->peer, fd, true);
        if (op->result != 0) {
            LM_REACTOR_COUNT(op->peer->reactor->scheduler, syscalls[LM_SYS_CLOSE]);
            close(fd);
        }
    }
    if (op->result == 0) {
        *op->accepted = op->peer;
    } else {
        lm_reactor_give_back(op->peer);
    }
    lm_reactor_done(task, result);
}

static void reactor_accept(struct lm_socket *listener, struct lm_op *op,
                           struct lm_socket **accepted)
{
    struct lm_reactor_op *accept_op = prepare(op, listener, accept_done, perform_accept);
    int rc = set_non_blocking(listener);

    accept_op->accepted = accepted;
    accept_op->peer = rc == 0 ? lm_reactor_take(listener->reactor) : NULL;
    if (accept_op->peer == NULL) {
        accept_op->task.run = lm_reactor_done;
        finish_now(listener, accept_op, rc != 0 ? rc : -ENOMEM);
        return;
    }
    lm_reactor_start(accept_op, LM_REACTOR_READ, true);
}

static enum lm_reactor_status perform_connect(struct lm_reactor_op *op)
{
    struct lm_reactor_scheduler *scheduler = op->socket->reactor->scheduler;
    struct pollfd ready = {.fd = op->socket->fd, .events = POLLOUT};
    int error = 0;
    socklen_t error_bytes = sizeof(error);

    LM_REACTOR_COUNT(scheduler, syscalls[LM_SYS_POLL]);
    if (poll(&ready, 1, 0) == 0) {
        return LM_REACTOR_NOT_DONE;
    }
    LM_REACTOR_COUNT(scheduler, syscalls[LM_SYS_GETSOCKOPT]);
    if (getsockopt(op->socket->fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes) != 0) {
        error = errno;
    }
    op->result = -error;
    return LM_REACTOR_DONE;
}

static void reactor_connect(struct lm_socket *socket, struct lm_op *op,
                            const struct sockaddr *address, socklen_t address_bytes)
{
    struct lm_reactor_op *connect_op = prepare(op, socket, lm_reactor_done, perform_connect);
    int rc = set_non_blocking(socket);

    if (rc == 0) {
        LM_REACTOR_COUNT(socket->reactor->scheduler, syscalls[LM_SYS_CONNECT]);
        rc = connect(socket->fd, address, address_bytes) == 0 ? 0 : -errno;
    }
    if (rc != -EINPROGRESS) {
        finish_now(socket, connect_op, rc);
        return;
    }
    lm_reactor_start(connect_op, LM_REACTOR_WRITE, false);
}

static int reactor_socket_open(struct lm_loop *loop, int fd, uint32_t affinity,
                               struct lm_socket **opened)
{
    struct lm_socket *socket = lm_reactor_take(&loop->reactor);

    (void)affinity; /* any thread runs any completion */
    if (socket == NULL) {
        return -ENOMEM;
    }
    int rc = lm_reactor_register(socket, fd, false);
    if (rc != 0) {
        lm_reactor_give_back(socket);
        return rc;
    }
    *opened = socket;
    return 0;
}

static void reactor_post(struct lm_loop *loop, struct lm_op *op)
{
    struct lm_reactor_op *post_op = lm_reactor_op_of(op);

    post_op->task.run = lm_reactor_done;
    post_op->task.kind = LM_REACTOR_POST;
    post_op->result = 0;
    lm_reactor_post_immediate(&loop->scheduler, &post_op->task);
}

static void reactor_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns)
{
    struct lm_reactor_op *timer_op = lm_reactor_op_of(op);

    timer_op->task.run = lm_reactor_done;
    timer_op->task.kind = LM_REACTOR_TIMER;
    lm_reactor_start_timer(&loop->reactor, timer_op, delay_ns);
}

static void reactor_cancel(struct lm_loop *loop, struct lm_op *op)
{
    lm_reactor_cancel(&loop->reactor, lm_reactor_op_of(op));
}

static int open_loop(struct lm_loop *loop, enum hint hint, const char **call)
{
    const struct hint_meaning *meaning = &hint_meanings[hint];

    lm_reactor_scheduler_init(&loop->scheduler, &loop->reactor.poller, meaning->scheduler_locking,
                              meaning->one_thread);
    int rc = lm_reactor_open(&loop->reactor, &loop->scheduler, meaning->registration_locking,
                             meaning->io_locking, call);
    if (rc != 0) {
        lm_reactor_scheduler_destroy(&loop->scheduler);
    }
    return rc;
}

static int reactor_loop_create(const struct lm_loop_config *config, struct lm_loop **created)
{
    enum hint hint = (enum hint)config->options[OPTION_HINT];
    const char *call;

    if (hint == HINT_AUTO) {
        hint = config->lockless ? HINT_UNSAFE : HINT_SAFE;
    }
    if (config->threads > 1 && hint != HINT_SAFE) {
        return -ENOTSUP;
    }
    struct lm_loop *loop = malloc(sizeof(*loop));
    if (loop == NULL) {
        return -ENOMEM;
    }
    loop->compat = (enum compat)config->options[OPTION_ASIO_COMPAT];
    int rc = open_loop(loop, hint, &call);
    if (rc != 0) {
        free(loop);
        return rc;
    }
    *created = loop;
    return 0;
}

static void reactor_loop_destroy(struct lm_loop *loop)
{
    lm_reactor_close(&loop->reactor);
    lm_reactor_scheduler_destroy(&loop->scheduler);
    free(loop);
}

static int reactor_loop_run(struct lm_loop *loop)
{
    return lm_reactor_scheduler_run(&loop->scheduler);
}

static void reactor_loop_stop(struct lm_loop *loop)
{
    lm_reactor_scheduler_stop(&loop->scheduler);
}

static void reactor_loop_counters(struct lm_loop *loop, struct lm_counters *counters)
{
    lm_reactor_scheduler_counters(&loop->scheduler, counters);
}

static int reactor_available(const uint64_t *values, char *why, size_t why_bytes)
{
    struct lm_loop loop;
    const char *call;

    (void)values;
    int rc = open_loop(&loop, HINT_SAFE, &call);
    if (rc != 0) {
        snprintf(why, why_bytes, "%s failed: %s; %s", call, strerror(-rc),
                 rc == -EMFILE || rc == -ENFILE ? "raise the limit of open files (ulimit -n)"
                                                : "allow epoll, eventfd and timerfd here");
        return rc;
    }
    lm_reactor_close(&loop.reactor);
    lm_reactor_scheduler_destroy(&loop.scheduler);
    return 0;
}

static uint32_t reactor_takes_away(const uint64_t *values, const char **why)
{
    if (values[OPTION_HINT] == HINT_AUTO || values[OPTION_HINT] == HINT_SAFE) {
        return 0;
    }
    *why = "this concurrency hint promises that one thread runs the loop; hint=safe allows more";
    return LM_CAP_THREADS;
}

static void reactor_describe(const uint64_t *values, char *text, size_t text_bytes)
{
    const char *hint = values[OPTION_HINT] == HINT_AUTO ? "safe, unsafe when lockless"
                                                        : hints[values[OPTION_HINT]];

    snprintf(text, text_bytes,
             "concurrency hint %s; non-blocking mode as in Asio %s; operations embedded", hint,
             compats[values[OPTION_ASIO_COMPAT]]);
}

const struct lm_backend lm_backend_reactor = {
    .abi = LM_BACKEND_ABI,
    .name = "reactor",
    .title = "Asio-equivalent reactor (C re-implementation)",
    .capabilities = LM_CAP_THREADS | LM_CAP_LOOPS | LM_CAP_LOCKLESS | LM_CAP_LOCAL,
    .options = options,
    .available = reactor_available,
    .takes_away = reactor_takes_away,
    .describe = reactor_describe,
    .loop_create = reactor_loop_create,
    .loop_destroy = reactor_loop_destroy,
    .loop_run = reactor_loop_run,
    .loop_stop = reactor_loop_stop,
    .loop_counters = reactor_loop_counters,
    .socket_open = reactor_socket_open,
    .socket_close = lm_reactor_socket_close,
    .accept = reactor_accept,
    .connect = reactor_connect,
    .recv = reactor_recv,
    .send = reactor_send,
    .post = reactor_post,
    .timer = reactor_timer,
    .cancel = reactor_cancel,
};
