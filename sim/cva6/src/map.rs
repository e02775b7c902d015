//! The memory map for which programs of this platform are written.

/// Start of memory, where the core also starts.
pub const RAM: u64 = 0x8000_0000;
/// Size of memory in bytes.
pub const RAM_SIZE: u64 = 32 << 20;

/// Software interrupt of hart 0, one bit; other harts follow at steps of 4 bytes.
pub const MSIP: u64 = 0x0200_0000;
/// Time of the timer interrupt of hart 0; other harts follow at steps of 8 bytes.
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
/// Distance from [`EXTERNAL`] and [`DEBUG`] of a hart to those of the next.
pub const NEXT_HART: u64 = 0x100;

/// The address of debug mode, which contains `dret`.
pub const DEBUG_ENTRY: u64 = 0x800;
/// The address for exceptions in debug mode, which also contains `dret`.
pub const DEBUG_EXCEPTION: u64 = 0x808;

/// Registers of the encoder of a core that traces itself: a page for the hart, and one for the sink.
pub const TRACE: u64 = 0x1800_0000;
