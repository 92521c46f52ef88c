/* commands.h - the sub-commands of the program that live in harness/, and the exit codes of all.
 *
 * A sub-command gets its own name as argv[0] and parses the rest with getopt_long. It prints its
 * results on stdout, progress and messages on stderr, and returns the exit code.
 */
#ifndef LM_COMMANDS_H
#define LM_COMMANDS_H

struct lm_results;

enum lm_exit {
    LM_EXIT_OK = 0,
    LM_EXIT_GATE = 1,  /* compare: what --fail-on asked for is not met; check: a rule failed */
    LM_EXIT_USAGE = 2, /* nothing was measured: wrong use, or it can not be done here */
    LM_EXIT_FAILED = 3 /* some samples failed, or the run was interrupted */
};

/* Prints the comparison a run ends with; 0 or a negative errno. Given by main.c, because harness/
 * knows nothing of report/. */
typedef int lm_print_comparison_fn(const struct lm_results *results);

int lm_list_command(int argc, char **argv);
int lm_run_command(int argc, char **argv, lm_print_comparison_fn *print_comparison);
int lm_bench_command(int argc, char **argv);

/* Hidden: one case on one backend, started by `run` (worker.h). */
int lm_worker_command(int argc, char **argv);

#endif
