// Three privilege modes. Machine mode opens memory, delegates some traps and starts the kernel in
// supervisor mode; the kernel runs three tasks in user mode, which make system calls, are switched
// by a timer and execute what they may not.

#include "rt.h"

#define MTIMECMP ((volatile uint64_t *)0x2004000)
#define MTIME ((volatile uint64_t *)0x200bff8)

#ifdef CVA6
enum { TASKS = 3, SLICE = 3000 }; // in cycles, and a switch takes hundreds
#else
enum { TASKS = 3, SLICE = 300 };
#endif
enum { ILLEGAL = 2, BREAKPOINT = 3, ECALL_U = 8, ECALL_S = 9 };
enum { STIP = 1 << 5, MTIP = 1 << 7 };
#define INTERRUPT (1ul << 63)

// System calls of user mode, and calls of the kernel to machine mode; the number is in a7.
enum { EXIT, YIELD, WRITE, NUMBER, HANDLER, RESUME };
enum { STOP, ALARM, BREAKPOINTS };

struct task;

// In user.S.
extern char machine_trap[], kernel_trap[];
void enter(void (*function)(void)) __attribute__((noreturn));
void resume(struct task *task) __attribute__((noreturn));
long call(long a0, long a1, long number);

// Registers that a function may change.
#define CALLER_SAVED                                                                               \
    "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"

// --- machine mode -------------------------------------------------------------------------------

struct saved {
    unsigned long ra, t[7], a[8];
};

static unsigned long breakpoints;

// Called by machine_trap.
void machine(struct saved *saved)
{
    unsigned long cause = READ_CSR(mcause);
    unsigned long pc = READ_CSR(mepc);
    if (cause == (INTERRUPT | 7)) { // the timer: passed on to the kernel
        CLEAR_CSR(mie, MTIP);
        SET_CSR(mip, STIP);
    } else if (cause == ECALL_S) {
        switch (saved->a[7]) {
        case STOP:
            finish(saved->a[0]);
        case ALARM:
            CLEAR_CSR(mip, STIP);
            *MTIMECMP = *MTIME + saved->a[0];
            SET_CSR(mie, MTIP);
            break;
        case BREAKPOINTS:
            saved->a[0] = breakpoints;
            break;
        }
        WRITE_CSR(mepc, pc + 4);
    } else if (cause == BREAKPOINT) { // not delegated
        breakpoints++;
        WRITE_CSR(mepc, pc + ((*(uint16_t *)pc & 3) == 3 ? 4 : 2));
#ifdef CVA6
    } else if (cause == ILLEGAL) { // which this core does not delegate
        WRITE_CSR(scause, cause);
        WRITE_CSR(sepc, pc);
        WRITE_CSR(mepc, READ_CSR(stvec));
        CLEAR_CSR(mstatus, 1 << 8 | 1 << 5 | 1 << 1); // from user mode, without interrupts
        SET_CSR(mstatus, 1 << 11);
#endif
    } else {
        finish(64 + cause % 64);
    }
}

static void kernel(void);

int user(void)
{
    static uint64_t stack[128];
    WRITE_CSR(mtvec, machine_trap);
    WRITE_CSR(mscratch, stack + COUNT(stack));
    WRITE_CSR(pmpaddr0, -1l); // everything
    WRITE_CSR(pmpcfg0, 0x1f); // may be read, written and executed
    WRITE_CSR(medeleg, 1 << ILLEGAL | 1 << ECALL_U);
    WRITE_CSR(mideleg, STIP);
    CLEAR_CSR(mstatus, 3 << 11 | 1 << 7);
    SET_CSR(mstatus, 1 << 11); // mret goes to supervisor mode
    enter(kernel);
}

// --- supervisor mode ----------------------------------------------------------------------------

// user.S knows the order.
struct task {
    unsigned long x[32]; // x[0] is the program counter
    unsigned long handler; // where illegal instructions are delivered; 0: they end the task
    unsigned long interrupted; // program counter before that
    long result;
    int running;
};
enum { PC = 0, SP = 2, GP = 3, A0 = 10, A1 = 11, A7 = 17 };

static struct task tasks[TASKS];
static uint64_t stacks[TASKS][256];
static uint32_t written;
static unsigned switches, delivered;

static void spin(void), fork(void), fault(void);

// The next task that runs, after this one; what the tasks have to give is checked at the end.
static struct task *next(struct task *task)
{
    for (int i = 0; i < TASKS; i++) {
        task = task == tasks + TASKS - 1 ? tasks : task + 1;
        if (task->running)
            return task;
    }
    int code = 0;
    if (tasks[0].result != 550)
        code = 1;
    else if (tasks[1].result != 1597)
        code = 2;
    else if (tasks[2].result != 20)
        code = 3;
    else if (written != 0x8c9a4afc)
        code = 4;
    else if (delivered != 20 || call(0, 0, BREAKPOINTS) != 10)
        code = 5;
    else if (switches < 10)
        code = 6;
    call(code, 0, STOP);
    return tasks;
}

// Called by kernel_trap; returns the task to go on with.
struct task *trap(struct task *task)
{
    unsigned long cause = READ_CSR(scause), *x = task->x;
    if (cause == (INTERRUPT | 5)) { // the time slice is over
        call(SLICE, 0, ALARM);
        switches++;
        return next(task);
    }
    if (cause == ILLEGAL) {
        if (!task->handler) {
            task->running = 0;
            return next(task);
        }
        delivered++;
        task->interrupted = x[PC];
        x[PC] = task->handler;
        return task;
    }
    x[PC] += 4;
    switch (x[A7]) {
    case EXIT:
        task->result = x[A0];
        task->running = 0;
        return next(task);
    case YIELD:
        switches++;
        return next(task);
    case WRITE:
        // Only one task writes, so that the sum does not depend on the time.
        for (unsigned long i = 0; i < x[A1]; i++)
            written = mix(written, ((const uint8_t *)x[A0])[i]);
        break;
    case NUMBER:
        x[A0] = task - tasks;
        break;
    case HANDLER:
        task->handler = x[A0];
        break;
    case RESUME: // from a handler, a0 bytes further than where it happened
        x[PC] = task->interrupted + x[A0];
        break;
    default:
        call(9, 0, STOP);
    }
    return task;
}

static void kernel(void)
{
    static void (*const starts[TASKS])(void) = {spin, fork, fault};
    WRITE_CSR(stvec, kernel_trap);
    CLEAR_CSR(sstatus, 1 << 8); // sret goes to user mode
    SET_CSR(sie, STIP);
    for (int i = 0; i < TASKS; i++) {
        tasks[i].x[PC] = (uintptr_t)starts[i];
        tasks[i].x[SP] = (uintptr_t)(stacks[i] + COUNT(stacks[i]));
        __asm__ volatile("mv %0, gp" : "=r"(tasks[i].x[GP]));
        tasks[i].running = 1;
    }
    call(SLICE, 0, ALARM);
    // As if the last task had given way.
    resume(next(tasks + TASKS - 1));
}

// --- user mode ----------------------------------------------------------------------------------

// Counts primes and gives way now and then.
static void spin(void)
{
    int count = 0;
    for (int n = 2; n < 4000; n++) {
        int divisor = 2;
        while (divisor * divisor <= n && n % divisor)
            divisor++;
        if (divisor * divisor > n)
            count++;
        if (n % 100 == 0)
            call(0, 0, YIELD);
    }
    call(count, 0, EXIT);
}

// Recursion with a system call now and then.
static FUNCTION long fibonacci(long n)
{
    if (n == 8)
        call((long)"eight", 5, WRITE);
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void fork(void)
{
    call(fibonacci(17), 0, EXIT);
}

// Illegal instructions, which come back to a function of the task, and breakpoints, which machine
// mode steps over.
static volatile long caught;

static void on_illegal(void)
{
    caught++;
    call(4, 0, RESUME);
}

static void fault(void)
{
    if (call(0, 0, NUMBER) != 2)
        call(-1, 0, EXIT);
    call((long)on_illegal, 0, HANDLER);
    for (int i = 0; i < 10; i++) {
        // User mode may not read mstatus, and the second one means nothing in any mode. The handler
        // is an ordinary function, so what it may change is lost.
        __asm__ volatile("csrr zero, mstatus" ::: "memory", CALLER_SAVED);
        __asm__ volatile(".word 0xffffff8b" ::: "memory", CALLER_SAVED);
        __asm__ volatile("ebreak");
    }
    call(caught, 0, EXIT);
}
