/* Specs as users write them: what is accepted, what is refused, and in which words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/registry.h"

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct lm_option paint_options[] = {
    {"fast", "a switch", 0, 0, 1, NULL},
    {"entries", "a number", 4096, 16, 32768, NULL},
    {"colour", "a word", 1, 0, 2, colours},
    {"wide", "any number", 7, 0, UINT64_MAX, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};
static const struct lm_backend paint = {.name = "paint", .options = paint_options};
static const struct lm_backend plain = {.name = "plain"};

enum {
    FAST,
    ENTRIES,
    COLOUR,
    WIDE
};

static struct lm_spec spec;
static char error[512];

static int parse(const char *text)
{
    memset(&spec, 0xee, sizeof spec);
    memset(error, 0xee, sizeof error);
    error[0] = '\0';
    return lm_spec_parse_for(&paint, text, &spec, error, sizeof error);
}

static void assert_refused(const char *text, const char *words)
{
    assert_int_equal(parse(text), -EINVAL);
    if (!strstr(error, words)) {
        fail_msg("'%s': expected words '%s' in '%s'", text, words, error);
    }
    assert_null(strchr(error, '\n'));
}

static void a_name_alone_means_all_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse("paint"), 0);
    assert_ptr_equal(spec.backend, &paint);
    assert_string_equal(spec.text, "paint");
    assert_int_equal(spec.options[FAST], 0);
    assert_int_equal(spec.options[ENTRIES], 4096);
    assert_int_equal(spec.options[COLOUR], 1);
    assert_int_equal(spec.options[WIDE], 7);
    assert_string_equal(error, "");
}

static void options_are_set_by_key(void **state)
{
    (void)state;
    assert_int_equal(parse("paint:fast=1,entries=64,colour=blue"), 0);
    assert_int_equal(spec.options[FAST], 1);
    assert_int_equal(spec.options[ENTRIES], 64);
    assert_int_equal(spec.options[COLOUR], 2);
}

static void the_canonical_text_has_table_order_and_no_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse("paint:colour=red,wide=07,entries=00064,fast=0"), 0);
    assert_string_equal(spec.text, "paint:entries=64,colour=red");
    assert_int_equal(parse("paint:entries=4096"), 0);
    assert_string_equal(spec.text, "paint");
}

static void the_canonical_text_parses_to_itself(void **state)
{
    (void)state;
    char first[sizeof spec.text];
    assert_int_equal(parse("paint:wide=18446744073709551615,fast=1"), 0);
    strcpy(first, spec.text);
    assert_int_equal(parse(first), 0);
    assert_string_equal(spec.text, first);
    assert_true(spec.options[WIDE] == UINT64_MAX);
}

static void the_ends_of_a_range_are_inside_it(void **state)
{
    (void)state;
    assert_int_equal(parse("paint:entries=16"), 0);
    assert_int_equal(parse("paint:entries=32768"), 0);
    assert_refused("paint:entries=15", "a whole number from 16 to 32768");
    assert_refused("paint:entries=32769", "a whole number from 16 to 32768");
}

static void whole_numbers_are_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "+16", "-16", " 16",  "16 ", "0x10",
                                      "1e2", "16.", "16k", "\t16", "١٦"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "paint:entries=%s", bad[i]);
        assert_refused(text, "option 'entries' can not be ");
    }
}

static void numbers_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_int_equal(parse("paint:wide=18446744073709551615"), 0);
    assert_refused("paint:wide=18446744073709551616", "can not be '18446744073709551616'");
    assert_refused("paint:wide=99999999999999999999999999999999", "a whole number from 0 to");
}

static void a_choice_is_written_as_its_word(void **state)
{
    (void)state;
    assert_refused("paint:colour=2", "one of red, green, blue");
    assert_refused("paint:colour=", "one of red, green, blue");
    assert_refused("paint:colour=grene", "did you mean 'green'?");
    assert_refused("paint:colour=RED", "one of red, green, blue");
}

static void an_unknown_key_is_answered_with_the_known_ones(void **state)
{
    (void)state;
    assert_refused("paint:size=1",
                   "paint has no option 'size'; it has fast, entries, colour, wide");
}

static void a_misspelt_key_is_answered_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("paint:entires=64", "'entires' (did you mean 'entries'?)");
    assert_refused("paint:color=red", "'color' (did you mean 'colour'?)");
}

static void a_backend_without_options_says_so(void **state)
{
    (void)state;
    error[0] = '\0';
    assert_int_equal(lm_spec_parse_for(&plain, "plain:x=1", &spec, error, sizeof error), -EINVAL);
    assert_string_equal(error, "plain has no option 'x'; it has none: write just 'plain'");
}

static void a_key_given_twice_is_refused(void **state)
{
    (void)state;
    assert_refused("paint:fast=1,fast=1", "option 'fast' is given twice");
    assert_refused("paint:fast=0,entries=64,fast=1", "option 'fast' is given twice");
}

static void malformed_options_are_refused(void **state)
{
    (void)state;
    assert_refused("paint:", "write options as key=value");
    assert_refused("paint:fast", "'fast' is not an option");
    assert_refused("paint:=1", "'=1' is not an option");
    assert_refused("paint:fast=1,", "write options as key=value");
    assert_refused("paint:,fast=1", "write options as key=value");
    assert_refused("paint:fast=1=1", "can not be '1=1'");
    assert_refused("paint:fast=1:entries=64", "can not be '1:entries=64'");
}

static void options_without_a_colon_are_explained(void **state)
{
    (void)state;
    assert_refused("paint,fast=1", "write name:key=value");
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[5000];
    memset(text, '0', sizeof text);
    memcpy(text, "paint:wide=", 11);
    text[255] = '\0';
    assert_int_equal(parse(text), 0);
    text[255] = '0';
    text[256] = '\0';
    assert_refused(text, "256 characters is too long; the limit is 255");
    text[256] = '0';
    text[sizeof text - 1] = '\0';
    assert_refused(text, "4999 characters is too long");
}

static void control_characters_never_reach_the_error_text(void **state)
{
    (void)state;
    assert_refused("paint:\n\033[2J\x7f\xff=1", "'..[2J..'");
    assert_refused("paint:fast=\r\n", "can not be '..'");
    assert_int_equal(lm_spec_parse("\n\t\033", &spec, error, sizeof error), -ENOENT);
    assert_non_null(strstr(error, "'...'"));
}

static void long_words_are_cut_in_the_error_text(void **state)
{
    (void)state;
    assert_refused("paint:aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee=1",
                   "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'");
}

static void a_small_error_buffer_is_never_overrun(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 100; bytes++) {
        char buffer[101];
        memset(buffer, 'x', sizeof buffer);
        assert_int_equal(lm_spec_parse_for(&paint, "paint:size=1", &spec, buffer, bytes), -EINVAL);
        assert_int_equal(buffer[bytes], 'x');
        assert_true(bytes == 0 || memchr(buffer, '\0', bytes));
    }
}

static void a_plugin_path_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const paths[] = {"./libmine.so", "/opt/lib/mine.so:fast=1", "a/b"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lm_spec_parse(paths[i], &spec, error, sizeof error), -ENOTSUP);
        assert_non_null(strstr(error, "this version does not load plugins; use one of "));
    }
}

static void an_unknown_backend_is_answered_with_the_known_ones(void **state)
{
    (void)state;
    assert_int_equal(lm_spec_parse("zebra", &spec, error, sizeof error), -ENOENT);
    assert_string_equal(error, "there is no backend 'zebra'; use one of "
                               "io_uring, epoll, poll, spin, reactor");
    assert_int_equal(lm_spec_parse("", &spec, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "the name of a backend is missing; use one of io_uring, "));
    assert_int_equal(lm_spec_parse(":fast=1", &spec, error, sizeof error), -EINVAL);
}

static void a_misspelt_backend_is_answered_with_the_nearest(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"eplol", "epoll"},       {"iouring", "io_uring"},
                                           {"io-uring", "io_uring"}, {"pol", "poll"},
                                           {" epoll", "epoll"},      {"Reactor", "reactor"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char words[64];
        snprintf(words, sizeof words, "(did you mean '%s'?)", pairs[i][1]);
        assert_int_equal(lm_spec_parse(pairs[i][0], &spec, error, sizeof error), -ENOENT);
        assert_non_null(strstr(error, words));
    }
}

static void a_backend_that_was_not_built_names_what_brings_it(void **state)
{
    (void)state;
    int missing = 0;
    for (size_t i = 0; i < lm_backend_count(); i++) {
        const struct lm_registered *entry = lm_backend_at(i);
        assert_true(!entry->backend == !!entry->missing);
        if (!entry->backend) {
            assert_int_equal(lm_spec_parse(entry->name, &spec, error, sizeof error), -ENOSYS);
            assert_non_null(strstr(error, entry->missing));
            missing++;
        }
    }
    if (missing == 0) {
        skip();
    }
}

static void the_name_must_be_that_of_the_given_table(void **state)
{
    (void)state;
    assert_int_equal(parse("plain"), -ENOENT);
    assert_string_equal(error, "the backend is called 'paint', not 'plain'");
}

static void every_default_spec_is_canonical(void **state)
{
    (void)state;
    const char *const *specs = lm_default_specs();
    for (size_t i = 0; specs[i]; i++) {
        int result = lm_spec_parse(specs[i], &spec, error, sizeof error);
        if (result) {
            fail_msg("%s: %s", specs[i], error);
        }
        assert_string_equal(spec.text, specs[i]);
    }
}

static void assert_option_is_sound(const struct lm_option *option)
{
    assert_true(option->key[0] != '\0');
    assert_int_equal(strspn(option->key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                     strlen(option->key));
    assert_non_null(option->help);
    assert_null(strpbrk(option->help, "\n"));
    assert_true(option->help[strlen(option->help) - 1] != '.');
    assert_true(option->minimum <= option->default_value);
    assert_true(option->default_value <= option->maximum);
    for (uint64_t i = 0; option->choices && i <= option->maximum; i++) {
        assert_non_null(option->choices[i]);
        assert_null(strpbrk(option->choices[i], ",=:/ "));
    }
    assert_true(!option->choices || !option->choices[option->maximum + 1]);
}

static void every_built_backend_has_a_sound_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < lm_backend_count(); i++) {
        const struct lm_backend *backend = lm_backend_at(i)->backend;
        if (!backend) {
            continue;
        }
        assert_int_equal(backend->abi, LM_BACKEND_ABI);
        assert_string_equal(backend->name, lm_backend_at(i)->name);
        assert_non_null(backend->title);
        const uint32_t all = LM_CAP_THREADS | LM_CAP_LOOPS | LM_CAP_LOCKLESS | LM_CAP_LOCAL;
        assert_true((backend->capabilities & all) == all || backend->limits);
        size_t count = 0;
        for (; backend->options && backend->options[count].key; count++) {
            assert_option_is_sound(&backend->options[count]);
            for (size_t j = 0; j < count; j++) {
                assert_string_not_equal(backend->options[j].key, backend->options[count].key);
            }
        }
        assert_true(count <= LM_MAX_OPTIONS);
    }
}

/* Splitting. */

struct split {
    char joined[512];
    int stop_at, count;
};

static int join(void *context, const char *part)
{
    struct split *split = context;
    strcat(split->joined, "[");
    strcat(split->joined, part);
    strcat(split->joined, "]");
    return ++split->count == split->stop_at ? 42 : 0;
}

static void assert_split(const char *list, const char *expected)
{
    struct split split = {.stop_at = -1};
    assert_int_equal(lm_spec_split(list, join, &split), 0);
    assert_string_equal(split.joined, expected);
}

static void a_list_is_split_at_commas(void **state)
{
    (void)state;
    assert_split("epoll", "[epoll]");
    assert_split("epoll,poll,spin", "[epoll][poll][spin]");
}

static void options_stay_with_their_spec(void **state)
{
    (void)state;
    assert_split("a:x=1,y=2,b,c:z=3", "[a:x=1,y=2][b][c:z=3]");
    assert_split("a:x=1,b:y=2,z=3", "[a:x=1][b:y=2,z=3]");
    assert_split("a,x=1", "[a,x=1]");
}

static void a_path_is_never_an_option(void **state)
{
    (void)state;
    assert_split("epoll,./a=b/lib.so", "[epoll][./a=b/lib.so]");
    assert_split("./lib.so:x=1,y=2,/b.so", "[./lib.so:x=1,y=2][/b.so]");
}

static void empty_parts_are_reported_not_dropped(void **state)
{
    (void)state;
    assert_split("", "[]");
    assert_split(",", "[][]");
    assert_split("epoll,,poll", "[epoll][][poll]");
    assert_split("epoll,", "[epoll][]");
}

static void splitting_stops_at_the_first_refusal(void **state)
{
    (void)state;
    struct split split = {.stop_at = 2};
    assert_int_equal(lm_spec_split("a,b,c", join, &split), 42);
    assert_string_equal(split.joined, "[a][b]");
}

static int count_parts(void *context, const char *part)
{
    (void)part;
    ++*(size_t *)context;
    return 0;
}

static void a_very_long_list_is_split_whole(void **state)
{
    (void)state;
    size_t length = 1u << 20;
    char *list = malloc(length + 1);
    assert_non_null(list);
    memset(list, ',', length);
    list[length] = '\0';
    size_t parts = 0;
    assert_int_equal(lm_spec_split(list, count_parts, &parts), 0);
    assert_int_equal(parts, length + 1);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_alone_means_all_defaults),
        cmocka_unit_test(options_are_set_by_key),
        cmocka_unit_test(the_canonical_text_has_table_order_and_no_defaults),
        cmocka_unit_test(the_canonical_text_parses_to_itself),
        cmocka_unit_test(the_ends_of_a_range_are_inside_it),
        cmocka_unit_test(whole_numbers_are_strict),
        cmocka_unit_test(numbers_that_overflow_are_refused),
        cmocka_unit_test(a_choice_is_written_as_its_word),
        cmocka_unit_test(an_unknown_key_is_answered_with_the_known_ones),
        cmocka_unit_test(a_misspelt_key_is_answered_with_the_nearest),
        cmocka_unit_test(a_backend_without_options_says_so),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(malformed_options_are_refused),
        cmocka_unit_test(options_without_a_colon_are_explained),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
        cmocka_unit_test(control_characters_never_reach_the_error_text),
        cmocka_unit_test(long_words_are_cut_in_the_error_text),
        cmocka_unit_test(a_small_error_buffer_is_never_overrun),
        cmocka_unit_test(a_plugin_path_is_refused_with_the_reason),
        cmocka_unit_test(an_unknown_backend_is_answered_with_the_known_ones),
        cmocka_unit_test(a_misspelt_backend_is_answered_with_the_nearest),
        cmocka_unit_test(a_backend_that_was_not_built_names_what_brings_it),
        cmocka_unit_test(the_name_must_be_that_of_the_given_table),
        cmocka_unit_test(every_default_spec_is_canonical),
        cmocka_unit_test(every_built_backend_has_a_sound_table),
        cmocka_unit_test(a_list_is_split_at_commas),
        cmocka_unit_test(options_stay_with_their_spec),
        cmocka_unit_test(a_path_is_never_an_option),
        cmocka_unit_test(empty_parts_are_reported_not_dropped),
        cmocka_unit_test(splitting_stops_at_the_first_refusal),
        cmocka_unit_test(a_very_long_list_is_split_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
