# Rewrites one of its own instructions, every second time.
    .globl _start
_start:
    la      s0, place
    lw      s1, 0(s0)
    la      s2, other
    lw      s2, 0(s2)
    li      s3, 12
again:
    sw      s2, 0(s0)
    fence.i
    mv      t0, s1
    mv      s1, s2
    mv      s2, t0
    nop
    .balign 4
place:
    .option push
    .option norvc
    addi    a0, a0, 1
    .option pop
    addi    a0, a0, 1
    addi    s3, s3, -1
    bnez    s3, again
    li      a7, 93
    ecall
    .balign 4
other:
    .option push
    .option norvc
    j       . + 6               # where it is moved to: over the next instruction
    .option pop
