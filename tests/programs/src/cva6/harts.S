// Two harts: where both start, and their interrupts.

    .file   "harts.S"           // or the linker names a temporary file

#define MSIP 0x2000000
#define EXIT 0x10000000

    .section .text.start, "ax"
    .globl  _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrr    a0, mhartid
    la      sp, __stack_top
    slli    t0, a0, 14
    sub     sp, sp, t0
    la      t0, interrupt
    csrw    mtvec, t0
    csrsi   mie, 1 << 3
    csrsi   mstatus, 1 << 3
    call    harts
    csrci   mstatus, 1 << 3
    csrr    t0, mhartid
    bnez    t0, sleep
    slli    a0, a0, 1
    ori     a0, a0, 1
    li      t0, EXIT
halt:
    sd      a0, 0(t0)
    j       halt
sleep:
    wfi
    j       sleep

// The other hart has called: takes note of it. Only registers that are saved here are used.
    .balign 4
interrupt:
    addi    sp, sp, -32
    sd      t0, 0(sp)
    sd      t1, 8(sp)
    sd      t2, 16(sp)
    csrr    t0, mhartid
    slli    t1, t0, 2
    li      t2, MSIP
    add     t1, t1, t2
    sw      zero, 0(t1)
    fence
    la      t1, calls
    slli    t0, t0, 6
    add     t1, t1, t0
    ld      t2, 0(t1)
    addi    t2, t2, 1
    sd      t2, 0(t1)
    ld      t0, 0(sp)
    ld      t1, 8(sp)
    ld      t2, 16(sp)
    addi    sp, sp, 32
    mret

    .bss
    .balign 64
    .globl  calls
calls:
    .zero   128
