/* fan_out.c - family fan_out. */
#include "suites/list.h"

void lm_list_fan_out(void)
{
}
