// Below random programs: enters one, skips what traps in it, withdraws interrupts, ends it at its ecall. Registers
// are the program's, except here.

    .file   "monitor.S"         // or the linker names a temporary file

#define PROGRAM 0x80010000
// Where the mode to enter it in is.
#define MODE 0x8000fff8

    .option norelax             // gp is the program's
    .section .text.start, "ax"
    .globl  _start
_start:
    la      t0, trap
    csrw    mtvec, t0
    la      t0, __stack_top
    csrw    mscratch, t0
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    li      t0, 1 << 3 | 1 << 7 | 1 << 11
    csrw    mie, t0
    li      t0, MODE
    ld      t0, 0(t0)
    slli    t0, t0, 11
    ori     t0, t0, 1 << 7          // interrupts are enabled in it
    csrw    mstatus, t0
    li      t0, PROGRAM
    csrw    mepc, t0
    mret

    .balign 4
trap:
    csrrw   sp, mscratch, sp
    sd      t0, -8(sp)
    sd      t1, -16(sp)
    sd      t2, -24(sp)
    csrr    t0, mcause
    bltz    t0, interrupt
    li      t1, 8
    bgeu    t0, t1, finish
    csrr    t1, mepc
    lhu     t2, 0(t1)
    andi    t2, t2, 3
    addi    t1, t1, 2
    li      t0, 3
    bne     t2, t0, 1f
    addi    t1, t1, 2
1:  csrw    mepc, t1
back:
    ld      t0, -8(sp)
    ld      t1, -16(sp)
    ld      t2, -24(sp)
    csrrw   sp, mscratch, sp
    mret

// Software, timer, external.
interrupt:
    andi    t0, t0, 15
    li      t1, 7
    beq     t0, t1, 1f
    bltu    t0, t1, 2f
    li      t1, 0x10000010
    sd      zero, 0(t1)
    j       back
1:  li      t1, 0x02004000
    li      t2, -1
    sd      t2, 0(t1)
    j       back
2:  li      t1, 0x02000000
    sw      zero, 0(t1)
    j       back

finish:
    slli    a0, a0, 1
    ori     a0, a0, 1
    la      t0, tohost
    .globl  halt
halt:
    sd      a0, 0(t0)
    j       halt

    .section .tohost, "aw", @nobits
    .balign 64
    .globl  tohost
tohost:
    .zero   8
    .type   tohost, @object
    .size   tohost, 8
