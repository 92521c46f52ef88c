/* list.h - how a family puts its cases into the list of all cases (list.c). */
#ifndef LM_LIST_H
#define LM_LIST_H

#include "suites/case.h"

/* Adds a case that is like `like` but for its name, FAMILY/shape[/argument]. `argument` < 0: none.
 * `shape` includes "_lockless" where that applies. The name must fit and be new. */
void lm_list_add(const struct lm_case *like, const char *shape, int64_t argument);

/* One function per block of the list, in the family's file; list.c calls them in page order. */
void lm_list_accept_churn(void);
void lm_list_fan_out(void);
void lm_list_http_server(void);
void lm_list_event_loop(void);
void lm_list_timer(void);
void lm_list_http_server_split(const struct lm_family *split);
void lm_list_latency(bool local);
void lm_list_throughput(bool local);
void lm_list_latency_split(const struct lm_family *split);
void lm_list_throughput_split(const struct lm_family *split);

#endif
