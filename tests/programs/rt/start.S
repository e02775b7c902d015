// Start and end of the bare-metal programs. MAIN is the C function to run; what it returns is the
// exit code.

    .file   "start.S"           // or the linker names a temporary file

#include "rt.h"

    .section .text.start, "ax"
    .globl _start
_start:
    csrr    t0, mhartid
    bnez    t0, park
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      t0, unexpected_trap
    csrw    mtvec, t0
#ifdef __riscv_flen
    li      t0, 1 << 13             // mstatus.FS = initial: floating point is on
    csrs    mstatus, t0
    csrw    fcsr, zero
#endif
    la      t0, __bss_start
    la      t1, __bss_end
    j       2f
1:  SREG    zero, 0(t0)
    addi    t0, t0, REGBYTES
2:  bltu    t0, t1, 1b
    call    MAIN
    // Falls through with the exit code in a0.

// finish(code): tells the simulator to stop. `halt` is the last instruction that counts: whoever
// traces the program ends the trace when it has retired once. A simulator that looks at tohost
// only now and then goes round the loop some more; the loop is one direct jump, so that it has no
// branch and nothing else that a trace would have to report.
    .globl  finish
finish:
    slli    a0, a0, 1
    ori     a0, a0, 1
    la      t0, tohost
    .globl  halt
halt:
    SREG    a0, 0(t0)
#if __riscv_xlen == 32
    sw      zero, 4(t0)
#endif
    j       halt

// A trap that the program did not ask for: exit code 64 + cause.
    .balign 4
unexpected_trap:
    csrr    a0, mcause
    andi    a0, a0, 63
    addi    a0, a0, 64
    j       finish

// Other harts sleep.
park:
    wfi
    j       park

// The simulator's mailbox. It has a page of its own (see link.ld), because simulators treat it as
// a device.
    .section .tohost, "aw", @nobits
    .balign 64
    .globl  tohost
tohost:
    .zero   8
    .type   tohost, @object
    .size   tohost, 8
    .balign 64
    .globl  fromhost
fromhost:
    .zero   8
    .type   fromhost, @object
    .size   fromhost, 8
