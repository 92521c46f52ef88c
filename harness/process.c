#include "harness/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#elif defined(__FreeBSD__)
#include <sys/sysctl.h>
#endif

#include "backends/clock.h"

/* What a signal handler may touch. The pipe wakes poll, so that no signal is slept through. */
static volatile sig_atomic_t interrupts;
static int wake_pipe[2] = {-1, -1};

static void on_signal(int number)
{
    static const char notice[] =
        "\nloopmark: ending after what is under way; interrupt again to drop it and end at once\n";
    int saved = errno;
    if (number != SIGCHLD && ++interrupts == 1 &&
        write(STDERR_FILENO, notice, sizeof(notice) - 1) < 0) {
        errno = saved;
    }
    /* A full pipe wakes poll just as well. */
    if (write(wake_pipe[1], "", 1) < 0) {
        errno = saved;
    }
    errno = saved;
}

static int set_flags(int fd, bool nonblocking)
{
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        return -errno;
    }
    if (nonblocking && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
        return -errno;
    }
    return 0;
}

/* A pipe that no child inherits, with a reading end that does not block. The descriptors are above
 * those the child is given, so that dup2 in the child never meets one of them. */
static int open_pipe(int ends[2])
{
    int raw[2];
    if (pipe(raw) < 0) {
        return -errno;
    }
    int error = 0;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD, LM_PROCESS_RESULT_FD + 1);
        if (ends[i] < 0 && error == 0) {
            error = -errno;
        }
        close(raw[i]);
    }
    if (error == 0) {
        error = set_flags(ends[0], true);
    }
    if (error == 0) {
        error = set_flags(ends[1], false);
    }
    for (int i = 0; i < 2 && error != 0; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
        ends[i] = -1;
    }
    return error;
}

int lm_process_catch_signals(void)
{
    int error = open_pipe(wake_pipe);
    if (error == 0) {
        error = set_flags(wake_pipe[1], true);
    }
    if (error != 0) {
        return error;
    }
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) < 0 ||
        (hangup.sa_handler != SIG_IGN && sigaction(SIGHUP, &action, NULL) < 0)) {
        return -errno;
    }
    if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0 ||
        sigaction(SIGCHLD, &action, NULL) < 0 || sigaction(SIGPIPE, &ignore, NULL) < 0 ||
        sigaction(SIGXFSZ, &ignore, NULL) < 0) {
        return -errno;
    }
    return 0;
}

unsigned lm_process_interrupts(void)
{
    return (unsigned)interrupts;
}

/* The file to execute. On Linux the link follows the running program even when its file has been
 * replaced by a new build meanwhile: all samples of a run come from one binary. */
static const char *program_path(char *buffer, size_t buffer_bytes)
{
#if defined(__linux__)
    (void)buffer, (void)buffer_bytes;
    return "/proc/self/exe";
#elif defined(__APPLE__)
    uint32_t size = (uint32_t)buffer_bytes;
    return _NSGetExecutablePath(buffer, &size) == 0 ? buffer : NULL;
#elif defined(__FreeBSD__)
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
    return sysctl(name, 4, buffer, &buffer_bytes, NULL, 0) == 0 ? buffer : NULL;
#else
#error "name the way to this program's own file on this system"
#endif
}

struct child {
    pid_t pid;
    int result_fd, output_fd; /* reading ends; -1 once at their end */
    int status_fd;            /* carries errno when exec fails; empty when it succeeds */
};

/* Between fork and exec: only calls that are safe after fork. Never returns. */
static void become_child(const char *path, char *const *arguments, int result, int output,
                         int status)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0 && setpgid(0, 0) == 0 && dup2(null, STDIN_FILENO) >= 0 &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0 &&
        dup2(result, LM_PROCESS_RESULT_FD) >= 0 && sigaction(SIGPIPE, &standard, NULL) == 0 &&
        sigaction(SIGXFSZ, &standard, NULL) == 0) {
        if (null > LM_PROCESS_RESULT_FD) {
            close(null);
        }
        execv(path, arguments);
    }
    int error = errno;
    if (write(status, &error, sizeof(error)) < 0) {
        _exit(126);
    }
    _exit(127);
}

static void close_ends(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
}

/* Reads the errno of a failed exec; 0 when the pipe closed because exec succeeded. */
static int exec_error(int status_fd)
{
    int error = 0;
    struct pollfd wait = {.fd = status_fd, .events = POLLIN};
    while (poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
    ssize_t got = read(status_fd, &error, sizeof(error));
    return got == (ssize_t)sizeof(error) ? -error : 0;
}

static int start(char *const *arguments, struct child *child)
{
    char buffer[4096];
    const char *path = program_path(buffer, sizeof(buffer));
    int result[2] = {-1, -1}, output[2] = {-1, -1}, status[2] = {-1, -1};
    int error = path == NULL ? -ENOENT : open_pipe(result);
    if (error == 0) {
        error = open_pipe(output);
    }
    if (error == 0) {
        error = open_pipe(status);
    }
    if (error != 0) {
        goto out;
    }
    child->pid = fork();
    if (child->pid == 0) {
        become_child(path, arguments, result[1], output[1], status[1]);
    }
    if (child->pid < 0) {
        error = -errno;
        goto out;
    }
    /* Also here, so that the group exists before anything may have to be killed. */
    setpgid(child->pid, child->pid);
    close(status[1]);
    status[1] = -1;
    error = exec_error(status[0]);
    if (error != 0) {
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        goto out;
    }
    child->result_fd = result[0];
    child->output_fd = output[0];
    result[0] = output[0] = -1;
out:
    close_ends(result);
    close_ends(output);
    close_ends(status);
    return error;
}

static void keep_result(struct lm_process_outcome *outcome, const char *bytes, size_t count)
{
    size_t room = LM_PROCESS_RESULT_BYTES - outcome->result_bytes;
    count = count < room ? count : room;
    memcpy(outcome->result + outcome->result_bytes, bytes, count);
    outcome->result_bytes += count;
    outcome->result[outcome->result_bytes] = '\0';
}

static void keep_output(struct lm_process_outcome *outcome, const char *bytes, size_t count)
{
    size_t used = strlen(outcome->output);
    if (count > LM_PROCESS_OUTPUT_BYTES) {
        bytes += count - LM_PROCESS_OUTPUT_BYTES;
        count = LM_PROCESS_OUTPUT_BYTES;
        outcome->output_cut = true;
    }
    if (used + count > LM_PROCESS_OUTPUT_BYTES) {
        size_t drop = used + count - LM_PROCESS_OUTPUT_BYTES;
        memmove(outcome->output, outcome->output + drop, used - drop);
        used -= drop;
        outcome->output_cut = true;
    }
    for (size_t i = 0; i < count; i++) {
        /* A 0 byte would end the text early. */
        outcome->output[used + i] = bytes[i] != '\0' ? bytes[i] : ' ';
    }
    outcome->output[used + count] = '\0';
}

/* Reads per look at a pipe: a full pipe's content, so that after the child's end all is seen, and
 * not more, so that a child that never stops writing does not outlive its time limit. */
#define MAX_READS 64

/* Reads what is there, without blocking. Closes *fd and sets it to -1 at its end. */
static void drain(int *fd, void (*keep)(struct lm_process_outcome *, const char *, size_t),
                  struct lm_process_outcome *outcome)
{
    char bytes[4096];
    for (int reads = 0; *fd >= 0 && reads < MAX_READS; reads++) {
        ssize_t got = read(*fd, bytes, sizeof(bytes));
        if (got > 0) {
            keep(outcome, bytes, (size_t)got);
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            close(*fd);
            *fd = -1;
        }
    }
}

static void drain_all(struct child *child, struct lm_process_outcome *outcome)
{
    drain(&child->result_fd, keep_result, outcome);
    drain(&child->output_fd, keep_output, outcome);
}

/* Waits for output, a signal or the deadline. */
static void wait_for_event(const struct child *child, uint64_t deadline_ns)
{
    uint64_t now_ns = lm_clock_ns();
    /* Rounded up: waking before the deadline would spin until it. */
    uint64_t left_ms = now_ns < deadline_ns ? (deadline_ns - now_ns) / 1000000u + 1 : 0;
    struct pollfd fds[] = {{.fd = wake_pipe[0], .events = POLLIN},
                           {.fd = child->result_fd, .events = POLLIN},
                           {.fd = child->output_fd, .events = POLLIN}};
    poll(fds, 3, left_ms > 60000 ? 60000 : (int)left_ms);
    char bytes[64];
    while (read(wake_pipe[0], bytes, sizeof(bytes)) > 0) {
    }
}

/* Has the child ended? It stays a zombie, so that its group's number stays taken. */
static bool has_ended(pid_t pid)
{
    siginfo_t information = {.si_pid = 0};
    int error = waitid(P_PID, (id_t)pid, &information, WEXITED | WNOHANG | WNOWAIT);
    return (error == 0 && information.si_pid == pid) || (error < 0 && errno == ECHILD);
}

/* Kills what is left of the group and takes the child's status. */
static void reap(const struct child *child, struct lm_process_outcome *outcome)
{
    int status = 0;
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (outcome->end == LM_PROCESS_TIMED_OUT || outcome->end == LM_PROCESS_INTERRUPTED) {
        return;
    }
    outcome->end = WIFSIGNALED(status) ? LM_PROCESS_SIGNALLED : LM_PROCESS_EXITED;
    outcome->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

int lm_process_run(char *const *arguments, double timeout_s, struct lm_process_outcome *outcome)
{
    *outcome = (struct lm_process_outcome){.end = LM_PROCESS_EXITED};
    outcome->result = malloc(LM_PROCESS_RESULT_BYTES + 1);
    if (outcome->result == NULL) {
        return -ENOMEM;
    }
    outcome->result[0] = '\0';
    struct child child = {.pid = -1};
    uint64_t start_ns = lm_clock_ns();
    int error = start(arguments, &child);
    if (error != 0) {
        lm_process_outcome_free(outcome);
        return error;
    }
    uint64_t deadline_ns = start_ns + (uint64_t)(timeout_s * 1e9);
    while (!has_ended(child.pid)) {
        if (lm_process_interrupts() >= 2) {
            outcome->end = LM_PROCESS_INTERRUPTED;
            break;
        }
        if (lm_clock_ns() >= deadline_ns) {
            outcome->end = LM_PROCESS_TIMED_OUT;
            break;
        }
        wait_for_event(&child, deadline_ns);
        drain_all(&child, outcome);
    }
    reap(&child, outcome);
    drain_all(&child, outcome);
    if (child.result_fd >= 0) {
        close(child.result_fd);
    }
    if (child.output_fd >= 0) {
        close(child.output_fd);
    }
    outcome->seconds = (double)(lm_clock_ns() - start_ns) / 1e9;
    return 0;
}

const char *lm_process_remedy(int error)
{
    switch (error) {
    case -EMFILE:
    case -ENFILE:
        return "raise the limit of open files: ulimit -n 1024";
    case -EAGAIN:
        return "raise the limit of processes: ulimit -u, or end some";
    case -ENOENT:
    case -EACCES:
        return "see that /proc and /dev/null are there and may be used";
    default:
        return "make room for processes and memory";
    }
}

void lm_process_outcome_free(struct lm_process_outcome *outcome)
{
    free(outcome->result);
    outcome->result = NULL;
}

#if defined(__linux__)

int lm_process_die_with_parent(int64_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return -errno;
    }
    /* The parent may have died before the call. */
    return getppid() == (pid_t)parent ? 0 : -ESRCH;
}

#else

/* Without a kernel that tells, a thread looks once a second: that costs the measuring nothing. */
static void *watch_parent(void *argument)
{
    const pid_t parent = *(const pid_t *)argument;
    while (getppid() == parent) {
        sleep(1);
    }
    _exit(1);
}

int lm_process_die_with_parent(int64_t parent)
{
    static pid_t watched;
    pthread_t thread;
    watched = (pid_t)parent;
    if (getppid() != watched) {
        return -ESRCH;
    }
    int error = pthread_create(&thread, NULL, watch_parent, &watched);
    return error != 0 ? -error : -pthread_detach(thread);
}

#endif
