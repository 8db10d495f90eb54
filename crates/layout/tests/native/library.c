// A path through a function of the program and one of the C library.
#include <stdlib.h>

#define KEPT __attribute__((noinline, noclone))

volatile unsigned long drawn;

KEPT void finish(void) { __asm__ volatile("nop"); }
KEPT void draw(void) { drawn += (unsigned long)rand(); }

KEPT void begin(void) {
    draw();
    draw();
    finish();
}

int main(void) {
    draw();
    begin();
    return 0;
}
