/* connection.h - connected pairs of sockets, the same for every backend and made before measuring.
 */
#ifndef LM_CONNECTION_H
#define LM_CONNECTION_H

#include <netinet/in.h>
#include <stdbool.h>

/* A connected pair: fds[0] the client's, fds[1] the server's end, in blocking mode. TCP over
 * 127.0.0.1 through a listener on a port the kernel chooses, TCP_NODELAY and SO_LINGER {1,0} on
 * both ends, so that closing leaves nothing in TIME_WAIT; or, when `local`, an AF_UNIX stream pair.
 * 0 or a negative errno. */
int lm_connected_pair(bool local, int fds[2]);

/* A TCP listener on 127.0.0.1, on a port the kernel chooses, in blocking mode, that lets `backlog`
 * connections wait; *address is set to where it listens. Its descriptor, the caller's, or a
 * negative errno. */
int lm_listener(int backlog, struct sockaddr_in *address);

#endif
