// What the programs for the CVA6 share: traps to machine and supervisor mode, and functions in other modes.
#ifndef MACHINE_H
#define MACHINE_H

// x1 to x31 at 8 times their number; the program counter takes the place of x0.
#define FRAME_STATUS 256
#define FRAME_BYTES 272

// An ecall with this in a7 leaves a function that enter() or enter_user() has started.
#define LEAVE 0x1eafe
// Nothing is there.
#define NOWHERE 0x40000000

#ifndef __ASSEMBLER__
#include "rt.h"

enum { PC = 0, RA = 1, SP = 2, A0 = 10, A1 = 11, A7 = 17 };
struct frame {
    unsigned long x[32], status;
};

enum mode { USER = 0, SUPERVISOR = 1, MACHINE = 3 };

enum cause {
    FETCH_ACCESS = 1,
    ILLEGAL = 2,
    BREAKPOINT = 3,
    LOAD_MISALIGNED = 4,
    LOAD_ACCESS = 5,
    STORE_MISALIGNED = 6,
    STORE_ACCESS = 7,
    ECALL_U = 8,
    ECALL_S = 9,
    ECALL_M = 11,
    FETCH_PAGE = 12,
    LOAD_PAGE = 13,
    STORE_PAGE = 15,
};
#define INTERRUPT (1ul << 63)

// Sets up machine_entry as the handler of machine mode, and physical memory protection: nobody may access the
// page at NOWHERE, everybody everything else.
void set_up(void);

// Runs function(argument) in another mode, with interrupts disabled in machine mode meanwhile; what it returns.
long enter(enum mode mode, long (*function)(long), long argument, void *stack);
// In a handler of machine mode: makes the last enter() return this.
void leave(long result) __attribute__((noreturn));

// The same from supervisor to user mode: sret to an address, with another one in ra.
long enter_user(unsigned long address, unsigned long ra);
void leave_user(long result) __attribute__((noreturn));

// Entries of the trap handlers, which call the functions below.
extern char machine_entry[], supervisor_entry[];
// Written by the programs.
void machine_trap(struct frame *frame);
void supervisor_trap(struct frame *frame);

// On with the next instruction, which is 2 or 4 bytes further.
static inline void skip(struct frame *frame)
{
    frame->x[PC] += (*(volatile uint16_t *)frame->x[PC] & 3) == 3 ? 4 : 2;
}

// The CLINT, and the registers of the platform.
#define MSIP (*(volatile uint32_t *)0x02000000)
#define MTIMECMP (*(volatile uint64_t *)0x02004000)
#define MTIME (*(volatile uint64_t *)0x0200bff8)
#define EXTERNAL (*(volatile uint64_t *)0x10000010)
#define DEBUG (*(volatile uint64_t *)0x10000018)

#endif
#endif
