/* throughput.c - families socket_throughput and local_socket_throughput: streams of bytes.
 *
 * A direction is a writer's chain and a reader's chain, independent of each other: the writer keeps
 * one send of up to S bytes outstanding, the reader one receive of up to S bytes. When the measured
 * time is over the reader tells the writer, which shuts down its sending side; the reader drains to
 * the end of the stream, and that is part of the measurement.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suites/content.h"
#include "suites/list.h"
#include "suites/stage.h"

struct direction {
    struct lm_stage *stage;
    const char *block; /* content, shared by all directions */
    struct lm_op writer, reader;
    struct lm_socket *out, *in;
    int out_fd;
    char *received; /* the reader's buffer */
    uint64_t sent_bytes, received_bytes;
    uint64_t started_ns;
    size_t asked_bytes;   /* of the send under way */
    _Atomic bool counted; /* the measured phase has begun: bytes are counted, no longer compared */
    _Atomic bool ending;  /* the reader has seen the end of the measured phase */
    _Atomic uint64_t total_bytes; /* what the writer sent in all; set before it shuts down */
};

static struct direction *of_writer(struct lm_op *op)
{
    return (struct direction *)((char *)op - offsetof(struct direction, writer));
}

static struct direction *of_reader(struct lm_op *op)
{
    return (struct direction *)((char *)op - offsetof(struct direction, reader));
}

/* While content is compared each send continues the stream's content; from the measured phase on
 * every send takes the same bytes, so that all sizes touch no more memory than their own. */
static void write_next(struct direction *direction)
{
    bool counted = atomic_load_explicit(&direction->counted, memory_order_relaxed);
    size_t offset = counted ? 0 : direction->sent_bytes % LM_CONTENT_PERIOD;
    direction->asked_bytes = direction->stage->which->bytes;
    direction->stage->backend->send(direction->out, &direction->writer, direction->block + offset,
                                    direction->asked_bytes);
}

static void read_next(struct direction *direction)
{
    direction->stage->backend->recv(direction->in, &direction->reader, direction->received,
                                    direction->stage->which->bytes);
}

static void written(struct lm_op *op, int64_t result)
{
    struct direction *direction = of_writer(op);
    if (result <= 0 || (uint64_t)result > direction->asked_bytes) {
        lm_stage_fail(direction->stage, "send after %llu bytes: %s",
                      (unsigned long long)direction->sent_bytes,
                      result < 0 ? strerror((int)-result) : "a byte count that is not possible");
        return;
    }
    direction->sent_bytes += (uint64_t)result;
    if (!atomic_load_explicit(&direction->ending, memory_order_relaxed)) {
        write_next(direction);
        return;
    }
    atomic_store(&direction->total_bytes, direction->sent_bytes);
    shutdown(direction->out_fd, SHUT_WR);
    lm_stage_chain_end(direction->stage);
}

static void stream_ended(struct direction *direction)
{
    uint64_t total_bytes = atomic_load(&direction->total_bytes);
    if (!atomic_load(&direction->ending) || direction->received_bytes != total_bytes) {
        lm_stage_fail(direction->stage, "the stream ended after %llu bytes, %llu were sent",
                      (unsigned long long)direction->received_bytes,
                      (unsigned long long)total_bytes);
        return;
    }
    lm_recorder_extend(lm_stage_recorder());
    lm_stage_chain_end(direction->stage);
}

static void was_read(struct lm_op *op, int64_t result)
{
    struct direction *direction = of_reader(op);
    if (result == 0) {
        stream_ended(direction);
        return;
    }
    if (result < 0 || (uint64_t)result > direction->stage->which->bytes) {
        lm_stage_fail(direction->stage, "receive after %llu bytes: %s",
                      (unsigned long long)direction->received_bytes,
                      result < 0 ? strerror((int)-result) : "a byte count that is not possible");
        return;
    }
    if (!atomic_load_explicit(&direction->counted, memory_order_relaxed) &&
        !lm_content_matches(direction->block, direction->received_bytes, direction->received,
                            (size_t)result)) {
        lm_stage_fail(direction->stage, "wrong content in the %lld bytes after byte %llu",
                      (long long)result, (unsigned long long)direction->received_bytes);
        return;
    }
    direction->received_bytes += (uint64_t)result;
    enum lm_phase phase =
        lm_recorder_lap(lm_stage_recorder(), &direction->started_ns, (uint64_t)result);
    if (phase != LM_PHASE_WARMUP) {
        atomic_store_explicit(&direction->counted, true, memory_order_relaxed);
    }
    if (phase == LM_PHASE_DRAIN) {
        atomic_store_explicit(&direction->ending, true, memory_order_relaxed);
    }
    read_next(direction);
}

static void start_writer(struct direction *direction)
{
    direction->writer.done = written;
    lm_stage_chain_begin(direction->stage);
    write_next(direction);
}

static void start_reader(struct direction *direction)
{
    direction->reader.done = was_read;
    lm_stage_chain_begin(direction->stage);
    direction->started_ns = lm_clock_ns();
    read_next(direction);
}

/* Directions of a pair: client to server, then server to client. */
static uint32_t directions_per_pair(const struct lm_case *which)
{
    return which->bidirectional ? 2 : 1;
}

static int open_pair(struct lm_stage *stage, uint32_t index, struct direction *directions,
                     const char *block, char *buffers)
{
    struct lm_pair pair;
    int error = lm_stage_connect(stage, index, &pair);
    for (uint32_t i = 0; i < directions_per_pair(stage->which) && !error; i++) {
        directions[i] = (struct direction){
            .stage = stage,
            .block = block,
            .out = pair.ends[i],
            .out_fd = pair.fds[i],
            .in = pair.ends[1 - i],
            .received = buffers + i * (size_t)stage->which->bytes,
        };
    }
    return error;
}

/* As two programs would: each end starts its writer, then its reader. */
static void start_pair(struct direction *directions, uint32_t per_pair)
{
    start_writer(&directions[0]);
    if (per_pair == 2) {
        start_reader(&directions[1]);
        start_writer(&directions[1]);
    }
    start_reader(&directions[0]);
}

static int run_throughput(const struct lm_case *which, const struct lm_case_setup *setup,
                          struct lm_case_result *result)
{
    struct lm_stage stage;
    int error = lm_stage_open(&stage, which, setup, result, true);
    if (error) {
        return error;
    }
    uint32_t per_pair = directions_per_pair(which);
    size_t buffer_bytes = (size_t)which->pairs * per_pair * which->bytes;
    struct direction *directions = calloc(which->pairs, per_pair * sizeof(*directions));
    char *block = lm_content_block(which->bytes);
    void *buffers = NULL;
    if (!directions || !block || posix_memalign(&buffers, 4096, buffer_bytes)) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = open_pair(&stage, i, &directions[i * per_pair], block,
                          (char *)buffers + (size_t)i * per_pair * which->bytes);
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        start_pair(&directions[i * per_pair], per_pair);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    lm_stage_close(&stage);
    free(buffers);
    free(block);
    free(directions);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family families[2] = {
    {"socket_throughput", "bytes per second over TCP loopback connections"},
    {"local_socket_throughput", "bytes per second over AF_UNIX stream pairs"},
};
static const uint32_t chunk_bytes[] = {1024, 4096, 16384, 65536, 262144, 1048576};
static const uint32_t thread_counts[] = {2, 4, 8};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct lm_case make_case(const struct lm_family *family, bool local)
{
    return (struct lm_case){
        .family = family,
        .operation = "one receive; the writer sends up to the case's size at a time, the reader "
                     "receives up to as much",
        .metric = LM_METRIC_BYTES_PER_S,
        .capabilities = local ? LM_CAP_LOCAL : 0,
        .threads = 1,
        .run = run_throughput,
        .local = local,
        .pairs = 1,
        .bytes = 65536,
    };
}

static bool is_representative(const struct lm_case *which)
{
    return which->bidirectional ? which->bytes == 262144
                                : which->bytes == 1024 || which->bytes == 65536;
}

void lm_list_throughput(bool local)
{
    static const char *const shapes[2][2] = {{"unidirectional", "unidirectional_lockless"},
                                             {"bidirectional", "bidirectional_lockless"}};
    struct lm_case one = make_case(&families[local], local);
    for (int bidirectional = 0; bidirectional < 2; bidirectional++) {
        for (int lockless = 0; lockless < 2; lockless++) {
            one.bidirectional = bidirectional;
            for (size_t i = 0; i < COUNT(chunk_bytes); i++) {
                one.bytes = chunk_bytes[i];
                one.flags = lockless                  ? LM_CASE_LOCKLESS
                            : is_representative(&one) ? LM_CASE_REPRESENTATIVE
                                                      : 0;
                lm_list_add(&one, shapes[bidirectional][lockless], one.bytes);
            }
        }
    }
    if (local) {
        return;
    }
    struct lm_case threaded = make_case(&families[local], local);
    threaded.bidirectional = true;
    threaded.pairs = 32;
    threaded.capabilities |= LM_CAP_THREADS;
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        threaded.threads = thread_counts[i];
        threaded.flags = threaded.threads == 2 ? LM_CASE_REPRESENTATIVE : 0;
        lm_list_add(&threaded, "multithread", threaded.threads);
    }
}

void lm_list_throughput_split(const struct lm_family *split)
{
    for (int local = 0; local < 2; local++) {
        struct lm_case one = make_case(split, local);
        one.flags = LM_CASE_SPLIT | LM_CASE_REPRESENTATIVE;
        one.capabilities |= LM_CAP_LOOPS;
        one.threads = 2;
        lm_list_add(&one, families[local].name, one.bytes);
    }
}
