/* write_all.h - write(2) until all is written. */
#ifndef LM_WRITE_ALL_H
#define LM_WRITE_ALL_H

#include <stddef.h>

/* Writes all `count` bytes to a descriptor in blocking mode, in as many calls as it takes. Returns
 * 0, or a negative errno, after which part of it may have been written. Any thread. */
int lm_write_all(int fd, const char *bytes, size_t count);

#endif
