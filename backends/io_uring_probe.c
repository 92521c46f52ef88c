/* io_uring_probe.c - what this kernel, liburing and process may do with io_uring, found by trying,
 * and the sentence for a person where they may not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backends/io_uring_options.h"

/* Kernel features without which the backend does not work: EXT_ARG is waiting with a timeout,
 * RSRC_TAGS came with multishot poll. */
#define NEEDED_FEATURES                                                                            \
    (IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL | IORING_FEAT_RSRC_TAGS)
#define NEEDED_RELEASE "5.13"

/* Explaining a refusal. */

/* The sysctl kernel.io_uring_disabled: 0..2, or -1 where there is none (before Linux 6.6). */
static int disabled_level(void)
{
    char digit = 0;
    int fd = open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    ssize_t got = read(fd, &digit, 1);
    close(fd);
    return got == 1 && digit >= '0' && digit <= '2' ? digit - '0' : -1;
}

static void explain_eperm(const char *call, char *why, size_t why_bytes)
{
    int level = disabled_level();
    if (level > 0) {
        snprintf(why, why_bytes,
                 "%s: not permitted, because the sysctl kernel.io_uring_disabled is %d (%s); run "
                 "`sudo sysctl kernel.io_uring_disabled=0`",
                 call, level, level == 1 ? "only for the group kernel.io_uring_group" : "for all");
        return;
    }
    snprintf(why, why_bytes,
             "%s: not permitted by a seccomp filter or security module, as containers have; allow "
             "the io_uring_* calls there (docker: --security-opt seccomp=unconfined)",
             call);
}

static bool linux_is(unsigned wanted_major, unsigned wanted_minor)
{
    struct utsname system;
    unsigned major = 0, minor = 0;
    uname(&system);
    sscanf(system.release, "%u.%u", &major, &minor);
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

static void explain_enosys(const char *call, char *why, size_t why_bytes)
{
    struct utsname system;
    uname(&system);
    if (linux_is(5, 1)) {
        snprintf(why, why_bytes,
                 "%s: not there, though Linux %s is new enough: a seccomp filter hides it, or the "
                 "kernel was built without CONFIG_IO_URING; run outside the sandbox or use epoll",
                 call, system.release);
        return;
    }
    snprintf(why, why_bytes, "%s: Linux %s has no io_uring; Linux " NEEDED_RELEASE " does", call,
             system.release);
}

static void explain_enomem(const char *call, char *why, size_t why_bytes)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) {
        snprintf(why, why_bytes, "%s: out of memory; make the ring smaller with cq_entries=4096",
                 call);
        return;
    }
    snprintf(why, why_bytes,
             "%s: out of locked memory (`ulimit -l` is %llu KiB); raise it, or make the ring "
             "smaller with cq_entries=4096",
             call, (unsigned long long)limit.rlim_cur / 1024);
}

/* One line on why `call` failed with -errno `error`. Returns error. */
static int explain(int error, const char *call, char *why, size_t why_bytes)
{
    switch (error) {
    case -EPERM:
    case -EACCES:
        explain_eperm(call, why, why_bytes);
        break;
    case -ENOSYS:
        explain_enosys(call, why, why_bytes);
        break;
    case -ENOMEM:
        explain_enomem(call, why, why_bytes);
        break;
    case -EMFILE:
        snprintf(why, why_bytes, "%s: this process has too many open files; raise `ulimit -n`",
                 call);
        break;
    case -ENFILE:
        snprintf(why, why_bytes,
                 "%s: the system has too many open files; raise the sysctl fs.file-max", call);
        break;
    default:
        snprintf(why, why_bytes, "%s: %s; use another backend here and report this", call,
                 strerror(-error));
    }
    return error;
}

/* The kernel knows nothing of a setting that the user asked for. */
static int explain_lack(enum lm_ring_option option, const char *since, char *why, size_t why_bytes)
{
    struct utsname system;
    uname(&system);
    snprintf(why, why_bytes, "%s needs Linux %s and this is %s; leave it out",
             lm_ring_options[option].key, since, system.release);
    return -EOPNOTSUPP;
}

/* Making a ring. */

/* Takes the newest flag that the user left to us out of the settings. False: none is left. */
static bool drop_newest_flag(struct lm_ring_settings *settings)
{
    const uint64_t *options = settings->options;
    uint32_t *flags = &settings->setup_flags;
    if (*flags & IORING_SETUP_DEFER_TASKRUN && options[LM_RING_DEFER_TASKRUN] == LM_RING_AUTO) {
        *flags &= ~(uint32_t)IORING_SETUP_DEFER_TASKRUN; /* Linux 6.1 */
        if (options[LM_RING_COOP_TASKRUN] == LM_RING_AUTO) {
            *flags |= IORING_SETUP_COOP_TASKRUN; /* the next best */
        }
        return true;
    }
    if (*flags & IORING_SETUP_SINGLE_ISSUER && !(*flags & IORING_SETUP_DEFER_TASKRUN) &&
        options[LM_RING_SINGLE_ISSUER] == LM_RING_AUTO) {
        *flags &= ~(uint32_t)IORING_SETUP_SINGLE_ISSUER; /* Linux 6.0 */
        return true;
    }
    if (*flags & IORING_SETUP_COOP_TASKRUN && options[LM_RING_COOP_TASKRUN] == LM_RING_AUTO &&
        options[LM_RING_TASKRUN_FLAG] != LM_RING_ON) {
        *flags &= ~(uint32_t)(IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG); /* 5.19 */
        return true;
    }
    return false;
}

static int explain_flags(const struct lm_ring_settings *settings, char *why, size_t why_bytes)
{
    if (settings->setup_flags & IORING_SETUP_DEFER_TASKRUN) {
        return explain_lack(LM_RING_DEFER_TASKRUN, "6.1", why, why_bytes);
    }
    if (settings->setup_flags & IORING_SETUP_SINGLE_ISSUER) {
        return explain_lack(LM_RING_SINGLE_ISSUER, "6.0", why, why_bytes);
    }
    if (settings->setup_flags & IORING_SETUP_COOP_TASKRUN) {
        return explain_lack(LM_RING_COOP_TASKRUN, "5.19", why, why_bytes);
    }
    snprintf(why, why_bytes,
             "io_uring_setup: this kernel refuses a ring with %llu entries and %llu "
             "completion entries; it needs Linux " NEEDED_RELEASE,
             (unsigned long long)settings->options[LM_RING_ENTRIES],
             (unsigned long long)settings->options[LM_RING_CQ_ENTRIES]);
    return -EOPNOTSUPP;
}

/* What the kernel has besides ring flags: is it enough? */
static int check_features(struct lm_ring_settings *settings, uint32_t features, char *why,
                          size_t why_bytes)
{
    if ((features & NEEDED_FEATURES) != NEEDED_FEATURES) {
        struct utsname system;
        uname(&system);
        snprintf(why, why_bytes,
                 "io_uring here needs Linux " NEEDED_RELEASE " and this is %s; use "
                 "epoll",
                 system.release);
        return -EOPNOTSUPP;
    }
    if (settings->cqe_skip && !(features & IORING_FEAT_CQE_SKIP)) {
        return explain_lack(LM_RING_CQE_SKIP, "5.17", why, why_bytes);
    }
    if (settings->fixed_files && !linux_is(6, 13)) {
        /* Before, a registered descriptor that has been taken back stays open for as long as any
         * older operation of the ring waits, so that the other end does not see it closed. */
        settings->fixed_files = false;
        if (lm_ring_is_asked(settings->options, LM_RING_FIXED_FILES)) {
            return explain_lack(LM_RING_FIXED_FILES, "6.13", why, why_bytes);
        }
    }
    return 0;
}

int lm_ring_make(struct lm_ring_settings *settings, struct io_uring *ring, char *why,
                 size_t why_bytes)
{
    struct io_uring_params params;
    int result;
    do {
        params = (struct io_uring_params){
            .flags = settings->setup_flags,
            .cq_entries = (uint32_t)settings->options[LM_RING_CQ_ENTRIES],
            .sq_thread_idle = (uint32_t)settings->options[LM_RING_SQPOLL_IDLE_MS],
        };
        result =
            io_uring_queue_init_params((unsigned)settings->options[LM_RING_ENTRIES], ring, &params);
    } while (result == -EINVAL && drop_newest_flag(settings));
    if (result == -EINVAL) {
        return explain_flags(settings, why, why_bytes);
    }
    if (result) {
        return explain(result, "io_uring_setup", why, why_bytes);
    }
    result = check_features(settings, params.features, why, why_bytes);
    if (result) {
        io_uring_queue_exit(ring);
    }
    return result;
}

int lm_ring_enable(struct io_uring *ring)
{
    return io_uring_register((unsigned)ring->ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

int lm_ring_register(struct io_uring *ring)
{
    struct io_uring_rsrc_update update = {.offset = UINT32_MAX, .data = (uint64_t)ring->ring_fd};
    int result = io_uring_register((unsigned)ring->ring_fd, IORING_REGISTER_RING_FDS, &update, 1);
    return result == 1 ? (int)update.offset : result < 0 ? result : -EINVAL;
}

void lm_ring_unregister(struct io_uring *ring, int registered)
{
    struct io_uring_rsrc_update update = {.offset = (uint32_t)registered};
    io_uring_register((unsigned)ring->ring_fd, IORING_UNREGISTER_RING_FDS, &update, 1);
}

/* Trying what can not be asked for. */

/* Result of the one operation put into a trial ring, with the flags of its completion. */
static int trial_result(struct io_uring *ring, uint32_t *flags)
{
    struct __kernel_timespec limit = {.tv_sec = 1};
    struct io_uring_cqe *completion;
    int result = io_uring_submit_and_wait_timeout(ring, &completion, 1, &limit, NULL);
    if (result < 0 || !completion) {
        return result < 0 ? result : -ETIME;
    }
    result = completion->res;
    *flags = completion->flags;
    io_uring_cqe_seen(ring, completion);
    return result;
}

static int try_nop(struct io_uring *ring)
{
    uint32_t flags;
    io_uring_prep_nop(io_uring_get_sqe(ring));
    return trial_result(ring, &flags);
}

static int try_poll_first(struct io_uring *ring)
{
    int ends[2];
    char byte = 0;
    uint32_t flags;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        return -errno;
    }
    int result = (int)send(ends[1], &byte, 1, MSG_NOSIGNAL);
    if (result == 1) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
        io_uring_prep_recv(sqe, ends[0], &byte, 1, 0);
        sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
        result = trial_result(ring, &flags);
    }
    close(ends[0]);
    close(ends[1]);
    return result < 0 ? result : 0;
}

static int try_multishot_accept(struct io_uring *ring)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t address_bytes = sizeof(sa_family_t); /* the kernel picks an abstract name */
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint32_t flags = 0;
    int result = 0;
    if (listener < 0 || client < 0 || bind(listener, (struct sockaddr *)&address, address_bytes) ||
        listen(listener, 1)) {
        result = -errno;
        goto out;
    }
    address_bytes = sizeof(address);
    if (getsockname(listener, (struct sockaddr *)&address, &address_bytes) ||
        connect(client, (struct sockaddr *)&address, address_bytes)) {
        result = -errno;
        goto out;
    }
    io_uring_prep_multishot_accept(io_uring_get_sqe(ring), listener, NULL, NULL, SOCK_CLOEXEC);
    result = trial_result(ring, &flags);
    if (result >= 0) {
        close(result);
        result = flags & IORING_CQE_F_MORE ? 0 : -EINVAL;
    }
out:
    close(listener);
    close(client);
    return result;
}

static int try_multishot_recv(struct io_uring *ring)
{
    int ends[2];
    uint32_t flags = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        return -errno;
    }
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct io_uring_buf_ring *buffers = aligned_alloc(page_bytes, page_bytes);
    char *buffer = malloc(16);
    struct io_uring_buf_reg registration = {.ring_addr = (uintptr_t)buffers, .ring_entries = 1};
    int result = buffers && buffer ? io_uring_register_buf_ring(ring, &registration, 0) : -ENOMEM;
    if (result) {
        goto out;
    }
    io_uring_buf_ring_init(buffers);
    io_uring_buf_ring_add(buffers, buffer, 16, 0, 0, 0);
    io_uring_buf_ring_advance(buffers, 1);
    result = (int)send(ends[1], "x", 1, MSG_NOSIGNAL);
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    io_uring_prep_recv_multishot(sqe, ends[0], NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    result = trial_result(ring, &flags);
    result = result == 1 && flags & IORING_CQE_F_BUFFER ? 0 : result < 0 ? result : -EINVAL;
    io_uring_unregister_buf_ring(ring, 0);
out:
    close(ends[0]);
    close(ends[1]);
    free(buffers);
    free(buffer);
    return result;
}

static int try_fixed_files(struct io_uring *ring)
{
    int result = io_uring_register_files_sparse(ring, 1);
    if (!result) {
        io_uring_unregister_files(ring);
    }
    return result;
}

static int try_zerocopy(struct io_uring *ring)
{
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
    int result = probe && io_uring_opcode_supported(probe, IORING_OP_SEND_ZC) ? 0 : -EINVAL;
    if (probe) {
        io_uring_free_probe(probe);
    }
    return result;
}

static const struct trial {
    enum lm_ring_option option;
    int (*run)(struct io_uring *ring);
    const char *since;
} trials[] = {
    {LM_RING_FIXED_FILES, try_fixed_files, "6.13"},
    {LM_RING_MULTISHOT_ACCEPT, try_multishot_accept, "5.19"},
    {LM_RING_MULTISHOT_RECV, try_multishot_recv, "6.0"},
    {LM_RING_ZEROCOPY, try_zerocopy, "6.0"},
    {LM_RING_POLL_FIRST, try_poll_first, "5.19"},
};

/* Tries the ring itself, and each switch that is on, each on a ring of its own: a multishot
 * operation may stay behind in it. */
static int try_all(const struct lm_ring_settings *settings, char *why, size_t why_bytes)
{
    struct io_uring ring;
    int result = 0;
    for (size_t i = 0; i < sizeof(trials) / sizeof(*trials) && !result; i++) {
        if (!lm_ring_is_asked(settings->options, trials[i].option)) {
            continue;
        }
        result = io_uring_queue_init(4, &ring, 0);
        if (result) {
            return explain(result, "io_uring_setup", why, why_bytes);
        }
        result = trials[i].run(&ring);
        io_uring_queue_exit(&ring);
        if (result == -EINVAL) {
            return explain_lack(trials[i].option, trials[i].since, why, why_bytes);
        }
        if (result) {
            return explain(result, lm_ring_options[trials[i].option].key, why, why_bytes);
        }
    }
    return 0;
}

int lm_ring_available(const uint64_t *options, char *why, size_t why_bytes)
{
    struct lm_ring_settings settings;
    struct io_uring ring;
    int result = lm_ring_settle(options, &settings, why, why_bytes);
    if (!result) {
        result = lm_ring_make(&settings, &ring, why, why_bytes);
    }
    if (result) {
        return result;
    }
    result = lm_ring_enable(&ring);
    if (result < 0) {
        explain(result, "io_uring_register", why, why_bytes);
        goto out;
    }
    int registered = settings.registered_ring ? lm_ring_register(&ring) : 0;
    if (settings.registered_ring && registered >= 0) {
        lm_ring_unregister(&ring, registered);
    } else if (registered < 0 && lm_ring_is_asked(options, LM_RING_REGISTERED_RING)) {
        result = explain_lack(LM_RING_REGISTERED_RING, "5.18", why, why_bytes);
        goto out;
    }
    result = try_nop(&ring);
    if (result < 0) {
        explain(result, "io_uring_enter", why, why_bytes);
        goto out;
    }
    result = try_all(&settings, why, why_bytes);
out:
    io_uring_queue_exit(&ring);
    return result;
}
