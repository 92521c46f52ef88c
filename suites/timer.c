/* timer.c - family timer. */
#include "suites/list.h"

void lm_list_timer(void)
{
}
