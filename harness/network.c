#include "harness/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Column `name` of a file that has a line of names and then one of values, both after `prefix`. */
static bool find_column(FILE *file, const char *prefix, const char *name, uint64_t *value)
{
    static char names[8192], values[8192];
    rewind(file);
    while (fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file)) {
        char *next_name, *next_value;
        if (strncmp(names, prefix, strlen(prefix)) != 0) {
            continue;
        }
        char *title = strtok_r(names, " \n", &next_name);
        char *digits = strtok_r(values, " \n", &next_value);
        while (title && digits && strcmp(title, name) != 0) {
            title = strtok_r(NULL, " \n", &next_name);
            digits = strtok_r(NULL, " \n", &next_value);
        }
        *value = title && digits ? strtoull(digits, NULL, 10) : 0;
        return title && digits;
    }
    return false;
}

static bool read_time_wait(uint64_t *count)
{
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/net/sockstat", "r");
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *at = strncmp(line, "TCP:", 4) == 0 ? strstr(line, " tw ") : NULL;
        found = at != NULL;
        *count = found ? strtoull(at + 4, NULL, 10) : 0;
    }
    if (file) {
        fclose(file);
    }
    return found;
}

bool lm_network_read(struct lm_network *network)
{
    FILE *file = fopen("/proc/net/netstat", "r");
    bool fine = file &&
                find_column(file, "TcpExt:", "ListenOverflows", &network->listen_overflows) &&
                find_column(file, "TcpExt:", "ListenDrops", &network->listen_drops) &&
                find_column(file, "TcpExt:", "TCPSynRetrans", &network->syn_retransmits);
    if (file) {
        fclose(file);
    }
    return fine && read_time_wait(&network->time_wait);
}

bool lm_network_finish(struct lm_network *network)
{
    struct lm_network end;
    if (!lm_network_read(&end)) {
        return false;
    }
    network->listen_overflows = end.listen_overflows - network->listen_overflows;
    network->listen_drops = end.listen_drops - network->listen_drops;
    network->syn_retransmits = end.syn_retransmits - network->syn_retransmits;
    return true;
}
