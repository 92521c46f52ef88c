/* process.h - runs this program again as a child, with a time limit, and collects what it says.
 *
 * One child at a time, from the one thread of the runner. It does not know what a worker or a
 * sample is. Ctrl-C (SIGINT, SIGTERM, and SIGHUP of a lost terminal) is caught here, because it
 * decides the child's fate: the first lets it finish, the second kills it.
 */
#ifndef LM_PROCESS_H
#define LM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The descriptor on which the child finds the pipe to write its result to. */
#define LM_PROCESS_RESULT_FD 3

/* Longest result that is kept; more is cut and makes the result invalid. */
#define LM_PROCESS_RESULT_BYTES (1u << 20)

/* The last bytes of the child's output (stdout and stderr together) that are kept. */
#define LM_PROCESS_OUTPUT_BYTES 2048u

enum lm_process_end {
    LM_PROCESS_EXITED,     /* by itself; `code` is its exit code */
    LM_PROCESS_SIGNALLED,  /* by a signal; `code` is its number */
    LM_PROCESS_TIMED_OUT,  /* killed here, after the time limit */
    LM_PROCESS_INTERRUPTED /* killed here, after a second Ctrl-C */
};

struct lm_process_outcome {
    enum lm_process_end end;
    int code;
    double seconds; /* from start to end */
    char *result;   /* owned, ended by a 0 byte; what it wrote to LM_PROCESS_RESULT_FD */
    size_t result_bytes;
    char output[LM_PROCESS_OUTPUT_BYTES + 1]; /* ended by a 0 byte */
    bool output_cut;                          /* there was more before it */
};

/* Starts catching SIGINT, SIGTERM and SIGHUP (not when nohup had it ignored), and ignores SIGPIPE,
 * so that a closed pager or pipe is a write error like any other. Once, before lm_process_run. 0 or
 * a negative errno. */
int lm_process_catch_signals(void);

/* How many of SIGINT, SIGTERM and SIGHUP have come since then. */
unsigned lm_process_interrupts(void);

/* Runs this program with `arguments` (argv, ended by NULL) in a process group of its own, stdin
 * closed, and waits for its end. Everything left of its group is killed then. Returns 0 and fills
 * *outcome, to be freed by lm_process_outcome_free, or a negative errno when it could not be
 * started. */
int lm_process_run(char *const *arguments, double timeout_s, struct lm_process_outcome *outcome);

/* What a person can do when lm_process_run or lm_process_catch_signals returned this error. */
const char *lm_process_remedy(int error);

void lm_process_outcome_free(struct lm_process_outcome *outcome);

/* In the child: end with the parent, whatever ends it. `parent` is the parent's process id. Returns
 * 0, or a negative errno when the parent is already gone or it can not be arranged. */
int lm_process_die_with_parent(int64_t parent);

#endif
