// What every program shares: register access for assembly, memory routines and a generator of
// pseudo-random numbers for C.
#ifndef RT_H
#define RT_H

#if __riscv_xlen == 32
#define SREG sw
#define LREG lw
#define REGBYTES 4
#else
#define SREG sd
#define LREG ld
#define REGBYTES 8
#endif

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

// Ends the program; never comes back.
void finish(int code) __attribute__((noreturn));

// The next number of a xorshift generator. The state must not start as zero.
static inline uint32_t random32(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

// Adds a word to a checksum that depends on the order.
static inline uint32_t mix(uint32_t sum, uint32_t word)
{
    return (sum << 5 | sum >> 27) * 0x9e3779b1u ^ word;
}

// A function that stays one, as written: not inlined, not specialised, not analysed from outside.
#define FUNCTION __attribute__((noipa))

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define READ_CSR(name)                                              \
    ({                                                              \
        unsigned long value_;                                       \
        __asm__ volatile("csrr %0, " #name : "=r"(value_));         \
        value_;                                                     \
    })
#define WRITE_CSR(name, value) __asm__ volatile("csrw " #name ", %0" ::"rK"(value) : "memory")
#define SET_CSR(name, bits) __asm__ volatile("csrs " #name ", %0" ::"rK"(bits) : "memory")
#define CLEAR_CSR(name, bits) __asm__ volatile("csrc " #name ", %0" ::"rK"(bits) : "memory")

#endif
#endif
