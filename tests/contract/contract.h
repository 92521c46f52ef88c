/* contract.h - the contract tests: what backend.h promises, as a table of tests that any backend
 * can be put through, in any mode it has.
 *
 * A test is a function that drives one loop through `struct contract` and notes the first thing it
 * saw that the contract does not allow. It knows no backend by name and no test framework:
 * `loopmark check` (check_command.c) runs the tables. Each test runs in a fresh process with a time
 * limit: a crash, a hang or a leak costs one test and is reported with its name.
 *
 * Every operation of a test is a struct step. Its completion checks what holds for all operations:
 * it comes once, from inside loop_run, not from the call that started it, with a result in range.
 */
#ifndef LM_CONTRACT_H
#define LM_CONTRACT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "backends/backend.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define HOUR_NS        (UINT64_C(3600) * 1000 * MILLISECOND_NS)

/* What is tested. */
struct contract_subject {
    const struct lm_backend *backend;
    const uint64_t *options; /* a value for each of its options */
    uint32_t threads;
    bool lockless;
    const char *directory; /* an empty one, for the names of AF_UNIX sockets */
    unsigned limit_s;      /* time limit of one test */
    uint64_t listen_queue; /* longest the system allows; for contract_skip_reason only */
};

#define CONTRACT_QUEUE 64

/* When a test applies; a combination. 0: always, with TCP where it uses sockets. */
enum contract_need {
    ALSO_LOCAL = 1u << 0,    /* run a second time over AF_UNIX */
    NEEDS_OUTSIDE = 1u << 1, /* calls the loop from threads that do not run it */
    NEEDS_THREADS = 1u << 2, /* several threads must run the loop */
    ONE_THREAD = 1u << 3,    /* order that only a loop of one thread promises */
    NEEDS_LOOPS = 1u << 4,   /* loops of several threads side by side */
    NEEDS_QUEUE = 1u << 5    /* listeners at which CONTRACT_QUEUE connections can wait */
};

struct contract;

struct contract_test {
    const char *name; /* the promise, as a sentence */
    unsigned rule;    /* of backend.h */
    unsigned needs;
    void (*run)(struct contract *t);
};

/* All tests: tables of one subject each, both ended by zeroes. */
struct contract_table {
    const char *subject;
    const struct contract_test *tests;
};
extern const struct contract_table contract_tables[];

enum contract_verdict {
    CONTRACT_PASSED,
    CONTRACT_FAILED,
    CONTRACT_SKIPPED
};

struct contract_outcome {
    enum contract_verdict verdict;
    char seen[512]; /* what was seen, or why it was skipped; one line */
};

/* NULL, or the reason why this test does not apply to the subject. */
const char *contract_skip_reason(const struct contract_subject *subject,
                                 const struct contract_test *test, bool local);

/* Runs one test in this process, which exists for it alone, has one thread and ends here. The
 * outcome is written to report_fd as one struct contract_outcome. */
_Noreturn void contract_run(const struct contract_subject *subject,
                            const struct contract_test *test, bool local, int report_fd);

/* --- for the tests ---------------------------------------------------------------------------- */

enum step_kind {
    STEP_RECV,
    STEP_SEND,
    STEP_ACCEPT,
    STEP_CONNECT,
    STEP_POST,
    STEP_TIMER
};
#define STEP_KINDS 6

/* One operation and what is to happen when it completes. */
struct step {
    struct lm_op op;
    struct contract *test;
    void (*then)(struct step *step); /* optional; the completions of a test run one at a time */
    void *context;
    int64_t result; /* of the latest completion */
    unsigned completions;
    /* Below: contract.c's. */
    enum step_kind kind_index;
    const char *kind;
    int64_t most_bytes; /* largest result allowed */
    _Atomic int outstanding;
};

#define CONTRACT_LOOPS       4
#define CONTRACT_DESCRIPTORS 32768 /* most that a test may use: all are looked at when it ends */
#define CONTRACT_NAMES       8     /* most AF_UNIX listeners of one test */

struct address {
    struct sockaddr_storage storage;
    socklen_t bytes;
};

struct contract {
    const struct contract_subject *subject;
    const struct lm_backend *backend;
    struct lm_loop *loop;
    bool local;           /* AF_UNIX */
    pthread_mutex_t lock; /* held while `then` runs */
    atomic_bool failed;   /* or skipped: the test is over */
    bool stopped;         /* the test has stopped the loop: work may be left */
    /* Below: contract.c's and net.c's. */
    _Atomic int outstanding[STEP_KINDS];
    struct lm_loop *loops[CONTRACT_LOOPS];
    size_t loop_count;
    struct contract_crew *crew;
    struct contract_outcome outcome;
    pthread_mutex_t outcome_lock;
    struct contract_block *blocks;
    uint32_t next_affinity, next_name;
    bool *raw; /* by number: descriptors to be closed when the test ends */
    /* Where TCP pairs meet: one port for all, for finding a free one is slow among thousands. */
    int pair_listener; /* -1 when local */
    struct address pair_address;
    pthread_mutex_t pair_lock;
};

/* Notes what was seen, unless something was noted before, and stops the loop. */
void contract_fail(struct contract *t, const char *file, int line, const char *expected,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
void contract_skip(struct contract *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Leaves the function with a failure that says what was seen. */
#define EXPECT(t, condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            contract_fail((t), __FILE__, __LINE__, #condition, __VA_ARGS__);                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define EXPECT_RESULT(step, expected)                                                              \
    EXPECT((step)->test, (step)->result == (expected), "%s completed with %lld", (step)->kind,     \
           (long long)(step)->result)

/* Runs the loop on all its threads until it returns, and leaves the function when something failed.
 */
#define RUN_LOOP(t)                                                                                \
    do {                                                                                           \
        contract_loop(t);                                                                          \
        if ((t)->failed) {                                                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)
void contract_loop(struct contract *t);

/* In a completion: lets the kernel's threads, and other threads that run the loop, come to their
 * work; they wait for a processor and for `lock`. */
void contract_breathe(struct contract *t);

/* Stops the loop; what is outstanding then is no failure. */
void contract_stop(struct contract *t);

/* Zeroed memory that outlives the loop. */
void *contract_alloc(struct contract *t, size_t bytes);

/* Makes a loop as the subject wants it, besides the test's own. Failure is noted, returns NULL. */
struct lm_loop *contract_new_loop(struct contract *t);
/* Destroys any loop of the test early. */
void contract_destroy_loop(struct contract *t, struct lm_loop *loop);
/* loop_run on the calling thread alone, for threads that the test makes itself. */
int contract_run_here(struct contract *t, struct lm_loop *loop);

/* Operations started and not completed. */
int contract_outstanding(struct contract *t);

/* Sets up a step; it may be started as often as wished. */
void step_init(struct contract *t, struct step *step, void (*then)(struct step *), void *context);

void start_recv(struct step *step, struct lm_socket *socket, void *buffer, size_t bytes);
void start_send(struct step *step, struct lm_socket *socket, const void *buffer, size_t bytes);
void start_accept(struct step *step, struct lm_socket *listener, struct lm_socket **accepted);
void start_connect(struct step *step, struct lm_socket *socket, const struct sockaddr *address,
                   socklen_t bytes);
void start_post(struct step *step);
void start_timer(struct step *step, uint64_t delay_ns);
void cancel_step(struct step *step);
/* The same on another loop than the test's own. */
void start_post_on(struct step *step, struct lm_loop *loop);
void start_timer_on(struct step *step, struct lm_loop *loop, uint64_t delay_ns);

/* Hands fd to the loop. Failure is noted, returns NULL. */
struct lm_socket *open_socket(struct contract *t, int fd);
struct lm_socket *open_socket_on(struct contract *t, struct lm_loop *loop, int fd,
                                 uint32_t affinity);
void close_socket(struct contract *t, struct lm_socket *socket);

/* --- net.c: sockets that the backend does not know, blocking; failure is noted, returns -1
 * -------- */

/* Descriptors of the test are closed when it ends, unless the backend has taken them. */
int track_fd(struct contract *t, int fd);
void close_raw(struct contract *t, int fd);
void untrack_fd(struct contract *t, int fd);

/* Two connected stream sockets, TCP (no delay) or AF_UNIX as the test says. */
int raw_pair(struct contract *t, int fds[2]);
/* The same with small buffers, so that senders block early. */
int raw_small_pair(struct contract *t, int fds[2]);
/* Makes closing send a reset, so that thousands of test connections leave no port in TIME_WAIT. */
void reset_on_close(int fd);
/* A pair with both ends, or only the first, given to the loop. Where both are, closing resets. */
int loop_pair(struct contract *t, struct lm_socket *ends[2]);
int half_pair(struct contract *t, struct lm_socket **end, int *peer_fd);

static inline const struct sockaddr *address_of(const struct address *address)
{
    return (const struct sockaddr *)&address->storage;
}

/* A listening socket and where it listens. backlog < 0: bound only. */
int raw_listener(struct contract *t, int backlog, struct address *address);
int raw_socket(struct contract *t); /* not yet connected */
int raw_connect(struct contract *t, const struct address *address);

/* The byte that belongs at `offset` of the stream `seed`. */
uint8_t pattern_at(uint32_t seed, uint64_t offset);
void pattern_fill(void *buffer, size_t bytes, uint32_t seed, uint64_t offset);
/* Index of the first wrong byte, or `bytes`. */
size_t pattern_check(const void *buffer, size_t bytes, uint32_t seed, uint64_t offset);

/* Sends, or receives and checks, a piece of the stream `seed`. 0 or -1. */
int raw_send(struct contract *t, int fd, size_t bytes, uint32_t seed, uint64_t offset);
int raw_recv(struct contract *t, int fd, size_t bytes, uint32_t seed, uint64_t offset);
/* Sends until nothing more fits; returns the number of bytes. */
int64_t raw_fill(struct contract *t, int fd);
/* Closes so that the peer sees a reset: by SO_LINGER; for AF_UNIX there must be unread bytes. */
void raw_reset(struct contract *t, int fd);

/* Descriptors open in this process. */
int open_descriptors(void);
/* Soft limit on descriptors. */
int descriptor_limit(void);
void set_descriptor_limit(int limit);

#endif
