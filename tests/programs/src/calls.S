// Calls that compilers rarely make.

    .file   "calls.S"           // or the linker names a temporary file
    .text

// unsigned coroutines(unsigned rounds): two routines hand control to each other. `jalr` with one
// link register as source and the other as destination is a return and a call in one.
    .globl  coroutines
    .type   coroutines, @function
coroutines:
    mv      t2, ra
    li      a1, 0
    la      t0, other
1:  addi    a1, a1, 3
    jalr    ra, 0(t0)               // resumes the other routine
    addi    a0, a0, -1
    bnez    a0, 1b
    mv      a0, a1
    mv      ra, t2
    ret
other:
    addi    a1, a1, 5
    jalr    t0, 0(ra)               // resumes the first one
    j       other
    .size   coroutines, . - coroutines

// unsigned millicode(unsigned n): 0 + 1 + ... + (n - 1), with a helper that returns through t0.
    .globl  millicode
    .type   millicode, @function
millicode:
    li      a1, 0
1:  beqz    a0, 2f
    jal     t0, add_previous
    j       1b
2:  mv      a0, a1
    ret
add_previous:
    addi    a0, a0, -1
    add     a1, a1, a0
    jr      t0
    .size   millicode, . - millicode
