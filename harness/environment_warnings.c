/* What about a machine will spoil numbers. The thresholds are here and nowhere else. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/environment.h"

/* A worker of the widest case (64 pairs, or a burst of 100 connections) opens about 300. */
static const double enough_descriptors = 1024;
/* The widest burst of connections is 100. */
static const double enough_backlog = 128;
/* accept_churn takes a new port for every lap. */
static const double enough_ports = 4096;
/* Busy CPUs at the start, as a share of all: above it, others take turns with what is measured. */
static const double quiet_load = 0.25;

struct warning {
    const json_t *environment;
    lm_environment_line_fn *each;
    void *context;
    size_t count;
};

static void warn(struct warning *warning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(struct warning *warning, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    warning->each(warning->context, line);
    warning->count++;
}

static const json_t *member(const struct warning *warning, const char *group, const char *name)
{
    return json_object_get(json_object_get(warning->environment, group), name);
}

/* A member's text, "" when there is none. */
static const char *text_of(const struct warning *warning, const char *group, const char *name)
{
    const char *text = json_string_value(member(warning, group, name));
    return text ? text : "";
}

/* Is the member a number below `least`? Not when it is not known. */
static bool is_below(const struct warning *warning, const char *group, const char *name,
                     double least)
{
    const json_t *value = member(warning, group, name);
    return json_is_number(value) && json_number_value(value) < least;
}

static void warn_build(struct warning *warning)
{
    const char *sanitizer = text_of(warning, "build", "sanitizer");
    const char *type = text_of(warning, "build", "type");
    if (sanitizer[0]) {
        warn(warning,
             "built with sanitizers (%s), which slow everything unevenly: build with "
             "cmake --preset default",
             sanitizer);
    } else if (type[0] && strcmp(type, "Release") != 0 && strcmp(type, "RelWithDebInfo") != 0) {
        warn(warning, "build type %s is not optimised: build with cmake --preset default", type);
    }
    if (json_is_true(member(warning, "build", "dirty"))) {
        warn(warning, "built from changed sources, so no commit names them: commit the changes and "
                      "build again");
    }
}

static void warn_cpu(struct warning *warning)
{
    const char *governor = text_of(warning, "cpu", "governor");
    double threads = json_number_value(member(warning, "cpu", "threads"));
    const json_t *limit = member(warning, "cpu", "limit");
    if (threads == 1) {
        warn(warning, "one CPU: cases of several threads measure the scheduler; use two or more");
    }
    if (json_is_number(limit) && threads > 0 && json_number_value(limit) < threads) {
        warn(warning,
             "a control group allows %g of %g CPUs and stops the process when they are "
             "used up: lift its cpu.max (docker run --cpus)",
             json_number_value(limit), threads);
    }
    if (governor[0] && strcmp(governor, "performance") != 0) {
        warn(warning,
             "CPU governor is %s, so the clock follows the load: sudo cpupower "
             "frequency-set -g performance",
             governor);
    }
    if (json_is_true(member(warning, "cpu", "turbo"))) {
        warn(warning,
             "turbo is on, so the clock follows the temperature: echo 1 | sudo tee "
             "/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 to .../cpufreq/boost");
    }
}

static void warn_machine(struct warning *warning)
{
    const char *container = text_of(warning, "virtualisation", "container");
    if (json_is_true(member(warning, "virtualisation", "wsl"))) {
        warn(warning, "Windows Subsystem for Linux: its network and timers are not Linux's on "
                      "hardware; measure on a Linux machine");
    } else if (json_is_true(member(warning, "virtualisation", "hypervisor"))) {
        warn(warning, "virtual machine: neighbours and exits to the hypervisor add noise; trust "
                      "ratios more than figures, or measure on hardware");
    }
    if (container[0]) {
        warn(warning,
             "inside a container (%s): filters on system calls and networks cost time; "
             "measure outside, or with --network host and an unconfined seccomp profile",
             container);
    }
}

static void warn_load(struct warning *warning)
{
    const json_t *minute = json_array_get(json_object_get(warning->environment, "load"), 0);
    double threads = json_number_value(member(warning, "cpu", "threads"));
    if (json_is_number(minute) && threads > 0 && json_number_value(minute) > quiet_load * threads) {
        warn(warning, "load average %.2f on %g CPUs: something else is running; stop it or wait",
             json_number_value(minute), threads);
    }
}

static void warn_kernel(struct warning *warning)
{
    static const char *const slow_clocks[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies",
                                              "xen"};
    const char *clock = text_of(warning, "os", "clock_source");
    double disabled = json_number_value(member(warning, "os", "io_uring_disabled"));
    for (size_t i = 0; i < sizeof(slow_clocks) / sizeof(slow_clocks[0]); i++) {
        if (strcmp(clock, slow_clocks[i]) == 0) {
            warn(warning,
                 "clock source %s needs a system call for every reading: boot with a CPU "
                 "whose TSC is stable, or tsc=reliable",
                 clock);
        }
    }
    if (disabled > 0) {
        warn(warning, "io_uring is %s: sudo sysctl kernel.io_uring_disabled=0",
             disabled == 1 ? "for members of kernel.io_uring_group only" : "disabled");
    }
}

static void warn_limits(struct warning *warning)
{
    const json_t *ports = member(warning, "network", "local_port_range");
    json_int_t first = json_integer_value(json_array_get(ports, 0));
    json_int_t last = json_integer_value(json_array_get(ports, 1));
    /* The hard one: a worker raises its soft limit to that by itself. */
    if (is_below(warning, "limits", "nofile_hard", enough_descriptors)) {
        warn(warning,
             "only %g open files are allowed, wide cases will fail: raise the hard limit, "
             "as root by ulimit -n %g",
             json_number_value(member(warning, "limits", "nofile_hard")), enough_descriptors);
    }
    if (is_below(warning, "network", "somaxconn", enough_backlog)) {
        warn(warning,
             "a listen queue of %g is too short for bursts: sudo sysctl "
             "net.core.somaxconn=4096",
             json_number_value(member(warning, "network", "somaxconn")));
    }
    if (json_array_size(ports) == 2 && (double)(last - first) < enough_ports) {
        warn(warning,
             "only %d local ports: sudo sysctl net.ipv4.ip_local_port_range=\"32768 60999\"",
             (int)(last - first + 1));
    }
}

size_t lm_environment_warnings(const json_t *environment, lm_environment_line_fn *each,
                               void *context)
{
    struct warning warning = {environment, each, context, 0};
    warn_build(&warning);
    warn_cpu(&warning);
    warn_machine(&warning);
    warn_load(&warning);
    warn_kernel(&warning);
    warn_limits(&warning);
    return warning.count;
}
