// A supervisor at high virtual addresses with Sv39, and a user program whose pages come when they are asked for.
// Page faults of all three kinds, delegated and not, sret and mret to pages that are not there.

#include "machine.h"

enum { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };
enum { PAGE = 4096, LEVEL = 512 };

// The supervisor sees memory here as well.
#define HIGH 0xffffffc000000000ul
// The pages of the user.
#define TEXT 0x10000ul
#define DATA 0x20000ul
#define HOLE 0x40000ul

static uint64_t root[LEVEL] __attribute__((aligned(4096)));
static uint64_t middle[LEVEL] __attribute__((aligned(4096)));
static uint64_t leaves[LEVEL] __attribute__((aligned(4096)));
static uint8_t text[PAGE] __attribute__((aligned(4096)));
static uint8_t data[8 * PAGE] __attribute__((aligned(4096)));
static uint64_t stack[512];

static volatile uint32_t faults[16];

static FUNCTION void map(unsigned long address, void *to, int rights)
{
    uintptr_t physical = (uintptr_t)to & 0xffffffff;
    leaves[address / PAGE] = physical / PAGE << 10 | rights | V | A | D | U;
    __asm__ volatile("sfence.vma %0, zero" ::"r"(address) : "memory");
}

// Supervisor mode, at its high address.
void supervisor_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(scause), page = READ_CSR(stval) / PAGE * PAGE;
    faults[cause & 15]++;
    switch (cause) {
    case ECALL_U:
        if (frame->x[A7] == LEAVE)
            leave_user(frame->x[A0]);
        frame->x[PC] += 4;
        return;
    case FETCH_PAGE:
        if (page == TEXT)
            map(TEXT, text, R | X);
        else // a jump or return to the hole: back to the caller
            frame->x[PC] = frame->x[RA];
        return;
    case LOAD_PAGE: // can only be read at first
        map(page, data + (page - DATA), R);
        return;
    case STORE_PAGE:
        map(page, data + (page - DATA), R | W);
        return;
    }
    leave_user(-1);
}

void machine_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause);
    if (cause == ECALL_S && frame->x[A7] == LEAVE)
        leave(frame->x[A0]);
    if (cause == FETCH_PAGE) // mret to the hole
        leave(frame->x[PC] == READ_CSR(mtval) ? cause : 0);
    finish(64 + cause % 64);
}

// The user program, copied to its page: touches its pages, calls the supervisor, jumps into the hole.
__asm__(".balign 4\n"
        "user:\n"
        "  li a7, 0\n"
        "  li t0, 0x20000\n"
        "  li t1, 8\n"
        "  li t3, 4096\n"
        "1: ld t2, 8(t0)\n"
        "  addi t2, t2, 5\n"
        "  sd t2, 8(t0)\n"
        "  ecall\n"
        "  add t0, t0, t3\n"
        "  addi t1, t1, -1\n"
        "  bnez t1, 1b\n"
        "  li t0, 0x40000\n"
        "  jalr ra, 0(t0)\n"
        "  jalr ra, 2(t0)\n"
        "  li a0, 9\n"
        "user_leaves:\n"
        "  li a7, 0x1eafe\n"
        "  ecall\n"
        "user_end:\n");
extern char user[], user_leaves[], user_end[];

enum { ROUNDS = 3 };

static FUNCTION long supervisor(long rounds)
{
    unsigned long leaves_at = TEXT + (user_leaves - user);
    __asm__ volatile("csrw stvec, %0" ::"r"(supervisor_entry));
    long results = 0;
    for (; rounds > 0; rounds--) {
        results += enter_user(TEXT, leaves_at);
        // sret to a page that is not there.
        enter_user(HOLE, leaves_at);
        enter_user(HOLE + PAGE - 2, leaves_at);
        for (int i = 0; i < LEVEL; i++)
            leaves[i] = 0;
        __asm__ volatile("sfence.vma" ::: "memory");
    }
    return results;
}

int paging(void)
{
    set_up();
    root[0] = (uintptr_t)middle / PAGE << 10 | V;
    middle[0] = (uintptr_t)leaves / PAGE << 10 | V;
    // Memory where it is, and high.
    uint64_t giga = 0x80000000ul / PAGE << 10 | V | R | W | X | A | D;
    root[2] = giga;
    root[(HIGH >> 30 & 511) + 2] = giga;
    memcpy(text, user, user_end - user);
    __asm__ volatile("fence.i" ::: "memory");
    WRITE_CSR(satp, 8ul << 60 | (uintptr_t)root / PAGE);
    __asm__ volatile("sfence.vma" ::: "memory");
    WRITE_CSR(sscratch, HIGH + READ_CSR(sscratch));

    // Not delegated: mret to what is not mapped, is not executable there, is not the user's.
    if (enter(USER, (void *)HOLE, 0, stack) != FETCH_PAGE ||
        enter(SUPERVISOR, (void *)HOLE, 0, stack) != FETCH_PAGE ||
        enter(SUPERVISOR, (void *)0xffffffff00000000ul, 0, stack) != FETCH_PAGE ||
        enter(USER, (void *)(uintptr_t)supervisor, 0, stack) != FETCH_PAGE)
        return 1;
    WRITE_CSR(medeleg, 1 << FETCH_PAGE | 1 << LOAD_PAGE | 1 << STORE_PAGE | 1 << ECALL_U);
    uintptr_t top = HIGH + (uintptr_t)(stack + COUNT(stack));
    if (enter(SUPERVISOR, (void *)(HIGH + (uintptr_t)supervisor), ROUNDS, (void *)top) != ROUNDS * 9)
        return 2;
    // The page of the program, two jumps and two returns into the hole.
    if (faults[FETCH_PAGE] != ROUNDS * 5 || faults[LOAD_PAGE] != ROUNDS * 8 || faults[STORE_PAGE] != ROUNDS * 8 ||
        faults[ECALL_U] != ROUNDS * 11)
        return 3;
    for (int i = 0; i < 8; i++)
        if (*(uint64_t *)(data + i * PAGE + 8) != ROUNDS * 5)
            return 4;
    return 0;
}
