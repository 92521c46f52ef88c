#include "report/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* One SI step: values from `scale` on are divided by it. */
struct prefix {
    double scale;
    const char *text; /* what stands between the number and the rest */
};

static const struct prefix ops_prefixes[] = {{1.0, " "},  {1e3, "K "},  {1e6, "M "},
                                             {1e9, "G "}, {1e12, "T "}, {0.0, NULL}};
static const struct prefix bytes_prefixes[] = {{1.0, " B/s"},  {1e3, " kB/s"},  {1e6, " MB/s"},
                                               {1e9, " GB/s"}, {1e12, " TB/s"}, {0.0, NULL}};
static const struct prefix time_prefixes[] = {
    {1.0, " ns"}, {1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}, {0.0, NULL}};

static void write_unknown(char text[LM_NUMBER_BYTES])
{
    snprintf(text, LM_NUMBER_BYTES, "-");
}

/* Two decimals while the printed number stays below 100, then one. */
static int decimals_below_100(double value)
{
    return round(fabs(value) * 100.0) < 10000.0 ? 2 : 1;
}

/* Writes value with the first prefix that keeps the printed number below 1000. */
static void write_scaled(char text[LM_NUMBER_BYTES], double value, const struct prefix *prefixes,
                         bool two_decimals, const char *unit)
{
    const struct prefix *prefix = prefixes;
    double scaled = value;
    int decimals = 2;
    for (;; prefix++) {
        scaled = value / prefix->scale;
        decimals = two_decimals ? 2 : decimals_below_100(scaled);
        double rounding = decimals == 2 ? 100.0 : 10.0;
        if (prefix[1].text == NULL || round(fabs(scaled) * rounding) / rounding < 1000.0) {
            break;
        }
    }
    /* Far outside any real result the fixed form would be a row of digits. */
    const char *format = fabs(scaled) < 1e9 ? "%.*f%s%.16s" : "%.*e%s%.16s";
    snprintf(text, LM_NUMBER_BYTES, format, decimals, scaled, prefix->text, unit);
}

void lm_format_time_ns(char text[LM_NUMBER_BYTES], double time_ns)
{
    if (!isfinite(time_ns)) {
        write_unknown(text);
        return;
    }
    write_scaled(text, time_ns, time_prefixes, true, "");
}

void lm_format_value(char text[LM_NUMBER_BYTES], double value, const char *unit)
{
    if (!isfinite(value)) {
        write_unknown(text);
    } else if (strcmp(unit, "s") == 0) {
        lm_format_time_ns(text, value * 1e9);
    } else if (strcmp(unit, "ns") == 0) {
        lm_format_time_ns(text, value);
    } else if (strcmp(unit, "bytes/s") == 0) {
        write_scaled(text, value, bytes_prefixes, false, "");
    } else {
        write_scaled(text, value, ops_prefixes, false, unit);
    }
}

void lm_shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (e == NULL) {
        return;
    }
    char *to = e[1] == '-' ? e + 2 : e + 1;
    const char *from = e + 2 + strspn(e + 2, "0");
    memmove(to, from, strlen(from) + 1);
}

void lm_format_difference(char text[LM_NUMBER_BYTES], double difference)
{
    double tenths = round(difference * 1000.0);
    if (!isfinite(difference)) {
        write_unknown(text);
    } else if (tenths == 0.0) {
        snprintf(text, LM_NUMBER_BYTES, "0.0 %%");
    } else if (fabs(difference) >= 1e4) {
        snprintf(text, LM_NUMBER_BYTES, "%+.1e %%", difference * 100.0);
        lm_shorten_exponent(text);
    } else {
        snprintf(text, LM_NUMBER_BYTES, "%+.1f %%", tenths / 10.0);
    }
}

void lm_format_percent(char text[LM_NUMBER_BYTES], double fraction)
{
    double percent = fraction * 100.0;
    if (!isfinite(fraction)) {
        write_unknown(text);
        return;
    }
    int decimals = decimals_below_100(percent);
    snprintf(text, LM_NUMBER_BYTES, fabs(percent) < 1e9 ? "%.*f %%" : "%.*e %%", decimals, percent);
}

void lm_format_count(char text[LM_NUMBER_BYTES], double count)
{
    if (!isfinite(count)) {
        write_unknown(text);
        return;
    }
    snprintf(text, LM_NUMBER_BYTES, fabs(count) < 1e9 ? "%.*f" : "%.*e", decimals_below_100(count),
             count);
}

void lm_format_ratio(char text[LM_NUMBER_BYTES], double ratio)
{
    if (!isfinite(ratio)) {
        write_unknown(text);
        return;
    }
    int decimals = round(ratio * 1000.0) < 10000.0 ? 3 : decimals_below_100(ratio);
    snprintf(text, LM_NUMBER_BYTES, fabs(ratio) < 1e9 ? "%.*f" : "%.*e", decimals, ratio);
}
