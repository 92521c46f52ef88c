/* environment_files.h - reading the small files of /proc and /sys. Internal, Linux only. */
#ifndef LM_ENVIRONMENT_FILES_H
#define LM_ENVIRONMENT_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads the beginning of the file at `root` followed by the formatted path, without white space at
 * its end. False, and an empty text, when there is none or nothing in it. */
bool lm_read_text(char *text, size_t text_bytes, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The value of the first line "KEY : value" of a text such as /proc/cpuinfo. */
bool lm_find_value(const char *text, const char *key, char *value, size_t value_bytes);

/* The next CPU number of a list such as "0-3,8" that is at least `from`; -1 at its end. */
int lm_next_cpu(const char *list, int from);
int lm_count_cpus(const char *list);

/* Puts in the group "cpu" (environment_linux_cpu.c). */
void lm_environment_add_cpu(json_t *environment, const char *root, const char *cpuinfo);

#endif
