/* network.h - what the kernel did to connections around a case: dropped, retransmitted.
 *
 * The figures belong to the network namespace, other programs in it included.
 */
#ifndef LM_NETWORK_H
#define LM_NETWORK_H

#include "harness/results.h"

/* Totals so far, and sockets in TIME_WAIT now. False where the system does not tell them. */
bool lm_network_read(struct lm_network *network);

/* Makes *network, read at the begin, what came since. False when it can not be read. */
bool lm_network_finish(struct lm_network *network);

#endif
