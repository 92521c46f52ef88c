#include "backends/timers.h"

static struct lm_op *heap_meld(struct lm_op *a, struct lm_op *b)
{
    if (!a || !b) {
        return a ? a : b;
    }
    if (lm_work_of(b)->due_ns < lm_work_of(a)->due_ns) {
        struct lm_op *earlier = b;
        b = a;
        a = earlier;
    }
    struct lm_work *parent = lm_work_of(a), *child = lm_work_of(b);
    child->next = parent->child;
    if (child->next) {
        lm_work_of(child->next)->previous = b;
    }
    child->previous = a;
    parent->child = b;
    return a;
}

/* Melds a list of siblings in the two passes that give the heap its amortised O(log n). The list of
 * the first pass is kept through `next`, so no recursion and no memory, however long it is. */
static struct lm_op *heap_meld_siblings(struct lm_op *first)
{
    struct lm_op *pairs = NULL;
    while (first) {
        struct lm_op *second = lm_work_of(first)->next;
        struct lm_op *rest = second ? lm_work_of(second)->next : NULL;
        struct lm_op *pair = heap_meld(first, second);
        lm_work_of(pair)->next = pairs;
        pairs = pair;
        first = rest;
    }
    struct lm_op *root = NULL;
    while (pairs) {
        struct lm_op *rest = lm_work_of(pairs)->next;
        root = heap_meld(root, pairs);
        pairs = rest;
    }
    if (root) {
        lm_work_of(root)->next = NULL;
        lm_work_of(root)->previous = NULL;
    }
    return root;
}

void lm_timers_add(struct lm_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    work->next = NULL;
    work->previous = NULL;
    work->child = NULL;
    work->state = LM_OP_TIMING;
    lane->timers = heap_meld(lane->timers, op);
}

void lm_timers_remove(struct lm_lane *lane, struct lm_op *op)
{
    struct lm_work *work = lm_work_of(op);
    struct lm_op *children = heap_meld_siblings(work->child);
    if (lane->timers == op) {
        lane->timers = children;
        return;
    }
    struct lm_work *before = lm_work_of(work->previous);
    if (before->child == op) {
        before->child = work->next;
    } else {
        before->next = work->next;
    }
    if (work->next) {
        lm_work_of(work->next)->previous = work->previous;
    }
    lane->timers = heap_meld(lane->timers, children);
}

void lm_timers_expire(struct lm_lane *lane, uint64_t now_ns)
{
    while (lane->timers && lm_work_of(lane->timers)->due_ns <= now_ns) {
        struct lm_op *op = lane->timers;
        lane->timers = heap_meld_siblings(lm_work_of(op)->child);
        lm_lane_complete(lane, op, 0);
    }
}
