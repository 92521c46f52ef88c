/* crowds.c - many at once: fairness (rule 8) and numbers beyond any table a backend may have. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/clock.h"
#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* Completions of busy work within which others must have had their turn. A bound on a turn is in
 * the hundreds; this only tells bounded from unbounded. */
#define PATIENCE 50000u
/* And no less than so long: on a loaded machine the kernel's own threads come late. */
#define PATIENCE_NS (1000 * MILLISECOND_NS)

/* Ten sockets that become readable, a connection to be accepted, a post, and a timer that becomes
 * due, while something else is busy. */
enum {
    QUIET = 10,
    QUIET_OPERATIONS = QUIET + 3
};

struct quiet {
    struct step recvs[QUIET], accept, post, timer;
    struct lm_socket *listener, *accepted;
    struct address address;
    struct lm_socket *sockets[QUIET];
    int peers[QUIET];
    uint8_t buffers[QUIET][16];
    int left;
    unsigned busy_completions;
    uint64_t ready_ns; /* when they were made ready */
    bool over;
};

static void quiet_done(struct step *step)
{
    struct quiet *quiet = step->context;
    quiet->over = --quiet->left == 0;
}

static struct quiet *start_quiet(struct contract *t)
{
    struct quiet *quiet = contract_alloc(t, sizeof *quiet);
    quiet->left = QUIET_OPERATIONS;
    for (int i = 0; i < QUIET; i++) {
        if (half_pair(t, &quiet->sockets[i], &quiet->peers[i])) {
            return NULL;
        }
        step_init(t, &quiet->recvs[i], quiet_done, quiet);
        start_recv(&quiet->recvs[i], quiet->sockets[i], quiet->buffers[i], 16);
    }
    quiet->listener = open_socket(t, raw_listener(t, 8, &quiet->address));
    if (!quiet->listener) {
        return NULL;
    }
    step_init(t, &quiet->accept, quiet_done, quiet);
    start_accept(&quiet->accept, quiet->listener, &quiet->accepted);
    step_init(t, &quiet->post, quiet_done, quiet);
    step_init(t, &quiet->timer, quiet_done, quiet);
    return quiet;
}

/* To be called in each completion of the busy work. True: go on. */
static bool stay_busy(struct contract *t, struct quiet *quiet)
{
    quiet->busy_completions++;
    if (quiet->busy_completions == 1000) {
        for (uint32_t i = 0; i < QUIET; i++) {
            raw_send(t, quiet->peers[i], 4, 40 + i, 0);
        }
        raw_connect(t, &quiet->address);
        start_post(&quiet->post);
        start_timer(&quiet->timer, 0);
        quiet->ready_ns = lm_clock_ns();
    }
    if (quiet->busy_completions > 1000 + PATIENCE && !quiet->over &&
        lm_clock_ns() - quiet->ready_ns > PATIENCE_NS) {
        contract_fail(t, __FILE__, __LINE__, "what is ready or due to get its turn",
                      "%d of %d still waiting after %u completions of a busy one", quiet->left,
                      QUIET_OPERATIONS, quiet->busy_completions);
    }
    if (quiet->busy_completions % 64 == 0) {
        contract_breathe(t);
    }
    return !quiet->over && !t->failed;
}

struct busy {
    struct step send, recv;
    struct lm_socket *ends[2];
    struct quiet *quiet;
    uint8_t out[64], in[64];
};

static void busy_sent(struct step *step)
{
    struct busy *busy = step->context;
    if (stay_busy(step->test, busy->quiet)) {
        start_send(step, busy->ends[0], busy->out, sizeof busy->out);
    } else {
        close_socket(step->test, busy->ends[0]);
    }
}

static void busy_received(struct step *step)
{
    struct busy *busy = step->context;
    if (step->result > 0) {
        stay_busy(step->test, busy->quiet);
        start_recv(step, busy->ends[1], busy->in, sizeof busy->in);
    }
}

static void a_busy_socket_starves_nobody(struct contract *t)
{
    struct busy *busy = contract_alloc(t, sizeof *busy);
    if (loop_pair(t, busy->ends)) {
        return;
    }
    busy->quiet = start_quiet(t);
    if (!busy->quiet) {
        return;
    }
    step_init(t, &busy->send, busy_sent, busy);
    step_init(t, &busy->recv, busy_received, busy);
    start_recv(&busy->recv, busy->ends[1], busy->in, sizeof busy->in);
    start_send(&busy->send, busy->ends[0], busy->out, sizeof busy->out);
    RUN_LOOP(t);
    EXPECT(t, busy->quiet->over, "%d still waiting", busy->quiet->left);
}

static void busy_posted(struct step *step)
{
    if (stay_busy(step->test, step->context)) {
        start_post(step);
    }
}

static void a_post_that_repeats_itself_starves_nobody(struct contract *t)
{
    struct quiet *quiet = start_quiet(t);
    struct step post;
    if (!quiet) {
        return;
    }
    step_init(t, &post, busy_posted, quiet);
    start_post(&post);
    RUN_LOOP(t);
    EXPECT(t, quiet->over, "%d still waiting", quiet->left);
}

static void busy_timed(struct step *step)
{
    if (stay_busy(step->test, step->context)) {
        start_timer(step, 0);
    }
}

static void a_timer_that_repeats_itself_starves_nobody(struct contract *t)
{
    struct quiet *quiet = start_quiet(t);
    struct step timer;
    if (!quiet) {
        return;
    }
    step_init(t, &timer, busy_timed, quiet);
    start_timer(&timer, 0);
    RUN_LOOP(t);
    EXPECT(t, quiet->over, "%d still waiting", quiet->left);
}

static void a_hundred_posts_that_repeat_themselves_starve_nobody(struct contract *t)
{
    struct quiet *quiet = start_quiet(t);
    struct step posts[100];
    if (!quiet) {
        return;
    }
    for (int i = 0; i < 100; i++) {
        step_init(t, &posts[i], busy_posted, quiet);
        start_post(&posts[i]);
    }
    RUN_LOOP(t);
    EXPECT(t, quiet->over, "%d still waiting", quiet->left);
}

/* --- many sockets ready at once
 * --------------------------------------------------------------------- */

struct member {
    struct step recv;
    struct lm_socket *socket;
    int peer;
    uint8_t buffer[8];
};

/* False when it can not be done here; the reason is noted. */
static bool enough_descriptors(struct contract *t, int needed)
{
    if (descriptor_limit() < needed + 64) {
        contract_skip(t, "it needs %d descriptors; raise `ulimit -Hn` (now %d)", needed + 64,
                      descriptor_limit());
        return false;
    }
    return true;
}

static void receive_from_all(struct contract *t, uint32_t count)
{
    if (!enough_descriptors(t, 2 * (int)count)) {
        return;
    }
    struct member *members = contract_alloc(t, count * sizeof *members);
    for (uint32_t i = 0; i < count; i++) {
        struct member *member = &members[i];
        if (half_pair(t, &member->socket, &member->peer) || raw_send(t, member->peer, 8, i, 0)) {
            return;
        }
        step_init(t, &member->recv, NULL, member);
        start_recv(&member->recv, member->socket, member->buffer, 8);
    }
    RUN_LOOP(t);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT_RESULT(&members[i].recv, 8);
        EXPECT(t, pattern_check(members[i].buffer, 8, i, 0) == 8, "bytes of another socket");
    }
}

static void two_hundred_sockets_can_be_ready_at_once(struct contract *t)
{
    receive_from_all(t, 200);
}

static void five_thousand_sockets_can_be_ready_at_once(struct contract *t)
{
    receive_from_all(t, 5000);
}

/* All receives wait first, then all sockets become readable together. */
struct crowd {
    struct member *members;
    uint32_t count, left;
    struct step *hours;
    uint32_t hour_count;
};

static void crowd_received(struct step *step)
{
    struct crowd *crowd = step->context;
    if (--crowd->left == 0) {
        for (uint32_t i = 0; i < crowd->hour_count; i++) {
            cancel_step(&crowd->hours[i]);
        }
    }
}

static void wake_crowd(struct step *step)
{
    struct crowd *crowd = step->context;
    for (uint32_t i = 0; i < crowd->count; i++) {
        raw_send(step->test, crowd->members[i].peer, 8, i, 0);
    }
}

static void start_crowd(struct contract *t, struct crowd *crowd)
{
    crowd->members = contract_alloc(t, crowd->count * sizeof *crowd->members);
    crowd->left = crowd->count;
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct member *member = &crowd->members[i];
        if (half_pair(t, &member->socket, &member->peer)) {
            return;
        }
        step_init(t, &member->recv, crowd_received, crowd);
        start_recv(&member->recv, member->socket, member->buffer, 8);
    }
    crowd->hours = contract_alloc(t, crowd->hour_count * sizeof *crowd->hours);
    for (uint32_t i = 0; i < crowd->hour_count; i++) {
        step_init(t, &crowd->hours[i], NULL, NULL);
        start_timer(&crowd->hours[i], HOUR_NS);
    }
}

static void expect_crowd(struct contract *t, struct crowd *crowd)
{
    struct lm_counters counters;
    t->backend->loop_counters(t->loop, &counters);
    EXPECT(t, counters.overflows == 0, "%llu overflows", (unsigned long long)counters.overflows);
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct member *member = &crowd->members[i];
        EXPECT_RESULT(&member->recv, 8);
        EXPECT(t, pattern_check(member->buffer, 8, i, 0) == 8, "bytes of another socket");
    }
    for (uint32_t i = 0; i < crowd->hour_count; i++) {
        EXPECT_RESULT(&crowd->hours[i], -ECANCELED);
    }
}

static void more_operations_than_any_ring_has_entries_can_wait(struct contract *t)
{
    struct crowd crowd = {.count = 4200, .hour_count = 2000};
    struct step timer;
    if (!enough_descriptors(t, 2 * (int)crowd.count)) {
        return;
    }
    start_crowd(t, &crowd);
    step_init(t, &timer, wake_crowd, &crowd);
    start_timer(&timer, 5 * MILLISECOND_NS);
    RUN_LOOP(t);
    expect_crowd(t, &crowd);
}

static void close_crowd(struct step *step)
{
    struct crowd *crowd = step->context;
    for (uint32_t i = 0; i < crowd->count; i++) {
        close_socket(step->test, crowd->members[i].socket);
    }
}

static void a_thousand_sockets_can_be_closed_at_once(struct contract *t)
{
    struct crowd crowd = {.count = 1000, .hour_count = 1};
    struct step timer;
    if (!enough_descriptors(t, 2 * (int)crowd.count)) {
        return;
    }
    int before = open_descriptors();
    start_crowd(t, &crowd);
    step_init(t, &timer, close_crowd, &crowd);
    start_timer(&timer, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    for (uint32_t i = 0; i < crowd.count; i++) {
        EXPECT_RESULT(&crowd.members[i].recv, -ECANCELED);
    }
    int left = open_descriptors() - before - (int)crowd.count;
    EXPECT(t, left == 0, "%d descriptors still open", left);
}

static void a_hundred_thousand_posts_complete(struct contract *t)
{
    enum {
        POSTS = 100000
    };
    struct step *posts = contract_alloc(t, POSTS * sizeof *posts);
    for (int i = 0; i < POSTS; i++) {
        step_init(t, &posts[i], NULL, NULL);
        start_post(&posts[i]);
    }
    RUN_LOOP(t);
    for (int i = 0; i < POSTS; i++) {
        EXPECT(t, posts[i].completions == 1, "%u completions", posts[i].completions);
    }
}

const struct contract_test contract_crowds[] = {
    {"a busy socket starves nobody", 8, ALSO_LOCAL, a_busy_socket_starves_nobody},
    {"a post that repeats itself starves nobody", 8, 0, a_post_that_repeats_itself_starves_nobody},
    {"a timer that repeats itself starves nobody", 8, 0,
     a_timer_that_repeats_itself_starves_nobody},
    {"a hundred posts that repeat themselves starve nobody", 8, 0,
     a_hundred_posts_that_repeat_themselves_starve_nobody},
    {"two hundred sockets can be ready at once", 8, ALSO_LOCAL,
     two_hundred_sockets_can_be_ready_at_once},
    {"five thousand sockets can be ready at once", 8, ALSO_LOCAL,
     five_thousand_sockets_can_be_ready_at_once},
    {"more operations than any ring has entries can wait", 2, ALSO_LOCAL,
     more_operations_than_any_ring_has_entries_can_wait},
    {"a thousand sockets can be closed at once", 5, ALSO_LOCAL,
     a_thousand_sockets_can_be_closed_at_once},
    {"a hundred thousand posts complete", 2, 0, a_hundred_thousand_posts_complete},
    {NULL, 0, 0, NULL},
};
