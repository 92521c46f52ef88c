/* io_uring_testing.h - loops, sockets and probes for the tests of the io_uring backend. */
#ifndef LM_IO_URING_TESTING_H
#define LM_IO_URING_TESTING_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "backends/registry.h"

#define EXIT_SKIP 77

#ifdef LM_HAVE_LIBURING

static const struct lm_backend *const ring = &lm_backend_io_uring;

/* Why io_uring can not be tested here; NULL when it can. */
static inline const char *ring_missing(void)
{
    static char why[256];
    struct lm_spec spec;

    if (lm_spec_parse("io_uring", &spec, why, sizeof(why)) ||
        ring->available(spec.options, why, sizeof(why))) {
        return why;
    }
    return NULL;
}

static inline struct lm_spec spec_of(const char *text)
{
    struct lm_spec spec;
    char error[256];

    if (lm_spec_parse(text, &spec, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    return spec;
}

/* A loop of one thread. Skips the test when this kernel lacks one of the settings. */
static inline struct lm_loop *open_loop(const char *text, bool lockless)
{
    struct lm_spec spec = spec_of(text);
    struct lm_loop_config config = {.threads = 1, .lockless = lockless, .options = spec.options};
    struct lm_loop *loop = NULL;
    char why[256];

    if (ring->available(spec.options, why, sizeof(why))) {
        print_message("%s: %s\n", text, why);
        skip();
    }
    assert_int_equal(ring->loop_create(&config, &loop), 0);
    return loop;
}

static inline struct lm_counters counters_of(struct lm_loop *loop)
{
    struct lm_counters counters;

    ring->loop_counters(loop, &counters);
    return counters;
}

static inline uint64_t calls_of(struct lm_loop *loop, enum lm_syscall kind)
{
    return counters_of(loop).syscalls[kind];
}

static inline int listen_on_loopback(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t bytes = sizeof(*address);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, 128), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &bytes), 0);
    return fd;
}

static inline int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    return fd;
}

static inline void tcp_pair(int fds[2])
{
    struct sockaddr_in address;
    int listener = listen_on_loopback(&address);
    int on = 1;

    fds[0] = connect_to(&address);
    fds[1] = accept(listener, NULL, NULL);
    assert_true(fds[1] >= 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    }
    close(listener);
}

static inline void unix_pair(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static inline struct lm_socket *give(struct lm_loop *loop, int fd)
{
    struct lm_socket *socket = NULL;

    assert_int_equal(ring->socket_open(loop, fd, 0, &socket), 0);
    return socket;
}

/* The first end for the loop, the second for the test. */
static inline struct lm_socket *half_pair(struct lm_loop *loop, int *peer)
{
    int fds[2];

    unix_pair(fds);
    *peer = fds[1];
    return give(loop, fds[0]);
}

/* An operation that remembers how it ended, and then does something. */
struct probe {
    struct lm_op op;
    int64_t result;
    int completions;
    void (*then)(void *context);
    void *context;
};

static inline void probe_done(struct lm_op *op, int64_t result)
{
    struct probe *probe = (struct probe *)op;

    probe->result = result;
    probe->completions++;
    if (probe->then) {
        probe->then(probe->context);
    }
}

static inline struct probe new_probe(void)
{
    return (struct probe){.op.done = probe_done};
}

#define ASSERT_ENDED(probe, expected)                                                              \
    do {                                                                                           \
        assert_int_equal((probe).completions, 1);                                                  \
        assert_int_equal((probe).result, (expected));                                              \
    } while (0)

/* Waits until the peer of fd has closed: 0, or bytes that it still sent. */
static inline ssize_t read_after_close(int fd)
{
    char byte;
    struct timeval limit = {.tv_sec = 10};

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    return recv(fd, &byte, 1, 0);
}

#endif

#endif
