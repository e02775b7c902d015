# Machine mode with a handler, then supervisor and user mode, each with exceptions in the middle of
# blocks and a timer that interrupts a loop; ends the machine through its test device.
    .globl _start
_start:
    la      t0, handler
    csrw    mtvec, t0
    # Everything is accessible from the lower privileges.
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    la      sp, stack
    jal     faults
    # Timer: some way ahead, and again in the handler.
    li      s11, 8
    jal     timer
    li      t0, 0x80
    csrs    mie, t0
    csrsi   mstatus, 8
1:  addi    a0, a0, 1
    lw      a1, 0(sp)
    jal     leaf
    bgtz    s11, 1b
    csrci   mstatus, 8
    # Supervisor, with illegal instructions delegated to it.
    la      t0, supervisor_handler
    csrw    stvec, t0
    li      t0, 4
    csrw    medeleg, t0
    li      t0, 0x1800
    csrc    mstatus, t0
    li      t0, 0x800
    csrs    mstatus, t0
    la      t0, supervisor
    csrw    mepc, t0
    mret
supervisor:
    jal     faults
    # User.
    li      t0, 0x100
    csrc    sstatus, t0
    la      t0, user
    csrw    sepc, t0
    sret
user:
    jal     faults
    li      s11, -1             # asks the handler for the end
    ecall
1:  j       1b
faults:
    lw      a1, 0(sp)
    addi    a1, a1, 1
    .option push
    .option norvc
    lw      a2, 0(zero)         # nothing is there
    lw      a3, 0(sp)
    sw      a3, 4(zero)
    ecall
    ebreak
    csrw    0x7c0, zero         # no such register
    .word   0x0000000b          # no such instruction
    .option pop
leaf:
    ret
timer:
    li      t0, 0x200bff8       # mtime
    li      t1, 0x2004000       # mtimecmp
    lw      t2, 0(t0)
    addi    t2, t2, 20
    sw      zero, 4(t1)
    sw      t2, 0(t1)
    ret
    .balign 4
handler:
    csrr    t0, mcause
    bltz    t0, interrupt
    bltz    s11, finish
    csrr    t1, mepc
    addi    t1, t1, 4
    csrw    mepc, t1
    mret
interrupt:
    addi    s11, s11, -1
    mv      s10, ra
    jal     timer
    mv      ra, s10
    bgtz    s11, 1f
    li      t0, 0x80
    csrc    mie, t0
1:  mret
finish:
    li      t0, 0x100000
    li      t1, 0x5555
    sw      t1, 0(t0)
1:  j       1b
    .balign 4
supervisor_handler:
    csrr    t1, sepc
    addi    t1, t1, 4
    csrw    sepc, t1
    sret
    .balign 16
    .space  256
stack:
    .space  16
