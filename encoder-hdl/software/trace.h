/* Starts and stops the trace of a hart into a buffer in memory, for bare-metal software and drivers.
 *
 * `hartrace hdl` writes hartrace_registers.h for the encoder it generates.
 */
#ifndef HARTRACE_TRACE_H
#define HARTRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct trace {
    uintptr_t encoder; /* where the page of the hart's encoder is, HARTRACE_HART0_PAGE of te_top */
    uintptr_t sink;    /* where that of the sink is, HARTRACE_SINK_PAGE */
    uint64_t buffer;   /* physical address, a multiple of HARTRACE_SINK_WORD_BYTES */
    uint64_t size;     /* its bytes, a multiple of HARTRACE_SINK_WORD_BYTES, at least one */
};

enum trace_result {
    TRACE_OK = 0,
    TRACE_TIMEOUT = -1, /* a component did not become ready */
    TRACE_ERROR = -2,   /* memory refused a write, or trace arrived while the sink was off */
    TRACE_BUFFER = -3,  /* the buffer does not consist of whole words, or the sink cannot reach it */
};

/* Empties the buffer and traces from here on. `features` is a word of trTeInstFeatures; `sync_max` asks for a
 * synchronisation every 2^(sync_max + 4) packets. Nothing outside of the buffer is written.
 *
 * The sink puts a run of null packets into every half of the buffer, or into every 16 KiB of a larger one (if its
 * trace can have them). A decoder starts there if the buffer has wrapped. */
int trace_start(const struct trace *trace, uint32_t features, unsigned sync_max);

/* Ends the trace, and waits until all of it is in memory. Stores how many bytes there are, and where the oldest
 * is if the buffer was full: `hartrace decode --ring OLDEST` decodes it from the first synchronisation on. */
int trace_stop(const struct trace *trace, size_t *bytes, size_t *oldest);

#endif
