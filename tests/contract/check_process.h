/* check_process.h - one rule of the contract in a fresh process: how it is started, told what to
 * run, and judged by what it reported and how it ended. For check_command.c alone.
 */
#ifndef LM_CHECK_PROCESS_H
#define LM_CHECK_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/contract/contract.h"

#define CHECK_MODE_BYTES 12

/* How a loop is run. */
struct check_mode {
    char name[CHECK_MODE_BYTES]; /* normal, lockless, sharedN */
    uint32_t threads;
    bool lockless;
};

/* Reads the word of `bytes` bytes. False when it is no mode. */
bool check_mode_parse(const char *word, size_t bytes, struct check_mode *mode);

/* A contract test, over TCP or AF_UNIX. */
struct check_rule {
    size_t table, test; /* their numbers, for the process that runs it */
    const struct contract_test *of;
    bool local;
    char name[192]; /* SUBJECT: SENTENCE, as it is printed and matched */
};

/* Runs it on the backend of this spec. `directory` is an empty one for the names of AF_UNIX
 * sockets. timeout_s is the process's own alarm; it is killed some seconds later. 0 and *outcome,
 * or a negative errno when no process could be started. */
int check_rule_run(const struct check_rule *rule, const char *spec, const struct check_mode *mode,
                   const char *directory, uint64_t timeout_s, struct contract_outcome *outcome);

/* Removes the names of the sockets that a rule made. */
void check_directory_clean(const char *directory);

#endif
