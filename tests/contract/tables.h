/* tables.h - the tests of each file, for tables.c. */
#ifndef LM_CONTRACT_TABLES_H
#define LM_CONTRACT_TABLES_H

#include "tests/contract/contract.h"

extern const struct contract_test contract_streams[], contract_connections[], contract_ends[],
    contract_loops[], contract_timers[], contract_crowds[], contract_threads[], contract_counters[],
    contract_faults[];

#endif
