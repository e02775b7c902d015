// Four address spaces with numbers of their own (satp.ASID). The supervisor, the machine and the user's system calls go from one to
// the other without ever emptying the TLBs. All see the same code, and each its own data at the same address.

#include "machine.h"

enum { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };
enum { PAGE = 4096, LEVEL = 512 };

// The user sees the code of the program here, and its own data and stack.
#define CODE 0x40000000ul
#define DATA 0xc0000000ul
// Where the data are in memory: so many bytes for each space.
#define MEMORY 0x81000000ul
#define BYTES 0x200000ul

// The first and the last of all bits are set in some.
static const unsigned long numbers[] = { 5, 9, 0x8001, 0xffff };
enum { SPACES = COUNT(numbers), ROUNDS = 3, CALLS = 10 };

static uint64_t roots[SPACES][LEVEL] __attribute__((aligned(4096)));
static uint64_t middles[SPACES][LEVEL] __attribute__((aligned(4096)));
static uint64_t stack[512];
static unsigned now;

// From here on it is this space.
static FUNCTION void change(unsigned space)
{
    unsigned long satp = 8ul << 60 | numbers[space] << 44 | (uintptr_t)roots[space] / PAGE;
    WRITE_CSR(satp, satp);
    if (READ_CSR(satp) != satp)
        finish(32 + space);
    now = space;
}

// Every ecall that does not leave.
static void next_space(struct frame *frame)
{
    change((now + 1) % SPACES);
    frame->x[PC] += 4;
}

void supervisor_trap(struct frame *frame)
{
    if (READ_CSR(scause) != ECALL_U)
        finish(48 + READ_CSR(scause) % 16);
    if (frame->x[A7] == LEAVE)
        leave_user(frame->x[A0]);
    next_space(frame);
}

void machine_trap(struct frame *frame)
{
    if (READ_CSR(mcause) != ECALL_S)
        finish(64 + READ_CSR(mcause) % 64);
    if (frame->x[A7] == LEAVE)
        leave(frame->x[A0]);
    next_space(frame);
}

FUNCTION unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// The user: counts at DATA in each space, CALLS times, and computes with a stack that is there.
__asm__(".balign 4\n"
        "user:\n"
        "  li s0, 0xc0000000\n"
        "  li s1, 10\n"
        "  li sp, 0xc0010000\n"
        "1: ld t0, 0(s0)\n"
        "  addi t0, t0, 1\n"
        "  sd t0, 0(s0)\n"
        "  li a0, 5\n"
        "  call fibonacci\n"
        "  li a7, 0\n"
        "  ecall\n"
        "  addi s1, s1, -1\n"
        "  bnez s1, 1b\n"
        "  li a7, 0x1eafe\n"
        "  ecall\n");
extern char user[];

static FUNCTION long supervisor(long rounds)
{
    WRITE_CSR(stvec, (uintptr_t)supervisor_entry);
    long results = 0;
    for (; rounds > 0; rounds--) {
        for (unsigned space = 0; space < SPACES; space++) {
            change(space);
            results += fibonacci(4);
        }
        results += enter_user(CODE + ((uintptr_t)user - 0x80000000ul), 0);
        // The machine changes it, too.
        __asm__ volatile("li a7, 0\n ecall" ::: "a7", "memory");
        results += fibonacci(4);
    }
    return results;
}

int spaces(void)
{
    set_up();
    for (unsigned space = 0; space < SPACES; space++) {
        uint64_t giga = 0x80000000ul / PAGE << 10 | V | R | W | X | A | D;
        uint64_t mega = (MEMORY + space * BYTES) / PAGE << 10 | V | R | W | U | A | D;
        roots[space][2] = giga;
        roots[space][CODE >> 30] = giga | U;
        roots[space][DATA >> 30] = (uintptr_t)middles[space] / PAGE << 10 | V;
        middles[space][0] = mega;
    }
    WRITE_CSR(medeleg, 1 << ECALL_U);
    // 5 fibonacci(4) are 15.
    if (enter(SUPERVISOR, supervisor, ROUNDS, stack + COUNT(stack)) != ROUNDS * (15 + 5))
        return 1;
    WRITE_CSR(satp, 0);
    // A round starts with the last space, and the calls after it follow in order.
    for (unsigned space = 0; space < SPACES; space++) {
        unsigned long expected = 0;
        for (unsigned call = 0; call < CALLS; call++)
            expected += (SPACES - 1 + call) % SPACES == space;
        if (*(volatile uint64_t *)(MEMORY + space * BYTES) != ROUNDS * expected)
            return 2 + space;
    }
    return 0;
}
