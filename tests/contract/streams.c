/* streams.c - receiving and sending (rules 2 and 3): every byte, its order, its end. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* --- one receive --------------------------------------------------------------------------------
 */

struct late {
    int fd;
    size_t bytes;
};

static void send_late(struct step *step)
{
    struct late *late = step->context;
    raw_send(step->test, late->fd, late->bytes, 1, 0);
}

static void a_receive_gets_bytes_that_arrive_later(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv, timer;
    struct late late = {.bytes = 100};
    uint8_t buffer[256];
    if (half_pair(t, &socket, &late.fd)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    step_init(t, &timer, send_late, &late);
    start_recv(&recv, socket, buffer, sizeof buffer);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 100);
    EXPECT(t, pattern_check(buffer, 100, 1, 0) == 100, "a wrong byte");
}

static void a_receive_takes_what_is_there_and_does_not_wait_for_more(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv;
    int peer;
    uint8_t buffer[256];
    if (half_pair(t, &socket, &peer) || raw_send(t, peer, 10, 1, 0)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    start_recv(&recv, socket, buffer, sizeof buffer);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 10);
    EXPECT(t, pattern_check(buffer, 10, 1, 0) == 10, "a wrong byte");
}

static void a_receive_writes_nothing_behind_its_bytes(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv;
    int peer;
    uint8_t buffer[64];
    memset(buffer, 0xa5, sizeof buffer);
    if (half_pair(t, &socket, &peer) || raw_send(t, peer, 64, 1, 0)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    start_recv(&recv, socket, buffer, 32);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 32);
    for (size_t i = 32; i < sizeof buffer; i++) {
        EXPECT(t, buffer[i] == 0xa5, "byte %zu was changed by a receive of 32", i);
    }
}

static void end_of_stream_is_zero_and_stays_zero(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv;
    int peer;
    uint8_t buffer[16];
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    close_raw(t, peer);
    step_init(t, &recv, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        start_recv(&recv, socket, buffer, sizeof buffer);
        RUN_LOOP(t);
        EXPECT_RESULT(&recv, 0);
    }
}

static void shut_down_late(struct step *step)
{
    shutdown(*(int *)step->context, SHUT_WR);
}

static void end_of_stream_ends_a_receive_that_waits(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv, timer;
    int peer;
    uint8_t buffer[16];
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    step_init(t, &timer, shut_down_late, &peer);
    start_recv(&recv, socket, buffer, sizeof buffer);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 0);
}

/* --- streams: one direction of one connection
 * ----------------------------------------------------- */

struct stream {
    struct step send, recv;
    struct lm_socket *from, *to;
    uint8_t *out; /* all of it */
    uint8_t *in;
    size_t piece_bytes; /* largest send */
    size_t read_bytes;  /* largest receive; varied below it when `ragged` */
    bool ragged;
    uint64_t total, sent, received;
    uint32_t seed;
};

static void next_recv(struct stream *stream);

static void received_some(struct step *step)
{
    struct contract *t = step->test;
    struct stream *stream = step->context;
    EXPECT(t, step->result > 0, "recv completed with %lld after %llu of %llu bytes",
           (long long)step->result, (unsigned long long)stream->received,
           (unsigned long long)stream->total);
    size_t bytes = (size_t)step->result;
    size_t good = pattern_check(stream->in, bytes, stream->seed, stream->received);
    EXPECT(t, good == bytes, "a wrong byte at offset %llu",
           (unsigned long long)(stream->received + good));
    stream->received += bytes;
    next_recv(stream);
}

static void next_recv(struct stream *stream)
{
    if (stream->received < stream->total) {
        size_t bytes = stream->read_bytes;
        if (stream->ragged) {
            bytes = 1 + stream->received * 7919 % bytes;
        }
        start_recv(&stream->recv, stream->to, stream->in, bytes);
    }
}

static void next_send(struct stream *stream)
{
    uint64_t left = stream->total - stream->sent;
    if (left > 0) {
        size_t bytes = left < stream->piece_bytes ? (size_t)left : stream->piece_bytes;
        start_send(&stream->send, stream->from, stream->out + stream->sent, bytes);
    }
}

static void sent_some(struct step *step)
{
    struct stream *stream = step->context;
    EXPECT(step->test, step->result > 0, "send completed with %lld after %llu bytes",
           (long long)step->result, (unsigned long long)stream->sent);
    stream->sent += (uint64_t)step->result;
    next_send(stream);
}

/* piece_bytes, read_bytes, total and seed are set; the rest is done here. */
static void start_stream(struct contract *t, struct stream *stream, struct lm_socket *from,
                         struct lm_socket *to)
{
    stream->from = from;
    stream->to = to;
    stream->out = contract_alloc(t, stream->total);
    pattern_fill(stream->out, stream->total, stream->seed, 0);
    stream->in = contract_alloc(t, stream->read_bytes);
    step_init(t, &stream->send, sent_some, stream);
    step_init(t, &stream->recv, received_some, stream);
    next_recv(stream);
    next_send(stream);
}

static void expect_whole(struct contract *t, const struct stream *stream)
{
    EXPECT(t, stream->sent == stream->total && stream->received == stream->total,
           "%llu sent and %llu received of %llu bytes", (unsigned long long)stream->sent,
           (unsigned long long)stream->received, (unsigned long long)stream->total);
}

static void short_sends_lose_and_invent_nothing(struct contract *t)
{
    int fds[2];
    struct stream stream = {
        .piece_bytes = 65536, .read_bytes = 3000, .ragged = true, .total = 1 << 20, .seed = 3};
    if (raw_small_pair(t, fds)) {
        return;
    }
    struct lm_socket *from = open_socket(t, fds[0]);
    struct lm_socket *to = open_socket(t, fds[1]);
    if (from && to) {
        start_stream(t, &stream, from, to);
        RUN_LOOP(t);
        expect_whole(t, &stream);
    }
}

static void one_large_send_arrives_whole(struct contract *t)
{
    struct lm_socket *ends[2];
    struct stream stream = {
        .piece_bytes = 3 << 20, .read_bytes = 1 << 20, .total = 3 << 20, .seed = 4};
    if (loop_pair(t, ends)) {
        return;
    }
    start_stream(t, &stream, ends[0], ends[1]);
    RUN_LOOP(t);
    expect_whole(t, &stream);
}

static void one_byte_at_a_time_arrives_whole(struct contract *t)
{
    struct lm_socket *ends[2];
    struct stream stream = {.piece_bytes = 1, .read_bytes = 1, .total = 2000, .seed = 5};
    if (loop_pair(t, ends)) {
        return;
    }
    start_stream(t, &stream, ends[0], ends[1]);
    RUN_LOOP(t);
    expect_whole(t, &stream);
}

static void both_directions_work_at_once(struct contract *t)
{
    struct lm_socket *ends[2];
    struct stream there = {
        .piece_bytes = 30000, .read_bytes = 65536, .total = 4 << 20, .seed = 6, .ragged = true};
    struct stream back = there;
    back.seed = 7;
    if (loop_pair(t, ends)) {
        return;
    }
    start_stream(t, &there, ends[0], ends[1]);
    start_stream(t, &back, ends[1], ends[0]);
    RUN_LOOP(t);
    expect_whole(t, &there);
    expect_whole(t, &back);
}

static void many_streams_do_not_mix(struct contract *t)
{
    enum {
        PAIRS = 24
    };
    struct stream *streams = contract_alloc(t, 2 * PAIRS * sizeof *streams);
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct lm_socket *ends[2];
        if (loop_pair(t, ends)) {
            return;
        }
        for (uint32_t j = 0; j < 2; j++) {
            struct stream *stream = &streams[2 * i + j];
            *stream = (struct stream){.piece_bytes = 5000,
                                      .read_bytes = 4096,
                                      .total = 100000,
                                      .seed = 100 + 2 * i + j,
                                      .ragged = true};
            start_stream(t, stream, ends[j], ends[1 - j]);
        }
    }
    RUN_LOOP(t);
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        expect_whole(t, &streams[i]);
    }
}

/* --- ends of streams
 * ------------------------------------------------------------------------------ */

/* Reads to the end of the stream. */
struct drain {
    struct step recv;
    struct lm_socket *socket;
    uint8_t buffer[300];
    uint64_t received;
    uint32_t seed;
    bool ended;
};

static void drained_some(struct step *step)
{
    struct contract *t = step->test;
    struct drain *drain = step->context;
    EXPECT(t, step->result >= 0, "recv completed with %lld", (long long)step->result);
    size_t bytes = (size_t)step->result;
    EXPECT(t, pattern_check(drain->buffer, bytes, drain->seed, drain->received) == bytes,
           "a wrong byte after offset %llu", (unsigned long long)drain->received);
    drain->received += bytes;
    drain->ended = bytes == 0;
    if (!drain->ended) {
        start_recv(&drain->recv, drain->socket, drain->buffer, sizeof drain->buffer);
    }
}

static void start_drain(struct contract *t, struct drain *drain, struct lm_socket *socket,
                        uint32_t seed)
{
    drain->socket = socket;
    drain->seed = seed;
    step_init(t, &drain->recv, drained_some, drain);
    start_recv(&drain->recv, socket, drain->buffer, sizeof drain->buffer);
}

static void bytes_come_before_the_end_of_the_stream(struct contract *t)
{
    struct drain drain = {.received = 0};
    struct lm_socket *socket;
    int peer;
    if (half_pair(t, &socket, &peer) || raw_send(t, peer, 1000, 8, 0)) {
        return;
    }
    close_raw(t, peer);
    start_drain(t, &drain, socket, 8);
    RUN_LOOP(t);
    EXPECT(t, drain.ended && drain.received == 1000, "the end after %llu bytes",
           (unsigned long long)drain.received);
}

static void send_and_shut_down(struct step *step)
{
    send_late(step);
    shutdown(((struct late *)step->context)->fd, SHUT_WR);
}

static void bytes_and_end_that_arrive_together_are_both_seen(struct contract *t)
{
    struct drain drain = {.received = 0};
    struct late late = {.bytes = 1000};
    struct lm_socket *socket;
    struct step timer;
    if (half_pair(t, &socket, &late.fd)) {
        return;
    }
    step_init(t, &timer, send_and_shut_down, &late);
    start_drain(t, &drain, socket, 1);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT(t, drain.ended && drain.received == 1000, "the end after %llu bytes",
           (unsigned long long)drain.received);
}

static void a_peer_that_stopped_sending_still_receives(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv, send;
    int peer;
    uint8_t buffer[1000];
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    shutdown(peer, SHUT_WR);
    step_init(t, &recv, NULL, NULL);
    step_init(t, &send, NULL, NULL);
    start_recv(&recv, socket, buffer, sizeof buffer);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 0);
    pattern_fill(buffer, sizeof buffer, 9, 0);
    start_send(&send, socket, buffer, sizeof buffer);
    RUN_LOOP(t);
    EXPECT_RESULT(&send, (int64_t)sizeof buffer);
    raw_recv(t, peer, sizeof buffer, 9, 0);
}

/* --- errors
 * --------------------------------------------------------------------------------------- */

static void reset_late(struct step *step)
{
    raw_reset(step->test, *(int *)step->context);
}

static void a_reset_ends_a_receive_that_waits(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv, send, timer;
    int peer;
    uint8_t buffer[16] = {0};
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    step_init(t, &send, NULL, NULL);
    step_init(t, &timer, reset_late, &peer);
    /* AF_UNIX only resets when the peer closes with bytes unread. */
    start_send(&send, socket, "unread", 6);
    RUN_LOOP(t);
    start_recv(&recv, socket, buffer, sizeof buffer);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, -ECONNRESET);
}

/* A late acknowledgement can make room in a TCP buffer that was full. */
static void send_more(struct step *step)
{
    static uint8_t buffer[65536];
    if (step->result > 0) {
        start_send(step, step->context, buffer, sizeof buffer);
    }
}

/* A send that can not go on, and a timer that resets its peer fds[1]. NULL: noted. */
static struct lm_socket *send_until_reset(struct contract *t, struct step *send, struct step *timer,
                                          int fds[2])
{
    if (raw_small_pair(t, fds) || raw_fill(t, fds[0]) < 0) {
        return NULL;
    }
    struct lm_socket *socket = open_socket(t, fds[0]);
    if (!socket) {
        return NULL;
    }
    step_init(t, send, send_more, socket);
    step_init(t, timer, reset_late, &fds[1]);
    send->result = 1;
    send_more(send);
    start_timer(timer, 2 * MILLISECOND_NS);
    return socket;
}

static void expect_send_was_reset(struct contract *t, const struct step *send)
{
    EXPECT(t, send->result == -ECONNRESET || send->result == -EPIPE, "send completed with %lld",
           (long long)send->result);
}

static void a_reset_ends_a_send_that_waits(struct contract *t)
{
    struct step send, timer;
    int fds[2];
    if (!send_until_reset(t, &send, &timer, fds)) {
        return;
    }
    RUN_LOOP(t);
    expect_send_was_reset(t, &send);
}

static void a_reset_ends_a_receive_and_a_send_that_wait_together(struct contract *t)
{
    struct step send, recv, timer;
    uint8_t byte;
    int fds[2];
    struct lm_socket *socket = send_until_reset(t, &send, &timer, fds);
    if (!socket) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    start_recv(&recv, socket, &byte, 1);
    RUN_LOOP(t);
    /* The first of the two takes the error; a stream that was reset is then at its end. */
    expect_send_was_reset(t, &send);
    EXPECT(t, recv.result == -ECONNRESET || recv.result == 0, "recv completed with %lld",
           (long long)recv.result);
}

static void send_until_error(struct step *step)
{
    if (step->result >= 0 && step->completions < 1000) {
        start_send(step, step->context, "x", 1);
    }
}

static void sending_to_a_closed_peer_is_an_error_and_no_signal(struct contract *t)
{
    struct lm_socket *socket;
    struct step send;
    int peer;
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    close_raw(t, peer);
    step_init(t, &send, send_until_error, socket);
    for (int i = 0; i < 3; i++) {
        start_send(&send, socket, "x", 1);
        RUN_LOOP(t);
        EXPECT(t, send.result == -EPIPE || send.result == -ECONNRESET, "send completed with %lld",
               (long long)send.result);
    }
}

const struct contract_test contract_streams[] = {
    {"a receive gets bytes that arrive later", 3, ALSO_LOCAL,
     a_receive_gets_bytes_that_arrive_later},
    {"a receive takes what is there and does not wait for more", 3, ALSO_LOCAL,
     a_receive_takes_what_is_there_and_does_not_wait_for_more},
    {"a receive writes nothing behind its bytes", 3, ALSO_LOCAL,
     a_receive_writes_nothing_behind_its_bytes},
    {"end of stream is zero and stays zero", 3, ALSO_LOCAL, end_of_stream_is_zero_and_stays_zero},
    {"end of stream ends a receive that waits", 3, ALSO_LOCAL,
     end_of_stream_ends_a_receive_that_waits},
    {"short sends lose and invent nothing", 3, ALSO_LOCAL, short_sends_lose_and_invent_nothing},
    {"one large send arrives whole", 3, ALSO_LOCAL, one_large_send_arrives_whole},
    {"one byte at a time arrives whole", 3, ALSO_LOCAL, one_byte_at_a_time_arrives_whole},
    {"both directions work at once", 4, ALSO_LOCAL, both_directions_work_at_once},
    {"many streams do not mix", 3, ALSO_LOCAL, many_streams_do_not_mix},
    {"bytes come before the end of the stream", 3, ALSO_LOCAL,
     bytes_come_before_the_end_of_the_stream},
    {"bytes and end that arrive together are both seen", 3, ALSO_LOCAL,
     bytes_and_end_that_arrive_together_are_both_seen},
    {"a peer that stopped sending still receives", 3, ALSO_LOCAL,
     a_peer_that_stopped_sending_still_receives},
    {"a reset ends a receive that waits", 3, ALSO_LOCAL, a_reset_ends_a_receive_that_waits},
    {"a reset ends a send that waits", 3, ALSO_LOCAL, a_reset_ends_a_send_that_waits},
    {"a reset ends a receive and a send that wait together", 9, 0,
     a_reset_ends_a_receive_and_a_send_that_wait_together},
    {"sending to a closed peer is an error and no signal", 9, ALSO_LOCAL,
     sending_to_a_closed_peer_is_an_error_and_no_signal},
    {NULL, 0, 0, NULL},
};
