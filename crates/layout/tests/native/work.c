// A path with instructions of many shapes, all of them our own: nothing depends on the processor's features.
// Locked instructions are left out: valgrind makes of each a load and a compare-and-exchange.
#include <stdint.h>

struct node {
    struct node *next;
    uint64_t value;
};

static struct node nodes[16];
static char from[300], to[300];
static uint64_t counts[8];
static double reals[8] = {1, 2, 3, 4, 5, 6, 7, 8};
uint64_t requests;

#define KEPT __attribute__((noinline, noclone))

KEPT uint64_t twice(uint64_t value) { return 2 * value; }
KEPT uint64_t thrice(uint64_t value) { return 3 * value; }
static uint64_t (*volatile operations[2])(uint64_t) = {twice, thrice};

KEPT uint64_t recurse(uint64_t depth) { return depth < 2 ? depth : recurse(depth - 1) + recurse(depth - 2); }

KEPT uint64_t walk(const struct node *node) {
    uint64_t sum = 0;
    for (; node; node = node->next) sum += operations[node->value & 1](node->value);
    return sum;
}

KEPT void copy(void) {
    void *target = to, *source = from;
    uint64_t length = sizeof from;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(length) : : "memory");
    target = to, length = 5;
    __asm__ volatile("rep stosq" : "+D"(target), "+c"(length) : "a"(1ul) : "memory");
}

KEPT void count(uint64_t value) {
    counts[value % 8] += value / 7;
    requests++;
    for (int i = 0; i < 8; i++) reals[i] = reals[i] * 1.5 + reals[7 - i];
}

KEPT void finish(void) { __asm__ volatile("nop"); }

KEPT void begin(void) {
    volatile uint64_t local[4] = {1, 2, 3, 4};
    count(walk(nodes) + recurse(6) + local[3]);
    copy();
    __asm__ volatile("push %0; pop %0" : "+m"(requests) : : "memory");
    finish();
}

int main(void) {
    for (int i = 0; i < 16; i++) {
        nodes[i].next = i < 15 ? &nodes[i + 1] : 0;
        nodes[i].value = i * i;
    }
    begin();
    begin();
    return 0;
}
