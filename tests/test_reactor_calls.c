/* The reactor backend makes the system calls that Asio makes, as many of each kind. */
#include "tests/reactor_testing.h"

static void assert_calls_per(const struct lm_counters *counters, enum lm_syscall kind, int units,
                             double expected)
{
    double measured = (double)counters->syscalls[kind] / units;

    if (measured < expected - 0.05 || measured > expected + 0.05) {
        fail_msg("system call %d: %.3f per unit, not %.2f", (int)kind, measured, expected);
    }
}

static void pingpong_costs(const char *spec, bool lockless, void (*make)(int fds[2]))
{
    enum {
        ROUND_TRIPS = 1000
    };
    struct lm_loop *loop = open_loop(spec, 1, lockless);
    struct pingpong chain;

    start_pingpong(loop, &chain, make, ROUND_TRIPS);
    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(chain.step, chain.steps);
    struct lm_counters counters = counters_of(loop);
    assert_calls_per(&counters, LM_SYS_EPOLL_WAIT, ROUND_TRIPS, 4);
    assert_calls_per(&counters, LM_SYS_SEND, ROUND_TRIPS, 2);
    assert_calls_per(&counters, LM_SYS_RECV, ROUND_TRIPS, 2);
    assert_calls_per(&counters, LM_SYS_EPOLL_CTL, ROUND_TRIPS, 0);
    assert_int_equal(counters.speculative_misses, 0);
    assert_int_equal(counters.speculative_hits, 4 * ROUND_TRIPS);
    reactor->loop_destroy(loop);
}

static void a_round_trip_costs_what_asios_costs(void **state)
{
    (void)state;
    pingpong_costs("reactor", false, tcp_pair);
    pingpong_costs("reactor", false, unix_pair);
}

static void no_hint_and_no_version_changes_a_round_trips_calls(void **state)
{
    (void)state;
    static const char *const specs[] = {"reactor:hint=safe",        "reactor:hint=1",
                                        "reactor:hint=unsafe_io",   "reactor:hint=unsafe",
                                        "reactor:asio_compat=1.30", "reactor:asio_compat=1.38"};

    pingpong_costs("reactor", true, tcp_pair);
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        pingpong_costs(specs[i], false, tcp_pair);
    }
}

/* One direction of a stream: a chain of sends and an independent chain of receives. */
enum {
    CHUNK_BYTES = 65536,
    CHUNKS = 1000
};

struct stream {
    struct lm_op send, recv;
    struct lm_socket *sockets[2];
    int64_t sent_bytes, received_bytes;
    int sends, recvs;
    char out[CHUNK_BYTES], in[CHUNK_BYTES];
};

static void stream_sent(struct lm_op *op, int64_t result)
{
    struct stream *stream = (struct stream *)op;

    assert_true(result > 0);
    stream->sent_bytes += result;
    stream->sends++;
    if (stream->sends < CHUNKS) {
        reactor->send(stream->sockets[0], &stream->send, stream->out, CHUNK_BYTES);
    } else {
        reactor->socket_close(stream->sockets[0]);
    }
}

static void stream_received(struct lm_op *op, int64_t result)
{
    struct stream *stream = (struct stream *)((char *)op - offsetof(struct stream, recv));

    assert_true(result >= 0);
    stream->received_bytes += result;
    stream->recvs++;
    if (result > 0) {
        reactor->recv(stream->sockets[1], &stream->recv, stream->in, CHUNK_BYTES);
    } else {
        reactor->socket_close(stream->sockets[1]);
    }
}

static void a_chunk_of_a_stream_costs_what_asios_costs(void **state)
{
    (void)state;
    static struct stream stream;
    struct lm_loop *loop = open_loop("reactor", 1, false);

    stream = (struct stream){.send.done = stream_sent, .recv.done = stream_received};
    open_pair(loop, tcp_pair, stream.sockets);
    reactor->send(stream.sockets[0], &stream.send, stream.out, CHUNK_BYTES);
    reactor->recv(stream.sockets[1], &stream.recv, stream.in, CHUNK_BYTES);
    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(stream.sent_bytes, stream.received_bytes);
    struct lm_counters counters = counters_of(loop);
    assert_calls_per(&counters, LM_SYS_EPOLL_WAIT, CHUNKS, 1);
    assert_calls_per(&counters, LM_SYS_SEND, CHUNKS, 1);
    assert_calls_per(&counters, LM_SYS_RECV, CHUNKS, 1);
    reactor->loop_destroy(loop);
}

/* Client ends send and then receive; server ends, which receive already, send back. When all
 * clients have their reply it begins again. */
struct exchange;

struct exchange_pair {
    struct lm_op client, server;
    struct lm_socket *sockets[2];
    struct exchange *exchange;
    char request[64], reply[64];
};

struct exchange {
    struct exchange_pair pairs[16];
    int pair_count, missing, rounds;
};

static struct exchange_pair *pair_of_server(struct lm_op *op)
{
    return (struct exchange_pair *)((char *)op - offsetof(struct exchange_pair, server));
}

static void exchange_replied(struct lm_op *op, int64_t result);

static void exchange_received(struct lm_op *op, int64_t result)
{
    struct exchange_pair *pair = pair_of_server(op);

    if (result <= 0) {
        reactor->socket_close(pair->sockets[1]);
        return;
    }
    pair->server.done = exchange_replied;
    reactor->send(pair->sockets[1], op, pair->request, (size_t)result);
}

static void exchange_replied(struct lm_op *op, int64_t result)
{
    struct exchange_pair *pair = pair_of_server(op);

    assert_int_equal(result, sizeof(pair->request));
    pair->server.done = exchange_received;
    reactor->recv(pair->sockets[1], op, pair->request, sizeof(pair->request));
}

static void exchange_sent(struct lm_op *op, int64_t result);

static void start_exchange(struct exchange *exchange)
{
    exchange->missing = exchange->pair_count;
    for (int i = 0; i < exchange->pair_count; i++) {
        struct exchange_pair *pair = &exchange->pairs[i];

        if (exchange->rounds == 0) {
            reactor->socket_close(pair->sockets[0]);
        } else {
            pair->client.done = exchange_sent;
            reactor->send(pair->sockets[0], &pair->client, pair->reply, sizeof(pair->reply));
        }
    }
}

static void exchange_answered(struct lm_op *op, int64_t result)
{
    struct exchange_pair *pair = (struct exchange_pair *)op;
    struct exchange *exchange = pair->exchange;

    assert_int_equal(result, sizeof(pair->reply));
    if (--exchange->missing == 0) {
        exchange->rounds--;
        start_exchange(exchange);
    }
}

static void exchange_sent(struct lm_op *op, int64_t result)
{
    struct exchange_pair *pair = (struct exchange_pair *)op;

    assert_int_equal(result, sizeof(pair->reply));
    pair->client.done = exchange_answered;
    reactor->recv(pair->sockets[0], op, pair->reply, sizeof(pair->reply));
}

static void exchange_costs(int pair_count, double polls, double sends, double recvs, double misses)
{
    enum {
        ROUNDS = 1000
    };
    struct lm_loop *loop = open_loop("reactor", 1, false);
    static struct exchange exchange;

    exchange = (struct exchange){.pair_count = pair_count, .rounds = ROUNDS};
    for (int i = 0; i < pair_count; i++) {
        struct exchange_pair *pair = &exchange.pairs[i];

        pair->exchange = &exchange;
        pair->server.done = exchange_received;
        open_pair(loop, tcp_pair, pair->sockets);
        reactor->recv(pair->sockets[1], &pair->server, pair->request, sizeof(pair->request));
    }
    start_exchange(&exchange);
    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(exchange.rounds, 0);
    struct lm_counters counters = counters_of(loop);
    assert_calls_per(&counters, LM_SYS_EPOLL_WAIT, ROUNDS, polls);
    assert_calls_per(&counters, LM_SYS_SEND, ROUNDS, sends);
    assert_calls_per(&counters, LM_SYS_RECV, ROUNDS, recvs);
    double missed = (double)counters.speculative_misses / ROUNDS;
    assert_true(missed > misses - 0.05 && missed < misses + 0.05);
    reactor->loop_destroy(loop);
}

static void a_request_and_a_join_of_16_cost_what_asios_cost(void **state)
{
    (void)state;
    exchange_costs(1, 2, 2, 4, 2);
    exchange_costs(16, 2, 32, 64, 32);
}

static void a_write_that_blocks_asks_for_writability_once_and_for_good(void **state)
{
    (void)state;
    enum {
        BYTES = 4 << 20
    };
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct lm_socket *sender;
    char *buffer = calloc(1, BYTES);
    int fds[2];

    unix_pair(fds);
    assert_int_equal(reactor->socket_open(loop, fds[0], 0, &sender), 0);
    uint64_t before = counters_of(loop).syscalls[LM_SYS_EPOLL_CTL];
    for (int round = 0; round < 3; round++) {
        struct probe first = new_probe(), second = new_probe();

        reactor->send(sender, &first.op, buffer, BYTES);
        assert_int_equal(reactor->loop_run(loop), 0);
        assert_true(first.result > 0 && first.result < BYTES);
        reactor->send(sender, &second.op, buffer, 1); /* a short send: the next one is not tried */
        for (int64_t drained = 0; drained < first.result;) {
            drained += read(fds[1], buffer, BYTES);
        }
        assert_int_equal(reactor->loop_run(loop), 0);
        assert_int_equal(second.result, 1);
        assert_int_equal(read(fds[1], buffer, 1), 1);
    }
    struct lm_counters counters = counters_of(loop);
    assert_int_equal(counters.syscalls[LM_SYS_EPOLL_CTL] - before, 1);
    assert_int_equal(counters.syscalls[LM_SYS_SEND], 6);
    assert_int_equal(counters.speculative_misses, 0);
    free(buffer);
    close(fds[1]);
    reactor->loop_destroy(loop);
}

/* Connect and accept together; the client sends one byte, the server receives it, both close. */
struct churn {
    struct lm_op connect, accept;
    struct lm_loop *loop;
    struct lm_socket *listener, *client, *server;
    struct sockaddr_in address;
    int joined, laps;
    char byte;
};

static void churn_lap(struct churn *churn);

static void churn_received(struct lm_op *op, int64_t result)
{
    struct churn *churn = (struct churn *)((char *)op - offsetof(struct churn, accept));

    assert_int_equal(result, 1);
    reactor->socket_close(churn->client);
    reactor->socket_close(churn->server);
    if (--churn->laps > 0) {
        churn_lap(churn);
    } else {
        reactor->socket_close(churn->listener);
    }
}

static void churn_sent(struct lm_op *op, int64_t result)
{
    struct churn *churn = (struct churn *)op;

    assert_int_equal(result, 1);
    churn->accept.done = churn_received;
    reactor->recv(churn->server, &churn->accept, &churn->byte, 1);
}

static void churn_join(struct churn *churn, int64_t result)
{
    assert_int_equal(result, 0);
    if (++churn->joined == 2) {
        churn->connect.done = churn_sent;
        reactor->send(churn->client, &churn->connect, &churn->byte, 1);
    }
}

static void churn_connected(struct lm_op *op, int64_t result)
{
    churn_join((struct churn *)op, result);
}

static void churn_accepted(struct lm_op *op, int64_t result)
{
    churn_join((struct churn *)((char *)op - offsetof(struct churn, accept)), result);
}

static void churn_lap(struct churn *churn)
{
    static const struct linger reset = {.l_onoff = 1};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    assert_int_equal(reactor->socket_open(churn->loop, fd, 0, &churn->client), 0);
    churn->joined = 0;
    churn->connect.done = churn_connected;
    churn->accept.done = churn_accepted;
    reactor->connect(churn->client, &churn->connect, (struct sockaddr *)&churn->address,
                     sizeof(churn->address));
    reactor->accept(churn->listener, &churn->accept, &churn->server);
}

static void lap_costs(const char *spec, int ioctls, int fcntls)
{
    enum {
        LAPS = 200
    };
    struct churn churn = {.loop = open_loop(spec, 1, false), .laps = LAPS};
    int fd = listen_on_loopback(&churn.address);

    assert_int_equal(reactor->socket_open(churn.loop, fd, 0, &churn.listener), 0);
    churn_lap(&churn);
    assert_int_equal(reactor->loop_run(churn.loop), 0);
    assert_int_equal(churn.laps, 0);
    struct lm_counters counters = counters_of(churn.loop);
    assert_calls_per(&counters, LM_SYS_EPOLL_WAIT, LAPS, 3);
    assert_calls_per(&counters, LM_SYS_SEND, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_RECV, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_EPOLL_CTL, LAPS, 4);
    assert_calls_per(&counters, LM_SYS_CLOSE, LAPS, 2);
    assert_calls_per(&counters, LM_SYS_CONNECT, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_ACCEPT, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_POLL, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_GETSOCKOPT, LAPS, 1);
    assert_calls_per(&counters, LM_SYS_SETSOCKOPT, LAPS, 0); /* the case's own, not ours */
    assert_calls_per(&counters, LM_SYS_IOCTL, LAPS, ioctls);
    assert_calls_per(&counters, LM_SYS_FCNTL, LAPS, fcntls);
    reactor->loop_destroy(churn.loop);
}

static void a_lap_of_accept_churn_costs_what_asios_costs(void **state)
{
    (void)state;
    lap_costs("reactor:asio_compat=1.34", 1, 2);
}

static void asio_compat_changes_only_the_way_of_not_blocking(void **state)
{
    (void)state;
    lap_costs("reactor:asio_compat=1.30", 2, 0);
    lap_costs("reactor:asio_compat=1.38", 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_costs_what_asios_costs),
        cmocka_unit_test(no_hint_and_no_version_changes_a_round_trips_calls),
        cmocka_unit_test(a_chunk_of_a_stream_costs_what_asios_costs),
        cmocka_unit_test(a_request_and_a_join_of_16_cost_what_asios_cost),
        cmocka_unit_test(a_write_that_blocks_asks_for_writability_once_and_for_good),
        cmocka_unit_test(a_lap_of_accept_churn_costs_what_asios_costs),
        cmocka_unit_test(asio_compat_changes_only_the_way_of_not_blocking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
