/* io_uring_options.h - the io_uring backend's settings: what users may ask for, which of it goes
 * together, and what this kernel and liburing can give.
 *
 * Not for running a ring: that is io_uring_lane.h.
 */
#ifndef LM_IO_URING_OPTIONS_H
#define LM_IO_URING_OPTIONS_H

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

/* Indices into lm_ring_options and struct lm_loop_config.options. */
enum lm_ring_option {
    LM_RING_ORDER,
    LM_RING_WRITE_MAX,
    LM_RING_WRITE_BURST,
    LM_RING_HYBRID,
    LM_RING_HYBRID_MAX,
    LM_RING_ENTRIES,
    LM_RING_CQ_ENTRIES,
    LM_RING_SINGLE_ISSUER,
    LM_RING_DEFER_TASKRUN,
    LM_RING_COOP_TASKRUN,
    LM_RING_TASKRUN_FLAG,
    LM_RING_REGISTERED_RING,
    LM_RING_SQPOLL,
    LM_RING_SQPOLL_IDLE_MS,
    LM_RING_FIXED_FILES,
    LM_RING_MULTISHOT_ACCEPT,
    LM_RING_MULTISHOT_RECV,
    LM_RING_ZEROCOPY,
    LM_RING_POLL_FIRST,
    LM_RING_ASYNC_CLOSE,
    LM_RING_CQE_SKIP,
    LM_RING_SPIN_US,
    LM_RING_OPTIONS
};

/* Values of the options that are `auto` unless the user decides: on where the kernel has it and the
 * other settings allow it. */
enum lm_ring_auto {
    LM_RING_AUTO,
    LM_RING_OFF,
    LM_RING_ON
};

extern const struct lm_option lm_ring_options[];

/* Sockets of a lane that can have a registered descriptor; later ones use theirs. */
#define LM_RING_FIXED_SOCKETS 4096u
/* Submissions of a socket before fixed_files=auto registers its descriptor. Registering and taking
 * back are a call each of about half a microsecond, and each submission is 45 ns cheaper for it: 64
 * pay for it, and a socket that got that far is likely to live on. */
#define LM_RING_USES_TO_FIX 64u

/* What a ring is made with. */
struct lm_ring_settings {
    uint64_t options[LM_RING_OPTIONS];
    uint32_t setup_flags;  /* IORING_SETUP_... in force; after lm_ring_make what the kernel took */
    bool registered_ring;  /* the ring's descriptor is to be registered with its thread */
    bool fixed_files;      /* sockets' descriptors are */
    bool sqpoll, cqe_skip; /* shorthands */
};

/* The user asked for it: a switch is on (not only left at auto), a number is not its default. */
bool lm_ring_is_asked(const uint64_t *options, enum lm_ring_option option);

/* Turns option values into settings. 0, or -EINVAL with a line in `why` that names the settings
 * that exclude each other and which to drop. `why` may be NULL when why_bytes is 0. */
int lm_ring_settle(const uint64_t *options, struct lm_ring_settings *settings, char *why,
                   size_t why_bytes);

/* Makes a ring, disabled until lm_ring_enable, leaving out flags the kernel does not know
 * where the user left them at auto. On failure -errno, with cause and remedy in `why`. */
int lm_ring_make(struct lm_ring_settings *settings, struct io_uring *ring, char *why,
                 size_t why_bytes);

/* Lets the ring take submissions, from the calling thread alone if it is of a single issuer. 0 or
 * -errno. (liburing 2.3 declares io_uring_enable_rings, but its library does not export it.) */
int lm_ring_enable(struct io_uring *ring);

/* Registers the ring's descriptor with the calling thread: its number for io_uring_enter together
 * with IORING_ENTER_REGISTERED_RING, or -errno. liburing's own call is not used, because with it
 * io_uring_queue_exit takes back whatever the thread that calls it has registered under the same
 * number, and a loop may be freed by another thread than the one that ran it. */
int lm_ring_register(struct io_uring *ring);
void lm_ring_unregister(struct io_uring *ring, int registered);

/* struct lm_backend.available and .describe. */
int lm_ring_available(const uint64_t *options, char *why, size_t why_bytes);
void lm_ring_describe(const uint64_t *options, char *text, size_t text_bytes);

#endif
