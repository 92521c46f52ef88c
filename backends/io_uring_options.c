/* io_uring_options.c - which settings there are and which go together. What the kernel has to say
 * about them is io_uring_probe.c's. */
#include "backends/io_uring_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "backends/readiness.h"
#include "lm_config.h"

static const char *const auto_choices[] = {"auto", "0", "1", NULL};

#define SWITCH(key, help)                                                                          \
    {                                                                                              \
        key, help, 0, 0, 1, NULL                                                                   \
    }
#define AUTO(key, help)                                                                            \
    {                                                                                              \
        key, help, LM_RING_AUTO, 0, LM_RING_ON, auto_choices                                       \
    }

const struct lm_option lm_ring_options[LM_RING_OPTIONS + 1] = {
    LM_READY_ORDER_OPTION(LM_ORDER_TWO_PHASE),
    LM_READY_WRITE_OPTIONS,
    SWITCH("hybrid", "try the operations of a short turn as plain calls, submit only what blocks"),
    {"hybrid_max", "most operations of a turn that hybrid tries; a longer turn goes to the ring", 4,
     1, 4096, NULL},
    {"entries", "submission queue entries", 256, 1, 32768, NULL},
    {"cq_entries", "completion queue entries; operations beyond about half of it wait their turn",
     65536, 64, 65536, NULL},
    AUTO("single_issuer", "IORING_SETUP_SINGLE_ISSUER: only the lane's thread uses the ring"),
    AUTO("defer_taskrun", "IORING_SETUP_DEFER_TASKRUN: completions are made when looked for"),
    AUTO("coop_taskrun", "IORING_SETUP_COOP_TASKRUN: completions never interrupt the thread"),
    AUTO("taskrun_flag", "IORING_SETUP_TASKRUN_FLAG: the kernel says when looking is worth a call"),
    AUTO("registered_ring", "register the ring's descriptor with its thread"),
    SWITCH("sqpoll", "IORING_SETUP_SQPOLL: a kernel thread submits"),
    {"sqpoll_idle_ms", "milliseconds without work before the sqpoll thread sleeps", 1000, 1, 60000,
     NULL},
    AUTO("fixed_files", "register a lane's first 4096 descriptors with the ring: auto = those of "
                        "long use, 1 = each at its first"),
    SWITCH("multishot_accept", "one submission accepts many connections"),
    SWITCH("multishot_recv", "one submission receives many times, into ring buffers, then copied"),
    {"zerocopy",
     "send what has at least so many bytes without copying (IORING_OP_SEND_ZC), 0 = nothing; "
     "not over AF_UNIX, where such sends fail",
     0, 0, INT32_MAX, NULL},
    SWITCH("poll_first", "receives wait for readiness before their first try"),
    SWITCH("async_close", "close descriptors through the ring"),
    SWITCH("cqe_skip", "cancels and closes that succeed post no completion"),
    LM_READY_SPIN_OPTION,
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Settings that can not be had together, or only together. */
struct rule {
    enum lm_ring_option one, other;
    const char *reason;
};

static const struct rule excluding[] = {
    {LM_RING_SQPOLL, LM_RING_DEFER_TASKRUN, "the kernel refuses deferred work on a polled ring"},
    {LM_RING_SQPOLL, LM_RING_COOP_TASKRUN, "the polling thread is never interrupted anyway"},
    {LM_RING_SQPOLL, LM_RING_TASKRUN_FLAG, "the kernel refuses the flag on a polled ring"},
    {LM_RING_DEFER_TASKRUN, LM_RING_COOP_TASKRUN, "deferred work is already cooperative"},
    {LM_RING_HYBRID, LM_RING_MULTISHOT_RECV, "a plain receive would overtake what the ring holds"},
    {LM_RING_HYBRID, LM_RING_ZEROCOPY, "plain sends copy"},
};

static const struct rule needing[] = {
    {LM_RING_HYBRID_MAX, LM_RING_HYBRID, "it only says how far hybrid goes"},
    {LM_RING_SQPOLL_IDLE_MS, LM_RING_SQPOLL, "it only says when the polling thread sleeps"},
};

bool lm_ring_is_asked(const uint64_t *options, enum lm_ring_option option)
{
    const struct lm_option *entry = &lm_ring_options[option];
    return entry->choices == auto_choices ? options[option] == LM_RING_ON
                                          : options[option] != entry->default_value;
}

static const char *key_of(enum lm_ring_option option)
{
    return lm_ring_options[option].key;
}

static int check_rules(const uint64_t *options, char *why, size_t why_bytes)
{
    for (size_t i = 0; i < sizeof(excluding) / sizeof(*excluding); i++) {
        const struct rule *rule = &excluding[i];
        if (lm_ring_is_asked(options, rule->one) && lm_ring_is_asked(options, rule->other)) {
            snprintf(why, why_bytes, "%s and %s exclude each other: %s; leave one of them out",
                     key_of(rule->one), key_of(rule->other), rule->reason);
            return -EINVAL;
        }
    }
    for (size_t i = 0; i < sizeof(needing) / sizeof(*needing); i++) {
        const struct rule *rule = &needing[i];
        if (lm_ring_is_asked(options, rule->one) && !lm_ring_is_asked(options, rule->other)) {
            snprintf(why, why_bytes, "%s does nothing without %s=1: %s; add %s=1 or leave it out",
                     key_of(rule->one), key_of(rule->other), rule->reason, key_of(rule->other));
            return -EINVAL;
        }
    }
    if (lm_ring_is_asked(options, LM_RING_DEFER_TASKRUN) &&
        options[LM_RING_SINGLE_ISSUER] == LM_RING_OFF) {
        snprintf(why, why_bytes,
                 "defer_taskrun=1 needs a single issuer; leave single_issuer=0 out");
        return -EINVAL;
    }
    if (options[LM_RING_CQ_ENTRIES] < options[LM_RING_ENTRIES]) {
        snprintf(why, why_bytes,
                 "cq_entries=%llu is less than entries=%llu; raise it to at least that",
                 (unsigned long long)options[LM_RING_CQ_ENTRIES],
                 (unsigned long long)options[LM_RING_ENTRIES]);
        return -EINVAL;
    }
    return 0;
}

int lm_ring_settle(const uint64_t *options, struct lm_ring_settings *settings, char *why,
                   size_t why_bytes)
{
    int result = check_rules(options, why, why_bytes);
    if (result) {
        return result;
    }
    memcpy(settings->options, options, sizeof(settings->options));
    settings->sqpoll = options[LM_RING_SQPOLL];
    settings->cqe_skip = options[LM_RING_CQE_SKIP];
    settings->registered_ring = options[LM_RING_REGISTERED_RING] != LM_RING_OFF;
    settings->fixed_files = options[LM_RING_FIXED_FILES] != LM_RING_OFF;
    bool single = options[LM_RING_SINGLE_ISSUER] != LM_RING_OFF;
    bool coop = options[LM_RING_COOP_TASKRUN] == LM_RING_ON;
    bool defer =
        options[LM_RING_DEFER_TASKRUN] == LM_RING_ON ||
        (options[LM_RING_DEFER_TASKRUN] == LM_RING_AUTO && single && !coop && !settings->sqpoll);
    bool flag = options[LM_RING_TASKRUN_FLAG] == LM_RING_ON ||
                (options[LM_RING_TASKRUN_FLAG] == LM_RING_AUTO && (defer || coop));
    if (flag && !defer && !coop) {
        snprintf(why, why_bytes,
                 "taskrun_flag=1 needs defer_taskrun=1 or coop_taskrun=1; the "
                 "kernel refuses it alone");
        return -EINVAL;
    }
    settings->setup_flags =
        IORING_SETUP_CQSIZE | IORING_SETUP_R_DISABLED | (single ? IORING_SETUP_SINGLE_ISSUER : 0) |
        (defer ? IORING_SETUP_DEFER_TASKRUN : 0) | (coop ? IORING_SETUP_COOP_TASKRUN : 0) |
        (flag ? IORING_SETUP_TASKRUN_FLAG : 0) | (settings->sqpoll ? IORING_SETUP_SQPOLL : 0);
    return 0;
}

/* What is in force. */

struct line {
    char *text;
    size_t bytes, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    if (line->used >= line->bytes) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line->text + line->used, line->bytes - line->used, format, arguments);
    va_end(arguments);
    line->used += written > 0 ? (size_t)written : 0;
}

static void add_flags(struct line *line, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {IORING_SETUP_SINGLE_ISSUER, "SINGLE_ISSUER"},
        {IORING_SETUP_DEFER_TASKRUN, "DEFER_TASKRUN"},
        {IORING_SETUP_COOP_TASKRUN, "COOP_TASKRUN"},
        {IORING_SETUP_TASKRUN_FLAG, "TASKRUN_FLAG"},
        {IORING_SETUP_SQPOLL, "SQPOLL"},
    };
    const char *before = "";
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (flags & names[i].flag) {
            add(line, "%s%s", before, names[i].name);
            before = "|";
        }
    }
    if (!*before) {
        add(line, "none");
    }
}

static void add_switches(struct line *line, const struct lm_ring_settings *settings)
{
    const uint64_t *options = settings->options;
    if (settings->fixed_files) {
        bool all = options[LM_RING_FIXED_FILES] == LM_RING_ON;
        add(line, ", descriptors registered after %u submissions", all ? 0 : LM_RING_USES_TO_FIX);
    }
    for (int i = LM_RING_MULTISHOT_ACCEPT; i <= LM_RING_CQE_SKIP; i++) {
        if (options[i] && i != LM_RING_ZEROCOPY) {
            add(line, ", %s", lm_ring_options[i].key);
        }
    }
    if (options[LM_RING_ZEROCOPY]) {
        add(line, ", zero-copy sends from %llu bytes",
            (unsigned long long)options[LM_RING_ZEROCOPY]);
    }
    if (options[LM_RING_HYBRID]) {
        add(line, ", hybrid up to %llu operations",
            (unsigned long long)options[LM_RING_HYBRID_MAX]);
    }
    if (options[LM_RING_SQPOLL]) {
        add(line, ", sqpoll idle %llu ms", (unsigned long long)options[LM_RING_SQPOLL_IDLE_MS]);
    }
    if (options[LM_RING_SPIN_US]) {
        add(line, ", looks %llu us before sleeping", (unsigned long long)options[LM_RING_SPIN_US]);
    }
}

void lm_ring_describe(const uint64_t *options, char *text, size_t text_bytes)
{
    struct line line = {text, text_bytes, 0};
    struct lm_ring_settings settings;
    struct io_uring ring;
    struct utsname system;
    int result = lm_ring_settle(options, &settings, text, text_bytes);
    if (!result) {
        result = lm_ring_make(&settings, &ring, text, text_bytes);
    }
    if (result) {
        return; /* the reason is in text */
    }
    int registered = settings.registered_ring ? lm_ring_register(&ring) : -1;
    uname(&system);
#ifdef IO_URING_VERSION_MAJOR
    add(&line, "liburing %d.%d", io_uring_major_version(), io_uring_minor_version());
#else
    add(&line, "liburing " LM_LIBURING_VERSION);
#endif
    add(&line, ", Linux %s, ring flags ", system.release);
    add_flags(&line, settings.setup_flags);
    add(&line, ", ring descriptor %s, %u submission and %u completion entries, ",
        registered >= 0 ? "registered" : "plain", ring.sq.ring_entries, ring.cq.ring_entries);
    char work[160];
    lm_ready_describe(options, work, sizeof(work));
    add(&line, "%s", work);
    add_switches(&line, &settings);
    if (registered >= 0) {
        lm_ring_unregister(&ring, registered);
    }
    io_uring_queue_exit(&ring);
}
