/* command.h - what the sub-commands of report/ share.
 */
#ifndef LM_REPORT_COMMAND_H
#define LM_REPORT_COMMAND_H

/* Room for a message; a list of names in one may be long. */
#define LM_MESSAGE_BYTES 2048

/* One line on stderr: "loopmark COMMAND: MESSAGE". Names in it may come from a file, so no control
 * character reaches the terminal. */
void lm_complain(const char *command, const char *message);

/* Makes getopt_long forget an earlier command line. */
void lm_restart_options(void);

#endif
