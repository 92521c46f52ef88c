/* What Linux tells of ports, listen queue and firewall, in /proc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/environment_files.h"
#include "harness/headroom.h"

enum {
    PORTS = 65536
};

static bool read_figure(const char *path, uint64_t *figure)
{
    char text[64];
    if (!lm_read_text(text, sizeof(text), "", "%s", path)) {
        return false;
    }
    *figure = strtoull(text, NULL, 10);
    return true;
}

/* Takes away ports of a list such as "8080,9000-9010". */
static void reserve(bool usable[PORTS])
{
    char list[4096];
    char *next = list;
    if (!lm_read_text(list, sizeof(list), "", "/proc/sys/net/ipv4/ip_local_reserved_ports")) {
        return;
    }
    while (*next) {
        char *end;
        unsigned long first = strtoul(next, &end, 10), last = first;
        if (end == next) {
            return;
        }
        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        for (unsigned long port = first; port <= last && port < PORTS; port++) {
            usable[port] = false;
        }
        next = *end == ',' ? end + 1 : end;
    }
}

/* Counts each usable port that a socket of this table has, once: it is then no longer usable. */
static uint64_t count_used(const char *path, bool usable[PORTS])
{
    char line[512];
    uint64_t count = 0;
    FILE *table = fopen(path, "re");
    while (table && fgets(line, sizeof(line), table)) {
        unsigned port;
        if (sscanf(line, " %*[0-9]: %*[0-9A-F]:%x", &port) == 1 && port < PORTS && usable[port]) {
            usable[port] = false;
            count++;
        }
    }
    if (table) {
        fclose(table);
    }
    return count;
}

static void read_ports(struct lm_headroom *headroom)
{
    static bool usable[PORTS];
    char text[64];
    unsigned first, last;
    if (!lm_read_text(text, sizeof(text), "", "/proc/sys/net/ipv4/ip_local_port_range") ||
        sscanf(text, "%u %u", &first, &last) != 2 || last >= PORTS) {
        return;
    }
    for (unsigned port = 0; port < PORTS; port++) {
        usable[port] = port >= first && port <= last;
    }
    reserve(usable);
    headroom->ports = 0;
    for (unsigned port = first; port <= last; port++) {
        headroom->ports += usable[port];
    }
    headroom->used_ports = count_used("/proc/net/tcp", usable);
    headroom->used_ports += count_used("/proc/net/tcp6", usable);
}

void lm_headroom_read_network(struct lm_headroom *headroom)
{
    read_figure("/proc/sys/net/core/somaxconn", &headroom->backlog);
    read_figure("/proc/sys/net/netfilter/nf_conntrack_count", &headroom->tracked);
    read_figure("/proc/sys/net/netfilter/nf_conntrack_max", &headroom->tracked_most);
    read_ports(headroom);
}
