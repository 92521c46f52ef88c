/* numbers.h - how numbers are written, for every form alike: one rounding rule.
 *
 * A value is scaled by an SI prefix to 1..999. Rates get two decimals below 100 and one from there
 * (4.12K ops/s, 169.5K ops/s, 1.22 GB/s), times always two (48.60 µs, 131.16 µs), as the published
 * tables have it. A prefix is chosen after rounding: 999.96 is 1.00K. An unknown number (NAN) or an
 * infinite one is written "-". The last digit is rounded to nearest, as printf does.
 */
#ifndef LM_NUMBERS_H
#define LM_NUMBERS_H

/* Room for any number these functions write. */
#define LM_NUMBER_BYTES 40

/* A case's primary figure. unit: "ops/s", "bytes/s", "s" or "ns"; any other unit is written after
 * the number as it is, cut to 16 bytes. */
void lm_format_value(char text[LM_NUMBER_BYTES], double value, const char *unit);

/* A time given in nanoseconds: "853.00 ns", "48.60 µs", "1.20 ms", "2.00 s". */
void lm_format_time_ns(char text[LM_NUMBER_BYTES], double time_ns);

/* Makes "1e5" of "1e+05", and "1e-9" of "1e-09"; a text without an exponent stays as it is. */
void lm_shorten_exponent(char *text);

/* A difference, given as a fraction, with its sign: "+58.8 %", "-10.2 %", "0.0 %", "+1.0e7 %". */
void lm_format_difference(char text[LM_NUMBER_BYTES], double difference);

/* A share, given as a fraction, without a sign: "4.19 %", "22.01 %", "120.5 %". */
void lm_format_percent(char text[LM_NUMBER_BYTES], double fraction);

/* A plain count per something: "4.00", "128.6". */
void lm_format_count(char text[LM_NUMBER_BYTES], double count);

/* A ratio around 1: "1.234", "15.02", "120.4". */
void lm_format_ratio(char text[LM_NUMBER_BYTES], double ratio);

#endif
