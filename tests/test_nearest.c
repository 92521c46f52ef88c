/* The name a person probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/nearest.h"

static const char *nearest_to(const char *word)
{
    static const char *const names[] = {"epoll", "poll", "io_uring", "reactor", "spin"};
    struct lm_nearest nearest = {.word = word};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        lm_nearest_offer(&nearest, names[i]);
    }
    return nearest.best;
}

static void a_slip_of_the_finger_finds_the_name(void **state)
{
    (void)state;
    assert_string_equal(nearest_to("epol"), "epoll");
    assert_string_equal(nearest_to("reator"), "reactor");
    assert_string_equal(nearest_to("reacttor"), "reactor");
    assert_string_equal(nearest_to("spon"), "spin");
}

static void neighbours_that_changed_places_are_one_slip(void **state)
{
    (void)state;
    struct lm_nearest nearest = {.word = "sipn"};
    lm_nearest_offer(&nearest, "spin");
    assert_string_equal(nearest.best, "spin");
    assert_int_equal(nearest.distance, 1);
}

static void a_beginning_finds_the_name(void **state)
{
    (void)state;
    assert_string_equal(nearest_to("io"), "io_uring");
}

static void another_word_finds_nothing(void **state)
{
    (void)state;
    assert_null(nearest_to("select"));
    assert_null(nearest_to(""));
    assert_null(nearest_to("a word that is far longer than any name of a thing in this program, "
                           "and so can not be one of them"));
}

static void the_nearest_of_several_wins_whatever_the_order(void **state)
{
    (void)state;
    struct lm_nearest nearest = {.word = "pol"};
    lm_nearest_offer(&nearest, "epoll");
    lm_nearest_offer(&nearest, "poll");
    assert_string_equal(nearest.best, "poll");
    nearest = (struct lm_nearest){.word = "pol"};
    lm_nearest_offer(&nearest, "poll");
    lm_nearest_offer(&nearest, "epoll");
    assert_string_equal(nearest.best, "poll");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_finds_the_name),
        cmocka_unit_test(neighbours_that_changed_places_are_one_slip),
        cmocka_unit_test(a_beginning_finds_the_name),
        cmocka_unit_test(another_word_finds_nothing),
        cmocka_unit_test(the_nearest_of_several_wins_whatever_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
