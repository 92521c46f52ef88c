/* accept_churn.c - family accept_churn: connections made and ended.
 *
 * A lap: the client connects while the server accepts, the client sends one byte, the server
 * receives it, both close. A burst: N connects and as many accepts, then all 2N sockets are closed.
 * The contract allows one accept per listener at a time, so the accepts of a burst are a chain.
 *
 * Clients close first, by a reset (SO_LINGER {1,0}), so that no lap leaves a port in TIME_WAIT.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "suites/connection.h"
#include "suites/list.h"
#include "suites/stage.h"

enum {
    BUFFER_BYTES = 1024 /* SO_RCVBUF and SO_SNDBUF of a client */
};

/* A connection under way. */
struct link {
    struct churn *churn;
    struct lm_op client, server; /* connect and send; accept and receive */
    struct lm_socket *ends[2];   /* the client's, the server's */
    bool connecting, accepting;  /* that operation is under way */
};

/* A listener and the links to it: one, or a burst. */
struct churn {
    struct lm_stage *stage;
    struct lm_socket *listener;
    struct sockaddr_in address;
    struct link *links;
    uint32_t link_count;
    uint32_t index;            /* of this churn */
    uint32_t accepted;         /* of this lap */
    uint32_t missing;          /* connects and accepts of this lap that have not completed */
    uint64_t laps, started_ns; /* completed ones; start of the one under way */
    char sent, received;
};

static struct link *of_client(struct lm_op *op)
{
    return (struct link *)((char *)op - offsetof(struct link, client));
}

static struct link *of_server(struct lm_op *op)
{
    return (struct link *)((char *)op - offsetof(struct link, server));
}

/* False with the stage failed when the step did not end as it has to. */
static bool went_well(struct churn *churn, const char *step, int64_t result, int64_t expected)
{
    if (result == expected) {
        return true;
    }
    const char *next_step = "";
    if (result == -EADDRNOTAVAIL) {
        next_step = " (no free port); widen net.ipv4.ip_local_port_range or wait for sockets in "
                    "TIME_WAIT: ss -s";
    } else if (result == -ENETUNREACH) {
        next_step = "; bring the loopback interface up: ip link set lo up";
    }
    lm_stage_fail(churn->stage, "lap %llu: %s: %s%s", (unsigned long long)churn->laps, step,
                  result < 0 ? strerror((int)-result) : "a wrong number of bytes", next_step);
    return false;
}

/* Takes note that an operation has completed. False with the stage failed when it already had. */
static bool is_first_time(struct churn *churn, const char *step, bool *under_way)
{
    if (!*under_way) {
        lm_stage_fail(churn->stage, "lap %llu: %s completed more than once",
                      (unsigned long long)churn->laps, step);
        return false;
    }
    *under_way = false;
    return true;
}

/* --- a lap
 * ---------------------------------------------------------------------------------------- */

static void start_lap(struct churn *churn);

static void end_lap(struct churn *churn)
{
    const struct lm_backend *backend = churn->stage->backend;
    for (uint32_t i = 0; i < churn->link_count; i++) {
        backend->socket_close(churn->links[i].ends[0]);
        backend->socket_close(churn->links[i].ends[1]);
    }
    churn->laps++;
    if (lm_recorder_lap(lm_stage_recorder(), &churn->started_ns, !churn->stage->which->batch) ==
        LM_PHASE_DRAIN) {
        lm_stage_chain_end(churn->stage);
    } else {
        start_lap(churn);
    }
}

static void received(struct lm_op *op, int64_t result)
{
    struct churn *churn = of_server(op)->churn;
    if (!went_well(churn, "the server's receive", result, 1)) {
        return;
    }
    if (churn->received != churn->sent) {
        lm_stage_fail(churn->stage, "lap %llu: a wrong byte arrived",
                      (unsigned long long)churn->laps);
        return;
    }
    end_lap(churn);
}

static void sent(struct lm_op *op, int64_t result)
{
    struct link *link = of_client(op);
    struct churn *churn = link->churn;
    if (went_well(churn, "the client's send", result, 1)) {
        link->server.done = received;
        churn->stage->backend->recv(link->ends[1], &link->server, &churn->received, 1);
    }
}

/* One more connect or accept has completed: the last one ends a burst, or lets a client send. */
static void join(struct churn *churn)
{
    if (--churn->missing > 0) {
        return;
    }
    if (churn->stage->which->batch) {
        end_lap(churn);
        return;
    }
    struct link *link = &churn->links[0];
    churn->sent = (char)churn->laps;
    link->client.done = sent;
    churn->stage->backend->send(link->ends[0], &link->client, &churn->sent, 1);
}

static void connected(struct lm_op *op, int64_t result)
{
    struct link *link = of_client(op);
    struct churn *churn = link->churn;
    if (is_first_time(churn, "connect", &link->connecting) &&
        went_well(churn, "connect", result, 0)) {
        join(churn);
    }
}

static void accepted(struct lm_op *op, int64_t result);

static void accept_next(struct churn *churn)
{
    struct link *link = &churn->links[churn->accepted];
    link->server.done = accepted;
    link->accepting = true;
    churn->stage->backend->accept(churn->listener, &link->server, &link->ends[1]);
}

static void accepted(struct lm_op *op, int64_t result)
{
    struct link *link = of_server(op);
    struct churn *churn = link->churn;
    if (!is_first_time(churn, "accept", &link->accepting) ||
        !went_well(churn, "accept", result, 0)) {
        return;
    }
    if (++churn->accepted < churn->link_count) {
        accept_next(churn);
    }
    join(churn);
}

/* A client's socket, in the loop. False with the stage failed. */
static bool open_client(struct churn *churn, struct link *link)
{
    static const int buffer_bytes = BUFFER_BYTES;
    static const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    struct lm_stage *stage = churn->stage;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof(buffer_bytes)) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes)) ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset))) {
        lm_stage_fail(stage, "lap %llu: the client's socket: %s", (unsigned long long)churn->laps,
                      strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    return lm_stage_socket(stage, fd, churn->index, &link->ends[0]) == 0;
}

static void start_lap(struct churn *churn)
{
    churn->accepted = 0;
    churn->missing = 2 * churn->link_count;
    for (uint32_t i = 0; i < churn->link_count; i++) {
        struct link *link = &churn->links[i];
        if (!open_client(churn, link)) {
            return;
        }
        link->client.done = connected;
        link->connecting = true;
        churn->stage->backend->connect(link->ends[0], &link->client,
                                       (const struct sockaddr *)&churn->address,
                                       sizeof(churn->address));
    }
    accept_next(churn);
}

/* --- running
 * ------------------------------------------------------------------------------------- */

static int open_churn(struct lm_stage *stage, uint32_t index, struct churn *churn,
                      struct link *links, uint32_t link_count)
{
    *churn =
        (struct churn){.stage = stage, .links = links, .link_count = link_count, .index = index};
    for (uint32_t i = 0; i < link_count; i++) {
        links[i].churn = churn;
    }
    int fd = lm_listener((int)stage->which->needs.backlog, &churn->address);
    if (fd < 0) {
        lm_stage_fail(stage, "listener %u could not be made: %s", index + 1, strerror(-fd));
        return fd;
    }
    return lm_stage_socket(stage, fd, index, &churn->listener);
}

static int run_accept_churn(const struct lm_case *which, const struct lm_case_setup *setup,
                            struct lm_case_result *result)
{
    struct lm_stage stage;
    uint32_t link_count = which->batch ? which->batch : 1;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    struct churn *churns = calloc(which->pairs, sizeof(*churns));
    struct link *links = calloc((size_t)which->pairs * link_count, sizeof(*links));
    if (!churns || !links) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = open_churn(&stage, i, &churns[i], links + i * link_count, link_count);
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        lm_stage_chain_begin(&stage);
        churns[i].started_ns = lm_clock_ns();
        start_lap(&churns[i]);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    lm_stage_close(&stage);
    free(links);
    free(churns);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family family = {
    "accept_churn", "how fast TCP loopback connections are made, accepted and closed"};
static const uint32_t loop_counts[] = {1, 4, 16};
static const uint32_t burst_sizes[] = {10, 100};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Listeners wait for connections of one lap each, or of a burst. */
static void add(struct lm_case one, const char *shape, int64_t argument)
{
    uint32_t links = one.batch ? one.batch : 1;
    one.needs = (struct lm_needs){.descriptors = one.pairs * (1 + 2 * links),
                                  .ports = one.pairs * (1 + links),
                                  .backlog = links};
    lm_list_add(&one, shape, argument);
}

void lm_list_accept_churn(void)
{
    static const char *const sequential[2] = {"sequential", "sequential_lockless"};
    static const char *const burst[2] = {"burst", "burst_lockless"};
    struct lm_case one = {
        .family = &family,
        .operation = "one lap: connect and accept, one byte from client to server, both close",
        .metric = LM_METRIC_OPS_PER_S,
        .threads = 1,
        .run = run_accept_churn,
        .pairs = 1,
        .bytes = 1,
    };
    for (int lockless = 0; lockless < 2; lockless++) {
        one.flags = lockless ? LM_CASE_LOCKLESS : LM_CASE_REPRESENTATIVE;
        add(one, sequential[lockless], -1);
    }
    one.flags = 0;
    for (size_t i = 0; i < COUNT(loop_counts); i++) {
        one.pairs = loop_counts[i];
        add(one, "concurrent", one.pairs);
    }
    one.pairs = 1;
    one.bytes = 0;
    one.operation = "one burst: all its connects and accepts, then all its sockets close";
    for (int lockless = 0; lockless < 2; lockless++) {
        for (size_t i = 0; i < COUNT(burst_sizes); i++) {
            one.batch = burst_sizes[i];
            one.flags = lockless ? LM_CASE_LOCKLESS : one.batch == 100 ? LM_CASE_REPRESENTATIVE : 0;
            add(one, burst[lockless], one.batch);
        }
    }
}
