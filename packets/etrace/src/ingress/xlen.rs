//! Base instruction sets.

/// Base instruction set: the width of registers and addresses, and whether `c.jal` exists.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Xlen {
    /// RV32.
    Rv32,
    /// RV64.
    #[default]
    Rv64,
}

impl Xlen {
    /// Number of bits of a register and of an address.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Rv32 => 32,
            Self::Rv64 => 64,
        }
    }

    /// The address modulo the size of the address space; RV32 addresses are zero-extended.
    #[inline]
    pub const fn wrap(self, address: u64) -> u64 {
        match self {
            Self::Rv32 => address & 0xffff_ffff,
            Self::Rv64 => address,
        }
    }
}
