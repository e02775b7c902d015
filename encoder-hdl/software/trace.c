#include "trace.h"
#include "hartrace_registers.h"

enum { PATIENCE = 1000000 };

static uint32_t get(uintptr_t page, uint32_t offset)
{
    return *(volatile uint32_t *)(page + offset);
}

static void set(uintptr_t page, uint32_t offset, uint32_t word)
{
    *(volatile uint32_t *)(page + offset) = word;
}

/* Orders accesses to memory with those to registers: stores to the buffer that are on their way must not arrive in the
 * trace, nor may its words be read before they are there. */
static void order(void)
{
#ifdef __riscv
    __asm__ volatile("fence iorw, iorw" ::: "memory");
#endif
}

/* Waits until these bits have this value. */
static int wait(uintptr_t page, uint32_t offset, uint32_t mask, uint32_t value)
{
    for (int i = 0; i < PATIENCE; i++)
        if ((get(page, offset) & mask) == value)
            return TRACE_OK;
    return TRACE_TIMEOUT;
}

/* Resets a component, whose first register has its active bit at the bottom, and takes it out of reset. */
static int activate(uintptr_t page)
{
    set(page, TR_TE_CONTROL_OFFSET, 0);
    if (wait(page, TR_TE_CONTROL_OFFSET, TR_TE_CONTROL_ACTIVE_MASK, 0))
        return TRACE_TIMEOUT;
    set(page, TR_TE_CONTROL_OFFSET, TR_TE_CONTROL_ACTIVE_MASK);
    return wait(page, TR_TE_CONTROL_OFFSET, TR_TE_CONTROL_ACTIVE_MASK, TR_TE_CONTROL_ACTIVE_MASK);
}

/* Writes an address; a sink stores only what it can use of it. */
static int set_address(uintptr_t page, uint32_t low, uint32_t high, uint64_t address)
{
    set(page, low, (uint32_t)address);
    set(page, high, (uint32_t)(address >> 32));
    uint64_t stored = (uint64_t)get(page, high) << 32 | get(page, low);
    return stored == address ? TRACE_OK : TRACE_BUFFER;
}

/* How often a run of null packets is needed, so that there is one in every half of a ring of this size. */
static uint32_t async_freq(uint64_t size)
{
    uint32_t freq = 1;
    while (freq < 7 && (uint64_t)512 << freq <= size)
        freq++;
    return freq;
}

int trace_start(const struct trace *trace, uint32_t features, unsigned sync_max)
{
    uint64_t word = HARTRACE_SINK_WORD_BYTES;
    if (trace->size < word || (trace->size | trace->buffer) % word)
        return TRACE_BUFFER;
    order();
    if (activate(trace->sink) || activate(trace->encoder))
        return TRACE_TIMEOUT;
    uint64_t last = trace->buffer + trace->size - word;
    if (set_address(trace->sink, TR_RAM_START_LOW_OFFSET, TR_RAM_START_HIGH_OFFSET, trace->buffer) ||
        set_address(trace->sink, TR_RAM_LIMIT_LOW_OFFSET, TR_RAM_LIMIT_HIGH_OFFSET, last))
        return TRACE_BUFFER;
    set(trace->sink, TR_RAM_WP_HIGH_OFFSET, (uint32_t)(trace->buffer >> 32));
    set(trace->sink, TR_RAM_WP_LOW_OFFSET, (uint32_t)trace->buffer);
    uint32_t on = TR_SET(0, TR_RAM_CONTROL_ACTIVE, 1);
    on = TR_SET(on, TR_RAM_CONTROL_ASYNC_FREQ, async_freq(trace->size));
    set(trace->sink, TR_RAM_CONTROL_OFFSET, on);
    set(trace->sink, TR_RAM_CONTROL_OFFSET, TR_SET(on, TR_RAM_CONTROL_ENABLE, 1));

    set(trace->encoder, TR_TE_INST_FEATURES_OFFSET, features);
    on = TR_SET(0, TR_TE_CONTROL_ACTIVE, 1);
    on = TR_SET(on, TR_TE_CONTROL_INST_SYNC_MODE, TR_TE_CONTROL_INST_SYNC_MODE_PACKETS);
    on = TR_SET(on, TR_TE_CONTROL_INST_SYNC_MAX, sync_max);
    on = TR_SET(on, TR_TE_CONTROL_INST_TRACING, 1);
    set(trace->encoder, TR_TE_CONTROL_OFFSET, on);
    set(trace->encoder, TR_TE_CONTROL_OFFSET, TR_SET(on, TR_TE_CONTROL_ENABLE, 1));
    return TRACE_OK;
}

int trace_stop(const struct trace *trace, size_t *bytes, size_t *oldest)
{
    uint32_t control = get(trace->encoder, TR_TE_CONTROL_OFFSET);
    set(trace->encoder, TR_TE_CONTROL_OFFSET, TR_SET(control, TR_TE_CONTROL_ENABLE, 0));
    if (wait(trace->encoder, TR_TE_CONTROL_OFFSET, TR_TE_CONTROL_EMPTY_MASK, TR_TE_CONTROL_EMPTY_MASK))
        return TRACE_TIMEOUT;
    control = get(trace->sink, TR_RAM_CONTROL_OFFSET);
    set(trace->sink, TR_RAM_CONTROL_OFFSET, TR_SET(control, TR_RAM_CONTROL_ENABLE, 0));
    if (wait(trace->sink, TR_RAM_CONTROL_OFFSET, TR_RAM_CONTROL_EMPTY_MASK, TR_RAM_CONTROL_EMPTY_MASK))
        return TRACE_TIMEOUT;
    order();
    uint32_t low = get(trace->sink, TR_RAM_WP_LOW_OFFSET);
    uint64_t pointer = (uint64_t)get(trace->sink, TR_RAM_WP_HIGH_OFFSET) << 32 | (low & TR_RAM_WP_LOW_WP_LOW_MASK);
    int wrapped = TR_GET(low, TR_RAM_WP_LOW_WRAP);
    *oldest = wrapped ? (size_t)(pointer - trace->buffer) : 0;
    *bytes = wrapped ? (size_t)trace->size : (size_t)(pointer - trace->buffer);
    uint32_t status = get(trace->sink, HARTRACE_RAM_STATUS_OFFSET);
    return TR_GET(status, HARTRACE_RAM_STATUS_ERROR) | TR_GET(status, HARTRACE_RAM_STATUS_LOST) ? TRACE_ERROR : TRACE_OK;
}
