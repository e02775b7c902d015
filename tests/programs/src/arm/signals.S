// Signals: one that the program sends itself, and faults that a handler steps over, in the middle of straight
// code. A64, or A32 with the handler and some of the faults in T32. Exit code 0.

    .file   "signals.S"
    .text

#ifdef __aarch64__

    .globl  _start
_start:
    adr     x2, handler
    sub     sp, sp, #64
    str     x2, [sp]                    // handler, flags, restorer, mask
    mov     x3, #4                      // SA_SIGINFO
    stp     x3, xzr, [sp, #8]
    str     xzr, [sp, #24]
    mov     x19, #10                    // SIGUSR1
    bl      action
    mov     x19, #11                    // SIGSEGV
    bl      action
    mov     x20, #0                     // signals so far
    mov     x21, #0
    mov     x22, #20
loop:
    mov     x8, #172                    // getpid
    svc     #0
    mov     x1, #10
    mov     x8, #129                    // kill
    svc     #0
    add     x23, x22, #1
    ldr     x23, [x21]                  // nothing is there
    add     x23, x22, #2
    str     x23, [x21]
    subs    x22, x22, #1
    b.ne    loop
    sub     x0, x20, #60                // three each time
    mov     x8, #94                     // exit_group
    svc     #0

action:                                 // of signal x19
    mov     x0, x19
    mov     x1, sp
    mov     x2, #0
    mov     x3, #8
    mov     x8, #134                    // rt_sigaction
    svc     #0
    ret

handler:                                // signal, information, context
    ldr     x9, [x2, #0xb0 + 8 + 8 * 20] // x20 of the program
    add     x9, x9, #1
    str     x9, [x2, #0xb0 + 8 + 8 * 20]
    cmp     x0, #11
    b.ne    1f
    ldr     x9, [x2, #0xb0 + 8 + 8 * 32] // pc
    add     x9, x9, #4
    str     x9, [x2, #0xb0 + 8 + 8 * 32]
1:  ret

#else

    .syntax unified
    .arm
    .globl  _start
    .type   _start, %function
_start:
    ldr     r2, =handler
    sub     sp, sp, #32
    mov     r3, #4                      // SA_SIGINFO
    mov     r4, #0
    stm     sp, {r2, r3, r4}            // handler, flags, restorer, mask
    str     r4, [sp, #12]
    str     r4, [sp, #16]
    mov     r9, #10                     // SIGUSR1
    bl      action
    mov     r9, #11                     // SIGSEGV
    bl      action
    mov     r8, #0                      // signals so far
    mov     r6, #20
loop:
    mov     r7, #20                     // getpid
    svc     #0
    mov     r1, #10
    mov     r7, #37                     // kill
    svc     #0
    add     r5, r6, #1
    ldr     r5, [r4]                    // nothing is there
    add     r5, r6, #2
    blx     thumb
    subs    r6, r6, #1
    bne     loop
    sub     r0, r8, #60                 // three each time
    mov     r7, #248                    // exit_group
    svc     #0

action:                                 // of signal r9
    mov     r0, r9
    mov     r1, sp
    mov     r2, #0
    mov     r3, #8
    mov     r7, #174                    // rt_sigaction
    svc     #0
    bx      lr
    .ltorg

    .thumb
    .type   thumb, %function
    .thumb_func
thumb:
    tst     r6, #1
    itee    eq
    moveq   r5, #1
    movne   r5, #2
    addne   r5, r5, #1
    str.w   r5, [r4]
    bx      lr

    .type   handler, %function
    .thumb_func
handler:                                // signal, information, context
    ldr     r3, [r2, #20 + 4 * 11]      // r8 of the program
    adds    r3, #1
    str     r3, [r2, #20 + 4 * 11]
    cmp     r0, #11
    bne     1f
    ldr     r3, [r2, #20 + 4 * 18]      // pc
    adds    r3, #4
    str     r3, [r2, #20 + 4 * 18]
1:  bx      lr

#endif
