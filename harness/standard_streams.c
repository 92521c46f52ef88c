#include "harness/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/commands.h"

int lm_standard_streams_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            continue;
        }
        /* The lowest free number is taken, and those below are held by now. */
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
            return -errno;
        }
    }
    return 0;
}

int lm_standard_streams_end(int code)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code == LM_EXIT_USAGE) {
        return code;
    }
    /* The cause of an earlier failure is no longer known. */
    fprintf(stderr, "loopmark: standard output can not be written%s%s; print to another place\n",
            errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
    return LM_EXIT_USAGE;
}
