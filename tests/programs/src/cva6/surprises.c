// Work in all three modes that goes on whatever comes: timer, software and external interrupts to machine and
// supervisor mode, debug mode, exceptions and system calls, in handlers too. Interrupts are raised by the program
// itself now and then, and by whoever else can write to the registers of the platform, at any time.

#include "machine.h"

enum { SSI = 1, MSI = 3, STI = 5, MTI = 7, SEI = 9, MEI = 11 };
enum { MIE = 1 << 3, SIE = 1 << 1 };
enum { EVENTS = 40 };

static uint64_t stack[512];
static volatile uint32_t interrupts, calls, in_supervisor;

static long call(long number)
{
    register long a0 __asm__("a0") = number;
    register long a7 __asm__("a7") = 0;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
    return a0;
}

void machine_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(mcause);
    switch (cause) {
    case INTERRUPT | MSI:
        MSIP = 0;
        break;
    case INTERRUPT | MTI:
        MTIMECMP = -1;
        // Passed on to the supervisor.
        SET_CSR(mip, 1 << STI);
        break;
    case INTERRUPT | MEI:
        // The supervisor's line for the machine's.
        EXTERNAL = interrupts & 1 ? 2 : 0;
        break;
    case ECALL_U:
    case ECALL_S:
        if (frame->x[A7] == LEAVE)
            leave(frame->x[A0]);
        // The supervisor asks for a line to be withdrawn.
        if (frame->x[A0] == STI)
            CLEAR_CSR(mip, 1 << STI);
        if (frame->x[A0] == SEI)
            EXTERNAL = 0;
        // fall through
    case ECALL_M:
        frame->x[A0]++;
        frame->x[PC] += 4;
        calls++;
        return;
    case ILLEGAL:
    case BREAKPOINT:
        skip(frame);
        return;
    default:
        finish(64 + cause % 64);
    }
    interrupts++;
    // Others may interrupt this one, and some handlers trap themselves.
    if (interrupts % 4 == 0) {
        SET_CSR(mstatus, MIE);
        if (call(1) != 2)
            finish(5);
        CLEAR_CSR(mstatus, MIE);
    }
}

void supervisor_trap(struct frame *frame)
{
    unsigned long cause = READ_CSR(scause);
    (void)frame;
    in_supervisor++;
    if (cause == (INTERRUPT | SSI))
        CLEAR_CSR(sip, 1 << SSI);
    else if (cause == (INTERRUPT | STI) || cause == (INTERRUPT | SEI))
        call(cause & 15);
    else
        finish(32);
}

// Something to be interrupted in, whose result does not depend on it.
static FUNCTION uint32_t work(uint32_t state)
{
    static const uint8_t steps[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    uint32_t sum = 0;
    for (int i = 0; i < 15; i++) {
        uint32_t r = random32(&state);
        switch (r >> 8 & 7) {
        case 0: sum += r; break;
        case 1: sum ^= r >> 3; break;
        case 2: sum *= steps[r & 7]; break;
        case 3: sum -= i; break;
        case 4: sum = r & 1 ? sum / 3 : sum % 1000; break;
        case 5: sum |= 1; break;
        case 6: sum = ~sum; break;
        default: sum += steps[sum & 7];
        }
    }
    return sum;
}

// Until the timer. Interrupts wait until it is awake, or one could be over before it falls asleep; that of the
// machine, if this is the supervisor, leaves one for it behind.
static FUNCTION void sleep(long mode)
{
    if (mode == MACHINE)
        CLEAR_CSR(mstatus, MIE);
    else
        CLEAR_CSR(sstatus, SIE);
    MTIMECMP = MTIME + 50;
    __asm__ volatile("wfi");
    if (mode == MACHINE)
        SET_CSR(mstatus, MIE);
    else
        SET_CSR(sstatus, SIE);
}

// Until enough has happened. a0 says in which mode.
static FUNCTION long busy(long mode)
{
    uint32_t good = work(7), before = interrupts + in_supervisor;
    for (int i = 0; interrupts + in_supervisor < before + EVENTS; i++) {
        if (work(7) != good)
            return 1;
        if (call(4) != 5)
            return 2;
        if (i % 4 == 0)
            __asm__ volatile(".half 0x9002\n.word 0xffffffff");
        if (i % 2 == 0)
            MTIMECMP = MTIME + 30 + (i * 37 & 63);
        if (i % 3 == 1)
            MSIP = 1;
        if (i % 5 == 2)
            EXTERNAL = 1;
        if (mode != USER && i % 7 == 3)
            SET_CSR(sip, 1 << SSI);
        if (mode != USER && i % 6 == 5)
            sleep(mode);
        if (i % 16 == 11)
            DEBUG = 2;
    }
    return 0;
}

int surprises(void)
{
    set_up();
    WRITE_CSR(mideleg, 1 << SSI | 1 << STI | 1 << SEI);
    __asm__ volatile("csrw stvec, %0" ::"r"(supervisor_entry));
    WRITE_CSR(mie, 1 << MSI | 1 << MTI | 1 << MEI | 1 << SSI | 1 << STI | 1 << SEI);
    SET_CSR(mstatus, MIE);
    if (busy(MACHINE))
        return 1;
    for (enum mode mode = USER; mode <= SUPERVISOR; mode++) {
        // Interrupts of lower modes are always taken in higher ones; those of the supervisor if it wants.
        SET_CSR(mstatus, SIE);
        if (enter(mode, busy, mode, stack + COUNT(stack)))
            return 2;
    }
    return 0;
}
