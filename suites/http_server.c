/* http_server.c - family http_server. */
#include "suites/list.h"

void lm_list_http_server(void)
{
}

void lm_list_http_server_split(const struct lm_family *split)
{
    (void)split;
}
