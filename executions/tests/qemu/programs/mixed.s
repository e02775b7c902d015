# A long mix of loads, stores, branches and calls, to measure.
    .globl _start
_start:
    li      s0, 3000000
    la      s2, data
    li      s3, 0x12345
outer:
    andi    t0, s0, 63
    slli    t0, t0, 2
    add     t0, t0, s2
    lw      t1, 0(t0)
    add     s3, s3, t1
    xor     s3, s3, s0
    sw      s3, 0(t0)
    li      t2, 6
inner:
    slli    t3, s3, 3
    srli    t4, s3, 5
    xor     s3, t3, t4
    add     s3, s3, t2
    addi    t2, t2, -1
    bnez    t2, inner
    andi    t3, s3, 1
    beqz    t3, even
    addi    s4, s4, 1
even:
    mv      a0, s3
    jal     mix
    add     s3, s3, a0
    addi    s0, s0, -1
    bnez    s0, outer
    li      a0, 0
    li      a7, 93
    ecall
mix:
    li      a1, 3
    mul     a0, a0, a1
    srli    a1, a0, 7
    sw      ra, 256(s2)
    xor     a0, a0, a1
    lw      ra, 256(s2)
    add     a0, a0, a1
    ret
    .bss
    .balign 8
data:
    .space  512
