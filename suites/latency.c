/* latency.c - families socket_latency and local_socket_latency: messages there and back.
 *
 * One chain per connection: client sends, server receives, server sends, client receives; the next
 * step starts in the completion of the one before. In a split case each end has a chain of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suites/content.h"
#include "suites/list.h"
#include "suites/stage.h"
#include "suites/transfer.h"

struct chain {
    struct lm_stage *stage;
    struct lm_pair pair;
    struct lm_transfer client, server; /* what each end is doing; an end does one thing at a time */
    char *sent, *received;             /* the client's buffers */
    char *echoed;                      /* the server's */
    uint64_t sequence;                 /* of the client's message under way */
    uint64_t echo_sequence;            /* of the message the server expects */
    uint64_t started_ns;
    _Atomic bool stamped; /* messages carry only a mark: set where the measured phase begins */
    _Atomic bool ending;  /* the client sends no more */
};

static bool is_split(const struct chain *chain)
{
    return chain->stage->loop_count > 1;
}

static bool is_intact(const struct chain *chain, const char *message, uint64_t sequence)
{
    size_t bytes = chain->stage->which->bytes;
    return atomic_load_explicit(&chain->stamped, memory_order_acquire)
               ? lm_content_stamped(message, bytes, sequence)
               : lm_content_is(message, bytes, sequence);
}

static void fail(struct chain *chain, const char *step, int64_t result)
{
    lm_stage_fail(chain->stage, "round trip %llu: %s: %s", (unsigned long long)chain->sequence,
                  step, result == -EPIPE ? "the stream ended early" : strerror((int)-result));
}

static void fail_content(struct chain *chain, const char *who, uint64_t sequence)
{
    lm_stage_fail(chain->stage, "message %llu arrived at the %s with wrong content",
                  (unsigned long long)sequence, who);
}

static void client_receive(struct chain *chain);
static void server_receive(struct chain *chain);

static void client_sent(struct lm_transfer *transfer, int64_t result)
{
    struct chain *chain = transfer->owner;
    if (result) {
        fail(chain, "the client's send", result);
    } else if (is_split(chain)) {
        client_receive(chain);
    } else {
        server_receive(chain);
    }
}

static void client_send(struct chain *chain)
{
    size_t bytes = chain->stage->which->bytes;
    if (atomic_load_explicit(&chain->stamped, memory_order_relaxed)) {
        lm_content_stamp(chain->sent, bytes, chain->sequence);
    } else {
        lm_content_fill(chain->sent, bytes, chain->sequence);
    }
    chain->client.done = client_sent;
    lm_send_all(&chain->client, chain->stage->backend, chain->pair.ends[0], chain->sent, bytes);
}

static void client_end(struct chain *chain)
{
    if (is_split(chain)) {
        atomic_store(&chain->ending, true);
        shutdown(chain->pair.fds[0], SHUT_WR);
    }
    lm_stage_chain_end(chain->stage);
}

static void client_received(struct lm_transfer *transfer, int64_t result)
{
    struct chain *chain = transfer->owner;
    if (result) {
        fail(chain, "the client's receive", result);
        return;
    }
    if (!is_intact(chain, chain->received, chain->sequence)) {
        fail_content(chain, "client", chain->sequence);
        return;
    }
    enum lm_phase phase = lm_recorder_lap(lm_stage_recorder(), &chain->started_ns,
                                          2 * (uint64_t)chain->stage->which->bytes);
    if (phase == LM_PHASE_DRAIN) {
        client_end(chain);
        return;
    }
    if (phase == LM_PHASE_MEASURE) {
        atomic_store_explicit(&chain->stamped, true, memory_order_release);
    }
    chain->sequence++;
    client_send(chain);
}

static void client_receive(struct chain *chain)
{
    chain->client.done = client_received;
    lm_recv_exactly(&chain->client, chain->stage->backend, chain->pair.ends[0], chain->received,
                    chain->stage->which->bytes);
}

static void server_sent(struct lm_transfer *transfer, int64_t result)
{
    struct chain *chain = transfer->owner;
    if (result) {
        fail(chain, "the server's send", result);
        return;
    }
    chain->echo_sequence++;
    if (is_split(chain)) {
        server_receive(chain);
    } else {
        client_receive(chain);
    }
}

static void server_received(struct lm_transfer *transfer, int64_t result)
{
    struct chain *chain = transfer->owner;
    if (result == -EPIPE && !transfer->moved_bytes && atomic_load(&chain->ending)) {
        lm_stage_chain_end(chain->stage);
        return;
    }
    if (result) {
        fail(chain, "the server's receive", result);
        return;
    }
    if (!is_intact(chain, chain->echoed, chain->echo_sequence)) {
        fail_content(chain, "server", chain->echo_sequence);
        return;
    }
    chain->server.done = server_sent;
    lm_send_all(&chain->server, chain->stage->backend, chain->pair.ends[1], chain->echoed,
                chain->stage->which->bytes);
}

static void server_receive(struct chain *chain)
{
    chain->server.done = server_received;
    lm_recv_exactly(&chain->server, chain->stage->backend, chain->pair.ends[1], chain->echoed,
                    chain->stage->which->bytes);
}

static int open_chain(struct lm_stage *stage, uint32_t index, struct chain *chain, char *buffers)
{
    size_t bytes = stage->which->bytes;
    chain->stage = stage;
    chain->client.owner = chain->server.owner = chain;
    chain->sent = buffers;
    chain->received = buffers + bytes;
    chain->echoed = buffers + 2 * bytes;
    return lm_stage_connect(stage, index, &chain->pair);
}

static void start_chain(struct chain *chain)
{
    lm_stage_chain_begin(chain->stage);
    if (is_split(chain)) {
        lm_stage_chain_begin(chain->stage);
        server_receive(chain);
    }
    chain->started_ns = lm_clock_ns();
    client_send(chain);
}

static int run_latency(const struct lm_case *which, const struct lm_case_setup *setup,
                       struct lm_case_result *result)
{
    struct lm_stage stage;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    struct chain *chains = calloc(which->pairs, sizeof(*chains));
    char *buffers = calloc(which->pairs, 3 * (size_t)which->bytes);
    if (!chains || !buffers) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = open_chain(&stage, i, &chains[i], buffers + i * 3 * (size_t)which->bytes);
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        start_chain(&chains[i]);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    lm_stage_close(&stage);
    free(buffers);
    free(chains);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family families[2] = {
    {"socket_latency", "round-trip time of small messages over TCP loopback connections"},
    {"local_socket_latency", "round-trip time of small messages over AF_UNIX stream pairs"},
};
static const uint32_t message_bytes[] = {1, 64, 1024};
static const uint32_t pair_counts[] = {1, 4, 16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct lm_case make_case(const struct lm_family *family, bool local)
{
    return (struct lm_case){
        .family = family,
        .operation = "one round trip: client sends, server receives, server sends, client receives",
        .metric = LM_METRIC_MEAN_NS,
        .capabilities = local ? LM_CAP_LOCAL : 0,
        .threads = 1,
        .run = run_latency,
        .local = local,
        .pairs = 1,
        .bytes = 64,
    };
}

void lm_list_latency(bool local)
{
    for (int lockless = 0; lockless < 2; lockless++) {
        struct lm_case one = make_case(&families[local], local);
        one.flags = lockless ? LM_CASE_LOCKLESS : 0;
        for (size_t i = 0; i < COUNT(message_bytes); i++) {
            one.bytes = message_bytes[i];
            one.flags =
                (lockless ? LM_CASE_LOCKLESS : 0) | (one.bytes == 64 ? LM_CASE_REPRESENTATIVE : 0);
            lm_list_add(&one, lockless ? "pingpong_lockless" : "pingpong", one.bytes);
        }
        one.bytes = 64;
        for (size_t i = 0; i < COUNT(pair_counts); i++) {
            one.pairs = pair_counts[i];
            one.flags = (lockless ? LM_CASE_LOCKLESS : 0) |
                        (one.pairs == 16 && !lockless ? LM_CASE_REPRESENTATIVE : 0);
            lm_list_add(&one, lockless ? "concurrent_lockless" : "concurrent", one.pairs);
        }
    }
}

void lm_list_latency_split(const struct lm_family *split)
{
    static const uint32_t split_pairs[] = {1, 16};
    for (int local = 0; local < 2; local++) {
        struct lm_case one = make_case(split, local);
        one.flags = LM_CASE_SPLIT;
        one.capabilities |= LM_CAP_LOOPS;
        one.threads = 2;
        for (size_t i = 0; i < COUNT(split_pairs); i++) {
            one.pairs = split_pairs[i];
            one.flags = LM_CASE_SPLIT | (one.pairs == 16 ? LM_CASE_REPRESENTATIVE : 0);
            lm_list_add(&one, families[local].name, one.pairs);
        }
    }
}
