//! State of the control and status registers.
//!
//! Physical memory protection is accepted and ignored: its registers keep the values written to
//! them, but every access is allowed. Performance counters other than `mcycle` and `minstret` are
//! zero, and every instruction counts as one cycle. Triggers and debug registers do not exist.

/// The registers that hold their own state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Csrs {
    pub(crate) mstatus: u64,
    pub(crate) medeleg: u64,
    pub(crate) mideleg: u64,
    pub(crate) mie: u64,
    /// The bits of `mip` that software sets; the others come from the timer.
    pub(crate) mip: u64,
    pub(crate) mtvec: u64,
    pub(crate) mscratch: u64,
    pub(crate) mepc: u64,
    pub(crate) mcause: u64,
    pub(crate) mtval: u64,
    pub(crate) mcounteren: u64,
    pub(crate) stvec: u64,
    pub(crate) sscratch: u64,
    pub(crate) sepc: u64,
    pub(crate) scause: u64,
    pub(crate) stval: u64,
    pub(crate) scounteren: u64,
    pub(crate) satp: u64,
    pub(crate) frm: u8,
    pub(crate) fflags: u8,
    pub(crate) pmpcfg: [u64; 4],
    pub(crate) pmpaddr: [u64; 16],
    /// Offset to add to the number of retired instructions.
    pub(crate) minstret: u64,
    pub(crate) mcycle: u64,
}
