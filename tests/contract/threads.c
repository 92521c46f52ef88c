/* threads.c - one loop run by several threads (rules 6 and 7): every call from any of them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

/* Work is spread by affinity (open_socket counts it up), so that the ends of a pair, and one pair
 * and the next, belong to different threads wherever a backend ties sockets to threads. */

/* --- ping-pong over all threads
 * ----------------------------------------------------------------------- */

enum {
    PAIRS = 32,
    ROUNDS = 200
};

struct player {
    struct step send, recv;
    struct lm_socket *socket;
    struct player *other;
    uint8_t out[48], in[48];
    uint32_t seed, round;
    bool serves;
};

static void serve(struct player *player)
{
    pattern_fill(player->out, sizeof player->out, player->seed, player->round);
    start_send(&player->send, player->socket, player->out, sizeof player->out);
}

static void player_received(struct step *step)
{
    struct player *player = step->context;
    size_t bytes = sizeof player->in;
    EXPECT_RESULT(step, (int64_t)bytes);
    EXPECT(step->test, pattern_check(player->in, bytes, player->seed, player->round) == bytes,
           "a wrong byte in round %u", player->round);
    if (!player->serves || ++player->round < ROUNDS) {
        serve(player);
    }
}

static void player_sent(struct step *step)
{
    struct player *player = step->context;
    EXPECT_RESULT(step, (int64_t)sizeof player->out);
    if (player->serves || ++player->round < ROUNDS) {
        start_recv(&player->recv, player->socket, player->in, sizeof player->in);
    }
}

static int open_players(struct contract *t, struct player *two, uint32_t seed)
{
    struct lm_socket *ends[2];
    if (loop_pair(t, ends)) {
        return -1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        two[i] = (struct player){.socket = ends[i], .other = &two[1 - i], .seed = seed};
        step_init(t, &two[i].send, player_sent, &two[i]);
        step_init(t, &two[i].recv, player_received, &two[i]);
    }
    two[0].serves = true;
    return 0;
}

static void pairs_play_ping_pong_over_all_threads(struct contract *t)
{
    struct player *players = contract_alloc(t, 2 * PAIRS * sizeof *players);
    for (uint32_t i = 0; i < PAIRS; i++) {
        if (open_players(t, &players[2 * i], i)) {
            return;
        }
        start_recv(&players[2 * i + 1].recv, players[2 * i + 1].socket, players[2 * i + 1].in,
                   sizeof players[0].in);
        serve(&players[2 * i]);
    }
    RUN_LOOP(t);
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        EXPECT(t, players[i].round == ROUNDS, "player %u stopped in round %u", i, players[i].round);
    }
}

/* --- a relay: one operation at a time, on one thread after another
 * -------------------------------------- */

/* Each completion starts the next operation on a socket of another thread, so that in every moment
 * all threads but one have nothing to do: they must neither return early nor sleep through it. */
enum {
    RUNNERS = 8,
    LAPS = 300
};

struct relay {
    struct lm_socket *sockets[RUNNERS];
    int peers[RUNNERS];
    struct step recv, timer;
    uint8_t byte;
    unsigned passed;
};

static void passed_on(struct step *step)
{
    struct relay *relay = step->context;
    EXPECT_RESULT(step, 1);
    if (++relay->passed < LAPS) {
        start_timer(&relay->timer, relay->passed % 16 ? 0 : MILLISECOND_NS / 2);
    }
}

static void pass_on(struct step *step)
{
    struct relay *relay = step->context;
    unsigned runner = relay->passed % RUNNERS;
    start_recv(&relay->recv, relay->sockets[runner], &relay->byte, 1);
    raw_send(step->test, relay->peers[runner], 1, 0, 0);
}

static void a_relay_over_all_threads_neither_stalls_nor_ends_early(struct contract *t)
{
    struct relay *relay = contract_alloc(t, sizeof *relay);
    for (int i = 0; i < RUNNERS; i++) {
        if (half_pair(t, &relay->sockets[i], &relay->peers[i])) {
            return;
        }
    }
    step_init(t, &relay->recv, passed_on, relay);
    step_init(t, &relay->timer, pass_on, relay);
    start_timer(&relay->timer, 0);
    RUN_LOOP(t);
    EXPECT(t, relay->passed == LAPS, "%u of %d passed", relay->passed, LAPS);
}

/* --- storms of posts
 * ------------------------------------------------------------------------------------ */

/* Every post starts two more until the budget is used up, on whatever thread it runs. */
struct storm {
    struct step *posts;
    unsigned used, budget;
};

static void storm_on(struct step *step)
{
    struct storm *storm = step->context;
    for (int i = 0; i < 2 && storm->used < storm->budget; i++) {
        start_post(&storm->posts[storm->used++]);
    }
}

static void a_storm_of_posts_from_all_threads_completes(struct contract *t)
{
    struct storm storm = {.budget = 50000};
    storm.posts = contract_alloc(t, storm.budget * sizeof *storm.posts);
    for (unsigned i = 0; i < storm.budget; i++) {
        step_init(t, &storm.posts[i], storm_on, &storm);
    }
    storm.used = 1;
    start_post(&storm.posts[0]);
    RUN_LOOP(t);
    for (unsigned i = 0; i < storm.budget; i++) {
        EXPECT(t, storm.posts[i].completions == 1, "post %u completed %u times", i,
               storm.posts[i].completions);
    }
}

/* --- closing and cancelling what another thread works on
 * --------------------------------------------------- */

struct victim {
    struct step recv, post;
    struct lm_socket *socket;
    int peer;
    uint8_t buffer[16];
};

static void close_victim(struct step *step)
{
    struct victim *victim = step->context;
    close_socket(step->test, victim->socket);
}

static void cancel_victim(struct step *step)
{
    struct victim *victim = step->context;
    cancel_step(&victim->recv);
}

/* For each victim a post, which may run on another thread than the victim's receive, ends it. Every
 * third has bytes that come at the same time. */
static void attack(struct contract *t, void (*weapon)(struct step *))
{
    enum {
        VICTIMS = 300
    };
    struct victim *victims = contract_alloc(t, VICTIMS * sizeof *victims);
    for (int i = 0; i < VICTIMS; i++) {
        struct victim *victim = &victims[i];
        if (half_pair(t, &victim->socket, &victim->peer)) {
            return;
        }
        step_init(t, &victim->recv, NULL, victim);
        step_init(t, &victim->post, weapon, victim);
        start_recv(&victim->recv, victim->socket, victim->buffer, sizeof victim->buffer);
        if (i % 2) {
            start_timer(&victim->post, MILLISECOND_NS);
        } else {
            start_post(&victim->post);
        }
        if (i % 3 == 0) {
            raw_send(t, victim->peer, 4, 1, 0);
        }
    }
    RUN_LOOP(t);
    for (int i = 0; i < VICTIMS; i++) {
        int64_t result = victims[i].recv.result;
        EXPECT(t, victims[i].recv.completions == 1, "%u completions", victims[i].recv.completions);
        EXPECT(t, result == -ECANCELED || (i % 3 == 0 && result == 4), "recv completed with %lld",
               (long long)result);
    }
}

static void any_thread_can_close_any_socket(struct contract *t)
{
    int before = open_descriptors();
    attack(t, close_victim);
    if (!t->failed) {
        int left = open_descriptors() - before - 300; /* the peers */
        EXPECT(t, left == 0, "%d descriptors still open", left);
    }
}

static void any_thread_can_cancel_any_receive(struct contract *t)
{
    attack(t, cancel_victim);
}

struct hours {
    struct step *timers;
    int count;
};

static void cancel_hours(struct step *step)
{
    struct hours *hours = step->context;
    for (int i = 0; i < hours->count; i++) {
        cancel_step(&hours->timers[i]);
    }
}

static void any_thread_can_cancel_any_timer(struct contract *t)
{
    struct hours hours = {.count = 200};
    struct step cancellers[8];
    hours.timers = contract_alloc(t, (size_t)hours.count * sizeof *hours.timers);
    for (int i = 0; i < hours.count; i++) {
        step_init(t, &hours.timers[i], NULL, NULL);
        start_timer(&hours.timers[i], HOUR_NS);
    }
    for (int i = 0; i < 8; i++) {
        step_init(t, &cancellers[i], cancel_hours, &hours);
        start_post(&cancellers[i]);
    }
    RUN_LOOP(t);
    for (int i = 0; i < hours.count; i++) {
        EXPECT_RESULT(&hours.timers[i], -ECANCELED);
    }
}

/* --- opening on any thread
 * ---------------------------------------------------------------------------------- */

/* A life: open a pair, pass a byte, close it, all in completions of whatever thread; then the next.
 */
struct life {
    struct step post, send, recv;
    struct lm_socket *ends[2];
    char byte;
    int left;
};

static void be_born(struct step *step)
{
    struct life *life = step->context;
    if (loop_pair(step->test, life->ends) == 0) {
        start_recv(&life->recv, life->ends[1], &life->byte, 1);
        start_send(&life->send, life->ends[0], "x", 1);
    }
}

static void live_on(struct step *step)
{
    struct life *life = step->context;
    EXPECT_RESULT(step, 1);
    if (life->send.completions != life->recv.completions) {
        return;
    }
    close_socket(step->test, life->ends[0]);
    close_socket(step->test, life->ends[1]);
    if (--life->left > 0) {
        start_post(&life->post);
    }
}

static void any_thread_can_open_use_and_close_sockets(struct contract *t)
{
    enum {
        LIVES = 16
    };
    struct life *lives = contract_alloc(t, LIVES * sizeof *lives);
    int before = open_descriptors();
    for (int i = 0; i < LIVES; i++) {
        lives[i].left = 60;
        step_init(t, &lives[i].post, be_born, &lives[i]);
        step_init(t, &lives[i].send, live_on, &lives[i]);
        step_init(t, &lives[i].recv, live_on, &lives[i]);
        start_post(&lives[i].post);
    }
    RUN_LOOP(t);
    for (int i = 0; i < LIVES; i++) {
        EXPECT(t, lives[i].left == 0, "%d lives left", lives[i].left);
    }
    EXPECT(t, open_descriptors() == before, "%d descriptors more than before",
           open_descriptors() - before);
}

static void restart_timer(struct step *step)
{
    if (step->completions < 300) {
        start_timer(step, step->completions % 3 * 100000);
    }
}

static void timers_of_all_threads_fire(struct contract *t)
{
    enum {
        TIMERS = 16
    };
    struct step timers[TIMERS];
    for (int i = 0; i < TIMERS; i++) {
        step_init(t, &timers[i], restart_timer, NULL);
        start_timer(&timers[i], 0);
    }
    RUN_LOOP(t);
    for (int i = 0; i < TIMERS; i++) {
        EXPECT(t, timers[i].completions == 300, "%u completions", timers[i].completions);
    }
}

/* --- ending all threads
 * --------------------------------------------------------------------------------------- */

static void stop_soon(struct step *step)
{
    contract_stop(step->test);
}

static void a_stop_wakes_all_threads(struct contract *t)
{
    struct victim *victims = contract_alloc(t, 8 * sizeof *victims);
    struct step *timer = contract_alloc(t, sizeof *timer);
    for (int i = 0; i < 8; i++) {
        if (half_pair(t, &victims[i].socket, &victims[i].peer)) {
            return;
        }
        step_init(t, &victims[i].recv, NULL, NULL);
        start_recv(&victims[i].recv, victims[i].socket, victims[i].buffer, 16);
    }
    step_init(t, timer, stop_soon, NULL);
    start_timer(timer, 5 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(timer, 0);
}

static void the_last_completion_lets_all_threads_return(struct contract *t)
{
    struct step timer;
    step_init(t, &timer, NULL, NULL);
    for (unsigned i = 1; i <= 100; i++) {
        start_timer(&timer, i % 4 * 200000);
        RUN_LOOP(t);
        EXPECT(t, timer.completions == i, "%u completions after %u runs", timer.completions, i);
    }
}

const struct contract_test contract_threads[] = {
    {"pairs play ping-pong over all threads", 6, NEEDS_THREADS | ALSO_LOCAL,
     pairs_play_ping_pong_over_all_threads},
    {"a relay over all threads neither stalls nor ends early", 7, NEEDS_THREADS | ALSO_LOCAL,
     a_relay_over_all_threads_neither_stalls_nor_ends_early},
    {"a storm of posts from all threads completes", 6, NEEDS_THREADS,
     a_storm_of_posts_from_all_threads_completes},
    {"any thread can close any socket", 6, NEEDS_THREADS | ALSO_LOCAL,
     any_thread_can_close_any_socket},
    {"any thread can cancel any receive", 6, NEEDS_THREADS | ALSO_LOCAL,
     any_thread_can_cancel_any_receive},
    {"any thread can cancel any timer", 6, NEEDS_THREADS, any_thread_can_cancel_any_timer},
    {"any thread can open, use and close sockets", 6, NEEDS_THREADS | ALSO_LOCAL,
     any_thread_can_open_use_and_close_sockets},
    {"timers of all threads fire", 6, NEEDS_THREADS, timers_of_all_threads_fire},
    {"a stop wakes all threads", 7, NEEDS_THREADS, a_stop_wakes_all_threads},
    {"the last completion lets all threads return", 7, NEEDS_THREADS,
     the_last_completion_lets_all_threads_return},
    {NULL, 0, 0, NULL},
};
