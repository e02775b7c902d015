//! The memory map: what programs for this platform are written against.

/// Memory, where the core also starts.
pub const RAM: u64 = 0x8000_0000;
/// Bytes of memory.
pub const RAM_SIZE: u64 = 32 << 20;

/// Software interrupt of hart 0, one bit; 4 bytes further for each hart after it.
pub const MSIP: u64 = 0x0200_0000;
/// Time of the timer interrupt of hart 0; 8 bytes further for each hart after it.
pub const MTIMECMP: u64 = 0x0200_4000;
/// Time, in clock cycles. Read only.
pub const MTIME: u64 = 0x0200_bff8;

/// A store of `2 * code + 1` ends the program.
pub const EXIT: u64 = 0x1000_0000;
/// A store prints the low byte.
pub const CONSOLE: u64 = 0x1000_0008;
/// External interrupts of hart 0: bit 0 the machine's, bit 1 the supervisor's.
pub const EXTERNAL: u64 = 0x1000_0010;
/// A store of `n` requests debug mode of hart 0 for `n` clock cycles.
pub const DEBUG: u64 = 0x1000_0018;
/// From [`EXTERNAL`] and [`DEBUG`] of a hart to those of the next.
pub const NEXT_HART: u64 = 0x100;

/// Where the core goes in debug mode; it finds `dret` there.
pub const DEBUG_ENTRY: u64 = 0x800;
/// Where it goes if there is an exception in debug mode; `dret` as well.
pub const DEBUG_EXCEPTION: u64 = 0x808;
