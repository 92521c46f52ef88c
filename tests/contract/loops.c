/* loops.c - posting, running, stopping and destroying (rules 2, 6, 7 and 9). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* --- nothing completes where it is started
 * ---------------------------------------------------------- */

/* One of each kind of operation, all of which could succeed at once. */
struct medley {
    struct step recv, send, accept, connect, post, timer;
    struct lm_socket *ends[2], *listener, *client, *accepted;
    struct address address;
    uint8_t buffer[16];
};

static void start_medley(struct step *step)
{
    struct medley *medley = step->context;
    start_recv(&medley->recv, medley->ends[0], medley->buffer, sizeof medley->buffer);
    start_send(&medley->send, medley->ends[0], "x", 1);
    start_connect(&medley->connect, medley->client, address_of(&medley->address),
                  medley->address.bytes);
    start_accept(&medley->accept, medley->listener, &medley->accepted);
    start_post(&medley->post);
    start_timer(&medley->timer, 0);
}

static struct medley *open_medley(struct contract *t)
{
    struct medley *medley = contract_alloc(t, sizeof *medley);
    struct step *steps[] = {&medley->recv,    &medley->send, &medley->accept,
                            &medley->connect, &medley->post, &medley->timer};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        step_init(t, steps[i], NULL, medley);
    }
    int fds[2];
    if (raw_pair(t, fds) || raw_send(t, fds[1], 4, 1, 0)) {
        return NULL;
    }
    medley->ends[0] = open_socket(t, fds[0]);
    medley->ends[1] = open_socket(t, fds[1]);
    medley->listener = open_socket(t, raw_listener(t, 8, &medley->address));
    medley->client = open_socket(t, raw_socket(t));
    return t->failed ? NULL : medley;
}

static void expect_medley(struct medley *medley)
{
    EXPECT_RESULT(&medley->recv, 4);
    EXPECT_RESULT(&medley->send, 1);
    EXPECT_RESULT(&medley->accept, 0);
    EXPECT_RESULT(&medley->connect, 0);
    EXPECT_RESULT(&medley->post, 0);
    EXPECT_RESULT(&medley->timer, 0);
}

static void nothing_completes_before_the_loop_runs(struct contract *t)
{
    struct medley *medley = open_medley(t);
    if (!medley) {
        return;
    }
    start_medley(&(struct step){.context = medley});
    EXPECT(t, contract_outstanding(t) == 6, "%d of 6 outstanding", contract_outstanding(t));
    RUN_LOOP(t);
    expect_medley(medley);
}

static void nothing_completes_inside_a_completion_that_starts_it(struct contract *t)
{
    struct medley *medley = open_medley(t);
    struct step post;
    if (!medley) {
        return;
    }
    step_init(t, &post, start_medley, medley);
    start_post(&post);
    RUN_LOOP(t);
    expect_medley(medley);
}

/* --- running
 * ---------------------------------------------------------------------------------------- */

static void running_with_nothing_to_do_returns(struct contract *t)
{
    RUN_LOOP(t);
    RUN_LOOP(t);
}

static void open_sockets_alone_do_not_keep_a_loop_running(struct contract *t)
{
    struct lm_socket *ends[2];
    if (loop_pair(t, ends)) {
        return;
    }
    RUN_LOOP(t);
}

static void a_loop_runs_again_after_it_was_idle(struct contract *t)
{
    struct step post, timer;
    step_init(t, &post, NULL, NULL);
    step_init(t, &timer, NULL, NULL);
    for (unsigned i = 1; i <= 20; i++) {
        start_post(&post);
        start_timer(&timer, MILLISECOND_NS / 10);
        RUN_LOOP(t);
        EXPECT(t, post.completions == i && timer.completions == i, "%u and %u completions of %u",
               post.completions, timer.completions, i);
    }
}

static void post_again(struct step *step)
{
    if (step->completions < 10000) {
        start_post(step);
    }
}

static void an_operation_can_be_started_again_in_its_completion(struct contract *t)
{
    struct step post;
    step_init(t, &post, post_again, NULL);
    start_post(&post);
    RUN_LOOP(t);
    EXPECT(t, post.completions == 10000, "%u completions", post.completions);
}

static void expect_next(struct step *step)
{
    uintptr_t *next = step->context;
    struct step *first = (struct step *)*next;
    EXPECT(step->test, step == first, "a post that was %td places ahead of its turn", step - first);
    *next = (uintptr_t)(first + 1);
}

static void posts_complete_in_order(struct contract *t)
{
    enum {
        POSTS = 10000
    };
    struct step *posts = contract_alloc(t, POSTS * sizeof *posts);
    uintptr_t next = (uintptr_t)posts;
    for (int i = 0; i < POSTS; i++) {
        step_init(t, &posts[i], expect_next, &next);
        start_post(&posts[i]);
    }
    RUN_LOOP(t);
    EXPECT(t, next == (uintptr_t)(posts + POSTS), "fewer completions");
}

static void cancel_recv_after_signals(struct step *step)
{
    cancel_step(step->context);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void *signal_main(void *context)
{
    pthread_t *target = context;
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        pthread_kill(*target, SIGUSR1);
    }
    return NULL;
}

static void a_signal_does_not_end_a_run(struct contract *t)
{
    struct sigaction action = {.sa_handler = ignore_signal}; /* no SA_RESTART: waits get EINTR */
    struct lm_socket *socket;
    struct step recv, timer;
    pthread_t self = pthread_self(), sender;
    int peer;
    uint8_t buffer[16];
    sigaction(SIGUSR1, &action, NULL);
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    step_init(t, &recv, NULL, NULL);
    step_init(t, &timer, cancel_recv_after_signals, &recv);
    start_recv(&recv, socket, buffer, sizeof buffer);
    start_timer(&timer, 40 * MILLISECOND_NS);
    pthread_create(&sender, NULL, signal_main, &self);
    contract_loop(t);
    pthread_join(sender, NULL);
    EXPECT_RESULT(&timer, 0);
    EXPECT_RESULT(&recv, -ECANCELED);
}

/* --- stopping
 * --------------------------------------------------------------------------------------- */

/* Work that would keep a loop running for an hour. */
struct endless {
    struct lm_socket *socket;
    struct step recv, timer;
    int peer;
    uint8_t buffer[16];
};

static struct endless *start_endless(struct contract *t)
{
    struct endless *endless = contract_alloc(t, sizeof *endless);
    if (half_pair(t, &endless->socket, &endless->peer)) {
        return NULL;
    }
    step_init(t, &endless->recv, NULL, endless);
    step_init(t, &endless->timer, NULL, endless);
    start_recv(&endless->recv, endless->socket, endless->buffer, sizeof endless->buffer);
    start_timer(&endless->timer, HOUR_NS);
    return endless;
}

static void a_loop_stopped_before_it_runs_returns(struct contract *t)
{
    if (start_endless(t)) {
        contract_stop(t);
        RUN_LOOP(t);
    }
}

static void stop_now(struct step *step)
{
    contract_stop(step->test);
}

static void a_completion_can_stop_the_loop_for_good(struct contract *t)
{
    struct step *timer = contract_alloc(t, sizeof *timer);
    if (!start_endless(t)) {
        return;
    }
    step_init(t, timer, stop_now, NULL);
    start_timer(timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(timer, 0);
    RUN_LOOP(t); /* final: the next run returns too, with work left */
}

static void *stop_from_outside(void *context)
{
    struct contract *t = context;
    usleep(5000);
    t->backend->loop_stop(t->loop);
    return NULL;
}

static void another_thread_can_stop_a_loop_that_sleeps(struct contract *t)
{
    pthread_t stopper;
    if (!start_endless(t)) {
        return;
    }
    t->stopped = true;
    pthread_create(&stopper, NULL, stop_from_outside, t);
    contract_loop(t);
    pthread_join(stopper, NULL);
}

/* --- posting from outside
 * --------------------------------------------------------------------------- */

enum {
    POSTERS = 8,
    POSTS_EACH = 1000
};

struct poster {
    struct contract *test;
    pthread_t thread;
    struct step *posts;
    struct step *next; /* expected next, where order is promised */
    int *left;
    struct step *recv;
};

static void outside_post_done(struct step *step)
{
    struct poster *poster = step->context;
    EXPECT_RESULT(step, 0);
    if (step->test->subject->threads == 1) {
        EXPECT(step->test, step == poster->next, "posts of one thread out of order");
    }
    poster->next++;
    if (--*poster->left == 0) {
        cancel_step(poster->recv); /* the loop has nothing else to wait for */
    }
}

static void *post_many(void *context)
{
    struct poster *poster = context;
    for (int i = 0; i < POSTS_EACH; i++) {
        start_post(&poster->posts[i]);
        if (i % 100 == 0) {
            usleep(200); /* lets the loop fall asleep in between */
        }
    }
    return NULL;
}

static void eight_threads_can_post_to_a_loop_that_sleeps(struct contract *t)
{
    struct poster *posters = contract_alloc(t, POSTERS * sizeof *posters);
    struct endless *endless = contract_alloc(t, sizeof *endless);
    int left = POSTERS * POSTS_EACH;
    if (half_pair(t, &endless->socket, &endless->peer)) {
        return;
    }
    step_init(t, &endless->recv, NULL, NULL);
    start_recv(&endless->recv, endless->socket, endless->buffer, sizeof endless->buffer);
    for (int i = 0; i < POSTERS; i++) {
        struct poster *poster = &posters[i];
        poster->test = t;
        poster->posts = contract_alloc(t, POSTS_EACH * sizeof *poster->posts);
        poster->next = poster->posts;
        poster->left = &left;
        poster->recv = &endless->recv;
        for (int j = 0; j < POSTS_EACH; j++) {
            step_init(t, &poster->posts[j], outside_post_done, poster);
        }
    }
    for (int i = 0; i < POSTERS; i++) {
        pthread_create(&posters[i].thread, NULL, post_many, &posters[i]);
    }
    contract_loop(t);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
    }
    EXPECT(t, left == 0, "%d posts lost", left);
    EXPECT_RESULT(&endless->recv, -ECANCELED);
}

/* One post at a time, each when the one before it is known to be done: every one must wake. */
struct knock {
    struct step post;
    struct step *recv;
    atomic_uint answered;
};

static void answer_knock(struct step *step)
{
    struct knock *knock = step->context;
    if (step->completions == 300) {
        cancel_step(knock->recv);
    }
    atomic_store(&knock->answered, step->completions);
}

static void *keep_knocking(void *context)
{
    struct knock *knock = context;
    for (unsigned i = 0; i < 300; i++) {
        if (i % 8 == 0) {
            usleep(300);
        }
        start_post(&knock->post);
        while (atomic_load(&knock->answered) <= i && !knock->post.test->failed) {
            usleep(1);
        }
    }
    return NULL;
}

static void every_post_wakes_a_loop_that_sleeps(struct contract *t)
{
    struct knock *knock = contract_alloc(t, sizeof *knock);
    struct endless *endless = contract_alloc(t, sizeof *endless);
    pthread_t thread;
    if (half_pair(t, &endless->socket, &endless->peer)) {
        return;
    }
    step_init(t, &endless->recv, NULL, NULL);
    step_init(t, &knock->post, answer_knock, knock);
    knock->recv = &endless->recv;
    start_recv(&endless->recv, endless->socket, endless->buffer, sizeof endless->buffer);
    pthread_create(&thread, NULL, keep_knocking, knock);
    contract_loop(t);
    pthread_join(thread, NULL);
    EXPECT(t, knock->post.completions == 300, "%u of 300 posts", knock->post.completions);
}

/* --- destroying
 * ------------------------------------------------------------------------------------- */

static void destroying_a_loop_that_never_ran_forgets_its_work(struct contract *t)
{
    struct medley *medley = open_medley(t);
    if (!medley || !start_endless(t)) {
        return;
    }
    start_medley(&(struct step){.context = medley});
    contract_destroy_loop(t, t->loop);
    EXPECT(t, contract_outstanding(t) == 8, "%d of 8 outstanding", contract_outstanding(t));
}

static void stop_with_medley(struct step *step)
{
    start_medley(step);
    contract_stop(step->test);
}

static void destroying_a_stopped_loop_forgets_its_work(struct contract *t)
{
    struct medley *medley = open_medley(t);
    struct step *timer = contract_alloc(t, sizeof *timer);
    if (!medley || !start_endless(t)) {
        return;
    }
    step_init(t, timer, stop_with_medley, medley);
    start_timer(timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
}

static void destroying_a_loop_closes_its_sockets(struct contract *t)
{
    struct lm_socket *socket;
    int peer;
    char byte;
    if (half_pair(t, &socket, &peer)) {
        return;
    }
    contract_destroy_loop(t, t->loop);
    ssize_t got = recv(peer, &byte, 1, 0);
    EXPECT(t, got == 0, "the peer received %zd", got);
}

static void a_loop_that_can_not_be_made_leaves_nothing(struct contract *t)
{
    int limit = descriptor_limit();
    int before = open_descriptors();
    int free_fd = dup(0);
    close(free_fd);
    for (int spare = 0; spare < 8; spare++) {
        struct lm_loop_config config = {.threads = t->subject->threads,
                                        .lockless = t->subject->lockless,
                                        .options = t->subject->options};
        struct lm_loop *loop = NULL;
        set_descriptor_limit(free_fd + spare);
        int result = t->backend->loop_create(&config, &loop);
        if (result == 0) {
            t->backend->loop_destroy(loop);
        }
        set_descriptor_limit(limit);
        EXPECT(t, result <= 0, "loop_create returned %d", result);
        EXPECT(t, result == 0 || loop == NULL, "a failed loop_create set the loop");
        EXPECT(t, open_descriptors() == before, "%d descriptors left by a loop_create with %d free",
               open_descriptors() - before, spare);
    }
}

/* --- two loops
 * -------------------------------------------------------------------------------------- */

static void two_loops_take_turns_on_one_thread(struct contract *t)
{
    struct step here, there;
    struct lm_loop *other = contract_new_loop(t);
    if (!other) {
        return;
    }
    step_init(t, &here, NULL, NULL);
    step_init(t, &there, NULL, NULL);
    for (unsigned i = 1; i <= 3; i++) {
        start_timer(&here, MILLISECOND_NS);
        start_timer_on(&there, other, MILLISECOND_NS);
        EXPECT(t, contract_run_here(t, t->loop) == 0, "an error from loop_run");
        EXPECT(t, here.completions == i && there.completions == i - 1,
               "%u and %u completions after %u runs of the first", here.completions,
               there.completions, i);
        EXPECT(t, contract_run_here(t, other) == 0, "an error from loop_run");
        EXPECT(t, there.completions == i, "%u completions", there.completions);
    }
}

/* Ping-pong between two loops on two threads. */
struct end {
    struct step send, recv;
    struct lm_socket *socket;
    uint8_t out, in;
    int rounds;
};

static void end_received(struct step *step)
{
    struct end *end = step->context;
    EXPECT_RESULT(step, 1);
    EXPECT(step->test, end->in == (uint8_t)end->rounds, "byte %u in round %d", end->in,
           end->rounds);
    if (++end->rounds < 500) {
        end->out = (uint8_t)end->rounds;
        start_send(&end->send, end->socket, &end->out, 1);
    }
}

static void end_sent(struct step *step)
{
    struct end *end = step->context;
    EXPECT_RESULT(step, 1);
    start_recv(&end->recv, end->socket, &end->in, 1);
}

static void echo_received(struct step *step)
{
    struct end *end = step->context;
    EXPECT_RESULT(step, 1);
    end->out = end->in;
    start_send(&end->send, end->socket, &end->out, 1);
}

static void echo_sent(struct step *step)
{
    struct end *end = step->context;
    EXPECT_RESULT(step, 1);
    if (++end->rounds < 500) {
        start_recv(&end->recv, end->socket, &end->in, 1);
    }
}

static void *run_second_loop(void *context)
{
    struct contract *t = context;
    int result = contract_run_here(t, t->loops[1]);
    if (result) {
        contract_fail(t, __FILE__, __LINE__, "loop_run to return 0", "%d", result);
    }
    return NULL;
}

static void two_loops_on_two_threads_talk(struct contract *t)
{
    struct end client = {.rounds = 0}, server = {.rounds = 0};
    pthread_t thread;
    int fds[2];
    struct lm_loop *other = contract_new_loop(t);
    if (!other || raw_pair(t, fds)) {
        return;
    }
    client.socket = open_socket_on(t, t->loop, fds[0], 0);
    server.socket = open_socket_on(t, other, fds[1], 0);
    if (!client.socket || !server.socket) {
        return;
    }
    step_init(t, &client.send, end_sent, &client);
    step_init(t, &client.recv, end_received, &client);
    step_init(t, &server.send, echo_sent, &server);
    step_init(t, &server.recv, echo_received, &server);
    start_recv(&server.recv, server.socket, &server.in, 1);
    start_send(&client.send, client.socket, &client.out, 1);
    pthread_create(&thread, NULL, run_second_loop, t);
    contract_run_here(t, t->loop);
    pthread_join(thread, NULL);
    EXPECT(t, client.rounds == 500 && server.rounds == 500, "%d and %d rounds", client.rounds,
           server.rounds);
}

const struct contract_test contract_loops[] = {
    {"nothing completes before the loop runs", 2, ALSO_LOCAL,
     nothing_completes_before_the_loop_runs},
    {"nothing completes inside a completion that starts it", 2, ALSO_LOCAL,
     nothing_completes_inside_a_completion_that_starts_it},
    {"running with nothing to do returns", 7, 0, running_with_nothing_to_do_returns},
    {"open sockets alone do not keep a loop running", 7, 0,
     open_sockets_alone_do_not_keep_a_loop_running},
    {"a loop runs again after it was idle", 7, 0, a_loop_runs_again_after_it_was_idle},
    {"an operation can be started again in its completion", 2, 0,
     an_operation_can_be_started_again_in_its_completion},
    {"posts complete in order", 2, ONE_THREAD, posts_complete_in_order},
    {"a signal does not end a run", 9, 0, a_signal_does_not_end_a_run},
    {"a loop stopped before it runs returns", 7, 0, a_loop_stopped_before_it_runs_returns},
    {"a completion can stop the loop for good", 7, 0, a_completion_can_stop_the_loop_for_good},
    {"another thread can stop a loop that sleeps", 6, NEEDS_OUTSIDE,
     another_thread_can_stop_a_loop_that_sleeps},
    {"eight threads can post to a loop that sleeps", 6, NEEDS_OUTSIDE,
     eight_threads_can_post_to_a_loop_that_sleeps},
    {"every post wakes a loop that sleeps", 6, NEEDS_OUTSIDE, every_post_wakes_a_loop_that_sleeps},
    {"destroying a loop that never ran forgets its work", 7, ALSO_LOCAL,
     destroying_a_loop_that_never_ran_forgets_its_work},
    {"destroying a stopped loop forgets its work", 7, ALSO_LOCAL,
     destroying_a_stopped_loop_forgets_its_work},
    {"destroying a loop closes its sockets", 7, ALSO_LOCAL, destroying_a_loop_closes_its_sockets},
    {"a loop that can not be made leaves nothing", 9, 0,
     a_loop_that_can_not_be_made_leaves_nothing},
    {"two loops take turns on one thread", 7, ONE_THREAD, two_loops_take_turns_on_one_thread},
    {"two loops on two threads talk", 6, NEEDS_LOOPS | ALSO_LOCAL, two_loops_on_two_threads_talk},
    {NULL, 0, 0, NULL},
};
