// Start and end of the programs for Linux on Arm, A64 or A32. MAIN is the C function to run; what it
// returns is the exit code.

    .file   "linux-arm.S"

    .text
#ifndef __aarch64__
    .arm                            // the linker makes a blx of the call where MAIN is T32
#endif
    .globl  _start
    .type   _start, %function
_start:
    bl      MAIN
#ifdef __aarch64__
    mov     x8, #94                 // exit_group
#else
    mov     r7, #248
#endif
    svc     #0
