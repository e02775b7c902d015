//! Fields, and where their bits are.

/// The fields that packets consist of, in one list.
macro_rules! field_names {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The name of a field.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FieldName {
            $($(#[$doc])* $name,)*
        }

        impl FieldName {
            /// Every field, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

field_names! {
    /// INFO of TraceInfo.
    Info,
    /// KEY of TraceInfo: the P0 key.
    P0Key,
    /// SPEC of TraceInfo: P0 elements that wait for their commit.
    Speculation,
    /// CYCT of TraceInfo: the cycle count threshold.
    Threshold,
    /// The commit window of TraceInfo; ETE.
    Window,
    /// The low bits of a timestamp.
    Timestamp,
    /// Cycles: between the last cycle count and a timestamp, or above the threshold.
    Cycles,
    /// E of an exception: the meaning of the address after it.
    Returns,
    /// TYPE of an exception: its number.
    Type,
    /// A fault is pending; M profile.
    FaultPending,
    /// The whole second byte of an exception: the code of a reset or a failed transaction.
    SecondByte,
    /// The byte after a reset or a failed transaction; ETE.
    Code,
    /// The exception level of instrumentation by software, or of a context.
    ExceptionLevel,
    /// What software wrote; ETE.
    Instrumentation,
    /// P0 elements to commit.
    Commit,
    /// F of cycle count format 2: the commit counts down from MAXSPEC.
    Far,
    /// P0 elements to cancel; in format 3, their number minus two.
    Cancel,
    /// A code that stands for atoms. [`Headers::atoms`](crate::Headers::atoms) decodes those of the
    /// atom packets.
    Atoms,
    /// The number of a data synchronisation marker.
    Marker,
    /// The key of a conditional instruction.
    ConditionalKey,
    /// Conditional instructions of format 2.
    Conditional,
    /// Z of conditional instructions, format 3.
    Z,
    /// NUM of conditional instructions, format 3.
    Num,
    /// The first result of format 1.
    Result1,
    /// The key of the first result.
    ResultKey1,
    /// CI of the first result.
    Ci1,
    /// The second result of format 1.
    Result2,
    /// The key of the second result.
    ResultKey2,
    /// CI of the second result.
    Ci2,
    /// The key of a result of format 2 moves by two.
    Two,
    /// Result tokens of formats 2, 3 and 4.
    Tokens,
    /// Events, one bit each.
    Events,
    /// The number of the address register that holds the address.
    Match,
    /// The bits of an address that are sent.
    Address,
    /// NSE of a context.
    Nse,
    /// SF of a context: AArch64.
    Sf,
    /// NS of a context: non-secure.
    Ns,
    /// The virtual context identifier.
    Vmid,
    /// The context identifier.
    ContextId,
    /// Instructions of a Q element.
    Instructions,
}

/// Adjacent bits of a header or of a section, and their position in a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The field.
    pub name: FieldName,
    /// The lowest bit, in the header or in the number of the section.
    pub from: u8,
    /// Number of bits.
    pub width: u8,
    /// Position of the lowest bit in the field.
    pub to: u8,
}

impl Field {
    /// Declares the lower bits of a field.
    pub(crate) const fn new(name: FieldName, from: u8, width: u8) -> Self {
        Self { name, from, width, to: 0 }
    }

    /// Moves the bits up in the field.
    pub(crate) const fn at(self, to: u8) -> Self {
        Self { to, ..self }
    }

    /// Extracts the bits of the field from `number`.
    #[inline]
    pub const fn extract(&self, number: u64) -> u64 {
        (number.wrapping_shr(self.from as u32) & ones(self.width)).wrapping_shl(self.to as u32)
    }

    /// Returns the bits of `number` that encode this part of a value of the field.
    pub const fn insert(&self, value: u64) -> u64 {
        (value.wrapping_shr(self.to as u32) & ones(self.width)).wrapping_shl(self.from as u32)
    }

    /// The bits of the field that are sent here.
    pub const fn mask(&self) -> u64 {
        ones(self.width).wrapping_shl(self.to as u32)
    }
}

/// A number with the lowest `width` bits set; at most 64.
pub(crate) const fn ones(width: u8) -> u64 {
    match 1u64.checked_shl(width as u32) {
        Some(bit) => bit.wrapping_sub(1),
        None => u64::MAX,
    }
}
