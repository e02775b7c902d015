// Ends in the way that its argument says, after a line on standard output and some work: segv, abort, unimp, or a number,
// which is the exit status. With `forever` it works until somebody ends it, with `waits` it reads from standard input
// until that ends, with `prints` it prints until nobody reads, and with `asks` it makes a call that no kernel has.

#include "calls.h"

static FUNCTION uint32_t work(uint32_t rounds)
{
    uint32_t state = 1, sum = 0;
    for (uint32_t i = 0; i < rounds; i++)
        sum += random32(&state) & 64 ? 1 : 3;
    return sum;
}

int run(long number, const char **arguments, const char **variables)
{
    const char *how = number > 1 ? arguments[1] : "0";
    char byte;
    int code = 0;
    (void)variables;
    say(1, "started\n");
    volatile uint32_t sum = work(1000);
    (void)sum;
    int *volatile nowhere = (int *)16;
    if (same(how, "segv"))
        *nowhere = 1;
    if (same(how, "abort"))
        call(KILL, call(GETPID, 0, 0, 0, 0, 0), 6, 0, 0, 0);
    if (same(how, "unimp"))
        __asm__ volatile("unimp");
    while (same(how, "forever"))
        sum += work(1000);
    while (same(how, "waits") && call(READ, 0, (long)&byte, 1, 0, 0) > 0)
        sum += work(10);
    while (same(how, "prints"))
        say(1, "again\n");
    if (same(how, "asks"))
        for (int i = 0; i < 3; i++)
            code |= call(5000, 0, 0, 0, 0, 0) != -38;
    while (*how >= '0' && *how <= '9')
        code = 10 * code + (*how++ - '0');
    say(2, "ends\n");
    return code;
}
