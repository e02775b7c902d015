# Loops, calls, indirect jumps, pairs of a constant and a jump, compressed code, system calls.
    .option norelax
    .globl _start
_start:
    li      s0, 50
outer:
    li      s1, 7
inner:
    addi    s1, s1, -1
    bnez    s1, inner
    call    leaf                # auipc and jalr
    jal     t0, millicode       # the other link register
    la      t1, table
    andi    t2, s0, 3
    slli    t2, t2, 2
    add     t1, t1, t2
    lw      t3, 0(t1)
    la      t1, table
    add     t1, t1, t3
    jr      t1
case0:
    nop
    j       joined
case1:
    .option push
    .option norvc
    addi    zero, zero, 0
    .option pop
    beq     zero, zero, joined
case2:
    c.nop
case3:
    mul     s3, s3, s0
joined:
    addi    a0, s0, -25
    jal     recurse
    addi    s0, s0, -1
    bgtz    s0, outer
    # Something to write, so that a system call returns in the middle.
    li      a0, 1
    la      a1, text
    li      a2, 0
    li      a7, 64
    ecall
    li      a0, 7
    li      a7, 93
    ecall
leaf:
    ret
millicode:
    addi    s2, s2, 1
    jr      t0
recurse:
    blez    a0, 1f
    addi    sp, sp, -16
    sw      ra, 0(sp)
    addi    a0, a0, -1
    jal     recurse
    lw      ra, 0(sp)
    addi    sp, sp, 16
1:  ret
    .balign 4
table:
    .word   case0 - table, case1 - table, case2 - table, case3 - table
text:
    .byte   10
