// Everything that computes, again and again: about a hundred million instructions.

#include "rt.h"

int branchy(void), calls(void), interp(void), strings(void), sort(void), crypto(void), floating(void);

enum { ROUNDS = 13 };

int longrun(void)
{
    static int (*const kernels[])(void) = {
        branchy, calls, interp, strings, sort, crypto,
#ifdef __riscv
        floating,
#endif
    };
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < COUNT(kernels); i++)
            if (kernels[i]())
                return 1 + i;
    return 0;
}
