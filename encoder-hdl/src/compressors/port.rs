//! The ingress port, one instruction or trap at a time.

use crate::ingress::{UNINFERABLE, itype_is};
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Expr, Module};

/// Low bits of an address that tell whether a branch leads to the instruction behind it: branches reach 4 KiB.
pub(crate) const BRANCH: u32 = 13;

/// What retires in this cycle.
pub(crate) struct Row {
    /// Its address; the lowest bit is zero.
    pub(crate) address: Expr,
    /// An instruction retires or traps.
    pub(crate) works: Expr,
    /// An instruction retires.
    pub(crate) retires: Expr,
    /// It has 4 bytes.
    pub(crate) wide: Expr,
    itype: Expr,
}

impl Row {
    /// The inputs of a module.
    pub(crate) fn new(m: &Module, xlen: u32) -> Self {
        let itype = m.input("itype_i", 4, "how it ends");
        let address = m.input("iaddr_i", xlen, "address of the instruction");
        let iretire = m.input("iretire_i", 2, "half-words of the instruction that retires");
        let retires = m.let_("retires", iretire.any());
        let trap = itype_is(&itype, &[IType::Exception, IType::Interrupt]);
        let works = m.let_("works", &retires | trap);
        m.assume_always("one_instruction", !iretire.all());
        m.assume_always("even_address", !&works | !address.bit(0));
        Self { address, works, retires, wide: iretire.bit(1), itype }
    }

    /// Whether it is of one of these types. Types other than traps are those of an instruction that retires.
    pub(crate) fn is(&self, itypes: &[IType]) -> Expr {
        itype_is(&self.itype, itypes)
    }

    /// Whether it leads somewhere that the program does not determine.
    pub(crate) fn is_indirect(&self) -> Expr {
        self.is(&UNINFERABLE)
    }

    /// Whether a trap follows.
    pub(crate) fn is_trap(&self) -> Expr {
        self.is(&[IType::Exception, IType::Interrupt])
    }
}
