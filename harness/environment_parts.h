/* environment_parts.h - what the files that gather an environment share. Internal.
 *
 * environment.c makes an object in which every member is there and null; each part then puts in
 * what it can read.
 */
#ifndef LM_ENVIRONMENT_PARTS_H
#define LM_ENVIRONMENT_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set a member, which stays null when there is no value: NULL or empty text, a number below 0. Text
 * is cleaned and cut. `group` is NULL for a member of the environment itself. */
void lm_environment_put_text(json_t *environment, const char *group, const char *name,
                             const char *text);
void lm_put_number(json_t *environment, const char *group, const char *name, int64_t number);
/* `value` is consumed. */
void lm_put(json_t *environment, const char *group, const char *name, json_t *value);

/* The operating system's part, in environment_linux.c or environment_bsd.c: cpu, memory, os,
 * virtualisation, network and load. */
void lm_environment_add_system(json_t *environment, const char *root);

/* Writes something that stays the same on this machine and on no other; it is never published as it
 * is. False when there is nothing of the kind. Same files. */
bool lm_environment_machine_id(const char *root, char *text, size_t text_bytes);

/* This program's part, in environment_build.c: build and libraries. */
void lm_environment_add_build(json_t *environment);

#endif
