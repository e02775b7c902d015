# Ends with a jump to an address that has no memory.
    .globl _start
_start:
    li      t0, 64
    lw      a1, 0(sp)
    jr      t0
