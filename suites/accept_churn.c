/* accept_churn.c - family accept_churn. */
#include "suites/list.h"

void lm_list_accept_churn(void)
{
}
