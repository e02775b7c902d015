/// An instruction set.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// AArch64.
    A64,
    /// AArch32, four bytes.
    A32,
    /// AArch32, two or four bytes.
    T32,
}

/// Architectures, as far as they differ in the instructions that change the flow of control.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// Armv7.
    V7,
    /// Armv8.0 to 8.2.
    V8,
    /// Armv8.3: returns and branches with pointer authentication.
    V8r3,
    /// Later versions: WFIT and WFET, transactions, compare and branch.
    Later,
}

/// The instructions that end a block of the trace, apart from branches and ISB.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Architecture of the core.
    pub arch: Arch,
    /// DSB and DMB end a block (PTM, depending on its configuration).
    pub barriers: bool,
    /// WFI and WFE end a block (ETMv4.3, depending on its configuration).
    pub wfx: bool,
}

/// The effect of an instruction on the flow of control.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// None.
    Other,
    /// A branch whose target is in the opcode.
    Direct {
        /// The target address.
        target: u64,
        /// The instruction set there.
        isa: Isa,
    },
    /// A branch whose target is in a register or in memory.
    Indirect,
    /// ISB.
    Isb,
    /// DSB or DMB, if they end a block.
    Barrier,
    /// WFI or WFE, if they end a block.
    Wfx,
    /// TSTART, which is traced as a branch to the next instruction.
    TransactionStart,
}

/// Whether a branch is a return, judged by its opcode.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// No.
    No,
    /// By convention in AArch32, which has no return instruction: `bx lr`, `pop {pc}`.
    Implied,
    /// RET.
    Ret,
    /// ERET.
    Eret,
}

/// An instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insn {
    /// Size in bytes: 2 or 4.
    pub size: u8,
    /// Its effect on the flow of control.
    pub kind: Kind,
    /// It sets the link register.
    pub link: bool,
    /// The opcode contains a condition. Instructions in an IT block are also conditional; see
    /// [`Insn::it`].
    pub conditional: bool,
    /// Whether it is a return.
    pub returns: Return,
    /// For an IT instruction: the number of conditional instructions after it; else 0.
    pub it: u8,
}

impl Insn {
    pub(crate) const fn other(size: u8) -> Self {
        Self {
            size,
            kind: Kind::Other,
            link: false,
            conditional: false,
            returns: Return::No,
            it: 0,
        }
    }

    pub(crate) const fn indirect(size: u8, link: bool, returns: Return) -> Self {
        Self { kind: Kind::Indirect, link, returns, ..Self::other(size) }
    }

    pub(crate) const fn direct(size: u8, target: u64, isa: Isa, link: bool) -> Self {
        Self { kind: Kind::Direct { target, isa }, link, ..Self::other(size) }
    }

    pub(crate) const fn of(size: u8, kind: Kind) -> Self {
        Self { kind, ..Self::other(size) }
    }

    /// Whether it ends a block of the trace.
    #[inline]
    pub const fn ends_block(&self) -> bool {
        !matches!(self.kind, Kind::Other)
    }
}

/// Sign-extends a field of `bits` bits to an offset.
pub(crate) const fn signed(field: u32, bits: u32) -> i64 {
    let unused = 32u32.wrapping_sub(bits);
    ((field.wrapping_shl(unused) as i32) >> (unused & 31)) as i64
}
