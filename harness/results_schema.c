#include "harness/results_schema.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(type, name, kind)                                                                   \
    {                                                                                              \
#name, LM_MEMBER_##kind, offsetof(struct type, name)                                       \
    }

const struct lm_member lm_run_members[] = {
    MEMBER(lm_run, id, NAME),
    MEMBER(lm_run, label, TEXT),
    MEMBER(lm_run, iterations, U32),
    MEMBER(lm_run, duration_s, REAL),
    MEMBER(lm_run, warmup_s, REAL),
    MEMBER(lm_run, timeout_s, REAL),
    MEMBER(lm_run, seed, U64_TEXT),
    MEMBER(lm_run, interleaved, BOOL),
    MEMBER(lm_run, baseline_index, INDEX),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_run_backend_members[] = {
    MEMBER(lm_run_backend, spec, NAME),
    MEMBER(lm_run_backend, title, TEXT),
    MEMBER(lm_run_backend, settings, TEXT),
    MEMBER(lm_run_backend, unavailable, TEXT_OR_NULL),
    MEMBER(lm_run_backend, aa, BOOL),
    MEMBER(lm_run_backend, floor, FLAG),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_run_case_members[] = {
    MEMBER(lm_run_case, name, NAME),
    MEMBER(lm_run_case, family, NAME),
    MEMBER(lm_run_case, operation, TEXT),
    MEMBER(lm_run_case, unit, NAME),
    MEMBER(lm_run_case, higher_is_better, BOOL),
    MEMBER(lm_run_case, micro, BOOL),
    MEMBER(lm_run_case, split, BOOL),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_sample_members[] = {
    MEMBER(lm_sample, case_index, INDEX),     MEMBER(lm_sample, backend_index, INDEX),
    MEMBER(lm_sample, iteration, U32),        MEMBER(lm_sample, reason, TEXT_OR_NULL),
    MEMBER(lm_sample, warning, TEXT_OR_NULL), {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_sample_figures[] = {
    MEMBER(lm_sample, metric, REAL),
    MEMBER(lm_sample, elapsed_s, REAL),
    MEMBER(lm_sample, operations, U64),
    MEMBER(lm_sample, bytes, U64),
    MEMBER(lm_sample, drained_operations, U64),
    MEMBER(lm_sample, drained_bytes, U64),
    MEMBER(lm_sample, cpu_user_s, REAL),
    MEMBER(lm_sample, cpu_system_s, REAL),
    MEMBER(lm_sample, rss_peak_bytes, U64),
    MEMBER(lm_sample, rss_bytes, U64),
    MEMBER(lm_sample, voluntary_switches, U64),
    MEMBER(lm_sample, involuntary_switches, U64),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_latency_members[] = {
    MEMBER(lm_latency, mean_ns, REAL), MEMBER(lm_latency, min_ns, U64),
    MEMBER(lm_latency, p50_ns, U64),   MEMBER(lm_latency, p90_ns, U64),
    MEMBER(lm_latency, p95_ns, U64),   MEMBER(lm_latency, p99_ns, U64),
    MEMBER(lm_latency, p999_ns, U64),  MEMBER(lm_latency, max_ns, U64),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_counter_members[] = {
    MEMBER(lm_counters, waits, U64),
    MEMBER(lm_counters, wakeups, U64),
    MEMBER(lm_counters, speculative_hits, U64),
    MEMBER(lm_counters, speculative_misses, U64),
    MEMBER(lm_counters, overflows, U64),
    {NULL, LM_MEMBER_BOOL, 0},
};

const struct lm_member lm_network_members[] = {
    MEMBER(lm_network, listen_overflows, U64),
    MEMBER(lm_network, listen_drops, U64),
    MEMBER(lm_network, syn_retransmits, U64),
    MEMBER(lm_network, time_wait, U64),
    {NULL, LM_MEMBER_BOOL, 0},
};

const char *const lm_sample_status_words[] = {
    [LM_SAMPLE_OK] = "ok", [LM_SAMPLE_FAILED] = "failed", [LM_SAMPLE_SKIPPED] = "skipped", NULL};

const char *lm_syscall_name(enum lm_syscall kind)
{
    static const char *const names[LM_SYS_COUNT] = {
        [LM_SYS_SEND] = "send",
        [LM_SYS_RECV] = "recv",
        [LM_SYS_ACCEPT] = "accept",
        [LM_SYS_CONNECT] = "connect",
        [LM_SYS_CLOSE] = "close",
        [LM_SYS_SETSOCKOPT] = "setsockopt",
        [LM_SYS_GETSOCKOPT] = "getsockopt",
        [LM_SYS_FCNTL] = "fcntl",
        [LM_SYS_IOCTL] = "ioctl",
        [LM_SYS_POLL] = "poll",
        [LM_SYS_EPOLL_WAIT] = "epoll_wait",
        [LM_SYS_EPOLL_CTL] = "epoll_ctl",
        [LM_SYS_KEVENT] = "kevent",
        [LM_SYS_RING_ENTER] = "io_uring_enter",
        [LM_SYS_RING_REGISTER] = "io_uring_register",
        [LM_SYS_TIMER_SET] = "timerfd_settime",
        [LM_SYS_READ] = "read",
        [LM_SYS_WRITE] = "write",
    };
    return (unsigned)kind < LM_SYS_COUNT ? names[kind] : NULL;
}

int lm_problem(struct lm_problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return -EBADMSG;
}

const char *lm_json_word(const json_t *value, char text[32])
{
    if (!value) {
        return "missing";
    }
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        snprintf(text, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    case JSON_REAL:
        snprintf(text, 32, "%g", json_real_value(value));
        return text;
    case JSON_STRING:
        return "a string";
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

json_t *lm_schema_string(const char *text, size_t max_bytes)
{
    char clean[LM_TEXT_BYTES];
    assert(max_bytes < sizeof(clean));
    size_t bytes = lm_text_clean(clean, max_bytes + 1, text, strlen(text));
    return json_stringn(clean, bytes);
}

/* Above JSON's common range a count can not be written; the largest stands for it. */
static json_t *encode_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

static json_t *encode_member(const struct lm_member *member, const void *base)
{
    const void *field = (const char *)base + member->offset;
    const char *text;
    char digits[24];
    switch (member->kind) {
    case LM_MEMBER_NAME:
    case LM_MEMBER_TEXT:
    case LM_MEMBER_TEXT_OR_NULL:
        memcpy(&text, field, sizeof(text));
        if (!text) {
            return json_null();
        }
        return lm_schema_string(text, member->kind == LM_MEMBER_NAME ? LM_RESULTS_NAME_BYTES
                                                                     : LM_RESULTS_TEXT_BYTES);
    case LM_MEMBER_U64:
        return encode_count(*(const uint64_t *)field);
    case LM_MEMBER_U64_TEXT:
        snprintf(digits, sizeof(digits), "%" PRIu64, *(const uint64_t *)field);
        return json_string(digits);
    case LM_MEMBER_U32:
        return encode_count(*(const uint32_t *)field);
    case LM_MEMBER_INDEX:
        return encode_count(*(const size_t *)field);
    case LM_MEMBER_REAL: /* JSON has no NaN; a null is refused by every reader, the writer's too */
        return isfinite(*(const double *)field) ? json_real(*(const double *)field) : json_null();
    case LM_MEMBER_BOOL:
    case LM_MEMBER_FLAG:
        return json_boolean(*(const bool *)field);
    }
    return NULL;
}

int lm_schema_encode(json_t *object, const struct lm_member *members, const void *base)
{
    for (const struct lm_member *member = members; member->name; member++) {
        if (json_object_set_new(object, member->name, encode_member(member, base)) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* A clause for a value that is not what it must be. */
static int wrong(const struct lm_member *member, const json_t *value, const char *where,
                 const char *wanted, struct lm_problem *problem)
{
    char text[32];
    return lm_problem(problem, "%s%s is %s, not %s", where, member->name, lm_json_word(value, text),
                      wanted);
}

static int decode_string(const struct lm_member *member, const json_t *value, void *field,
                         const char *where, struct lm_problem *problem)
{
    bool name = member->kind == LM_MEMBER_NAME;
    size_t most = name ? LM_RESULTS_NAME_BYTES : LM_RESULTS_TEXT_BYTES;
    if (member->kind == LM_MEMBER_TEXT_OR_NULL && json_is_null(value)) {
        return 0; /* the field is NULL already */
    }
    if (!json_is_string(value)) {
        return wrong(member, value, where, "a string", problem);
    }
    if (json_string_length(value) > most) {
        return lm_problem(problem, "%s%s has %zu bytes, more than %zu", where, member->name,
                          json_string_length(value), most);
    }
    if (name && json_string_length(value) == 0) {
        return lm_problem(problem, "%s%s is empty", where, member->name);
    }
    if (!lm_text_is_clean(json_string_value(value))) {
        return lm_problem(problem, "%s%s holds control characters or stray spaces", where,
                          member->name);
    }
    char *copy = strdup(json_string_value(value));
    memcpy(field, &copy, sizeof(copy));
    return copy ? 0 : -ENOMEM;
}

static int decode_digits(const struct lm_member *member, const json_t *value, void *field,
                         const char *where, struct lm_problem *problem)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    errno = 0;
    uint64_t number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno) {
        return wrong(member, value, where, "a string of decimal digits below 2^64", problem);
    }
    memcpy(field, &number, sizeof(number));
    return 0;
}

static int decode_whole(const struct lm_member *member, const json_t *value, void *field,
                        const char *where, struct lm_problem *problem)
{
    uint64_t most = member->kind == LM_MEMBER_U64   ? INT64_MAX
                    : member->kind == LM_MEMBER_U32 ? UINT32_MAX
                                                    : SIZE_MAX;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        return wrong(member, value, where,
                     member->kind == LM_MEMBER_U32 ? "a whole number from 0 to 4294967295"
                                                   : "a whole number from 0",
                     problem);
    }
    uint64_t number = (uint64_t)json_integer_value(value);
    if (member->kind == LM_MEMBER_U64) {
        *(uint64_t *)field = number;
    } else if (member->kind == LM_MEMBER_U32) {
        *(uint32_t *)field = (uint32_t)number;
    } else {
        *(size_t *)field = (size_t)number;
    }
    return 0;
}

static int decode_member(const struct lm_member *member, const json_t *value, void *base,
                         const char *where, struct lm_problem *problem)
{
    void *field = (char *)base + member->offset;
    switch (member->kind) {
    case LM_MEMBER_NAME:
    case LM_MEMBER_TEXT:
    case LM_MEMBER_TEXT_OR_NULL:
        return decode_string(member, value, field, where, problem);
    case LM_MEMBER_U64_TEXT:
        return decode_digits(member, value, field, where, problem);
    case LM_MEMBER_U64:
    case LM_MEMBER_U32:
    case LM_MEMBER_INDEX:
        return decode_whole(member, value, field, where, problem);
    case LM_MEMBER_REAL: /* Jansson refuses NaN, Infinity and numbers a double can not hold */
        if (!json_is_number(value) || !(json_number_value(value) >= 0)) {
            return wrong(member, value, where, "a number from 0", problem);
        }
        *(double *)field = json_number_value(value);
        return 0;
    case LM_MEMBER_BOOL:
    case LM_MEMBER_FLAG:
        if (!json_is_boolean(value)) {
            return wrong(member, value, where, "true or false", problem);
        }
        *(bool *)field = json_is_true(value);
        return 0;
    }
    return -EINVAL;
}

int lm_schema_decode(const json_t *object, const struct lm_member *members, void *base,
                     const char *where, struct lm_problem *problem)
{
    for (const struct lm_member *member = members; member->name; member++) {
        const json_t *value = json_object_get(object, member->name);
        if (!value && member->kind == LM_MEMBER_FLAG) {
            continue; /* the field is false already */
        }
        if (!value) {
            return lm_problem(problem, "%s%s is missing", where, member->name);
        }
        int result = decode_member(member, value, base, where, problem);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}
