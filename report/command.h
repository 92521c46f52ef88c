/* command.h - what the sub-commands of report/ share.
 */
#ifndef LM_REPORT_COMMAND_H
#define LM_REPORT_COMMAND_H

#include "backends/nearest.h"

/* Room for a message; a list of names in one may be long. */
#define LM_MESSAGE_BYTES 2048

/* One line on stderr: "loopmark COMMAND: MESSAGE". Names in it may come from a file, so no control
 * character reaches the terminal. */
void lm_complain(const char *command, const char *message);

/* Complains of a word that is none of those offered: "TAKES, not 'WORD'", and which was meant. */
void lm_refuse_word(const char *command, const char *takes, const struct lm_nearest *nearest);

/* Makes getopt_long forget an earlier command line. */
void lm_restart_options(void);

#endif
