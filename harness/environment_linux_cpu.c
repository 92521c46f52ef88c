/* The CPU's part of an environment, from /proc and /sys. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness/environment_files.h"
#include "harness/environment_parts.h"

#define CPU_DIRECTORY "/sys/devices/system/cpu"

/* A core: its socket's number and its own. */
struct core {
    int socket, number;
};

static int compare_cores(const void *left, const void *right)
{
    const struct core *a = left, *b = right;
    return a->socket != b->socket ? (a->socket < b->socket ? -1 : 1)
                                  : (a->number > b->number) - (a->number < b->number);
}

static void add_topology(json_t *environment, const char *root, const char *online)
{
    int threads = lm_count_cpus(online), known = 0, sockets = 0, cores = 0;
    struct core *all = calloc((size_t)threads + 1, sizeof(*all));
    for (int cpu = lm_next_cpu(online, 0); all && cpu >= 0; cpu = lm_next_cpu(online, cpu + 1)) {
        char socket[16], number[16];
        if (lm_read_text(socket, sizeof(socket), root,
                         CPU_DIRECTORY "/cpu%d/topology/physical_package_id", cpu) &&
            lm_read_text(number, sizeof(number), root, CPU_DIRECTORY "/cpu%d/topology/core_id",
                         cpu)) {
            all[known++] = (struct core){atoi(socket), atoi(number)};
        }
    }
    if (threads > 0) {
        lm_put_number(environment, "cpu", "threads", threads);
    }
    if (all && known == threads && known > 0) {
        qsort(all, (size_t)known, sizeof(*all), compare_cores);
        for (int i = 0; i < known; i++) {
            sockets += i == 0 || all[i].socket != all[i - 1].socket;
            cores += i == 0 || compare_cores(&all[i], &all[i - 1]) != 0;
        }
        lm_put_number(environment, "cpu", "sockets", sockets);
        lm_put_number(environment, "cpu", "cores", cores);
    }
    free(all);
}

/* "32K" or "1M" in bytes. */
static int64_t size_bytes(const char *text)
{
    char *unit;
    long long number = strtoll(text, &unit, 10);
    return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

static void add_caches(json_t *environment, const char *root, int cpu)
{
    json_t *caches = json_array();
    for (int index = 0; index < 16; index++) {
        char level[16], type[32], size[32], shared[1024];
        if (!lm_read_text(level, sizeof(level), root, CPU_DIRECTORY "/cpu%d/cache/index%d/level",
                          cpu, index) ||
            !lm_read_text(type, sizeof(type), root, CPU_DIRECTORY "/cpu%d/cache/index%d/type", cpu,
                          index) ||
            !lm_read_text(size, sizeof(size), root, CPU_DIRECTORY "/cpu%d/cache/index%d/size", cpu,
                          index) ||
            !lm_read_text(shared, sizeof(shared), root,
                          CPU_DIRECTORY "/cpu%d/cache/index%d/shared_cpu_list", cpu, index)) {
            break;
        }
        type[0] = (char)tolower((unsigned char)type[0]);
        json_array_append_new(caches, json_pack("{s:i, s:s, s:I, s:i}", "level", atoi(level),
                                                "type", type, "bytes", (json_int_t)size_bytes(size),
                                                "shared_by", lm_count_cpus(shared)));
    }
    if (json_array_size(caches) > 0) {
        lm_put(environment, "cpu", "caches", json_incref(caches));
    }
    json_decref(caches);
}

/* The governor of all CPUs, "mixed" when they differ. */
static void add_governor(json_t *environment, const char *root, const char *online)
{
    char first[64] = "", text[64];
    for (int cpu = lm_next_cpu(online, 0); cpu >= 0; cpu = lm_next_cpu(online, cpu + 1)) {
        if (!lm_read_text(text, sizeof(text), root, CPU_DIRECTORY "/cpu%d/cpufreq/scaling_governor",
                          cpu)) {
            return;
        }
        if (first[0] && strcmp(first, text) != 0) {
            strcpy(first, "mixed");
            break;
        }
        strcpy(first, text);
    }
    lm_environment_put_text(environment, "cpu", "governor", first);
}

static void add_turbo(json_t *environment, const char *root)
{
    char text[16];
    if (lm_read_text(text, sizeof(text), root, "%s", CPU_DIRECTORY "/intel_pstate/no_turbo")) {
        lm_put(environment, "cpu", "turbo", json_boolean(text[0] == '0'));
    } else if (lm_read_text(text, sizeof(text), root, "%s", CPU_DIRECTORY "/cpufreq/boost")) {
        lm_put(environment, "cpu", "turbo", json_boolean(text[0] == '1'));
    }
}

/* CPUs that one control group's quota allows, 0 when it has none. */
static double group_limit(const char *root, bool unified, const char *path)
{
    char text[64], period[64];
    double quota_us, period_us;
    if (unified) {
        return lm_read_text(text, sizeof(text), root, "/sys/fs/cgroup%s/cpu.max", path) &&
                       sscanf(text, "%lf %lf", &quota_us, &period_us) == 2 && period_us > 0
                   ? quota_us / period_us
                   : 0;
    }
    if (!lm_read_text(text, sizeof(text), root, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path) ||
        !lm_read_text(period, sizeof(period), root, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us",
                      path)) {
        return 0;
    }
    quota_us = atof(text); /* -1: none */
    period_us = atof(period);
    return quota_us > 0 && period_us > 0 ? quota_us / period_us : 0;
}

/* The tightest quota from the group at `path` up to the root. */
static double tightest_limit(const char *root, bool unified, char *path)
{
    double tightest = 0;
    for (;;) {
        bool at_root = strcmp(path, "/") == 0 || path[0] == '\0';
        double limit = group_limit(root, unified, at_root ? "" : path);
        if (limit > 0 && (tightest == 0 || limit < tightest)) {
            tightest = limit;
        }
        char *slash = strrchr(path, '/');
        if (at_root || !slash) {
            return tightest;
        }
        *slash = '\0';
    }
}

/* Does a control group line's list of controllers hold "cpu"? */
static bool has_cpu_controller(const char *list)
{
    for (const char *at = list; (at = strstr(at, "cpu")); at++) {
        if ((at == list || at[-1] == ',') && (at[3] == ',' || at[3] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Lines of /proc/self/cgroup are "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers there. */
static void add_cpu_limit(json_t *environment, const char *root)
{
    char text[4096], *line, *next = text;
    double tightest = 0;
    lm_read_text(text, sizeof(text), root, "/proc/self/cgroup");
    while ((line = strsep(&next, "\n"))) {
        strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        if (!line || (controllers[0] && !has_cpu_controller(controllers))) {
            continue;
        }
        double limit = tightest_limit(root, controllers[0] == '\0', line);
        if (limit > 0 && (tightest == 0 || limit < tightest)) {
            tightest = limit;
        }
    }
    if (tightest > 0) {
        lm_put(environment, "cpu", "limit", json_real(tightest));
    }
}

static void add_model(json_t *environment, const char *cpuinfo)
{
    /* x86 and MIPS, POWER, LoongArch, S390: the name each architecture gives the line. */
    static const char *const keys[] = {"model name", "cpu model", "cpu", "Model Name",
                                       "processor 0"};
    char text[512], implementer[64], part[64];
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (lm_find_value(cpuinfo, keys[i], text, sizeof(text))) {
            lm_environment_put_text(environment, "cpu", "model", text);
            return;
        }
    }
    /* ARM gives numbers only; the names behind them would be a guess. */
    if (lm_find_value(cpuinfo, "CPU implementer", implementer, sizeof(implementer)) &&
        lm_find_value(cpuinfo, "CPU part", part, sizeof(part))) {
        snprintf(text, sizeof(text), "ARM implementer %s part %s", implementer, part);
        lm_environment_put_text(environment, "cpu", "model", text);
    }
}

void lm_environment_add_cpu(json_t *environment, const char *root, const char *cpuinfo)
{
    char online[1024], status[4096], affinity[256];
    struct utsname name;
    add_model(environment, cpuinfo);
    if (uname(&name) == 0) {
        lm_environment_put_text(environment, "cpu", "architecture", name.machine);
    }
    if (lm_read_text(online, sizeof(online), root, "%s", CPU_DIRECTORY "/online") &&
        lm_next_cpu(online, 0) >= 0) {
        add_topology(environment, root, online);
        add_caches(environment, root, lm_next_cpu(online, 0));
        add_governor(environment, root, online);
    }
    add_turbo(environment, root);
    if (lm_read_text(status, sizeof(status), root, "/proc/self/status") &&
        lm_find_value(status, "Cpus_allowed_list", affinity, sizeof(affinity))) {
        lm_environment_put_text(environment, "cpu", "affinity", affinity);
    }
    add_cpu_limit(environment, root);
}
