/* net.c - the sockets of the contract tests that the backend does not know, and the bytes on them.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/contract/contract.h"
#include "tests/contract/internal.h"

/* A call of the test itself failed: nothing is known of the backend. */
static int note(struct contract *t, const char *call)
{
    if (errno == EMFILE || errno == ENFILE) {
        contract_skip(t, "%s: %s; raise `ulimit -Hn` (now %d)", call, strerror(errno),
                      descriptor_limit());
        return -1;
    }
    contract_fail(t, __FILE__, __LINE__, "the test's own calls to work", "%s: %s", call,
                  strerror(errno));
    return -1;
}

int track_fd(struct contract *t, int fd)
{
    if (fd >= 0) {
        t->raw[fd] = true;
    }
    return fd;
}

void untrack_fd(struct contract *t, int fd)
{
    t->raw[fd] = false;
}

void close_raw(struct contract *t, int fd)
{
    untrack_fd(t, fd);
    close(fd);
}

int raw_socket(struct contract *t)
{
    int fd = socket(t->local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return note(t, "socket");
    }
    int on = 1;
    if (!t->local) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return track_fd(t, fd);
}

void reset_on_close(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static void make_address(struct contract *t, struct address *address)
{
    *address = (struct address){.bytes = sizeof(struct sockaddr_in)};
    if (t->local) {
        struct sockaddr_un *un = (struct sockaddr_un *)&address->storage;
        assert(t->next_name < CONTRACT_NAMES);
        un->sun_family = AF_UNIX;
        snprintf(un->sun_path, sizeof un->sun_path, "%s/s%u", t->subject->directory,
                 t->next_name++);
        address->bytes = sizeof *un;
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)&address->storage;
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
}

static int listener_with_buffers(struct contract *t, int backlog, struct address *address,
                                 int buffer_bytes)
{
    int on = 1, fd = raw_socket(t);
    if (fd < 0) {
        return -1;
    }
    make_address(t, address);
    if (buffer_bytes) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address_of(address), address->bytes)) {
        return note(t, "bind");
    }
    if (!t->local && getsockname(fd, (struct sockaddr *)&address->storage, &address->bytes)) {
        return note(t, "getsockname");
    }
    if (backlog >= 0 && listen(fd, backlog)) {
        return note(t, "listen");
    }
    return fd;
}

int raw_listener(struct contract *t, int backlog, struct address *address)
{
    return listener_with_buffers(t, backlog, address, 0);
}

static int connect_with_buffers(struct contract *t, const struct address *address, int buffer_bytes)
{
    int fd = raw_socket(t);
    if (fd < 0) {
        return -1;
    }
    if (buffer_bytes) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    }
    return connect(fd, address_of(address), address->bytes) ? note(t, "connect") : fd;
}

int raw_connect(struct contract *t, const struct address *address)
{
    return connect_with_buffers(t, address, 0);
}

/* Makes a TCP pair over the listener, of which no other connection may be waiting. */
static int meet(struct contract *t, int listener, const struct address *address, int buffer_bytes,
                int fds[2])
{
    fds[0] = connect_with_buffers(t, address, buffer_bytes);
    fds[1] = fds[0] < 0 ? -1 : track_fd(t, accept(listener, NULL, NULL));
    if (fds[1] < 0) {
        return fds[0] < 0 ? -1 : note(t, "accept");
    }
    int on = 1;
    setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return 0;
}

static int pair_with_buffers(struct contract *t, int fds[2], int buffer_bytes)
{
    struct address address;
    if (t->local) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
            return note(t, "socketpair");
        }
        for (int i = 0; i < 2; i++) {
            track_fd(t, fds[i]);
            if (buffer_bytes) {
                setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
            }
        }
        return 0;
    }
    int listener = listener_with_buffers(t, 1, &address, buffer_bytes);
    if (listener < 0) {
        return -1;
    }
    int result = meet(t, listener, &address, buffer_bytes, fds);
    close_raw(t, listener);
    return result;
}

bool open_pair_listener(struct contract *t)
{
    t->pair_listener = t->local ? -1 : raw_listener(t, 16, &t->pair_address);
    return t->local || t->pair_listener >= 0;
}

int raw_pair(struct contract *t, int fds[2])
{
    if (t->local) {
        return pair_with_buffers(t, fds, 0);
    }
    pthread_mutex_lock(&t->pair_lock);
    int result = meet(t, t->pair_listener, &t->pair_address, 0, fds);
    pthread_mutex_unlock(&t->pair_lock);
    return result;
}

int raw_small_pair(struct contract *t, int fds[2])
{
    /* With 4096 a window can become smaller than a segment, and then moves on every 200 ms only. */
    return pair_with_buffers(t, fds, 16384);
}

int loop_pair(struct contract *t, struct lm_socket *ends[2])
{
    int fds[2];
    if (raw_pair(t, fds)) {
        return -1;
    }
    reset_on_close(fds[0]);
    reset_on_close(fds[1]);
    ends[0] = open_socket(t, fds[0]);
    ends[1] = open_socket(t, fds[1]);
    return ends[0] && ends[1] ? 0 : -1;
}

int half_pair(struct contract *t, struct lm_socket **end, int *peer_fd)
{
    int fds[2];
    if (raw_pair(t, fds)) {
        return -1;
    }
    *end = open_socket(t, fds[0]);
    *peer_fd = fds[1];
    return *end ? 0 : -1;
}

/* Every stream its own sequence without a short period, so that lost, doubled and exchanged bytes
 * all show. The factor is Knuth's for multiplicative hashing. */
uint8_t pattern_at(uint32_t seed, uint64_t offset)
{
    return (uint8_t)((((uint32_t)offset + seed * 7919u) * 2654435761u) >> 24);
}

void pattern_fill(void *buffer, size_t bytes, uint32_t seed, uint64_t offset)
{
    uint8_t *at = buffer;
    for (size_t i = 0; i < bytes; i++) {
        at[i] = pattern_at(seed, offset + i);
    }
}

size_t pattern_check(const void *buffer, size_t bytes, uint32_t seed, uint64_t offset)
{
    const uint8_t *at = buffer;
    size_t i = 0;
    while (i < bytes && at[i] == pattern_at(seed, offset + i)) {
        i++;
    }
    return i;
}

int raw_send(struct contract *t, int fd, size_t bytes, uint32_t seed, uint64_t offset)
{
    while (bytes > 0) {
        uint8_t piece[4096];
        size_t length = bytes < sizeof piece ? bytes : sizeof piece;
        pattern_fill(piece, length, seed, offset);
        ssize_t sent = send(fd, piece, length, MSG_NOSIGNAL);
        if (sent < 0) {
            return note(t, "send");
        }
        bytes -= (size_t)sent;
        offset += (size_t)sent;
    }
    return 0;
}

int raw_recv(struct contract *t, int fd, size_t bytes, uint32_t seed, uint64_t offset)
{
    while (bytes > 0) {
        uint8_t piece[4096];
        size_t length = bytes < sizeof piece ? bytes : sizeof piece;
        ssize_t got = recv(fd, piece, length, 0);
        if (got < 0) {
            return note(t, "recv");
        }
        if (got == 0 || pattern_check(piece, (size_t)got, seed, offset) != (size_t)got) {
            contract_fail(t, __FILE__, __LINE__, "the bytes that were sent", "%s at byte %llu",
                          got ? "a wrong one" : "the end of the stream",
                          (unsigned long long)offset);
            return -1;
        }
        bytes -= (size_t)got;
        offset += (size_t)got;
    }
    return 0;
}

int64_t raw_fill(struct contract *t, int fd)
{
    int64_t total = 0;
    for (;;) {
        uint8_t piece[4096] = {0};
        ssize_t sent = send(fd, piece, sizeof piece, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            total += sent;
            continue;
        }
        if (errno != EAGAIN) {
            return note(t, "send");
        }
        /* TCP may still be moving bytes into the peer's buffer: full is what stays full. */
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        if (poll(&wait, 1, 20) == 0) {
            return total;
        }
    }
}

void raw_reset(struct contract *t, int fd)
{
    reset_on_close(fd);
    close_raw(t, fd);
}

int descriptor_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    return (int)limit.rlim_cur;
}

void set_descriptor_limit(int soft)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)soft;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int open_descriptors(void)
{
    static struct pollfd all[CONTRACT_DESCRIPTORS];
    int limit = descriptor_limit();
    for (int fd = 0; fd < limit; fd++) {
        all[fd] = (struct pollfd){.fd = fd};
    }
    poll(all, (nfds_t)limit, 0); /* one call tells of all: those that are not open are POLLNVAL */
    int count = 0;
    for (int fd = 0; fd < limit; fd++) {
        count += !(all[fd].revents & POLLNVAL);
    }
    return count;
}
