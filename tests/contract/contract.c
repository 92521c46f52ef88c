/* contract.c - what every contract test stands on: steps, their checks, and the threads of a loop.
 */
#include "tests/contract/contract.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/internal.h"

/* How deep this thread is inside a call that starts something, and inside loop_run. */
static _Thread_local int in_call, in_run;

/* The threads beside the test's own that run a shared loop; the same ones for every run. */
struct contract_crew {
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_t threads[LM_MAX_THREADS];
    uint32_t size, running;
    unsigned run; /* number of the run under way; tells a thread that it has not joined it yet */
    int result;   /* first failure of a loop_run */
    bool quit;
};

struct contract_block {
    struct contract_block *next;
    max_align_t data[];
};

/* --- what was seen ------------------------------------------------------------------------------
 */

static void stop_loops(struct contract *t)
{
    for (size_t i = 0; i < t->loop_count; i++) {
        t->backend->loop_stop(t->loops[i]);
    }
}

void contract_fail(struct contract *t, const char *file, int line, const char *expected,
                   const char *format, ...)
{
    pthread_mutex_lock(&t->outcome_lock);
    if (t->outcome.verdict == CONTRACT_PASSED) {
        const char *name = strrchr(file, '/');
        int used = snprintf(t->outcome.seen, sizeof t->outcome.seen,
                            "%s:%d: expected %s; saw: ", name ? name + 1 : file, line, expected);
        if (used > 0 && (size_t)used < sizeof t->outcome.seen) {
            va_list arguments;
            va_start(arguments, format);
            vsnprintf(t->outcome.seen + used, sizeof t->outcome.seen - (size_t)used, format,
                      arguments);
            va_end(arguments);
        }
        t->outcome.verdict = CONTRACT_FAILED;
    }
    t->failed = true;
    pthread_mutex_unlock(&t->outcome_lock);
    if (in_call == 0) { /* from inside a call of the backend its locks may be held */
        stop_loops(t);
    }
}

void contract_skip(struct contract *t, const char *format, ...)
{
    pthread_mutex_lock(&t->outcome_lock);
    if (t->outcome.verdict == CONTRACT_PASSED) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(t->outcome.seen, sizeof t->outcome.seen, format, arguments);
        va_end(arguments);
        t->outcome.verdict = CONTRACT_SKIPPED;
    }
    t->failed = true;
    pthread_mutex_unlock(&t->outcome_lock);
    if (in_call == 0) { /* as in contract_fail */
        stop_loops(t);
    }
}

/* --- steps --------------------------------------------------------------------------------------
 */

static const char *const kind_names[STEP_KINDS] = {"recv",    "send", "accept",
                                                   "connect", "post", "timer"};

const char *contract_kind(int kind)
{
    return kind_names[kind];
}

/* Rules 1 to 3, as far as one completion can show them. */
static void check_completion(struct contract *t, struct step *step, int64_t result)
{
    EXPECT(t, in_call == 0, "%s completed inside the call that started it", step->kind);
    EXPECT(t, in_run > 0, "%s completed outside loop_run", step->kind);
    EXPECT(t, result <= step->most_bytes, "%s completed with %lld, at most %lld are possible",
           step->kind, (long long)result, (long long)step->most_bytes);
    EXPECT(t, result >= -4095, "%s completed with %lld, which is no negative errno", step->kind,
           (long long)result);
    EXPECT(t, result != 0 || step->kind != kind_names[STEP_SEND], "send completed with 0 bytes");
}

static void step_done(struct lm_op *op, int64_t result)
{
    struct step *step = (struct step *)op;
    struct contract *t = step->test;
    if (atomic_exchange(&step->outstanding, 0) != 1) {
        contract_fail(t, __FILE__, __LINE__, "one completion per start",
                      "%s completed with %lld while it was not started", step->kind,
                      (long long)result);
        return;
    }
    check_completion(t, step, result);
    atomic_fetch_sub(&t->outstanding[step->kind_index], 1);
    if (in_call) {
        return; /* the lock may be held by this thread */
    }
    pthread_mutex_lock(&t->lock);
    step->result = result;
    step->completions++;
    if (step->then && !t->failed) {
        step->then(step);
    }
    pthread_mutex_unlock(&t->lock);
}

void step_init(struct contract *t, struct step *step, void (*then)(struct step *), void *context)
{
    *step = (struct step){.op = {.done = step_done}, .test = t, .then = then, .context = context};
}

static void begin(struct step *step, enum step_kind kind, size_t most_bytes)
{
    assert(step->outstanding == 0);
    step->kind_index = kind;
    step->kind = kind_names[kind];
    step->most_bytes = (int64_t)most_bytes;
    atomic_store(&step->outstanding, 1);
    atomic_fetch_add(&step->test->outstanding[kind], 1);
    in_call++;
}

void start_recv(struct step *step, struct lm_socket *socket, void *buffer, size_t bytes)
{
    begin(step, STEP_RECV, bytes);
    step->test->backend->recv(socket, &step->op, buffer, bytes);
    in_call--;
}

void start_send(struct step *step, struct lm_socket *socket, const void *buffer, size_t bytes)
{
    begin(step, STEP_SEND, bytes);
    step->test->backend->send(socket, &step->op, buffer, bytes);
    in_call--;
}

void start_accept(struct step *step, struct lm_socket *listener, struct lm_socket **accepted)
{
    begin(step, STEP_ACCEPT, 0);
    step->test->backend->accept(listener, &step->op, accepted);
    in_call--;
}

void start_connect(struct step *step, struct lm_socket *socket, const struct sockaddr *address,
                   socklen_t bytes)
{
    begin(step, STEP_CONNECT, 0);
    step->test->backend->connect(socket, &step->op, address, bytes);
    in_call--;
}

void start_post_on(struct step *step, struct lm_loop *loop)
{
    begin(step, STEP_POST, 0);
    step->test->backend->post(loop, &step->op);
    in_call--;
}

void start_timer_on(struct step *step, struct lm_loop *loop, uint64_t delay_ns)
{
    begin(step, STEP_TIMER, 0);
    step->test->backend->timer(loop, &step->op, delay_ns);
    in_call--;
}

void start_post(struct step *step)
{
    start_post_on(step, step->test->loop);
}

void start_timer(struct step *step, uint64_t delay_ns)
{
    start_timer_on(step, step->test->loop, delay_ns);
}

void cancel_step(struct step *step)
{
    in_call++;
    step->test->backend->cancel(step->test->loop, &step->op);
    in_call--;
}

/* --- sockets ------------------------------------------------------------------------------------
 */

struct lm_socket *open_socket_on(struct contract *t, struct lm_loop *loop, int fd,
                                 uint32_t affinity)
{
    struct lm_socket *socket = NULL;
    if (fd < 0) {
        return NULL; /* whoever made it has noted why */
    }
    in_call++;
    int result = t->backend->socket_open(loop, fd, affinity, &socket);
    in_call--;
    if (result != 0 || !socket) {
        contract_fail(t, __FILE__, __LINE__, "socket_open to return 0 and a socket", "%d (%s)",
                      result, strerror(-result));
        return NULL;
    }
    untrack_fd(t, fd);
    return socket;
}

struct lm_socket *open_socket(struct contract *t, int fd)
{
    return open_socket_on(t, t->loop, fd, t->next_affinity++);
}

void close_socket(struct contract *t, struct lm_socket *socket)
{
    in_call++;
    t->backend->socket_close(socket);
    in_call--;
}

/* --- running ------------------------------------------------------------------------------------
 */

int contract_run_here(struct contract *t, struct lm_loop *loop)
{
    in_run++;
    int result = t->backend->loop_run(loop);
    in_run--;
    return result;
}

static void *crew_member(void *context)
{
    struct contract *t = context;
    struct contract_crew *crew = t->crew;
    unsigned joined = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->run == joined && !crew->quit) {
            pthread_cond_wait(&crew->change, &crew->lock);
        }
        if (crew->quit) {
            break;
        }
        joined = crew->run;
        pthread_mutex_unlock(&crew->lock);
        int result = contract_run_here(t, t->loop);
        pthread_mutex_lock(&crew->lock);
        if (result && !crew->result) {
            crew->result = result;
        }
        crew->running--;
        pthread_cond_broadcast(&crew->change);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static int run_with_crew(struct contract *t)
{
    struct contract_crew *crew = t->crew;
    pthread_mutex_lock(&crew->lock);
    crew->run++;
    crew->running = crew->size;
    pthread_cond_broadcast(&crew->change);
    pthread_mutex_unlock(&crew->lock);

    int result = contract_run_here(t, t->loop);
    pthread_mutex_lock(&crew->lock);
    while (crew->running > 0) {
        pthread_cond_wait(&crew->change, &crew->lock);
    }
    if (!result) {
        result = crew->result;
    }
    pthread_mutex_unlock(&crew->lock);
    return result;
}

int contract_outstanding(struct contract *t)
{
    int sum = 0;
    for (int i = 0; i < STEP_KINDS; i++) {
        sum += t->outstanding[i];
    }
    return sum;
}

void contract_loop(struct contract *t)
{
    if (t->failed) {
        return;
    }
    int result = run_with_crew(t);
    if (t->failed) {
        return;
    }
    EXPECT(t, result == 0, "loop_run returned %d (%s)", result, strerror(-result));
    int left = contract_outstanding(t);
    EXPECT(t, left == 0 || t->stopped, "loop_run returned while %d operations were outstanding",
           left);
}

void contract_breathe(struct contract *t)
{
    pthread_mutex_unlock(&t->lock);
    usleep(50);
    pthread_mutex_lock(&t->lock);
}

void contract_stop(struct contract *t)
{
    t->stopped = true;
    in_call++;
    t->backend->loop_stop(t->loop);
    in_call--;
}

/* --- life of a test -----------------------------------------------------------------------------
 */

void *contract_alloc(struct contract *t, size_t bytes)
{
    struct contract_block *block = calloc(1, sizeof *block + bytes);
    if (!block) {
        abort(); /* a test's own need, a few megabytes at most */
    }
    pthread_mutex_lock(&t->outcome_lock);
    block->next = t->blocks;
    t->blocks = block;
    pthread_mutex_unlock(&t->outcome_lock);
    return block->data;
}

struct lm_loop *contract_new_loop(struct contract *t)
{
    struct lm_loop_config config = {.threads = t->subject->threads,
                                    .lockless = t->subject->lockless,
                                    .options = t->subject->options};
    struct lm_loop *loop = NULL;
    int result = t->backend->loop_create(&config, &loop);
    if (result == -ENOTSUP) {
        contract_skip(t, "the backend does not offer this mode with these settings");
        return NULL;
    }
    if (result || !loop) {
        contract_fail(t, __FILE__, __LINE__, "loop_create to return 0 and a loop", "%d (%s)",
                      result, strerror(-result));
        return NULL;
    }
    assert(t->loop_count < CONTRACT_LOOPS);
    t->loops[t->loop_count++] = loop;
    return loop;
}

void contract_destroy_loop(struct contract *t, struct lm_loop *loop)
{
    for (size_t i = 0; i < t->loop_count; i++) {
        if (t->loops[i] == loop) {
            t->loops[i] = t->loops[--t->loop_count];
            break;
        }
    }
    in_call++;
    t->backend->loop_destroy(loop);
    in_call--;
}

bool contract_open(struct contract *t, const struct contract_subject *subject, bool local)
{
    *t = (struct contract){.subject = subject, .backend = subject->backend, .local = local};
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_init(&t->outcome_lock, NULL);
    pthread_mutex_init(&t->pair_lock, NULL);
    t->raw = contract_alloc(t, (size_t)descriptor_limit());
    t->crew = contract_alloc(t, sizeof *t->crew);
    pthread_mutex_init(&t->crew->lock, NULL);
    pthread_cond_init(&t->crew->change, NULL);
    if (!open_pair_listener(t)) {
        return false;
    }
    t->loop = contract_new_loop(t);
    while (t->loop && t->crew->size + 1 < subject->threads) {
        if (pthread_create(&t->crew->threads[t->crew->size], NULL, crew_member, t)) {
            contract_skip(t, "no thread could be made");
            return false;
        }
        t->crew->size++;
    }
    return t->loop != NULL;
}

static void dismiss_crew(struct contract_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->quit = true;
    pthread_cond_broadcast(&crew->change);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < crew->size; i++) {
        pthread_join(crew->threads[i], NULL);
    }
}

void contract_close(struct contract *t)
{
    while (t->loop_count > 0) {
        contract_destroy_loop(t, t->loops[t->loop_count - 1]);
    }
    dismiss_crew(t->crew);
    int limit = descriptor_limit();
    for (int fd = 0; fd < limit; fd++) {
        if (t->raw[fd]) {
            reset_on_close(fd);
            close(fd);
        }
    }
    while (t->blocks) {
        struct contract_block *block = t->blocks;
        t->blocks = block->next;
        free(block);
    }
}
