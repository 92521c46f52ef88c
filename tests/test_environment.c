/* What an environment says, against made-up machines in a directory, and what is said about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/environment.h"
#include "harness/sha256.h"
#include "harness/text.h"

/* A machine: a directory that stands for the root of the file system. */
struct machine {
    char root[32];
};

static int set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof(*machine));
    strcpy(machine->root, "/tmp/lm_machine_XXXXXX");
    *state = machine;
    return mkdtemp(machine->root) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf '%s'", machine->root);
    int result = system(command);
    free(machine);
    return result;
}

/* Writes a file of the machine, and the directories it is in. */
static void put(const struct machine *machine, const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof(whole), "%s%s", machine->root, path);
    for (char *slash = whole + strlen(machine->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define CPU "/sys/devices/system/cpu"

static void put_cpu(const struct machine *machine, int cpu, const char *socket, const char *core,
                    const char *governor)
{
    char path[128];
    snprintf(path, sizeof(path), CPU "/cpu%d/topology/physical_package_id", cpu);
    put(machine, path, socket);
    snprintf(path, sizeof(path), CPU "/cpu%d/topology/core_id", cpu);
    put(machine, path, core);
    snprintf(path, sizeof(path), CPU "/cpu%d/cpufreq/scaling_governor", cpu);
    put(machine, path, governor);
}

/* Two sockets of one core each with two threads, and one CPU that is off. */
static void put_two_sockets(const struct machine *machine)
{
    put(machine, CPU "/online", "0-1,3-4\n");
    put_cpu(machine, 0, "0\n", "0\n", "powersave\n");
    put_cpu(machine, 1, "1\n", "0\n", "powersave\n");
    put_cpu(machine, 3, "0\n", "0\n", "powersave\n");
    put_cpu(machine, 4, "1\n", "0\n", "powersave\n");
}

static json_t *capture(const struct machine *machine)
{
    json_t *environment = lm_environment_capture_from(machine->root);
    assert_non_null(environment);
    return environment;
}

static const json_t *member(const json_t *environment, const char *group, const char *name)
{
    const json_t *value =
        json_object_get(group ? json_object_get(environment, group) : environment, name);
    assert_non_null(value); /* a member is always there, perhaps null */
    return value;
}

/* Captures and compares one member with JSON text. */
static void assert_member(const struct machine *machine, const char *group, const char *name,
                          const char *expected)
{
    json_t *environment = capture(machine);
    char *text = json_dumps(member(environment, group, name), JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    json_decref(environment);
}

/* Lines told, one per line. */
struct lines {
    char text[4096];
};

static void collect(void *context, const char *line)
{
    struct lines *lines = context;
    assert_null(strchr(line, '\n'));
    strcat(strcat(lines->text, line), "\n");
}

/* The warnings of an environment given as JSON text with ' for ". */
static struct lines warnings_of(const char *json)
{
    struct lines lines = {""};
    char text[512];
    snprintf(text, sizeof(text), "%s", json);
    for (char *quote = text; (quote = strchr(quote, '\'')); quote++) {
        *quote = '"';
    }
    json_t *environment = json_loads(text, 0, NULL);
    assert_non_null(environment);
    size_t count = lm_environment_warnings(environment, collect, &lines), seen = 0;
    for (const char *at = lines.text; (at = strchr(at, '\n')); at++) {
        seen++;
    }
    assert_int_equal(count, seen);
    json_decref(environment);
    return lines;
}

static void assert_warning(const char *json, const char *words)
{
    struct lines lines = warnings_of(json);
    if (words ? !strstr(lines.text, words) : lines.text[0]) {
        print_error("%s: \"%s\"\n", json, lines.text);
    }
    if (words) {
        assert_non_null(strstr(lines.text, words));
    } else {
        assert_string_equal(lines.text, "");
    }
}

/* Every string is one clean line, no number is negative. */
static void assert_clean(const json_t *value)
{
    const char *name;
    json_t *inner;
    size_t index;
    if (json_is_string(value)) {
        assert_true(lm_text_is_clean(json_string_value(value)));
        assert_true(json_string_length(value) > 0 && json_string_length(value) < 512);
    }
    assert_true(!json_is_number(value) || json_number_value(value) >= 0);
    json_object_foreach((json_t *)value, name, inner)
    {
        assert_clean(inner);
    }
    json_array_foreach(value, index, inner)
    {
        assert_clean(inner);
    }
}

static void this_machine_has_all_that_every_machine_has(void **state)
{
    (void)state;
    json_t *environment = lm_environment_capture();
    assert_non_null(environment);
    assert_clean(environment);
    assert_true(json_is_string(member(environment, NULL, "host")));
    assert_int_equal(json_string_length(member(environment, NULL, "date_utc")), 20);
    assert_true(json_integer_value(member(environment, "memory", "page_bytes")) >= 4096);
    assert_true(json_is_string(member(environment, "os", "kernel")));
    assert_true(json_is_string(member(environment, "build", "compiler")));
    assert_true(json_is_string(member(environment, "libraries", "jansson")));
    assert_false(json_is_null(member(environment, "limits", "nofile_soft")));
    json_decref(environment);
}

static void capturing_twice_shows_no_difference(void **state)
{
    (void)state;
    struct lines lines = {""};
    json_t *a = lm_environment_capture(), *b = lm_environment_capture();
    assert_int_equal(lm_environment_differences(a, b, collect, &lines), 0);
    assert_true(lm_environment_same_host(a, b));
    assert_true(lm_environment_same_source(a, b));
    json_decref(a);
    json_decref(b);
}

#ifdef __linux__

static void a_machine_without_any_file_has_the_same_members_all_null(void **state)
{
    json_t *real = lm_environment_capture(), *empty = capture(*state);
    const char *group, *name;
    json_t *members, *value;
    json_object_foreach(real, group, members)
    {
        json_object_foreach(members, name, value)
        {
            member(empty, group, name);
        }
        assert_int_equal(json_object_size(members),
                         json_object_size(json_object_get(empty, group)));
    }
    assert_true(json_is_null(member(empty, NULL, "host")));
    assert_true(json_is_null(member(empty, NULL, "load")));
    json_object_foreach(json_object_get(empty, "cpu"), name, value)
    {
        assert_true(json_is_null(value) || strcmp(name, "architecture") == 0);
    }
    json_object_foreach(json_object_get(empty, "virtualisation"), name, value)
    {
        assert_true(json_is_null(value));
    }
    assert_clean(empty);
    json_decref(real);
    json_decref(empty);
}

static void topology_counts_sockets_cores_and_threads_that_are_online(void **state)
{
    put_two_sockets(*state);
    assert_member(*state, "cpu", "sockets", "2");
    assert_member(*state, "cpu", "cores", "2");
    assert_member(*state, "cpu", "threads", "4");
}

static void topology_that_is_known_in_part_is_not_known(void **state)
{
    put(*state, CPU "/online", "0-1");
    put_cpu(*state, 0, "0", "0", "performance");
    assert_member(*state, "cpu", "threads", "2");
    assert_member(*state, "cpu", "cores", "null");
    assert_member(*state, "cpu", "governor", "null");
}

static void a_list_of_cpus_that_is_none_is_not_known(void **state)
{
    static const char *const lists[] = {"", "x", "-1", "0-99999999999", "5-2"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        put(*state, CPU "/online", lists[i]);
        assert_member(*state, "cpu", "threads", "null");
    }
}

static void caches_are_listed_in_bytes(void **state)
{
    put(*state, CPU "/online", "0-1");
    put(*state, CPU "/cpu0/cache/index0/level", "1\n");
    put(*state, CPU "/cpu0/cache/index0/type", "Data\n");
    put(*state, CPU "/cpu0/cache/index0/size", "48K\n");
    put(*state, CPU "/cpu0/cache/index0/shared_cpu_list", "0,2\n");
    assert_member(*state, "cpu", "caches",
                  "[{\"level\":1,\"type\":\"data\",\"bytes\":49152,\"shared_by\":2}]");
}

static void governors_that_differ_are_mixed(void **state)
{
    put_two_sockets(*state);
    assert_member(*state, "cpu", "governor", "\"powersave\"");
    put_cpu(*state, 3, "0", "0", "performance");
    assert_member(*state, "cpu", "governor", "\"mixed\"");
}

static void turbo_is_read_from_either_driver(void **state)
{
    put(*state, CPU "/cpufreq/boost", "0\n");
    assert_member(*state, "cpu", "turbo", "false");
    put(*state, CPU "/intel_pstate/no_turbo", "0\n");
    assert_member(*state, "cpu", "turbo", "true");
}

static void the_tightest_control_group_limit_above_counts(void **state)
{
    put(*state, "/proc/self/cgroup", "0::/a.slice/b.scope\n");
    put(*state, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "400000 100000\n");
    assert_member(*state, "cpu", "limit", "4.0");
    put(*state, "/sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
    assert_member(*state, "cpu", "limit", "1.5");
    put(*state, "/sys/fs/cgroup/a.slice/cpu.max", "max 100000\n");
    put(*state, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
    assert_member(*state, "cpu", "limit", "null");
}

static void the_limit_of_an_old_control_group_counts_too(void **state)
{
    put(*state, "/proc/self/cgroup", "9:cpuset:/x\n4:cpu,cpuacct:/docker/1\n");
    put(*state, "/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "50000\n");
    put(*state, "/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
    assert_member(*state, "cpu", "limit", "0.5");
    put(*state, "/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
    assert_member(*state, "cpu", "limit", "null");
}

static void the_cpu_is_named_on_every_architecture(void **state)
{
    put(*state, "/proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD  EPYC\nflags\t: fpu hypervisor\n");
    assert_member(*state, "cpu", "model", "\"AMD EPYC\"");
    put(*state, "/proc/cpuinfo", "processor : 0\ncpu\t\t: POWER9, altivec supported\n");
    assert_member(*state, "cpu", "model", "\"POWER9, altivec supported\"");
    put(*state, "/proc/cpuinfo",
        "CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n");
    assert_member(*state, "cpu", "model", "\"ARM implementer 0x41 part 0xd0c\"");
}

static void a_hypervisor_shows_in_the_cpu_flags(void **state)
{
    put(*state, "/proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n");
    assert_member(*state, "virtualisation", "hypervisor", "true");
    put(*state, "/proc/cpuinfo", "flags\t\t: fpu vme lahf_lm\n");
    assert_member(*state, "virtualisation", "hypervisor", "false");
}

static void without_cpu_flags_a_known_virtual_platform_shows_a_hypervisor(void **state)
{
    put(*state, "/proc/cpuinfo", "CPU implementer\t: 0x41\n");
    assert_member(*state, "virtualisation", "hypervisor", "null");
    put(*state, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
    put(*state, "/sys/class/dmi/id/product_name", "QEMU Virtual Machine\n");
    assert_member(*state, "virtualisation", "hypervisor", "true");
    assert_member(*state, "virtualisation", "platform", "\"QEMU QEMU Virtual Machine\"");
}

static void containers_are_known_by_their_marks(void **state)
{
    put(*state, "/proc/1/cgroup", "0::/kubepods.slice/pod1\n");
    assert_member(*state, "virtualisation", "container", "\"kubepods\"");
    put(*state, "/.dockerenv", "");
    assert_member(*state, "virtualisation", "container", "\"docker\"");
    put(*state, "/run/systemd/container", "systemd-nspawn\n");
    assert_member(*state, "virtualisation", "container", "\"systemd-nspawn\"");
}

static void windows_subsystem_for_linux_is_known_by_its_kernel(void **state)
{
    put(*state, "/proc/sys/kernel/osrelease", "6.6.36-WSL2-custom\n");
    assert_member(*state, "virtualisation", "wsl", "true");
    put(*state, "/proc/sys/kernel/osrelease", "6.18.44\n");
    assert_member(*state, "virtualisation", "wsl", "false");
}

static void system_settings_are_read_from_their_files(void **state)
{
    put(*state, "/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    put(*state, "/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    put(*state, "/proc/sys/kernel/io_uring_disabled", "2\n");
    put(*state, "/proc/meminfo", "MemTotal:       24684084 kB\nMemFree: 1 kB\n");
    put(*state, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put(*state, "/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    put(*state, "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    put(*state, "/proc/sys/net/core/somaxconn", "4096\n");
    put(*state, "/proc/loadavg", "0.50 1.25 2.00 1/234 5678\n");
    put(*state, "/proc/self/status", "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n");
    assert_member(*state, "os", "name", "\"Debian GNU/Linux 12 (bookworm)\"");
    assert_member(*state, "os", "build", "\"#1 SMP PREEMPT_DYNAMIC\"");
    assert_member(*state, "os", "io_uring_disabled", "2");
    assert_member(*state, "memory", "total_bytes", "25276502016");
    assert_member(*state, "memory", "transparent_hugepages", "\"madvise\"");
    assert_member(*state, "network", "local_port_range", "[32768,60999]");
    assert_member(*state, "network", "tcp_rmem", "[4096,131072,6291456]");
    assert_member(*state, "network", "somaxconn", "4096");
    assert_member(*state, NULL, "load", "[0.5,1.25,2.0]");
    assert_member(*state, "cpu", "affinity", "\"0-1\"");
}

static void mitigations_are_summed_up_in_one_line(void **state)
{
    put(*state, CPU "/vulnerabilities/b", "Vulnerable: no microcode\n");
    put(*state, CPU "/vulnerabilities/a", "Vulnerable\n");
    put(*state, CPU "/vulnerabilities/c", "Mitigation: x\n");
    put(*state, CPU "/vulnerabilities/d", "Not affected\n");
    assert_member(*state, "os", "mitigations", "\"1 mitigated, vulnerable: a b\"");
}

static void files_of_rubbish_give_null_or_clean_text(void **state)
{
    static const char *const files[] = {"/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/loadavg",
                                        "/proc/self/cgroup",
                                        "/proc/self/status",
                                        "/proc/sys/net/core/somaxconn",
                                        "/proc/sys/net/ipv4/tcp_rmem",
                                        "/etc/os-release",
                                        "/proc/sys/net/ipv4/tcp_congestion_control",
                                        CPU "/online",
                                        "/proc/sys/kernel/osrelease",
                                        "/proc/sys/kernel/ostype",
                                        "/proc/sys/kernel/version",
                                        "/sys/class/dmi/id/sys_vendor",
                                        "/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/run/systemd/container"};
    char *rubbish = malloc(100001);
    for (int i = 0; i < 100000; i++) {
        rubbish[i] = (char)(i * 7919 % 255 + 1);
    }
    rubbish[100000] = '\0';
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        put(*state, files[i], rubbish + i);
    }
    json_t *environment = capture(*state);
    assert_clean(environment);
    assert_true(json_is_null(member(environment, "network", "somaxconn")));
    assert_true(json_is_null(member(environment, "network", "tcp_rmem")));
    assert_true(json_is_null(member(environment, "cpu", "threads")));
    json_decref(environment);
    free(rubbish);
}

static void a_host_is_told_by_a_hash_of_its_machine_id(void **state)
{
    put(*state, "/etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n");
    put(*state, "/proc/sys/kernel/hostname", "one\n");
    char hex[LM_SHA256_HEX_BYTES], expected[40];
    static const char keyed[] = "loopmark host 3d1219c7c4c5404aaa1f6d2a48adfda4";
    lm_sha256_hex(keyed, strlen(keyed), hex);
    snprintf(expected, sizeof(expected), "\"%.32s\"", hex);
    assert_member(*state, NULL, "host", expected);
    put(*state, "/proc/sys/kernel/hostname", "two\n");
    assert_member(*state, NULL, "host", expected);
}

static void a_host_without_a_machine_id_is_told_by_a_hash_of_its_name(void **state)
{
    put(*state, "/etc/machine-id", "uninitialized\n");
    assert_member(*state, NULL, "host", "null");
    put(*state, "/proc/sys/kernel/hostname", "one\n");
    json_t *environment = capture(*state);
    assert_int_equal(json_string_length(member(environment, NULL, "host")), 32);
    json_decref(environment);
}

static void machines_differ_by_their_ids(void **state)
{
    put(*state, "/etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n");
    json_t *a = capture(*state);
    put(*state, "/etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda5\n");
    json_t *b = capture(*state);
    assert_false(lm_environment_same_host(a, b));
    assert_true(lm_environment_same_host(a, a));
    json_decref(a);
    json_decref(b);
}

#endif

static void two_unknown_hosts_are_not_the_same_one(void **state)
{
    (void)state;
    json_t *unknown = json_pack("{s:n}", "host"), *none = json_object();
    assert_false(lm_environment_same_host(unknown, unknown));
    assert_false(lm_environment_same_host(none, none));
    assert_false(lm_environment_same_host(none, NULL));
    json_decref(unknown);
    json_decref(none);
}

static void differing_settings_are_told_by_name_and_both_values(void **state)
{
    (void)state;
    struct lines lines = {""};
    json_t *a = json_pack("{s:s, s:[f], s:{s:n, s:i, s:[i,i], s:s}, s:{s:s, s:s}}", "date_utc", "1",
                          "load", 1.0, "cpu", "governor", "cores", 2, "ports", 1, 2, "model", "x",
                          "build", "commit", "1", "type", "Debug");
    json_t *b = json_pack("{s:s, s:[f], s:{s:s, s:i, s:[i,i], s:s, s:b}, s:{s:s, s:s}}", "date_utc",
                          "2", "load", 2.0, "cpu", "governor", "powersave", "cores", 4, "ports", 1,
                          3, "model", "x", "turbo", 1, "build", "commit", "2", "type", "Release");
    assert_int_equal(lm_environment_differences(a, b, collect, &lines), 5);
    assert_string_equal(lines.text, "cpu.governor: not known against powersave\n"
                                    "cpu.cores: 2 against 4\n"
                                    "cpu.ports: [1, 2] against [1, 3]\n"
                                    "cpu.turbo: not known against true\n"
                                    "build.type: Debug against Release\n");
    assert_false(lm_environment_same_source(a, b));
    json_decref(a);
    json_decref(b);
}

static void a_missing_and_an_unknown_setting_do_not_differ(void **state)
{
    (void)state;
    struct lines lines = {""};
    json_t *a = json_pack("{s:{s:n}, s:n}", "cpu", "governor", "os"), *b = json_object();
    assert_int_equal(lm_environment_differences(a, b, collect, &lines), 0);
    assert_int_equal(lm_environment_differences(b, a, collect, &lines), 0);
    json_decref(a);
    json_decref(b);
}

static void a_quiet_machine_gives_no_warning(void **state)
{
    (void)state;
    assert_warning("{'load':[0.1,0.1,0.1],'cpu':{'threads':8,'governor':'performance',"
                   "'turbo':false},'os':{'clock_source':'tsc','io_uring_disabled':0},"
                   "'virtualisation':{'hypervisor':false,'wsl':false},"
                   "'limits':{'nofile_soft':64,'nofile_hard':'unlimited'},"
                   "'network':{'somaxconn':4096,'local_port_range':[32768,60999]},"
                   "'build':{'type':'Release','dirty':false}}",
                   NULL);
}

static void a_machine_of_which_nothing_is_known_gives_no_warning(void **state)
{
    (void)state;
    assert_warning("{}", NULL);
    assert_warning(
        "{'load':null,'cpu':{'threads':null,'governor':null,'turbo':null,'limit':null},"
        "'limits':{'nofile_soft':null,'nofile_hard':null},'network':{'local_port_range':null}}",
        NULL);
    assert_warning("{'load':'x','cpu':[],'limits':3,'network':{'local_port_range':['a']}}", NULL);
}

static void each_spoiler_is_named_with_its_remedy(void **state)
{
    (void)state;
    assert_warning("{'build':{'sanitizer':'thread','type':'Release'}}",
                   "built with sanitizers (thread), which slow everything unevenly: build with "
                   "cmake --preset default");
    assert_warning("{'build':{'type':'Debug'}}", "build type Debug is not optimised");
    assert_warning("{'build':{'dirty':true}}", "commit the changes and build again");
    assert_warning("{'cpu':{'threads':1}}", "one CPU: ");
    assert_warning("{'cpu':{'threads':2,'limit':1.5}}", "allows 1.5 of 2 CPUs");
    assert_warning("{'cpu':{'governor':'powersave'}}", "cpupower frequency-set -g performance");
    assert_warning("{'cpu':{'turbo':true}}", "turbo is on");
    assert_warning("{'virtualisation':{'hypervisor':true}}", "virtual machine: ");
    assert_warning("{'virtualisation':{'wsl':true}}", "Windows Subsystem for Linux: ");
    assert_warning("{'virtualisation':{'container':'docker'}}", "inside a container (docker)");
    assert_warning("{'load':[2.5,0,0],'cpu':{'threads':2}}", "load average 2.50 on 2 CPUs");
    assert_warning("{'os':{'clock_source':'hpet'}}", "clock source hpet needs a system call");
    assert_warning("{'os':{'io_uring_disabled':2}}", "sysctl kernel.io_uring_disabled=0");
    assert_warning("{'limits':{'nofile_hard':64}}", "only 64 open files are allowed, wide cases "
                                                    "will fail: raise the hard limit");
    assert_warning("{'network':{'somaxconn':16}}", "a listen queue of 16 is too short");
    assert_warning("{'network':{'local_port_range':[50000,50999]}}", "only 1000 local ports");
}

/* Vectors of FIPS 180-4's examples, and the lengths around a block's end against sha256sum. */
static void sha256_gives_the_published_digests(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        char hex[LM_SHA256_HEX_BYTES];
        lm_sha256_hex(vectors[i].text, strlen(vectors[i].text), hex);
        assert_string_equal(hex, vectors[i].digest);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(this_machine_has_all_that_every_machine_has),
        TEST(capturing_twice_shows_no_difference),
#ifdef __linux__
        TEST(a_machine_without_any_file_has_the_same_members_all_null),
        TEST(topology_counts_sockets_cores_and_threads_that_are_online),
        TEST(topology_that_is_known_in_part_is_not_known),
        TEST(a_list_of_cpus_that_is_none_is_not_known),
        TEST(caches_are_listed_in_bytes),
        TEST(governors_that_differ_are_mixed),
        TEST(turbo_is_read_from_either_driver),
        TEST(the_tightest_control_group_limit_above_counts),
        TEST(the_limit_of_an_old_control_group_counts_too),
        TEST(the_cpu_is_named_on_every_architecture),
        TEST(a_hypervisor_shows_in_the_cpu_flags),
        TEST(without_cpu_flags_a_known_virtual_platform_shows_a_hypervisor),
        TEST(containers_are_known_by_their_marks),
        TEST(windows_subsystem_for_linux_is_known_by_its_kernel),
        TEST(system_settings_are_read_from_their_files),
        TEST(mitigations_are_summed_up_in_one_line),
        TEST(files_of_rubbish_give_null_or_clean_text),
        TEST(a_host_is_told_by_a_hash_of_its_machine_id),
        TEST(a_host_without_a_machine_id_is_told_by_a_hash_of_its_name),
        TEST(machines_differ_by_their_ids),
#endif
        TEST(two_unknown_hosts_are_not_the_same_one),
        TEST(differing_settings_are_told_by_name_and_both_values),
        TEST(a_missing_and_an_unknown_setting_do_not_differ),
        TEST(a_quiet_machine_gives_no_warning),
        TEST(a_machine_of_which_nothing_is_known_gives_no_warning),
        TEST(each_spoiler_is_named_with_its_remedy),
        TEST(sha256_gives_the_published_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
