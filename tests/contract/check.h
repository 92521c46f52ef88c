/* check.h - `loopmark check`: is a backend right? Asked before how fast it is. */
#ifndef LM_CHECK_H
#define LM_CHECK_H

/* The sub-command, as those of harness/commands.h: exit code 0 every rule passed or was skipped
 * with its reason, 1 a rule failed, 2 wrong use or nothing could be checked, 3 interrupted or a
 * process could not be started. */
int lm_check_command(int argc, char **argv);

/* Hidden: one rule in this process, started by `check`. */
int lm_check_rule_command(int argc, char **argv);

#endif
