//! All schemes, by name.

mod config;
mod family;
mod table;

use crate::cost::Cost;
use crate::measured::Measured;
use crate::{Code, CompressError, Compressor, Decompressor, Etrace};
use config::Config;
pub use family::{Family, Setting, Values};
use serde_json::Value;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

/// A compressor and its decompressor.
///
/// Its [`Family`] says how it is called: `BASE`, `HWLZ-256`, `eDMTF(192,4)`, `rSDC-128` (or by sets and ways, `rSDC-64x2`), `gzip-6`,
/// `E-Trace+ir+bp+jtc`. Other settings follow the name in brackets: `bTMBP[entries=1024,ras=16]`.
///
/// ```
/// use hartrace_compressors::Scheme;
///
/// let scheme: Scheme = "eDMTF(192,4)".parse()?;
/// assert_eq!(scheme.to_string(), "eDMTF(192,4)");
/// assert_eq!(scheme.cost(32).map(|cost| cost.bits()), Some(7_373));
/// # Ok::<(), hartrace_compressors::UnknownScheme>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scheme {
    name: String,
    family: &'static Family,
    config: Arc<dyn Config>,
}

/// The name determines everything else.
impl PartialEq for Scheme {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Scheme {}

/// What both sides of a scheme know.
#[derive(Copy, Clone, Debug)]
pub struct SchemeSetup<'a> {
    /// The program.
    pub code: &'a Code,
    /// Number of instructions after which a decompressor can start: tables are emptied, and addresses are
    /// sent whole.
    pub sync_every: Option<NonZeroU64>,
    /// Contents of the `xtvec` register per privilege, for E-Trace with implicit exceptions.
    pub tvec: &'a [(u8, u64)],
}

/// No scheme has this name, or the scheme does not have this setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnknownScheme(pub(crate) String);

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Scheme {
    /// Returns the schemes that are compared unless others are named: those of the dissertation with its sizes, general-purpose
    /// compressors, our own in both codings, and E-Trace in every mode and in useful combinations.
    pub fn defaults() -> Vec<Self> {
        let names = Family::all().iter().flat_map(|family| family.compared);
        names.filter_map(|name| name.parse().ok()).collect()
    }

    /// Returns its family.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Returns its configuration, if that is of this type.
    pub fn config<T: Copy + 'static>(&self) -> Option<T> {
        self.config.inner().downcast_ref().copied()
    }

    /// Returns all its settings, by key.
    pub fn settings(&self) -> Value {
        self.config.settings()
    }

    /// Returns the same scheme with one setting changed, for example `entries` set to 1024.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, UnknownScheme> {
        let name = match self.name.strip_suffix(']') {
            Some(name) => format!("{name},{key}={value}]"),
            None => format!("{}[{key}={value}]", self.name),
        };
        name.parse()
    }

    /// Returns whether the scheme needs the trap vectors.
    pub fn needs_vectors(&self) -> bool {
        self.config::<Etrace>().is_some_and(|config| config.ie)
    }

    /// Returns what the scheme costs in hardware, part by part; `None` for software.
    pub fn cost(&self, xlen: u32) -> Option<Cost> {
        self.config.cost(xlen)
    }

    /// Returns the area of our own hardware for the scheme, if it was measured.
    pub fn measured(&self, xlen: u32) -> Option<Measured> {
        Measured::of(&self.name, xlen)
    }

    /// Creates a compressor.
    pub fn compressor<'a>(
        &self,
        setup: &SchemeSetup<'a>,
    ) -> Result<Box<dyn Compressor + 'a>, CompressError> {
        self.config.compressor(setup)
    }

    /// Creates a decompressor.
    pub fn decompressor<'a>(&self, setup: &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a> {
        self.config.decompressor(setup)
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        let (base, settings) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
            Some((base, settings)) => (base, settings),
            None => (name, ""),
        };
        let (family, config) = Family::of(base).ok_or_else(|| {
            let known: Vec<_> = Family::all().iter().flat_map(Family::names).copied().collect();
            UnknownScheme(format!(
                "there is no scheme `{base}`; try one of {}, or other sizes, levels and modes of one",
                known.join(", ")
            ))
        })?;
        // Settings stay as they were given.
        let name = match family.canonical.and_then(|canonical| canonical(base)) {
            Some(canonical) => canonical + name.strip_prefix(base).unwrap_or_default(),
            None => name.into(),
        };
        let mut keys = settings.split(',').filter_map(|setting| setting.split_once('='));
        let config = keys
            .try_for_each(|(key, _)| family.check_key(key))
            .and_then(|()| config.with(settings))
            .map_err(|what| UnknownScheme(format!("{base}: {what}")))?;
        config.check().map_err(|error| UnknownScheme(format!("{name}: {error}")))?;
        Ok(Self { name, family, config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dmtf;

    #[test]
    fn names() {
        let scheme = |name: &str| name.parse::<Scheme>();
        assert_eq!(
            scheme("rSDC-64x2").unwrap().settings(),
            scheme("rSDC-128[ways=2]").unwrap().settings()
        );
        let nested = scheme("eDMTF(64,4)[run.w0=5]").unwrap();
        assert_eq!(nested.config::<Dmtf>().map(|config| config.run.w0), Some(5));
        let with =
            scheme("bTMBP").unwrap().with("entries", "64").unwrap().with("ras", "2").unwrap();
        assert_eq!(with.to_string(), "bTMBP[entries=64,ras=2]");
        let modes = scheme("E-Trace+branch-prediction+ir[bpred_size_p=3]").unwrap();
        assert_eq!(modes.to_string(), "E-Trace+ir+bp[bpred_size_p=3]");
        assert_eq!(Ok(modes), scheme("E-Trace+ir+bp[bpred_size_p=3]"));
        for wrong in [
            "E-Trace+x",
            "E-Tracebp",
            "",
            "x",
            "TMBP",
            "xDMTF(2,2)",
            "HWLZ-100",
            "bTMBP[entires=64]",
            "rSDC-0",
            "bDMTF(1,4)",
            "TAGE[coder=zip]",
            "E-Trace[return_marks=0]",
            "TAGE[history=4]",
            "TAGE[targets=2]",
            "Tuples-48",
            "Tuples-32[entries=3]",
            "gzip-6[kind=zstd]",
            "BASE[x=1]",
        ] {
            assert!(scheme(wrong).is_err(), "{wrong}");
        }
        let message = scheme("bTMBP[entires=64]").unwrap_err().to_string();
        assert!(message.contains("entries"), "{message}");
    }
}
