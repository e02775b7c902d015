// Every exception that the core has without paging, in every mode, and returns to where nothing can be executed.

#include "machine.h"

// By mode, machine mode as 2, and cause.
static volatile uint32_t counts[3][16];
static uint64_t words[4];
static uint64_t stack[256];

static volatile enum mode mode;

// Ends with an exception within its own handling, as deep as a0 says.
static FUNCTION long deep(long depth)
{
    register long a0 __asm__("a0") = depth;
    register long a7 __asm__("a7") = 1;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
    return a0;
}

void machine_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause), from = frame->status >> 11 & 3;
    if (cause > 15)
        finish(64);
    if (frame->x[A7] == LEAVE && (cause == ECALL_S || cause == ECALL_U))
        leave(frame->x[A0]);
    counts[from == MACHINE ? 2 : from][cause]++;
    switch (cause) {
    case FETCH_ACCESS: // back to the caller
        frame->x[PC] = frame->x[RA];
        return;
    case ECALL_M:
    case ECALL_S:
    case ECALL_U:
        if (frame->x[A7] == 1 && frame->x[A0] > 0)
            frame->x[A0] += deep(frame->x[A0] - 1);
        break;
    }
    skip(frame);
}

// Each of them once, with the registers that are needed.
static FUNCTION long raise(long rounds)
{
    char *odd = (char *)words + 1;
    for (; rounds > 0; rounds--) {
        __asm__ volatile(".word 0xffffff8b");
        __asm__ volatile(".half 0");
        __asm__ volatile("csrrw zero, mhartid, zero"); // cannot be written
        __asm__ volatile("csrr zero, 0x5c0"); // does not exist
        __asm__ volatile(".half 0x9002"); // c.ebreak
        __asm__ volatile(".word 0x00100073"); // ebreak
        __asm__ volatile("li a7, 0\necall" ::: "a7");
        __asm__ volatile("ld zero, 0(%0)\nlw zero, 2(%0)\nlhu zero, 0(%0)" ::"r"(odd));
        __asm__ volatile("sd zero, 0(%0)\nsw zero, 2(%0)\nsh zero, 0(%0)" ::"r"(odd) : "memory");
        __asm__ volatile("lw zero, 0(%0)\nld zero, 8(%0)" ::"r"(NOWHERE));
        __asm__ volatile("sw zero, 0(%0)\nsd zero, 16(%0)" ::"r"(NOWHERE) : "memory");
        __asm__ volatile("jalr ra, 0(%0)" ::"r"(NOWHERE) : "ra");
        __asm__ volatile("jalr ra, 6(%0)" ::"r"(NOWHERE) : "ra");
        if (deep(3) != 6)
            finish(2);
        if (mode != MACHINE) {
            __asm__ volatile("csrr zero, mstatus\nmret");
            if (mode == USER)
                __asm__ volatile("csrr zero, sstatus\nsret\nsfence.vma");
        }
    }
    return 0;
}

// Entered at the address given: there is nothing, or something that cannot be executed.
static long nowhere(enum mode in, unsigned long address)
{
    mode = in;
    // The handler of the fetch fault returns to ra, where enter() lets functions return to.
    return enter(in, (long (*)(long))address, 7, stack + COUNT(stack));
}

__asm__(".balign 4\nillegal: .word 0xffffffff\nret\nbreaks: .half 0x9002\nret\ntraps: ecall\nret\n");
extern char illegal[], breaks[], traps[];

int exceptions(void)
{
    enum { ROUNDS = 3 };
    set_up();
    mode = MACHINE;
    raise(ROUNDS);
    for (mode = USER; mode <= SUPERVISOR; mode++)
        enter(mode, raise, ROUNDS, stack + COUNT(stack));
    // Counted by hand from raise(); deep() is four calls, of which three come from machine mode.
    static const uint8_t expected[16] = {
        [FETCH_ACCESS] = 2, [ILLEGAL] = 4, [BREAKPOINT] = 2, [LOAD_MISALIGNED] = 3, [LOAD_ACCESS] = 2,
        [STORE_MISALIGNED] = 3, [STORE_ACCESS] = 2,
    };
    for (int m = 0; m < 3; m++)
        for (int cause = 0; cause < 16; cause++) {
            unsigned want = expected[cause];
            if (cause == ILLEGAL)
                want += m == 0 ? 5 : m == 1 ? 2 : 0;
            if (cause == ECALL_U)
                want = m == 0 ? 2 : 0;
            if (cause == ECALL_S)
                want = m == 1 ? 2 : 0;
            if (cause == ECALL_M)
                want = m == 2 ? 2 + 3 * 3 : 0;
            if (counts[m][cause] != want * ROUNDS)
                finish(16 + cause);
        }
    // mret to what traps at once.
    for (enum mode m = USER; m <= SUPERVISOR; m++)
        if (nowhere(m, NOWHERE) != 7 || nowhere(m, (uintptr_t)illegal) != 7 ||
            nowhere(m, (uintptr_t)breaks) != 7 || nowhere(m, (uintptr_t)traps) != 7)
            return 3;
    return counts[0][FETCH_ACCESS] == ROUNDS * 2 + 1 ? 0 : 4;
}
