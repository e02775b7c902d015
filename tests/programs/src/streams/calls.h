// System calls of Linux for programs without a C library, and what they all need.

#include "rt.h"

enum {
    GETCWD = 17, DUP3 = 24, IOCTL = 29, MKDIRAT = 34, UNLINKAT = 35, RENAMEAT2 = 276, FACCESSAT = 48, CHDIR = 49,
    OPENAT = 56, CLOSE = 57, PIPE2 = 59, GETDENTS64 = 61, LSEEK = 62, READ = 63, WRITE = 64, WRITEV = 66, PREAD64 = 67,
    PWRITE64 = 68, READLINKAT = 78, FSTATAT = 79, FSTAT = 80, FTRUNCATE = 46, EXIT_GROUP = 94, NANOSLEEP = 101,
    KILL = 129, GETPID = 172, SOCKET = 198, STATX = 291,
};

enum { HERE = -100, O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_TRUNC = 01000, O_APPEND = 02000,
       O_DIRECTORY = 0200000 };

static inline long call(long number, long a, long b, long c, long d, long e)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return a0;
}

static inline long length_of(const char *text)
{
    long length = 0;
    while (text[length])
        length++;
    return length;
}

static inline void say(int to, const char *text)
{
    call(WRITE, to, (long)text, length_of(text), 0, 0);
}

static inline void say_number(int to, long number)
{
    char digits[24], *at = digits + sizeof digits;
    unsigned long left = number < 0 ? -(unsigned long)number : (unsigned long)number;
    *--at = 0;
    do
        *--at = '0' + left % 10;
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    say(to, at);
}

static inline int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

__attribute__((noreturn)) static inline void leave(int code)
{
    call(EXIT_GROUP, code, 0, 0, 0, 0);
    __builtin_unreachable();
}

int run(long count, const char **arguments, const char **variables);

// Linux passes arguments and environment on the stack.
void begin(const long *stack)
{
    leave(run(stack[0], (const char **)(stack + 1), (const char **)(stack + 2 + stack[0])));
}

// gp is not set and stays so, because the linker was told not to use it.
__asm__(".globl _start\n_start: mv a0, sp\n andi sp, sp, -16\n call begin\n");
