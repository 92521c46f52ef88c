#include "backends/reactor_scheduler.h"

#include <assert.h>

_Thread_local struct lm_reactor_thread *lm_reactor_top;

void lm_reactor_scheduler_init(struct lm_reactor_scheduler *scheduler,
                               struct lm_reactor_poller *poller, bool locking, bool one_thread)
{
    *scheduler = (struct lm_reactor_scheduler){
        .poller = poller, .one_thread = one_thread, .task_interrupted = true};
    scheduler->mutex.enabled = locking;
    pthread_mutex_init(&scheduler->mutex.mutex, NULL);
    pthread_cond_init(&scheduler->condition, NULL);
    lm_reactor_push(&scheduler->queue, &scheduler->sentinel);
}

void lm_reactor_scheduler_destroy(struct lm_reactor_scheduler *scheduler)
{
    pthread_cond_destroy(&scheduler->condition);
    pthread_mutex_destroy(&scheduler->mutex.mutex);
}

/* The three forms of waking below signal after unlocking, so that the woken thread does not run
 * straight into the lock. The state bit is set even if nobody waits. */
static void unlock_and_signal_one(struct lm_reactor_scheduler *scheduler)
{
    scheduler->event_state |= 1;
    bool waiters = scheduler->event_state > 1;
    lm_reactor_unlock(&scheduler->mutex);
    if (waiters) {
        pthread_cond_signal(&scheduler->condition);
        LM_REACTOR_COUNT(scheduler, wakeups);
    }
}

/* Tells the poller at most once per poll, and never when it does not sleep. */
static void interrupt_poller(struct lm_reactor_scheduler *scheduler)
{
    if (!scheduler->task_interrupted) {
        scheduler->task_interrupted = true;
        scheduler->poller->interrupt(scheduler->poller);
        LM_REACTOR_COUNT(scheduler, wakeups);
    }
}

static void wake_one_and_unlock(struct lm_reactor_scheduler *scheduler)
{
    scheduler->event_state |= 1;
    if (scheduler->event_state > 1) {
        lm_reactor_unlock(&scheduler->mutex);
        pthread_cond_signal(&scheduler->condition);
        LM_REACTOR_COUNT(scheduler, wakeups);
        return;
    }
    interrupt_poller(scheduler);
    lm_reactor_unlock(&scheduler->mutex);
}

/* With the mutex held. */
static void stop_all_threads(struct lm_reactor_scheduler *scheduler)
{
    scheduler->stopped = true;
    scheduler->event_state |= 1;
    pthread_cond_broadcast(&scheduler->condition);
    interrupt_poller(scheduler);
}

static void wait_for_work(struct lm_reactor_scheduler *scheduler)
{
    /* A single thread always finds the sentinel; without a lock there is a single thread. */
    assert(scheduler->mutex.enabled);
    scheduler->event_state &= ~(size_t)1;
    while ((scheduler->event_state & 1) == 0) {
        scheduler->event_state += 2;
        pthread_cond_wait(&scheduler->condition, &scheduler->mutex.mutex);
        scheduler->event_state -= 2;
    }
}

void lm_reactor_work_started(struct lm_reactor_scheduler *scheduler)
{
    atomic_fetch_add(&scheduler->work, 1);
}

void lm_reactor_work_compensate(struct lm_reactor_scheduler *scheduler)
{
    lm_reactor_this_thread(scheduler)->private_work++;
}

static void work_finished(struct lm_reactor_scheduler *scheduler)
{
    if (atomic_fetch_sub(&scheduler->work, 1) != 1) {
        return;
    }
    /* Looked at again under the lock: a post from outside may have come in between, and its sender
     * may already be in a run call of its own, which must not end with that post undone. */
    lm_reactor_lock(&scheduler->mutex);
    if (atomic_load(&scheduler->work) == 0) {
        stop_all_threads(scheduler);
    }
    lm_reactor_unlock(&scheduler->mutex);
}

/* Runs the popped sentinel. With the mutex held, before and after. */
static void run_poller(struct lm_reactor_scheduler *scheduler, struct lm_reactor_thread *thread)
{
    bool more = scheduler->queue.front != NULL;

    scheduler->task_interrupted = more;
    if (more && !scheduler->one_thread) {
        unlock_and_signal_one(scheduler);
    } else {
        lm_reactor_unlock(&scheduler->mutex);
    }

    int rc = scheduler->poller->poll(scheduler->poller, !more, &thread->private_queue);

    if (thread->private_work > 0) {
        atomic_fetch_add(&scheduler->work, thread->private_work);
        thread->private_work = 0;
    }
    lm_reactor_lock(&scheduler->mutex);
    scheduler->task_interrupted = true;
    lm_reactor_splice(&scheduler->queue, &thread->private_queue);
    lm_reactor_push(&scheduler->queue, &scheduler->sentinel);
    if (rc < 0) {
        scheduler->error = rc;
        stop_all_threads(scheduler);
    }
}

/* Runs a popped task. With the mutex held, before and after. */
static void run_task(struct lm_reactor_scheduler *scheduler, struct lm_reactor_thread *thread,
                     struct lm_reactor_task *task)
{
    /* Read under the lock: the poller may write it anew as soon as another thread polls. */
    uint32_t result = task->result;

    if (scheduler->queue.front != NULL && !scheduler->one_thread) {
        wake_one_and_unlock(scheduler);
    } else {
        lm_reactor_unlock(&scheduler->mutex);
    }

    task->run(task, result);

    /* This task is one unit of work that ends; private work is what began meanwhile. */
    if (thread->private_work > 1) {
        atomic_fetch_add(&scheduler->work, thread->private_work - 1);
    } else if (thread->private_work < 1) {
        work_finished(scheduler);
    }
    thread->private_work = 0;
    lm_reactor_lock(&scheduler->mutex);
    lm_reactor_splice(&scheduler->queue, &thread->private_queue);
}

static void run_until_stopped(struct lm_reactor_scheduler *scheduler,
                              struct lm_reactor_thread *thread)
{
    while (!scheduler->stopped) {
        struct lm_reactor_task *task = lm_reactor_pop(&scheduler->queue);

        if (task == NULL) {
            wait_for_work(scheduler);
        } else if (task == &scheduler->sentinel) {
            run_poller(scheduler, thread);
        } else {
            run_task(scheduler, thread, task);
        }
    }
}

int lm_reactor_scheduler_run(struct lm_reactor_scheduler *scheduler)
{
    struct lm_reactor_thread thread = {.scheduler = scheduler};

    lm_reactor_lock(&scheduler->mutex);
    if (!scheduler->stopped_for_good && atomic_load(&scheduler->work) != 0) {
        scheduler->stopped = false;
        thread.below = lm_reactor_top;
        lm_reactor_top = &thread;
        thread.others = scheduler->threads;
        scheduler->threads = &thread;

        run_until_stopped(scheduler, &thread);

        struct lm_reactor_thread **link = &scheduler->threads;
        while (*link != &thread) {
            link = &(*link)->others;
        }
        *link = thread.others;
        lm_counters_add(&scheduler->retired, &thread.counters);
        lm_reactor_top = thread.below;
    }
    int rc = scheduler->error;
    lm_reactor_unlock(&scheduler->mutex);
    return rc;
}

void lm_reactor_scheduler_stop(struct lm_reactor_scheduler *scheduler)
{
    lm_reactor_lock(&scheduler->mutex);
    scheduler->stopped_for_good = true;
    stop_all_threads(scheduler);
    lm_reactor_unlock(&scheduler->mutex);
}

void lm_reactor_scheduler_counters(struct lm_reactor_scheduler *scheduler,
                                   struct lm_counters *counters)
{
    lm_reactor_lock(&scheduler->mutex);
    *counters = scheduler->retired;
    lm_counters_add(counters, &scheduler->outside);
    for (struct lm_reactor_thread *t = scheduler->threads; t != NULL; t = t->others) {
        lm_counters_add(counters, &t->counters);
    }
    lm_reactor_unlock(&scheduler->mutex);
}

void lm_reactor_post_immediate(struct lm_reactor_scheduler *scheduler, struct lm_reactor_task *task)
{
    if (scheduler->one_thread) {
        struct lm_reactor_thread *thread = lm_reactor_this_thread(scheduler);

        if (thread != NULL) {
            thread->private_work++;
            lm_reactor_push(&thread->private_queue, task);
            return;
        }
    }
    lm_reactor_work_started(scheduler);
    lm_reactor_lock(&scheduler->mutex);
    lm_reactor_push(&scheduler->queue, task);
    wake_one_and_unlock(scheduler);
}

void lm_reactor_post_deferred(struct lm_reactor_scheduler *scheduler,
                              struct lm_reactor_queue *tasks)
{
    if (tasks->front == NULL) {
        return;
    }
    if (scheduler->one_thread) {
        struct lm_reactor_thread *thread = lm_reactor_this_thread(scheduler);

        if (thread != NULL) {
            lm_reactor_splice(&thread->private_queue, tasks);
            return;
        }
    }
    lm_reactor_lock(&scheduler->mutex);
    lm_reactor_splice(&scheduler->queue, tasks);
    wake_one_and_unlock(scheduler);
}
