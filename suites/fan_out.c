/* fan_out.c - family fan_out: one parent, many requests, one join.
 *
 * A parent sends 64 bytes on each of its client ends, receives 64 bytes back on each, and starts
 * again when the last reply is in. Requests may be joined in groups first, each by a counter of its
 * own. A server end echoes what it reads: a chain of its own that begins with a receive.
 *
 * Every byte of every message is compared, in the measured phase too: 64 bytes cost less than the
 * mark that longer messages carry.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "suites/content.h"
#include "suites/list.h"
#include "suites/stage.h"
#include "suites/transfer.h"

enum {
    MESSAGE_BYTES = 64,
    GROUP_REQUESTS = 4,  /* requests of a group in `nested` */
    PARENT_REQUESTS = 16 /* requests of each parent in `concurrent_parents` */
};

struct parent;

/* Requests with a counter of their own: the parent waits for groups, a group for replies. */
struct group {
    struct parent *parent;
    struct request *requests;
    uint32_t request_count, missing;
};

/* A connection and what goes over it. */
struct request {
    struct lm_stage *stage;
    struct group *group;
    const char *block; /* content, shared by all connections */
    uint64_t offset;   /* where this connection's stream begins in it: none is like another */
    struct lm_pair pair;
    struct lm_transfer client, reply;
    struct lm_op receive; /* the server's */
    char received[MESSAGE_BYTES], echoed[MESSAGE_BYTES];
    /* Counted where it happens; they have to agree in the end. */
    uint64_t requests_sent, replies_received; /* by the client */
    uint64_t server_received_bytes, server_sent_bytes;
    _Atomic bool ending; /* the client sends no more */
};

struct parent {
    struct lm_stage *stage;
    struct group *groups;
    uint32_t group_count, missing, requests;
    uint64_t started_ns;
};

static void fail(struct request *request, const char *step, int64_t result)
{
    lm_stage_fail(request->stage, "request %llu: %s: %s",
                  (unsigned long long)request->requests_sent, step,
                  result == -EPIPE ? "the stream ended early" : strerror((int)-result));
}

static void fail_content(struct request *request, const char *who, uint64_t bytes)
{
    lm_stage_fail(request->stage, "bytes from %llu on arrived at the %s with wrong content",
                  (unsigned long long)bytes, who);
}

/* --- the server's end
 * ---------------------------------------------------------------------------- */

static void server_receive(struct request *request);

static void server_sent(struct lm_transfer *transfer, int64_t result)
{
    struct request *request = transfer->owner;
    if (result) {
        fail(request, "the server's send", result);
        return;
    }
    request->server_sent_bytes += transfer->total_bytes;
    server_receive(request);
}

/* The end of the stream: what was counted at both ends has to agree. */
static void server_ended(struct request *request)
{
    uint64_t requests = request->requests_sent, bytes = requests * MESSAGE_BYTES;
    if (request->replies_received != requests || request->server_received_bytes != bytes ||
        request->server_sent_bytes != bytes) {
        lm_stage_fail(request->stage,
                      "%llu requests sent, %llu bytes arrived at the server, %llu bytes echoed, "
                      "%llu replies received",
                      (unsigned long long)requests,
                      (unsigned long long)request->server_received_bytes,
                      (unsigned long long)request->server_sent_bytes,
                      (unsigned long long)request->replies_received);
        return;
    }
    lm_stage_chain_end(request->stage);
}

static void server_received(struct lm_op *op, int64_t result)
{
    struct request *request = (struct request *)((char *)op - offsetof(struct request, receive));
    if (result == 0 && atomic_load(&request->ending)) {
        server_ended(request);
        return;
    }
    if (result <= 0 || result > MESSAGE_BYTES) {
        fail(request, "the server's receive", result < 0 ? result : result ? -EPROTO : -EPIPE);
        return;
    }
    if (!lm_content_matches(request->block, request->offset + request->server_received_bytes,
                            request->echoed, (size_t)result)) {
        fail_content(request, "server", request->server_received_bytes);
        return;
    }
    request->server_received_bytes += (uint64_t)result;
    lm_send_all(&request->reply, request->stage->backend, request->pair.ends[1], request->echoed,
                (size_t)result);
}

static void server_receive(struct request *request)
{
    request->stage->backend->recv(request->pair.ends[1], &request->receive, request->echoed,
                                  MESSAGE_BYTES);
}

/* --- the parent
 * ---------------------------------------------------------------------------------- */

static void client_sent(struct lm_transfer *transfer, int64_t result);

static void send_request(struct request *request)
{
    uint64_t offset = request->offset + request->requests_sent * MESSAGE_BYTES;
    request->requests_sent++;
    request->client.done = client_sent;
    lm_send_all(&request->client, request->stage->backend, request->pair.ends[0],
                request->block + offset % LM_CONTENT_PERIOD, MESSAGE_BYTES);
}

static void start_requests(struct parent *parent)
{
    parent->missing = parent->group_count;
    for (uint32_t i = 0; i < parent->group_count; i++) {
        struct group *group = &parent->groups[i];
        group->missing = group->request_count;
        for (uint32_t j = 0; j < group->request_count; j++) {
            send_request(&group->requests[j]);
        }
    }
}

static void end_requests(struct parent *parent)
{
    for (uint32_t i = 0; i < parent->group_count; i++) {
        for (uint32_t j = 0; j < parent->groups[i].request_count; j++) {
            struct request *request = &parent->groups[i].requests[j];
            atomic_store(&request->ending, true);
            shutdown(request->pair.fds[0], SHUT_WR);
        }
    }
    lm_stage_chain_end(parent->stage);
}

static void join_parent(struct parent *parent)
{
    if (--parent->missing > 0) {
        return;
    }
    uint64_t bytes = 2 * (uint64_t)MESSAGE_BYTES * parent->requests;
    if (lm_recorder_lap(lm_stage_recorder(), &parent->started_ns, bytes) == LM_PHASE_DRAIN) {
        end_requests(parent);
    } else {
        start_requests(parent);
    }
}

static void client_received(struct lm_transfer *transfer, int64_t result)
{
    struct request *request = transfer->owner;
    uint64_t received_bytes = request->replies_received * MESSAGE_BYTES;
    if (result) {
        fail(request, "the client's receive", result);
        return;
    }
    if (!lm_content_matches(request->block, request->offset + received_bytes, request->received,
                            MESSAGE_BYTES)) {
        fail_content(request, "client", received_bytes);
        return;
    }
    request->replies_received++;
    if (--request->group->missing == 0) {
        join_parent(request->group->parent);
    }
}

static void client_sent(struct lm_transfer *transfer, int64_t result)
{
    struct request *request = transfer->owner;
    if (result) {
        fail(request, "the client's send", result);
        return;
    }
    request->client.done = client_received;
    lm_recv_exactly(&request->client, request->stage->backend, request->pair.ends[0],
                    request->received, MESSAGE_BYTES);
}

/* --- running
 * ------------------------------------------------------------------------------------- */

/* Everything of a case in one allocation each. */
struct tree {
    struct parent *parents;
    struct group *groups;
    struct request *requests;
    char *block;
};

static bool grow_tree(struct tree *tree, struct lm_stage *stage)
{
    const struct lm_case *which = stage->which;
    uint32_t group_count = which->parents * which->groups;
    uint32_t group_requests = which->pairs / group_count;
    tree->parents = calloc(which->parents, sizeof(*tree->parents));
    tree->groups = calloc(group_count, sizeof(*tree->groups));
    tree->requests = calloc(which->pairs, sizeof(*tree->requests));
    tree->block = lm_content_block(MESSAGE_BYTES);
    if (!tree->parents || !tree->groups || !tree->requests || !tree->block) {
        lm_stage_fail(stage, "%s", strerror(ENOMEM));
        return false;
    }
    for (uint32_t i = 0; i < which->parents; i++) {
        tree->parents[i] = (struct parent){.stage = stage,
                                           .groups = tree->groups + i * which->groups,
                                           .group_count = which->groups,
                                           .requests = which->groups * group_requests};
    }
    for (uint32_t i = 0; i < group_count; i++) {
        tree->groups[i] = (struct group){.parent = &tree->parents[i / which->groups],
                                         .requests = tree->requests + i * group_requests,
                                         .request_count = group_requests};
    }
    return true;
}

static int open_request(struct tree *tree, struct lm_stage *stage, uint32_t index)
{
    struct request *request = &tree->requests[index];
    struct group *group = &tree->groups[index / tree->groups[0].request_count];
    *request = (struct request){.stage = stage,
                                .group = group,
                                .block = tree->block,
                                .offset = (uint64_t)index * 7 * MESSAGE_BYTES,
                                .client.owner = request,
                                .reply = {.owner = request, .done = server_sent},
                                .receive.done = server_received};
    /* All requests of a parent belong together: it touches them all. */
    int error = lm_stage_connect(stage, (uint32_t)(group->parent - tree->parents), &request->pair);
    if (!error) {
        lm_stage_chain_begin(stage);
        server_receive(request);
    }
    return error;
}

static int run_fan_out(const struct lm_case *which, const struct lm_case_setup *setup,
                       struct lm_case_result *result)
{
    struct lm_stage stage;
    struct tree tree;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    error = grow_tree(&tree, &stage) ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = open_request(&tree, &stage, i);
    }
    for (uint32_t i = 0; i < which->parents && !error; i++) {
        lm_stage_chain_begin(&stage);
        tree.parents[i].started_ns = lm_clock_ns();
        start_requests(&tree.parents[i]);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    lm_stage_close(&stage);
    free(tree.block);
    free(tree.requests);
    free(tree.groups);
    free(tree.parents);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family family = {
    "fan_out", "how fast many small requests over TCP loopback connections are sent and joined"};
static const uint32_t fork_join_requests[] = {1, 4, 16, 64};
static const uint32_t nested_groups[] = {4, 16};
static const uint32_t parent_counts[] = {1, 4, 16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* `size` is the parameter of the shape: it goes into the name. */
static void add(struct lm_case like, bool lockless, const char *const names[2], uint32_t size)
{
    like.pairs *= like.parents * like.groups;
    like.flags = lockless ? LM_CASE_LOCKLESS : like.flags;
    lm_list_add(&like, names[lockless], size);
}

static void add_all(bool lockless)
{
    static const char *const fork_join[2] = {"fork_join", "fork_join_lockless"};
    static const char *const nested[2] = {"nested", "nested_lockless"};
    static const char *const parents[2] = {"concurrent_parents", "concurrent_parents_lockless"};
    const struct lm_case like = {
        .family = &family,
        .operation = "one join: 64 bytes sent on every connection of a parent, echoed and received",
        .metric = LM_METRIC_OPS_PER_S,
        .threads = 1,
        .run = run_fan_out,
        .bytes = MESSAGE_BYTES,
        .parents = 1,
        .groups = 1,
    };
    for (size_t i = 0; i < COUNT(fork_join_requests); i++) {
        struct lm_case one = like;
        one.pairs = fork_join_requests[i];
        one.flags = one.pairs == 16 ? LM_CASE_REPRESENTATIVE : 0;
        add(one, lockless, fork_join, one.pairs);
    }
    for (size_t i = 0; i < COUNT(nested_groups); i++) {
        struct lm_case one = like;
        one.groups = nested_groups[i];
        one.pairs = GROUP_REQUESTS;
        add(one, lockless, nested, one.groups);
    }
    for (size_t i = 0; i < COUNT(parent_counts); i++) {
        struct lm_case one = like;
        one.parents = parent_counts[i];
        one.pairs = PARENT_REQUESTS;
        one.flags = one.parents == 4 ? LM_CASE_REPRESENTATIVE : 0;
        add(one, lockless, parents, one.parents);
    }
}

void lm_list_fan_out(void)
{
    add_all(false);
    add_all(true);
}
