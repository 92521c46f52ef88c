#include "harness/headroom.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum {
    OWN_DESCRIPTORS = 8,        /* of a backend's loop, whatever it is */
    OWN_THREAD_DESCRIPTORS = 2, /* and for each thread that runs it */
    WAIT_S = 8                  /* far below the time a worker is given at the least */
};

static uint64_t left_of(uint64_t most, uint64_t used)
{
    return most > used ? most - used : 0;
}

static bool is_short(uint64_t need, uint64_t most, uint64_t used)
{
    return most != LM_HEADROOM_UNKNOWN && used != LM_HEADROOM_UNKNOWN && need > left_of(most, used);
}

enum lm_headroom_verdict lm_headroom_judge(const struct lm_case *which,
                                           const struct lm_headroom *headroom, char *why,
                                           size_t why_bytes)
{
    const struct lm_needs *needs = &which->needs;
    uint64_t descriptors =
        needs->descriptors + OWN_DESCRIPTORS + OWN_THREAD_DESCRIPTORS * which->threads;
    if (needs->backlog > headroom->backlog) {
        snprintf(why, why_bytes,
                 "%u connections wait at one listener at once, but the system's listen queue holds "
                 "%" PRIu64 "; raise net.core.somaxconn (macOS: kern.ipc.somaxconn) to %u",
                 needs->backlog, headroom->backlog, needs->backlog);
        return LM_HEADROOM_NEVER;
    }
    if (is_short(descriptors, headroom->descriptors, headroom->open_descriptors)) {
        snprintf(why, why_bytes,
                 "it needs %" PRIu64 " descriptors, but of %" PRIu64 " allowed %" PRIu64
                 " are open; raise the limit of open files: ulimit -n %" PRIu64,
                 descriptors, headroom->descriptors, headroom->open_descriptors,
                 descriptors + headroom->open_descriptors);
        return LM_HEADROOM_NEVER;
    }
    if (is_short(needs->ports, headroom->ports, headroom->used_ports)) {
        bool ever = needs->ports <= headroom->ports;
        snprintf(why, why_bytes,
                 "it needs %u ports, but of %" PRIu64 " for outgoing connections %" PRIu64
                 " are in use; %swiden net.ipv4.ip_local_port_range",
                 needs->ports, headroom->ports, headroom->used_ports,
                 ever ? "wait for those in TIME_WAIT (ss -s) or " : "");
        return ever ? LM_HEADROOM_LATER : LM_HEADROOM_NEVER;
    }
    if (is_short(needs->ports, headroom->tracked_most, headroom->tracked)) {
        snprintf(why, why_bytes,
                 "it makes %u connections, but the firewall remembers %" PRIu64 " of at most "
                 "%" PRIu64 "; wait, or raise net.netfilter.nf_conntrack_max",
                 needs->ports, headroom->tracked, headroom->tracked_most);
        return needs->ports <= headroom->tracked_most ? LM_HEADROOM_LATER : LM_HEADROOM_NEVER;
    }
    return LM_HEADROOM_ENOUGH;
}

static uint64_t count_open_descriptors(void)
{
    DIR *folder = opendir("/dev/fd");
    uint64_t count = 0;
    if (!folder) {
        return LM_HEADROOM_UNKNOWN;
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count > 0 ? count - 1 : 0; /* without the folder itself */
}

void lm_headroom_read(struct lm_headroom *headroom)
{
    struct rlimit limit;
    *headroom = (struct lm_headroom){
        .descriptors = LM_HEADROOM_UNKNOWN,
        .open_descriptors = count_open_descriptors(),
        .ports = LM_HEADROOM_UNKNOWN,
        .used_ports = LM_HEADROOM_UNKNOWN,
        .backlog = LM_HEADROOM_UNKNOWN,
        .tracked = LM_HEADROOM_UNKNOWN,
        .tracked_most = LM_HEADROOM_UNKNOWN,
    };
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur != RLIM_INFINITY) {
        headroom->descriptors = limit.rlim_cur;
    }
    lm_headroom_read_network(headroom);
}

static void raise_open_files_limit(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool lm_headroom_await(const struct lm_case *which, char *why, size_t why_bytes)
{
    enum lm_headroom_verdict verdict;
    raise_open_files_limit();
    for (int waited_s = 0;; waited_s++) {
        struct lm_headroom headroom;
        lm_headroom_read(&headroom);
        verdict = lm_headroom_judge(which, &headroom, why, why_bytes);
        if (verdict != LM_HEADROOM_LATER || waited_s == WAIT_S) {
            return verdict == LM_HEADROOM_ENOUGH;
        }
        if (waited_s == 0) {
            fprintf(stderr, "%s: waiting up to %d s: %s\n", which->name, WAIT_S, why);
        }
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
}
