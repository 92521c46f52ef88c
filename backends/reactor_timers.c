#include "backends/reactor_timers.h"

#include <errno.h>
#include <stdlib.h>

void lm_reactor_timers_free(struct lm_reactor_timers *timers)
{
    free(timers->heap);
    *timers = (struct lm_reactor_timers){0};
}

static void place(struct lm_reactor_timers *timers, size_t index, struct lm_reactor_timer timer)
{
    timers->heap[index] = timer;
    timer.op->heap_index = index;
}

static void swap(struct lm_reactor_timers *timers, size_t a, size_t b)
{
    struct lm_reactor_timer timer = timers->heap[a];

    place(timers, a, timers->heap[b]);
    place(timers, b, timer);
}

static void up_heap(struct lm_reactor_timers *timers, size_t index)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;

        if (timers->heap[index].due_ns >= timers->heap[parent].due_ns) {
            break;
        }
        swap(timers, index, parent);
        index = parent;
    }
}

static void down_heap(struct lm_reactor_timers *timers, size_t index)
{
    for (size_t child = 2 * index + 1; child < timers->count; child = 2 * index + 1) {
        if (child + 1 < timers->count &&
            timers->heap[child + 1].due_ns < timers->heap[child].due_ns) {
            child++;
        }
        if (timers->heap[index].due_ns < timers->heap[child].due_ns) {
            break;
        }
        swap(timers, index, child);
        index = child;
    }
}

static int grow(struct lm_reactor_timers *timers)
{
    size_t capacity = timers->capacity == 0 ? 16 : 2 * timers->capacity;
    struct lm_reactor_timer *heap = realloc(timers->heap, capacity * sizeof(*heap));

    if (heap == NULL) {
        return -ENOMEM;
    }
    timers->heap = heap;
    timers->capacity = capacity;
    return 0;
}

int lm_reactor_timers_add(struct lm_reactor_timers *timers, struct lm_reactor_op *op,
                          uint64_t due_ns)
{
    if (timers->count == timers->capacity && grow(timers) != 0) {
        op->heap_index = LM_REACTOR_NO_INDEX;
        return -ENOMEM;
    }
    place(timers, timers->count, (struct lm_reactor_timer){.due_ns = due_ns, .op = op});
    timers->count++;
    up_heap(timers, timers->count - 1);
    return timers->heap[0].op == op;
}

static void take_out(struct lm_reactor_timers *timers, size_t index)
{
    timers->heap[index].op->heap_index = LM_REACTOR_NO_INDEX;
    timers->count--;
    if (index == timers->count) {
        return;
    }
    place(timers, index, timers->heap[timers->count]);
    if (index > 0 && timers->heap[index].due_ns < timers->heap[(index - 1) / 2].due_ns) {
        up_heap(timers, index);
    } else {
        down_heap(timers, index);
    }
}

bool lm_reactor_timers_remove(struct lm_reactor_timers *timers, struct lm_reactor_op *op)
{
    size_t index = op->heap_index;

    if (index >= timers->count || timers->heap[index].op != op) {
        return false;
    }
    take_out(timers, index);
    return true;
}

void lm_reactor_timers_take_due(struct lm_reactor_timers *timers, uint64_t now_ns,
                                struct lm_reactor_queue *due)
{
    while (timers->count > 0 && timers->heap[0].due_ns <= now_ns) {
        struct lm_reactor_op *op = timers->heap[0].op;

        take_out(timers, 0);
        lm_reactor_push(due, &op->task);
    }
}
