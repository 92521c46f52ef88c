/* headroom.h - does the machine have what a case needs: descriptors, ports, listen queue?
 *
 * A case that runs into such a limit half way yields a low number or an obscure error, so it is
 * asked for before. The verdict is a pure function of needs and figures; reading the figures is
 * headroom_linux.c and headroom_bsd.c.
 */
#ifndef LM_HEADROOM_H
#define LM_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "suites/case.h"

/* A figure that the system does not tell; it stands in nobody's way. */
#define LM_HEADROOM_UNKNOWN UINT64_MAX

/* What there is. Ports and tracked connections are those of this network namespace. */
struct lm_headroom {
    uint64_t descriptors, open_descriptors; /* allowed to the process; open in it */
    uint64_t ports, used_ports;     /* of the range for outgoing connections; TIME_WAIT is in use */
    uint64_t backlog;               /* longest listen queue */
    uint64_t tracked, tracked_most; /* connections that the firewall remembers (nf_conntrack) */
};

/* What it comes to. */
enum lm_headroom_verdict {
    LM_HEADROOM_ENOUGH,
    LM_HEADROOM_LATER, /* not now: closed connections are still remembered */
    LM_HEADROOM_NEVER  /* not with these limits */
};

/* Compares. Unless there is enough, `why` gets one line: what is short, and what to do. */
enum lm_headroom_verdict lm_headroom_judge(const struct lm_case *which,
                                           const struct lm_headroom *headroom, char *why,
                                           size_t why_bytes);

/* Reads the figures of this process and system. */
void lm_headroom_read(struct lm_headroom *headroom);

/* Raises the limit of open files as far as the process may, then judges, and waits a few seconds
 * (told on stderr) while the verdict is `later`. False with `why` when the case can not run. */
bool lm_headroom_await(const struct lm_case *which, char *why, size_t why_bytes);

/* The system's part of lm_headroom_read: all but descriptors. Figures it does not know are left. */
void lm_headroom_read_network(struct lm_headroom *headroom);

#endif
