#!/bin/sh
# counters_strace.sh WORKLOAD SPEC: does the backend count the system calls that strace sees?
# Exit status: 0, 1 when a figure differs, 77 when it can not be told here.
set -u
workload=$1
spec=$2
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

if ! command -v strace >/dev/null; then
    echo "strace is not installed; install the package strace"
    exit 77
fi
if ! strace -f -o "$directory/probe" true 2>"$directory/why"; then
    echo "strace can not trace here: $(head -n 1 "$directory/why")"
    exit 77
fi

# LeakSanitizer does not work in a traced process, and leaks are looked for in the other modes.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
strace -f -o "$directory/trace" "$workload" "$spec" >"$directory/counted"
status=$?
if [ "$status" -ne 0 ]; then
    cat "$directory/counted"
    exit "$status"
fi

# A call that another thread interrupts is shown as two lines; the second, "resumed", is not counted.
awk '
    BEGIN {
        split("sendto=send sendmsg=send recvfrom=recv recvmsg=recv accept=accept accept4=accept " \
              "connect=connect close=close setsockopt=setsockopt getsockopt=getsockopt " \
              "fcntl=fcntl fcntl64=fcntl ioctl=ioctl poll=poll ppoll=poll " \
              "epoll_wait=epoll_wait epoll_pwait=epoll_wait epoll_pwait2=epoll_wait " \
              "epoll_ctl=epoll_ctl io_uring_enter=io_uring_enter io_uring_register=io_uring_register " \
              "timerfd_settime=timerfd_settime read=read write=write", pairs, " ")
        for (i in pairs) {
            split(pairs[i], pair, "=")
            kind[pair[1]] = pair[2]
        }
    }
    FILENAME == ARGV[1] {
        split($0, pair, "=")
        counted[pair[1]] = pair[2]
        next
    }
    /loopmark:end/ { open = 0; marks++ }
    open && !/resumed>/ {
        name = $2
        sub(/\(.*/, "", name)
        if (name in kind) seen[kind[name]]++
    }
    /loopmark:begin/ { open = 1; marks++ }
    END {
        for (name in counted) {
            wrong = counted[name] != seen[name] + 0
            if (wrong || counted[name] > 0)
                printf "%-17s counted %7d, strace saw %7d%s\n", name, counted[name], seen[name],
                       wrong ? "   <-- differs" : ""
            failed += wrong
        }
        if (marks != 2) { print "the trace does not hold both marks"; failed++ }
        exit failed > 0
    }
' "$directory/counted" "$directory/trace"
