/* A registry for the test program loopmark_broken: one backend, `broken`, that has one defect at a
 * time (option `defect`), for the proof that `loopmark check` finds each (test_check.c).
 *
 * It takes the place of backends/registry.c in that program. The backend wraps poll: every
 * operation is a shadow operation of poll's, whose completion passes the result on, spoilt where
 * the defect says so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/registry.h"
#include "tests/contract/contract.h"

enum defect {
    SOUND,
    DROPS_A_COMPLETION,
    COMPLETES_TWICE,
    COMPLETES_INLINE,
    COUNTS_WRONG,
    SPOILS_A_BYTE,
    MIXES_UP_SOCKETS,
    MISTAKES_THE_END,
    CAUSES_SIGPIPE,
    CLOSES_SILENTLY,
    KEEPS_DESCRIPTORS,
    LOSES_A_WAKE_UP,
    LOSES_A_STOP,
    IGNORES_CANCEL,
    REORDERS_POSTS,
    STARVES_SOCKETS,
    FIRES_EARLY,
    SWALLOWS_EMFILE,
    CALLS_BACK_ON_DESTROY,
    COUNTS_BACKWARDS,
    RETURNS_EARLY,
    NEVER_RETURNS,
    ALLOCATES,
    WAKES_THE_NEW_OWNER
};

/* In the order of enum defect. */
static const char *const defect_words[] = {"none",
                                           "drops_a_completion",
                                           "completes_twice",
                                           "completes_inline",
                                           "counts_wrong",
                                           "spoils_a_byte",
                                           "mixes_up_sockets",
                                           "mistakes_the_end",
                                           "causes_sigpipe",
                                           "closes_silently",
                                           "keeps_descriptors",
                                           "loses_a_wake_up",
                                           "loses_a_stop",
                                           "ignores_cancel",
                                           "reorders_posts",
                                           "starves_sockets",
                                           "fires_early",
                                           "swallows_emfile",
                                           "calls_back_on_destroy",
                                           "counts_backwards",
                                           "returns_early",
                                           "never_returns",
                                           "allocates",
                                           "wakes_the_new_owner",
                                           NULL};
static const struct lm_option options[] = {
    {"defect", "what is wrong with it", SOUND, SOUND, WAKES_THE_NEW_OWNER, defect_words},
    {NULL, NULL, 0, 0, 0, NULL},
};

struct shadow {
    struct lm_op op; /* poll's */
    struct lm_op *user;
    struct shadow *next; /* in `unused`, `held` or `chained` */
    struct shadow *all;  /* every one ever made: they are never given back */
    enum step_kind kind;
    size_t bytes;
    uint8_t *buffer;
    bool busy;
};

static const struct lm_backend *const sound = &lm_backend_poll;
static enum defect defect;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists below */
static struct shadow *unused, *all;
static struct shadow *held; /* posts that wait for something else to happen */
static struct lm_loop *held_loop;
static struct shadow *chained;     /* STARVES_SOCKETS: posted by the post that is completing */
static struct lm_socket *previous; /* MIXES_UP_SOCKETS */
static _Thread_local bool runs_loop, completing_post;
static atomic_uint completions, receives, readings;
static struct lm_loop *latest_loop; /* WAKES_THE_NEW_OWNER */
static atomic_bool stale;           /* ... a socket was closed since the last receive */
static struct shadow eternal;       /* NEVER_RETURNS: a timer of its own */
static void *volatile hoard;        /* ALLOCATES */

static void shadow_done(struct lm_op *op, int64_t result);

static struct shadow *take_shadow(struct lm_op *user, enum step_kind kind)
{
    pthread_mutex_lock(&lock);
    struct shadow *shadow = unused;
    if (shadow) {
        unused = shadow->next;
    } else if ((shadow = calloc(1, sizeof *shadow))) {
        shadow->all = all;
        all = shadow;
    } else {
        abort();
    }
    pthread_mutex_unlock(&lock);
    struct shadow *chain = shadow->all;
    *shadow = (struct shadow){
        .op = {.done = shadow_done}, .user = user, .all = chain, .kind = kind, .busy = true};
    user->backend_private[0] = (uintptr_t)shadow;
    return shadow;
}

static void give_back(struct shadow *shadow)
{
    pthread_mutex_lock(&lock);
    shadow->busy = false;
    shadow->next = unused;
    unused = shadow;
    pthread_mutex_unlock(&lock);
}

static void release_held(void)
{
    pthread_mutex_lock(&lock);
    struct shadow *shadow = held;
    held = NULL;
    pthread_mutex_unlock(&lock);
    if (shadow) {
        sound->post(held_loop, &shadow->op);
    }
}

/* The result as the defect makes it. *drop: nobody is told. */
static int64_t spoil(const struct shadow *shadow, int64_t result, bool *drop)
{
    *drop = (defect == DROPS_A_COMPLETION && completions == 50) ||
            (defect == CLOSES_SILENTLY && result == -ECANCELED) ||
            (defect == SWALLOWS_EMFILE && result == -EMFILE);
    if (defect == COUNTS_WRONG && shadow->kind == STEP_SEND && result > 0) {
        return (int64_t)shadow->bytes;
    }
    if (defect == MISTAKES_THE_END && shadow->kind == STEP_RECV && result == 0) {
        return -ECONNRESET;
    }
    if (defect == SPOILS_A_BYTE && shadow->kind == STEP_RECV && result > 0 && completions == 150) {
        shadow->buffer[result - 1] ^= 1;
    }
    if (defect == CAUSES_SIGPIPE && result == -EPIPE) {
        raise(SIGPIPE);
    }
    return result;
}

/* STARVES_SOCKETS: runs posts that posts have started, without ever returning to poll's loop. */
static void run_chained(void)
{
    struct shadow *shadow;
    while ((shadow = chained)) {
        struct lm_op *user = shadow->user;
        chained = shadow->next;
        user->backend_private[0] = 0;
        give_back(shadow);
        user->done(user, 0);
    }
}

static void shadow_done(struct lm_op *op, int64_t result)
{
    struct shadow *shadow = (struct shadow *)op;
    struct lm_op *user = shadow->user;
    bool is_post = shadow->kind == STEP_POST, drop;
    completions++;
    release_held();
    result = spoil(shadow, result, &drop);
    user->backend_private[0] = 0;
    give_back(shadow);
    if (drop) {
        return;
    }
    completing_post = is_post;
    user->done(user, result);
    if (defect == STARVES_SOCKETS && is_post) {
        run_chained();
    }
    completing_post = false;
    if (defect == COMPLETES_TWICE && completions == 50) {
        user->done(user, result);
    }
}

/* --- the contract -------------------------------------------------------------------------------
 */

static void eternity_ends(struct lm_op *op, int64_t result)
{
    (void)op, (void)result;
}

static int broken_run(struct lm_loop *loop)
{
    if (defect == RETURNS_EARLY) {
        return 0;
    }
    if (defect == NEVER_RETURNS) {
        eternal.op = (struct lm_op){.done = eternity_ends};
        sound->timer(loop, &eternal.op, HOUR_NS);
    }
    runs_loop = true;
    int result = sound->loop_run(loop);
    runs_loop = false;
    return result;
}

static void broken_stop(struct lm_loop *loop)
{
    if (defect != LOSES_A_STOP || runs_loop) {
        sound->loop_stop(loop);
    }
}

static void broken_destroy(struct lm_loop *loop)
{
    sound->loop_destroy(loop);
    for (struct shadow *shadow = all; shadow; shadow = shadow->all) {
        if (defect == CALLS_BACK_ON_DESTROY && shadow->busy) {
            shadow->user->done(shadow->user, -ECANCELED);
        }
        shadow->busy = false;
    }
}

static void broken_counters(struct lm_loop *loop, struct lm_counters *counters)
{
    sound->loop_counters(loop, counters);
    if (defect == COUNTS_BACKWARDS) {
        counters->waits = 1000000u - ++readings;
    }
}

static int broken_open(struct lm_loop *loop, int fd, uint32_t affinity, struct lm_socket **socket)
{
    if (defect == KEEPS_DESCRIPTORS && dup(fd) < 0) {
        return -errno;
    }
    return sound->socket_open(loop, fd, affinity, socket);
}

static void broken_close(struct lm_socket *socket)
{
    stale = true;
    sound->socket_close(socket);
}

static void broken_accept(struct lm_socket *listener, struct lm_op *op, struct lm_socket **accepted)
{
    sound->accept(listener, &take_shadow(op, STEP_ACCEPT)->op, accepted);
}

static void broken_connect(struct lm_socket *socket, struct lm_op *op,
                           const struct sockaddr *address, socklen_t bytes)
{
    sound->connect(socket, &take_shadow(op, STEP_CONNECT)->op, address, bytes);
}

static void broken_recv(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes)
{
    struct shadow *shadow = take_shadow(op, STEP_RECV);
    struct lm_socket *wrong = previous;
    shadow->buffer = buffer;
    previous = socket;
    if (defect == WAKES_THE_NEW_OWNER && atomic_exchange(&stale, false)) {
        sound->post(latest_loop, &shadow->op); /* the end of a stream that is another's */
        return;
    }
    if (defect == MIXES_UP_SOCKETS && wrong && ++receives % 100 == 0) {
        socket = wrong;
    }
    sound->recv(socket, &shadow->op, buffer, bytes);
}

static void broken_send(struct lm_socket *socket, struct lm_op *op, const void *buffer,
                        size_t bytes)
{
    struct shadow *shadow = take_shadow(op, STEP_SEND);
    if (defect == ALLOCATES) {
        void **block = malloc(100);
        if (block) {
            *block = hoard;
        }
        hoard = block;
    }
    shadow->bytes = bytes;
    sound->send(socket, &shadow->op, buffer, bytes);
}

/* Keeps a post until something else completes. */
static void hold(struct lm_loop *loop, struct shadow *shadow)
{
    pthread_mutex_lock(&lock);
    shadow->next = held;
    held = shadow;
    held_loop = loop;
    pthread_mutex_unlock(&lock);
}

static void broken_post(struct lm_loop *loop, struct lm_op *op)
{
    struct shadow *shadow = take_shadow(op, STEP_POST);
    if (defect == COMPLETES_INLINE) {
        give_back(shadow);
        op->done(op, 0);
    } else if (defect == LOSES_A_WAKE_UP && !runs_loop) {
        hold(loop, shadow);
    } else if (defect == STARVES_SOCKETS && completing_post) {
        shadow->next = chained;
        chained = shadow;
    } else if (defect == REORDERS_POSTS && !held) {
        hold(loop, shadow);
    } else {
        sound->post(loop, &shadow->op);
        release_held();
    }
}

static void broken_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns)
{
    uint64_t early_ns = defect == FIRES_EARLY ? delay_ns / 10 : 0;
    sound->timer(loop, &take_shadow(op, STEP_TIMER)->op, delay_ns - early_ns);
}

static void broken_cancel(struct lm_loop *loop, struct lm_op *op)
{
    struct shadow *shadow = (struct shadow *)op->backend_private[0];
    if (shadow && defect != IGNORES_CANCEL) {
        sound->cancel(loop, &shadow->op);
    }
}

/* --- the registry
 * ----------------------------------------------------------------------------------- */

/* poll's own settings stay as they are. */
static void poll_settings(uint64_t settings[LM_MAX_OPTIONS])
{
    for (size_t i = 0; sound->options[i].key; i++) {
        settings[i] = sound->options[i].default_value;
    }
}

static int broken_available(const uint64_t *values, char *why, size_t why_bytes)
{
    uint64_t settings[LM_MAX_OPTIONS];
    (void)values;
    poll_settings(settings);
    return sound->available(settings, why, why_bytes);
}

static int broken_create(const struct lm_loop_config *config, struct lm_loop **loop)
{
    uint64_t settings[LM_MAX_OPTIONS];
    struct lm_loop_config of_poll = *config;
    defect = (enum defect)config->options[0];
    poll_settings(settings);
    of_poll.options = settings;
    int result = sound->loop_create(&of_poll, loop);
    latest_loop = result ? NULL : *loop;
    return result;
}

static struct lm_backend broken;
static const struct lm_registered registered = {.name = "broken", .backend = &broken};

size_t lm_backend_count(void)
{
    return 1;
}

const struct lm_registered *lm_backend_at(size_t index)
{
    (void)index;
    broken = *sound;
    broken.name = broken.title = "broken";
    broken.options = options;
    broken.available = broken_available;
    broken.describe = NULL;
    broken.loop_create = broken_create;
    broken.loop_run = broken_run;
    broken.loop_stop = broken_stop;
    broken.loop_destroy = broken_destroy;
    broken.loop_counters = broken_counters;
    broken.socket_open = broken_open;
    broken.socket_close = broken_close;
    broken.accept = broken_accept;
    broken.connect = broken_connect;
    broken.recv = broken_recv;
    broken.send = broken_send;
    broken.post = broken_post;
    broken.timer = broken_timer;
    broken.cancel = broken_cancel;
    return &registered;
}

const char *const *lm_default_specs(void)
{
    static const char *const specs[] = {"broken", NULL};
    return specs;
}
