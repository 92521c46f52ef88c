/* tables.c - all contract tests, by subject. */
#include "tests/contract/tables.h"

const struct contract_table contract_tables[] = {
    {"streams", contract_streams}, {"connections", contract_connections},
    {"ends", contract_ends},       {"loops", contract_loops},
    {"timers", contract_timers},   {"crowds", contract_crowds},
    {"threads", contract_threads}, {"counters", contract_counters},
    {"faults", contract_faults},   {NULL, NULL},
};
