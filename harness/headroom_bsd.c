/* What BSD systems and macOS tell of ports and listen queue, by sysctl. */
#include <sys/types.h>

#include <sys/sysctl.h>

#include "harness/headroom.h"

static bool read_figure(const char *name, uint64_t *figure)
{
    int value = 0;
    size_t bytes = sizeof(value);
    if (sysctlbyname(name, &value, &bytes, NULL, 0) != 0 || bytes != sizeof(value) || value < 0) {
        return false;
    }
    *figure = (uint64_t)value;
    return true;
}

void lm_headroom_read_network(struct lm_headroom *headroom)
{
    uint64_t first, last;
    if (!read_figure("kern.ipc.somaxconn", &headroom->backlog)) {
        read_figure("kern.ipc.soacceptqueue", &headroom->backlog); /* FreeBSD */
    }
    if (read_figure("net.inet.ip.portrange.first", &first) &&
        read_figure("net.inet.ip.portrange.last", &last)) {
        headroom->ports = (first < last ? last - first : first - last) + 1;
    }
    /* Every TCP socket, TIME_WAIT included; some have no port of that range. */
    read_figure("net.inet.tcp.pcbcount", &headroom->used_ports);
}
