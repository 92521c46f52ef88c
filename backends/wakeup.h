/* wakeup.h - a descriptor that one thread waits on and any thread can make readable: an eventfd on
 * Linux, a pipe elsewhere. */
#ifndef LM_WAKEUP_H
#define LM_WAKEUP_H

struct lm_wakeup {
    int read_fd, write_fd; /* the same for an eventfd */
};

/* 0 or a negative errno. */
int lm_wakeup_open(struct lm_wakeup *wakeup);
void lm_wakeup_close(struct lm_wakeup *wakeup);

/* Makes it readable: one write(2). Any thread. */
void lm_wakeup_signal(const struct lm_wakeup *wakeup);

/* Makes it unreadable again: one read(2). */
void lm_wakeup_clear(const struct lm_wakeup *wakeup);

#endif
