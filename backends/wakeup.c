#include "backends/wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

int lm_wakeup_open(struct lm_wakeup *wakeup)
{
#ifdef __linux__
    wakeup->read_fd = wakeup->write_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wakeup->read_fd < 0 ? -errno : 0;
#else
    int ends[2];
    if (pipe(ends)) {
        return -errno;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    wakeup->read_fd = ends[0];
    wakeup->write_fd = ends[1];
    return 0;
#endif
}

void lm_wakeup_close(struct lm_wakeup *wakeup)
{
    close(wakeup->read_fd);
    if (wakeup->write_fd != wakeup->read_fd) {
        close(wakeup->write_fd);
    }
}

void lm_wakeup_signal(const struct lm_wakeup *wakeup)
{
    uint64_t one = 1;
    /* Fails only when it is already full of signals, and then it is readable. */
    while (write(wakeup->write_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

void lm_wakeup_clear(const struct lm_wakeup *wakeup)
{
    uint64_t signals[8];
    while (read(wakeup->read_fd, signals, sizeof(signals)) < 0 && errno == EINTR) {
    }
}
