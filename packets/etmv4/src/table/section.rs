//! Sections: the bytes after the headers of packets.

use super::field::{Field, FieldName};
use super::needs::Needs;
use super::shape::Shape;
use crate::Kind;
use FieldName as F;

/// The value that a byte of a section is compared with.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// The bits that are compared.
    pub mask: u8,
    /// Their value.
    pub value: u8,
    /// Whether the byte passes if they have this value (`true`), or if they have another.
    pub equal: bool,
}

impl Test {
    /// Whether a byte passes.
    #[inline]
    pub const fn passes(self, byte: u8) -> bool {
        (byte & self.mask == self.value) == self.equal
    }
}

/// The consequence if a byte passes a test.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A section is present, after those that are always present. A section without bytes in this
    /// configuration is not: deviation O4.
    Section(Section),
    /// The packet is of this kind.
    Kind(Kind),
    /// The packet is malformed.
    Malformed,
}

/// A decision made by a byte of a section.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The first byte that is tested, counted from 0.
    pub first: u8,
    /// The last byte that is tested.
    pub last: u8,
    /// The configurations in which the rule applies.
    pub needs: Needs,
    /// The comparison.
    pub test: Test,
    /// The consequence if the byte passes.
    pub effect: Effect,
}

impl Rule {
    /// A rule that never applies.
    pub(crate) const NONE: Self = Self::is(0, 1, Effect::Malformed);

    /// A rule for a byte whose bits have a value.
    const fn is(mask: u8, value: u8, effect: Effect) -> Self {
        let test = Test { mask, value, equal: true };
        Self { first: 0, last: 0, needs: Needs::Nothing, test, effect }
    }

    /// A rule for a byte whose bits have another value.
    const fn is_not(mask: u8, value: u8, effect: Effect) -> Self {
        let test = Test { mask, value, equal: false };
        Self { first: 0, last: 0, needs: Needs::Nothing, test, effect }
    }

    /// Applies the rule to other bytes than the first.
    const fn bytes(self, first: u8, last: u8) -> Self {
        Self { first, last, ..self }
    }

    /// Restricts the rule to ETE.
    const fn ete(self) -> Self {
        Self { needs: Needs::Ete(true), ..self }
    }

    /// Whether the byte at `index` has the effect.
    #[inline]
    pub const fn holds(&self, index: u8, byte: u8) -> bool {
        self.first <= index && index <= self.last && self.test.passes(byte)
    }
}

/// The sections with their bytes, fields and rules, in one list.
macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident: $shape:expr, [$($field:expr),*], [$($rule:expr),* $(,)?];)*) => {
        /// A section of a packet: adjacent bytes that form one number.
        ///
        /// Sections of a packet follow each other in the order of this list.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Section {
            $($(#[$doc])* $section,)*
        }

        impl Section {
            /// Every section, in order.
            pub const ALL: &'static [Self] = &[$(Self::$section,)*];

            /// Its bytes, assuming 32-bit identifiers.
            pub(crate) const fn longest(self) -> Shape {
                match self {
                    $(Self::$section => $shape,)*
                }
            }

            /// Where the bits of its number go. [`Layout::fields`](crate::Layout::fields) returns their
            /// widths in a configuration.
            pub const fn fields(self) -> &'static [Field] {
                match self {
                    $(Self::$section => &const { [$($field),*] },)*
                }
            }

            /// What its bytes decide, in the order of bytes. [`Layout::rules`](crate::Layout::rules)
            /// returns the rules of a configuration.
            pub const fn rules(self) -> &'static [Rule] {
                match self {
                    $(Self::$section => &const { [$($rule),*] },)*
                }
            }
        }
    };
}

const fn fixed(most: u8) -> Shape {
    Shape::fixed(most)
}

const fn bounded(most: u8) -> Shape {
    Shape::bounded(most)
}

const fn unbounded(most: u8) -> Shape {
    Shape::unbounded(most)
}

const fn f(name: FieldName, from: u8, width: u8) -> Field {
    Field::new(name, from, width)
}

const fn adds(bit: u8, section: Section) -> Rule {
    Rule::is(bit, bit, Effect::Section(section))
}

// Spec: IHI 0064, "Instruction trace packets".
sections! {
    /// The byte after header 00. If it is none of these, the packet remains a [`Kind::Extension`], which
    /// is malformed.
    Extension: fixed(1), [], [
        Rule::is(0xff, 0x00, Effect::Kind(Kind::Async)),
        Rule::is(0xff, 0x00, Effect::Section(Section::Zeros)),
        Rule::is(0xff, 0x03, Effect::Kind(Kind::Discard)),
        Rule::is(0xff, 0x05, Effect::Kind(Kind::Overflow)),
    ];
    /// The rest of an alignment synchronisation: zeros, then 80.
    Zeros: fixed(10), [], [
        Rule::is_not(0xff, 0x00, Effect::Malformed).bytes(0, 8),
        Rule::is_not(0xff, 0x80, Effect::Malformed).bytes(9, 9),
        Rule::is(0xff, 0x80, Effect::Kind(Kind::Async)).bytes(9, 9),
    ];
    /// PLCTL of TraceInfo: which sections follow. Bytes after the first have no meaning.
    Control: unbounded(5), [], [
        adds(0x01, Section::Info),
        adds(0x02, Section::P0Key),
        adds(0x04, Section::Speculation),
        adds(0x08, Section::Threshold),
        adds(0x10, Section::Window),
    ];
    /// INFO of TraceInfo.
    Info: unbounded(5), [f(F::Info, 0, 32)], [];
    /// KEY of TraceInfo.
    P0Key: unbounded(5), [f(F::P0Key, 0, 32)], [];
    /// SPEC of TraceInfo.
    Speculation: unbounded(5), [f(F::Speculation, 0, 32)], [];
    /// CYCT of TraceInfo.
    Threshold: unbounded(5), [f(F::Threshold, 0, 32)], [];
    /// The commit window of TraceInfo.
    Window: unbounded(5), [f(F::Window, 0, 32)], [];
    /// A timestamp.
    Timestamp: bounded(9), [f(F::Timestamp, 0, 64)], [];
    /// The cycles of a timestamp.
    TimestampCycles: bounded(3), [f(F::Cycles, 0, 32)], [];
    /// An exception. In ETE, numbers 00 and 18 are separate packets, with one more byte.
    Exception: bounded(2), [
        f(F::Returns, 0, 1),
        f(F::Type, 1, 5),
        f(F::Returns, 6, 1).at(1),
        f(F::Type, 7, 5).at(5),
        f(F::FaultPending, 12, 1),
        f(F::SecondByte, 7, 8)
    ], [
        Rule::is(0x3e, 0x00, Effect::Kind(Kind::Reset)).ete(),
        Rule::is(0x3e, 0x30, Effect::Kind(Kind::TransactionFail)).ete(),
        // Only without a second byte, which would otherwise be the code.
        Rule::is(0xbe, 0x00, Effect::Section(Section::ResetCode)).ete(),
        Rule::is(0xbe, 0x30, Effect::Section(Section::FailCode)).ete(),
        Rule::is_not(0x1f, 0x00, Effect::Kind(Kind::Exception)).bytes(1, 1).ete(),
    ];
    /// The last byte of a reset; ETE.
    ResetCode: fixed(1), [f(F::Code, 0, 8)], [];
    /// The last byte of a failed transaction; ETE.
    FailCode: fixed(1), [f(F::Code, 0, 8)], [];
    /// The exception level of instrumentation by software; ETE.
    Level: fixed(1), [f(F::ExceptionLevel, 0, 8)], [];
    /// What software wrote; ETE.
    Instrumentation: fixed(8), [f(F::Instrumentation, 0, 64)], [];
    /// P0 elements to commit.
    Commit: unbounded(5), [f(F::Commit, 0, 32)], [];
    /// The cycles of a cycle count, format 1.
    CycleCount: bounded(3), [f(F::Cycles, 0, 32)], [];
    /// Commit and cycles of a cycle count, format 2.
    CommitCycles: fixed(1), [f(F::Cycles, 0, 4), f(F::Commit, 4, 4)], [];
    /// P0 elements to cancel.
    Cancel: unbounded(5), [f(F::Cancel, 0, 32)], [];
    /// The key of a conditional instruction, format 1.
    ConditionalKey: unbounded(5), [f(F::ConditionalKey, 0, 32)], [];
    /// Conditional instructions, format 3.
    Conditional: fixed(1), [f(F::Z, 0, 1), f(F::Num, 1, 6)], [];
    /// The first result of format 1.
    Result1: unbounded(6), [f(F::Result1, 0, 4), f(F::ResultKey1, 4, 32)], [];
    /// The second result of format 1.
    Result2: unbounded(6), [f(F::Result2, 0, 4), f(F::ResultKey2, 4, 32)], [];
    /// The lower result tokens of format 3.
    Tokens: fixed(1), [f(F::Tokens, 0, 8)], [];
    /// The low bits of an address, IS0.
    ShortIs0: bounded(2), [f(F::Address, 0, 15).at(2)], [];
    /// The low bits of an address, IS1.
    ShortIs1: bounded(2), [f(F::Address, 0, 15).at(1)], [];
    /// 32 bits of an address, IS0.
    Long32Is0: Shape::narrow(4, 0b11), [f(F::Address, 0, 30).at(2)], [];
    /// 32 bits of an address, IS1.
    Long32Is1: Shape::narrow(4, 0b01), [f(F::Address, 0, 31).at(1)], [];
    /// 64 bits of an address, IS0.
    Long64Is0: Shape::narrow(8, 0b11), [f(F::Address, 0, 62).at(2)], [];
    /// 64 bits of an address, IS1.
    Long64Is1: Shape::narrow(8, 0b01), [f(F::Address, 0, 63).at(1)], [];
    /// The information byte of a context: which identifiers follow.
    Context: fixed(1), [
        f(F::ExceptionLevel, 0, 2),
        f(F::Nse, 3, 1),
        f(F::Sf, 4, 1),
        f(F::Ns, 5, 1)
    ], [adds(0x40, Section::Vmid), adds(0x80, Section::ContextId)];
    /// The virtual context identifier.
    Vmid: fixed(4), [f(F::Vmid, 0, 32)], [];
    /// The context identifier.
    ContextId: fixed(4), [f(F::ContextId, 0, 32)], [];
    /// Instructions of a Q element.
    Instructions: unbounded(5), [f(F::Instructions, 0, 32)], [];
}

impl Section {
    /// The bits of a field that are in the number of the section.
    #[inline(always)]
    pub const fn extract(self, name: FieldName, number: u64) -> u64 {
        let mut value = 0;
        let mut rest = self.fields();
        while let [field, others @ ..] = rest {
            if field.name as u8 == name as u8 {
                value |= field.extract(number);
            }
            rest = others;
        }
        value
    }
}

/// A set of sections, which follow each other in the order of [`Section::ALL`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sections(u64);

impl Sections {
    /// No section.
    pub const NONE: Self = Self(0);

    /// These sections.
    pub const fn of(sections: &[Section]) -> Self {
        let mut all = Self::NONE;
        let mut rest = sections;
        while let [section, others @ ..] = rest {
            all = all.with(*section);
            rest = others;
        }
        all
    }

    /// Adds a section.
    #[must_use]
    pub const fn with(self, section: Section) -> Self {
        Self(self.0 | 1u64.wrapping_shl(section as u32))
    }

    /// Removes sections.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether a section is in the set.
    pub const fn contains(self, section: Section) -> bool {
        self.0.wrapping_shr(section as u32) & 1 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The sections in order.
impl Iterator for Sections {
    type Item = Section;

    #[inline]
    fn next(&mut self) -> Option<Section> {
        let section = *Section::ALL.get(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0.wrapping_sub(1);
        Some(section)
    }
}

impl Sections {
    /// The sections that are present only because of a rule.
    pub(crate) const fn optional() -> Self {
        let mut all = Self::NONE;
        let mut sections = Section::ALL;
        while let [section, others @ ..] = sections {
            let mut rules = section.rules();
            while let [rule, others @ ..] = rules {
                if let Effect::Section(section) = rule.effect {
                    all = all.with(section);
                }
                rules = others;
            }
            sections = others;
        }
        all
    }
}
