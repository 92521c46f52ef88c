#include "report/command.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/escape.h"

void lm_complain(const char *command, const char *message)
{
    fprintf(stderr, "loopmark %s: ", command);
    lm_put_text(stderr, LM_FORM_TERMINAL, message);
    fputc('\n', stderr);
}

void lm_refuse_word(const char *command, const char *takes, const struct lm_nearest *nearest)
{
    char message[LM_MESSAGE_BYTES];
    bool known = nearest->best != NULL;
    snprintf(message, sizeof message, "%s, not '%s'%s%s%s", takes, nearest->word,
             known ? "; did you mean " : "", known ? nearest->best : "", known ? "?" : "");
    lm_complain(command, message);
}

void lm_restart_options(void)
{
    /* 0, not 1, makes glibc forget an earlier command line; elsewhere 1 is the beginning. */
#ifdef __GLIBC__
    optind = 0;
#else
    optind = 1;
#endif
}
