// Changes between the modes of user.c.

    .file   "user.S"            // or the linker names a temporary file
    .text

// void enter(void (*function)(void)): mret to a function in the mode that mstatus.MPP says, with the
// stack as it is.
    .globl  enter
enter:
    csrw    mepc, a0
    mret

// long call(long a0, long a1, long number): the system call of user mode, and the kernel's call to
// machine mode.
    .globl  call
call:
    mv      a7, a2
    ecall
    ret

// Traps to machine mode. mscratch holds its stack; the C function sees what it may change.
    .globl  machine_trap
    .balign 4
machine_trap:
    csrrw   sp, mscratch, sp
    addi    sp, sp, -128
    sd      ra, 0(sp)
    sd      t0, 8(sp)
    sd      t1, 16(sp)
    sd      t2, 24(sp)
    sd      t3, 32(sp)
    sd      t4, 40(sp)
    sd      t5, 48(sp)
    sd      t6, 56(sp)
    sd      a0, 64(sp)
    sd      a1, 72(sp)
    sd      a2, 80(sp)
    sd      a3, 88(sp)
    sd      a4, 96(sp)
    sd      a5, 104(sp)
    sd      a6, 112(sp)
    sd      a7, 120(sp)
    mv      a0, sp
    call    machine
    ld      ra, 0(sp)
    ld      t0, 8(sp)
    ld      t1, 16(sp)
    ld      t2, 24(sp)
    ld      t3, 32(sp)
    ld      t4, 40(sp)
    ld      t5, 48(sp)
    ld      t6, 56(sp)
    ld      a0, 64(sp)
    ld      a1, 72(sp)
    ld      a2, 80(sp)
    ld      a3, 88(sp)
    ld      a4, 96(sp)
    ld      a5, 104(sp)
    ld      a6, 112(sp)
    ld      a7, 120(sp)
    addi    sp, sp, 128
    csrrw   sp, mscratch, sp
    mret

// Traps from user mode to the kernel. sscratch holds the task, where all registers go.
    .globl  kernel_trap
    .balign 4
kernel_trap:
    csrrw   a0, sscratch, a0
    sd      ra, 8(a0)
    sd      sp, 16(a0)
    sd      gp, 24(a0)
    sd      tp, 32(a0)
    sd      t0, 40(a0)
    sd      t1, 48(a0)
    sd      t2, 56(a0)
    sd      s0, 64(a0)
    sd      s1, 72(a0)
    sd      a1, 88(a0)
    sd      a2, 96(a0)
    sd      a3, 104(a0)
    sd      a4, 112(a0)
    sd      a5, 120(a0)
    sd      a6, 128(a0)
    sd      a7, 136(a0)
    sd      s2, 144(a0)
    sd      s3, 152(a0)
    sd      s4, 160(a0)
    sd      s5, 168(a0)
    sd      s6, 176(a0)
    sd      s7, 184(a0)
    sd      s8, 192(a0)
    sd      s9, 200(a0)
    sd      s10, 208(a0)
    sd      s11, 216(a0)
    sd      t3, 224(a0)
    sd      t4, 232(a0)
    sd      t5, 240(a0)
    sd      t6, 248(a0)
    csrr    t0, sscratch
    sd      t0, 80(a0)                  // what a0 was
    csrr    t0, sepc
    sd      t0, 0(a0)
    la      sp, kernel_stack
    call    trap
    // Falls through with the task to go on with in a0.

// void resume(struct task *task): sret to user mode.
    .globl  resume
resume:
    csrw    sscratch, a0
    ld      t0, 0(a0)
    csrw    sepc, t0
    ld      ra, 8(a0)
    ld      sp, 16(a0)
    ld      gp, 24(a0)
    ld      tp, 32(a0)
    ld      t0, 40(a0)
    ld      t1, 48(a0)
    ld      t2, 56(a0)
    ld      s0, 64(a0)
    ld      s1, 72(a0)
    ld      a1, 88(a0)
    ld      a2, 96(a0)
    ld      a3, 104(a0)
    ld      a4, 112(a0)
    ld      a5, 120(a0)
    ld      a6, 128(a0)
    ld      a7, 136(a0)
    ld      s2, 144(a0)
    ld      s3, 152(a0)
    ld      s4, 160(a0)
    ld      s5, 168(a0)
    ld      s6, 176(a0)
    ld      s7, 184(a0)
    ld      s8, 192(a0)
    ld      s9, 200(a0)
    ld      s10, 208(a0)
    ld      s11, 216(a0)
    ld      t3, 224(a0)
    ld      t4, 232(a0)
    ld      t5, 240(a0)
    ld      t6, 248(a0)
    ld      a0, 80(a0)
    sret

    .bss
    .balign 16
    .zero   1024
kernel_stack:
