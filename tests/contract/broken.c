/* broken.c - proof that the contract tests can fail: a backend with one defect at a time, each of
 * which the test that watches over it must catch, while the same backend without one passes.
 *
 * The backend wraps poll: every operation is a shadow operation of poll's, whose completion passes
 * the result on, spoilt where the defect says so.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
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
    COUNTS_BACKWARDS
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

static int broken_run(struct lm_loop *loop)
{
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
    if (defect == MIXES_UP_SOCKETS && wrong && ++receives % 100 == 0) {
        socket = wrong;
    }
    sound->recv(socket, &shadow->op, buffer, bytes);
}

static void broken_send(struct lm_socket *socket, struct lm_op *op, const void *buffer,
                        size_t bytes)
{
    struct shadow *shadow = take_shadow(op, STEP_SEND);
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

/* --- what must be caught ------------------------------------------------------------------------
 */

static const struct {
    enum defect defect;
    const char *what, *table, *test;
} claims[] = {
    {DROPS_A_COMPLETION, "drops a completion", "streams", "one byte at a time arrives whole"},
    {COMPLETES_TWICE, "completes an operation twice", "streams",
     "one byte at a time arrives whole"},
    {COMPLETES_INLINE, "completes inside the starting call", "loops",
     "nothing completes before the loop runs"},
    {COUNTS_WRONG, "reports more bytes than were sent", "streams",
     "short sends lose and invent nothing"},
    {SPOILS_A_BYTE, "changes one byte", "streams", "one byte at a time arrives whole"},
    {MIXES_UP_SOCKETS, "mixes up two sockets", "streams", "many streams do not mix"},
    {MISTAKES_THE_END, "reports the end of a stream as an error", "streams",
     "end of stream is zero and stays zero"},
    {CAUSES_SIGPIPE, "causes SIGPIPE", "streams",
     "sending to a closed peer is an error and no signal"},
    {CLOSES_SILENTLY, "forgets operations of a closed socket", "ends",
     "closing cancels both directions, later"},
    {KEEPS_DESCRIPTORS, "does not close descriptors", "connections",
     "many laps of connect and close keep nothing"},
    {LOSES_A_WAKE_UP, "does not wake up for a post", "loops",
     "every post wakes a loop that sleeps"},
    {LOSES_A_STOP, "does not wake up to stop", "loops",
     "another thread can stop a loop that sleeps"},
    {IGNORES_CANCEL, "ignores cancel", "timers", "a cancelled timer ends long before it is due"},
    {REORDERS_POSTS, "completes posts out of order", "loops", "posts complete in order"},
    {STARVES_SOCKETS, "lets posts starve sockets", "crowds",
     "a post that repeats itself starves nobody"},
    {FIRES_EARLY, "fires timers early", "timers", "a timer is never early"},
    {SWALLOWS_EMFILE, "hides that descriptors ran out", "connections",
     "an accept without descriptors fails and the next one works"},
    {CALLS_BACK_ON_DESTROY, "calls back while it is destroyed", "loops",
     "destroying a loop that never ran forgets its work"},
    {COUNTS_BACKWARDS, "counts backwards", "counters",
     "counters only grow and cover the work done"},
};

static const struct contract_test *find_test(const char *table_name, const char *test_name)
{
    for (const struct contract_table *table = contract_tables; table->subject; table++) {
        for (const struct contract_test *test = table->tests; test->name; test++) {
            if (!strcmp(table->subject, table_name) && !strcmp(test->name, test_name)) {
                return test;
            }
        }
    }
    return NULL;
}

/* The wrapped backend without a defect fails nowhere: number of failures. */
static int run_sound(const struct contract_subject *subject)
{
    int failures = 0;
    defect = SOUND;
    for (const struct contract_table *table = contract_tables; table->subject; table++) {
        for (const struct contract_test *test = table->tests; test->name; test++) {
            struct contract_outcome outcome;
            if (contract_skip_reason(subject, test, false)) {
                continue;
            }
            contract_run(subject, test, false, &outcome);
            if (outcome.verdict == CONTRACT_FAILED) {
                printf("FAIL without a defect: %s: %s\n", test->name, outcome.seen);
                failures++;
            }
        }
    }
    return failures;
}

int main(void)
{
    static struct lm_backend broken;
    static uint64_t options[32];
    char directory[] = "/tmp/loopmark-contract-XXXXXX";
    broken = *sound;
    broken.name = "broken";
    broken.loop_run = broken_run;
    broken.loop_stop = broken_stop;
    broken.loop_destroy = broken_destroy;
    broken.loop_counters = broken_counters;
    broken.socket_open = broken_open;
    broken.accept = broken_accept;
    broken.connect = broken_connect;
    broken.recv = broken_recv;
    broken.send = broken_send;
    broken.post = broken_post;
    broken.timer = broken_timer;
    broken.cancel = broken_cancel;
    for (size_t i = 0; sound->options && sound->options[i].key; i++) {
        options[i] = sound->options[i].default_value;
    }
    if (!mkdtemp(directory)) {
        perror(directory);
        return EXIT_FAILURE;
    }
    struct contract_subject subject = {.backend = &broken,
                                       .options = options,
                                       .threads = 1,
                                       .directory = directory,
                                       .limit_s = 30};
    int failures = run_sound(&subject);
    subject.limit_s = 2; /* a hang is the expected end of many */
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        struct contract_outcome outcome = {.verdict = CONTRACT_PASSED};
        const struct contract_test *test = find_test(claims[i].table, claims[i].test);
        defect = claims[i].defect;
        if (test) {
            contract_run(&subject, test, false, &outcome);
        }
        bool caught = outcome.verdict == CONTRACT_FAILED;
        printf("%s a backend that %s: %s: %s\n", caught ? "ok   caught" : "FAIL missed",
               claims[i].what, claims[i].test, test ? outcome.seen : "there is no such test");
        failures += !caught;
    }
    rmdir(directory);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
