/* The reactor backend behaves as Asio does where the contract leaves it open, and keeps the
 * contract where its design makes that hard. What every backend does is in the contract tests. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "backends/clock.h"
#include "backends/reactor_timers.h"
#include "tests/reactor_testing.h"

static void no_completion_runs_inside_a_starting_call(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct lm_socket *pair[2];
    struct probe send = new_probe(), recv = new_probe(), post = new_probe(), timer = new_probe();
    char buffer[8];

    open_pair(loop, unix_pair, pair);
    reactor->send(pair[0], &send.op, "x", 1);
    reactor->recv(pair[1], &recv.op, buffer, sizeof(buffer));
    reactor->post(loop, &post.op);
    reactor->timer(loop, &timer.op, 0);
    assert_int_equal(send.completions + recv.completions + post.completions + timer.completions, 0);
    assert_int_equal(counters_of(loop).speculative_hits, 2);

    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(send.completions, 1);
    assert_int_equal(send.result, 1);
    assert_int_equal(recv.completions, 1);
    assert_int_equal(recv.result, 1);
    assert_int_equal(post.completions, 1);
    assert_int_equal(timer.completions, 1);
    reactor->loop_destroy(loop);
}

static void more_ready_sockets_than_one_poll_returns_all_complete(void **state)
{
    (void)state;
    enum {
        PAIRS = 129
    };
    struct lm_loop *loop = open_loop("reactor", 1, false);
    static struct probe recvs[PAIRS];
    static char buffers[PAIRS];
    int fds[PAIRS][2];
    struct lm_socket *sockets[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        recvs[i] = new_probe();
        unix_pair(fds[i]);
        assert_int_equal(reactor->socket_open(loop, fds[i][0], 0, &sockets[i]), 0);
        reactor->recv(sockets[i], &recvs[i].op, &buffers[i], 1);
    }
    assert_int_equal(counters_of(loop).speculative_misses, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(write(fds[i][1], "x", 1), 1);
    }
    assert_int_equal(reactor->loop_run(loop), 0);
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(recvs[i].completions, 1);
        assert_int_equal(recvs[i].result, 1);
        close(fds[i][1]);
    }
    /* 128 events, then those of the interrupter or the last socket. */
    assert_int_equal(counters_of(loop).syscalls[LM_SYS_EPOLL_WAIT], 2);
    assert_int_equal(counters_of(loop).syscalls[LM_SYS_RECV], 2 * PAIRS);
    reactor->loop_destroy(loop);
}

static void *run_loop(void *loop)
{
    return (void *)(intptr_t)reactor->loop_run(loop);
}

static void wait_for_waits(struct lm_loop *loop, uint64_t waits)
{
    while (counters_of(loop).waits < waits) {
        usleep(100);
    }
}

static void stop_wakes_every_thread(void **state)
{
    (void)state;
    enum {
        THREADS = 4
    };
    struct lm_loop *loop = open_loop("reactor", THREADS, false);
    struct probe timer = new_probe();
    pthread_t threads[THREADS];

    reactor->timer(loop, &timer.op, HOUR_NS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, run_loop, loop);
    }
    wait_for_waits(loop, 2);
    reactor->loop_stop(loop);
    for (int i = 0; i < THREADS; i++) {
        void *rc;
        pthread_join(threads[i], &rc);
        assert_null(rc);
    }
    assert_int_equal(timer.completions, 0);
    assert_int_equal(reactor->loop_run(loop), 0); /* final: returns although work is outstanding */
    reactor->loop_destroy(loop);
}

static void run_returns_without_work_and_runs_again_with_new_work(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct probe post = new_probe();

    assert_int_equal(reactor->loop_run(loop), 0);
    for (int i = 1; i <= 3; i++) {
        reactor->post(loop, &post.op);
        assert_int_equal(reactor->loop_run(loop), 0);
        assert_int_equal(post.completions, i);
    }
    reactor->loop_destroy(loop);
}

static void a_post_to_a_sleeping_loop_costs_one_epoll_ctl(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct probe timer = new_probe(), post = new_probe();
    pthread_t thread;

    reactor->timer(loop, &timer.op, HOUR_NS);
    pthread_create(&thread, NULL, run_loop, loop);
    /* The first poll finds the interrupter, which is readable from the start; the second sleeps. */
    wait_for_waits(loop, 2);
    struct lm_counters before = counters_of(loop);
    reactor->post(loop, &post.op);
    wait_for_waits(loop, 3);
    struct lm_counters after = counters_of(loop);
    reactor->loop_stop(loop);
    pthread_join(thread, NULL);

    assert_int_equal(post.completions, 1);
    assert_int_equal(after.syscalls[LM_SYS_EPOLL_CTL] - before.syscalls[LM_SYS_EPOLL_CTL], 1);
    assert_int_equal(after.wakeups - before.wakeups, 1);
    assert_int_equal(after.syscalls[LM_SYS_WRITE] - before.syscalls[LM_SYS_WRITE], 0);
    assert_int_equal(after.syscalls[LM_SYS_READ], 0);
    reactor->loop_destroy(loop);
}

/* An operation whose completion waits until it may end. */
struct gate {
    struct lm_op op;
    atomic_bool entered, may_leave;
};

static void gate_done(struct lm_op *op, int64_t result)
{
    struct gate *gate = (struct gate *)op;

    (void)result;
    atomic_store(&gate->entered, true);
    while (!atomic_load(&gate->may_leave)) {
        usleep(100);
    }
}

static void a_post_to_a_busy_loop_costs_no_system_call(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct gate gate = {.op.done = gate_done};
    struct probe posts[3] = {new_probe(), new_probe(), new_probe()};
    pthread_t thread;

    reactor->post(loop, &gate.op);
    pthread_create(&thread, NULL, run_loop, loop);
    while (!atomic_load(&gate.entered)) {
        usleep(100);
    }
    struct lm_counters before = counters_of(loop);
    for (int i = 0; i < 3; i++) {
        reactor->post(loop, &posts[i].op);
    }
    struct lm_counters after = counters_of(loop);
    atomic_store(&gate.may_leave, true);
    pthread_join(thread, NULL);

    assert_memory_equal(&before, &after, sizeof(before));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(posts[i].completions, 1);
    }
    reactor->loop_destroy(loop);
}

static void cancelling_the_earliest_timer_leaves_the_timerfd_and_the_others(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct probe early = new_probe(), late = new_probe();
    uint64_t started_ns = lm_clock_ns();

    reactor->timer(loop, &late.op, 30000000);
    reactor->timer(loop, &early.op, 10000000);
    assert_int_equal(counters_of(loop).syscalls[LM_SYS_TIMER_SET], 2);
    reactor->cancel(loop, &early.op);
    reactor->cancel(loop, &early.op);
    assert_int_equal(counters_of(loop).syscalls[LM_SYS_TIMER_SET], 2);
    assert_int_equal(early.completions, 0);

    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(early.completions, 1);
    assert_int_equal(early.result, -ECANCELED);
    assert_int_equal(late.completions, 1);
    assert_int_equal(late.result, 0);
    assert_true(lm_clock_ns() - started_ns >= 30000000);
    reactor->loop_destroy(loop);
}

static void the_heap_gives_timers_back_in_the_order_of_their_due_times(void **state)
{
    (void)state;
    enum {
        TIMERS = 1000
    };
    struct lm_reactor_timers timers = {0};
    struct lm_reactor_queue due = {0};
    static struct lm_reactor_op ops[TIMERS];
    static bool removed[TIMERS];
    uint32_t random = 1;

    for (int i = 0; i < TIMERS; i++) {
        int when = i * 777 % TIMERS; /* each due time once, not in order */
        assert_true(lm_reactor_timers_add(&timers, &ops[when], (uint64_t)when) >= 0);
    }
    for (int i = 0; i < TIMERS; i++) {
        random = random * 1664525 + 1013904223;
        int victim = (int)((random >> 8) % TIMERS);
        assert_int_equal(lm_reactor_timers_remove(&timers, &ops[victim]), !removed[victim]);
        removed[victim] = true;
    }
    lm_reactor_timers_take_due(&timers, TIMERS / 2, &due);
    lm_reactor_timers_take_due(&timers, TIMERS, &due);
    for (int i = 0; i < TIMERS; i++) {
        if (!removed[i]) {
            assert_ptr_equal(lm_reactor_pop(&due), &ops[i].task);
        }
    }
    assert_null(lm_reactor_pop(&due));
    lm_reactor_timers_free(&timers);
}

static void closing_or_cancelling_ends_pending_operations(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct lm_socket *pair[2];
    struct probe closed = new_probe(), cancelled = new_probe();
    char buffers[2];

    open_pair(loop, unix_pair, pair);
    reactor->recv(pair[0], &closed.op, &buffers[0], 1);
    reactor->recv(pair[1], &cancelled.op, &buffers[1], 1);
    reactor->cancel(loop, &cancelled.op);
    reactor->socket_close(pair[0]);
    assert_int_equal(closed.completions + cancelled.completions, 0);
    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(closed.completions, 1);
    assert_int_equal(closed.result, -ECANCELED);
    assert_int_equal(cancelled.completions, 1);
    assert_int_equal(cancelled.result, -ECANCELED);
    reactor->loop_destroy(loop);
}

/* On the first completion closes the other socket, whose event is already in the scheduler's queue,
 * and opens a third one, which takes over the other's memory and descriptor number. What the third
 * one is to receive is written a while later. */
struct takeover {
    struct lm_op op, timer;
    struct lm_loop *loop;
    struct lm_socket *other;
    int fds[2];
    struct probe recv;
    char buffer, received;
};

static void take_over(struct lm_op *op, int64_t result)
{
    struct takeover *takeover = (struct takeover *)op;
    struct lm_socket *third;

    assert_int_equal(result, 1);
    reactor->socket_close(takeover->other);
    unix_pair(takeover->fds);
    assert_int_equal(reactor->socket_open(takeover->loop, takeover->fds[0], 0, &third), 0);
    assert_ptr_equal(third, takeover->other);
    reactor->recv(third, &takeover->recv.op, &takeover->received, 1);
    reactor->timer(takeover->loop, &takeover->timer, 1000000);
}

static void write_to_third(struct lm_op *op, int64_t result)
{
    struct takeover *takeover = (struct takeover *)((char *)op - offsetof(struct takeover, timer));

    assert_int_equal(result, 0);
    assert_int_equal(takeover->recv.completions, 0);
    assert_int_equal(write(takeover->fds[1], "3", 1), 1);
}

static void a_late_event_does_not_complete_the_next_owner_of_a_descriptor(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct takeover takeover = {
        .op.done = take_over, .timer.done = write_to_third, .loop = loop, .recv = new_probe()};
    struct probe other = new_probe();
    int first[2], second[2];
    struct lm_socket *socket;
    char buffer;

    unix_pair(first);
    unix_pair(second);
    assert_int_equal(reactor->socket_open(loop, first[0], 0, &socket), 0);
    assert_int_equal(reactor->socket_open(loop, second[0], 0, &takeover.other), 0);
    reactor->recv(socket, &takeover.op, &takeover.buffer, 1);
    reactor->recv(takeover.other, &other.op, &buffer, 1);
    assert_int_equal(write(first[1], "1", 1), 1);
    assert_int_equal(write(second[1], "2", 1), 1);
    assert_int_equal(reactor->loop_run(loop), 0);

    assert_int_equal(other.result, -ECANCELED);
    assert_int_equal(takeover.recv.completions, 1);
    assert_int_equal(takeover.recv.result, 1);
    assert_int_equal(takeover.received, '3');
    close(first[1]);
    close(second[1]);
    close(takeover.fds[1]);
    reactor->loop_destroy(loop);
}

static void destroying_a_loop_closes_a_connection_that_was_not_handed_over(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct lm_socket *listener, *accepted = NULL;
    struct probe accept = new_probe();
    struct sockaddr_in address;
    int fd = listen_on_loopback(&address);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    char buffer;

    assert_int_equal(reactor->socket_open(loop, fd, 0, &listener), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    reactor->accept(listener, &accept.op, &accepted);
    assert_int_equal(counters_of(loop).speculative_hits, 1);
    reactor->loop_destroy(loop);
    assert_int_equal(recv(client, &buffer, 1, 0), 0);
    assert_null(accepted);
    close(client);
}

static void connecting_to_a_closed_port_is_refused(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", 1, false);
    struct lm_socket *client;
    struct probe connect = new_probe();
    struct sockaddr_in address;

    close(listen_on_loopback(&address));
    assert_int_equal(reactor->socket_open(loop, socket(AF_INET, SOCK_STREAM, 0), 0, &client), 0);
    reactor->connect(client, &connect.op, (struct sockaddr *)&address, sizeof(address));
    assert_int_equal(reactor->loop_run(loop), 0);
    assert_int_equal(connect.completions, 1);
    assert_int_equal(connect.result, -ECONNREFUSED);
    reactor->loop_destroy(loop);
}

static void only_the_safe_hint_allows_several_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"reactor:hint=1", "reactor:hint=unsafe_io",
                                        "reactor:hint=unsafe"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct lm_spec spec;
        struct lm_loop *loop = NULL;
        char error[256];

        assert_int_equal(lm_spec_parse(specs[i], &spec, error, sizeof(error)), 0);
        struct lm_loop_config config = {.threads = 2, .options = spec.options};
        assert_int_equal(reactor->loop_create(&config, &loop), -ENOTSUP);
        config.threads = 1;
        assert_int_equal(reactor->loop_create(&config, &loop), 0);
        reactor->loop_destroy(loop);
    }
}

static void without_free_descriptors_it_says_what_to_raise(void **state)
{
    (void)state;
    struct lm_spec spec;
    struct lm_loop *loop = NULL;
    struct rlimit limit, none;
    char text[256] = "";

    assert_int_equal(lm_spec_parse("reactor", &spec, text, sizeof(text)), 0);
    struct lm_loop_config config = {.threads = 1, .options = spec.options};
    assert_int_equal(reactor->available(spec.options, text, sizeof(text)), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = reactor->available(spec.options, text, sizeof(text));
    int create_rc = reactor->loop_create(&config, &loop);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);

    assert_int_equal(rc, -EMFILE);
    assert_non_null(strstr(text, "epoll_create1"));
    assert_non_null(strstr(text, "ulimit -n"));
    assert_int_equal(create_rc, -EMFILE);
}

enum {
    THREADS = 4
};

static void run_with_threads(struct lm_loop *loop)
{
    pthread_t threads[THREADS];
    void *rc;

    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_loop, loop), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &rc);
        assert_null(rc);
    }
}

static void many_threads_run_many_chains_to_their_end(void **state)
{
    (void)state;
    enum {
        PAIRS = 16,
        ROUND_TRIPS = 200
    };
    struct lm_loop *loop = open_loop("reactor", THREADS, false);
    static struct pingpong chains[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        start_pingpong(loop, &chains[i], i % 2 == 0 ? unix_pair : tcp_pair, ROUND_TRIPS);
    }
    run_with_threads(loop);
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(chains[i].step, chains[i].steps);
    }
    struct lm_counters counters = counters_of(loop);
    assert_int_equal(counters.syscalls[LM_SYS_SEND], 2 * PAIRS * ROUND_TRIPS);
    assert_int_equal(counters.syscalls[LM_SYS_CLOSE], 2 * PAIRS);
    reactor->loop_destroy(loop);
}

/* Three things at once, on whichever threads: a receive and a timer that may end by themselves,
 * and a post that ends them. When all have ended it begins again. */
struct race {
    struct lm_op recv, timer, post;
    struct lm_loop *loop;
    struct lm_socket *socket;
    int peer;
    char buffer;
    atomic_int pending;
    int rounds;
};

static void start_race(struct race *race)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 ||
        reactor->socket_open(race->loop, fds[0], 0, &race->socket) != 0) {
        abort();
    }
    race->peer = fds[1];
    atomic_store(&race->pending, 3);
    reactor->recv(race->socket, &race->recv, &race->buffer, 1);
    reactor->timer(race->loop, &race->timer, 1000 * (uint64_t)(race->rounds % 20));
    if (race->rounds % 2 == 0 && write(race->peer, "x", 1) != 1) {
        abort();
    }
    reactor->post(race->loop, &race->post); /* last: the race may be over before it returns */
}

static void race_part_done(struct race *race, int64_t result, int64_t success)
{
    if (result != success && result != -ECANCELED) {
        abort();
    }
    if (atomic_fetch_sub(&race->pending, 1) == 1) {
        close(race->peer);
        if (--race->rounds > 0) {
            start_race(race);
        }
    }
}

static void race_recv_done(struct lm_op *op, int64_t result)
{
    race_part_done((struct race *)op, result, 1);
}

static void race_timer_done(struct lm_op *op, int64_t result)
{
    race_part_done((struct race *)((char *)op - offsetof(struct race, timer)), result, 0);
}

static void race_post_done(struct lm_op *op, int64_t result)
{
    struct race *race = (struct race *)((char *)op - offsetof(struct race, post));

    reactor->cancel(race->loop, &race->timer);
    if (race->rounds % 3 == 0) {
        reactor->cancel(race->loop, &race->recv);
    }
    reactor->socket_close(race->socket);
    race_part_done(race, result, 0);
}

static void every_operation_ends_once_whoever_cancels_and_closes(void **state)
{
    (void)state;
    enum {
        RACES = 8,
        ROUNDS = 100
    };
    struct lm_loop *loop = open_loop("reactor", THREADS, false);
    static struct race races[RACES];

    for (int i = 0; i < RACES; i++) {
        races[i] = (struct race){.recv.done = race_recv_done,
                                 .timer.done = race_timer_done,
                                 .post.done = race_post_done,
                                 .loop = loop,
                                 .rounds = ROUNDS};
        start_race(&races[i]);
    }
    run_with_threads(loop);
    for (int i = 0; i < RACES; i++) {
        assert_int_equal(races[i].rounds, 0);
    }
    reactor->loop_destroy(loop);
}

/* Each thread posts one operation at a time to one loop, then runs it until nothing is outstanding,
 * which its own post must not be. */
struct poster {
    struct lm_loop *loop;
    int lost;
};

static void *post_and_run(void *argument)
{
    struct poster *poster = argument;

    for (int round = 0; round < 2000 && poster->lost == 0; round++) {
        struct probe post = new_probe();

        reactor->post(poster->loop, &post.op);
        reactor->loop_run(poster->loop);
        poster->lost += post.completions != 1;
    }
    return NULL;
}

static void threads_that_post_and_run_lose_no_post(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("reactor", THREADS, false);
    struct poster posters[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        posters[i] = (struct poster){.loop = loop};
        pthread_create(&threads[i], NULL, post_and_run, &posters[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(posters[i].lost, 0);
    }
    reactor->loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_completion_runs_inside_a_starting_call),
        cmocka_unit_test(more_ready_sockets_than_one_poll_returns_all_complete),
        cmocka_unit_test(stop_wakes_every_thread),
        cmocka_unit_test(run_returns_without_work_and_runs_again_with_new_work),
        cmocka_unit_test(a_post_to_a_sleeping_loop_costs_one_epoll_ctl),
        cmocka_unit_test(a_post_to_a_busy_loop_costs_no_system_call),
        cmocka_unit_test(cancelling_the_earliest_timer_leaves_the_timerfd_and_the_others),
        cmocka_unit_test(the_heap_gives_timers_back_in_the_order_of_their_due_times),
        cmocka_unit_test(closing_or_cancelling_ends_pending_operations),
        cmocka_unit_test(a_late_event_does_not_complete_the_next_owner_of_a_descriptor),
        cmocka_unit_test(destroying_a_loop_closes_a_connection_that_was_not_handed_over),
        cmocka_unit_test(connecting_to_a_closed_port_is_refused),
        cmocka_unit_test(only_the_safe_hint_allows_several_threads),
        cmocka_unit_test(without_free_descriptors_it_says_what_to_raise),
        cmocka_unit_test(many_threads_run_many_chains_to_their_end),
        cmocka_unit_test(every_operation_ends_once_whoever_cancels_and_closes),
        cmocka_unit_test(threads_that_post_and_run_lose_no_post),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
