# Ends with an illegal instruction in the middle of straight code.
    .globl _start
_start:
    li      a0, 3
1:  addi    a0, a0, -1
    bnez    a0, 1b
    lw      a1, 0(sp)
    addi    a1, a1, 1
    unimp
    addi    a1, a1, 1
    li      a7, 93
    ecall
