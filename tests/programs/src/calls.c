// Calls and returns: recursion of several shapes, deeper than any return stack, tail calls, and
// assembly that uses the second link register.

#include "rt.h"

// In calls.S, for RISC-V.
unsigned coroutines(unsigned rounds);
unsigned millicode(unsigned n);

static FUNCTION unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static FUNCTION unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

// Ways to place queens on the rows that are left; a bit is set where one cannot be.
static FUNCTION unsigned queens(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    unsigned ways = 0;
    if (columns == all)
        return 1;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned one = free & -free;
        ways += queens(all, columns | one, (left | one) << 1, (right | one) >> 1);
    }
    return ways;
}

// Hofstadter's female and male sequences call each other, and not at the end.
static FUNCTION unsigned male(unsigned n);

static FUNCTION unsigned female(unsigned n)
{
    return n == 0 ? 1 : n - male(female(n - 1));
}

static FUNCTION unsigned male(unsigned n)
{
    return n == 0 ? 0 : n - female(male(n - 1));
}

// These two call each other at the end, so that the compiler makes jumps of the calls.
static FUNCTION unsigned odd(unsigned n);

static FUNCTION unsigned even(unsigned n)
{
    return n == 0 ? 1 : odd(n - 1);
}

static FUNCTION unsigned odd(unsigned n)
{
    return n == 0 ? 0 : even(n - 1);
}

// One call inside the other, depth times, with no other work.
static FUNCTION unsigned deep(unsigned depth)
{
    return depth == 0 ? 0 : deep(depth - 1) + (depth & 3);
}

// Just short of, at and past usual sizes of a return stack.
static FUNCTION unsigned depths(void)
{
    unsigned sum = 0;
    for (unsigned size = 2; size <= 1024; size *= 2)
        for (unsigned depth = size - 2; depth <= size + 2; depth++)
            sum += deep(depth);
    return sum;
}

int calls(void)
{
    if (fibonacci(17) != 1597)
        return 1;
    if (ackermann(2, 20) != 43 || ackermann(3, 3) != 61)
        return 2;
    if (queens(0x7f, 0, 0, 0) != 40)
        return 3;
    if (female(20) != 13 || male(20) != 12)
        return 4;
    if (even(501) != 0 || even(500) != 1)
        return 5;
    if (depths() != 15355)
        return 6;
#ifdef __riscv
    if (coroutines(200) != 200 * 3 + 200 * 5)
        return 7;
    if (millicode(100) != 4950)
        return 8;
#endif
    return 0;
}
