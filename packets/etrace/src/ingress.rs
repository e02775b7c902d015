//! The ingress port of an E-Trace encoder: the signals that a RISC-V hart reports.
//!
//! This is the contract between core, connector, generated hardware, golden model and comparators:
//! the ingress port of the E-Trace specification, as plain data, with the specification's names.
//!
//! A [`Cycle`] contains everything that crosses the port in one clock: up to `N` blocks and the
//! signals they share. A [`Retired`] is one of those blocks with its shared signals resolved;
//! software models consume this form. [`Cycle::blocks`] converts the first into the second.

mod cycle;
mod itype;
mod xlen;

pub use cycle::{Block, Cycle, CycleError, Flavour};
pub use itype::{IType, ITypeWidth, UnknownIType};
pub use xlen::Xlen;

use core::fmt;

/// Privilege level as transmitted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Privilege(pub u8);

impl Privilege {
    /// User.
    pub const U: Self = Self(0);
    /// Supervisor, or hypervisor-extended supervisor.
    pub const S: Self = Self(1);
    /// Machine.
    pub const M: Self = Self(3);
    /// Debug.
    pub const D: Self = Self(4);
    /// Virtual user.
    pub const VU: Self = Self(5);
    /// Virtual supervisor.
    pub const VS: Self = Self(6);
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::U => f.write_str("U"),
            Self::S => f.write_str("S"),
            Self::M => f.write_str("M"),
            Self::D => f.write_str("D"),
            Self::VU => f.write_str("VU"),
            Self::VS => f.write_str("VS"),
            Self(raw) => write!(f, "{raw}"),
        }
    }
}

/// What the encoder does with a context change.
///
/// Spec: E-Trace 2.0, 4.2 "Instruction Trace Interface", table of *ctype* values.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum CType {
    /// Not reported.
    #[default]
    Unreported,
    /// Reported when convenient, without an address.
    Imprecise,
    /// Reported at this instruction, like a privilege change.
    Precise,
    /// Reported like a trap: the last instruction of the old context, then the new one.
    AsynchronousDiscontinuity,
}

impl CType {
    /// The meaning of the raw signal; only its two low bits count.
    pub const fn from_raw(raw: u8) -> Self {
        match raw & 3 {
            0 => Self::Unreported,
            1 => Self::Imprecise,
            2 => Self::Precise,
            _ => Self::AsynchronousDiscontinuity,
        }
    }
}

/// The hart's debug trigger outputs for one block.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trigger {
    /// `trigger[0]`: start tracing with the oldest instruction of this cycle.
    pub on: bool,
    /// `trigger[1]`: stop tracing after the newest instruction of this cycle.
    pub off: bool,
    /// `trigger[2+i]`: report the last instruction of this block.
    pub notify: bool,
}

/// One block of instructions that retired together, and the trap that followed it, if any.
///
/// With `iretire` 0 nothing retired. The entry then only reports a trap (`itype` 1 or 2), and
/// `iaddr` is the address of the instruction that did not retire.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Retired {
    /// How the block ends.
    pub itype: IType,
    /// Address of the first instruction of the block.
    pub iaddr: u64,
    /// Half-words retired in the block.
    pub iretire: u32,
    /// The last instruction is `2^ilastsize` half-words long.
    pub ilastsize: u8,
    /// The jump that ends the block is sequentially inferable.
    pub sijump: bool,
    /// Privilege of everything retired here.
    pub privilege: Privilege,
    /// Trap cause; valid for itype 1 and 2.
    pub cause: u64,
    /// Trap value; valid for itype 1.
    pub tval: u64,
    /// Context identifier.
    pub context: u64,
    /// What to do if `context` has changed.
    pub ctype: CType,
    /// Hart time.
    pub time: u64,
    /// Debug triggers.
    pub trigger: Trigger,
    /// Clock cycles since the previous entry: 1 where every entry is a cycle, 0 for the younger
    /// blocks of one cycle.
    pub cycles: u32,
    /// The hart is halted after this block.
    pub halted: bool,
    /// The hart is in reset after this block.
    pub reset: bool,
}

impl Retired {
    /// One plain instruction of 4 bytes at `iaddr` in machine mode; the base for struct updates.
    pub const fn plain(iaddr: u64) -> Self {
        Self {
            itype: IType::None,
            iaddr,
            iretire: 2,
            ilastsize: 1,
            sijump: false,
            privilege: Privilege::M,
            cause: 0,
            tval: 0,
            context: 0,
            ctype: CType::Unreported,
            time: 0,
            trigger: Trigger { on: false, off: false, notify: false },
            cycles: 1,
            halted: false,
            reset: false,
        }
    }

    /// Length of the last instruction in bytes.
    pub const fn last_bytes(&self) -> u64 {
        2u64.wrapping_shl(self.ilastsize as u32)
    }

    /// Address of the last instruction of the block; `iaddr` if nothing retired.
    pub const fn last_address(&self) -> u64 {
        if self.iretire == 0 {
            return self.iaddr;
        }
        self.next_address().wrapping_sub(self.last_bytes())
    }

    /// Address after the last instruction: the return address if the block ends in a call.
    pub const fn next_address(&self) -> u64 {
        self.iaddr.wrapping_add((self.iretire as u64).wrapping_mul(2))
    }
}
