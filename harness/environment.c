#include "harness/environment.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/environment_parts.h"
#include "harness/sha256.h"
#include "harness/text.h"

/* Longest text of a member. */
enum {
    VALUE_BYTES = 512
};

/* Every member there is. */
struct group {
    const char *name; /* NULL: members of the environment itself */
    const char *members[14];
};

static const struct group groups[] = {
    {NULL, {"host", "date_utc", "load"}},
    {"cpu",
     {"model", "architecture", "sockets", "cores", "threads", "caches", "governor", "turbo",
      "affinity", "limit"}},
    {"memory", {"total_bytes", "page_bytes", "transparent_hugepages"}},
    {"os",
     {"name", "kernel", "release", "build", "clock_source", "mitigations", "io_uring_disabled"}},
    {"virtualisation", {"hypervisor", "hypervisor_id", "platform", "container", "wsl"}},
    {"limits", {"nofile_soft", "nofile_hard", "memlock_soft_bytes", "memlock_hard_bytes"}},
    {"network",
     {"somaxconn", "local_port_range", "tcp_congestion_control", "tcp_rmem", "tcp_wmem"}},
    {"build",
     {"version", "commit", "branch", "dirty", "type", "compiler", "flags", "sanitizer", "cmake"}},
    {"libraries",
     {"libc", "liburing", "liburing_running", "jansson", "jansson_running", "benchmark"}},
};

void lm_put(json_t *environment, const char *group, const char *name, json_t *value)
{
    json_t *object = group ? json_object_get(environment, group) : environment;
    if (value) {
        json_object_set_new(object, name, value);
    }
}

void lm_environment_put_text(json_t *environment, const char *group, const char *name,
                             const char *text)
{
    char clean[VALUE_BYTES];
    if (text && lm_text_clean(clean, sizeof(clean), text, strlen(text)) > 0) {
        lm_put(environment, group, name, json_string(clean));
    }
}

void lm_put_number(json_t *environment, const char *group, const char *name, int64_t number)
{
    if (number >= 0) {
        lm_put(environment, group, name, json_integer(number));
    }
}

static int add_nulls(json_t *object, const char *const *members)
{
    for (; *members; members++) {
        if (json_object_set_new(object, *members, json_null()) != 0) {
            return -1;
        }
    }
    return 0;
}

/* All members, all null. */
static json_t *unknown_environment(void)
{
    json_t *environment = json_object();
    for (size_t i = 0; environment && i < sizeof(groups) / sizeof(groups[0]); i++) {
        json_t *object = groups[i].name ? json_object() : json_incref(environment);
        if (!object || add_nulls(object, groups[i].members) != 0 ||
            (groups[i].name && json_object_set(environment, groups[i].name, object) != 0)) {
            json_decref(environment);
            environment = NULL;
        }
        json_decref(object);
    }
    return environment;
}

/* machine-id(5) asks that the id be given away only through a keyed hash; a hostname is private
 * too. 128 bits of it are enough to tell machines apart. */
static void add_host(json_t *environment, const char *root)
{
    char id[320] = "loopmark host ", hex[LM_SHA256_HEX_BYTES];
    size_t key_bytes = strlen(id);
    if (lm_environment_machine_id(root, id + key_bytes, sizeof(id) - key_bytes)) {
        lm_sha256_hex(id, strlen(id), hex);
        hex[32] = '\0';
        lm_environment_put_text(environment, NULL, "host", hex);
    }
}

static void add_date(json_t *environment)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];
    if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) {
        lm_environment_put_text(environment, NULL, "date_utc", text);
    }
}

static void add_limit(json_t *environment, const char *name, rlim_t limit)
{
    if (limit == RLIM_INFINITY) {
        lm_environment_put_text(environment, "limits", name, "unlimited");
    } else {
        lm_put_number(environment, "limits", name, (int64_t)limit);
    }
}

static void add_limits(json_t *environment)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        add_limit(environment, "nofile_soft", limit.rlim_cur);
        add_limit(environment, "nofile_hard", limit.rlim_max);
    }
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
        add_limit(environment, "memlock_soft_bytes", limit.rlim_cur);
        add_limit(environment, "memlock_hard_bytes", limit.rlim_max);
    }
}

json_t *lm_environment_capture_from(const char *root)
{
    json_t *environment = unknown_environment();
    if (environment) {
        add_host(environment, root);
        add_date(environment);
        add_limits(environment);
        lm_put_number(environment, "memory", "page_bytes", sysconf(_SC_PAGESIZE));
        lm_environment_add_system(environment, root);
        lm_environment_add_build(environment);
    }
    return environment;
}

json_t *lm_environment_capture(void)
{
    return lm_environment_capture_from("");
}
