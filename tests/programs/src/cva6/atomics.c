// Every atomic instruction, load-reserved and store-conditional, fences, and code that is written and then run.

#include "rt.h"

#define AMO(op, type, value, operand)                                                        \
    ({                                                                                       \
        static volatile type place_;                                                         \
        type old_;                                                                           \
        place_ = (type)(value);                                                              \
        __asm__ volatile(op " %0, %2, (%1)" : "=r"(old_) : "r"(&place_), "r"(operand) : "memory"); \
        sum = mix(mix(sum, (uint32_t)old_), (uint32_t)place_ ^ (uint32_t)((uint64_t)place_ >> 32)); \
        old_ == (type)(value);                                                               \
    })

static uint32_t sum;
static uint64_t place, code[8];

static FUNCTION int every(long value, long operand)
{
    int good = 1;
#define BOTH(name) good &= AMO(name ".w", int32_t, value, operand) & AMO(name ".d.aqrl", int64_t, value, operand)
    BOTH("amoswap");
    BOTH("amoadd");
    BOTH("amoand");
    BOTH("amoor");
    BOTH("amoxor");
    BOTH("amomax");
    BOTH("amomin");
    BOTH("amomaxu");
    BOTH("amominu");
    return good;
}

// Adds with a loop of load-reserved and store-conditional; whether the first try succeeded.
static FUNCTION long add(uint64_t *to, long by)
{
    long old, failed, tries = 0;
    do {
        __asm__ volatile("lr.d.aq %0, (%2)\nadd %0, %0, %3\nsc.d.rl %1, %0, (%2)"
                         : "=&r"(old), "=&r"(failed)
                         : "r"(to), "r"(by)
                         : "memory");
        tries++;
    } while (failed);
    return tries;
}

// A store-conditional without a reservation, and one after a store to another address.
static FUNCTION long conditional(uint64_t *to)
{
    long lone, other;
    __asm__ volatile("sc.d %0, zero, (%1)" : "=r"(lone) : "r"(to) : "memory");
    __asm__ volatile("lr.d zero, (%1)\nsc.d %0, zero, (%2)" : "=r"(other) : "r"(to), "r"(to + 8) : "memory");
    return (lone != 0) + (other != 0);
}

int atomics(void)
{
    static uint64_t places[16];
    static const long values[] = { 0, 1, -1, 0x7fffffff, 0x80000000, -0x80000000l, 0x123456789abcdef };
    for (unsigned i = 0; i < COUNT(values); i++)
        for (unsigned j = 0; j < COUNT(values); j++)
            if (!every(values[i], values[j]))
                return 1;
    // What the same operations give in Python.
    if (sum != 0xd02ef42f)
        return 2;
    long tries = 0;
    for (int i = 1; i <= 100; i++)
        tries += add(&place, i);
    if (place != 5050 || tries < 100)
        return 3;
    if (conditional(places) != 2)
        return 4;
    // li a0, n; ret, with another n each time.
    for (unsigned n = 0; n < 40; n++) {
        code[n % 8] = 0x00008067ull << 32 | 0x513 | (uint64_t)n << 20;
        __asm__ volatile("fence.i" ::: "memory");
        if (((unsigned (*)(void))(uintptr_t)&code[n % 8])() != n)
            return 5;
        __asm__ volatile("fence iorw, iorw\nfence.tso" ::: "memory");
    }
    return 0;
}
