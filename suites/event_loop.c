/* event_loop.c - family event_loop. */
#include "suites/list.h"

void lm_list_event_loop(void)
{
}
