/* A handler for Warmcore in C: numbers the requests of each flow, and sends each back behind its number.
 *
 *     cc -O2 -shared -fPIC -I include -o libnumbering.so examples/handlers/numbering.c
 *     warmcore run --driver udp-socket --rate 5000 --handler ./libnumbering.so
 */
#include "warmcore_handler.h"

#include <stdlib.h>
#include <string.h>

struct flow {
    uint64_t requests;
};

uint32_t warmcore_handler_version(void) {
    return WARMCORE_HANDLER_VERSION;
}

void *warmcore_flow_open(const struct warmcore_peer *peer) {
    (void)peer;
    return calloc(1, sizeof(struct flow));
}

size_t warmcore_flow_request(void *state, const void *request, size_t length, void *reply, size_t capacity) {
    struct flow *flow = state;
    /* No memory, or no room for the number: no reply. */
    if (flow == NULL || capacity < sizeof flow->requests) {
        return 0;
    }
    flow->requests += 1;
    memcpy(reply, &flow->requests, sizeof flow->requests);
    if (length > capacity - sizeof flow->requests) {
        length = capacity - sizeof flow->requests;
    }
    memcpy((char *)reply + sizeof flow->requests, request, length);
    return sizeof flow->requests + length;
}

void warmcore_flow_close(void *flow) {
    free(flow);
}
