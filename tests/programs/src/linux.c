// A program for Linux without a C library: memory from brk, one line with write, the end with
// exit_group.

#include "rt.h"

enum { WRITE = 64, EXIT_GROUP = 94, BRK = 214 };

// The words of a linked list.
struct node {
    struct node *next;
    uint32_t value;
};

static long system_call(long number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static uintptr_t end;

// Memory from the end of the program, a page at a time; NULL if there is no more.
static FUNCTION void *allocate(size_t n)
{
    static uintptr_t limit;
    if (!limit)
        limit = end = system_call(BRK, 0, 0, 0);
    n = (n + 15) & ~(size_t)15;
    if (end + n > limit) {
        uintptr_t want = limit + 4096;
        if ((uintptr_t)system_call(BRK, want, 0, 0) != want)
            return NULL;
        limit = want;
    }
    end += n;
    return (void *)(end - n);
}

// Puts a value where it belongs in a list that is in order.
static FUNCTION int insert(struct node **list, uint32_t value)
{
    struct node *node = allocate(sizeof *node);
    if (!node)
        return 0;
    while (*list && (*list)->value < value)
        list = &(*list)->next;
    *node = (struct node){*list, value};
    *list = node;
    return 1;
}

static FUNCTION char *decimal(char *to, uint32_t value)
{
    if (value >= 10)
        to = decimal(to, value / 10);
    *to++ = '0' + value % 10;
    return to;
}

static FUNCTION int work(void)
{
    static const char text[] = "hartrace: sum of the list is ";
    struct node *list = NULL;
    uint32_t state = 2, sum = 0, last = 0;
    char line[64], *at = line + sizeof text - 1;
    for (int i = 0; i < 600; i++)
        if (!insert(&list, random32(&state) >> 12))
            return 1;
    for (; list; list = list->next) {
        if (list->value < last)
            return 2;
        last = list->value;
        sum = mix(sum, last);
    }
    memcpy(line, text, sizeof text - 1);
    at = decimal(at, sum);
    *at++ = '\n';
    if (system_call(WRITE, 1, (long)line, at - line) != at - line)
        return 3;
    return sum == 0x6e5f0fd9 ? 0 : 4;
}

// Linux jumps here, with the arguments on the stack; gp is not set yet and stays so, because the
// linker was told not to use it.
void _start(void)
{
    system_call(EXIT_GROUP, work(), 0, 0);
    __builtin_unreachable();
}
