// Start and end of the programs for the PicoRV32, which has no control and status registers. MAIN is the C function
// to run; what it returns is the exit code.

    .file   "picorv32.S"        // or the linker names a temporary file

    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      t0, __bss_start
    la      t1, __bss_end
    j       2f
1:  sw      zero, 0(t0)
    addi    t0, t0, 4
2:  bltu    t0, t1, 1b
    call    MAIN
    // Falls through with the exit code in a0.

// finish(code): a store to this address ends the program.
    .globl  finish
finish:
    slli    a0, a0, 1
    ori     a0, a0, 1
    li      t0, 0x10000000
    .globl  halt
halt:
    sw      a0, 0(t0)
    j       halt
