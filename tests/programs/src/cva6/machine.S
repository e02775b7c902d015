// Trap entries and changes of mode; see machine.h.

    .file   "machine.S"         // or the linker names a temporary file

#include "machine.h"

// mscratch or sscratch always holds the end of a free stack, also within a handler, so that handlers may be
// interrupted by others.
    .macro  entry mode, function
    csrrw   sp, \mode\()scratch, sp
    addi    sp, sp, -FRAME_BYTES
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\n, 8 * \n(sp)
    .endr
    csrr    t0, \mode\()scratch
    sd      t0, 8 * 2(sp)
    csrw    \mode\()scratch, sp
    csrr    t0, \mode\()epc
    sd      t0, 0(sp)
    csrr    t0, \mode\()status
    sd      t0, FRAME_STATUS(sp)
    mv      a0, sp
    call    \function
    ld      t0, FRAME_STATUS(sp)
    csrw    \mode\()status, t0
    ld      t0, 0(sp)
    csrw    \mode\()epc, t0
    addi    t0, sp, FRAME_BYTES
    csrw    \mode\()scratch, t0
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld      x\n, 8 * \n(sp)
    .endr
    ld      sp, 8 * 2(sp)
    \mode\()ret
    .endm

    .text
    .globl  machine_entry
    .balign 4
machine_entry:
    entry   m, machine_trap

    .globl  supervisor_entry
    .balign 4
supervisor_entry:
    entry   s, supervisor_trap

    .weak   machine_trap, supervisor_trap

    .globl  set_up
set_up:
    la      t0, machine_entry
    csrw    mtvec, t0
    la      t0, machine_stack
    csrw    mscratch, t0
    la      t0, supervisor_stack
    csrw    sscratch, t0
    // A locked page without any right, then all of memory with all of them.
    li      t0, (NOWHERE >> 2) | 0x1ff
    csrw    pmpaddr0, t0
    li      t0, -1
    csrw    pmpaddr1, t0
    li      t0, 0x1f98
    csrw    pmpcfg0, t0
    ret

    .macro  remember mode, where
    la      t0, \where
    csrr    t1, \mode\()scratch
    sd      t1, 0(t0)
    .irp    n, 1, 2, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    sd      x\n, 8 * \n(t0)
    .endr
    .endm

    .macro  go_back mode, where
    la      t0, \where
    ld      t1, 0(t0)
    csrw    \mode\()scratch, t1
    .irp    n, 1, 2, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    ld      x\n, 8 * \n(t0)
    .endr
    ret
    .endm

// long enter(mode, function, argument, stack)
    .globl  enter
enter:
    remember m, machine_context
    csrw    mepc, a1
    li      t1, 3 << 11
    csrc    mstatus, t1
    slli    a0, a0, 11
    csrs    mstatus, a0
    mv      sp, a3
    mv      a0, a2
    la      ra, done
    mret
// The function returns to this, in its own mode.
done:
    li      a7, LEAVE
    ecall

    .globl  leave
leave:
    go_back m, machine_context

// long enter_user(address, return address)
    .globl  enter_user
enter_user:
    remember s, supervisor_context
    csrw    sepc, a0
    li      t1, 1 << 8
    csrc    sstatus, t1
    mv      ra, a1
    sret

    .globl  leave_user
leave_user:
    go_back s, supervisor_context

    .bss
    .balign 16
machine_context:
    .zero   8 * 32
supervisor_context:
    .zero   8 * 32
    .zero   4096
machine_stack:
    .zero   4096
supervisor_stack:
