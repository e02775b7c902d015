/* Starts and stops the trace of a hart into a buffer in memory, for bare-metal software and drivers.
 *
 * `hartrace hdl` writes hartrace_registers.h for the encoder it generates.
 */
#ifndef HARTRACE_TRACE_H
#define HARTRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* From the first to the last, both included; the same twice for an exact match. */
struct trace_range {
    uint64_t first, last;
};

/* What a filter asks for: bits of trTeFilterControl. An encoder has those that it was generated with. */
enum trace_ask {
    TRACE_BY_PRIVILEGE = 1 << 1,
    TRACE_BY_CAUSE = 1 << 2,     /* from a trap with one of these causes to the return from it */
    TRACE_BY_INTERRUPT = 1 << 3, /* from an interrupt, or an exception, to the return from it */
    TRACE_BY_ADDRESS = 1 << 4,
    TRACE_BY_CONTEXT = 1 << 8,
    TRACE_BY_TVAL = 1 << 12,     /* from a trap with such a value to the return from it */
};

/* A filter lets pass what has all that it asks for. */
struct trace_filter {
    uint32_t asks;                /* of trace_ask, combined with | */
    uint8_t privileges;           /* a bit for each level: 1 << 0 for user, 1 << 1 for supervisor, 1 << 3 for machine mode */
    uint8_t interrupt;            /* 1 for interrupts, 0 for exceptions */
    uint64_t causes;              /* a bit for each cause */
    struct trace_range addresses; /* blocks with an instruction that starts in it */
    struct trace_range contexts;
    struct trace_range tvals;
};

struct trace {
    uintptr_t encoder; /* where the page of the hart's encoder is, HARTRACE_HART0_PAGE of te_top */
    uintptr_t sink;    /* where that of the sink is, HARTRACE_SINK_PAGE */
    uint64_t buffer;   /* physical address, a multiple of HARTRACE_SINK_WORD_BYTES */
    uint64_t size;     /* its bytes, a multiple of HARTRACE_SINK_WORD_BYTES, at least one */
    /* What one of these filters lets pass is traced; everything, if there are none. */
    const struct trace_filter *filters;
    unsigned filter_count;
};

enum trace_result {
    TRACE_OK = 0,
    TRACE_TIMEOUT = -1, /* a component did not become ready */
    TRACE_ERROR = -2,   /* memory refused a write, trace arrived while the sink was off, or the sink is outside of the buffer */
    TRACE_BUFFER = -3,  /* the buffer does not consist of whole words, or the sink cannot reach it */
    TRACE_FILTER = -4,  /* the encoder has no such filter, or not so many */
};

/* Empties the buffer and traces from here on. `features` is a word of trTeInstFeatures; `sync_max` asks for a
 * synchronisation every 2^(sync_max + 4) packets. Nothing outside of the buffer is written. What
 * cannot be done is refused before anything is traced.
 *
 * The sink puts a run of null packets into every half of the buffer, or into every 16 KiB of a larger one (if its
 * trace can have them). A decoder starts there if the buffer has wrapped. */
int trace_start(const struct trace *trace, uint32_t features, unsigned sync_max);

/* Ends the trace, and waits until all of it is in memory. Stores how many bytes there are, and where the oldest
 * is if the buffer was full: `hartrace decode --ring OLDEST` decodes it from the first synchronisation on. Both are within the
 * buffer, whatever the sink says, and 0 if that is not known. */
int trace_stop(const struct trace *trace, size_t *bytes, size_t *oldest);

#endif
