// Machine mode with a vectored mtvec: exceptions, exceptions within exceptions, timer interrupts,
// and a software interrupt that comes while the timer interrupt is being handled.

#include "rt.h"

// The CLINT.
#define MSIP ((volatile uint32_t *)0x2000000)
#define MTIMECMP 0x2004000
#define MTIME 0x200bff8

enum { INTERVAL = 200, TICKS = 24, NAPS = 4 };
enum { SOFTWARE = 1 << 3, TIMER = 1 << 7, MIE = 1 << 3 };
enum { FETCH_FAULT = 1, ILLEGAL = 2, BREAKPOINT = 3, LOAD_FAULT = 5, ECALL = 11 };

// Nothing is there.
#define NOWHERE 0x40000000

// What interrupts.S saves; the handlers may change it.
struct frame {
    unsigned long ra, t[7], a[8], mepc, mstatus;
};

extern char vectors[]; // in interrupts.S

static volatile uint32_t ticks, signals, nested, log;

static uint64_t now(void)
{
#if __riscv_xlen == 64
    return *(volatile uint64_t *)MTIME;
#else
    volatile uint32_t *half = (volatile uint32_t *)MTIME;
    uint32_t high, low;
    do {
        high = half[1];
        low = half[0];
    } while (high != half[1]);
    return (uint64_t)high << 32 | low;
#endif
}

// The next timer interrupt comes at that time.
static void alarm(uint64_t time)
{
#if __riscv_xlen == 64
    *(volatile uint64_t *)MTIMECMP = time;
#else
    volatile uint32_t *half = (volatile uint32_t *)MTIMECMP;
    half[1] = UINT32_MAX; // not too early in between
    half[0] = (uint32_t)time;
    half[1] = (uint32_t)(time >> 32);
#endif
}

// An ecall that asks for n + (n - 1) + ... + 1. The handler asks for the rest in the same way.
static FUNCTION unsigned long sum(unsigned long n)
{
    register unsigned long a0 __asm__("a0") = n;
    __asm__ volatile("ecall" : "+r"(a0)::"memory");
    return a0;
}

// Called by the first vector.
void exception(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause);
    log = mix(log, cause);
    switch (cause) {
    case ECALL:
        if (frame->a[0] == 3)
            __asm__ volatile("ebreak");
        if (frame->a[0] > 0)
            frame->a[0] += sum(frame->a[0] - 1);
        break;
    case FETCH_FAULT: // back to the caller
        frame->mepc = frame->ra;
        return;
    case ILLEGAL:
    case BREAKPOINT:
    case LOAD_FAULT:
        break;
    default:
        finish(64 + cause);
    }
    // On with the next instruction, which is 2 or 4 bytes further.
    frame->mepc += (*(uint16_t *)frame->mepc & 3) == 3 ? 4 : 2;
}

// Called by the vector of the timer. Every third time it is interrupted itself.
void timer(struct frame *frame)
{
    (void)frame;
    ticks++;
    alarm(now() + INTERVAL);
    if (ticks % 3 == 0) {
        uint32_t before = signals;
        CLEAR_CSR(mie, TIMER);
        *MSIP = 1;
        SET_CSR(mstatus, MIE);
        while (signals == before)
            ;
        CLEAR_CSR(mstatus, MIE);
        SET_CSR(mie, TIMER);
        nested++;
    }
}

// Called by the vector of software interrupts.
void software(struct frame *frame)
{
    (void)frame;
    *MSIP = 0;
    signals++;
}

// Every kind of exception once.
static FUNCTION void raise(void)
{
    __asm__ volatile(".word 0xffffff8b");
    __asm__ volatile(".half 0"); // a compressed one
    __asm__ volatile("ebreak");
    __asm__ volatile(".option push\n.option norvc\nebreak\n.option pop");
    __asm__ volatile("lw zero, 0(%0)" ::"r"((uintptr_t)NOWHERE));
    ((void (*)(void))(uintptr_t)NOWHERE)();
}

// Something to be interrupted in.
static FUNCTION uint32_t work(uint32_t state)
{
    uint32_t sum = 0;
    for (int i = 0; i < 50; i++)
        if (random32(&state) & 1)
            sum += i;
        else
            sum ^= i;
    return sum;
}

int interrupts(void)
{
    WRITE_CSR(mtvec, (uintptr_t)vectors | 1);
#ifdef CVA6
    // It takes no answer from memory for an access fault. A locked page without any right is one.
    WRITE_CSR(pmpaddr0, NOWHERE >> 2 | 0x1ff);
    WRITE_CSR(pmpcfg0, 0x98);
#endif

    for (int i = 0; i < 20; i++) {
        raise();
        if (sum(5) != 15)
            return 1;
    }
    if (log != 0x85f82b15)
        return 2;

    // Interrupts while work and system calls go on. How many instructions this takes depends on
    // how fast the simulator's clock is.
    uint32_t good = work(1);
    SET_CSR(mie, SOFTWARE | TIMER);
    alarm(now() + INTERVAL);
    SET_CSR(mstatus, MIE);
    while (ticks < TICKS) {
        if (work(1) != good)
            return 3;
        if (sum(4) != 10)
            return 4;
    }

    // Software interrupts on their own, right after the store.
    for (int i = 0; i < 8; i++) {
        uint32_t before = signals;
        *MSIP = 1;
        while (signals == before)
            ;
    }

    // Asleep until the timer wakes it up.
    for (int i = 0; i < NAPS; i++) {
        CLEAR_CSR(mstatus, MIE);
        uint32_t before = ticks;
        while (ticks == before) {
            __asm__ volatile("wfi");
            SET_CSR(mstatus, MIE); // the interrupt is taken here
            CLEAR_CSR(mstatus, MIE);
        }
    }
    CLEAR_CSR(mie, SOFTWARE | TIMER);
    if (ticks < TICKS + NAPS || nested != ticks / 3 || signals != nested + 8)
        return 5;
    return 0;
}
