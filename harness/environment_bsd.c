/* The system's part of an environment, through sysctl: macOS and the BSD systems.
 *
 * Written from these systems' manual pages; not yet compiled or run on one of them. A name that a
 * system does not know leaves its member null.
 */
#include <sys/types.h>

#include <sys/sysctl.h>
#include <sys/utsname.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __OpenBSD__
#include <netinet/in.h>
#include <netinet/ip_var.h>
#include <sys/socket.h>
#endif

#include "harness/environment_parts.h"

/* A sysctl: by name, but OpenBSD has numbers only. */
#ifdef __OpenBSD__
struct source {
    int path[4];
    unsigned depth;
};
#define SOURCE(...)                                                                                \
    {                                                                                              \
        {__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int)                                  \
    }

static int fetch(const struct source *source, void *value, size_t *bytes)
{
    return sysctl(source->path, source->depth, value, bytes, NULL, 0);
}
#else
struct source {
    const char *name;
};
#define SOURCE(name)                                                                               \
    {                                                                                              \
        name                                                                                       \
    }

static int fetch(const struct source *source, void *value, size_t *bytes)
{
    return sysctlbyname(source->name, value, bytes, NULL, 0);
}
#endif

/* Where a member comes from; of several rows for one member the first that answers counts. */
struct row {
    const char *group, *name;
    enum {
        TEXT,
        NUMBER
    } kind;
    struct source source;
};

static const struct row rows[] = {
#if defined(__APPLE__)
    {"cpu", "model", TEXT, SOURCE("machdep.cpu.brand_string")},
    {"cpu", "sockets", NUMBER, SOURCE("hw.packages")},
    {"cpu", "cores", NUMBER, SOURCE("hw.physicalcpu")},
    {"cpu", "threads", NUMBER, SOURCE("hw.logicalcpu")},
    {"memory", "total_bytes", NUMBER, SOURCE("hw.memsize")},
    {"virtualisation", "platform", TEXT, SOURCE("hw.model")},
    {"network", "somaxconn", NUMBER, SOURCE("kern.ipc.somaxconn")},
#elif defined(__FreeBSD__) || defined(__DragonFly__)
    {"cpu", "model", TEXT, SOURCE("hw.model")},
    {"cpu", "cores", NUMBER, SOURCE("kern.smp.cores")},
    {"cpu", "threads", NUMBER, SOURCE("kern.smp.cpus")},
    {"cpu", "threads", NUMBER, SOURCE("hw.ncpu")},
    {"memory", "total_bytes", NUMBER, SOURCE("hw.physmem")},
    {"os", "clock_source", TEXT, SOURCE("kern.timecounter.hardware")},
    {"os", "clock_source", TEXT, SOURCE("kern.cputimer.name")},
    {"virtualisation", "hypervisor_id", TEXT, SOURCE("kern.vm_guest")},
    {"virtualisation", "hypervisor_id", TEXT, SOURCE("kern.vmm_guest")},
    {"network", "somaxconn", NUMBER, SOURCE("kern.ipc.soacceptqueue")},
    {"network", "somaxconn", NUMBER, SOURCE("kern.ipc.somaxconn")},
    {"network", "tcp_congestion_control", TEXT, SOURCE("net.inet.tcp.cc.algorithm")},
#elif defined(__NetBSD__)
    {"cpu", "model", TEXT, SOURCE("machdep.cpu_brand")},
    {"cpu", "model", TEXT, SOURCE("hw.model")},
    {"cpu", "threads", NUMBER, SOURCE("hw.ncpuonline")},
    {"memory", "total_bytes", NUMBER, SOURCE("hw.physmem64")},
    {"os", "clock_source", TEXT, SOURCE("kern.timecounter.hardware")},
    {"virtualisation", "platform", TEXT, SOURCE("machdep.dmi.system-product")},
    {"network", "somaxconn", NUMBER, SOURCE("kern.somaxconn")},
    {"network", "tcp_congestion_control", TEXT, SOURCE("net.inet.tcp.congctl.selected")},
#elif defined(__OpenBSD__)
    {"cpu", "model", TEXT, SOURCE(CTL_HW, HW_MODEL)},
    {"cpu", "threads", NUMBER, SOURCE(CTL_HW, HW_NCPUONLINE)},
    {"memory", "total_bytes", NUMBER, SOURCE(CTL_HW, HW_PHYSMEM64)},
    {"os", "clock_source", TEXT, SOURCE(CTL_KERN, KERN_TIMECOUNTER, KERN_TIMECOUNTER_HARDWARE)},
    {"virtualisation", "platform", TEXT, SOURCE(CTL_HW, HW_PRODUCT)},
    {"network", "somaxconn", NUMBER, SOURCE(CTL_KERN, KERN_SOMAXCONN)},
#endif
};

/* First and last port that connect() may choose. */
static const struct source ports[2] = {
#if defined(__NetBSD__)
    SOURCE("net.inet.ip.anonportmin"),
    SOURCE("net.inet.ip.anonportmax"),
#elif defined(__OpenBSD__)
    SOURCE(CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_FIRSTAUTO),
    SOURCE(CTL_NET, PF_INET, IPPROTO_IP, IPCTL_IPPORT_LASTAUTO),
#else
    SOURCE("net.inet.ip.portrange.first"),
    SOURCE("net.inet.ip.portrange.last"),
#endif
};

static bool fetch_text(const struct source *source, char *text, size_t text_bytes)
{
    size_t bytes = text_bytes - 1;
    if (fetch(source, text, &bytes) != 0) {
        return false;
    }
    text[bytes] = '\0';
    return text[0] != '\0';
}

/* Whole numbers come as four or eight bytes. -1 when there is none. */
static int64_t fetch_number(const struct source *source)
{
    union {
        int32_t narrow;
        int64_t wide;
    } value = {0};
    size_t bytes = sizeof(value);
    if (fetch(source, &value, &bytes) != 0) {
        return -1;
    }
    return bytes == sizeof(value.narrow) ? value.narrow
           : bytes == sizeof(value.wide) ? value.wide
                                         : -1;
}

static void add_rows(json_t *environment)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        char text[512];
        if (!json_is_null(json_object_get(json_object_get(environment, row->group), row->name))) {
            continue;
        }
        if (row->kind == NUMBER) {
            lm_put_number(environment, row->group, row->name, fetch_number(&row->source));
        } else if (fetch_text(&row->source, text, sizeof(text))) {
            lm_environment_put_text(environment, row->group, row->name, text);
        }
    }
}

static void add_os(json_t *environment)
{
    struct utsname name;
    char text[sizeof(name.sysname) + sizeof(name.release) + 1];
    if (uname(&name) != 0) {
        return;
    }
    lm_environment_put_text(environment, "cpu", "architecture", name.machine);
    lm_environment_put_text(environment, "os", "kernel", name.sysname);
    lm_environment_put_text(environment, "os", "release", name.release);
    lm_environment_put_text(environment, "os", "build", name.version);
    snprintf(text, sizeof(text), "%s %s", name.sysname, name.release);
#ifdef __APPLE__
    char version[64];
    const struct source source = SOURCE("kern.osproductversion");
    if (fetch_text(&source, version, sizeof(version))) {
        snprintf(text, sizeof(text), "macOS %s", version);
    }
#endif
    lm_environment_put_text(environment, "os", "name", text);
}

#ifdef __APPLE__
static void add_caches(json_t *environment)
{
    static const struct {
        int level;
        const char *type;
        struct source source;
    } caches[] = {
        {1, "data", SOURCE("hw.l1dcachesize")},
        {1, "instruction", SOURCE("hw.l1icachesize")},
        {2, "unified", SOURCE("hw.l2cachesize")},
        {3, "unified", SOURCE("hw.l3cachesize")},
    };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
        int64_t bytes = fetch_number(&caches[i].source);
        if (bytes > 0) {
            json_array_append_new(list, json_pack("{s:i, s:s, s:I, s:n}", "level", caches[i].level,
                                                  "type", caches[i].type, "bytes",
                                                  (json_int_t)bytes, "shared_by"));
        }
    }
    lm_put(environment, "cpu", "caches", list);
}
#endif

/* Is there a hypervisor below? NetBSD and OpenBSD do not tell. */
static void add_hypervisor(json_t *environment)
{
#if defined(__APPLE__)
    const struct source source = SOURCE("kern.hv_vmm_present");
    int64_t present = fetch_number(&source);
    if (present >= 0) {
        lm_put(environment, "virtualisation", "hypervisor", json_boolean(present));
    }
#else
    const char *guest = json_string_value(
        json_object_get(json_object_get(environment, "virtualisation"), "hypervisor_id"));
    if (guest && strcmp(guest, "none") == 0) {
        lm_put(environment, "virtualisation", "hypervisor", json_false());
        lm_put(environment, "virtualisation", "hypervisor_id", json_null());
    } else if (guest) {
        lm_put(environment, "virtualisation", "hypervisor", json_true());
    }
#endif
#ifdef __FreeBSD__
    const struct source jailed = SOURCE("security.jail.jailed");
    if (fetch_number(&jailed) > 0) {
        lm_environment_put_text(environment, "virtualisation", "container", "jail");
    }
#endif
}

void lm_environment_add_system(json_t *environment, const char *root)
{
    (void)root;
    double load[3];
    int64_t first = fetch_number(&ports[0]), last = fetch_number(&ports[1]);
    add_rows(environment);
    add_os(environment);
    add_hypervisor(environment);
#ifdef __APPLE__
    add_caches(environment);
#endif
    if (first >= 0 && last >= 0) {
        lm_put(environment, "network", "local_port_range",
               json_pack("[I, I]", (json_int_t)first, (json_int_t)last));
    }
    if (getloadavg(load, 3) == 3) {
        lm_put(environment, NULL, "load", json_pack("[f, f, f]", load[0], load[1], load[2]));
    }
}

/* The machine's own identity; false where it has none, or one of zeros as boards without it do. */
static bool machine_uuid(char *text, size_t text_bytes)
{
#if defined(__APPLE__)
    uuid_t uuid;
    const struct timespec patience = {1, 0};
    if (gethostuuid(uuid, &patience) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(uuid_t) && i * 2 + 3 <= text_bytes; i++) {
        snprintf(text + i * 2, 3, "%02x", uuid[i]);
    }
    return true;
#else
#if defined(__OpenBSD__)
    const struct source source = SOURCE(CTL_HW, HW_UUID);
#elif defined(__NetBSD__)
    const struct source source = SOURCE("machdep.dmi.system-uuid");
#else
    const struct source source = SOURCE("kern.hostuuid");
#endif
    return fetch_text(&source, text, text_bytes) && strspn(text, "0-") < strlen(text);
#endif
}

bool lm_environment_machine_id(const char *root, char *text, size_t text_bytes)
{
    (void)root;
    if (machine_uuid(text, text_bytes)) {
        return true;
    }
    text[text_bytes - 1] = '\0';
    return gethostname(text, text_bytes - 1) == 0 && text[0] != '\0';
}
