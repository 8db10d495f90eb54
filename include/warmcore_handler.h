/* A request handler for Warmcore: a shared library with the functions below.
 *
 * Build it with `cc -O2 -shared -fPIC -o libmine.so mine.c`, and give it to `warmcore calibrate --path udp-socket`, `run` or
 * `compare --driver udp-socket` as `--handler ./libmine.so`. The server that calls it runs in a process of its own.
 *
 * Several threads call these functions at once, but never two for the same flow. A flow may be handled by one thread after
 * another, so its state must not live in thread-local variables.
 */
#ifndef WARMCORE_HANDLER_H
#define WARMCORE_HANDLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define WARMCORE_HANDLER_VERSION 1

/* Who sends the requests of a flow. */
struct warmcore_peer {
    uint8_t address[16]; /* IPv6, or IPv4 as ::ffff:a.b.c.d */
    uint16_t port;       /* in the order of this machine */
};

/* Returns WARMCORE_HANDLER_VERSION. */
uint32_t warmcore_handler_version(void);

/* A flow begins. Returns its state, which may be NULL. A library without this function has flows without state. */
void *warmcore_flow_open(const struct warmcore_peer *peer);

/* Handles a request of `length` bytes. Writes the reply, of at most `capacity` bytes, and returns its length; 0 for none.
 * Neither pointer is valid after the call. */
size_t warmcore_flow_request(void *flow, const void *request, size_t length, void *reply, size_t capacity);

/* A flow ends: the library frees its state. May be left out. */
void warmcore_flow_close(void *flow);

#ifdef __cplusplus
}
#endif

#endif
