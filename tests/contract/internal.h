/* internal.h - between contract.c, runner.c and net.c; tests do not need it. */
#ifndef LM_CONTRACT_INTERNAL_H
#define LM_CONTRACT_INTERNAL_H

#include "tests/contract/contract.h"

/* Makes the loop and its threads. False when that failed; contract_close is due either way. */
bool contract_open(struct contract *t, const struct contract_subject *subject, bool local);
void contract_close(struct contract *t);

/* Makes what raw_pair needs. False when that failed, which is noted. */
bool open_pair_listener(struct contract *t);

const char *contract_kind(int kind);

#endif
