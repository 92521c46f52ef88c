#include "harness/environment_files.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any kernel is built for; bounds what a strange list can cost. */
enum {
    MAX_CPUS = 8192
};

bool lm_read_text(char *text, size_t text_bytes, const char *root, const char *format, ...)
{
    char path[1024];
    int length = snprintf(path, sizeof(path), "%s", root);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, sizeof(path) - (size_t)length, format, arguments);
    va_end(arguments);
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    size_t bytes = 0;
    ssize_t count;
    while (bytes < text_bytes - 1 && (count = read(fd, text + bytes, text_bytes - 1 - bytes)) > 0) {
        bytes += (size_t)count;
    }
    close(fd);
    while (bytes > 0 && isspace((unsigned char)text[bytes - 1])) {
        bytes--;
    }
    text[bytes] = '\0';
    return bytes > 0;
}

bool lm_find_value(const char *text, const char *key, char *value, size_t value_bytes)
{
    size_t key_bytes = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *after = line + key_bytes;
        if (strncmp(line, key, key_bytes) != 0) {
            continue;
        }
        after += strspn(after, " \t");
        if (*after == ':') {
            after += 1 + strspn(after + 1, " \t");
            snprintf(value, value_bytes, "%.*s", (int)strcspn(after, "\n"), after);
            return value[0] != '\0';
        }
    }
    return false;
}

int lm_next_cpu(const char *list, int from)
{
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list) {
            return -1;
        }
        if (*end == '-') {
            last = strtol(end + 1, &end, 10);
        }
        if (first < 0 || last < first || last >= MAX_CPUS) {
            return -1;
        }
        if (from <= last) {
            return from < first ? (int)first : from;
        }
        list = *end == ',' ? end + 1 : end;
    }
    return -1;
}

int lm_count_cpus(const char *list)
{
    int count = 0;
    for (int cpu = lm_next_cpu(list, 0); cpu >= 0; cpu = lm_next_cpu(list, cpu + 1)) {
        count++;
    }
    return count;
}
