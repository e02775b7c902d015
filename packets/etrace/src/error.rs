use crate::FieldName;
use core::fmt;

/// A payload could not be parsed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseError {
    /// The payload ends inside this field. With [`Tail::End`](hartrace_bits::Tail::End) read more
    /// and try again; otherwise the payload is empty or cut short.
    Incomplete {
        /// The field that does not fit.
        field: FieldName,
        /// Bits missing for this field; later fields may need more.
        missing: u32,
    },
    /// A format 0 payload, but neither branch prediction nor the jump target cache is on.
    NoExtension,
    /// A format 0 payload without a subformat field, but both extensions are on.
    AmbiguousExtension,
    /// A format 0 subformat that is not defined, or whose extension is not on.
    Subformat(u8),
    /// branch_fmt 1 is reserved.
    BranchFmt(u8),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { field, missing } => {
                write!(f, "payload ends {missing} bits short of field {}", field.as_str())
            }
            Self::NoExtension => f.write_str(
                "format 0 payload, but neither branch prediction nor the jump target cache is on",
            ),
            Self::AmbiguousExtension => {
                f.write_str("format 0 payload without subformat, but both extensions are on")
            }
            Self::Subformat(raw) => {
                write!(f, "format 0 subformat {raw} is not defined or its extension is not on")
            }
            Self::BranchFmt(raw) => write!(f, "branch_fmt {raw} is reserved"),
        }
    }
}

impl core::error::Error for ParseError {}

/// A payload could not be emitted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmitError {
    /// The buffer is too short.
    BufferFull,
    /// The value of this field has more bits than the field, or the field does not exist under
    /// these parameters and its value is not 0.
    TooWide(FieldName),
    /// The field is in the payload but the value has none.
    Missing(FieldName),
    /// The value has this field but the payload does not.
    Unexpected(FieldName),
    /// A branch payload without an address needs exactly 31 branches; with one, at least 1.
    Branches(u8),
    /// Format 0 without a subformat field, but both extensions are on.
    AmbiguousExtension,
    /// A format 0 payload whose extension is not on.
    NoExtension,
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferFull => f.write_str("payload does not fit in the buffer"),
            Self::TooWide(field) => write!(f, "value of {} does not fit its field", field.as_str()),
            Self::Missing(field) => write!(f, "field {} has no value", field.as_str()),
            Self::Unexpected(field) => write!(f, "this payload has no field {}", field.as_str()),
            Self::Branches(n) => {
                write!(f, "a branch payload of this kind cannot hold {n} branches")
            }
            Self::AmbiguousExtension => {
                f.write_str("format 0 needs a subformat field when both extensions are on")
            }
            Self::NoExtension => f.write_str("the extension of this format 0 payload is not on"),
        }
    }
}

impl core::error::Error for EmitError {}
