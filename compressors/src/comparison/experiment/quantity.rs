//! What the columns of tables measure.

use crate::comparison::statistics::{Blocks, DataStatistics, Wanted};
use crate::comparison::{Characteristics, Comparison, DataFigures, Figures, Lookups};
use crate::{DataScheme, Records, Scheme};

/// What a column measures.
#[derive(Clone, Debug)]
pub(super) enum Quantity {
    /// Bits per instruction of a scheme.
    Bits(String),
    /// Uncompressed addresses of 32 bits over the bits of a scheme.
    Ratio(String),
    /// Gates of a scheme for addresses of 32 bits. They depend on no program.
    Gates(String),
    /// The share of streams that a scheme sends in records of these kinds.
    Streams(String, &'static [&'static str]),
    /// The share of the bits of a scheme in records of these kinds.
    Share(String, &'static [&'static str]),
    /// The bits of misses of a scheme, compared with those of another one.
    Misses(String, String),
    /// A property of the program.
    Program(fn(&Characteristics) -> f64),
    /// Bits per instruction of a data scheme.
    DataBits(String),
    /// Uncompressed data over the bits of a data scheme.
    DataRatio(String),
    /// The same of the scheme that is the best for a program.
    DataBest(Vec<String>),
    /// The share of loads or stores that a data scheme finds in its tables.
    Found(String, Side),
    /// The share of references to one of the last addresses without their low bits: bits, and number of addresses.
    Recent(u32, usize),
    /// A property of blocks of loaded values: values, low bits that are left out, and the property.
    Values(usize, u32, fn(&Blocks) -> f64),
    /// The share of loaded values that fit in so many bits.
    Fitting(u32),
    /// Uncompressed values over compressed ones, if those that fit in so many bits and a sign are sent in so many.
    SmallValues(u32),
}

/// Loads, stores, or both.
#[derive(Copy, Clone, Debug)]
pub(super) enum Side {
    Both,
    Loads,
    Stores,
}

/// A quotient; that of several programs is of their sums.
#[derive(Copy, Clone, Debug)]
pub(super) struct Quotient {
    over: f64,
    under: f64,
}

impl Quotient {
    fn new(over: u64, under: u64) -> Self {
        Self { over: over as f64, under: under as f64 }
    }

    /// A value with its weight in a mean.
    fn weighted(value: f64, weight: u64) -> Self {
        Self { over: value * weight as f64, under: weight as f64 }
    }

    /// The quotient of sums; `None` if there is nothing to divide by.
    pub(super) fn sum(all: impl IntoIterator<Item = Self>) -> Option<f64> {
        let sum = all
            .into_iter()
            .fold((0.0, 0.0), |(over, under), one| (over + one.over, under + one.under));
        (sum.1 > 0.0).then(|| sum.0 / sum.1)
    }
}

impl Quantity {
    /// The schemes that must have been measured.
    pub(super) fn schemes(&self) -> Vec<&str> {
        match self {
            Self::Bits(name) | Self::Ratio(name) => vec![name],
            Self::Streams(name, _) | Self::Share(name, _) => vec![name],
            Self::Misses(name, other) => vec![name, other],
            _ => Vec::new(),
        }
    }

    /// The data schemes that must have been measured.
    pub(super) fn data_schemes(&self) -> Vec<&str> {
        match self {
            Self::DataBits(name) | Self::DataRatio(name) | Self::Found(name, _) => vec![name],
            Self::DataBest(names) => names.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The statistics of data that must have been counted.
    pub(super) fn statistics(&self) -> Wanted {
        Wanted {
            histories: matches!(self, Self::Recent(..)),
            entropies: matches!(self, Self::Values(..)),
            sizes: matches!(self, Self::Fitting(_) | Self::SmallValues(_)),
        }
    }

    pub(super) fn is_of_programs(&self) -> bool {
        matches!(self, Self::Program(_))
    }

    /// The figure of a program; `None` if it was not measured.
    ///
    /// Rates of instruction traces are weighted by instructions, and those of data by references or loads, as in the source.
    pub(super) fn of(&self, comparison: &Comparison, program: &str) -> Option<Quotient> {
        let figures = |scheme: &str| -> Option<&Figures> {
            comparison.figures.iter().find(|one| one.program == program && one.scheme == scheme)
        };
        let data = |scheme: &str| -> Option<&DataFigures> {
            let all = comparison.data.as_deref().unwrap_or_default();
            all.iter().find(|one| one.program == program && one.scheme == scheme)
        };
        let statistics = || -> Option<&DataStatistics> {
            comparison.statistics.iter().find(|one| one.program == program)
        };
        Some(match self {
            Self::Gates(_) => return None,
            Self::Bits(scheme) => {
                let one = figures(scheme)?;
                Quotient::new(one.bits, one.instructions)
            }
            Self::Ratio(scheme) => {
                let one = figures(scheme)?;
                Quotient::new(32 * one.instructions, one.bits)
            }
            Self::Streams(scheme, kinds) => {
                let one = figures(scheme)?;
                weighted_share(one, kinds, |records| records.streams)
            }
            Self::Share(scheme, kinds) => {
                let one = figures(scheme)?;
                weighted_share(one, kinds, |records| records.bits)
            }
            Self::Misses(scheme, other) => {
                let (one, other) = (figures(scheme)?, figures(other)?);
                let misses = |one: &Figures| of_kinds(one, &["miss"], |records| records.bits);
                let left = misses(one) as f64 / misses(other).max(1) as f64;
                Quotient::weighted(left, one.instructions)
            }
            Self::Program(property) => {
                let one = comparison.programs.iter().find(|one| one.program == program)?;
                Quotient::weighted(property(one), one.instructions)
            }
            Self::DataBits(scheme) => {
                let one = data(scheme)?;
                Quotient::new(one.bits, one.instructions)
            }
            Self::DataRatio(scheme) => {
                let one = data(scheme)?;
                Quotient::new(one.raw_bits, one.bits)
            }
            Self::DataBest(schemes) => {
                let all = schemes.iter().filter_map(|scheme| data(scheme));
                let one = all.min_by_key(|one| one.bits)?;
                Quotient::new(one.raw_bits, one.bits)
            }
            Self::Found(scheme, side) => {
                let one = data(scheme)?;
                let Lookups { count, hits } = match side {
                    Side::Both => one.loads.and(one.stores),
                    Side::Loads => one.loads,
                    Side::Stores => one.stores,
                };
                Quotient::new(hits, count)
            }
            Self::Recent(shift, entries) => {
                let (hits, references) = statistics()?.hits(*shift, *entries)?;
                Quotient::new(hits, references)
            }
            Self::Values(size, mask, property) => {
                let one = statistics()?;
                Quotient::weighted(property(one.blocks(*size, *mask)?), one.loads)
            }
            Self::Fitting(size) => {
                let one = statistics()?;
                Quotient::new(one.fitting(*size), one.loads)
            }
            Self::SmallValues(size) => {
                let one = statistics()?;
                let (whole, small) = (u64::from(one.width()), u64::from(*size) + 1);
                let fitting = one.fitting(*size);
                let bits = one.loads + small * fitting + whole * (one.loads - fitting);
                Quotient::new(whole * one.loads, bits)
            }
        })
    }

    /// The figure that depends on no program.
    pub(super) fn of_hardware(&self) -> Option<f64> {
        match self {
            Self::Gates(scheme) => match scheme.parse::<Scheme>() {
                Ok(scheme) => Some(scheme.cost(32)?.gates()),
                Err(_) => Some(scheme.parse::<DataScheme>().ok()?.cost(32)?.gates()),
            },
            _ => None,
        }
    }
}

/// A share of all records of a scheme, with the weight of the program.
fn weighted_share(one: &Figures, kinds: &[&str], what: fn(&Records) -> u64) -> Quotient {
    let all = one.records.iter().map(what).sum::<u64>();
    Quotient::weighted(of_kinds(one, kinds, what) as f64 / all.max(1) as f64, one.instructions)
}

fn of_kinds(one: &Figures, kinds: &[&str], what: fn(&Records) -> u64) -> u64 {
    one.records.iter().filter(|records| kinds.contains(&&records.kind[..])).map(what).sum()
}
