// Memory routines. The compiler may call them, even where the source does not.

#include "rt.h"

// Word by word where both sides allow it.
void *memcpy(void *to, const void *from, size_t n)
{
    typedef unsigned long __attribute__((may_alias)) word;
    unsigned char *t = to;
    const unsigned char *f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & (sizeof(word) - 1)) == 0) {
        for (; n >= sizeof(word); n -= sizeof(word)) {
            *(word *)t = *(const word *)f;
            t += sizeof(word);
            f += sizeof(word);
        }
    }
    while (n--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    unsigned char *t = to;
    while (n--)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    for (; n--; p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}
