# Adds up the bytes of standard input and of the file data/words, and ends with the sum modulo 128. Ends with 200 if the file
# cannot be opened, and with 201 if anything else exists in the current folder.
    .globl _start
_start:
    li s0, 0            # the sum
    li a0, 0            # standard input
    jal sum
    la a1, name
    jal open
    bltz a0, missing
    jal sum
    la a1, other
    jal open
    li t0, 201
    bgez a0, exit
    andi t0, s0, 127
    j exit
missing:
    li t0, 200
exit:
    mv a0, t0
    li a7, 93
    ecall

# Opens the file with the name at a1, to read it.
open:
    li a0, -100         # the current folder
    li a2, 0
    li a3, 0
    li a7, 56
    ecall
    ret

# Adds up all bytes of the file a0, 16 at a time.
sum:
    mv s1, a0
more:
    mv a0, s1
    la a1, buffer
    li a2, 16
    li a7, 63
    ecall
    blez a0, ended
    la a1, buffer
    add a2, a1, a0
next:
    lbu t0, 0(a1)
    add s0, s0, t0
    addi a1, a1, 1
    bne a1, a2, next
    j more
ended:
    ret

    .section .rodata
name: .string "data/words"
other: .string "Cargo.toml"
    .bss
buffer: .skip 16
