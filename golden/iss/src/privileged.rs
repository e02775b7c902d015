//! Names of the privileged architecture: levels, exceptions, interrupts, bits of `mstatus`.

/// A privilege level.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(pub(crate) u8);

impl Level {
    pub(crate) const U: Self = Self(0);
    pub(crate) const S: Self = Self(1);
    pub(crate) const M: Self = Self(3);
}

/// Exception codes.
pub(crate) mod cause {
    pub(crate) const FETCH_ACCESS: u64 = 1;
    pub(crate) const ILLEGAL: u64 = 2;
    pub(crate) const BREAKPOINT: u64 = 3;
    pub(crate) const LOAD_MISALIGNED: u64 = 4;
    pub(crate) const LOAD_ACCESS: u64 = 5;
    pub(crate) const STORE_MISALIGNED: u64 = 6;
    pub(crate) const STORE_ACCESS: u64 = 7;
    pub(crate) const USER_ECALL: u64 = 8;
    pub(crate) const FETCH_PAGE: u64 = 12;
    pub(crate) const LOAD_PAGE: u64 = 13;
    pub(crate) const STORE_PAGE: u64 = 15;
}

/// Interrupt codes: bit numbers of `mip`, `mie` and `mideleg`.
pub(crate) mod interrupt {
    pub(crate) const SSI: u64 = 1;
    pub(crate) const MSI: u64 = 3;
    pub(crate) const STI: u64 = 5;
    pub(crate) const MTI: u64 = 7;
    pub(crate) const SEI: u64 = 9;
    pub(crate) const MEI: u64 = 11;
    /// Interrupts that can be delegated, and that software may set in `mip`.
    pub(crate) const SUPERVISOR: u64 = 1 << SSI | 1 << STI | 1 << SEI;
    pub(crate) const ALL: u64 = SUPERVISOR | 1 << MSI | 1 << MTI | 1 << MEI;
}

/// Bits of `mstatus`.
pub(crate) mod status {
    pub(crate) const SIE: u64 = 1 << 1;
    pub(crate) const MIE: u64 = 1 << 3;
    pub(crate) const SPIE: u64 = 1 << 5;
    pub(crate) const MPIE: u64 = 1 << 7;
    pub(crate) const SPP: u64 = 1 << 8;
    pub(crate) const MPP: u64 = 3 << 11;
    pub(crate) const FS: u64 = 3 << 13;
    pub(crate) const MPRV: u64 = 1 << 17;
    pub(crate) const SUM: u64 = 1 << 18;
    pub(crate) const MXR: u64 = 1 << 19;
    pub(crate) const TVM: u64 = 1 << 20;
    pub(crate) const TW: u64 = 1 << 21;
    pub(crate) const TSR: u64 = 1 << 22;
    /// Bits that software may write in M mode.
    pub(crate) const MACHINE: u64 = SUPERVISOR | MIE | MPIE | MPP | MPRV | TVM | TW | TSR;
    /// Bits that software may write in S mode.
    pub(crate) const SUPERVISOR: u64 = SIE | SPIE | SPP | FS | SUM | MXR;
}
