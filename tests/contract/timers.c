/* timers.c - timers: never early, in order, cancelled alone. */
#include <errno.h>

#include "backends/clock.h"
#include "tests/contract/contract.h"
#include "tests/contract/tables.h"

struct alarm_clock {
    struct step step;
    uint64_t due_ns, fired_ns;
    unsigned place; /* fired as the how manieth */
};

static unsigned fired_count; /* each test runs in a process of its own */

static void note_time(struct step *step)
{
    struct alarm_clock *clock = step->context;
    clock->fired_ns = lm_clock_ns();
    clock->place = ++fired_count;
}

static void start_clock(struct contract *t, struct alarm_clock *clock, uint64_t delay_ns)
{
    step_init(t, &clock->step, note_time, clock);
    clock->due_ns = lm_clock_ns() + delay_ns;
    start_timer(&clock->step, delay_ns);
}

static void expect_fired(struct contract *t, struct alarm_clock *clock)
{
    EXPECT_RESULT(&clock->step, 0);
    EXPECT(t, clock->fired_ns >= clock->due_ns, "a timer %llu ns early",
           (unsigned long long)(clock->due_ns - clock->fired_ns));
}

static void a_timer_is_never_early(struct contract *t)
{
    static const uint64_t delays_ns[] = {1,       999,     1000,    50000,    300000,
                                         1000000, 1500000, 4999999, 12345678, 30000000};
    enum {
        CLOCKS = sizeof delays_ns / sizeof delays_ns[0]
    };
    struct alarm_clock clocks[CLOCKS];
    for (int i = 0; i < CLOCKS; i++) {
        start_clock(t, &clocks[i], delays_ns[i]);
    }
    RUN_LOOP(t);
    for (int i = 0; i < CLOCKS; i++) {
        expect_fired(t, &clocks[i]);
    }
    /* Again one by one: each is then the only thing to sleep for. */
    for (int i = 0; i < CLOCKS; i++) {
        start_clock(t, &clocks[i], delays_ns[i]);
        RUN_LOOP(t);
        expect_fired(t, &clocks[i]);
    }
}

static void timers_fire_in_the_order_they_are_due(struct contract *t)
{
    enum {
        CLOCKS = 20
    };
    struct alarm_clock clocks[CLOCKS];
    for (unsigned i = 0; i < CLOCKS; i++) {
        unsigned rank = i * 7 % CLOCKS;
        /* Far enough apart for a slow machine to start them all in between. */
        start_clock(t, &clocks[rank], (1 + rank) * 10 * MILLISECOND_NS);
    }
    RUN_LOOP(t);
    for (unsigned i = 0; i < CLOCKS; i++) {
        expect_fired(t, &clocks[i]);
        EXPECT(t, clocks[i].place == i + 1, "timer %u fired as number %u", i + 1, clocks[i].place);
    }
}

static void restart_at_once(struct step *step)
{
    if (step->completions < 1000) {
        start_timer(step, 0);
    }
}

static void a_timer_of_no_delay_can_restart_itself(struct contract *t)
{
    struct step timer;
    step_init(t, &timer, restart_at_once, NULL);
    start_timer(&timer, 0);
    RUN_LOOP(t);
    EXPECT(t, timer.completions == 1000, "%u completions", timer.completions);
}

static void ten_thousand_timers_all_fire(struct contract *t)
{
    enum {
        CLOCKS = 10000
    };
    struct alarm_clock *clocks = contract_alloc(t, CLOCKS * sizeof *clocks);
    for (uint64_t i = 0; i < CLOCKS; i++) {
        start_clock(t, &clocks[i], i * 7919 % 20000 * 1000);
    }
    RUN_LOOP(t);
    for (unsigned i = 0; i < CLOCKS; i++) {
        expect_fired(t, &clocks[i]);
    }
    EXPECT(t, fired_count == CLOCKS, "%u fired", fired_count);
}

/* --- cancelling
 * ----------------------------------------------------------------------------------- */

static void cancel_context(struct step *step)
{
    cancel_step(step->context);
}

static void a_cancelled_timer_ends_long_before_it_is_due(struct contract *t)
{
    struct step hour, canceller;
    step_init(t, &hour, NULL, NULL);
    step_init(t, &canceller, cancel_context, &hour);
    start_timer(&hour, HOUR_NS);
    start_timer(&canceller, 2 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&hour, -ECANCELED);
}

static void a_timer_cancelled_before_the_run_is_cancelled(struct contract *t)
{
    struct step hour;
    step_init(t, &hour, NULL, NULL);
    start_timer(&hour, HOUR_NS);
    cancel_step(&hour);
    RUN_LOOP(t);
    EXPECT_RESULT(&hour, -ECANCELED);
}

static void cancelling_the_earliest_timer_leaves_the_others(struct contract *t)
{
    struct alarm_clock clocks[4];
    struct step post;
    for (uint64_t i = 0; i < 4; i++) {
        start_clock(t, &clocks[i], (5 + 2 * i) * MILLISECOND_NS);
    }
    step_init(t, &post, cancel_context, &clocks[0].step);
    start_post(&post);
    RUN_LOOP(t);
    EXPECT_RESULT(&clocks[0].step, -ECANCELED);
    for (int i = 1; i < 4; i++) {
        expect_fired(t, &clocks[i]);
    }
}

struct half {
    struct alarm_clock *clocks;
    unsigned count;
};

static void cancel_every_other(struct step *step)
{
    struct half *half = step->context;
    for (unsigned i = 0; i < half->count; i += 2) {
        cancel_step(&half->clocks[i * 7919 % half->count].step);
    }
}

static void cancelling_half_of_many_timers_leaves_the_other_half(struct contract *t)
{
    struct half half = {.count = 1000};
    struct step post;
    half.clocks = contract_alloc(t, half.count * sizeof *half.clocks);
    for (uint64_t i = 0; i < half.count; i++) {
        start_clock(t, &half.clocks[i], i % 2 ? i * 7919 % 1000 * 10000 : HOUR_NS + i);
    }
    step_init(t, &post, cancel_every_other, &half);
    start_post(&post);
    RUN_LOOP(t);
    for (unsigned i = 0; i < half.count; i++) {
        if (i % 2) {
            expect_fired(t, &half.clocks[i]);
        } else {
            EXPECT_RESULT(&half.clocks[i].step, -ECANCELED);
        }
    }
}

/* --- changes of what is earliest
 * ------------------------------------------------------------------ */

struct nested {
    struct alarm_clock hour, soon;
};

static void start_soon(struct step *step)
{
    struct nested *nested = step->context;
    start_clock(step->test, &nested->soon, MILLISECOND_NS);
    nested->soon.step.then = cancel_context;
    nested->soon.step.context = &nested->hour.step;
}

static void a_later_start_can_be_due_earlier(struct contract *t)
{
    struct nested nested;
    struct step timer;
    start_clock(t, &nested.hour, HOUR_NS);
    step_init(t, &timer, start_soon, &nested);
    start_timer(&timer, 3 * MILLISECOND_NS);
    RUN_LOOP(t);
    EXPECT_RESULT(&nested.soon.step, 0);
    EXPECT_RESULT(&nested.hour.step, -ECANCELED);
}

static void the_longest_delay_does_not_wrap_around(struct contract *t)
{
    static const uint64_t delays_ns[] = {UINT64_MAX, UINT64_MAX - 1000, INT64_MAX,
                                         UINT64_MAX / 1000, 400 * 24 * HOUR_NS};
    enum {
        COUNT = sizeof delays_ns / sizeof delays_ns[0]
    };
    struct step longest[COUNT], cancellers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        step_init(t, &longest[i], NULL, NULL);
        step_init(t, &cancellers[i], cancel_context, &longest[i]);
        start_timer(&longest[i], delays_ns[i]);
        start_timer(&cancellers[i], 5 * MILLISECOND_NS);
    }
    RUN_LOOP(t);
    for (int i = 0; i < COUNT; i++) {
        EXPECT_RESULT(&longest[i], -ECANCELED);
    }
}

static void a_cancelled_timer_can_be_started_again(struct contract *t)
{
    struct alarm_clock clock;
    start_clock(t, &clock, HOUR_NS);
    cancel_step(&clock.step);
    RUN_LOOP(t);
    EXPECT_RESULT(&clock.step, -ECANCELED);
    clock.due_ns = lm_clock_ns() + MILLISECOND_NS;
    start_timer(&clock.step, MILLISECOND_NS);
    RUN_LOOP(t);
    expect_fired(t, &clock);
}

const struct contract_test contract_timers[] = {
    {"a timer is never early", 2, 0, a_timer_is_never_early},
    {"timers fire in the order they are due", 2, ONE_THREAD, timers_fire_in_the_order_they_are_due},
    {"a timer of no delay can restart itself", 2, 0, a_timer_of_no_delay_can_restart_itself},
    {"ten thousand timers all fire", 2, 0, ten_thousand_timers_all_fire},
    {"a cancelled timer ends long before it is due", 6, 0,
     a_cancelled_timer_ends_long_before_it_is_due},
    {"a timer cancelled before the run is cancelled", 6, 0,
     a_timer_cancelled_before_the_run_is_cancelled},
    {"cancelling the earliest timer leaves the others", 6, 0,
     cancelling_the_earliest_timer_leaves_the_others},
    {"cancelling half of many timers leaves the other half", 6, 0,
     cancelling_half_of_many_timers_leaves_the_other_half},
    {"a later start can be due earlier", 2, 0, a_later_start_can_be_due_earlier},
    {"the longest delay does not wrap around", 2, 0, the_longest_delay_does_not_wrap_around},
    {"a cancelled timer can be started again", 6, 0, a_cancelled_timer_can_be_started_again},
    {NULL, 0, 0, NULL},
};
