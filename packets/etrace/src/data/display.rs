//! The one-line form of a payload, stable: listings and scenario files use it.

use super::{
    AccessReport, AddressDiff, AtomicReport, CsrReport, DataFieldName, DataPayload, Response,
};
use core::fmt;

/// The value of one field, as listings show it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DataShown {
    /// A small number.
    Number(u32),
    /// Data or an address, in hexadecimal.
    Hex(u128),
    /// A name.
    Name(&'static str),
}

impl fmt::Display for DataShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Hex(n) => write!(f, "{n:#x}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

type Show<'a> = &'a mut dyn FnMut(DataFieldName, DataShown);

impl DataPayload {
    /// A one-word name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Access(p) if p.store => "store",
            Self::Access(_) => "load",
            Self::LoadRequest(_) => "loadreq",
            Self::LoadResponse(_) => "loadrsp",
            Self::Csr(_) => "csr",
            Self::Atomic(_) => "atomic",
            Self::AtomicRequest(_) => "atomreq",
            Self::AtomicResponse(_) => "atomrsp",
        }
    }

    /// Calls `show` for every field of the payload after format, in transmission order but with
    /// the two parts of a CSR number as one address at the end. Lengths are not shown: they follow
    /// from the values.
    pub fn show(&self, show: Show<'_>) {
        use DataFieldName as N;
        use DataShown::{Hex, Name, Number};
        let size = |size: u8| Number(size.into());
        match *self {
            Self::Access(p) => {
                show(N::Size, size(p.size));
                match p.report {
                    AccessReport::Both { diff, data, address } => {
                        show(N::Diff, Name(diff.name()));
                        show(N::Data, Hex(data));
                        show(N::Address, Hex(address.into()));
                    }
                    AccessReport::Address { diff, address } => show_address(diff, address, show),
                    AccessReport::Data { diff, data } => {
                        show(N::Diff, Name(diff.name()));
                        show(N::Data, Hex(data));
                    }
                }
            }
            Self::LoadRequest(p) => {
                show(N::Size, size(p.size));
                show(N::Lrid, Number(p.lrid));
                show_address(p.diff, p.address, show);
            }
            Self::LoadResponse(p) => {
                show(N::Size, size(p.size));
                show_response(p.lrid, p.resp, show);
            }
            Self::Csr(p) => {
                show(N::Subtype, Name(p.subtype.name()));
                match p.report {
                    CsrReport::Both { diff, data, operand, address } => {
                        show(N::Diff, Name(diff.name()));
                        show(N::Data, Hex(data.into()));
                        if let Some(operand) = operand {
                            show(N::Operand, Hex(operand.into()));
                        }
                        show(N::Address, Hex(address.into()));
                    }
                    CsrReport::Address { diff, address } => {
                        show_address(diff, address.into(), show);
                    }
                }
            }
            Self::Atomic(p) => {
                show(N::Subtype, Name(p.subtype.name()));
                show(N::Size, size(p.size));
                match p.report {
                    AtomicReport::Both { diff, operand, data, address } => {
                        show(N::Diff, Name(diff.name()));
                        show(N::Operand, Hex(operand));
                        show(N::Data, Hex(data));
                        show(N::Address, Hex(address.into()));
                    }
                    AtomicReport::Address { diff, address } => show_address(diff, address, show),
                    AtomicReport::Data { diff, operand, data } => {
                        show(N::Diff, Name(diff.name()));
                        show(N::Operand, Hex(operand));
                        show(N::Data, Hex(data));
                    }
                }
            }
            Self::AtomicRequest(p) => {
                show(N::Subtype, Name(p.subtype.name()));
                show(N::Size, size(p.size));
                show(N::Lrid, Number(p.lrid));
                show(N::Diff, Name(p.diff.name()));
                show(N::Operand, Hex(p.operand));
                show(N::Address, Hex(p.address.into()));
            }
            Self::AtomicResponse(p) => show_response(p.lrid, p.resp, show),
        }
    }
}

fn show_address(diff: AddressDiff, address: u64, show: Show<'_>) {
    show(DataFieldName::Diff, DataShown::Name(diff.name()));
    show(DataFieldName::Address, DataShown::Hex(address.into()));
}

fn show_response(lrid: u32, resp: Response, show: Show<'_>) {
    show(DataFieldName::Lrid, DataShown::Number(lrid));
    show(DataFieldName::Resp, DataShown::Name(resp.name()));
    if let Some(data) = resp.data() {
        show(DataFieldName::Data, DataShown::Hex(data));
    }
}

/// `format name field=value ...`.
impl fmt::Display for DataPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = write!(f, "{:<3} {:<7}", self.code(), self.name());
        self.show(&mut |name, value| {
            result = result.and_then(|()| write!(f, " {}={value}", name.as_str()));
        });
        result
    }
}
