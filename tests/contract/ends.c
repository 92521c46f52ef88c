/* ends.c - operations that end early: closing (rule 5) and cancelling (rule 6). */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* A socket on which a receive and a send both wait: nothing arrives and nothing more fits. */
struct stuck {
    struct lm_socket *socket;
    struct step recv, send;
    int peer;
    uint8_t in[64], out[65536];
};

static struct stuck *open_stuck(struct contract *t)
{
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    int fds[2];
    if (raw_small_pair(t, fds) || raw_fill(t, fds[0]) < 0) {
        return NULL;
    }
    stuck->socket = open_socket(t, fds[0]);
    stuck->peer = fds[1];
    step_init(t, &stuck->recv, NULL, stuck);
    step_init(t, &stuck->send, NULL, stuck);
    if (!stuck->socket) {
        return NULL;
    }
    start_recv(&stuck->recv, stuck->socket, stuck->in, sizeof stuck->in);
    start_send(&stuck->send, stuck->socket, stuck->out, sizeof stuck->out);
    return stuck;
}

/* A late acknowledgement can make room in a TCP buffer that was full: then some bytes were sent. */
#define EXPECT_CUT_OFF(step)                                                                       \
    EXPECT((step)->test,                                                                           \
           (step)->result == -ECANCELED || (!(step)->test->local && (step)->result > 0),           \
           "%s completed with %lld", (step)->kind, (long long)(step)->result)

static void close_stuck(struct step *step)
{
    struct stuck *stuck = step->context;
    /* See EXPECT_CUT_OFF: the send may be over by now. */
    unsigned before = stuck->recv.completions + stuck->send.completions;
    close_socket(step->test, stuck->socket);
    EXPECT(step->test, stuck->recv.completions + stuck->send.completions == before,
           "completions inside socket_close");
}

static void closing_cancels_both_directions_later(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    struct step timer;
    if (!stuck) {
        return;
    }
    step_init(t, &timer, close_stuck, stuck);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    EXPECT_CUT_OFF(&stuck->send);
}

static void closing_before_the_first_run_cancels(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    if (!stuck) {
        return;
    }
    close_socket(t, stuck->socket);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    EXPECT_CUT_OFF(&stuck->send);
}

static void close_own_socket(struct step *step)
{
    struct stuck *stuck = step->context;
    close_socket(step->test, stuck->socket);
}

static void closing_in_a_completion_of_the_same_socket_cancels_the_rest(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    if (!stuck) {
        return;
    }
    stuck->recv.then = close_own_socket;
    raw_send(t, stuck->peer, 10, 1, 0);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, 10);
    EXPECT_CUT_OFF(&stuck->send);
}

static void closing_a_listener_cancels_its_accept(struct contract *t)
{
    struct address address;
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    struct lm_socket *accepted = NULL;
    struct step accept, timer;
    stuck->socket = open_socket(t, raw_listener(t, 8, &address));
    if (!stuck->socket) {
        return;
    }
    step_init(t, &accept, NULL, NULL);
    step_init(t, &timer, close_stuck, stuck);
    start_accept(&accept, stuck->socket, &accepted);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&accept, -ECANCELED);
    EXPECT(t, accepted == NULL, "a socket from a cancelled accept");
}

static void closing_cancels_a_connect_that_waits(struct contract *t)
{
    struct address address;
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    struct step connecting, timer;
    if (raw_listener(t, 0, &address) < 0) {
        return;
    }
    /* A full backlog keeps further connections waiting. */
    for (int i = 0; i < 8; i++) {
        int fd = raw_socket(t);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        if (connect(fd, address_of(&address), address.bytes) && errno != EINPROGRESS) {
            break;
        }
    }
    stuck->socket = open_socket(t, raw_socket(t));
    if (!stuck->socket) {
        return;
    }
    step_init(t, &connecting, NULL, NULL);
    step_init(t, &timer, close_own_socket, stuck);
    start_connect(&connecting, stuck->socket, address_of(&address), address.bytes);
    start_timer(&timer, 5 * MILLISECOND_NS);
    RUN_LOOP(t);
    if (connecting.result == 0) {
        contract_skip(t, "this system does not keep a connection to a full backlog waiting");
        return;
    }
    EXPECT_RESULT(&connecting, -ECANCELED);
}

static void closing_with_a_result_on_its_way_completes_once(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv;
    int peer;
    uint8_t buffer[16];
    for (int i = 0; i < 50; i++) {
        if (half_pair(t, &socket, &peer) || raw_send(t, peer, 4, 1, 0)) {
            return;
        }
        step_init(t, &recv, NULL, NULL);
        start_recv(&recv, socket, buffer, sizeof buffer);
        close_socket(t, socket);
        RUN_LOOP(t);
        EXPECT(t, recv.completions == 1, "%u completions", recv.completions);
        EXPECT(t, recv.result == 4 || recv.result == -ECANCELED, "recv completed with %lld",
               (long long)recv.result);
        close_raw(t, peer);
    }
}

static void the_peer_sees_the_end_when_a_socket_is_closed(struct contract *t)
{
    struct lm_socket *socket;
    struct step post;
    int peer;
    char byte;
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    step_init(t, &post, NULL, NULL);
    start_post(&post);
    close_socket(t, socket);
    RUN_LOOP(t);
    ssize_t got = recv(peer, &byte, 1, 0);
    EXPECT(t, got == 0, "the peer received %zd", got);
}

static void a_linger_setting_is_kept_by_close(struct contract *t)
{
    struct step post;
    int fds[2];
    char byte;
    if (raw_pair(t, fds)) {
        return;
    }
    reset_on_close(fds[0]);
    struct lm_socket *socket = open_socket(t, fds[0]);
    if (!socket) {
        return;
    }
    step_init(t, &post, NULL, NULL);
    start_post(&post);
    close_socket(t, socket);
    RUN_LOOP(t);
    ssize_t got = recv(fds[1], &byte, 1, 0);
    EXPECT(t, got < 0 && errno == ECONNRESET, "the peer received %zd (%s), not a reset", got,
           strerror(errno));
}

static void a_closed_descriptor_is_free_after_the_run(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    if (!stuck) {
        return;
    }
    int before = open_descriptors();
    close_socket(t, stuck->socket);
    RUN_LOOP(t);
    EXPECT(t, open_descriptors() == before - 1, "%d descriptors closed, not 1",
           before - open_descriptors());
}

/* --- a descriptor number that is used again at once
 * ------------------------------------------------- */

struct reuse {
    struct step timer, answer, old_recv, new_recv;
    struct lm_socket *socket;
    uint8_t old_in[16], new_in[16];
    int old_peer, new_peer;
};

/* Closes a socket whose receive waits and opens another, which gets the same number wherever close
 * is immediate. Then the peer of the old one does all it can to wake the wrong one. */
static void exchange(struct step *step)
{
    struct contract *t = step->test;
    struct reuse *reuse = step->context;
    struct lm_socket *fresh;
    raw_send(t, reuse->old_peer, 3, 30, 0); /* an event for the old one is under way */
    close_socket(t, reuse->socket);
    if (half_pair(t, &fresh, &reuse->new_peer)) {
        return;
    }
    reuse->socket = fresh;
    start_recv(&reuse->new_recv, fresh, reuse->new_in, sizeof reuse->new_in);
    close_raw(t, reuse->old_peer);
    start_timer(&reuse->answer, MILLISECOND_NS);
}

static void answer_new(struct step *step)
{
    struct reuse *reuse = step->context;
    raw_send(step->test, reuse->new_peer, 5, 31, 0);
}

static void a_reused_descriptor_number_gets_nothing_of_the_old_socket(struct contract *t)
{
    struct reuse *reuse = contract_alloc(t, sizeof *reuse);
    for (int i = 0; i < 40; i++) {
        step_init(t, &reuse->timer, exchange, reuse);
        step_init(t, &reuse->old_recv, NULL, reuse);
        step_init(t, &reuse->new_recv, NULL, reuse);
        step_init(t, &reuse->answer, answer_new, reuse);
        if (half_pair(t, &reuse->socket, &reuse->old_peer)) {
            return;
        }
        start_recv(&reuse->old_recv, reuse->socket, reuse->old_in, sizeof reuse->old_in);
        start_timer(&reuse->timer, MILLISECOND_NS);
        RUN_LOOP(t);
        EXPECT(t, reuse->old_recv.result == -ECANCELED || reuse->old_recv.result == 3,
               "the old receive completed with %lld", (long long)reuse->old_recv.result);
        EXPECT_RESULT(&reuse->new_recv, 5);
        EXPECT(t, pattern_check(reuse->new_in, 5, 31, 0) == 5, "bytes of another socket");
        close_socket(t, reuse->socket);
        close_raw(t, reuse->new_peer);
    }
}

/* --- cancelling
 * ----------------------------------------------------------------------------------- */

static void cancel_recv_late(struct step *step)
{
    struct stuck *stuck = step->context;
    cancel_step(&stuck->recv);
    EXPECT(step->test, stuck->recv.completions == 0, "a completion inside cancel");
}

static void a_cancelled_receive_loses_no_bytes(struct contract *t)
{
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    struct step timer;
    if (half_pair(t, &stuck->socket, &stuck->peer)) {
        return;
    }
    step_init(t, &stuck->recv, NULL, stuck);
    step_init(t, &timer, cancel_recv_late, stuck);
    start_recv(&stuck->recv, stuck->socket, stuck->in, sizeof stuck->in);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    raw_send(t, stuck->peer, 20, 32, 0);
    start_recv(&stuck->recv, stuck->socket, stuck->in, sizeof stuck->in);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, 20);
    EXPECT(t, pattern_check(stuck->in, 20, 32, 0) == 20, "a wrong byte");
}

static void a_receive_cancelled_at_once_takes_its_bytes_or_leaves_them(struct contract *t)
{
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    if (half_pair(t, &stuck->socket, &stuck->peer)) {
        return;
    }
    uint64_t offset = 0;
    for (int i = 0; i < 20; i++) {
        step_init(t, &stuck->recv, NULL, stuck);
        raw_send(t, stuck->peer, 8, 33, offset);
        start_recv(&stuck->recv, stuck->socket, stuck->in, sizeof stuck->in);
        cancel_step(&stuck->recv);
        RUN_LOOP(t);
        if (stuck->recv.result == -ECANCELED) {
            step_init(t, &stuck->recv, NULL, stuck);
            start_recv(&stuck->recv, stuck->socket, stuck->in, sizeof stuck->in);
            RUN_LOOP(t);
        }
        EXPECT_RESULT(&stuck->recv, 8);
        EXPECT(t, pattern_check(stuck->in, 8, 33, offset) == 8, "a wrong byte");
        offset += 8;
    }
}

static void cancelling_one_direction_leaves_the_other(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    struct step timer;
    if (!stuck) {
        return;
    }
    step_init(t, &timer, cancel_recv_late, stuck);
    stuck->recv.then = close_own_socket; /* only now may the send end */
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    EXPECT_CUT_OFF(&stuck->send);
}

static void cancel_send_late(struct step *step)
{
    struct stuck *stuck = step->context;
    cancel_step(&stuck->send);
}

static void send_to_receiver(struct step *step)
{
    struct stuck *stuck = step->context;
    raw_send(step->test, stuck->peer, 6, 34, 0);
}

static void a_send_that_waits_can_be_cancelled(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    struct step timer;
    if (!stuck) {
        return;
    }
    step_init(t, &timer, cancel_send_late, stuck);
    stuck->send.then = send_to_receiver; /* the receive goes on */
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_CUT_OFF(&stuck->send);
    EXPECT_RESULT(&stuck->recv, 6);
}

static void a_cancelled_accept_can_be_started_again(struct contract *t)
{
    struct address address;
    struct lm_socket *accepted = NULL;
    struct stuck *stuck = contract_alloc(t, sizeof *stuck);
    struct step timer;
    struct lm_socket *listener = open_socket(t, raw_listener(t, 8, &address));
    if (!listener) {
        return;
    }
    step_init(t, &stuck->recv, NULL, stuck);
    step_init(t, &timer, cancel_recv_late, stuck);
    start_accept(&stuck->recv, listener, &accepted);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    if (raw_connect(t, &address) < 0) {
        return;
    }
    start_accept(&stuck->recv, listener, &accepted);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, 0);
    EXPECT(t, accepted != NULL, "no socket");
}

static void cancel_itself(struct step *step)
{
    cancel_step(step);
}

static void cancelling_what_has_completed_is_harmless(struct contract *t)
{
    struct lm_socket *socket;
    struct step recv, post, timer;
    int peer;
    uint8_t buffer[16];
    if (half_pair(t, &socket, &peer) || raw_send(t, peer, 4, 1, 0)) {
        return;
    }
    step_init(t, &recv, cancel_itself, NULL);
    step_init(t, &post, cancel_itself, NULL);
    step_init(t, &timer, cancel_itself, NULL);
    start_recv(&recv, socket, buffer, sizeof buffer);
    start_post(&post);
    start_timer(&timer, 0);
    RUN_LOOP(t);
    cancel_step(&recv);
    cancel_step(&post);
    cancel_step(&timer);
    close_socket(t, socket);
    cancel_step(&recv);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 4);
    EXPECT_RESULT(&post, 0);
    EXPECT_RESULT(&timer, 0);
    EXPECT(t, recv.completions == 1 && post.completions == 1 && timer.completions == 1,
           "a second completion");
}

static void cancel_recv_twice(struct step *step)
{
    cancel_recv_late(step);
    cancel_recv_late(step);
}

static void cancelling_twice_is_harmless(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    struct step timer;
    if (!stuck) {
        return;
    }
    step_init(t, &timer, cancel_recv_twice, stuck);
    stuck->recv.then = close_own_socket;
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    EXPECT(t, stuck->recv.completions == 1, "%u completions", stuck->recv.completions);
}

static void cancel_and_close(struct step *step)
{
    struct stuck *stuck = step->context;
    cancel_step(&stuck->recv);
    cancel_step(&stuck->send);
    close_socket(step->test, stuck->socket);
}

static void cancelling_and_closing_at_once_completes_once(struct contract *t)
{
    struct stuck *stuck = open_stuck(t);
    struct step timer;
    if (!stuck) {
        return;
    }
    step_init(t, &timer, cancel_and_close, stuck);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&stuck->recv, -ECANCELED);
    EXPECT_CUT_OFF(&stuck->send);
    EXPECT(t, stuck->recv.completions == 1 && stuck->send.completions == 1, "more completions");
}

static void a_post_that_is_cancelled_completes_once(struct contract *t)
{
    struct step post;
    step_init(t, &post, NULL, NULL);
    start_post(&post);
    cancel_step(&post);
    RUN_LOOP(t);
    EXPECT(t, post.completions == 1, "%u completions", post.completions);
    EXPECT(t, post.result == 0 || post.result == -ECANCELED, "post completed with %lld",
           (long long)post.result);
}

const struct contract_test contract_ends[] = {
    {"closing cancels both directions, later", 5, ALSO_LOCAL,
     closing_cancels_both_directions_later},
    {"closing before the first run cancels", 5, ALSO_LOCAL, closing_before_the_first_run_cancels},
    {"closing in a completion of the same socket cancels the rest", 5, ALSO_LOCAL,
     closing_in_a_completion_of_the_same_socket_cancels_the_rest},
    {"closing a listener cancels its accept", 5, ALSO_LOCAL, closing_a_listener_cancels_its_accept},
    {"closing cancels a connect that waits", 5, 0, closing_cancels_a_connect_that_waits},
    {"closing with a result on its way completes once", 5, ALSO_LOCAL,
     closing_with_a_result_on_its_way_completes_once},
    {"the peer sees the end when a socket is closed", 5, ALSO_LOCAL,
     the_peer_sees_the_end_when_a_socket_is_closed},
    {"a linger setting is kept by close", 5, 0, a_linger_setting_is_kept_by_close},
    {"a closed descriptor is free after the run", 5, ALSO_LOCAL,
     a_closed_descriptor_is_free_after_the_run},
    {"a reused descriptor number gets nothing of the old socket", 5, ALSO_LOCAL,
     a_reused_descriptor_number_gets_nothing_of_the_old_socket},
    {"a cancelled receive loses no bytes", 6, ALSO_LOCAL, a_cancelled_receive_loses_no_bytes},
    {"a receive cancelled at once takes its bytes or leaves them", 6, ALSO_LOCAL,
     a_receive_cancelled_at_once_takes_its_bytes_or_leaves_them},
    {"cancelling one direction leaves the other", 6, ALSO_LOCAL,
     cancelling_one_direction_leaves_the_other},
    {"a send that waits can be cancelled", 6, ALSO_LOCAL, a_send_that_waits_can_be_cancelled},
    {"a cancelled accept can be started again", 6, ALSO_LOCAL,
     a_cancelled_accept_can_be_started_again},
    {"cancelling what has completed is harmless", 6, ALSO_LOCAL,
     cancelling_what_has_completed_is_harmless},
    {"cancelling twice is harmless", 6, ALSO_LOCAL, cancelling_twice_is_harmless},
    {"cancelling and closing at once completes once", 5, ALSO_LOCAL,
     cancelling_and_closing_at_once_completes_once},
    {"a post that is cancelled completes once", 6, 0, a_post_that_is_cancelled_completes_once},
    {NULL, 0, 0, NULL},
};
