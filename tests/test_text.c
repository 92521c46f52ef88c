/* Text from outside, made fit to be stored and shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

static void assert_cleaned(const char *in, size_t out_bytes, const char *expected)
{
    char *out = malloc(out_bytes); /* exact, so that a sanitizer sees a step too far */
    size_t length = lm_text_clean(out, out_bytes, in, strlen(in));
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
    free(out);
}

static void clean_text_stays_as_it_is(void **state)
{
    (void)state;
    static const char text[] = "io_uring:hybrid=1 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";
    assert_cleaned(text, sizeof(text), text);
    assert_cleaned("", 4, "");
}

static void blanks_and_control_characters_become_one_space(void **state)
{
    (void)state;
    assert_cleaned(" \ta \r\n\x1b[0m\x7f"
                   "b\xc2\x85\xc2\x9b\n",
                   64, "a [0m b");
    assert_cleaned(" \n ", 64, "");
}

static void each_byte_of_invalid_utf8_is_replaced(void **state)
{
    (void)state;
    static const char *const invalid[] = {
        "\x80",             /* a byte that only follows */
        "\xc0\xaf",         /* longer than needed */
        "\xe0\x80\xaf",     /* longer than needed */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xf8",             /* no first byte */
        "\xe2\x82",         /* cut */
    };
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
        char expected[32] = "a";
        for (size_t bytes = strlen(invalid[i]); bytes > 0; bytes--) {
            strcat(expected, REPLACEMENT);
        }
        char text[16] = "a";
        assert_cleaned(strcat(text, invalid[i]), 64, expected);
    }
}

static void what_does_not_fit_is_cut_at_a_character(void **state)
{
    (void)state;
    assert_cleaned("abcdefgh", 9, "abcdefgh");
    assert_cleaned("abcdefgh", 8, "abcd...");
    assert_cleaned("abc\xe2\x82\xac"
                   "defg",
                   8, "abc...");
    assert_cleaned("abcd   ", 5, "abcd");
    assert_cleaned("abcdefgh", 4, "...");
}

static void text_that_cleaning_would_change_is_not_clean(void **state)
{
    (void)state;
    char longest[LM_TEXT_BYTES + 1];
    memset(longest, 'x', sizeof(longest));
    longest[LM_TEXT_BYTES - 1] = '\0';
    assert_true(lm_text_is_clean(""));
    assert_true(lm_text_is_clean("a b"));
    assert_true(lm_text_is_clean(longest));
    longest[LM_TEXT_BYTES - 1] = 'x';
    longest[LM_TEXT_BYTES] = '\0';
    assert_false(lm_text_is_clean(longest));
    assert_false(lm_text_is_clean("a  b"));
    assert_false(lm_text_is_clean("a "));
    assert_false(lm_text_is_clean("\x1b[2J"));
    assert_false(lm_text_is_clean("\xff"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_text_stays_as_it_is),
        cmocka_unit_test(blanks_and_control_characters_become_one_space),
        cmocka_unit_test(each_byte_of_invalid_utf8_is_replaced),
        cmocka_unit_test(what_does_not_fit_is_cut_at_a_character),
        cmocka_unit_test(text_that_cleaning_would_change_is_not_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
