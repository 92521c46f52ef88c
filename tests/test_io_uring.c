/* What the io_uring backend does its own way: how often it enters the kernel, what it holds back,
 * and that nothing in the ring outlives what it refers to. What every backend does is in the
 * contract tests. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "tests/io_uring_testing.h"

#ifdef LM_HAVE_LIBURING

/* Client sends, server receives, server sends, client receives; each step starts the next. */
struct pingpong {
    struct lm_op op;
    struct lm_socket *sockets[2];
    char buffer[64];
    int step, steps; /* 4 for each round trip */
    bool failed;
};

static void pingpong_step(struct pingpong *chain)
{
    static const int socket_of_step[4] = {0, 1, 1, 0};
    struct lm_socket *socket = chain->sockets[socket_of_step[chain->step % 4]];

    if (chain->step == chain->steps) {
        return;
    }
    if (chain->step % 2 == 0) {
        ring->send(socket, &chain->op, chain->buffer, sizeof(chain->buffer));
    } else {
        ring->recv(socket, &chain->op, chain->buffer, sizeof(chain->buffer));
    }
}

static void pingpong_done(struct lm_op *op, int64_t result)
{
    struct pingpong *chain = (struct pingpong *)op;

    chain->failed |= result != (int64_t)sizeof(chain->buffer);
    chain->step++;
    pingpong_step(chain);
}

static void open_pingpong(struct lm_loop *loop, struct pingpong *chain, void (*pair)(int fds[2]))
{
    int fds[2];

    *chain = (struct pingpong){.op.done = pingpong_done};
    pair(fds);
    chain->sockets[0] = give(loop, fds[0]);
    chain->sockets[1] = give(loop, fds[1]);
}

static void run_pingpong(struct lm_loop *loop, struct pingpong *chains, int count, int round_trips)
{
    for (int i = 0; i < count; i++) {
        chains[i].step = 0;
        chains[i].steps = 4 * round_trips;
        pingpong_step(&chains[i]);
    }
    assert_int_equal(ring->loop_run(loop), 0);
    for (int i = 0; i < count; i++) {
        assert_int_equal(chains[i].step, 4 * round_trips);
        assert_false(chains[i].failed);
    }
}

enum {
    ROUND_TRIPS = 100
};

/* Calls of one kind that ROUND_TRIPS round trips of `count` pairs make, when all has settled. */
static uint64_t calls_of_pingpong(const char *text, int count, enum lm_syscall kind)
{
    struct lm_loop *loop = open_loop(text, false);
    static struct pingpong chains[64];

    for (int i = 0; i < count; i++) {
        open_pingpong(loop, &chains[i], i % 2 ? unix_pair : tcp_pair);
    }
    run_pingpong(loop, chains, count, ROUND_TRIPS);
    uint64_t before = calls_of(loop, kind);
    run_pingpong(loop, chains, count, ROUND_TRIPS);
    uint64_t calls = calls_of(loop, kind) - before;
    ring->loop_destroy(loop);
    return calls;
}

static void a_round_trip_enters_the_kernel_once_for_each_operation(void **state)
{
    (void)state;
    assert_int_equal(calls_of_pingpong("io_uring", 1, LM_SYS_RING_ENTER), 4 * ROUND_TRIPS);
}

static void round_trips_side_by_side_share_their_enters(void **state)
{
    (void)state;
    /* All are in step: a turn moves each by an operation. */
    assert_in_range(calls_of_pingpong("io_uring", 16, LM_SYS_RING_ENTER), 1, 5 * ROUND_TRIPS);
    assert_int_equal(calls_of_pingpong("io_uring", 16, LM_SYS_SEND), 0);
}

static void hybrid_enters_nothing_when_all_completes_at_once(void **state)
{
    (void)state;
    assert_int_equal(calls_of_pingpong("io_uring:hybrid=1", 1, LM_SYS_RING_ENTER), 0);
    assert_int_equal(calls_of_pingpong("io_uring:hybrid=1", 1, LM_SYS_SEND), 2 * ROUND_TRIPS);
    assert_int_equal(calls_of_pingpong("io_uring:hybrid=1", 1, LM_SYS_RECV), 2 * ROUND_TRIPS);
}

static void hybrid_leaves_long_turns_to_the_ring(void **state)
{
    (void)state;
    assert_int_equal(calls_of_pingpong("io_uring:hybrid=1,hybrid_max=7", 8, LM_SYS_SEND), 0);
    assert_int_equal(calls_of_pingpong("io_uring:hybrid=1,hybrid_max=8", 8, LM_SYS_SEND),
                     8 * 2 * ROUND_TRIPS);
}

static void a_hybrid_miss_is_counted_and_completes_through_the_ring(void **state)
{
    (void)state;
    struct lm_loop *loop = open_loop("io_uring:hybrid=1,order=eager", false);
    struct probe recv = new_probe(), send = new_probe();
    struct lm_socket *sockets[2];
    int fds[2];
    char byte = 0;

    unix_pair(fds);
    sockets[0] = give(loop, fds[0]);
    sockets[1] = give(loop, fds[1]);
    ring->recv(sockets[0], &recv.op, &byte, 1);
    ring->send(sockets[1], &send.op, "x", 1);
    assert_int_equal(ring->loop_run(loop), 0);
    ASSERT_ENDED(recv, 1);
    ASSERT_ENDED(send, 1);
    assert_int_equal(byte, 'x');
    assert_int_equal(counters_of(loop).speculative_hits, 1);
    assert_int_equal(counters_of(loop).speculative_misses, 1);
    ring->loop_destroy(loop);
}

/* Sends wait for what was started before them only in the order that the user asked for. */
static void order_two_phase_lets_a_send_overtake_an_earlier_receive(void **state)
{
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        struct lm_loop *loop =
            open_loop(eager ? "io_uring:hybrid=1,order=eager" : "io_uring:hybrid=1", false);
        struct probe recv = new_probe(), send = new_probe();
        int fds[2];
        char byte;

        unix_pair(fds);
        struct lm_socket *reader = give(loop, fds[0]), *writer = give(loop, fds[1]);
        ring->recv(reader, &recv.op, &byte, 1);
        ring->send(writer, &send.op, "x", 1);
        assert_int_equal(ring->loop_run(loop), 0);
        assert_int_equal(counters_of(loop).speculative_misses, eager);
        ring->loop_destroy(loop);
    }
}

/* Many. */

enum {
    CROWD = 20000
};

/* Pairs of sockets, as many as the limit on descriptors allows, up to CROWD descriptors. */
static int crowd_pairs(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return (int)((limit.rlim_cur < CROWD + 100 ? limit.rlim_cur - 100 : CROWD) / 2);
}

/* A receive waits on each end of each pair; then each end sends, and all complete. */
static uint64_t enters_of_crowd(const char *text)
{
    static struct probe recvs[CROWD], sends[CROWD];
    static struct lm_socket *sockets[CROWD];
    static char bytes[CROWD];
    struct lm_loop *loop = open_loop(text, false);
    int count = 2 * crowd_pairs();

    for (int i = 0; i < count; i += 2) {
        int fds[2];
        unix_pair(fds);
        sockets[i] = give(loop, fds[0]);
        sockets[i + 1] = give(loop, fds[1]);
    }
    for (int i = 0; i < count; i++) {
        recvs[i] = sends[i] = new_probe();
        bytes[i] = 0;
        ring->recv(sockets[i], &recvs[i].op, &bytes[i], 1);
    }
    for (int i = 0; i < count; i++) {
        ring->send(sockets[i], &sends[i].op, &"xy"[i % 2], 1);
    }
    assert_int_equal(ring->loop_run(loop), 0);
    for (int i = 0; i < count; i++) {
        ASSERT_ENDED(recvs[i], 1);
        ASSERT_ENDED(sends[i], 1);
        assert_int_equal(bytes[i], "yx"[i % 2]);
    }
    assert_int_equal(counters_of(loop).overflows, 0);
    uint64_t enters = calls_of(loop, LM_SYS_RING_ENTER);
    ring->loop_destroy(loop);
    return enters;
}

static void twenty_thousand_operations_in_a_small_ring_overflow_nothing(void **state)
{
    (void)state;
    enters_of_crowd("io_uring:entries=16,order=eager");
    enters_of_crowd("io_uring:entries=64");
    enters_of_crowd("io_uring:entries=16,cq_entries=256,order=eager");
}

static void a_full_submission_queue_is_submitted_whole(void **state)
{
    (void)state;
    /* 2 operations per descriptor; one enter more than they need begins or ends the run. */
    uint64_t needed = (uint64_t)(4 * crowd_pairs() + 1023) / 1024;
    assert_in_range(enters_of_crowd("io_uring:entries=1024"), needed, needed + 4);
}

/* Ends. */

struct race {
    struct lm_loop *loop;
    struct lm_socket *socket;
    struct probe recv, post;
    int peer, rounds;
    char byte;
};

static void race_lap(void *context)
{
    struct race *race = context;

    if (race->recv.completions != race->post.completions || race->rounds-- == 0) {
        return;
    }
    ring->recv(race->socket, &race->recv.op, &race->byte, 1);
    ring->post(race->loop, &race->post.op);
}

/* The receive is in the ring by now. Its data and its cancel arrive together. */
static void race_meet(void *context)
{
    struct race *race = context;

    if (race->rounds % 2) {
        assert_int_equal(send(race->peer, "x", 1, MSG_NOSIGNAL), 1);
    }
    ring->cancel(race->loop, &race->recv.op);
    ring->cancel(race->loop, &race->recv.op);
    race_lap(race);
}

static void cancels_that_race_with_data_complete_once(void **state)
{
    (void)state;
    static const char *const texts[] = {"io_uring", "io_uring:multishot_recv=1",
                                        "io_uring:cqe_skip=1", "io_uring:defer_taskrun=0"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct race race = {.recv = new_probe(), .post = new_probe(), .rounds = 1000};
        race.loop = open_loop(texts[i], false);
        race.socket = half_pair(race.loop, &race.peer);
        race.recv.then = race_lap;
        race.post.then = race_meet;
        race.recv.context = race.post.context = &race;
        race_lap(&race);
        assert_int_equal(ring->loop_run(race.loop), 0);
        assert_int_equal(race.recv.completions, 1000);
        assert_int_equal(race.post.completions, 1000);
        close(race.peer);
        ring->loop_destroy(race.loop);
    }
}

/* A timer that closes a socket while its receive is in the ring. */
struct closing {
    struct lm_loop *loop;
    struct lm_socket *socket;
    struct probe timer, recv;
    int peer;
    char byte;
};

static void close_now(void *context)
{
    ring->socket_close(((struct closing *)context)->socket);
}

static void send_and_close_now(void *context)
{
    assert_int_equal(send(((struct closing *)context)->peer, "x", 1, MSG_NOSIGNAL), 1);
    close_now(context);
}

static void close_with_receive(const char *text, void (*how)(void *context))
{
    struct closing closing = {.timer = new_probe(), .recv = new_probe()};

    closing.loop = open_loop(text, false);
    closing.socket = half_pair(closing.loop, &closing.peer);
    closing.timer.then = how;
    closing.timer.context = &closing;
    ring->recv(closing.socket, &closing.recv.op, &closing.byte, 1);
    ring->timer(closing.loop, &closing.timer.op, 1000000);
    assert_int_equal(ring->loop_run(closing.loop), 0);
    ASSERT_ENDED(closing.recv, -ECANCELED);
    ssize_t end = read_after_close(closing.peer);
    assert_true(end == 0 || errno == ECONNRESET);
    close(closing.peer);
    ring->loop_destroy(closing.loop);
}

static void a_close_is_seen_by_the_peer_when_the_loop_has_run(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "io_uring",
        "io_uring:fixed_files=1",
        "io_uring:async_close=1",
        "io_uring:async_close=1,cqe_skip=1",
        "io_uring:fixed_files=1,async_close=1,cqe_skip=1",
        "io_uring:multishot_recv=1",
        "io_uring:multishot_recv=1,async_close=1,cqe_skip=1",
        "io_uring:sqpoll=1,async_close=1",
        "io_uring:sqpoll=1,async_close=1,cqe_skip=1",
        "io_uring:defer_taskrun=0", /* the receive has completed when it is closed */
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        close_with_receive(texts[i], close_now);
        close_with_receive(texts[i], send_and_close_now);
    }
}

/* Two of a kind, so that the second gets the descriptor number of the first. */
struct reuse {
    struct closing old;
    struct probe recv;
    int peer;
    char byte;
};

static void reuse_now(void *context)
{
    struct reuse *reuse = context;

    send_and_close_now(&reuse->old);
    struct lm_socket *next = half_pair(reuse->old.loop, &reuse->peer);
    ring->recv(next, &reuse->recv.op, &reuse->byte, 1);
    assert_int_equal(send(reuse->peer, "n", 1, MSG_NOSIGNAL), 1);
}

static void the_next_socket_gets_nothing_that_was_for_a_closed_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"io_uring", "io_uring:fixed_files=1",
                                        "io_uring:multishot_recv=1", "io_uring:async_close=1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct reuse reuse = {.old = {.timer = new_probe(), .recv = new_probe()},
                              .recv = new_probe()};
        reuse.old.loop = open_loop(texts[i], false);
        reuse.old.socket = half_pair(reuse.old.loop, &reuse.old.peer);
        reuse.old.timer.then = reuse_now;
        reuse.old.timer.context = &reuse;
        ring->recv(reuse.old.socket, &reuse.old.recv.op, &reuse.old.byte, 1);
        ring->timer(reuse.old.loop, &reuse.old.timer.op, 1000000);
        assert_int_equal(ring->loop_run(reuse.old.loop), 0);
        ASSERT_ENDED(reuse.recv, 1);
        assert_int_equal(reuse.byte, 'n');
        ASSERT_ENDED(reuse.old.recv, -ECANCELED);
        close(reuse.old.peer);
        close(reuse.peer);
        ring->loop_destroy(reuse.old.loop);
    }
}

static void stop_now(void *context)
{
    ring->loop_stop(context);
}

/* The operation is in the ring when the loop is stopped, and the loop destroyed. */
static void leave_receive_behind(const char *text, char *byte, int *peer)
{
    struct lm_loop *loop = open_loop(text, false);
    static struct probe recv, timer;
    struct lm_socket *socket = half_pair(loop, peer);

    recv = timer = new_probe();
    timer.then = stop_now;
    timer.context = loop;
    ring->recv(socket, &recv.op, byte, 1);
    ring->timer(loop, &timer.op, 1000000);
    assert_int_equal(ring->loop_run(loop), 0);
    assert_int_equal(recv.completions, 0);
    ring->loop_destroy(loop);
}

static void a_destroyed_loop_writes_no_buffer(void **state)
{
    (void)state;
    static const char *const texts[] = {"io_uring",
                                        "io_uring:single_issuer=0",
                                        "io_uring:sqpoll=1",
                                        "io_uring:fixed_files=1",
                                        "io_uring:multishot_recv=1",
                                        "io_uring:poll_first=1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char byte = '-';
        int peer;
        leave_receive_behind(texts[i], &byte, &peer);
        /* The other end is closed already, not only when the kernel has cleaned up. */
        assert_int_equal(send(peer, "x", 1, MSG_NOSIGNAL), -1);
        assert_int_equal(errno, EPIPE);
        assert_int_equal(byte, '-');
        close(peer);
    }
}

static void *run_here(void *loop)
{
    return (void *)(intptr_t)ring->loop_run(loop);
}

static void destroy_what_another_thread_ran(const char *text)
{
    struct lm_loop *mine = open_loop(text, false), *theirs = open_loop(text, false);
    struct pingpong chain, other;
    pthread_t thread;
    void *result;

    open_pingpong(mine, &chain, unix_pair);
    run_pingpong(mine, &chain, 1, 1);
    open_pingpong(theirs, &other, unix_pair);
    other.steps = 4;
    pingpong_step(&other);
    assert_int_equal(pthread_create(&thread, NULL, run_here, theirs), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    assert_int_equal(other.step, 4);
    ring->loop_destroy(theirs);
    run_pingpong(mine, &chain, 1, 1);
    ring->loop_destroy(mine);
}

/* Both rings have the same number, each with its thread. */
static void a_loop_that_another_thread_ran_is_destroyed_without_harm_to_others(void **state)
{
    (void)state;
    destroy_what_another_thread_ran("io_uring");
    destroy_what_another_thread_ran("io_uring:single_issuer=0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_enters_the_kernel_once_for_each_operation),
        cmocka_unit_test(round_trips_side_by_side_share_their_enters),
        cmocka_unit_test(hybrid_enters_nothing_when_all_completes_at_once),
        cmocka_unit_test(hybrid_leaves_long_turns_to_the_ring),
        cmocka_unit_test(a_hybrid_miss_is_counted_and_completes_through_the_ring),
        cmocka_unit_test(order_two_phase_lets_a_send_overtake_an_earlier_receive),
        cmocka_unit_test(twenty_thousand_operations_in_a_small_ring_overflow_nothing),
        cmocka_unit_test(a_full_submission_queue_is_submitted_whole),
        cmocka_unit_test(cancels_that_race_with_data_complete_once),
        cmocka_unit_test(a_close_is_seen_by_the_peer_when_the_loop_has_run),
        cmocka_unit_test(the_next_socket_gets_nothing_that_was_for_a_closed_one),
        cmocka_unit_test(a_destroyed_loop_writes_no_buffer),
        cmocka_unit_test(a_loop_that_another_thread_ran_is_destroyed_without_harm_to_others),
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
