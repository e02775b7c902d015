// Traces itself as selfhosted.c does, with the configuration `linux` and filters that the driver sets: the same work again and again, and
// each time another part of it is in memory.

#include "hartrace_registers.h"
#include "machine.h"
#include "trace.h"

enum { ENCODER = 0x18000000, SINK = ENCODER + HARTRACE_SINK_PAGE };
enum { V = 1, R = 2, W = 4, X = 8, A = 64, D = 128 };

// What is known of a trace after its end, for whoever reads memory.
struct report {
    uint64_t buffer, size, bytes;
};
enum { TRACES = 7, SIZE = 0x4000 };
struct report reports[TRACES];

static uint64_t root[512] __attribute__((aligned(4096)));
static uint64_t stack[512];

void machine_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause);
    if ((cause == ECALL_U || cause == ECALL_S) && frame->x[A7] == LEAVE)
        leave(frame->x[A0]);
    if (cause == (INTERRUPT | 3))
        MSIP = 0;
    else if (cause == ECALL_M || cause == ILLEGAL)
        skip(frame);
    else
        finish(64 + cause % 64);
}

// Recursive, and one instruction that is a function; labels say where they end.
__asm__(".text\n"
        ".balign 4\n"
        "fibonacci:\n"
        "  li t0, 2\n"
        "  bltu a0, t0, 1f\n"
        "  addi sp, sp, -32\n"
        "  sd ra, 0(sp)\n"
        "  sd s0, 8(sp)\n"
        "  sd s1, 16(sp)\n"
        "  mv s0, a0\n"
        "  addi a0, a0, -1\n"
        "  call fibonacci\n"
        "  mv s1, a0\n"
        "  addi a0, s0, -2\n"
        "  call fibonacci\n"
        "  add a0, a0, s1\n"
        "  ld ra, 0(sp)\n"
        "  ld s0, 8(sp)\n"
        "  ld s1, 16(sp)\n"
        "  addi sp, sp, 32\n"
        "1: ret\n"
        "fibonacci_end:\n"
        "single: ret\n");
extern char fibonacci_end[];
long fibonacci(long n);
void single(void);

// In other modes; their names are known to the test.
FUNCTION long in_user(long n) { return fibonacci(n) + 1; }
FUNCTION long in_space_5(long n) { return fibonacci(n) + 2; }
FUNCTION long in_space_9(long n) { return fibonacci(n) + 3; }
FUNCTION long in_space_12(long n) { return fibonacci(n) + 4; }

static long in_space(unsigned long asid, long (*function)(long))
{
    WRITE_CSR(satp, 8ul << 60 | asid << 44 | (uintptr_t)root / 4096);
    __asm__ volatile("sfence.vma" ::: "memory");
    long result = enter(SUPERVISOR, function, 3, stack + COUNT(stack));
    WRITE_CSR(satp, 0);
    return result;
}

static FUNCTION long work(void)
{
    long sum = fibonacci(6);
    SET_CSR(mstatus, 1 << 3); // leave() does not
    for (int i = 0; i < 5; i++) {
        single();
        __asm__ volatile("ecall");
        __asm__ volatile(".half 0"); // illegal
        MSIP = 1;
        while (MSIP) // until it is taken
            ;
    }
    sum += enter(USER, in_user, 4, stack + COUNT(stack));
    sum += in_space(5, in_space_5);
    sum += in_space(12, in_space_12);
    sum += in_space(9, in_space_9);
    return sum;
}

static int traced(struct report *report, const struct trace_filter *filters, unsigned count)
{
    const struct trace trace = { ENCODER, SINK, report->buffer, report->size, filters, count };
    size_t bytes, oldest;
    if (trace_start(&trace, 0, 0))
        return 0;
    long sum = work();
    if (trace_stop(&trace, &bytes, &oldest) || oldest)
        return 0;
    report->bytes = bytes;
    return sum == 8 + (3 + 1) + (2 + 2) + (2 + 4) + (2 + 3);
}

static int refused(const struct trace_filter *filters, unsigned count)
{
    const struct trace trace = { ENCODER, SINK, reports[0].buffer, reports[0].size, filters, count };
    return trace_start(&trace, 0, 0) == TRACE_FILTER;
}

int filtered(void)
{
    set_up();
    root[2] = 0x80000000ul / 4096 << 10 | V | R | W | X | A | D;
    SET_CSR(mie, 1 << 3);
    for (int i = 0; i < TRACES; i++)
        reports[i] = (struct report){ 0x81010000 + i * 2 * SIZE, SIZE, 0 };

    const struct trace_range whole = { (uintptr_t)fibonacci, (uintptr_t)fibonacci_end - 1 };
    const struct trace_range exact = { (uintptr_t)single, (uintptr_t)single };
    const struct trace_filter filters[] = {
        { .asks = TRACE_BY_ADDRESS, .addresses = whole },
        { .asks = TRACE_BY_ADDRESS, .addresses = exact },
        { .asks = TRACE_BY_PRIVILEGE, .privileges = 1 << USER },
        { .asks = TRACE_BY_CONTEXT | TRACE_BY_PRIVILEGE, .contexts = { 5, 9 }, .privileges = 1 << SUPERVISOR },
        { .asks = TRACE_BY_CAUSE | TRACE_BY_INTERRUPT, .causes = 1ul << ECALL_M },
        { .asks = TRACE_BY_INTERRUPT, .interrupt = 1 },
    };
    for (int i = 0; i < COUNT(filters); i++)
        if (!traced(&reports[i], &filters[i], 1))
            return 1 + i;
    // Two of them: what either lets pass.
    if (!traced(&reports[6], &filters[1], 2))
        return 7;

    const struct trace_filter others[] = {
        { .asks = TRACE_BY_TVAL },
        { .asks = 1 << 20 },
        { .asks = TRACE_BY_PRIVILEGE, .privileges = 1 << 5 },
        { .asks = TRACE_BY_CAUSE, .causes = 1ul << 40 },
        { .asks = TRACE_BY_CONTEXT, .contexts = { 0, 0x10000 } },
        { .asks = TRACE_BY_ADDRESS, .addresses = { 0x80000001, 0x80000100 } },
    };
    for (int i = 0; i < COUNT(others); i++)
        if (!refused(&others[i], 1))
            return 10 + i;
    return refused(filters, 3) ? 0 : 20;
}
