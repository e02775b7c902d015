/* Calls the driver with anything: buffers and filters at random, and registers that do not say what was written to them. */
#include "trace.h"
#include "hartrace_registers.h"
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 20000, PAGE_WORDS = 1024, FILTERS = 20 };

static uint32_t encoder[PAGE_WORDS], sink[PAGE_WORDS];
static uint64_t state = 1;

static uint64_t random_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    /* Small numbers and ends of ranges are more telling than most. */
    switch (state >> 60) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return state & 0xff;
    case 3: return ~(state & 0xff);
    case 4: return state & ~(uint64_t)7;
    default: return state;
    }
}

static void fill(uint32_t *page)
{
    for (int i = 0; i < PAGE_WORDS; i++)
        page[i] = (uint32_t)random_word();
}

static struct trace_range random_range(void)
{
    struct trace_range range = {random_word(), random_word()};
    return range;
}

static void fail(int run, const char *what)
{
    printf("run %d: %s\n", run, what);
    exit(1);
}

int main(void)
{
    int started = 0, stopped = 0;
    for (int run = 0; run < RUNS; run++) {
        static struct trace_filter filters[FILTERS];
        for (int i = 0; i < FILTERS; i++) {
            struct trace_filter filter = {(uint32_t)random_word(), (uint8_t)random_word(), (uint8_t)random_word(),
                                          random_word(), random_range(), random_range(), random_range()};
            filters[i] = filter;
        }
        struct trace trace = {
            .encoder = (uintptr_t)encoder,
            .sink = (uintptr_t)sink,
            .buffer = random_word() & ~(uint64_t)7,
            .size = run % 2 ? random_word() : 4096,
            .filters = filters,
            .filter_count = (unsigned)(run % 4 ? 0 : random_word() % (FILTERS + 1)),
        };
        fill(encoder);
        fill(sink);
        if (trace_start(&trace, (uint32_t)random_word(), (unsigned)random_word()) == TRACE_OK) {
            started++;
            uint64_t limit = (uint64_t)sink[TR_RAM_LIMIT_LOW_OFFSET / 4 + 1] << 32 | sink[TR_RAM_LIMIT_LOW_OFFSET / 4];
            if (limit < trace.buffer || limit - trace.buffer >= trace.size)
                fail(run, "the sink may write outside of the buffer");
        }
        fill(sink);
        /* Otherwise the driver waits for long; that it ends is seen in a few runs. */
        if (run >= 8) {
            encoder[TR_TE_CONTROL_OFFSET / 4] |= TR_TE_CONTROL_EMPTY_MASK;
            sink[TR_RAM_CONTROL_OFFSET / 4] |= TR_RAM_CONTROL_EMPTY_MASK;
        }
        if (run % 3 == 0) {
            /* Near the buffer, where it is wrong by little. */
            uint64_t pointer = trace.buffer + (random_word() % 3 ? random_word() % 8192 : trace.size);
            sink[TR_RAM_WP_LOW_OFFSET / 4] = (uint32_t)pointer | (uint32_t)(random_word() & 1);
            sink[TR_RAM_WP_HIGH_OFFSET / 4] = (uint32_t)(pointer >> 32);
        }
        size_t bytes = SIZE_MAX, oldest = SIZE_MAX;
        stopped += trace_stop(&trace, &bytes, &oldest) == TRACE_OK;
        if (bytes > trace.size || (oldest && oldest >= trace.size))
            fail(run, "more bytes than the buffer has");
    }
    printf("%d runs, %d started, %d stopped\n", RUNS, started, stopped);
    return started && stopped ? 0 : 1;
}
