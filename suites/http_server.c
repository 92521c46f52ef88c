/* http_server.c - family http_server: small requests and responses over connections kept alive.
 *
 * The client sends a fixed GET and, when that has been sent, receives and parses the response. The
 * server receives and parses a request, sends a fixed response, and receives again: a chain of its
 * own that begins with a receive. Both compare every byte, in the measured phase too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "suites/http.h"
#include "suites/list.h"
#include "suites/stage.h"
#include "suites/transfer.h"

static const char request_text[] = "GET /hello HTTP/1.1\r\n"
                                   "Host: loopmark\r\n"
                                   "Content-Length: 0\r\n"
                                   "\r\n";
static const char response_text[] = "HTTP/1.1 200 OK\r\n"
                                    "Content-Length: 13\r\n"
                                    "\r\n"
                                    "Hello, world!";

enum {
    REQUEST_BYTES = sizeof(request_text) - 1,
    RESPONSE_BYTES = sizeof(response_text) - 1,
    BODY_BYTES = 13,
    READ_BYTES = 512 /* first read of a message; no message here is longer */
};

/* One end of a connection: what it sends and what it receives, one after the other. */
struct end {
    struct lm_op receive;
    struct lm_transfer send;
    struct lm_http_message message;
    size_t held_bytes;
    uint64_t sent, received; /* messages: counted apart at both ends, they have to agree */
    char buffer[READ_BYTES];
};

struct connection {
    struct lm_stage *stage;
    struct lm_pair pair;
    struct end client, server;
    uint64_t started_ns;
    _Atomic bool ending; /* the client sends no more */
};

static void fail(struct connection *connection, const char *step, int64_t result)
{
    lm_stage_fail(connection->stage, "request %llu: %s: %s",
                  (unsigned long long)connection->client.sent, step,
                  result == -EPIPE ? "the stream ended early" : strerror((int)-result));
}

static struct connection *of_client(struct lm_op *op)
{
    return (struct connection *)((char *)op - offsetof(struct connection, client.receive));
}

static struct connection *of_server(struct lm_op *op)
{
    return (struct connection *)((char *)op - offsetof(struct connection, server.receive));
}

static void receive_more(struct connection *connection, struct end *end, int which_end)
{
    connection->stage->backend->recv(connection->pair.ends[which_end], &end->receive,
                                     end->buffer + end->held_bytes, READ_BYTES - end->held_bytes);
}

static void receive_message(struct connection *connection, struct end *end, int which_end)
{
    end->message = (struct lm_http_message){0};
    end->held_bytes = 0;
    receive_more(connection, end, which_end);
}

/* Takes what came. True when the message is there, whole and as it has to be; else more is received
 * or the stage has failed. */
static bool take(struct connection *connection, struct end *end, int which_end, int64_t result)
{
    static const struct {
        const char *step, *what, *text;
        size_t bytes;
        enum lm_http_state (*parse)(struct lm_http_message *message, const char *data, size_t bytes,
                                    size_t body_bytes_max);
    } sides[2] = {
        {"the client's receive", "response", response_text, RESPONSE_BYTES, lm_http_response},
        {"the server's receive", "request", request_text, REQUEST_BYTES, lm_http_request}};
    if (result <= 0 || (uint64_t)result > READ_BYTES - end->held_bytes) {
        fail(connection, sides[which_end].step, result < 0 ? result : result ? -EPROTO : -EPIPE);
        return false;
    }
    end->held_bytes += (size_t)result;
    switch (sides[which_end].parse(&end->message, end->buffer, end->held_bytes, BODY_BYTES)) {
    case LM_HTTP_MORE:
        if (end->held_bytes < READ_BYTES) {
            receive_more(connection, end, which_end);
            return false;
        }
        end->message.why = "it is longer than any that was sent";
        break;
    case LM_HTTP_DONE:
        if (end->held_bytes > end->message.head_bytes + end->message.body_bytes) {
            end->message.why = "bytes follow it that nobody sent";
        } else if (end->held_bytes != sides[which_end].bytes ||
                   memcmp(end->buffer, sides[which_end].text, end->held_bytes)) {
            end->message.why = "its content is not what was sent";
        } else {
            end->received++;
            return true;
        }
        break;
    case LM_HTTP_BAD:
        break;
    }
    lm_stage_fail(connection->stage, "%s %llu: %s", sides[which_end].what,
                  (unsigned long long)end->received, end->message.why);
    return false;
}

/* --- the server's end
 * ----------------------------------------------------------------------------- */

static void server_sent(struct lm_transfer *transfer, int64_t result)
{
    struct connection *connection = transfer->owner;
    if (result) {
        fail(connection, "the server's send", result);
        return;
    }
    receive_message(connection, &connection->server, 1);
}

static void server_received(struct lm_op *op, int64_t result)
{
    struct connection *connection = of_server(op);
    struct end *server = &connection->server;
    if (!result && !server->held_bytes && atomic_load(&connection->ending)) {
        lm_stage_chain_end(connection->stage);
        return;
    }
    if (take(connection, server, 1, result)) {
        server->sent++;
        lm_send_all(&server->send, connection->stage->backend, connection->pair.ends[1],
                    response_text, RESPONSE_BYTES);
    }
}

/* --- the client's end
 * ----------------------------------------------------------------------------- */

static void send_request(struct connection *connection)
{
    connection->client.sent++;
    lm_send_all(&connection->client.send, connection->stage->backend, connection->pair.ends[0],
                request_text, REQUEST_BYTES);
}

static void client_sent(struct lm_transfer *transfer, int64_t result)
{
    struct connection *connection = transfer->owner;
    if (result) {
        fail(connection, "the client's send", result);
        return;
    }
    receive_message(connection, &connection->client, 0);
}

static void client_received(struct lm_op *op, int64_t result)
{
    struct connection *connection = of_client(op);
    if (!take(connection, &connection->client, 0, result)) {
        return;
    }
    if (lm_recorder_lap(lm_stage_recorder(), &connection->started_ns,
                        REQUEST_BYTES + RESPONSE_BYTES) != LM_PHASE_DRAIN) {
        send_request(connection);
        return;
    }
    atomic_store(&connection->ending, true);
    shutdown(connection->pair.fds[0], SHUT_WR);
    lm_stage_chain_end(connection->stage);
}

/* --- running
 * -------------------------------------------------------------------------------------- */

static int open_connection(struct lm_stage *stage, uint32_t index, struct connection *connection)
{
    *connection = (struct connection){
        .stage = stage,
        .client = {.receive.done = client_received,
                   .send = {.owner = connection, .done = client_sent}},
        .server = {.receive.done = server_received,
                   .send = {.owner = connection, .done = server_sent}},
    };
    return lm_stage_connect(stage, index, &connection->pair);
}

static void start_connection(struct connection *connection)
{
    lm_stage_chain_begin(connection->stage);
    lm_stage_chain_begin(connection->stage);
    receive_message(connection, &connection->server, 1);
    connection->started_ns = lm_clock_ns();
    send_request(connection);
}

/* When all has been drained: what was counted at both ends has to agree, and nothing may lie behind
 * the last response. The client does not receive the end of the stream to find out: both ends'
 * FINs would leave the port in TIME_WAIT. */
static int check_connection(struct connection *connection)
{
    const struct end *client = &connection->client, *server = &connection->server;
    int unread_bytes = 0;
    if (client->received != client->sent || server->received != client->sent ||
        server->sent != client->sent) {
        lm_stage_fail(connection->stage,
                      "%llu requests sent, %llu received; %llu responses sent, %llu received",
                      (unsigned long long)client->sent, (unsigned long long)server->received,
                      (unsigned long long)server->sent, (unsigned long long)client->received);
        return -EIO;
    }
    if (ioctl(connection->pair.fds[0], FIONREAD, &unread_bytes)) {
        int error = -errno;
        fail(connection, "looking for bytes behind the last response", error);
        return error;
    }
    if (unread_bytes) {
        lm_stage_fail(connection->stage,
                      "response %llu: bytes follow it that nobody sent, the last of the connection",
                      (unsigned long long)client->received);
        return -EIO;
    }
    return 0;
}

static int run_http_server(const struct lm_case *which, const struct lm_case_setup *setup,
                           struct lm_case_result *result)
{
    struct lm_stage stage;
    int error = lm_stage_open(&stage, which, setup, result, false);
    if (error) {
        return error;
    }
    struct connection *connections = calloc(which->pairs, sizeof(*connections));
    if (!connections) {
        error = -ENOMEM;
        lm_stage_fail(&stage, "%s", strerror(ENOMEM));
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = open_connection(&stage, i, &connections[i]);
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        start_connection(&connections[i]);
    }
    if (!error) {
        error = lm_stage_run(&stage);
    }
    for (uint32_t i = 0; i < which->pairs && !error; i++) {
        error = check_connection(&connections[i]);
    }
    lm_stage_close(&stage);
    free(connections);
    return error;
}

/* --- the cases
 * ------------------------------------------------------------------------------------ */

static const struct lm_family family = {
    "http_server", "small HTTP/1.1 requests answered over TCP loopback connections kept alive"};
static const uint32_t connection_counts[] = {1, 4, 16, 32};
static const uint32_t thread_counts[] = {1, 2, 4, 8, 16};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct lm_case make_case(const struct lm_family *of, uint32_t connections)
{
    return (struct lm_case){
        .family = of,
        .operation = "one request: a GET sent, received and parsed, its response sent, received "
                     "and parsed",
        .metric = LM_METRIC_OPS_PER_S,
        .threads = 1,
        .run = run_http_server,
        .pairs = connections,
        .bytes = REQUEST_BYTES,
    };
}

void lm_list_http_server(void)
{
    struct lm_case one = make_case(&family, 1);
    one.flags = LM_CASE_REPRESENTATIVE;
    lm_list_add(&one, "single_conn", -1);
    one.flags = LM_CASE_LOCKLESS;
    lm_list_add(&one, "single_conn_lockless", -1);
    for (size_t i = 0; i < COUNT(connection_counts); i++) {
        one = make_case(&family, connection_counts[i]);
        one.flags = one.pairs == 32 ? LM_CASE_REPRESENTATIVE : 0;
        lm_list_add(&one, "concurrent", one.pairs);
    }
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        one = make_case(&family, 32);
        one.threads = thread_counts[i];
        one.capabilities = one.threads > 1 ? LM_CAP_THREADS : 0;
        one.flags = one.threads == 2 ? LM_CASE_REPRESENTATIVE : 0;
        lm_list_add(&one, "multithread", one.threads);
    }
}

void lm_list_http_server_split(const struct lm_family *split)
{
    static const uint32_t split_connections[] = {1, 32};
    for (size_t i = 0; i < COUNT(split_connections); i++) {
        struct lm_case one = make_case(split, split_connections[i]);
        one.flags = LM_CASE_SPLIT | (one.pairs == 32 ? LM_CASE_REPRESENTATIVE : 0);
        one.capabilities = LM_CAP_LOOPS;
        one.threads = 2;
        lm_list_add(&one, family.name, one.pairs);
    }
}
