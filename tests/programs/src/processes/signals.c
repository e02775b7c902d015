/*
 * Signals that a program sends itself, or that its faults and its timer send, and what handles them. Prints what happened;
 * exit code 0.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t got, from, faults, alarms, threads;
static sigjmp_buf back;

static __attribute__((noinline)) void on_user(int number)
{
    got += number;
}

static void on_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    got += number;
    from = info->si_pid == getpid() ? info->si_code : 1000;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    faults += number == SIGSEGV && info->si_addr == (void *)16;
    siglongjmp(back, 1);
}

/* Continues after the instruction, a `ebreak` of two bytes or `unimp` of four. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *where = context;
    faults += 100;
    where->uc_mcontext.__gregs[REG_PC] += number == SIGTRAP ? 2 : 4;
    (void)info;
}

static __attribute__((noinline)) int deep(int depth)
{
    volatile char room[1000];
    room[0] = (char)depth;
    return deep(depth + 1) + room[0];
}

static void on_overflow(int number)
{
    (void)number;
    siglongjmp(back, 2);
}

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void on_thread(int number)
{
    (void)number;
    threads++;
}

static void *wait_for_it(void *unused)
{
    while (threads == 0)
        usleep(100);
    return unused;
}

static void handle(int number, int flags, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (sigaction(number, &action, NULL) != 0)
        exit(2);
}

static void handle_info(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(number, &action, NULL) != 0)
        exit(2);
}

int main(void)
{
    sigset_t set, before, waiting;
    signal(SIGUSR1, on_user);
    raise(SIGUSR1);
    printf("raise: %d\n", got);
    kill(getpid(), SIGUSR1);
    printf("kill: %d\n", got);

    handle_info(SIGUSR2, on_info);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &before);
    kill(getpid(), SIGUSR2);
    kill(getpid(), SIGUSR2);
    sigpending(&waiting);
    printf("blocked: %d, pending %d\n", got, sigismember(&waiting, SIGUSR2));
    sigprocmask(SIG_SETMASK, &before, NULL);
    printf("delivered: %d, code %d\n", got, from);
    sigprocmask(SIG_BLOCK, &set, &before);
    kill(getpid(), SIGUSR2);
    int taken = sigwaitinfo(&set, NULL);
    struct timespec at_once = {0, 1000};
    int none = sigtimedwait(&set, NULL, &at_once);
    printf("taken: %d, then %d %s, handled %d\n", taken, none, strerror(errno), got);
    sigprocmask(SIG_SETMASK, &before, NULL);

    handle_info(SIGSEGV, on_fault);
    if (sigsetjmp(back, 1) == 0)
        *(volatile int *)16 = 1;
    if (sigsetjmp(back, 1) == 0)
        got += *(volatile int *)16;
    printf("faults: %d\n", faults);
    handle_info(SIGTRAP, on_trap);
    handle_info(SIGILL, on_trap);
    __asm__ volatile(".option push\n.option arch, +c\nc.ebreak\n.option pop");
    __asm__ volatile(".word 0xc0001073");
    printf("traps: %d\n", faults);

    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    handle(SIGSEGV, SA_ONSTACK, on_overflow);
    int overflow = sigsetjmp(back, 1);
    if (overflow == 0)
        deep(0);
    printf("overflow: %d\n", overflow);

    handle(SIGALRM, SA_RESTART, on_alarm);
    struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (alarms < 3)
        ;
    setitimer(ITIMER_REAL, &never, NULL);
    alarms = 0;
    alarm(1);
    int paused = pause();
    printf("pause: %d %s, %d\n", paused, strerror(errno), alarms);
    alarm(1);
    struct timespec long_time = {100, 0};
    int slept = nanosleep(&long_time, &long_time);
    printf("sleep: %d %s, %d\n", slept, strerror(errno), alarms);

    handle(SIGUSR1, 0, on_thread);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    usleep(1000);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    printf("thread: %d\n", threads);

    pthread_create(&thread, NULL, (void *(*)(void *))sleep, (void *)1000);
    usleep(1000);
    pthread_cancel(thread);
    void *result = NULL;
    pthread_join(thread, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);

    handle(SIGUSR1, SA_RESETHAND, on_user);
    raise(SIGUSR1);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    printf("reset: %d\n", now.sa_handler == SIG_DFL);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR2);
    printf("ignored\n");
    return 0;
}
