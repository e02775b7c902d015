// Two harts that compute, take turns with a lock, and call each other with software interrupts. Caches do not
// know of each other, so that only atomic instructions are used on what is shared.

#include "rt.h"

enum { ROUNDS = 60 };

static volatile uint32_t *const msip = (uint32_t *)0x2000000;

static uint64_t lock __attribute__((aligned(64)));
static uint64_t sum __attribute__((aligned(64)));
static uint64_t done __attribute__((aligned(64)));
extern volatile uint64_t calls[16];

static uint64_t exchange(uint64_t *place, uint64_t value)
{
    uint64_t old;
    __asm__ volatile("amoswap.d.aqrl %0, %2, (%1)" : "=r"(old) : "r"(place), "r"(value) : "memory");
    return old;
}

static uint64_t add(uint64_t *place, uint64_t value)
{
    uint64_t old;
    __asm__ volatile("amoadd.d.aqrl %0, %2, (%1)" : "=r"(old) : "r"(place), "r"(value) : "memory");
    return old;
}

static FUNCTION uint64_t steps(uint64_t n)
{
    uint64_t count = 0;
    for (; n != 1; count++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return count;
}

static FUNCTION uint64_t fibonacci(uint64_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static FUNCTION uint64_t both(uint64_t n)
{
    return steps(n + 7) + fibonacci(n % 7);
}

int harts(long hart)
{
    static uint64_t (*const work[2][2])(uint64_t) = {{steps, fibonacci}, {both, steps}};
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t n = work[hart][i & 1](hart == 0 && (i & 1) ? i % 9 : i);
        while (exchange(&lock, 1))
            ;
        add(&sum, n);
        exchange(&lock, 0);
        if (i % 8 == 0)
            msip[1 - hart] = 1;
    }
    add(&done, 1);
    if (hart != 0)
        return 0;
    while (add(&done, 0) != 2)
        ;
    uint64_t expected = 0;
    for (int h = 0; h < 2; h++)
        for (uint64_t i = 1; i <= ROUNDS; i++)
            expected += work[h][i & 1](h == 0 && (i & 1) ? i % 9 : i);
    return add(&sum, 0) != expected ? 1 : calls[0] == 0 ? 2 : 0;
}
