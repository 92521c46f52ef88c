/* What a run record tells of the machine, the program and the run, as lines for people. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "harness/string_stream.h"
#include "report/page_parts.h"

static const json_t *member(const json_t *environment, const char *group, const char *name)
{
    return json_object_get(json_object_get(environment, group), name);
}

/* Writes a member as it is; what is not known writes nothing. Returns whether something was. */
static bool put(FILE *out, const char *before, const json_t *value, const char *after)
{
    if (value == NULL || json_is_null(value) || json_is_object(value)) {
        return false;
    }
    if (json_is_array(value)) {
        size_t index;
        json_t *element;
        fputs(before, out);
        json_array_foreach(value, index, element)
        {
            put(out, index > 0 ? " " : "", element, "");
        }
        fputs(after, out);
        return true;
    }
    fputs(before, out);
    if (json_is_string(value)) {
        fputs(json_string_value(value), out);
    } else if (json_is_integer(value)) {
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(out, "%g", json_real_value(value));
    } else {
        fputs(json_is_true(value) ? "yes" : "no", out);
    }
    fputs(after, out);
    return true;
}

static void put_count(FILE *out, const char *before, const json_t *value, const char *unit)
{
    if (put(out, before, value, " ")) {
        fprintf(out, "%s%s", unit,
                json_is_integer(value) && json_integer_value(value) == 1 ? "" : "s");
    }
}

static void put_gib(FILE *out, const json_t *bytes)
{
    if (json_is_number(bytes)) {
        fprintf(out, "%.1f GiB", json_number_value(bytes) / (double)(1u << 30));
    }
}

/* One fact writes its value to `out`; nothing when it is not known. */
typedef void fact_fn(FILE *out, const struct lm_run *run);

static void put_cpu(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "", member(e, "cpu", "model"), "");
    put(out, ", ", member(e, "cpu", "architecture"), "");
    put_count(out, ", ", member(e, "cpu", "sockets"), "socket");
    put_count(out, ", ", member(e, "cpu", "cores"), "core");
    put_count(out, ", ", member(e, "cpu", "threads"), "thread");
    put(out, "; may use CPUs ", member(e, "cpu", "affinity"), "");
    put(out, ", limited to ", member(e, "cpu", "limit"), " CPUs");
}

static void put_caches(FILE *out, const struct lm_run *run)
{
    size_t index;
    json_t *cache;
    json_array_foreach(member(run->environment, "cpu", "caches"), index, cache)
    {
        const json_t *bytes = json_object_get(cache, "bytes");
        put(out, index > 0 ? ", L" : "L", json_object_get(cache, "level"), " ");
        put(out, "", json_object_get(cache, "type"), " ");
        if (json_is_number(bytes)) {
            fprintf(out, "%.0f KiB", json_number_value(bytes) / 1024.0);
        }
    }
}

static void put_clocks(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    const json_t *governor = member(e, "cpu", "governor"), *turbo = member(e, "cpu", "turbo");
    if (!put(out, "governor ", governor, "")) {
        fputs("governor unknown", out);
    }
    if (!put(out, ", turbo ", turbo, "")) {
        fputs(", turbo unknown", out);
    }
    put(out, ", clock source ", member(e, "os", "clock_source"), "");
}

static void put_memory(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put_gib(out, member(e, "memory", "total_bytes"));
    put(out, ", pages of ", member(e, "memory", "page_bytes"), " bytes");
    put(out, ", transparent huge pages ", member(e, "memory", "transparent_hugepages"), "");
}

static void put_system(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "", member(e, "os", "name"), "; ");
    put(out, "", member(e, "os", "kernel"), " ");
    put(out, "", member(e, "os", "release"), "");
    put(out, ", build ", member(e, "os", "build"), "");
}

static bool is_virtual(const json_t *environment)
{
    return json_is_true(member(environment, "virtualisation", "hypervisor")) ||
           json_is_true(member(environment, "virtualisation", "wsl"));
}

static void put_virtual(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    const json_t *hypervisor = member(e, "virtualisation", "hypervisor");
    if (!json_is_boolean(hypervisor)) {
        fputs("not known", out);
    } else {
        fputs(is_virtual(e) ? "yes, a virtual machine" : "no hypervisor seen", out);
    }
    put(out, ", hypervisor ", member(e, "virtualisation", "hypervisor_id"), "");
    put(out, ", platform ", member(e, "virtualisation", "platform"), "");
    put(out, ", in a container: ", member(e, "virtualisation", "container"), "");
}

static void put_mitigations(FILE *out, const struct lm_run *run)
{
    const json_t *value = member(run->environment, "os", "io_uring_disabled");
    put(out, "", member(run->environment, "os", "mitigations"), "");
    put(out, "; io_uring_disabled ", value, "");
}

static void put_limits(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "nofile ", member(e, "limits", "nofile_soft"), "");
    put(out, " of ", member(e, "limits", "nofile_hard"), "");
    put(out, ", memlock ", member(e, "limits", "memlock_soft_bytes"), " bytes");
    put(out, ", somaxconn ", member(e, "network", "somaxconn"), "");
    put(out, ", port range ", member(e, "network", "local_port_range"), "");
}

static void put_network(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "congestion control ", member(e, "network", "tcp_congestion_control"), "");
    put(out, ", tcp_rmem ", member(e, "network", "tcp_rmem"), "");
    put(out, ", tcp_wmem ", member(e, "network", "tcp_wmem"), "");
}

static void put_load(FILE *out, const struct lm_run *run)
{
    put(out, "", json_object_get(run->environment, "load"), " (1, 5 and 15 minutes)");
}

static void put_build(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "", member(e, "build", "compiler"), "");
    put(out, ", ", member(e, "build", "flags"), "");
    put(out, ", ", member(e, "build", "type"), "");
    put(out, ", CMake ", member(e, "build", "cmake"), "");
    put(out, ", sanitizer ", member(e, "build", "sanitizer"), "");
}

static void put_libraries(FILE *out, const struct lm_run *run)
{
    const char *name;
    json_t *value;
    bool any = false;
    json_object_foreach(json_object_get(run->environment, "libraries"), name, value)
    {
        if (json_is_string(value)) {
            /* "jansson_running": the version in use, where it is told apart from the one built with
             */
            const char *running = strstr(name, "_running");
            fprintf(out, "%s%.*s %s", any ? ", " : "",
                    (int)(running != NULL ? running - name : (ptrdiff_t)strlen(name)), name,
                    running != NULL ? "in use " : "");
            put(out, "", value, "");
            any = true;
        }
    }
}

static void put_source(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "loopmark ", member(e, "build", "version"), "");
    put(out, ", commit ", member(e, "build", "commit"), "");
    put(out, ", branch ", member(e, "build", "branch"), "");
    if (json_is_true(member(e, "build", "dirty"))) {
        fputs(", with changes that no commit holds", out);
    }
}

static void put_run(FILE *out, const struct lm_run *run)
{
    fprintf(out, "%u iteration%s of %g s, warm-up %g s, time limit of a sample %g s",
            run->iterations, run->iterations == 1 ? "" : "s", run->duration_s, run->warmup_s,
            run->timeout_s);
}

static void put_order(FILE *out, const struct lm_run *run)
{
    fprintf(out, "%s, seed %llu",
            run->interleaved ? "interleaved: all backends in turn on each case"
                             : "blocked: one backend after the other",
            (unsigned long long)run->seed);
}

static const struct {
    const char *label;
    fact_fn *put;
} facts[] = {
    {"Processor", put_cpu},
    {"Caches of a CPU", put_caches},
    {"Clocks", put_clocks},
    {"Memory", put_memory},
    {"System", put_system},
    {"Virtualised", put_virtual},
    {"Mitigations", put_mitigations},
    {"Limits", put_limits},
    {"Network", put_network},
    {"Load at the start", put_load},
    {"Program", put_source},
    {"Compiler", put_build},
    {"Libraries", put_libraries},
    {"Run", put_run},
    {"Order", put_order},
};

#define FACT_COUNT (sizeof facts / sizeof *facts)

static char *fact_text(fact_fn *fact, const struct lm_run *run)
{
    struct lm_string_stream text;
    if (lm_string_begin(&text) != NULL) {
        fact(text.out, run);
    }
    return lm_string_end(&text);
}

static int add_facts(struct lm_page *page, const struct lm_run *run)
{
    page->facts = calloc(FACT_COUNT, sizeof *page->facts);
    if (page->facts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < FACT_COUNT; i++) {
        char *value = fact_text(facts[i].put, run);
        if (value == NULL) {
            return -ENOMEM;
        }
        if (value[0] == '\0') {
            free(value);
            continue;
        }
        page->facts[page->fact_count++] = (struct lm_fact){facts[i].label, value};
    }
    return 0;
}

/* The name by which people know a kernel. */
static const char *os_of(const char *kernel)
{
    return kernel != NULL && strcmp(kernel, "Darwin") == 0 ? "macOS" : kernel;
}

static void put_machine(FILE *out, const struct lm_run *run)
{
    const json_t *e = run->environment;
    put(out, "", member(e, "cpu", "model"), "");
    put_count(out, ", ", member(e, "cpu", "cores"), "core");
    if (json_is_number(member(e, "memory", "total_bytes"))) {
        fputs(", ", out);
        put_gib(out, member(e, "memory", "total_bytes"));
    }
    if (is_virtual(e)) {
        fputs(", virtual machine", out);
    }
    put(out, ", ", member(e, "os", "name"), "");
    put(out, ", ", member(e, "os", "kernel"), " ");
    put(out, "", member(e, "os", "release"), "");
}

static void put_backend_list(FILE *out, const struct lm_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->backend_count; i++) {
        if (!run->backends[i].aa) {
            fprintf(out, "%s%s", any ? "," : "", run->backends[i].spec);
            any = true;
        }
    }
}

static bool is_calibrated(const struct lm_run *run)
{
    for (size_t i = 0; i < run->backend_count; i++) {
        if (run->backends[i].aa) {
            return true;
        }
    }
    return false;
}

/* The command that repeats a run, seed and all. */
static char *command_of(const struct lm_run *run)
{
    struct lm_string_stream command;
    char *cases = lm_case_options(run), *backends = fact_text(put_backend_list, run);
    bool whole = lm_string_begin(&command) != NULL && cases != NULL && backends != NULL;
    if (whole) {
        fputs("build/default/loopmark run \\\n    --backend ", command.out);
        lm_put_shell_word(command.out, backends);
        fputs(" --baseline ", command.out);
        lm_put_shell_word(command.out, run->backends[run->baseline_index].spec);
        fprintf(command.out,
                "%s%s%s \\\n    --iterations %u --duration %g --warmup %g \\\n    --order %s "
                "--seed %llu",
                cases[0] != '\0' ? " \\\n    " : "", cases,
                is_calibrated(run) ? " --calibrate" : "", run->iterations, run->duration_s,
                run->warmup_s, run->interleaved ? "interleaved" : "blocked",
                (unsigned long long)run->seed);
    }
    free(cases);
    free(backends);
    char *text = lm_string_end(&command);
    if (!whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* "2026-12-01T04:10:19Z" becomes "2026-12-01 04:10 UTC"; another form stays as it is. */
static void set_date(struct lm_page *page, const char *date)
{
    snprintf(page->date, sizeof page->date, "%s", date != NULL ? date : "");
    if (strlen(page->date) == strlen("2026-12-01T04:10:19Z") && page->date[10] == 'T') {
        page->date[10] = ' ';
        strcpy(page->date + 16, " UTC");
    }
}

static const char *text_or_nothing(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL ? text : "";
}

int lm_page_describe(struct lm_page *page, const struct lm_run *run)
{
    const json_t *e = run->environment;
    const char *os = os_of(json_string_value(member(e, "os", "kernel")));
    if (os != NULL && os[0] != '\0') {
        page->os = strdup(os);
        if (page->os == NULL) {
            return -ENOMEM;
        }
    }
    page->date_utc = strdup(text_or_nothing(json_object_get(e, "date_utc")));
    set_date(page, json_string_value(json_object_get(e, "date_utc")));
    page->version = strdup(text_or_nothing(member(e, "build", "version")));
    page->commit = strdup(text_or_nothing(member(e, "build", "commit")));
    page->label = strdup(run->label);
    page->machine = fact_text(put_machine, run);
    page->command = command_of(run);
    if (page->date_utc == NULL || page->version == NULL || page->commit == NULL ||
        page->label == NULL || page->machine == NULL || page->command == NULL) {
        return -ENOMEM;
    }
    return add_facts(page, run);
}
