/* Calls the driver with registers that are plain memory, and prints what it wrote. */
#include "trace.h"
#include "hartrace_registers.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t encoder[1024], sink[1024];

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    struct trace trace = {
        .encoder = (uintptr_t)encoder,
        .sink = (uintptr_t)sink,
        .buffer = strtoull(argv[1], 0, 0),
        .size = strtoull(argv[2], 0, 0),
    };
    int result = trace_start(&trace, 0, 6);
    uint32_t control = sink[TR_RAM_CONTROL_OFFSET / 4];
    printf("%d %#" PRIx32 " %#" PRIx32 " %" PRIu32 "\n", result, sink[TR_RAM_START_LOW_OFFSET / 4],
           sink[TR_RAM_LIMIT_LOW_OFFSET / 4], TR_GET(control, TR_RAM_CONTROL_ASYNC_FREQ));
    return 0;
}
