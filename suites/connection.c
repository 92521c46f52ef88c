#include "suites/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int set_live_options(int fd)
{
    int on = 1;
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset))) {
        return -errno;
    }
    close_on_exec(fd);
    return 0;
}

int lm_listener(int backlog, struct sockaddr_in *address)
{
    socklen_t address_bytes = sizeof(*address);
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) {
        return -errno;
    }
    if (bind(listener, (struct sockaddr *)address, sizeof(*address)) || listen(listener, backlog) ||
        getsockname(listener, (struct sockaddr *)address, &address_bytes)) {
        int result = -errno;
        close(listener);
        return result;
    }
    close_on_exec(listener);
    return listener;
}

static int tcp_pair(int fds[2])
{
    struct sockaddr_in address;
    int result = 0;
    int listener = lm_listener(1, &address);
    if (listener < 0) {
        return listener;
    }
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    fds[1] = -1;
    if (fds[0] < 0 || connect(fds[0], (struct sockaddr *)&address, sizeof(address)) ||
        (fds[1] = accept(listener, NULL, NULL)) < 0) {
        result = -errno;
    }
    close(listener);
    for (int end = 0; end < 2 && !result; end++) {
        result = set_live_options(fds[end]);
    }
    for (int end = 0; end < 2 && result; end++) {
        if (fds[end] >= 0) {
            close(fds[end]);
        }
    }
    return result;
}

int lm_connected_pair(bool local, int fds[2])
{
    if (!local) {
        return tcp_pair(fds);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
        return -errno;
    }
    close_on_exec(fds[0]);
    close_on_exec(fds[1]);
    return 0;
}
