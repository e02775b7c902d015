use core::fmt;

/// How a block of instructions ends.
///
/// Spec: E-Trace 2.0, 4.2 "Instruction Trace Interface", table of *itype* values. Code 6 belongs to the 3-bit encoding, 8 to 15
/// to the 4-bit one; 7 is reserved.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum IType {
    /// Nothing special; with 3-bit codes also inferable jumps and calls.
    #[default]
    None = 0,
    /// An exception followed the last retired instruction.
    Exception = 1,
    /// An interrupt followed the last retired instruction.
    Interrupt = 2,
    /// Return from a trap handler.
    TrapReturn = 3,
    /// Branch, not taken.
    NotTaken = 4,
    /// Branch, taken.
    Taken = 5,
    /// Any uninferable jump (3-bit codes only).
    UninferableJump = 6,
    /// Uninferable call.
    UninferableCall = 8,
    /// Inferable call.
    InferableCall = 9,
    /// Uninferable jump without linkage.
    UninferableTailCall = 10,
    /// Inferable jump without linkage.
    InferableTailCall = 11,
    /// Co-routine swap.
    CoRoutineSwap = 12,
    /// Function return.
    Return = 13,
    /// Other uninferable jump, with linkage.
    OtherUninferableJump = 14,
    /// Other inferable jump, with linkage.
    OtherInferableJump = 15,
}

/// Width of the itype signal, `itype_width_p`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ITypeWidth {
    /// Codes 0 to 6: jumps are only distinguished as inferable or uninferable.
    Three,
    /// All codes; required for implicit return.
    #[default]
    Four,
}

/// A reserved itype code.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownIType(pub u8);

impl fmt::Display for UnknownIType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "itype {} is reserved", self.0)
    }
}

impl core::error::Error for UnknownIType {}

impl TryFrom<u8> for IType {
    type Error = UnknownIType;

    fn try_from(raw: u8) -> Result<Self, UnknownIType> {
        Ok(match raw {
            0 => Self::None,
            1 => Self::Exception,
            2 => Self::Interrupt,
            3 => Self::TrapReturn,
            4 => Self::NotTaken,
            5 => Self::Taken,
            6 => Self::UninferableJump,
            8 => Self::UninferableCall,
            9 => Self::InferableCall,
            10 => Self::UninferableTailCall,
            11 => Self::InferableTailCall,
            12 => Self::CoRoutineSwap,
            13 => Self::Return,
            14 => Self::OtherUninferableJump,
            15 => Self::OtherInferableJump,
            _ => return Err(UnknownIType(raw)),
        })
    }
}

impl IType {
    /// The code as transmitted.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Exception or interrupt.
    pub const fn is_trap(self) -> bool {
        matches!(self, Self::Exception | Self::Interrupt)
    }

    /// Branch, taken or not.
    pub const fn is_branch(self) -> bool {
        matches!(self, Self::NotTaken | Self::Taken)
    }

    /// A call of either kind.
    pub const fn is_call(self) -> bool {
        matches!(self, Self::UninferableCall | Self::InferableCall)
    }

    /// The same event in 3-bit codes.
    pub const fn narrow(self) -> Self {
        match self {
            Self::UninferableCall
            | Self::UninferableTailCall
            | Self::CoRoutineSwap
            | Self::Return
            | Self::OtherUninferableJump => Self::UninferableJump,
            Self::InferableCall | Self::InferableTailCall | Self::OtherInferableJump => Self::None,
            same => same,
        }
    }
}
