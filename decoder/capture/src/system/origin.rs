//! A trace source.

use crate::snapshot::{Core, Error, Protocol, Source, Trace, core};
use hartrace_spaces::Holds;

/// A trace source of a snapshot or of a package.
#[derive(Debug)]
pub enum Origin<'s> {
    /// A device of a snapshot.
    Snapshot(Source<'s>),
    /// A trace of a package.
    Package(&'s Trace),
}

impl Origin<'_> {
    /// Its number on the trace bus, as the metadata says.
    pub fn id(&self) -> u8 {
        match self {
            Self::Snapshot(source) => source.id,
            Self::Package(trace) => trace.id,
        }
    }

    /// Its protocol, with its configuration.
    pub fn protocol(&self) -> &Protocol {
        match self {
            Self::Snapshot(source) => &source.protocol,
            Self::Package(trace) => &trace.protocol,
        }
    }

    /// Whether its protocol is one that is read.
    pub fn is_read(&self) -> bool {
        !matches!(self.protocol(), Protocol::Other(_))
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Self::Snapshot(source) => source.device.name.clone(),
            Self::Package(trace) => format!("trace_{}", trace.id),
        }
    }

    /// What its core is able to execute.
    pub fn core(&self) -> Result<Core, Error> {
        match self {
            Self::Snapshot(source) => source.core_kind(),
            Self::Package(trace) => {
                trace.core.as_deref().and_then(core).ok_or_else(|| Error::Missing {
                    file: format!("[trace_{}]", trace.id),
                    what: match &trace.core {
                        Some(kind) => format!("known core {kind:?}; try ARMv8.3-A or the like"),
                        None => "key \"core\", as Cortex-A53 or ARMv8.3-A".to_owned(),
                    },
                })
            }
        }
    }

    /// What its context identifiers are, where the metadata says so.
    pub fn holds(&self) -> Option<Holds> {
        match self {
            Self::Snapshot(_) => None,
            Self::Package(trace) => trace.holds,
        }
    }
}
