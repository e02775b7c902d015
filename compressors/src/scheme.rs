//! All schemes, by name.

use crate::compressor::Coding;
use crate::cost::Cost;
use crate::measured::Measured;
use crate::settings;
use crate::stream::{StreamCoder, Streams};
use crate::{
    Base, Code, CompressError, Compressor, Decompressor, Dmtf, DmtfVariant, Etrace, Hwlz, Nexs,
    Packed, Sdc, SdcVariant, Tage, Tmbp, Tuples,
};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use thiserror::Error;

/// A compressor and its decompressor.
///
/// Names are those of the dissertation: `BASE`, `NEXS`, `HWLZ-256`, `eDMTF(192,4)`, `rSDC-128` (or by sets
/// and ways, `rSDC-64x2`), `bTMBP`, and `Tuples-32` of its survey; then `TAGE`, `gzip-6`, `bzip2-9` and `zstd-17` with a level, and `E-Trace+ir+bp+jtc`
/// with modes. Other settings follow the name in brackets: `bTMBP[entries=1024,ras=16]`.
///
/// ```
/// use hartrace_compressors::Scheme;
///
/// let scheme: Scheme = "eDMTF(192,4)".parse()?;
/// assert_eq!(scheme.to_string(), "eDMTF(192,4)");
/// assert_eq!(scheme.cost(32).map(|cost| cost.bits()), Some(7_373));
/// # Ok::<(), hartrace_compressors::UnknownScheme>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    name: String,
    kind: Kind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Base(Base),
    Nexs(Nexs),
    Hwlz(Hwlz),
    Packed(Packed),
    Dmtf(Dmtf),
    Sdc(Sdc),
    Tuples(Tuples),
    Tmbp(Tmbp),
    Tage(Tage),
    Etrace(Etrace),
}

/// What both sides of a scheme know.
#[derive(Copy, Clone, Debug)]
pub struct Setup<'a> {
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
    /// The schemes of the dissertation with its sizes, general-purpose compressors, our own in both codings, and E-Trace
    /// in every mode and in useful combinations.
    pub const DEFAULT: [&str; 35] = [
        "BASE",
        "NEXS",
        "HWLZ-256",
        "HWLZ-1024",
        "gzip-1",
        "gzip-6",
        "gzip-9",
        "zstd-3",
        "zstd-17",
        "bDMTF(192,4)",
        "hDMTF(192,4)",
        "eDMTF(192,4)",
        "eDMTF(64,4)",
        "bSDC-128",
        "eSDC-128",
        "rSDC-128",
        "rSDC-256",
        "tTMBP",
        "sTMBP",
        "bTMBP",
        "TAGE",
        "TAGE[coder=range]",
        "E-Trace",
        "E-Trace+full",
        "E-Trace+ie",
        "E-Trace+sij",
        "E-Trace+ir",
        "E-Trace+bp",
        "E-Trace+jtc",
        "E-Trace+ir+sij",
        "E-Trace+ir+bp",
        "E-Trace+ir+jtc",
        "E-Trace+bp+jtc",
        "E-Trace+ir+bp+jtc",
        "E-Trace+ir+ie+sij+bp+jtc",
    ];

    /// Returns the schemes of [`Scheme::DEFAULT`].
    pub fn defaults() -> Vec<Self> {
        Self::DEFAULT.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// Returns the family, in lower case, as in `tmbp.entries`.
    pub fn family(&self) -> &'static str {
        match self.kind {
            Kind::Base(_) => "base",
            Kind::Nexs(_) => "nexs",
            Kind::Hwlz(_) => "hwlz",
            Kind::Packed(Packed::Gzip { .. }) => "gzip",
            Kind::Packed(Packed::Bzip2 { .. }) => "bzip2",
            Kind::Packed(Packed::Zstd { .. }) => "zstd",
            Kind::Dmtf(_) => "dmtf",
            Kind::Sdc(_) => "sdc",
            Kind::Tuples(_) => "tuples",
            Kind::Tmbp(_) => "tmbp",
            Kind::Tage(_) => "tage",
            Kind::Etrace(_) => "etrace",
        }
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
        matches!(self.kind, Kind::Etrace(Etrace { ie: true, .. }))
    }

    /// Returns whether the scheme is for hardware, not software.
    pub fn is_hardware(&self) -> bool {
        !matches!(self.kind, Kind::Packed(_))
    }

    /// Returns a note that readers of this scheme's figures need, if any.
    pub fn note(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Hwlz(_) => {
                Some("reconstructed: the source has no layout; it reports 50,000 gates for 256")
            }
            Kind::Packed(_) => {
                Some("software on the descriptors of BASE, with all the memory it wants")
            }
            Kind::Etrace(_) => {
                Some("also carries privilege, cause and value of traps, which no other scheme does")
            }
            _ => None,
        }
    }

    /// Returns what the scheme costs in hardware, part by part; `None` for software.
    pub fn cost(&self, xlen: u32) -> Option<Cost> {
        Some(match self.kind {
            Kind::Base(config) => config.cost(xlen),
            Kind::Nexs(config) => config.cost(xlen),
            Kind::Hwlz(config) => config.cost(xlen),
            Kind::Packed(_) => return None,
            Kind::Dmtf(config) => config.cost(xlen),
            Kind::Sdc(config) => config.cost(xlen),
            Kind::Tuples(config) => config.cost(xlen),
            Kind::Tmbp(config) => config.cost(xlen),
            Kind::Tage(config) => config.cost(xlen),
            Kind::Etrace(config) => config.cost(xlen),
        })
    }

    /// Returns the area of our own hardware for the scheme, if it was measured.
    pub fn measured(&self, xlen: u32) -> Option<Measured> {
        Measured::of(&self.name, xlen)
    }

    /// Creates a compressor.
    pub fn compressor<'a>(
        &self,
        setup: &Setup<'a>,
    ) -> Result<Box<dyn Compressor + 'a>, CompressError> {
        let xlen = setup.code.xlen().bits();
        Ok(match self.kind {
            Kind::Base(config) => compress(config.coder(xlen), setup),
            Kind::Nexs(config) => compress(config.coder(xlen), setup),
            Kind::Hwlz(config) => compress(config.coder(xlen), setup),
            Kind::Packed(config) => compress(config.coder(xlen), setup),
            Kind::Dmtf(config) => compress(config.coder(xlen), setup),
            Kind::Sdc(config) => compress(config.coder(xlen), setup),
            Kind::Tuples(config) => compress(config.coder(xlen), setup),
            Kind::Tmbp(config) => {
                let coder = config.coder(setup.code, setup.sync_every);
                Box::new(Coding::new(setup.code, coder, setup.sync_every))
            }
            Kind::Tage(config) => config.compressor(setup),
            Kind::Etrace(config) => Box::new(config.compressor(setup.code, setup.sync_every)?),
        })
    }

    /// Creates a decompressor.
    pub fn decompressor<'a>(&self, setup: &Setup<'a>) -> Box<dyn Decompressor + 'a> {
        let xlen = setup.code.xlen().bits();
        match self.kind {
            Kind::Base(config) => decompress(config.coder(xlen), setup),
            Kind::Nexs(config) => decompress(config.coder(xlen), setup),
            Kind::Hwlz(config) => decompress(config.coder(xlen), setup),
            Kind::Packed(config) => decompress(config.coder(xlen), setup),
            Kind::Dmtf(config) => decompress(config.coder(xlen), setup),
            Kind::Sdc(config) => decompress(config.coder(xlen), setup),
            Kind::Tuples(config) => decompress(config.coder(xlen), setup),
            Kind::Tmbp(config) => Box::new(config.coder(setup.code, setup.sync_every)),
            Kind::Tage(config) => config.decompressor(setup),
            Kind::Etrace(config) => Box::new(config.decompressor(setup.code, setup.tvec)),
        }
    }

    #[cfg(test)]
    pub(crate) fn dmtf(&self) -> Option<Dmtf> {
        match self.kind {
            Kind::Dmtf(config) => Some(config),
            _ => None,
        }
    }

    /// The parameters of SDC-LSP, if it is that.
    pub fn sdc(&self) -> Option<Sdc> {
        match self.kind {
            Kind::Sdc(config) => Some(config),
            _ => None,
        }
    }

    /// The parameters of TMBP, if it is that.
    pub fn tmbp(&self) -> Option<Tmbp> {
        match self.kind {
            Kind::Tmbp(config) => Some(config),
            _ => None,
        }
    }

    fn check(self) -> Result<Self, UnknownScheme> {
        let checked = match self.kind {
            Kind::Base(_) | Kind::Nexs(_) => Ok(()),
            Kind::Etrace(config) => config.check(),
            Kind::Hwlz(config) => config.check(),
            Kind::Packed(config) => config.check(),
            Kind::Dmtf(config) => config.check(),
            Kind::Sdc(config) => config.check(),
            Kind::Tuples(config) => config.check(),
            Kind::Tmbp(config) => config.check(),
            Kind::Tage(config) => config.check(),
        };
        checked.map_err(|error| UnknownScheme(format!("{}: {error}", self.name)))?;
        Ok(self)
    }
}

fn compress<'a>(coder: impl StreamCoder + 'a, setup: &Setup<'a>) -> Box<dyn Compressor + 'a> {
    let streams = Streams::new(setup.code, coder, setup.sync_every);
    Box::new(Coding::new(setup.code, streams, setup.sync_every))
}

fn decompress<'a>(coder: impl StreamCoder + 'a, setup: &Setup<'a>) -> Box<dyn Decompressor + 'a> {
    Box::new(Streams::new(setup.code, coder, setup.sync_every))
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        let (base, settings) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
            Some((base, settings)) => (base, settings),
            None => (name, ""),
        };
        let kind = plain(base).ok_or_else(|| {
            UnknownScheme(format!(
                "there is no scheme `{base}`; try one of {}, or other sizes, levels and modes of one",
                Self::DEFAULT.join(", ")
            ))
        })?;
        let set = |kind: Kind| -> Result<Kind, String> {
            Ok(match kind {
                Kind::Base(config) => Kind::Base(settings::apply(config, settings)?),
                Kind::Nexs(config) => Kind::Nexs(settings::apply(config, settings)?),
                Kind::Hwlz(config) => Kind::Hwlz(settings::apply(config, settings)?),
                Kind::Packed(config) => Kind::Packed(settings::apply(config, settings)?),
                Kind::Dmtf(config) => Kind::Dmtf(settings::apply(config, settings)?),
                Kind::Sdc(config) => Kind::Sdc(settings::apply(config, settings)?),
                Kind::Tuples(config) => Kind::Tuples(settings::apply(config, settings)?),
                Kind::Tmbp(config) => Kind::Tmbp(settings::apply(config, settings)?),
                Kind::Tage(config) => Kind::Tage(settings::apply(config, settings)?),
                Kind::Etrace(config) => Kind::Etrace(settings::apply(config, settings)?),
            })
        };
        // Modes have one canonical notation, however they were given.
        let name = match kind {
            Kind::Etrace(config) => config.name() + name.strip_prefix(base).unwrap_or_default(),
            _ => name.into(),
        };
        let kind = set(kind).map_err(|what| UnknownScheme(format!("{base}: {what}")))?;
        Self { name, kind }.check()
    }
}

/// Parses a name without settings.
fn plain(name: &str) -> Option<Kind> {
    match name {
        "BASE" => return Some(Kind::Base(Base {})),
        "NEXS" => return Some(Kind::Nexs(Nexs {})),
        "tTMBP" => return Some(Kind::Tmbp(Tmbp::TINY)),
        "sTMBP" => return Some(Kind::Tmbp(Tmbp::SMALL)),
        "bTMBP" => return Some(Kind::Tmbp(Tmbp::BASE)),
        "TAGE" => return Some(Kind::Tage(Tage::default())),
        _ => {}
    }
    if let Some(modes) = name.strip_prefix("E-Trace") {
        let mut config = Etrace::default();
        let mut modes = modes.split('+');
        let good = modes.next() == Some("") && modes.all(|mode| config.set(mode));
        return good.then_some(Kind::Etrace(config));
    }
    if let Some(entries) = name.strip_prefix("HWLZ-") {
        return Some(Kind::Hwlz(Hwlz { entries: entries.parse().ok()? }));
    }
    if let Some(tuples) = name.strip_prefix("Tuples-") {
        return Some(Kind::Tuples(Tuples { tuples: tuples.parse().ok()?, ..Tuples::default() }));
    }
    if let Some(level) = name.strip_prefix("gzip-") {
        return Some(Kind::Packed(Packed::Gzip { level: level.parse().ok()? }));
    }
    if let Some(level) = name.strip_prefix("bzip2-") {
        return Some(Kind::Packed(Packed::Bzip2 { level: level.parse().ok()? }));
    }
    if let Some(level) = name.strip_prefix("zstd-") {
        return Some(Kind::Packed(Packed::Zstd { level: level.parse().ok()? }));
    }
    let (variant, rest) = name.split_at_checked(1)?;
    if let Some(sizes) = rest.strip_prefix("DMTF(").and_then(|rest| rest.strip_suffix(')')) {
        let variant = match variant {
            "b" => DmtfVariant::B,
            "h" => DmtfVariant::H,
            "e" => DmtfVariant::E,
            _ => return None,
        };
        let (mtf1, mtf2) = sizes.split_once(',')?;
        let (mtf1, mtf2) = (mtf1.parse().ok()?, mtf2.trim().parse().ok()?);
        return Some(Kind::Dmtf(Dmtf { variant, mtf1, mtf2, ..Dmtf::default() }));
    }
    let size = rest.strip_prefix("SDC-")?;
    let variant = match variant {
        "b" => SdcVariant::B,
        "e" => SdcVariant::E,
        "r" => SdcVariant::R,
        _ => return None,
    };
    let sdc = Sdc { variant, ..Sdc::default() };
    Some(Kind::Sdc(match size.split_once('x') {
        Some((sets, ways)) => {
            let (sets, ways): (u32, u32) = (sets.parse().ok()?, ways.parse().ok()?);
            Sdc { entries: sets.checked_mul(ways)?, ways, ..sdc }
        }
        None => Sdc { entries: size.parse().ok()?, ..sdc },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Scheme::defaults().len(), Scheme::DEFAULT.len());
        let scheme = |name: &str| name.parse::<Scheme>();
        assert_eq!(scheme("rSDC-64x2").unwrap().kind, scheme("rSDC-128[ways=2]").unwrap().kind);
        let nested = scheme("eDMTF(64,4)[run.w0=5]").unwrap();
        assert!(matches!(
            nested.kind,
            Kind::Dmtf(Dmtf { run: crate::RunLength { w0: 5, .. }, .. })
        ));
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
        ] {
            assert!(scheme(wrong).is_err(), "{wrong}");
        }
        let message = scheme("bTMBP[entires=64]").unwrap_err().to_string();
        assert!(message.contains("entries"), "{message}");
    }
}
