/* The system's part of an environment, from /proc and /sys. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "harness/environment_files.h"
#include "harness/environment_parts.h"

/* Enough of /proc/cpuinfo: its first processor needs about 4000. */
enum {
    CPUINFO_BYTES = 16384
};

static bool exists(const char *root, const char *path)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    return access(whole, F_OK) == 0;
}

static void put_file(json_t *environment, const char *group, const char *name, const char *root,
                     const char *path)
{
    char text[1024];
    if (lm_read_text(text, sizeof(text), root, "%s", path)) {
        lm_environment_put_text(environment, group, name, text);
    }
}

/* The whole numbers of a file; NULL when it holds anything else. */
static json_t *read_numbers(const char *root, const char *path)
{
    char text[256];
    json_t *list = json_array();
    lm_read_text(text, sizeof(text), root, "%s", path);
    for (const char *at = text; list && *at;) {
        char *end;
        errno = 0;
        long long number = strtoll(at, &end, 10);
        if (end == at || errno || (*end && !isspace((unsigned char)*end))) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, json_integer(number));
        at = end;
    }
    return list;
}

/* A member from a file of `count` numbers: a list, or for one the number itself. */
static void put_numbers(json_t *environment, const char *group, const char *name, const char *root,
                        const char *path, size_t count)
{
    json_t *list = read_numbers(root, path);
    if (json_array_size(list) == count) {
        lm_put(environment, group, name, json_incref(count == 1 ? json_array_get(list, 0) : list));
    }
    json_decref(list);
}

static void add_memory(json_t *environment, const char *root)
{
    char text[4096], value[128];
    if (lm_read_text(text, sizeof(text), root, "/proc/meminfo") &&
        lm_find_value(text, "MemTotal", value, sizeof(value))) {
        lm_put_number(environment, "memory", "total_bytes", strtoll(value, NULL, 10) * 1024);
    }
    /* "always [madvise] never": the word in brackets is in force. */
    if (lm_read_text(text, sizeof(text), root, "/sys/kernel/mm/transparent_hugepage/enabled")) {
        char *start = strchr(text, '['), *end = start ? strchr(start, ']') : NULL;
        if (end) {
            *end = '\0';
            lm_environment_put_text(environment, "memory", "transparent_hugepages", start + 1);
        }
    }
}

/* PRETTY_NAME of os-release(5), without its quotes. */
static void add_os_name(json_t *environment, const char *root)
{
    char text[4096];
    if (!lm_read_text(text, sizeof(text), root, "/etc/os-release") &&
        !lm_read_text(text, sizeof(text), root, "/usr/lib/os-release")) {
        return;
    }
    char *line, *next = text;
    while ((line = strsep(&next, "\n"))) {
        if (strncmp(line, "PRETTY_NAME=", 12) == 0) {
            line += 12;
            line += strspn(line, "\"'");
            line[strcspn(line, "\"'")] = '\0';
            lm_environment_put_text(environment, "os", "name", line);
        }
    }
}

/* One line: how many CPU faults are worked around, and the names of those that are not. */
static void add_mitigations(json_t *environment, const char *root)
{
    char directory[1024], state[256], summary[512], vulnerable[400] = "";
    struct dirent **entries;
    snprintf(directory, sizeof(directory), "%s/sys/devices/system/cpu/vulnerabilities", root);
    int count = scandir(directory, &entries, NULL, alphasort), mitigated = 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && lm_read_text(state, sizeof(state), directory, "/%s", name)) {
            mitigated += strncmp(state, "Mitigation", 10) == 0;
            size_t used = strlen(vulnerable);
            if (strncmp(state, "Vulnerable", 10) == 0) {
                snprintf(vulnerable + used, sizeof(vulnerable) - used, " %s", name);
            }
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
        snprintf(summary, sizeof(summary), "%d mitigated, vulnerable:%s", mitigated,
                 vulnerable[0] ? vulnerable : " none");
        lm_environment_put_text(environment, "os", "mitigations", summary);
    }
}

static void add_os(json_t *environment, const char *root)
{
    add_os_name(environment, root);
    put_file(environment, "os", "kernel", root, "/proc/sys/kernel/ostype");
    put_file(environment, "os", "release", root, "/proc/sys/kernel/osrelease");
    put_file(environment, "os", "build", root, "/proc/sys/kernel/version");
    put_file(environment, "os", "clock_source", root,
             "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    put_numbers(environment, "os", "io_uring_disabled", root, "/proc/sys/kernel/io_uring_disabled",
                1);
    add_mitigations(environment, root);
}

/* Is there a hypervisor below? 1 or 0, or -1 when this machine does not tell. x86 has a CPU flag
 * for it (CPUID leaf 1, ECX bit 31); elsewhere only its presence can be seen. */
static int has_hypervisor(const char *root, const char *cpuinfo, const char *platform)
{
    static const char *const virtual_platforms[] = {"QEMU",
                                                    "KVM Virtual",
                                                    "VMware",
                                                    "VirtualBox",
                                                    "Virtual Machine",
                                                    "Google Compute Engine",
                                                    "Parallels",
                                                    "Apple Virtualization",
                                                    "linux,dummy-virt",
                                                    "OpenStack",
                                                    "bhyve"};
    char flags[4096];
    if (lm_find_value(cpuinfo, "flags", flags, sizeof(flags))) {
        return strstr(flags, " hypervisor") != NULL;
    }
    if (exists(root, "/sys/hypervisor/type") || exists(root, "/proc/device-tree/hypervisor")) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(virtual_platforms) / sizeof(virtual_platforms[0]); i++) {
        if (strstr(platform, virtual_platforms[i])) {
            return 1;
        }
    }
    return -1;
}

/* The name a hypervisor gives itself, e.g. "KVMKVMKVM": CPUID leaf 0x40000000. */
static void add_hypervisor_id(json_t *environment)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned leaf, id[4] = {0};
    __cpuid(0x40000000, leaf, id[0], id[1], id[2]);
    char text[sizeof(id)];
    memcpy(text, id, sizeof(id)); /* 12 bytes and a NUL */
    lm_environment_put_text(environment, "virtualisation", "hypervisor_id", text);
#else
    (void)environment;
#endif
}

/* What the process is in, by the marks container managers leave; null when there is none. */
static void add_container(json_t *environment, const char *root)
{
    static const struct {
        const char *path, *name;
    } marks[] = {
        {"/run/.containerenv", "podman"}, {"/.dockerenv", "docker"}, {"/proc/vz", "openvz"}};
    static const char *const groups[] = {"kubepods", "docker", "lxc"};
    char text[4096];
    if (lm_read_text(text, sizeof(text), root, "/run/systemd/container")) {
        lm_environment_put_text(environment, "virtualisation", "container", text);
        return;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (exists(root, marks[i].path)) {
            lm_environment_put_text(environment, "virtualisation", "container", marks[i].name);
            return;
        }
    }
    lm_read_text(text, sizeof(text), root, "/proc/1/cgroup");
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (strstr(text, groups[i])) {
            lm_environment_put_text(environment, "virtualisation", "container", groups[i]);
            return;
        }
    }
}

static void add_virtualisation(json_t *environment, const char *root, const char *cpuinfo)
{
    char vendor[128], product[128], platform[260] = "", release[256];
    lm_read_text(vendor, sizeof(vendor), root, "/sys/class/dmi/id/sys_vendor");
    lm_read_text(product, sizeof(product), root, "/sys/class/dmi/id/product_name");
    snprintf(platform, sizeof(platform), "%s %s", vendor, product);
    if (!vendor[0] && !product[0]) {
        lm_read_text(platform, sizeof(platform), root, "/proc/device-tree/compatible");
    }
    lm_environment_put_text(environment, "virtualisation", "platform", platform);
    int hypervisor = has_hypervisor(root, cpuinfo, platform);
    if (hypervisor >= 0) {
        lm_put(environment, "virtualisation", "hypervisor", json_boolean(hypervisor));
    }
    if (hypervisor == 1 && root[0] == '\0') {
        add_hypervisor_id(environment);
    }
    add_container(environment, root);
    if (lm_read_text(release, sizeof(release), root, "/proc/sys/kernel/osrelease")) {
        bool wsl = strcasestr(release, "microsoft") || strcasestr(release, "wsl");
        lm_put(environment, "virtualisation", "wsl", json_boolean(wsl));
    }
}

static void add_network(json_t *environment, const char *root)
{
    put_numbers(environment, "network", "somaxconn", root, "/proc/sys/net/core/somaxconn", 1);
    put_numbers(environment, "network", "local_port_range", root,
                "/proc/sys/net/ipv4/ip_local_port_range", 2);
    put_file(environment, "network", "tcp_congestion_control", root,
             "/proc/sys/net/ipv4/tcp_congestion_control");
    put_numbers(environment, "network", "tcp_rmem", root, "/proc/sys/net/ipv4/tcp_rmem", 3);
    put_numbers(environment, "network", "tcp_wmem", root, "/proc/sys/net/ipv4/tcp_wmem", 3);
}

static void add_load(json_t *environment, const char *root)
{
    char text[128];
    double load[3];
    if (lm_read_text(text, sizeof(text), root, "/proc/loadavg") &&
        sscanf(text, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3) {
        lm_put(environment, NULL, "load", json_pack("[f, f, f]", load[0], load[1], load[2]));
    }
}

void lm_environment_add_system(json_t *environment, const char *root)
{
    char cpuinfo[CPUINFO_BYTES];
    lm_read_text(cpuinfo, sizeof(cpuinfo), root, "/proc/cpuinfo");
    lm_environment_add_cpu(environment, root, cpuinfo);
    add_memory(environment, root);
    add_os(environment, root);
    add_virtualisation(environment, root, cpuinfo);
    add_network(environment, root);
    add_load(environment, root);
}

bool lm_environment_machine_id(const char *root, char *text, size_t text_bytes)
{
    static const char *const files[] = {"/etc/machine-id", "/var/lib/dbus/machine-id"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (lm_read_text(text, text_bytes, root, "%s", files[i]) && strlen(text) == 32) {
            return true; /* not "uninitialized" */
        }
    }
    return lm_read_text(text, text_bytes, root, "/proc/sys/kernel/hostname");
}
