// Every way that A64 code goes from one place to another, in a loop. Exit code 0.

    .file   "flow.S"

    .text
    .globl  _start
_start:
    mov     x19, #300
loop:
    tst     x19, #1
    b.eq    1f
    tbz     x19, #1, 2f
    cbz     x19, 2f
1:  cbnz    x19, 2f
    nop
2:  tbnz    x19, #2, 3f
3:  bl      leaf
    adr     x3, leaf
    blr     x3
    adr     x3, tail
    mov     x20, x30
    bl      tail
    mov     x30, x20
    and     x4, x19, #3                 // a table of branches
    adr     x5, table
    add     x5, x5, x4, lsl #2
    br      x5
table:
    b       4f
    b       4f
    b       5f
    b       6f
4:  isb
5:  dmb     ish
6:  csel    x6, x5, x4, eq
    b       7f                          // to the next instruction
7:  mov     x8, #172                    // getpid
    svc     #0
    bl      8f                          // a call that never returns
8:  subs    x19, x19, #1
    b.ne    loop
    mov     x0, #0
    mov     x8, #94                     // exit_group
    svc     #0

leaf:
    add     x0, x0, #1
    ret
tail:
    mov     x9, x30
    bl      leaf
    mov     x30, x9
    b       leaf
