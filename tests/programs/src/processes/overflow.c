/*
 * A function that calls itself, without a branch, until the stack is full.
 */
#include <stdio.h>

static __attribute__((noinline)) int deep(int depth)
{
    volatile char room[500];
    room[0] = (char)depth;
    return deep(depth + 1) + room[0];
}

int main(void)
{
    puts("started");
    return deep(0);
}
