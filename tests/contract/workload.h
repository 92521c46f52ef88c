/* workload.h - a fixed piece of work whose system calls can be counted from outside. */
#ifndef LM_CONTRACT_WORKLOAD_H
#define LM_CONTRACT_WORKLOAD_H

#include "tests/contract/contract.h"

/* Runs it on one loop and prints what the backend counted as NAME=VALUE lines. In the trace of
 * system calls the counted part lies between access("loopmark:begin") and access("loopmark:end");
 * in between, the work itself makes no call of a kind that struct lm_counters has. Returns the exit
 * status of the program. */
int run_workload(const struct contract_subject *subject);

#endif
