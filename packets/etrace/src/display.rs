//! The one-line form of a payload, stable: listings and scenario files use it.

use crate::{AddressReport, BranchFmt, FieldName, Payload};
use core::fmt;

/// The value of one field, as listings show it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A small number.
    Number(u64),
    /// An address or identifier, in hexadecimal.
    Hex(u64),
    /// Branch outcomes, oldest first: `T` taken, `N` not taken.
    Map(crate::BranchMap),
    /// A name.
    Name(&'static str),
    /// Modes.
    Modes(crate::Ioptions),
    /// Records, as bits in the order in which they are sent.
    Records(crate::Records),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Hex(n) => write!(f, "{n:#x}"),
            Self::Map(map) => {
                for index in 0..map.branches() {
                    f.write_str(if map.taken(index) == Some(true) { "T" } else { "N" })?;
                }
                Ok(())
            }
            Self::Name(name) => f.write_str(name),
            Self::Modes(modes) => write!(f, "{modes}"),
            Self::Records(records) => write!(f, "{records}"),
        }
    }
}

impl Payload {
    /// Calls `show` for every field of the payload after format and subformat, in transmission
    /// order. Flags are shown as flags, not as the bits that encode them; fields that the
    /// parameters leave out are shown as 0.
    pub fn show(&self, show: &mut dyn FnMut(FieldName, Shown)) {
        use FieldName as N;
        use Shown::{Hex, Map, Modes, Name, Number};
        match self {
            Self::BranchCount(p) => {
                show(N::BranchCount, Number(p.branch_count.into()));
                let (code, report) = match &p.branch_fmt {
                    BranchFmt::NoAddress => (0, None),
                    BranchFmt::Address(report) => (2, Some(report)),
                    BranchFmt::MispredictedAddress(report) => (3, Some(report)),
                };
                show(N::BranchFmt, Number(code));
                if let Some(report) = report {
                    show_report(report, show);
                }
            }
            Self::JumpTarget(p) => {
                show(N::Index, Number(p.index.into()));
                show(N::Branches, Number(p.map.branches().into()));
                if !p.map.is_empty() {
                    show(N::BranchMap, Map(p.map));
                }
                show_depth(p.irdepth, show);
            }
            Self::Branch(p) => {
                let branches = if p.address.is_some() { p.map.branches() } else { 0 };
                show(N::Branches, Number(branches.into()));
                show(N::BranchMap, Map(p.map));
                if let Some(report) = &p.address {
                    show_report(report, show);
                }
            }
            Self::Address(report) => show_report(report, show),
            Self::Start(p) => {
                show(N::Branch, Number(p.branch.into()));
                show_state(p.privilege, p.time, p.context, show);
                show(N::Address, Hex(p.address));
            }
            Self::Trap(p) => {
                show(N::Branch, Number(p.branch.into()));
                show_state(p.privilege, p.time, p.context, show);
                show(N::Ecause, Number(p.ecause));
                show(N::Interrupt, Number(p.interrupt.into()));
                show(N::Thaddr, Number(p.thaddr.into()));
                if let Some(address) = p.address {
                    show(N::Address, Hex(address));
                }
                if let Some(tval) = p.tval {
                    show(N::Tval, Hex(tval));
                }
            }
            Self::Context(p) => show_state(p.privilege, p.time, p.context, show),
            Self::Support(p) => {
                show(N::Ienable, Number(p.ienable.into()));
                show(N::EncoderMode, Number(p.encoder_mode.into()));
                show(N::QualStatus, Name(p.qual_status.name()));
                show(N::Ioptions, Modes(p.ioptions));
                show(N::Denable, Number(p.data.denable.into()));
                show(N::Dloss, Number(p.data.dloss.into()));
                show(N::Doptions, Number(p.data.doptions.into()));
            }
            Self::History(p) => {
                show(N::Stop, Number(p.stop.is_some().into()));
                if let Some(half_words) = p.stop {
                    show(N::HalfWords, Number(half_words.into()));
                }
                show(N::Records, Shown::Records(p.records));
            }
        }
    }
}

fn show_state(privilege: u8, time: u64, context: u64, show: &mut dyn FnMut(FieldName, Shown)) {
    show(FieldName::Privilege, Shown::Number(privilege.into()));
    show(FieldName::Time, Shown::Hex(time));
    show(FieldName::Context, Shown::Hex(context));
}

fn show_report(report: &AddressReport, show: &mut dyn FnMut(FieldName, Shown)) {
    show(FieldName::Address, Shown::Hex(report.address));
    show(FieldName::Notify, Shown::Number(report.notify.into()));
    show(FieldName::Updiscon, Shown::Number(report.updiscon.into()));
    show_depth(report.irdepth, show);
}

fn show_depth(irdepth: Option<u32>, show: &mut dyn FnMut(FieldName, Shown)) {
    show(FieldName::Irreport, Shown::Number(irdepth.is_some().into()));
    if let Some(depth) = irdepth {
        show(FieldName::Irdepth, Shown::Number(depth.into()));
    }
}

/// `format name field=value ...`; flags, time, context and data-trace fields only where not 0.
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FieldName as N;
        let mut result = write!(f, "{:<3} {:<7}", self.format().code(), self.format().name());
        self.show(&mut |name, value| {
            let quiet = matches!(
                name,
                N::Time
                    | N::Context
                    | N::Notify
                    | N::Updiscon
                    | N::Irreport
                    | N::EncoderMode
                    | N::Denable
                    | N::Dloss
                    | N::Doptions
                    | N::Stop
            );
            let zero = matches!(value, Shown::Number(0) | Shown::Hex(0));
            if !(quiet && zero) {
                result = result.and_then(|()| write!(f, " {}={value}", name.as_str()));
            }
        });
        result
    }
}
