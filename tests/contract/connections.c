/* connections.c - accepting and connecting. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* A listening socket in the loop. */
static struct lm_socket *open_listener(struct contract *t, int backlog, struct address *address)
{
    return open_socket(t, raw_listener(t, backlog, address));
}

/* One message each way between two sockets of the loop. */
struct greeting {
    struct step send[2], recv[2];
    uint8_t out[2][32], in[2][32];
};

static void start_greeting(struct contract *t, struct greeting *greeting, struct lm_socket *a,
                           struct lm_socket *b)
{
    struct lm_socket *ends[2] = {a, b};
    for (uint32_t i = 0; i < 2; i++) {
        step_init(t, &greeting->send[i], NULL, NULL);
        step_init(t, &greeting->recv[i], NULL, NULL);
        pattern_fill(greeting->out[i], sizeof greeting->out[i], 20 + i, 0);
        start_recv(&greeting->recv[i], ends[i], greeting->in[i], sizeof greeting->in[i]);
        start_send(&greeting->send[i], ends[i], greeting->out[i], sizeof greeting->out[i]);
    }
}

static void expect_greeting(struct contract *t, struct greeting *greeting)
{
    for (uint32_t i = 0; i < 2; i++) {
        size_t bytes = sizeof greeting->in[i];
        EXPECT_RESULT(&greeting->send[i], (int64_t)bytes);
        EXPECT_RESULT(&greeting->recv[i], (int64_t)bytes);
        EXPECT(t, pattern_check(greeting->in[i], bytes, 21 - i, 0) == bytes, "a wrong byte");
    }
}

/* accept and connect started together; who is first does not matter. */
struct meeting {
    struct step accept, connect;
    struct lm_socket *listener, *client, *server;
    struct address address;
    struct greeting greeting;
};

static int open_meeting(struct contract *t, struct meeting *meeting)
{
    meeting->listener = open_listener(t, 8, &meeting->address);
    meeting->client = open_socket(t, raw_socket(t));
    step_init(t, &meeting->accept, NULL, meeting);
    step_init(t, &meeting->connect, NULL, meeting);
    return meeting->listener && meeting->client ? 0 : -1;
}

static void expect_met(struct contract *t, struct meeting *meeting)
{
    EXPECT_RESULT(&meeting->accept, 0);
    EXPECT_RESULT(&meeting->connect, 0);
    EXPECT(t, meeting->server != NULL, "an accept that succeeded gave no socket");
    start_greeting(t, &meeting->greeting, meeting->client, meeting->server);
    RUN_LOOP(t);
    expect_greeting(t, &meeting->greeting);
}

static void accept_and_connect_meet(struct contract *t)
{
    struct meeting meeting = {.server = NULL};
    if (open_meeting(t, &meeting)) {
        return;
    }
    start_accept(&meeting.accept, meeting.listener, &meeting.server);
    start_connect(&meeting.connect, meeting.client, address_of(&meeting.address),
                  meeting.address.bytes);
    RUN_LOOP(t);
    expect_met(t, &meeting);
}

static void connect_late(struct step *step)
{
    struct meeting *meeting = step->context;
    start_connect(&meeting->connect, meeting->client, address_of(&meeting->address),
                  meeting->address.bytes);
}

static void an_accept_waits_for_a_later_connection(struct contract *t)
{
    struct meeting meeting = {.server = NULL};
    struct step timer;
    if (open_meeting(t, &meeting)) {
        return;
    }
    step_init(t, &timer, connect_late, &meeting);
    start_accept(&meeting.accept, meeting.listener, &meeting.server);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    expect_met(t, &meeting);
}

static void a_connection_that_waited_is_accepted(struct contract *t)
{
    struct meeting meeting = {.server = NULL};
    if (open_meeting(t, &meeting)) {
        return;
    }
    start_connect(&meeting.connect, meeting.client, address_of(&meeting.address),
                  meeting.address.bytes);
    RUN_LOOP(t);
    start_accept(&meeting.accept, meeting.listener, &meeting.server);
    RUN_LOOP(t);
    expect_met(t, &meeting);
}

static void bytes_sent_before_the_accept_are_not_lost(struct contract *t)
{
    struct address address;
    struct lm_socket *accepted = NULL;
    struct step accept, recv;
    uint8_t buffer[1000];
    struct lm_socket *listener = open_listener(t, 8, &address);
    int peer = listener ? raw_connect(t, &address) : -1;
    if (peer < 0 || raw_send(t, peer, 500, 1, 0)) {
        return;
    }
    step_init(t, &accept, NULL, NULL);
    step_init(t, &recv, NULL, NULL);
    start_accept(&accept, listener, &accepted);
    RUN_LOOP(t);
    EXPECT_RESULT(&accept, 0);
    start_recv(&recv, accepted, buffer, sizeof buffer);
    RUN_LOOP(t);
    EXPECT_RESULT(&recv, 500);
    EXPECT(t, pattern_check(buffer, 500, 1, 0) == 500, "a wrong byte");
}

/* In the completions themselves: accepted is set, both ends can be used at once. */
struct eager {
    struct meeting meeting;
    struct step send, recv;
    char buffer[8];
};

static void eager_connected(struct step *step)
{
    struct eager *eager = step->context;
    EXPECT_RESULT(step, 0);
    start_send(&eager->send, eager->meeting.client, "hello", 5);
}

static void eager_accepted(struct step *step)
{
    struct eager *eager = step->context;
    EXPECT_RESULT(step, 0);
    EXPECT(step->test, eager->meeting.server != NULL, "no socket when accept completed");
    start_recv(&eager->recv, eager->meeting.server, eager->buffer, sizeof eager->buffer);
}

static void new_connections_can_be_used_in_their_completions(struct contract *t)
{
    struct eager eager = {.buffer = ""};
    if (open_meeting(t, &eager.meeting)) {
        return;
    }
    step_init(t, &eager.meeting.connect, eager_connected, &eager);
    step_init(t, &eager.meeting.accept, eager_accepted, &eager);
    step_init(t, &eager.send, NULL, NULL);
    step_init(t, &eager.recv, NULL, NULL);
    start_accept(&eager.meeting.accept, eager.meeting.listener, &eager.meeting.server);
    start_connect(&eager.meeting.connect, eager.meeting.client, address_of(&eager.meeting.address),
                  eager.meeting.address.bytes);
    RUN_LOOP(t);
    EXPECT_RESULT(&eager.recv, 5);
    EXPECT(t, memcmp(eager.buffer, "hello", 5) == 0, "a wrong byte");
}

/* --- failures
 * ------------------------------------------------------------------------------------- */

static void a_refused_connection_is_an_error(struct contract *t)
{
    struct address address;
    struct step connect;
    int bound = raw_listener(t, -1, &address);
    struct lm_socket *client = bound < 0 ? NULL : open_socket(t, raw_socket(t));
    if (!client) {
        return;
    }
    step_init(t, &connect, NULL, NULL);
    start_connect(&connect, client, address_of(&address), address.bytes);
    RUN_LOOP(t);
    EXPECT_RESULT(&connect, -ECONNREFUSED);
}

static void connecting_to_a_path_that_is_not_there_is_an_error(struct contract *t)
{
    struct address address = {.bytes = sizeof(struct sockaddr_un)};
    struct sockaddr_un *un = (struct sockaddr_un *)&address.storage;
    struct step connect;
    if (!t->local) {
        contract_skip(t, "only AF_UNIX has paths");
        return;
    }
    struct lm_socket *client = open_socket(t, raw_socket(t));
    if (!client) {
        return;
    }
    un->sun_family = AF_UNIX;
    strcpy(un->sun_path, "/nonexistent/loopmark");
    step_init(t, &connect, NULL, NULL);
    start_connect(&connect, client, address_of(&address), address.bytes);
    RUN_LOOP(t);
    EXPECT_RESULT(&connect, -ENOENT);
}

static int lowest_free_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void an_accept_without_descriptors_fails_and_the_next_one_works(struct contract *t)
{
    struct address address;
    struct step accept;
    struct lm_socket *accepted = NULL;
    struct greeting greeting;
    int limit = descriptor_limit();
    struct lm_socket *listener = open_listener(t, 8, &address);
    struct lm_socket *client = listener ? open_socket(t, raw_connect(t, &address)) : NULL;
    if (!client) {
        return;
    }
    step_init(t, &accept, NULL, NULL);
    set_descriptor_limit(lowest_free_descriptor());
    start_accept(&accept, listener, &accepted);
    contract_loop(t);
    set_descriptor_limit(limit);
    if (t->failed) {
        return;
    }
    /* A backend whose sockets need no descriptor may succeed. */
    EXPECT(t, accept.result == -EMFILE || accept.result == 0, "accept completed with %lld",
           (long long)accept.result);
    if (accept.result == -EMFILE) {
        start_accept(&accept, listener, &accepted);
        RUN_LOOP(t);
        EXPECT_RESULT(&accept, 0);
    }
    start_greeting(t, &greeting, client, accepted);
    RUN_LOOP(t);
    expect_greeting(t, &greeting);
}

/* --- many
 * ----------------------------------------------------------------------------------------- */

/* Laps of connect, one byte, close, as in the accept_churn family. */
struct lap {
    struct meeting meeting;
    struct step send, recv;
    char byte;
    int left;
};

static void start_lap(struct lap *lap)
{
    struct contract *t = lap->meeting.accept.test;
    int fd = raw_socket(t);
    lap->meeting.server = NULL;
    reset_on_close(fd);
    lap->meeting.client = open_socket(t, fd);
    if (lap->meeting.client) {
        start_connect(&lap->meeting.connect, lap->meeting.client, address_of(&lap->meeting.address),
                      lap->meeting.address.bytes);
        start_accept(&lap->meeting.accept, lap->meeting.listener, &lap->meeting.server);
    }
}

static void lap_connected(struct step *step)
{
    struct lap *lap = step->context;
    EXPECT_RESULT(step, 0);
    start_send(&lap->send, lap->meeting.client, "x", 1);
}

static void lap_accepted(struct step *step)
{
    struct lap *lap = step->context;
    EXPECT_RESULT(step, 0);
    start_recv(&lap->recv, lap->meeting.server, &lap->byte, 1);
}

/* Called for the send and for the receive: the later one ends the lap. */
static void lap_moved(struct step *step)
{
    struct lap *lap = step->context;
    EXPECT_RESULT(step, 1);
    if (lap->send.completions != lap->recv.completions) {
        return;
    }
    EXPECT(step->test, lap->byte == 'x', "a wrong byte");
    lap->byte = 0;
    close_socket(step->test, lap->meeting.client);
    close_socket(step->test, lap->meeting.server);
    if (--lap->left > 0) {
        start_lap(lap);
    }
}

static void many_laps_of_connect_and_close_keep_nothing(struct contract *t)
{
    struct lap lap = {.left = 300};
    lap.meeting.listener = open_listener(t, 8, &lap.meeting.address);
    if (!lap.meeting.listener) {
        return;
    }
    step_init(t, &lap.meeting.connect, lap_connected, &lap);
    step_init(t, &lap.meeting.accept, lap_accepted, &lap);
    step_init(t, &lap.send, lap_moved, &lap);
    step_init(t, &lap.recv, lap_moved, &lap);
    int before = open_descriptors();
    start_lap(&lap);
    RUN_LOOP(t);
    EXPECT(t, lap.left == 0, "%d laps not run", lap.left);
    EXPECT(t, open_descriptors() == before, "%d descriptors more than before",
           open_descriptors() - before);
}

/* Many connections at once to one listener. */
enum {
    BURST = CONTRACT_QUEUE
};

struct burst {
    struct step accept;
    struct lm_socket *listener, *accepted[BURST];
    int count;
};

static void burst_accepted(struct step *step)
{
    struct burst *burst = step->context;
    EXPECT_RESULT(step, 0);
    if (++burst->count < BURST) {
        start_accept(step, burst->listener, &burst->accepted[burst->count]);
    }
}

static void many_connections_at_once_are_all_accepted(struct contract *t)
{
    struct burst burst = {.count = 0};
    struct address address;
    struct step *connects = contract_alloc(t, BURST * sizeof *connects);
    burst.listener = open_listener(t, BURST, &address);
    if (!burst.listener) {
        return;
    }
    step_init(t, &burst.accept, burst_accepted, &burst);
    start_accept(&burst.accept, burst.listener, &burst.accepted[0]);
    for (int i = 0; i < BURST; i++) {
        struct lm_socket *client = open_socket(t, raw_socket(t));
        if (!client) {
            return;
        }
        step_init(t, &connects[i], NULL, NULL);
        start_connect(&connects[i], client, address_of(&address), address.bytes);
    }
    RUN_LOOP(t);
    EXPECT(t, burst.count == BURST, "%d accepted", burst.count);
    for (int i = 0; i < BURST; i++) {
        EXPECT_RESULT(&connects[i], 0);
        for (int j = 0; j < i; j++) {
            EXPECT(t, burst.accepted[i] != burst.accepted[j], "one socket for two connections");
        }
    }
}

const struct contract_test contract_connections[] = {
    {"accept and connect meet", 2, ALSO_LOCAL, accept_and_connect_meet},
    {"an accept waits for a later connection", 2, ALSO_LOCAL,
     an_accept_waits_for_a_later_connection},
    {"a connection that waited is accepted", 2, ALSO_LOCAL, a_connection_that_waited_is_accepted},
    {"bytes sent before the accept are not lost", 3, ALSO_LOCAL,
     bytes_sent_before_the_accept_are_not_lost},
    {"new connections can be used in their completions", 2, ALSO_LOCAL,
     new_connections_can_be_used_in_their_completions},
    {"a refused connection is an error", 9, ALSO_LOCAL, a_refused_connection_is_an_error},
    {"connecting to a path that is not there is an error", 9, ALSO_LOCAL,
     connecting_to_a_path_that_is_not_there_is_an_error},
    {"an accept without descriptors fails and the next one works", 9, ALSO_LOCAL,
     an_accept_without_descriptors_fails_and_the_next_one_works},
    {"many laps of connect and close keep nothing", 5, ALSO_LOCAL,
     many_laps_of_connect_and_close_keep_nothing},
    {"many connections at once are all accepted", 2, ALSO_LOCAL | NEEDS_QUEUE,
     many_connections_at_once_are_all_accepted},
    {NULL, 0, 0, NULL},
};
