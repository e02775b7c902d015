// Traces itself: sets up the encoder of its own hart through the registers, works, ends the trace, and waits until it is in
// memory. Once into a buffer that is large enough, and once into a ring that is not.

#include "hartrace_registers.h"
#include "machine.h"
#include "trace.h"

// The two pages of the encoder are here; the buffers are above the memory of the program.
enum { ENCODER = 0x18000000, SINK = ENCODER + HARTRACE_SINK_PAGE };

// What is known of a trace after its end, for whoever reads memory.
struct report {
    uint64_t buffer, size, bytes, oldest;
    // The bytes of the buffer as its words add up, as the data cache has them and as memory does.
    uint64_t cached, stored;
};
struct report reports[2] = {
    { .buffer = 0x81010000, .size = 0x2800 },
    // Starts within a burst of the sink.
    { .buffer = 0x81100008, .size = 0x400 },
};

static uint32_t traps[16];

void machine_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause);
    if (cause > 15)
        finish(64);
    traps[cause]++;
    skip(frame);
}

static FUNCTION uint32_t twice(uint32_t x) { return 2 * x; }
static FUNCTION uint32_t next(uint32_t x) { return x + 1; }
static FUNCTION uint32_t folded(uint32_t x) { return x ^ x >> 7; }
static FUNCTION uint32_t trapped(uint32_t x)
{
    if (x % 3 == 0)
        __asm__ volatile("ecall");
    else
        __asm__ volatile(".half 0"); // illegal
    return x;
}
static uint32_t (*const functions[])(uint32_t) = { twice, next, folded, trapped };

static FUNCTION unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// A jump table.
static FUNCTION uint32_t chosen(uint32_t which, uint32_t x)
{
    switch (which) {
    case 0: return x * 3;
    case 1: return x - 7;
    case 2: return mix(x, 5);
    case 3: return x | 1;
    case 4: return x << 3;
    default: return ~x;
    }
}

static FUNCTION uint32_t work(unsigned rounds)
{
    uint32_t state = 42, sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        uint32_t x = random32(&state);
        for (unsigned j = x & 7; j > 0; j--)
            sum += j * x;
        sum = mix(sum, chosen(x >> 8 & 7, sum));
        // Traps are the rarest.
        sum = mix(sum, functions[(x >> 16 & 7) == 0 ? 3 : (x >> 16) % 3](x));
        if (i % 64 == 0)
            sum = mix(sum, fibonacci(7));
    }
    return sum;
}

static uint64_t added(const struct report *of)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < of->size; at += 8)
        sum += *(volatile uint64_t *)(of->buffer + at);
    return sum;
}

// The data cache of a CVA6 does not see what others write, and with write-through no fence empties it. While it is off
// (bit 0 of the register 0x701), memory is read, and switching it on again empties it.
static uint64_t added_uncached(const struct report *of)
{
    WRITE_CSR(0x701, 0);
    uint64_t sum = added(of);
    WRITE_CSR(0x701, 1);
    return sum;
}

// Traces some work, and whether that was good.
static int traced(struct report *report, uint32_t features, uint32_t expected)
{
    const struct trace trace = { ENCODER, SINK, report->buffer, report->size };
    size_t bytes, oldest;
    if (added(report) != 0) // and now the data cache has a part of it
        return 0;
    if (trace_start(&trace, features, 0))
        return 0;
    uint32_t sum = work(400);
    if (trace_stop(&trace, &bytes, &oldest))
        return 0;
    report->bytes = bytes;
    report->oldest = oldest;
    report->cached = added(report);
    report->stored = added_uncached(report);
    return sum == expected;
}

// Buffers that do not consist of words: the driver refuses them.
static int driver_refuses(uint64_t buffer, uint64_t size)
{
    const struct trace trace = { ENCODER, SINK, buffer, size };
    return trace_start(&trace, 0, 0) == TRACE_BUFFER;
}

static volatile uint32_t *in_sink(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(SINK + offset);
}

// So does the hardware: bits below a word cannot be written.
static int hardware_aligns(uint32_t offset, uint32_t mask)
{
    *in_sink(offset) = 0x81234567;
    return (*in_sink(offset) & mask) == 0x81234560;
}

// Accesses that are not of a register end, and change nothing.
static int others_refused(void)
{
    volatile uint32_t *start = in_sink(TR_RAM_START_LOW_OFFSET);
    *start = 0x81000000;
    *(volatile uint64_t *)start = 0x1122334455667788;
    *(volatile uint8_t *)start = 0xf8;
    uint32_t old;
    __asm__ volatile("amoadd.w %0, %1, (%2)" : "=r"(old) : "r"(64), "r"(start) : "memory");
    return *start == 0x81000000 && start[1] == 0;
}

int selfhosted(void)
{
    set_up();
    uint32_t expected = work(400);
    uint32_t features = TR_SET(0, TR_TE_INST_FEATURES_INST_EN_IMPLICIT_RETURN, 1);
    if (!driver_refuses(0x81000004, 0x400) || !driver_refuses(0x81000000, 0x404) || !driver_refuses(0x81000000, 0))
        return 1;
    if (!traced(&reports[0], 0, expected))
        return 2;
    if (!traced(&reports[1], features, expected))
        return 3;
    if (!hardware_aligns(TR_RAM_START_LOW_OFFSET, ~0u) || !hardware_aligns(TR_RAM_LIMIT_LOW_OFFSET, ~0u) ||
        !hardware_aligns(TR_RAM_WP_LOW_OFFSET, TR_RAM_WP_LOW_WP_LOW_MASK))
        return 4;
    if (!others_refused())
        return 5;
    return traps[ILLEGAL] && traps[ECALL_M] ? 0 : 6;
}
