/* faults.c - faults that users of such libraries have met, beyond what the other files look at. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* --- streams
 * -------------------------------------------------------------------------------------- */

/* Reads a stream to its end, in pieces, each after a pause. */
struct reader {
    struct step recv, pause;
    struct lm_socket *socket;
    uint64_t received, pause_ns;
    uint32_t seed;
    bool ended;
    uint8_t buffer[16384];
};

static void read_on(struct step *step)
{
    struct reader *reader = step->context;
    start_recv(&reader->recv, reader->socket, reader->buffer, sizeof reader->buffer);
}

static void read_some(struct step *step)
{
    struct reader *reader = step->context;
    EXPECT(step->test, step->result >= 0, "recv completed with %lld after %llu bytes",
           (long long)step->result, (unsigned long long)reader->received);
    size_t bytes = (size_t)step->result;
    EXPECT(step->test,
           pattern_check(reader->buffer, bytes, reader->seed, reader->received) == bytes,
           "a wrong byte after offset %llu", (unsigned long long)reader->received);
    reader->received += bytes;
    reader->ended = bytes == 0;
    if (reader->ended) {
        return;
    }
    if (reader->pause_ns) {
        start_timer(&reader->pause, reader->pause_ns);
    } else {
        read_on(step);
    }
}

static struct reader *new_reader(struct contract *t, struct lm_socket *socket, uint32_t seed,
                                 uint64_t pause_ns)
{
    struct reader *reader = contract_alloc(t, sizeof *reader);
    reader->socket = socket;
    reader->seed = seed;
    reader->pause_ns = pause_ns;
    step_init(t, &reader->recv, read_some, reader);
    step_init(t, &reader->pause, read_on, reader);
    return reader;
}

/* Room for so many bytes on their way, whatever the system's defaults are. */
static void widen(int fd, int bytes)
{
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static void a_hundred_kilobytes_and_the_end_may_come_before_the_first_receive(struct contract *t)
{
    enum {
        BYTES = 100000
    };
    int fds[2];
    if (raw_pair(t, fds)) {
        return;
    }
    widen(fds[1], 4 * BYTES);
    if (raw_send(t, fds[1], BYTES, 50, 0)) {
        return;
    }
    close_raw(t, fds[1]);
    struct lm_socket *socket = open_socket(t, fds[0]);
    if (!socket) {
        return;
    }
    struct reader *reader = new_reader(t, socket, 50, 0);
    read_on(&reader->pause);
    RUN_LOOP(t);
    EXPECT(t, reader->ended && reader->received == BYTES, "the end after %llu bytes",
           (unsigned long long)reader->received);
}

struct writer {
    struct step send;
    struct lm_socket *socket;
    uint8_t *bytes;
    uint64_t sent, total;
};

static void write_on(struct writer *writer)
{
    start_send(&writer->send, writer->socket, writer->bytes + writer->sent,
               writer->total - writer->sent);
}

static void wrote_some(struct step *step)
{
    struct writer *writer = step->context;
    EXPECT(step->test, step->result > 0, "send completed with %lld after %llu bytes",
           (long long)step->result, (unsigned long long)writer->sent);
    writer->sent += (uint64_t)step->result;
    if (writer->sent < writer->total) {
        write_on(writer);
    } else {
        close_socket(step->test, writer->socket);
    }
}

static void a_small_send_buffer_and_a_slow_reader_lose_and_repeat_nothing(struct contract *t)
{
    enum {
        BYTES = 1 << 20
    };
    struct writer *writer = contract_alloc(t, sizeof *writer);
    int fds[2];
    if (raw_pair(t, fds)) {
        return;
    }
    widen(fds[0], 4096);
    struct lm_socket *to;
    writer->socket = open_socket(t, fds[0]);
    to = open_socket(t, fds[1]);
    if (!writer->socket || !to) {
        return;
    }
    writer->total = BYTES;
    writer->bytes = contract_alloc(t, BYTES);
    pattern_fill(writer->bytes, BYTES, 51, 0);
    step_init(t, &writer->send, wrote_some, writer);
    struct reader *reader = new_reader(t, to, 51, MILLISECOND_NS / 10);
    read_on(&reader->pause);
    write_on(writer);
    RUN_LOOP(t);
    EXPECT(t, reader->ended && reader->received == BYTES, "the end after %llu bytes",
           (unsigned long long)reader->received);
}

static void a_socket_that_stopped_sending_still_receives(struct contract *t)
{
    int fds[2];
    if (raw_pair(t, fds)) {
        return;
    }
    struct lm_socket *socket = open_socket(t, fds[0]);
    if (!socket) {
        return;
    }
    struct reader *reader = new_reader(t, socket, 52, 0);
    read_on(&reader->pause);
    shutdown(fds[0], SHUT_WR);
    char byte;
    EXPECT(t, recv(fds[1], &byte, 1, 0) == 0, "the peer did not see the end");
    if (raw_send(t, fds[1], 5000, 52, 0)) {
        return;
    }
    shutdown(fds[1], SHUT_WR);
    RUN_LOOP(t);
    EXPECT(t, reader->ended && reader->received == 5000, "the end after %llu bytes",
           (unsigned long long)reader->received);
}

/* --- numbers of descriptors
 * ----------------------------------------------------------------------- */

enum {
    NEIGHBOURS = 16,
    NEWCOMERS = 8,
    GREETING = 5
};

/* Sockets that become readable at once, one before a listener and the others behind it, so that a
 * backend which takes event by event accepts, with a number that the first completion has freed,
 * while events of that number's old owner are still in the batch it has fetched. */
struct street {
    struct step recvs[NEIGHBOURS], accept, begin;
    struct lm_socket *old[NEIGHBOURS], *listener, *accepted[NEWCOMERS];
    struct step new_recvs[NEWCOMERS];
    int peers[NEIGHBOURS], clients[NEWCOMERS];
    struct address address;
    uint8_t old_in[NEIGHBOURS][64], new_in[NEWCOMERS][64];
    uint32_t accepts;
    bool moved;
};

static void everybody_speaks(struct step *step)
{
    struct street *street = step->context;
    raw_send(step->test, street->peers[0], 64, 60, 0);
    for (int i = 0; i < NEWCOMERS; i++) {
        if (connect(street->clients[i], address_of(&street->address), street->address.bytes)) {
            contract_fail(step->test, __FILE__, __LINE__, "connect to succeed", "%s",
                          strerror(errno));
        }
    }
    for (uint32_t i = 1; i < NEIGHBOURS; i++) {
        raw_send(step->test, street->peers[i], 64, 60 + i, 0);
    }
}

static void new_neighbours(struct step *step)
{
    struct street *street = step->context;
    if (street->moved) {
        return;
    }
    street->moved = true;
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (&street->recvs[i] != step) {
            close_socket(step->test, street->old[i]);
            street->old[i] = NULL;
        }
    }
}

static void a_newcomer(struct step *step)
{
    struct street *street = step->context;
    uint32_t place = street->accepts++;
    EXPECT_RESULT(step, 0);
    start_recv(&street->new_recvs[place], street->accepted[place], street->new_in[place], 64);
    if (street->accepts < NEWCOMERS) {
        start_accept(step, street->listener, &street->accepted[street->accepts]);
        return;
    }
    for (uint32_t i = 0; i < NEWCOMERS; i++) {
        raw_send(step->test, street->clients[i], GREETING, 90 + i, 0);
    }
}

static void expect_newcomers(struct contract *t, struct street *street)
{
    bool greeted[NEWCOMERS] = {false};
    EXPECT(t, street->accepts == NEWCOMERS, "%u accepted", street->accepts);
    for (int i = 0; i < NEWCOMERS; i++) {
        /* Connections are accepted in any order: whose greeting is it? */
        uint32_t whose = 0;
        EXPECT_RESULT(&street->new_recvs[i], GREETING);
        while (whose < NEWCOMERS &&
               pattern_check(street->new_in[i], GREETING, 90 + whose, 0) != GREETING) {
            whose++;
        }
        EXPECT(t, whose < NEWCOMERS && !greeted[whose], "bytes of another socket");
        greeted[whose] = true;
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        EXPECT(t, street->recvs[i].result == 64 || street->recvs[i].result == -ECANCELED,
               "the receive of a closed socket completed with %lld",
               (long long)street->recvs[i].result);
    }
}

static void an_accepted_connection_gets_nothing_of_the_numbers_old_owner(struct contract *t)
{
    struct street *street = contract_alloc(t, sizeof *street);
    street->listener = open_socket(t, raw_listener(t, NEWCOMERS, &street->address));
    if (!street->listener) {
        return;
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (half_pair(t, &street->old[i], &street->peers[i])) {
            return;
        }
        step_init(t, &street->recvs[i], new_neighbours, street);
        start_recv(&street->recvs[i], street->old[i], street->old_in[i], 64);
    }
    for (int i = 0; i < NEWCOMERS; i++) {
        /* Made before any number is free, so that accepts get those. */
        street->clients[i] = raw_socket(t);
        if (street->clients[i] < 0) {
            return;
        }
        step_init(t, &street->new_recvs[i], NULL, street);
    }
    step_init(t, &street->accept, a_newcomer, street);
    start_accept(&street->accept, street->listener, &street->accepted[0]);
    step_init(t, &street->begin, everybody_speaks, street);
    start_timer(&street->begin, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    expect_newcomers(t, street);
}

/* --- connecting and accepting
 * --------------------------------------------------------------------- */

static void cancel_it(struct step *step)
{
    cancel_step(step->context);
}

static void a_connect_to_a_full_backlog_can_be_cancelled(struct contract *t)
{
    enum {
        CONNECTS = 16
    };
    struct step connects[CONNECTS], timers[CONNECTS];
    struct address address;
    if (raw_listener(t, 0, &address) < 0) {
        return;
    }
    for (int i = 0; i < CONNECTS; i++) {
        struct lm_socket *socket = open_socket(t, raw_socket(t));
        if (!socket) {
            return;
        }
        step_init(t, &connects[i], NULL, NULL);
        step_init(t, &timers[i], cancel_it, &connects[i]);
        start_connect(&connects[i], socket, address_of(&address), address.bytes);
        start_timer(&timers[i], 20 * MILLISECOND_NS);
    }
    RUN_LOOP(t);
    int waited = 0;
    for (int i = 0; i < CONNECTS; i++) {
        /* AF_UNIX may say at once that there is no room. */
        EXPECT(t,
               connects[i].result == 0 || connects[i].result == -ECANCELED ||
                   (t->local && connects[i].result == -EAGAIN),
               "connect completed with %lld", (long long)connects[i].result);
        waited += connects[i].result != 0;
    }
    EXPECT(t, waited > 0, "all of %d connects to a backlog of 0 completed", CONNECTS);
}

struct scarce_accept {
    struct step accept, late;
    struct lm_socket *listener, *accepted;
    struct address address;
    int client, limit;
};

static void connect_without_descriptors(struct step *step)
{
    struct scarce_accept *scarce = step->context;
    int free_fd = dup(0);
    close(free_fd);
    set_descriptor_limit(free_fd);
    if (connect(scarce->client, address_of(&scarce->address), scarce->address.bytes)) {
        contract_fail(step->test, __FILE__, __LINE__, "connect to succeed", "%s", strerror(errno));
    }
}

static void
an_accept_that_waits_fails_without_descriptors_and_the_next_one_works(struct contract *t)
{
    struct scarce_accept *scarce = contract_alloc(t, sizeof *scarce);
    scarce->limit = descriptor_limit();
    scarce->listener = open_socket(t, raw_listener(t, 8, &scarce->address));
    scarce->client = raw_socket(t);
    if (!scarce->listener || scarce->client < 0) {
        return;
    }
    step_init(t, &scarce->accept, NULL, NULL);
    step_init(t, &scarce->late, connect_without_descriptors, scarce);
    start_accept(&scarce->accept, scarce->listener, &scarce->accepted);
    start_timer(&scarce->late, 2 * MILLISECOND_NS);
    contract_loop(t);
    set_descriptor_limit(scarce->limit);
    if (t->failed) {
        return;
    }
    /* A backend whose sockets need no descriptor, or have it already, may succeed. */
    EXPECT(t, scarce->accept.result == -EMFILE || scarce->accept.result == 0,
           "accept completed with %lld", (long long)scarce->accept.result);
    if (scarce->accept.result == -EMFILE) {
        start_accept(&scarce->accept, scarce->listener, &scarce->accepted);
        RUN_LOOP(t);
        EXPECT_RESULT(&scarce->accept, 0);
    }
    EXPECT(t, scarce->accepted != NULL, "no socket");
}

/* --- what is scarce
 * ------------------------------------------------------------------------------- */

/* Makes, uses and frees a loop. 0 or what loop_create said. */
static int use_a_loop(struct contract *t)
{
    struct lm_loop_config config = {
        .threads = 1, .lockless = t->subject->lockless, .options = t->subject->options};
    struct lm_loop *loop = NULL;
    struct step post;
    int result = t->backend->loop_create(&config, &loop);
    if (result) {
        return result;
    }
    step_init(t, &post, NULL, NULL);
    start_post_on(&post, loop);
    result = contract_run_here(t, loop);
    if (result || post.completions != 1) {
        contract_fail(t, __FILE__, __LINE__, "a loop to run a post",
                      "loop_run returned %d after %u completions", result, post.completions);
    }
    t->backend->loop_destroy(loop);
    return 0;
}

/* What a ring takes is given back some time after it is closed: so there may be a refusal, but then
 * it has to be one error, and to pass. */
static void five_hundred_loops_can_be_made_one_after_the_other(struct contract *t)
{
    int refused = 0;
    for (int made = 0; made < 500 && !t->failed;) {
        int result = use_a_loop(t);
        if (result == 0) {
            made++;
            continue;
        }
        EXPECT(t, result == -ENOMEM || result == -EMFILE || result == -EAGAIN,
               "loop_create returned %d (%s) after %d loops", result, strerror(-result), made);
        EXPECT(t, ++refused < 1000, "loop_create refuses since loop %d: %s", made,
               strerror(-result));
        usleep(1000);
    }
}

static void a_loop_without_locked_memory_is_made_or_refused_with_one_error(struct contract *t)
{
    struct rlimit saved, none;
    if (getrlimit(RLIMIT_MEMLOCK, &saved)) {
        contract_skip(t, "there is no limit of locked memory here");
        return;
    }
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = saved.rlim_max};
    setrlimit(RLIMIT_MEMLOCK, &none);
    int result = use_a_loop(t);
    setrlimit(RLIMIT_MEMLOCK, &saved);
    EXPECT(t, result == 0 || result == -ENOMEM || result == -EPERM, "loop_create returned %d (%s)",
           result, strerror(-result));
    result = use_a_loop(t);
    EXPECT(t, result == 0, "with the limit as it was loop_create returned %d (%s)", result,
           strerror(-result));
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
/* Bytes that malloc has given out, in all arenas. */
static size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
static size_t allocated_bytes(void)
{
    return 0;
}
#endif

struct rally {
    struct step send, recv, timer;
    struct lm_socket *ends[2];
    uint8_t byte;
    unsigned left;
};

static void rally_on(struct rally *rally)
{
    start_recv(&rally->recv, rally->ends[1], &rally->byte, 1);
    start_send(&rally->send, rally->ends[0], "x", 1);
}

static void rally_done(struct step *step)
{
    struct rally *rally = step->context;
    EXPECT(step->test, step->result >= 0, "%s completed with %lld", step->kind,
           (long long)step->result);
    if (step == &rally->recv && rally->left > 0) {
        start_timer(&rally->timer, 0);
    }
}

static void rally_pause_over(struct step *step)
{
    struct rally *rally = step->context;
    if (rally->send.outstanding) {
        start_timer(step, 0); /* the send may complete after what it sent */
        return;
    }
    rally->left--;
    rally_on(rally);
}

static void operations_take_no_memory_that_is_not_given_back(struct contract *t)
{
    struct rally *rally = contract_alloc(t, sizeof *rally);
    if (allocated_bytes() == 0) {
        contract_skip(t, "this C library does not tell what is allocated");
        return;
    }
    if (loop_pair(t, rally->ends)) {
        return;
    }
    step_init(t, &rally->send, rally_done, rally);
    step_init(t, &rally->recv, rally_done, rally);
    step_init(t, &rally->timer, rally_pause_over, rally);
    rally->left = 500; /* buffers and tables grow to what they need */
    rally_on(rally);
    RUN_LOOP(t);
    size_t before = allocated_bytes();
    rally->left = 3000;
    rally_on(rally);
    RUN_LOOP(t);
    size_t after = allocated_bytes();
    /* Less than one byte per operation. */
    EXPECT(t, after < before + 3000, "%zu bytes more after 9000 operations", after - before);
}

const struct contract_test contract_faults[] = {
    {"a hundred kilobytes and the end may come before the first receive", 3, ALSO_LOCAL,
     a_hundred_kilobytes_and_the_end_may_come_before_the_first_receive},
    {"a small send buffer and a slow reader lose and repeat nothing", 3, ALSO_LOCAL,
     a_small_send_buffer_and_a_slow_reader_lose_and_repeat_nothing},
    {"a socket that stopped sending still receives", 3, ALSO_LOCAL,
     a_socket_that_stopped_sending_still_receives},
    {"an accepted connection gets nothing of the number's old owner", 5, ALSO_LOCAL | NEEDS_QUEUE,
     an_accepted_connection_gets_nothing_of_the_numbers_old_owner},
    {"a connect to a full backlog can be cancelled", 6, ALSO_LOCAL,
     a_connect_to_a_full_backlog_can_be_cancelled},
    {"an accept that waits fails without descriptors and the next one works", 9, ALSO_LOCAL,
     an_accept_that_waits_fails_without_descriptors_and_the_next_one_works},
    {"five hundred loops can be made one after the other", 9, 0,
     five_hundred_loops_can_be_made_one_after_the_other},
    {"a loop without locked memory is made or refused with one error", 9, 0,
     a_loop_without_locked_memory_is_made_or_refused_with_one_error},
    {"operations take no memory that is not given back", 1, ALSO_LOCAL,
     operations_take_no_memory_that_is_not_given_back},
    {NULL, 0, 0, NULL},
};
