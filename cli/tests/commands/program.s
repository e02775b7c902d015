# The program of the tests in decode.rs. program.elf comes from it, with GNU binutils:
#   riscv64-unknown-elf-as -march=rv64gc -g --debug-prefix-map $PWD=/src program.s -o program.o
#   riscv64-unknown-elf-ld -N -Ttext 0x80000000 program.o -o program.elf
        .globl  _start
        .type   _start, @function
_start: li      a0, 2
        jal     square
        addi    a0, a0, -3
        bnez    a0, _start
        ecall
        .type   square, @function
square: mul     a0, a0, a0
        ret
        .type   handler, @function
handler:
        csrr    a1, mcause
        mret
