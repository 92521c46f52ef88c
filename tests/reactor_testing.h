/* reactor_testing.h - loops, sockets and probes for the tests of the reactor backend. */
#ifndef LM_REACTOR_TESTING_H
#define LM_REACTOR_TESTING_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "backends/registry.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

static const struct lm_backend *const reactor = &lm_backend_reactor;

static inline struct lm_loop *open_loop(const char *text, uint32_t threads, bool lockless)
{
    struct lm_spec spec;
    struct lm_loop *loop = NULL;
    char error[256];

    assert_int_equal(lm_spec_parse(text, &spec, error, sizeof(error)), 0);
    struct lm_loop_config config = {
        .threads = threads, .lockless = lockless, .options = spec.options};
    assert_int_equal(reactor->loop_create(&config, &loop), 0);
    return loop;
}

static inline struct lm_counters counters_of(struct lm_loop *loop)
{
    struct lm_counters counters;

    reactor->loop_counters(loop, &counters);
    return counters;
}

static inline int listen_on_loopback(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t bytes = sizeof(*address);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &bytes), 0);
    return fd;
}

/* A connected pair of TCP sockets over loopback. */
static inline void tcp_pair(int fds[2])
{
    struct sockaddr_in address;
    int listener = listen_on_loopback(&address);
    int on = 1;

    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fds[0], (struct sockaddr *)&address, sizeof(address)), 0);
    fds[1] = accept(listener, NULL, NULL);
    assert_true(fds[1] >= 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    }
    close(listener);
}

static inline void unix_pair(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static inline void open_pair(struct lm_loop *loop, void (*make)(int fds[2]),
                             struct lm_socket *sockets[2])
{
    int fds[2];

    make(fds);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reactor->socket_open(loop, fds[i], 0, &sockets[i]), 0);
    }
}

/* An operation that remembers how it ended. */
struct probe {
    struct lm_op op;
    int64_t result;
    int completions;
};

static inline void probe_done(struct lm_op *op, int64_t result)
{
    struct probe *probe = (struct probe *)op;

    probe->result = result;
    probe->completions++;
}

static inline struct probe new_probe(void)
{
    return (struct probe){.op.done = probe_done};
}

/* Client sends, server receives, server sends, client receives; each step starts the next. */
struct pingpong {
    struct lm_op op;
    struct lm_socket *sockets[2];
    char buffer[64];
    int step;
    int steps; /* 4 for each round trip */
};

static inline void pingpong_step(struct pingpong *chain)
{
    static const int socket_of_step[4] = {0, 1, 1, 0};
    struct lm_socket *socket = chain->sockets[socket_of_step[chain->step % 4]];

    if (chain->step == chain->steps) {
        reactor->socket_close(chain->sockets[0]);
        reactor->socket_close(chain->sockets[1]);
    } else if (chain->step % 2 == 0) {
        reactor->send(socket, &chain->op, chain->buffer, sizeof(chain->buffer));
    } else {
        reactor->recv(socket, &chain->op, chain->buffer, sizeof(chain->buffer));
    }
}

static inline void pingpong_done(struct lm_op *op, int64_t result)
{
    struct pingpong *chain = (struct pingpong *)op;

    if (result != (int64_t)sizeof(chain->buffer)) {
        abort(); /* cmocka can not fail on another thread */
    }
    chain->step++;
    pingpong_step(chain);
}

static inline void start_pingpong(struct lm_loop *loop, struct pingpong *chain,
                                  void (*make)(int fds[2]), int round_trips)
{
    *chain = (struct pingpong){.op.done = pingpong_done, .steps = 4 * round_trips};
    open_pair(loop, make, chain->sockets);
    pingpong_step(chain);
}

#endif
