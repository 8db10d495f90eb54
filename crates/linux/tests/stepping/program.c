// What a traced program may do around its markers, one way for each first argument.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARKER(name) __attribute__((noinline)) void name(void) { __asm__ volatile("nop"); }
MARKER(begin)
MARKER(finish)
MARKER(never)
MARKER(handled)

volatile long object;
volatile long sum;
extern char **environ;

__attribute__((noinline)) void pass(void) {
    begin();
    for (int i = 0; i < 10; i++) sum += i;
    finish();
}

static void on_signal(int number) { (void)number; handled(); }

static void *in_thread(void *argument) {
    (void)argument;
    for (int i = 0; i < 200; i++) pass();
    return 0;
}

static void *store_in_thread(void *argument) {
    (void)argument;
    object = 7;
    sum += 1;
    object = 8;
    return 0;
}

static void *half(void *argument) {
    (void)argument;
    begin();
    return 0;
}

static char from[4096], to[4096];

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "passes";
    pthread_t threads[4];
    if (!strcmp(how, "passes")) {
        for (int i = 0; i < 5; i++) pass();
    } else if (!strcmp(how, "threads")) {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, in_thread, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    } else if (!strcmp(how, "copy")) {
        begin();
        void *target = to, *source = from;
        long length = sizeof from;
        __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(length) : : "memory");
        target = to, length = 3;
        __asm__ volatile("rep stosb" : "+D"(target), "+c"(length) : "a"(1) : "memory");
        finish();
    } else if (!strcmp(how, "signal")) {
        signal(SIGUSR1, on_signal);
        begin();
        raise(SIGUSR1);
        finish();
    } else if (!strcmp(how, "interrupted")) {
        // The alarm is let in by the wait alone: however slow the steps before are, it interrupts that.
        sigset_t alarm, before;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        sigprocmask(SIG_BLOCK, &alarm, &before);
        signal(SIGALRM, on_signal);
        begin();
        ualarm(20000, 0);
        sigsuspend(&before);
        finish();
    } else if (!strcmp(how, "restarted")) {
        pid_t child = fork();
        if (!child) {
            usleep(50000);
            _exit(0);
        }
        struct timespec pause = {0, 200000000};
        begin();
        int failed = nanosleep(&pause, 0);
        finish();
        return failed ? 1 : 0;
    } else if (!strcmp(how, "crash")) {
        begin();
        *(volatile int *)0 = 1;
        finish();
    } else if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (!child) {
            pass();
            _exit(3);
        }
        int status;
        waitpid(child, &status, 0);
        char *command[] = {"true", 0};
        posix_spawnp(&child, "true", 0, 0, command, environ);
        int second;
        waitpid(child, &second, 0);
        pass();
        return WEXITSTATUS(status) + WEXITSTATUS(second);
    } else if (!strcmp(how, "fork-within")) {
        begin();
        pid_t child = fork();
        if (!child) {
            pass();
            _exit(3);
        }
        int status;
        waitpid(child, &status, 0);
        finish();
        return WEXITSTATUS(status);
    } else if (!strcmp(how, "thread-within")) {
        begin();
        pthread_create(&threads[0], 0, in_thread, 0);
        pthread_join(threads[0], 0);
        finish();
    } else if (!strcmp(how, "half")) {
        pthread_create(&threads[0], 0, half, 0);
        pthread_join(threads[0], 0);
        sleep(100);
    } else if (!strcmp(how, "store")) {
        pthread_create(&threads[0], 0, store_in_thread, 0);
        pthread_join(threads[0], 0);
    } else if (!strcmp(how, "exec")) {
        char *command[] = {"true", 0};
        execvp("true", command);
    } else if (!strcmp(how, "again")) {
        char *command[] = {arguments[0], "passes", 0};
        execv(arguments[0], command);
    } else if (!strcmp(how, "trap")) {
        signal(SIGTRAP, SIG_IGN);
        begin();
        raise(SIGTRAP);
        finish();
        raise(SIGTRAP);
    } else if (!strcmp(how, "clock")) {
        begin();
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        finish();
    } else if (!strcmp(how, "reverse")) {
        finish();
        begin();
        return 4;
    } else if (!strcmp(how, "flags")) {
        begin();
        __asm__ volatile("pushf; pop %%rax; mov %%rax, %0" : "=m"(object) : : "rax", "memory");
        finish();
        __asm__ volatile("push %0; popf; nop" : : "m"(object) : "memory", "cc");
    } else if (!strcmp(how, "sleep")) {
        sleep(100);
    } else if (!strcmp(how, "loop")) {
        begin();
        for (;;) sum++;
    }
    return 0;
}
