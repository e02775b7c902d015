// The vectors of interrupts.c. Each saves what C functions may change, and mepc and mstatus, because
// there may be another trap before this one is done.

    .file   "interrupts.S"      // or the linker names a temporary file

#include "rt.h"

#define FRAME (20 * REGBYTES)           // struct frame, rounded up to a multiple of 16 bytes

    .text
    .balign 256
    .globl  vectors
    .option push
    .option norvc                       // each vector is one instruction of 4 bytes
vectors:
    j       trap_exception
    j       unexpected
    j       unexpected
    j       trap_software
    j       unexpected
    j       unexpected
    j       unexpected
    j       trap_timer
    j       unexpected
    j       unexpected
    j       unexpected
    j       unexpected
    .option pop

unexpected:
    li      a0, 63
    j       finish

.macro trap name
    .balign 4
trap_\name:
    addi    sp, sp, -FRAME
    SREG    t0, 1 * REGBYTES(sp)
    la      t0, \name
    j       handle
.endm

    trap    exception
    trap    software
    trap    timer

// t0 is the C function; what it was is saved already.
handle:
    SREG    ra, 0 * REGBYTES(sp)
    SREG    t1, 2 * REGBYTES(sp)
    SREG    t2, 3 * REGBYTES(sp)
    SREG    t3, 4 * REGBYTES(sp)
    SREG    t4, 5 * REGBYTES(sp)
    SREG    t5, 6 * REGBYTES(sp)
    SREG    t6, 7 * REGBYTES(sp)
    SREG    a0, 8 * REGBYTES(sp)
    SREG    a1, 9 * REGBYTES(sp)
    SREG    a2, 10 * REGBYTES(sp)
    SREG    a3, 11 * REGBYTES(sp)
    SREG    a4, 12 * REGBYTES(sp)
    SREG    a5, 13 * REGBYTES(sp)
    SREG    a6, 14 * REGBYTES(sp)
    SREG    a7, 15 * REGBYTES(sp)
    csrr    t1, mepc
    SREG    t1, 16 * REGBYTES(sp)
    csrr    t1, mstatus
    SREG    t1, 17 * REGBYTES(sp)
    mv      a0, sp
    mv      t1, t0                      // t0 would make it a return and a call
    jalr    t1
    LREG    t1, 17 * REGBYTES(sp)
    csrw    mstatus, t1
    LREG    t1, 16 * REGBYTES(sp)
    csrw    mepc, t1
    LREG    ra, 0 * REGBYTES(sp)
    LREG    t0, 1 * REGBYTES(sp)
    LREG    t1, 2 * REGBYTES(sp)
    LREG    t2, 3 * REGBYTES(sp)
    LREG    t3, 4 * REGBYTES(sp)
    LREG    t4, 5 * REGBYTES(sp)
    LREG    t5, 6 * REGBYTES(sp)
    LREG    t6, 7 * REGBYTES(sp)
    LREG    a0, 8 * REGBYTES(sp)
    LREG    a1, 9 * REGBYTES(sp)
    LREG    a2, 10 * REGBYTES(sp)
    LREG    a3, 11 * REGBYTES(sp)
    LREG    a4, 12 * REGBYTES(sp)
    LREG    a5, 13 * REGBYTES(sp)
    LREG    a6, 14 * REGBYTES(sp)
    LREG    a7, 15 * REGBYTES(sp)
    addi    sp, sp, FRAME
    mret
