#include "backends/reactor_epoll.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "backends/clock.h"

/* Figures of Asio's. */
#define EVENTS_PER_POLL 128
#define LONGEST_WAIT_US (5 * 60 * UINT64_C(1000000))

static struct lm_reactor *reactor_of(struct lm_reactor_poller *poller)
{
    return (struct lm_reactor *)(void *)((char *)poller - offsetof(struct lm_reactor, poller));
}

static int epoll_change(struct lm_reactor *reactor, int operation, int fd, uint32_t events,
                        void *tag)
{
    struct epoll_event event = {.events = events, .data.ptr = tag};

    LM_REACTOR_COUNT(reactor->scheduler, syscalls[LM_SYS_EPOLL_CTL]);
    return epoll_ctl(reactor->epoll_fd, operation, fd, &event) == 0 ? 0 : -errno;
}

/* The eventfd stays readable for ever: modifying its watch raises the edge again. */
static void interrupt(struct lm_reactor_poller *poller)
{
    struct lm_reactor *reactor = reactor_of(poller);

    epoll_change(reactor, EPOLL_CTL_MOD, reactor->event_fd, EPOLLIN | EPOLLERR | EPOLLET,
                 &reactor->event_fd);
}

/* With the registration mutex held. Relative and in whole microseconds, as Asio computes it; with
 * no timer it is set as well. */
static void set_timer_fd(struct lm_reactor *reactor)
{
    uint64_t wait_us = LONGEST_WAIT_US;
    struct itimerspec spec = {0};

    if (reactor->timers.count > 0) {
        uint64_t due_ns = reactor->timers.heap[0].due_ns;
        uint64_t now_ns = lm_clock_ns();

        wait_us = due_ns > now_ns ? (due_ns - now_ns) / 1000 : 0;
        if (due_ns > now_ns && wait_us == 0) {
            wait_us = 1;
        }
        wait_us = wait_us < LONGEST_WAIT_US ? wait_us : LONGEST_WAIT_US;
    }
    spec.it_value.tv_sec = (time_t)(wait_us / 1000000);
    spec.it_value.tv_nsec = wait_us > 0 ? (long)(wait_us % 1000000) * 1000 : 1;
    LM_REACTOR_COUNT(reactor->scheduler, syscalls[LM_SYS_TIMER_SET]);
    timerfd_settime(reactor->timer_fd, wait_us > 0 ? 0 : TFD_TIMER_ABSTIME, &spec, NULL);
}

static void check_timers(struct lm_reactor *reactor, struct lm_reactor_queue *found)
{
    lm_reactor_lock(&reactor->mutex);
    lm_reactor_timers_take_due(&reactor->timers, lm_clock_ns(), found);
    /* The timerfd is watched level-triggered and never read: setting it anew is what clears it. */
    set_timer_fd(reactor);
    lm_reactor_unlock(&reactor->mutex);
}

/* No I/O happens here: sockets with events become tasks. */
static int poll_events(struct lm_reactor_poller *poller, bool block, struct lm_reactor_queue *found)
{
    struct lm_reactor *reactor = reactor_of(poller);
    struct epoll_event events[EVENTS_PER_POLL];
    bool timers_due = false;

    LM_REACTOR_COUNT(reactor->scheduler, syscalls[LM_SYS_EPOLL_WAIT]);
    if (block) {
        LM_REACTOR_COUNT(reactor->scheduler, waits);
    }
    int count = epoll_wait(reactor->epoll_fd, events, EVENTS_PER_POLL, block ? -1 : 0);
    if (count < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    for (int i = 0; i < count; i++) {
        void *tag = events[i].data.ptr;

        if (tag == &reactor->event_fd) {
            continue;
        }
        if (tag == &reactor->timer_fd) {
            timers_due = true;
            continue;
        }
        struct lm_socket *socket = tag;
        if (lm_reactor_enqueued(found, &socket->task)) {
            socket->task.result |= events[i].events;
        } else {
            socket->task.result = events[i].events;
            lm_reactor_push(found, &socket->task);
        }
    }
    if (timers_due) {
        check_timers(reactor, found);
    }
    return 0;
}

int lm_reactor_open(struct lm_reactor *reactor, struct lm_reactor_scheduler *scheduler,
                    bool registration_locking, bool io_locking, const char **call)
{
    static const uint64_t one = 1;
    int rc;

    *reactor = (struct lm_reactor){.poller = {.poll = poll_events, .interrupt = interrupt},
                                   .scheduler = scheduler,
                                   .io_locking = io_locking,
                                   .epoll_fd = -1,
                                   .event_fd = -1,
                                   .timer_fd = -1};
    pthread_mutex_init(&reactor->mutex.mutex, NULL);
    reactor->mutex.enabled = registration_locking;

    *call = "epoll_create1";
    reactor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (reactor->epoll_fd < 0) {
        goto failed;
    }
    *call = "timerfd_create";
    reactor->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (reactor->timer_fd < 0) {
        goto failed;
    }
    *call = "eventfd";
    reactor->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reactor->event_fd < 0) {
        goto failed;
    }
    *call = "epoll_ctl";
    if (epoll_change(reactor, EPOLL_CTL_ADD, reactor->event_fd, EPOLLIN | EPOLLERR | EPOLLET,
                     &reactor->event_fd) != 0 ||
        epoll_change(reactor, EPOLL_CTL_ADD, reactor->timer_fd, EPOLLIN | EPOLLERR,
                     &reactor->timer_fd) != 0) {
        goto failed;
    }
    *call = "write to an eventfd";
    LM_REACTOR_COUNT(scheduler, syscalls[LM_SYS_WRITE]);
    if (write(reactor->event_fd, &one, sizeof(one)) < 0) {
        goto failed;
    }
    return 0;

failed:
    rc = -errno;
    lm_reactor_close(reactor);
    return rc;
}

static void close_if_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void free_sockets(struct lm_socket *socket)
{
    while (socket != NULL) {
        struct lm_socket *next = socket->next;

        close_if_open(socket->fd);
        pthread_mutex_destroy(&socket->mutex.mutex);
        free(socket);
        socket = next;
    }
}

void lm_reactor_close(struct lm_reactor *reactor)
{
    free_sockets(reactor->live);
    free_sockets(reactor->free);
    lm_reactor_timers_free(&reactor->timers);
    close_if_open(reactor->event_fd);
    close_if_open(reactor->timer_fd);
    close_if_open(reactor->epoll_fd);
    pthread_mutex_destroy(&reactor->mutex.mutex);
}

/* Does the queued operations of one direction that can be done. With the socket locked. */
static void perform_queued(struct lm_socket *socket, enum lm_reactor_direction direction,
                           struct lm_reactor_queue *done)
{
    struct lm_reactor_queue *queue = &socket->queues[direction];

    socket->try_speculative[direction] = true;
    while (queue->front != NULL) {
        struct lm_reactor_op *op = (struct lm_reactor_op *)queue->front;
        enum lm_reactor_status status = op->perform(op);

        if (status == LM_REACTOR_NOT_DONE) {
            break;
        }
        lm_reactor_push(done, lm_reactor_pop(queue));
        if (status == LM_REACTOR_DONE_AND_EXHAUSTED) {
            socket->try_speculative[direction] = false;
            break;
        }
    }
}

/* lm_reactor_task.run of a socket that epoll reported. */
static void socket_ready(struct lm_reactor_task *task, uint32_t events)
{
    struct lm_socket *socket =
        (struct lm_socket *)(void *)((char *)task - offsetof(struct lm_socket, task));
    struct lm_reactor_scheduler *scheduler = socket->reactor->scheduler;
    struct lm_reactor_queue done = {0};

    lm_reactor_lock(&socket->mutex);
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
        perform_queued(socket, LM_REACTOR_WRITE, &done);
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        perform_queued(socket, LM_REACTOR_READ, &done);
    }
    lm_reactor_unlock(&socket->mutex);

    /* The first operation completes as part of this task, whose end counts as the operation's. */
    struct lm_reactor_task *first = lm_reactor_pop(&done);
    if (first == NULL) {
        lm_reactor_work_compensate(scheduler);
        return;
    }
    lm_reactor_post_deferred(scheduler, &done);
    first->run(first, 0);
}

static struct lm_socket *new_socket(struct lm_reactor *reactor)
{
    struct lm_socket *socket = calloc(1, sizeof(*socket));

    if (socket != NULL) {
        socket->task.run = socket_ready;
        socket->fd = -1;
        socket->reactor = reactor;
        pthread_mutex_init(&socket->mutex.mutex, NULL);
        socket->mutex.enabled = reactor->io_locking;
    }
    return socket;
}

struct lm_socket *lm_reactor_take(struct lm_reactor *reactor)
{
    lm_reactor_lock(&reactor->mutex);
    struct lm_socket *socket = reactor->free;
    if (socket != NULL) {
        reactor->free = socket->next;
    } else {
        socket = new_socket(reactor);
    }
    if (socket != NULL) {
        socket->previous = NULL;
        socket->next = reactor->live;
        if (reactor->live != NULL) {
            reactor->live->previous = socket;
        }
        reactor->live = socket;
    }
    lm_reactor_unlock(&reactor->mutex);
    return socket;
}

void lm_reactor_give_back(struct lm_socket *socket)
{
    struct lm_reactor *reactor = socket->reactor;

    lm_reactor_lock(&reactor->mutex);
    if (socket->previous != NULL) {
        socket->previous->next = socket->next;
    } else {
        reactor->live = socket->next;
    }
    if (socket->next != NULL) {
        socket->next->previous = socket->previous;
    }
    socket->next = reactor->free;
    reactor->free = socket;
    lm_reactor_unlock(&reactor->mutex);
}

int lm_reactor_register(struct lm_socket *socket, int fd, bool possible_dup)
{
    static const uint32_t events = EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLPRI | EPOLLET;

    lm_reactor_lock(&socket->mutex);
    socket->fd = fd;
    socket->registered_events = events;
    socket->possible_dup = possible_dup;
    socket->try_speculative[LM_REACTOR_READ] = true;
    socket->try_speculative[LM_REACTOR_WRITE] = true;
    atomic_store_explicit(&socket->non_blocking, false, memory_order_relaxed);
    int rc = epoll_change(socket->reactor, EPOLL_CTL_ADD, fd, events, socket);
    if (rc != 0) {
        socket->fd = -1;
    }
    lm_reactor_unlock(&socket->mutex);
    return rc;
}

static void abort_op(struct lm_reactor_task *task, struct lm_reactor_queue *aborted)
{
    ((struct lm_reactor_op *)task)->result = -ECANCELED;
    lm_reactor_push(aborted, task);
}

void lm_reactor_socket_close(struct lm_socket *socket)
{
    struct lm_reactor *reactor = socket->reactor;
    struct lm_reactor_queue aborted = {0};
    struct lm_reactor_task *task;

    lm_reactor_lock(&socket->mutex);
    int fd = socket->fd;
    socket->fd = -1;
    if (socket->possible_dup) {
        epoll_change(reactor, EPOLL_CTL_DEL, fd, 0, NULL);
    }
    for (int i = 0; i < LM_REACTOR_DIRECTIONS; i++) {
        while ((task = lm_reactor_pop(&socket->queues[i])) != NULL) {
            abort_op(task, &aborted);
        }
    }
    lm_reactor_unlock(&socket->mutex);
    lm_reactor_post_deferred(reactor->scheduler, &aborted);

    LM_REACTOR_COUNT(reactor->scheduler, syscalls[LM_SYS_CLOSE]);
    close(fd);
    lm_reactor_give_back(socket);
}

static void fail_now(struct lm_reactor *reactor, struct lm_reactor_op *op, int rc)
{
    op->result = rc;
    lm_reactor_post_immediate(reactor->scheduler, &op->task);
}

/* Tries an operation that has just been started. With the socket locked. */
static bool speculate_now(struct lm_socket *socket, struct lm_reactor_op *op,
                          enum lm_reactor_direction direction)
{
    if (!socket->try_speculative[direction]) {
        return false;
    }
    enum lm_reactor_status status = op->perform(op);
    if (status == LM_REACTOR_NOT_DONE) {
        LM_REACTOR_COUNT(socket->reactor->scheduler, speculative_misses);
        return false;
    }
    LM_REACTOR_COUNT(socket->reactor->scheduler, speculative_hits);
    if (status == LM_REACTOR_DONE_AND_EXHAUSTED) {
        socket->try_speculative[direction] = false;
    }
    return true;
}

void lm_reactor_start(struct lm_reactor_op *op, enum lm_reactor_direction direction, bool speculate)
{
    struct lm_socket *socket = op->socket;
    struct lm_reactor *reactor = socket->reactor;
    uint32_t wanted = direction == LM_REACTOR_WRITE ? EPOLLOUT : 0;

    lm_reactor_lock(&socket->mutex);
    if (socket->queues[direction].front == NULL) {
        if (speculate && speculate_now(socket, op, direction)) {
            lm_reactor_unlock(&socket->mutex);
            lm_reactor_post_immediate(reactor->scheduler, &op->task);
            return;
        }
        /* Writability is watched from the first write that blocks on, and then for good. */
        if (!speculate || (socket->registered_events & wanted) != wanted) {
            int rc = epoll_change(reactor, EPOLL_CTL_MOD, socket->fd,
                                  socket->registered_events | wanted, socket);
            if (rc != 0) {
                lm_reactor_unlock(&socket->mutex);
                fail_now(reactor, op, rc);
                return;
            }
            socket->registered_events |= wanted;
        }
    }
    lm_reactor_push(&socket->queues[direction], &op->task);
    lm_reactor_work_started(reactor->scheduler);
    lm_reactor_unlock(&socket->mutex);
}

/* Takes a task out of a queue, wherever it is in it. */
static bool unlink_task(struct lm_reactor_queue *queue, struct lm_reactor_task *wanted)
{
    struct lm_reactor_queue kept = {0};
    struct lm_reactor_task *task;
    bool found = false;

    while ((task = lm_reactor_pop(queue)) != NULL) {
        if (task == wanted) {
            found = true;
        } else {
            lm_reactor_push(&kept, task);
        }
    }
    *queue = kept;
    return found;
}

static bool take_queued(struct lm_reactor *reactor, struct lm_reactor_op *op)
{
    bool taken = false;

    if (op->task.kind == LM_REACTOR_IO) {
        lm_reactor_lock(&op->socket->mutex);
        for (int i = 0; i < LM_REACTOR_DIRECTIONS && !taken; i++) {
            taken = unlink_task(&op->socket->queues[i], &op->task);
        }
        lm_reactor_unlock(&op->socket->mutex);
    } else if (op->task.kind == LM_REACTOR_TIMER) {
        /* The timerfd stays as set: at worst it wakes the poller once for nothing. */
        lm_reactor_lock(&reactor->mutex);
        taken = lm_reactor_timers_remove(&reactor->timers, op);
        lm_reactor_unlock(&reactor->mutex);
    }
    return taken;
}

void lm_reactor_cancel(struct lm_reactor *reactor, struct lm_reactor_op *op)
{
    struct lm_reactor_queue aborted = {0};

    if (take_queued(reactor, op)) {
        abort_op(&op->task, &aborted);
        lm_reactor_post_deferred(reactor->scheduler, &aborted);
    }
}

void lm_reactor_start_timer(struct lm_reactor *reactor, struct lm_reactor_op *op, uint64_t delay_ns)
{
    uint64_t now_ns = lm_clock_ns();
    uint64_t due_ns = delay_ns < UINT64_MAX - now_ns ? now_ns + delay_ns : UINT64_MAX;

    op->result = 0;
    lm_reactor_lock(&reactor->mutex);
    int rc = lm_reactor_timers_add(&reactor->timers, op, due_ns);
    if (rc < 0) {
        lm_reactor_unlock(&reactor->mutex);
        fail_now(reactor, op, rc);
        return;
    }
    lm_reactor_work_started(reactor->scheduler);
    if (rc > 0) {
        set_timer_fd(reactor);
    }
    lm_reactor_unlock(&reactor->mutex);
}
