/* refuse_io_uring ERRNO PROGRAM [ARGUMENT...]: runs a program in which io_uring_setup fails with
 * EPERM or ENOSYS, as container runtimes (Docker's default seccomp profile) and old kernels do. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The test then is skipped, as tests/CMakeLists.txt says of this exit code. */
#define CANNOT_FILTER 77

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: refuse_io_uring EPERM|ENOSYS PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    unsigned error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        fprintf(stderr, "a seccomp filter can not be set here: %s\n", strerror(errno));
        return CANNOT_FILTER;
    }
    execv(argv[2], argv + 2);
    fprintf(stderr, "%s can not be run: %s\n", argv[2], strerror(errno));
    return 2;
}
