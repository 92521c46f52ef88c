/* The table of sub-commands. */
#include <stdio.h>
#include <string.h>

#include "backends/nearest.h"
#include "harness/commands.h"
#include "harness/standard_streams.h"
#include "lm_config.h"
#include "report/report.h"
#include "tests/contract/check.h"

static int print_comparison(const struct lm_results *results)
{
    return lm_compare_print_results(results, stdout);
}

static int run(int argc, char **argv)
{
    return lm_run_command(argc, argv, print_comparison);
}

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL hides it from --help */
};

static const struct command commands[] = {
    {"list", lm_list_command, "what can run here: backends and cases"},
    {"run", run, "runs cases on backends, each sample in a fresh process, and compares"},
    {"compare", lm_compare_command, "who is faster, slower or within noise, from a results file"},
    {"report", lm_report_command, "pages for each operating system, from results files"},
    {"bench", lm_bench_command, "cases in this process, under Google Benchmark's own flags"},
    {"check", lm_check_command,
     "is a backend right? Every rule of the contract, in fresh processes"},
    {"worker", lm_worker_command, NULL},
    {"check-rule", lm_check_rule_command, NULL},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    puts("loopmark compares asynchronous network I/O backends.\n"
         "\n"
         "usage: loopmark SUBCOMMAND [OPTION...]\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].summary != NULL) {
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
        }
    }
    puts("\n"
         "loopmark SUBCOMMAND --help describes each; loopmark --version names the version.\n"
         "\n"
         "Exit codes: 0 all well; 1 a gate of compare is not met, or check found a fault; 2 wrong "
         "use,\n"
         "or it can not be done here; 3 samples failed or the run was interrupted.");
}

static int refuse_unknown(const char *name)
{
    struct lm_nearest nearest = {.word = name};
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].summary != NULL) {
            lm_nearest_offer(&nearest, commands[i].name);
        }
    }
    fprintf(stderr, "loopmark: there is no sub-command '%s'; ", name);
    if (nearest.best != NULL) {
        fprintf(stderr, "did you mean %s?\n", nearest.best);
    } else {
        fputs("see: loopmark --help\n", stderr);
    }
    return LM_EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return argc > 1 ? LM_EXIT_OK : LM_EXIT_USAGE;
    }
    if (strcmp(name, "--version") == 0) {
        puts("loopmark " LM_VERSION);
        return LM_EXIT_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return refuse_unknown(name);
}

int main(int argc, char **argv)
{
    int error = lm_standard_streams_hold();
    if (error != 0) {
        fprintf(stderr,
                "loopmark: a closed standard stream has no stand-in: /dev/null: %s; open it\n",
                strerror(-error));
        return LM_EXIT_USAGE;
    }
    return lm_standard_streams_end(run_command(argc, argv));
}
