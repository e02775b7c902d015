#include "trace.h"
#include "hartrace_registers.h"

enum { PATIENCE = 1000000 };

static uint32_t get(uintptr_t page, uint32_t offset)
{
    return *(volatile uint32_t *)(page + offset);
}

/* Orders accesses to memory and to registers: stores to the buffer that are on their way must not arrive in the trace, nor may its
 * words be read before they are there. */
static void order(void)
{
#ifdef __riscv
    __asm__ volatile("fence iorw, iorw" ::: "memory");
#endif
}

/* A CVA6 collects stores in a buffer, sends them in any order, and may answer a load from it: also if they are to registers. */
static void set(uintptr_t page, uint32_t offset, uint32_t word)
{
    *(volatile uint32_t *)(page + offset) = word;
    order();
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

/* Writes two words, and returns what is stored of them: a component keeps only what it can use. The upper one follows the
 * lower, and reads as 0 if there is none. */
static uint64_t store(uintptr_t page, uint32_t low, uint64_t value)
{
    set(page, low, (uint32_t)value);
    set(page, low + 4, (uint32_t)(value >> 32));
    return (uint64_t)get(page, low + 4) << 32 | get(page, low);
}

/* Writes the range of a filter to its comparator, if the filter asks for it. The number of the comparator is above the bit that
 * asks. `unused` is set in bits of the end that make no difference. */
static int set_range(uintptr_t page, uint32_t control, unsigned bit, struct trace_range range, uint64_t unused)
{
    if (!(control >> bit & 1))
        return TRACE_OK;
#ifdef TR_TE_COMP_PMATCH_LOW_OFFSET
    uint32_t number = control >> (bit + 1) & 7;
    uint64_t first = store(page, TR_TE_COMP_PMATCH_LOW_OFFSET(number), range.first);
    uint64_t last = store(page, TR_TE_COMP_SMATCH_LOW_OFFSET(number), range.last);
    return first == range.first && (last | unused) == (range.last | unused) ? TRACE_OK : TRACE_FILTER;
#else
    (void)page, (void)range, (void)unused;
    return TRACE_FILTER;
#endif
}

/* What the encoder does not have, it does not store: so it is known what it will do. */
static int set_filter(uintptr_t page, unsigned i, const struct trace_filter *filter)
{
    if (i >= TR_TE_FILTER_CONTROL_COUNT)
        return TRACE_FILTER;
    uint32_t asks = TR_SET(filter->asks, TR_TE_FILTER_CONTROL_FILTER_ENABLE, 1);
    set(page, TR_TE_FILTER_CONTROL_OFFSET(i), asks);
    uint32_t control = get(page, TR_TE_FILTER_CONTROL_OFFSET(i));
    const uint32_t known = TRACE_BY_PRIVILEGE | TRACE_BY_CAUSE | TRACE_BY_INTERRUPT | TRACE_BY_ADDRESS |
                           TRACE_BY_CONTEXT | TRACE_BY_TVAL;
    if (filter->asks & ~known || (control & asks) != asks)
        return TRACE_FILTER;
    uint32_t levels = filter->asks & TRACE_BY_PRIVILEGE ? filter->privileges : 0;
    levels |= filter->asks & TRACE_BY_INTERRUPT && filter->interrupt ? 1 << 8 : 0;
    uint32_t match = TR_TE_FILTER_MATCH_INST_OFFSET(i);
    set(page, match, levels);
    uint64_t causes = filter->asks & TRACE_BY_CAUSE ? filter->causes : 0;
    if (get(page, match) != levels || store(page, match + 4, causes) != causes)
        return TRACE_FILTER;
    /* Instructions start at multiples of two, or of four if the encoder does not store bit 1. */
    if (set_range(page, control, 4, filter->addresses, 3) || set_range(page, control, 8, filter->contexts, 0) ||
        set_range(page, control, 12, filter->tvals, 0))
        return TRACE_FILTER;
    return TRACE_OK;
}

static int set_filters(const struct trace *trace)
{
    uint32_t in_use = 0;
    for (unsigned i = 0; i < trace->filter_count; i++) {
        if (set_filter(trace->encoder, i, &trace->filters[i]))
            return TRACE_FILTER;
        in_use |= (uint32_t)1 << i;
    }
    set(trace->encoder, TR_TE_INST_FILTERS_OFFSET, in_use);
    return get(trace->encoder, TR_TE_INST_FILTERS_OFFSET) == in_use ? TRACE_OK : TRACE_FILTER;
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
    uint64_t last = trace->buffer + (trace->size - word);
    if (last < trace->buffer) /* it would go on at address 0 */
        return TRACE_BUFFER;
    order();
    if (activate(trace->sink) || activate(trace->encoder))
        return TRACE_TIMEOUT;
    if (store(trace->sink, TR_RAM_START_LOW_OFFSET, trace->buffer) != trace->buffer ||
        store(trace->sink, TR_RAM_LIMIT_LOW_OFFSET, last) != last)
        return TRACE_BUFFER;
    if (set_filters(trace))
        return TRACE_FILTER;
    set(trace->sink, TR_RAM_WP_HIGH_OFFSET, (uint32_t)(trace->buffer >> 32));
    set(trace->sink, TR_RAM_WP_LOW_OFFSET, (uint32_t)trace->buffer);
    uint32_t on = TR_SET(0, TR_RAM_CONTROL_ACTIVE, 1);
    on = TR_SET(on, TR_RAM_CONTROL_ASYNC_FREQ, async_freq(trace->size));
    set(trace->sink, TR_RAM_CONTROL_OFFSET, on);
    set(trace->sink, TR_RAM_CONTROL_OFFSET, TR_SET(on, TR_RAM_CONTROL_ENABLE, 1));
    /* It refuses to start outside of its buffer. */
    if (!TR_GET(get(trace->sink, TR_RAM_CONTROL_OFFSET), TR_RAM_CONTROL_ENABLE))
        return TRACE_BUFFER;

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
    *bytes = *oldest = 0;
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
    uint64_t offset = pointer - trace->buffer;
    if (offset > trace->size || (wrapped && offset == trace->size)) /* or software would read behind the buffer */
        return TRACE_ERROR;
    *oldest = wrapped ? (size_t)offset : 0;
    *bytes = wrapped ? (size_t)trace->size : (size_t)offset;
    uint32_t status = get(trace->sink, HARTRACE_RAM_STATUS_OFFSET);
    return TR_GET(status, HARTRACE_RAM_STATUS_ERROR) | TR_GET(status, HARTRACE_RAM_STATUS_LOST) ? TRACE_ERROR : TRACE_OK;
}
