#include "harness/text.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 character that starts at `in`, 0 when there is no valid one. */
static size_t character_bytes(const unsigned char *in, size_t bytes)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = in[0] < 0x80             ? 1
                    : (in[0] & 0xe0) == 0xc0 ? 2
                    : (in[0] & 0xf0) == 0xe0 ? 3
                    : (in[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (length <= 1 || length > bytes) {
        return length == 1 ? 1 : 0;
    }
    uint32_t code = in[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((in[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (in[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

/* Space, C0, DEL or C1 (two bytes in UTF-8, the first always 0xc2). */
static bool is_blank(const unsigned char *character, size_t length)
{
    return (length == 1 && (character[0] <= 0x20 || character[0] == 0x7f)) ||
           (length == 2 && character[0] == 0xc2 && character[1] < 0xa0);
}

size_t lm_text_clean(char *out, size_t out_bytes, const char *in, size_t bytes)
{
    static const char cut[] = "...", invalid[] = "\xef\xbf\xbd";
    assert(out_bytes >= sizeof(cut));
    const unsigned char *from = (const unsigned char *)in, *end = from + bytes;
    size_t length = 0, cut_at = 0; /* cut_at: the longest text that leaves room for "..." */
    bool blank = false;
    while (from < end) {
        size_t step = character_bytes(from, (size_t)(end - from));
        if (is_blank(from, step)) {
            blank = length > 0;
            from += step;
            continue;
        }
        const char *character = step ? (const char *)from : invalid;
        size_t add = step ? step : sizeof(invalid) - 1;
        if (length + blank + add >= out_bytes) {
            memcpy(out + cut_at, cut, sizeof(cut));
            return cut_at + sizeof(cut) - 1;
        }
        if (blank) {
            out[length++] = ' ';
            blank = false;
        }
        memcpy(out + length, character, add);
        length += add;
        from += step ? step : 1;
        if (length + sizeof(cut) <= out_bytes) {
            cut_at = length;
        }
    }
    out[length] = '\0';
    return length;
}

bool lm_text_is_clean(const char *text)
{
    char clean[LM_TEXT_BYTES];
    lm_text_clean(clean, sizeof(clean), text, strlen(text));
    return strcmp(clean, text) == 0;
}
