// A32 and T32, how code goes from one to the other, and conditions that are met or not: in IT blocks, in
// A32 instructions, in returns and calls. Exit code 0.

    .file   "states.S"
    .syntax unified
    .text

    .arm
    .globl  _start
    .type   _start, %function
_start:
    mov     r4, #300
    movw    r8, #0
loop_arm:
    tst     r4, #1
    addeq   r8, r8, #1                  // every other time
    addne   r8, r8, #2
    cmp     r4, #20
    bllt    leaf_arm
    blx     thumb                       // to T32
    adr     r3, leaf_arm
    blx     r3
    ldr     r3, =loop_thumb             // bit 0 is set: to T32
    tst     r4, #3
    bxeq    r3
back_arm:
    ands    r5, r4, #3                  // a table of addresses
    adr     r6, targets
    ldr     pc, [r6, r5, lsl #2]
targets:
    .word   one, two, three, three
one:
    isb
two:
    dmb     ish
three:
    push    {r4, lr}
    bl      both
    pop     {r4, lr}
    mov     r7, #20                     // getpid
    svc     #0
    subs    r4, r4, #1
    bne     loop_arm
    mov     r0, #0
    mov     r7, #248                    // exit_group
    svc     #0

    .type   leaf_arm, %function
leaf_arm:
    add     r0, r0, #1
    bx      lr
    .ltorg

    .thumb
    .type   loop_thumb, %function
    .thumb_func
loop_thumb:
    and     r5, r4, #7
    cmp     r5, #4
    itete   lt
    addlt   r8, #3
    addge   r8, #4
    movlt   r0, #1
    movge.w r0, #2
    it      eq
    beq     table                       // in an IT block
    cbz     r5, table
    nop.w
table:
    and     r5, r4, #3
    tbb     [pc, r5]
first:
    .byte   (1f - first) / 2, (2f - first) / 2, (1f - first) / 2, (2f - first) / 2
1:  isb
    adds    r0, #1
2:  tst     r4, #4
    itt     ne
    movne   r0, #3
    blne    thumb_leaf
    blx     leaf_arm                    // to A32
    ldr     r3, =back_arm
    bx      r3

    .type   thumb, %function
    .thumb_func
thumb:
    push    {r4, lr}
    bl      thumb_leaf
    tst     r4, #8
    it      ne
    popne   {r4, pc}                    // a return that is conditional
    movs    r1, #9
    pop     {r4, pc}

    .type   thumb_leaf, %function
    .thumb_func
thumb_leaf:
    tst     r4, #2
    it      eq
    bxeq    lr
    adds    r0, #1
    bx      lr
    .ltorg

    .arm
    .type   both, %function
both:
    push    {r4, lr}
    cmp     r4, #100
    ldmlt   sp!, {r4, pc}
    mov     lr, pc                      // a call without a link
    b       leaf_arm
    pop     {r4, pc}
