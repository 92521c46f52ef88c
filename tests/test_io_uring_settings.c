/* What single settings of the io_uring backend do: multishot operations, zero-copy sends,
 * registered descriptors, looking before sleeping. */
#include <errno.h>
#include <pthread.h>

#include "tests/io_uring_testing.h"

#ifdef LM_HAVE_LIBURING

static void run(struct lm_loop *loop)
{
    assert_int_equal(ring->loop_run(loop), 0);
}

/* Multishot accept. */

enum {
    CLIENTS = 100 /* more than a listener keeps */
};

/* Accepts one after the other, each when the one before has completed. */
struct acceptor {
    struct probe accept;
    struct lm_socket *listener, *accepted[CLIENTS];
    int left;
};

static void accept_next(void *context)
{
    struct acceptor *acceptor = context;

    if (acceptor->accept.result == 0 && acceptor->left > 0) {
        acceptor->left--;
        ring->accept(acceptor->listener, &acceptor->accept.op, &acceptor->accepted[acceptor->left]);
    }
}

static void accept_clients(struct lm_loop *loop, struct acceptor *acceptor, int count)
{
    acceptor->accept = new_probe();
    acceptor->accept.then = accept_next;
    acceptor->accept.context = acceptor;
    acceptor->left = count;
    accept_next(acceptor);
    run(loop);
    assert_int_equal(acceptor->accept.result, 0);
    assert_int_equal(acceptor->accept.completions, count);
}

static void multishot_accept_loses_no_connection(void **state)
{
    (void)state;
    static struct acceptor acceptor;
    struct lm_loop *loop = open_loop("io_uring:multishot_accept=1", false);
    struct sockaddr_in address;
    int clients[CLIENTS];

    acceptor.listener = give(loop, listen_on_loopback(&address));
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(&address);
    }
    accept_clients(loop, &acceptor, 1); /* the others come with it */
    accept_clients(loop, &acceptor, CLIENTS - 1);
    for (int i = 0; i < CLIENTS - 1; i++) {
        ring->socket_close(acceptor.accepted[i]);
    }
    for (int i = 1; i < CLIENTS; i++) {
        assert_int_equal(read_after_close(clients[i]), 0);
        close(clients[i]);
    }
    close(clients[0]);
    ring->loop_destroy(loop);
}

static void closing_a_listener_closes_the_connections_it_keeps(void **state)
{
    (void)state;
    static struct acceptor acceptor;
    struct lm_loop *loop = open_loop("io_uring:multishot_accept=1", false);
    struct sockaddr_in address;
    int clients[3];

    acceptor.listener = give(loop, listen_on_loopback(&address));
    for (int i = 0; i < 3; i++) {
        clients[i] = connect_to(&address);
    }
    accept_clients(loop, &acceptor, 1);
    ring->socket_close(acceptor.listener);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(read_after_close(clients[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        close(clients[i]);
    }
    ring->loop_destroy(loop);
}

/* Multishot receive. */

/* Receives until the end of the stream, in pieces that fit nothing. */
struct drain {
    struct probe recv;
    struct lm_socket *socket;
    char piece[7];
    size_t received;
    bool wrong;
};

static char stream_at(size_t offset)
{
    return (char)(offset * 31 % 251);
}

static void drain_next(void *context)
{
    struct drain *drain = context;

    for (int64_t i = 0; i < drain->recv.result; i++) {
        drain->wrong |= drain->piece[i] != stream_at(drain->received++);
    }
    if (drain->recv.completions == 0 || drain->recv.result > 0) {
        ring->recv(drain->socket, &drain->recv.op, drain->piece, sizeof(drain->piece));
    }
}

static void start_drain(struct drain *drain, struct lm_socket *socket)
{
    *drain = (struct drain){.recv = new_probe(), .socket = socket};
    drain->recv.then = drain_next;
    drain->recv.context = drain;
    drain_next(drain);
}

static void send_stream(int fd, size_t bytes)
{
    static char buffer[1 << 16];

    assert_true(bytes <= sizeof(buffer));
    for (size_t i = 0; i < bytes; i++) {
        buffer[i] = stream_at(i);
    }
    assert_int_equal(send(fd, buffer, bytes, MSG_NOSIGNAL), bytes);
}

static void multishot_recv_keeps_what_comes_between_receives(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:multishot_recv=1", false);
    struct drain drain;
    int peer;
    struct lm_socket *socket = half_pair(loop, &peer);

    send_stream(peer, 50000);
    shutdown(peer, SHUT_WR);
    start_drain(&drain, socket);
    run(loop);
    assert_int_equal(drain.received, 50000);
    assert_false(drain.wrong);
    assert_int_equal(drain.recv.result, 0);
    struct probe again = new_probe(); /* the end is told again */
    ring->recv(socket, &again.op, drain.piece, 1);
    run(loop);
    ASSERT_ENDED(again, 0);
    close(peer);
    ring->loop_destroy(loop);
}

/* Takes one byte of each of some sockets that get more, so that they fill buffers unasked. */
static void hoard(struct lm_loop *loop, int peers[], int count)
{
    static struct probe recvs[64];
    static char bytes[64];

    for (int i = 0; i < count; i++) {
        struct lm_socket *socket = half_pair(loop, &peers[i]);
        recvs[i] = new_probe();
        ring->recv(socket, &recvs[i].op, &bytes[i], 1);
        send_stream(peers[i], 60000);
    }
    run(loop);
}

static void sockets_that_hoard_buffers_do_not_stop_others(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:multishot_recv=1,cq_entries=64,entries=64", false);
    struct drain drain;
    int peers[8], peer;

    hoard(loop, peers, 8);
    struct lm_socket *socket = half_pair(loop, &peer);
    send_stream(peer, 60000);
    shutdown(peer, SHUT_WR);
    start_drain(&drain, socket);
    run(loop);
    assert_int_equal(drain.received, 60000);
    assert_false(drain.wrong);
    assert_int_equal(counters_of(loop).overflows, 0);
    close(peer);
    for (int i = 0; i < 8; i++) {
        close(peers[i]);
    }
    ring->loop_destroy(loop);
}

/* Zero-copy sends. */

static void a_zero_copy_send_over_unix_fails_with_its_reason(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:zerocopy=100", false);
    struct probe large = new_probe(), small = new_probe();
    char buffer[100] = "";
    int peer;
    struct lm_socket *socket = half_pair(loop, &peer);

    ring->send(socket, &small.op, buffer, 99);
    run(loop);
    ASSERT_ENDED(small, 99);
    ring->send(socket, &large.op, buffer, 100);
    run(loop);
    ASSERT_ENDED(large, -EOPNOTSUPP);
    close(peer);
    ring->loop_destroy(loop);
}

static void a_zero_copy_send_completes_once_with_its_bytes(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:zerocopy=1", false);
    struct probe send = new_probe();
    struct drain drain;
    static char buffer[4000];
    int fds[2];

    for (size_t i = 0; i < sizeof(buffer); i++) {
        buffer[i] = stream_at(i);
    }
    tcp_pair(fds);
    struct lm_socket *writer = give(loop, fds[0]);
    ring->send(writer, &send.op, buffer, sizeof(buffer));
    run(loop);
    ASSERT_ENDED(send, sizeof(buffer));
    ring->socket_close(writer);
    start_drain(&drain, give(loop, fds[1]));
    run(loop);
    assert_int_equal(drain.received, sizeof(buffer));
    assert_false(drain.wrong);
    ring->loop_destroy(loop);
}

struct close_later {
    struct probe timer;
    struct lm_socket *socket;
};

static void close_later_now(void *context)
{
    ring->socket_close(((struct close_later *)context)->socket);
}

/* The buffer is free only when the peer has received all, and this one never does. */
static void closing_ends_a_zero_copy_send_whose_buffer_is_not_free(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:zerocopy=1", false);
    struct close_later closer = {.timer = new_probe()};
    static char buffer[1 << 18];
    struct probe send = new_probe();
    int fds[2], small = 4096;

    tcp_pair(fds);
    assert_int_equal(setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    closer.socket = give(loop, fds[0]);
    closer.timer.then = close_later_now;
    closer.timer.context = &closer;
    ring->send(closer.socket, &send.op, buffer, sizeof(buffer));
    ring->timer(loop, &closer.timer.op, 20000000);
    run(loop);
    ASSERT_ENDED(send, -ECANCELED);
    close(fds[1]);
    ring->loop_destroy(loop);
}

/* Registered descriptors. */

static uint64_t registrations_for(const char *text, int sends)
{
    struct lm_loop *loop = open_loop(text, false);
    struct probe none = new_probe();
    char bytes[200];
    int peer;
    struct lm_socket *socket = half_pair(loop, &peer);

    ring->post(loop, &none.op);
    run(loop);
    uint64_t before = calls_of(loop, LM_SYS_RING_REGISTER);
    for (int i = 0; i < sends; i++) {
        struct probe send = new_probe();
        ring->send(socket, &send.op, "x", 1);
        run(loop);
        ASSERT_ENDED(send, 1);
    }
    ring->socket_close(socket);
    assert_int_equal(recv(peer, bytes, sizeof(bytes), MSG_WAITALL), sends);
    uint64_t calls = calls_of(loop, LM_SYS_RING_REGISTER) - before;
    close(peer);
    ring->loop_destroy(loop);
    return calls;
}

static void a_descriptor_is_registered_when_it_proves_long_lived(void **state)
{
    (void)state;
    assert_int_equal(registrations_for("io_uring:fixed_files=0", 100), 0);
    assert_int_equal(registrations_for("io_uring:fixed_files=1", 1), 2); /* and taken back */
    assert_int_equal(registrations_for("io_uring", 64), 0);
    uint64_t automatic = registrations_for("io_uring", 65);
    assert_true(automatic == 2 || automatic == 0); /* 0: the kernel is too old for it */
}

/* Looking and sleeping. */

static void *send_late(void *fd)
{
    usleep(20000);
    assert_int_equal(send((int)(intptr_t)fd, "x", 1, MSG_NOSIGNAL), 1);
    return NULL;
}

static uint64_t waits_for_late_byte(const char *text)
{
    struct lm_loop *loop = open_loop(text, false);
    struct probe recv = new_probe();
    pthread_t thread;
    char byte;
    int peer;
    struct lm_socket *socket = half_pair(loop, &peer);

    ring->recv(socket, &recv.op, &byte, 1);
    assert_int_equal(pthread_create(&thread, NULL, send_late, (void *)(intptr_t)peer), 0);
    run(loop);
    pthread_join(thread, NULL);
    ASSERT_ENDED(recv, 1);
    uint64_t waits = counters_of(loop).waits;
    close(peer);
    ring->loop_destroy(loop);
    return waits;
}

static void a_lane_that_looks_long_enough_does_not_sleep(void **state)
{
    (void)state;
    assert_int_equal(waits_for_late_byte("io_uring:spin_us=1000000"), 0);
    assert_int_equal(waits_for_late_byte("io_uring:spin_us=1000000,taskrun_flag=0"), 0);
    assert_int_equal(waits_for_late_byte("io_uring"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multishot_accept_loses_no_connection),
        cmocka_unit_test(closing_a_listener_closes_the_connections_it_keeps),
        cmocka_unit_test(multishot_recv_keeps_what_comes_between_receives),
        cmocka_unit_test(sockets_that_hoard_buffers_do_not_stop_others),
        cmocka_unit_test(a_zero_copy_send_over_unix_fails_with_its_reason),
        cmocka_unit_test(a_zero_copy_send_completes_once_with_its_bytes),
        cmocka_unit_test(closing_ends_a_zero_copy_send_whose_buffer_is_not_free),
        cmocka_unit_test(a_descriptor_is_registered_when_it_proves_long_lived),
        cmocka_unit_test(a_lane_that_looks_long_enough_does_not_sleep),
    };
    const char *why = ring_missing();
    if (why) {
        puts(why);
        return EXIT_SKIP;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("this build has no io_uring backend: liburing was not found");
    return EXIT_SKIP;
}

#endif
