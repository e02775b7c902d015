//! Reports of a hart.

use crate::op::Op;
use hartrace_etrace::ingress::{IType, Privilege, Retired};

/// Receives what a hart executes, one step at a time.
pub trait Retire {
    /// Whether steps carry [`Step::access`] and [`Step::write`], which costs time.
    const DETAIL: bool = false;

    /// Receives the next step.
    fn retire(&mut self, step: &Step);
}

impl<F: FnMut(&Step)> Retire for F {
    fn retire(&mut self, step: &Step) {
        self(step);
    }
}

/// A trap.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trap {
    /// Exception or interrupt code, without the interrupt bit.
    pub cause: u64,
    /// Whether it is an interrupt.
    pub interrupt: bool,
    /// Trap value.
    pub tval: u64,
    /// Address to which the handler returns.
    pub epc: u64,
}

/// Kind of a memory access.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Load, including load-reserved.
    Load,
    /// Store, including a store-conditional that succeeds.
    Store,
    /// Read and write.
    Atomic,
}

/// A memory access.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Kind of access.
    pub kind: AccessKind,
    /// Virtual address.
    pub address: u64,
    /// Size in bytes.
    pub size: u8,
    /// Contents of memory after the access, zero-extended.
    pub value: u64,
}

/// The register that an instruction writes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// `x1` to `x31`.
    Integer(u8),
    /// `f0` to `f31`.
    Float(u8),
}

/// One instruction that retires, one that traps instead, or an interrupt.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Address of the instruction; of the next one, if this is an interrupt.
    pub pc: u64,
    /// Its length in bytes; 0 if there is none or it could not be fetched.
    pub size: u8,
    /// The instruction; its low half if it is compressed.
    pub encoding: u32,
    /// The code of the ingress port, of 4 bits. `ecall` and `ebreak` are exceptions.
    pub kind: IType,
    /// Whether it retires. In the sense of the ingress port, `ecall` and `ebreak` retire too,
    /// although they trap and `minstret` does not count them.
    pub retires: bool,
    /// Address at which execution continues.
    pub next_pc: u64,
    /// Privilege of this step, before a trap or return changes it.
    pub privilege: Privilege,
    /// The number of the thread in the Linux environment, 0 for the first; else 0.
    pub context: u64,
    /// The trap that follows `ecall` and `ebreak`, replaces the instruction, or is the interrupt.
    pub trap: Option<Trap>,
    /// Memory access, if [`Retire::DETAIL`] is set.
    pub access: Option<Access>,
    /// Register and its new value, if [`Retire::DETAIL`] is set.
    pub write: Option<(Register, u64)>,
}

impl Step {
    /// A step for the instruction `op`, if it is known, at `pc`, as if it retired.
    #[inline(always)]
    pub(crate) fn of(pc: u64, op: Option<Op>) -> Self {
        let op_or = op.unwrap_or(Op { size: 0, ..Op::UNDECODED });
        Self {
            pc,
            size: op_or.size,
            encoding: op_or.encoding,
            kind: op_or.kind,
            retires: op.is_some(),
            next_pc: pc,
            privilege: Privilege::M,
            context: 0,
            trap: None,
            access: None,
            write: None,
        }
    }

    /// Converts the step to a row of the ingress port, with one instruction per row.
    ///
    /// Traps that replace an instruction have `iretire` 0, and interrupts carry no instruction.
    /// Returns from traps have itype 3, where the tables of the reference flow have 14.
    pub fn retired(&self) -> Retired {
        let ilastsize = u8::from(self.size == 4);
        let trap = self.trap.filter(|_| self.kind.is_trap());
        Retired {
            itype: self.kind,
            iretire: if self.retires { 1 << ilastsize } else { 0 },
            ilastsize,
            privilege: self.privilege,
            cause: trap.map_or(0, |trap| trap.cause),
            tval: trap.map_or(0, |trap| trap.tval),
            context: self.context,
            ..Retired::plain(self.pc)
        }
    }
}
