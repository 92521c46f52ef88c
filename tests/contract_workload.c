/* contract_workload.c - a fixed piece of work whose system calls can be counted from outside:
 * contract_workload SPEC. Ping-pong, a stream, laps of accept and connect, timers, and posts from
 * outside, on one loop; then what the backend counted, as NAME=VALUE lines.
 *
 * In the trace of system calls (counters_strace.sh) the counted part lies between
 * access("loopmark:begin") and access("loopmark:end"); in between, the work itself makes no call of
 * a kind that struct lm_counters has. Exit status: 0, 1 for a failure, 77 when the backend can not
 * run here (the reason is printed), 2 for wrong arguments.
 */
#include <errno.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "backends/registry.h"
#include "harness/results.h"
#include "tests/contract/internal.h"

enum {
    PINGS = 1000,
    STREAM_BYTES = 4 << 20,
    CHUNK_BYTES = 65536,
    LAPS = 100,
    TIMERS = 20,
    KNOCKS = 50
};

struct work {
    struct step begin, timer, knock;
    struct step send[2], recv[2];
    struct lm_socket *ends[2];
    char byte;
    uint64_t sent, received;
    uint8_t *out, *in;
    struct step accept, connect, lap_send, lap_recv;
    struct lm_socket *listener, *client, *server;
    struct address address;
    int laps;
    atomic_uint answered;
    pthread_t knocker;
    struct lm_counters before, after;
};

/* A call that a trace shows by its argument and no backend makes. */
static void mark(const char *text)
{
    if (access(text, F_OK) == 0) {
        fprintf(stderr, "a file is called %s\n", text);
    }
}

/* --- 5: posts from another thread ---------------------------------------------------------------
 */

static void *knock(void *context)
{
    struct work *work = context;
    for (unsigned i = 0; i < KNOCKS; i++) {
        usleep(200);
        start_post(&work->knock);
        while (atomic_load(&work->answered) <= i) {
            usleep(50);
        }
    }
    return NULL;
}

static void knocked(struct step *step)
{
    struct work *work = step->context;
    if (step->completions == KNOCKS) {
        step->test->backend->loop_counters(step->test->loop, &work->after);
        mark("loopmark:end");
        close_socket(step->test, work->ends[0]);
    }
    atomic_store(&work->answered, step->completions);
}

static void start_knocks(struct contract *t, struct work *work)
{
    /* Something must keep the loop waiting. */
    start_recv(&work->recv[0], work->ends[0], work->in, 1);
    work->recv[0].then = NULL;
    if (pthread_create(&work->knocker, NULL, knock, work)) {
        contract_fail(t, __FILE__, __LINE__, "a thread", "none");
    }
}

/* --- 4: timers
 * ------------------------------------------------------------------------------------ */

static void timed(struct step *step)
{
    if (step->completions < TIMERS) {
        start_timer(step, MILLISECOND_NS / 4);
    } else {
        start_knocks(step->test, step->context);
    }
}

/* --- 3: laps of accept and connect
 * ---------------------------------------------------------------- */

static void start_lap(struct contract *t, struct work *work)
{
    work->client = open_socket(t, socket(AF_INET, SOCK_STREAM, 0));
    if (work->client) {
        start_connect(&work->connect, work->client, address_of(&work->address),
                      work->address.bytes);
        start_accept(&work->accept, work->listener, &work->server);
    }
}

static void connected(struct step *step)
{
    struct work *work = step->context;
    EXPECT_RESULT(step, 0);
    start_send(&work->lap_send, work->client, "x", 1);
}

static void accepted(struct step *step)
{
    struct work *work = step->context;
    EXPECT_RESULT(step, 0);
    start_recv(&work->lap_recv, work->server, &work->byte, 1);
}

static void lap_moved(struct step *step)
{
    struct work *work = step->context;
    EXPECT_RESULT(step, 1);
    if (work->lap_send.completions != work->lap_recv.completions) {
        return;
    }
    close_socket(step->test, work->client);
    close_socket(step->test, work->server);
    if (++work->laps < LAPS) {
        start_lap(step->test, work);
    } else {
        start_timer(&work->timer, 0);
    }
}

/* --- 2: a stream
 * ------------------------------------------------------------------------------------ */

static void stream_sent(struct step *step)
{
    struct work *work = step->context;
    EXPECT(step->test, step->result > 0, "send completed with %lld", (long long)step->result);
    work->sent += (uint64_t)step->result;
    if (work->sent < STREAM_BYTES) {
        start_send(step, work->ends[0], work->out, CHUNK_BYTES);
    }
}

static void stream_received(struct step *step)
{
    struct work *work = step->context;
    EXPECT(step->test, step->result > 0, "recv completed with %lld", (long long)step->result);
    work->received += (uint64_t)step->result;
    if (work->sent < STREAM_BYTES || work->received < work->sent) {
        start_recv(step, work->ends[1], work->in, CHUNK_BYTES);
    } else {
        start_lap(step->test, work);
    }
}

static void start_stream(struct work *work)
{
    work->send[0].then = stream_sent;
    work->recv[1].then = stream_received;
    start_send(&work->send[0], work->ends[0], work->out, CHUNK_BYTES);
    start_recv(&work->recv[1], work->ends[1], work->in, CHUNK_BYTES);
}

/* --- 1: ping-pong
 * ----------------------------------------------------------------------------------- */

/* Client sends, server receives, server sends, client receives. */
static void ping_pong(struct step *step)
{
    struct work *work = step->context;
    EXPECT_RESULT(step, 1);
    if (step == &work->send[0]) {
        start_recv(&work->recv[1], work->ends[1], &work->byte, 1);
    } else if (step == &work->recv[1]) {
        start_send(&work->send[1], work->ends[1], "x", 1);
    } else if (step == &work->send[1]) {
        start_recv(&work->recv[0], work->ends[0], &work->byte, 1);
    } else if (step->completions < PINGS) {
        start_send(&work->send[0], work->ends[0], "x", 1);
    } else {
        start_stream(work);
    }
}

static void begin(struct step *step)
{
    struct work *work = step->context;
    mark("loopmark:begin");
    step->test->backend->loop_counters(step->test->loop, &work->before);
    start_send(&work->send[0], work->ends[0], "x", 1);
}

/* --- all
 * -------------------------------------------------------------------------------------------- */

static void set_up(struct contract *t, struct work *work)
{
    for (int i = 0; i < 2; i++) {
        step_init(t, &work->send[i], ping_pong, work);
        step_init(t, &work->recv[i], ping_pong, work);
    }
    step_init(t, &work->begin, begin, work);
    step_init(t, &work->accept, accepted, work);
    step_init(t, &work->connect, connected, work);
    step_init(t, &work->lap_send, lap_moved, work);
    step_init(t, &work->lap_recv, lap_moved, work);
    step_init(t, &work->timer, timed, work);
    step_init(t, &work->knock, knocked, work);
    work->out = contract_alloc(t, CHUNK_BYTES);
    work->in = contract_alloc(t, CHUNK_BYTES);
    work->listener = open_socket(t, raw_listener(t, 8, &work->address));
    loop_pair(t, work->ends);
}

static void print_counters(const struct work *work)
{
    for (int i = 0; i < LM_SYS_COUNT; i++) {
        printf("%s=%llu\n", lm_syscall_name((enum lm_syscall)i),
               (unsigned long long)(work->after.syscalls[i] - work->before.syscalls[i]));
    }
}

static int run_workload(const struct contract_subject *subject)
{
    static struct contract t;
    static struct work work;
    alarm(subject->limit_s);
    if (contract_open(&t, subject, false)) {
        set_up(&t, &work);
        start_post(&work.begin);
        contract_loop(&t);
    }
    if (work.answered > 0) {
        pthread_join(work.knocker, NULL);
    }
    contract_close(&t);
    if (t.outcome.verdict != CONTRACT_PASSED) {
        printf("%s\n", t.outcome.seen);
        return 1;
    }
    print_counters(&work);
    return 0;
}

int main(int argc, char **argv)
{
    struct lm_spec spec;
    char text[512] = "";
    if (argc != 2) {
        fputs("usage: contract_workload SPEC\n", stderr);
        return 2;
    }
    int result = lm_spec_parse(argv[1], &spec, text, sizeof(text));
    if (!result && spec.backend->available(spec.options, text, sizeof(text))) {
        result = -ENOSYS;
    }
    if (result) {
        puts(text);
        return result == -ENOSYS ? 77 : 2;
    }
    struct contract_subject subject = {.backend = spec.backend,
                                       .options = spec.options,
                                       .threads = 1,
                                       .directory = "/tmp",
                                       .limit_s = 20};
    return run_workload(&subject);
}
