#include "backends/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/clock.h"
#include "backends/timers.h"

/* An inbox link is a pointer whose low bits say what it asks for. Operations are aligned to a word
 * and slab items to a cache line, so the bits are free. */
enum message {
    MESSAGE_START = 1,
    MESSAGE_CANCEL = 2,
    MESSAGE_CLOSE = 3,
    MESSAGE_MASK = 3
};

/* Link of the last message of an inbox: not 0, because 0 says that a cancel is in no inbox. */
#define MESSAGE_END ((uintptr_t)MESSAGE_CLOSE)

/* The lane this thread is running now; NULL outside loop_run. */
static _Thread_local struct lm_lane *current_lane;

static struct lm_lane *lane_of(struct lm_loop *loop, struct lm_op *op)
{
    return loop->lanes[atomic_load_explicit(&lm_work_of(op)->home, memory_order_relaxed)];
}

void lm_queue_remove(struct lm_queue *queue, struct lm_op *op)
{
    struct lm_op *before = NULL;
    for (struct lm_op *at = queue->first; at; before = at, at = lm_work_of(at)->next) {
        if (at != op) {
            continue;
        }
        struct lm_op *after = lm_work_of(op)->next;
        if (before) {
            lm_work_of(before)->next = after;
        } else {
            queue->first = after;
        }
        if (!after) {
            queue->last = before;
        }
        return;
    }
}

/* --- messages -----------------------------------------------------------------------------------
 */

static void lane_wake(struct lm_lane *lane)
{
    if (atomic_load(&lane->asleep) && atomic_exchange(&lane->asleep, false)) {
        atomic_fetch_add_explicit(&lane->loop->wakeups, 1, memory_order_relaxed);
        lane->loop->engine->wake(lane);
    }
}

static void loop_wake_all(struct lm_loop *loop)
{
    for (uint32_t i = 0; i < loop->lane_count; i++) {
        lane_wake(loop->lanes[i]);
    }
}

/* Where the message keeps its link. */
static _Atomic uintptr_t *message_link(uintptr_t message)
{
    void *object = (void *)(message & ~(uintptr_t)MESSAGE_MASK);
    switch (message & MESSAGE_MASK) {
    case MESSAGE_START:
        /* Not in any list yet, so `next` is free to be the link. */
        return (_Atomic uintptr_t *)&lm_work_of(object)->next;
    case MESSAGE_CANCEL:
        return &lm_work_of(object)->cancel_link;
    default:
        return &((struct lm_base *)object)->close_link;
    }
}

static void lane_send(struct lm_lane *lane, void *object, enum message what)
{
    uintptr_t message = (uintptr_t)object | what;
    _Atomic uintptr_t *link = message_link(message);
    if (lane->loop->shared) {
        atomic_fetch_add(&lane->loop->busy, 1);
    }
    uintptr_t head = atomic_load_explicit(&lane->inbox, memory_order_relaxed);
    do {
        atomic_store_explicit(link, head ? head : MESSAGE_END, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&lane->inbox, &head, message));
    lane_wake(lane);
}

static void lane_start(struct lm_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    lane->outstanding++;
    switch (work->kind) {
    case LM_OP_POST:
        lm_lane_complete(lane, op, 0);
        return;
    case LM_OP_TIMER:
        lm_timers_add(lane, op);
        return;
    case LM_OP_RECV:
    case LM_OP_ACCEPT:
        work->socket->in = op;
        break;
    default:
        work->socket->out = op;
    }
    work->state = LM_OP_QUEUED;
    lane->loop->engine->start(lane, op);
}

static void lane_cancel(struct lm_lane *lane, struct lm_op *op)
{
    switch (lm_work_of(op)->state) {
    case LM_OP_TIMING:
        lm_timers_remove(lane, op);
        lm_lane_complete(lane, op, -ECANCELED);
        break;
    case LM_OP_QUEUED:
    case LM_OP_PARKED:
        lane->loop->engine->cancel(lane, op);
        break;
    default:
        break;
    }
}

static void lane_close_socket(struct lm_lane *lane, struct lm_base *base)
{
    if (base->in) {
        lane_cancel(lane, base->in);
    }
    if (base->out) {
        lane_cancel(lane, base->out);
    }
    lane->loop->engine->close(lane, base);
}

static void lane_handle(struct lm_lane *lane, uintptr_t message)
{
    void *object = (void *)(message & ~(uintptr_t)MESSAGE_MASK);
    switch (message & MESSAGE_MASK) {
    case MESSAGE_START:
        lane_start(lane, object);
        break;
    case MESSAGE_CANCEL:
        lane_cancel(lane, object);
        break;
    default:
        lane_close_socket(lane, object);
    }
}

/* Takes all messages, oldest first. */
static void lane_take_messages(struct lm_lane *lane)
{
    struct lm_loop *loop = lane->loop;
    uintptr_t newest = atomic_exchange(&lane->inbox, 0), oldest = MESSAGE_END;
    uint64_t count = 0;
    while (newest != MESSAGE_END) {
        _Atomic uintptr_t *link = message_link(newest);
        uintptr_t older = atomic_load_explicit(link, memory_order_relaxed);
        atomic_store_explicit(link, oldest, memory_order_relaxed);
        oldest = newest;
        newest = older;
        count++;
    }
    if (loop->shared && !lane->counted) {
        lane->counted = true;
        atomic_fetch_add(&loop->busy, 1);
    }
    while (oldest != MESSAGE_END) {
        _Atomic uintptr_t *link = message_link(oldest);
        uintptr_t next = atomic_load_explicit(link, memory_order_relaxed);
        if ((oldest & MESSAGE_MASK) == MESSAGE_CANCEL) {
            atomic_store(link, 0); /* the operation may be cancelled anew from here on */
        }
        lane_handle(lane, oldest);
        oldest = next;
    }
    if (loop->shared) {
        atomic_fetch_sub(&loop->busy, count); /* this lane is counted, so it can not reach 0 here */
    }
}

static inline void lane_take_inbox(struct lm_lane *lane)
{
    if (atomic_load_explicit(&lane->inbox, memory_order_relaxed)) {
        lane_take_messages(lane);
    }
}

bool lm_lane_may_sleep(struct lm_lane *lane)
{
    struct lm_loop *loop = lane->loop;
    if (loop->lockless) {
        return true;
    }
    atomic_store(&lane->asleep, true);
    if (!atomic_load(&lane->inbox) && !atomic_load(&loop->stopped) &&
        (!loop->shared || atomic_load(&loop->busy))) {
        return true;
    }
    lm_lane_woke(lane);
    return false;
}

void lm_lane_woke(struct lm_lane *lane)
{
    if (!lane->loop->lockless) {
        atomic_store_explicit(&lane->asleep, false, memory_order_relaxed);
    }
}

static inline bool is_stopped(struct lm_loop *loop)
{
    return atomic_load_explicit(&loop->stopped, memory_order_relaxed);
}

bool lm_lane_spin(struct lm_lane *lane, int (*look)(struct lm_lane *lane), uint64_t spin_ns,
                  int64_t *timeout_ns, int *result)
{
    uint64_t begin_ns = lm_clock_ns(), spent_ns = 0;
    uint64_t timeout_left_ns = *timeout_ns < 0 ? UINT64_MAX : (uint64_t)*timeout_ns;
    uint64_t limit_ns = timeout_left_ns < spin_ns ? timeout_left_ns : spin_ns;
    do {
        *result = look(lane);
        if (*result || lane->ready.first || is_stopped(lane->loop) ||
            atomic_load_explicit(&lane->inbox, memory_order_relaxed)) {
            return true;
        }
        spent_ns = lm_clock_ns() - begin_ns;
    } while (spent_ns < limit_ns);
    if (*timeout_ns >= 0) {
        *timeout_ns = spent_ns < timeout_left_ns ? (int64_t)(timeout_left_ns - spent_ns) : 0;
    }
    return *timeout_ns == 0;
}

/* --- running
 * -------------------------------------------------------------------------------------- */

/* One generation of completions: those ready now, not those their callbacks make ready. Its size is
 * bounded by the operations outstanding. It is not cut into smaller budgets: in a prototype with 64
 * requests under way a cut at 64 cost 15 % of throughput. */
static void lane_run_ready(struct lm_lane *lane)
{
    struct lm_queue generation = lane->ready;
    lane->ready.first = NULL;
    struct lm_op *op;
    while ((op = lm_queue_pop(&generation))) {
        struct lm_work *work = lm_work_of(op);
        work->state = LM_OP_IDLE;
        lane->outstanding--;
        op->done(op, work->result);
    }
}

/* The lane has nothing outstanding: does no other lane have either, so far as can be known? */
static bool lane_finished(struct lm_lane *lane)
{
    struct lm_loop *loop = lane->loop;
    if (!loop->shared) {
        return loop->lockless || !atomic_load(&lane->inbox);
    }
    if (lane->counted) {
        lane->counted = false;
        if (atomic_fetch_sub(&loop->busy, 1) == 1) {
            loop_wake_all(loop);
        }
    }
    return !atomic_load(&loop->busy);
}

static int64_t lane_timeout_ns(struct lm_lane *lane)
{
    if (lane->timers) {
        uint64_t now_ns = lm_clock_ns(), due_ns = lm_work_of(lane->timers)->due_ns;
        lm_timers_expire(lane, now_ns);
        if (!lane->ready.first) {
            return (int64_t)(due_ns - now_ns);
        }
    }
    return lane->ready.first ? 0 : -1;
}

static int lane_run(struct lm_lane *lane)
{
    struct lm_loop *loop = lane->loop;
    int result = 0;
    while (!result && !is_stopped(loop)) {
        if (!loop->lockless) {
            lane_take_inbox(lane);
        }
        lane_run_ready(lane);
        if ((!lane->outstanding && lane_finished(lane)) || is_stopped(loop)) {
            break;
        }
        result = loop->engine->turn(lane, lane_timeout_ns(lane));
    }
    return result;
}

/* The lane of this thread: the one it ran before, or the first that no thread has. */
static struct lm_lane *loop_take_lane(struct lm_loop *loop, int *result)
{
    pthread_t self = pthread_self();
    struct lm_lane *found = NULL;
    *result = 0;
    if (loop->shared) {
        pthread_mutex_lock(&loop->taking);
    }
    for (uint32_t i = 0; i < loop->lane_count && !found; i++) {
        if (loop->lanes[i]->owned && pthread_equal(loop->lanes[i]->owner, self)) {
            found = loop->lanes[i];
        }
    }
    for (uint32_t i = 0; i < loop->lane_count && !found; i++) {
        struct lm_lane *lane = loop->lanes[i];
        if (!lane->owned) {
            *result = loop->engine->lane_enter ? loop->engine->lane_enter(lane) : 0;
            lane->owned = *result == 0;
            lane->owner = self;
            found = lane;
        }
    }
    if (loop->shared) {
        pthread_mutex_unlock(&loop->taking);
    }
    if (!found) {
        *result = -EBUSY; /* more threads than lm_loop_config.threads, or other ones than before */
    }
    return found;
}

int lm_loop_run(struct lm_loop *loop)
{
    int result;
    struct lm_lane *lane = loop_take_lane(loop, &result);
    if (result) {
        return result;
    }
    struct lm_lane *outer = current_lane;
    current_lane = lane;
    result = lane_run(lane);
    if (result && loop->shared) {
        lm_loop_stop(
            loop); /* what lives on this lane never ends, so the others would wait for it */
    }
    if (loop->engine->lane_leave) {
        loop->engine->lane_leave(lane);
    }
    current_lane = outer;
    return result;
}

void lm_loop_stop(struct lm_loop *loop)
{
    atomic_store(&loop->stopped, true);
    if (!loop->lockless) {
        loop_wake_all(loop);
    }
}

/* --- starting
 * ------------------------------------------------------------------------------------- */

/* Shared loops only: the calling thread may touch the lane directly. Before the first loop_run that
 * is nobody, so everything goes through the inbox. */
static bool is_elsewhere(const struct lm_lane *lane)
{
    return lane->loop->shared && current_lane != lane;
}

static void start(struct lm_lane *lane, struct lm_op *op, bool elsewhere)
{
    atomic_store_explicit(&lm_work_of(op)->home, (uint16_t)lane->index, memory_order_relaxed);
    if (elsewhere) {
        lane_send(lane, op, MESSAGE_START);
    } else {
        lane_start(lane, op);
    }
}

static void start_on_socket(struct lm_socket *socket, struct lm_op *op, enum lm_op_kind kind,
                            const void *buffer, size_t bytes)
{
    struct lm_base *base = (struct lm_base *)socket;
    struct lm_work *work = lm_work_of(op);
    work->socket = base;
    work->buffer = (void *)(uintptr_t)buffer;
    work->bytes = bytes;
    work->kind = (uint8_t)kind;
    start(base->lane, op, is_elsewhere(base->lane));
}

void lm_loop_recv(struct lm_socket *socket, struct lm_op *op, void *buffer, size_t bytes)
{
    start_on_socket(socket, op, LM_OP_RECV, buffer, bytes);
}

void lm_loop_send(struct lm_socket *socket, struct lm_op *op, const void *buffer, size_t bytes)
{
    start_on_socket(socket, op, LM_OP_SEND, buffer, bytes);
}

void lm_loop_accept(struct lm_socket *listener, struct lm_op *op, struct lm_socket **accepted)
{
    lm_work_of(op)->accepted = accepted;
    start_on_socket(listener, op, LM_OP_ACCEPT, NULL, 0);
}

void lm_loop_connect(struct lm_socket *socket, struct lm_op *op, const struct sockaddr *address,
                     socklen_t address_bytes)
{
    lm_work_of(op)->address = address;
    start_on_socket(socket, op, LM_OP_CONNECT, NULL, address_bytes);
}

void lm_loop_post(struct lm_loop *loop, struct lm_op *op)
{
    lm_work_of(op)->kind = LM_OP_POST;
    struct lm_lane *here = current_lane;
    if (here && here->loop == loop) {
        start(here, op, false);
    } else if (loop->lockless) {
        start(loop->lanes[0], op, false);
    } else {
        uint32_t turn = atomic_fetch_add_explicit(&loop->next_lane, 1, memory_order_relaxed);
        start(loop->lanes[turn % loop->lane_count], op, true);
    }
}

void lm_loop_timer(struct lm_loop *loop, struct lm_op *op, uint64_t delay_ns)
{
    struct lm_work *work = lm_work_of(op);
    uint64_t now_ns = lm_clock_ns();
    work->kind = LM_OP_TIMER;
    work->due_ns = delay_ns < INT64_MAX - now_ns ? now_ns + delay_ns : INT64_MAX;
    struct lm_lane *lane = loop->lanes[0];
    if (current_lane && current_lane->loop == loop) {
        lane = current_lane;
    }
    start(lane, op, is_elsewhere(lane));
}

void lm_loop_cancel(struct lm_loop *loop, struct lm_op *op)
{
    struct lm_lane *lane = lane_of(loop, op);
    if (!is_elsewhere(lane)) {
        if (!loop->lockless) {
            lane_take_inbox(lane); /* the start itself may still be on its way */
        }
        lane_cancel(lane, op);
        return;
    }
    uintptr_t unlinked = 0;
    /* Linked once only: a second cancel before the first is acted on adds nothing. */
    if (atomic_compare_exchange_strong(&lm_work_of(op)->cancel_link, &unlinked, MESSAGE_CANCEL)) {
        lane_send(lane, op, MESSAGE_CANCEL);
    }
}

struct lm_base *lm_lane_socket(struct lm_lane *lane, int fd)
{
    struct lm_base *base = lm_slab_take(&lane->sockets);
    if (base) {
        base->lane = lane;
        base->fd = fd;
    }
    return base;
}

int lm_loop_socket_open(struct lm_loop *loop, int fd, uint32_t affinity, struct lm_socket **socket)
{
    struct lm_base *base = lm_lane_socket(loop->lanes[affinity % loop->lane_count], fd);
    if (!base) {
        return -ENOMEM;
    }
    *socket = (struct lm_socket *)base;
    return 0;
}

void lm_loop_socket_close(struct lm_socket *socket)
{
    struct lm_base *base = (struct lm_base *)socket;
    struct lm_lane *lane = base->lane;
    if (is_elsewhere(lane)) {
        lane_send(lane, base, MESSAGE_CLOSE);
        return;
    }
    if (lane->loop->shared) {
        lane_take_inbox(lane); /* operations on this socket may still be on their way */
    }
    lane_close_socket(lane, base);
}

/* --- making and freeing
 * --------------------------------------------------------------------------- */

static void lane_free(struct lm_lane *lane)
{
    lane->loop->engine->lane_close(lane);
    for (uint32_t i = 0; i < lane->sockets.count; i++) {
        struct lm_base *base = (struct lm_base *)lm_slab_at(&lane->sockets, i);
        if (lm_slab_used(&base->slab) && base->fd >= 0) {
            close(base->fd);
        }
    }
    lm_slab_destroy(&lane->sockets);
    free(lane);
}

static int lane_create(struct lm_loop *loop, const struct lm_loop_config *config)
{
    const struct lm_engine *engine = loop->engine;
    size_t bytes = (engine->lane_bytes + 63) / 64 * 64;
    struct lm_lane *lane = aligned_alloc(64, bytes);
    if (!lane) {
        return -ENOMEM;
    }
    memset(lane, 0, bytes);
    lane->loop = loop;
    lane->index = loop->lane_count;
    int result = lm_slab_init(&lane->sockets, engine->socket_bytes, config->threads > 1);
    if (!result) {
        result = engine->lane_open(lane, config);
    }
    if (result) {
        lm_slab_destroy(&lane->sockets);
        free(lane);
        return result;
    }
    loop->lanes[loop->lane_count++] = lane;
    return 0;
}

int lm_loop_create(const struct lm_engine *engine, const struct lm_loop_config *config,
                   struct lm_loop **created)
{
    if (config->threads < 1 || config->threads > LM_MAX_THREADS ||
        (config->lockless && config->threads > 1)) {
        return -EINVAL;
    }
    struct lm_loop *loop = calloc(1, sizeof(*loop));
    if (!loop) {
        return -ENOMEM;
    }
    loop->engine = engine;
    loop->lockless = config->lockless;
    loop->shared = config->threads > 1;
    pthread_mutex_init(&loop->taking, NULL);
    for (uint32_t i = 0; i < config->threads; i++) {
        int result = lane_create(loop, config);
        if (result) {
            lm_loop_destroy(loop);
            return result;
        }
    }
    *created = loop;
    return 0;
}

void lm_loop_destroy(struct lm_loop *loop)
{
    for (uint32_t i = 0; i < loop->lane_count; i++) {
        lane_free(loop->lanes[i]);
    }
    pthread_mutex_destroy(&loop->taking);
    free(loop);
}

void lm_loop_counters(struct lm_loop *loop, struct lm_counters *counters)
{
    memset(counters, 0, sizeof(*counters));
    for (uint32_t i = 0; i < loop->lane_count; i++) {
        lm_counters_add(counters, &loop->lanes[i]->counters);
    }
    uint64_t wakeups = atomic_load_explicit(&loop->wakeups, memory_order_relaxed);
    counters->wakeups += wakeups;
    counters->syscalls[LM_SYS_WRITE] += wakeups;
}
