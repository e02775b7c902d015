# An encoding of more than 64 bits, which QEMU's log cannot cope with.
    .globl _start
_start:
    addi    a0, a0, 1
    .option push
    .option norvc
    .word   0xffffffff
    .option pop
