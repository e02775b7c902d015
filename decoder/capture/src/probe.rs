//! Finds out what a capture is of: protocol, framing, widths of fields, parameters, modes and dialect.
//!
//! A trace does not describe itself. With the program that was traced, one reading of it makes sense, and
//! others soon contradict the program: a [`Report`] lists readings by how much of the capture can be
//! followed. A parameter counts as found only if other values decode worse. Where several decode to the
//! same instructions, the report says so, and where several decode as well to other instructions, too.
//! Without the program, only the form of packets remains, and most parameters are guesses.
//!
//! # Guarantees
//!
//! Nothing here panics, for any capture. Only the first bytes of a long capture are examined, and
//! the work is limited: see [`Limits`].

mod bare;
mod coresight;
mod frames;
mod guess;
mod search;
mod settings;
mod text;
mod trial;

pub use coresight::{CoreSight, Packing, Stream, Tally, Unit as ArmUnit};
pub use frames::Reading;
pub use guess::Guess;
pub use settings::{Origin, Setting};
pub use trial::Score;

use hartrace_decoder::Image;
use hartrace_etrace::Ioptions;
use search::{Search, Tried, modes};
use std::cell::Cell;
use std::cmp::Reverse;
use trial::{Bench, Goal};

/// The name of the widths of privilege, time and context together.
const STATE: &str = "privilege + time + context";

/// How much of a capture is examined, and how much work that may be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from the start of the capture.
    pub bytes: usize,
    /// Instructions and packets that are decoded, over all attempts.
    pub work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 18, work: 1 << 30 }
    }
}

/// What is known besides the capture.
#[derive(Copy, Clone, Debug, Default)]
pub struct Known<'a> {
    /// The program that was traced.
    pub image: Option<&'a Image>,
    /// Contents of `xtvec` by privilege, for implicit exceptions.
    pub tvec: &'a [(u8, u64)],
}

/// What a capture can be, the best first.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Bytes of the capture.
    pub bytes: usize,
    /// Bytes of it that were examined.
    pub examined: usize,
    /// Whether the work was limited, so that something better may exist.
    pub limited: bool,
    /// RISC-V E-Trace.
    pub etrace: Vec<ETrace<'a>>,
    /// Arm trace, with or without CoreSight frames.
    pub coresight: Option<CoreSight>,
}

/// A capture as RISC-V E-Trace.
#[derive(Clone, Debug)]
pub struct ETrace<'a> {
    /// The framing.
    pub reading: Reading<'a>,
    /// The parameters.
    pub guess: Guess,
    /// Modes that support packets switch on.
    pub modes: Ioptions,
    /// How well it decodes; `None` without a program.
    pub score: Option<Score>,
    /// How sure each part of the guess is; empty for readings that are not the best.
    pub settings: Vec<Setting>,
}

impl<'a> Report<'a> {
    /// Examines a capture.
    pub fn new(capture: &'a [u8], known: &Known<'_>, limits: &Limits) -> Self {
        let bytes = capture.get(..limits.bytes).unwrap_or(capture);
        let readings = frames::readings(bytes, bytes.len() == capture.len());
        let budget = Cell::new(limits.work);
        let etrace = match known.image {
            Some(image) => decoded(readings, &Bench { image, tvec: known.tvec, budget: &budget }),
            None => readings.into_iter().map(bare::guess).collect(),
        };
        let coresight = CoreSight::find(bytes);
        let limited = budget.get() == 0;
        let (bytes, examined) = (capture.len(), bytes.len());
        Self { bytes, examined, limited, etrace, coresight }
    }

    /// Whether the capture is most likely Arm trace.
    pub fn is_arm(&self) -> bool {
        let followed = self.etrace.first().is_some_and(ETrace::is_likely);
        self.coresight.as_ref().is_some_and(|arm| arm.is_likely() && !followed)
    }

    /// What the capture is, if that is E-Trace.
    pub fn best(&self) -> Option<&ETrace<'a>> {
        self.etrace.first().filter(|best| best.is_likely() && !self.is_arm())
    }
}

impl ETrace<'_> {
    /// Whether most of the capture can be followed, or at least looks as it should.
    pub fn is_likely(&self) -> bool {
        match self.score {
            Some(score) => score.followed > score.lost && score.instructions > 0,
            None => self.reading.is_plausible(),
        }
    }

    fn rank(&self) -> (u64, Reverse<u64>) {
        let score = self.score.unwrap_or_default();
        (score.followed, Reverse(score.gaps))
    }
}

/// Decodes every reading as well as possible.
fn decoded<'a>(readings: Vec<Reading<'a>>, bench: &Bench<'_>) -> Vec<ETrace<'a>> {
    let mut found: Vec<ETrace<'a>> = Vec::new();
    for reading in readings {
        let best = found.iter().filter_map(|other| other.score).max_by(|a, b| a.compare(b));
        let Some((guess, score)) = decode(&reading, bench, best.as_ref()) else { continue };
        let modes = modes(&reading, &guess);
        found.push(ETrace { reading, guess, modes, score: Some(score), settings: Vec::new() });
    }
    found.sort_by_key(|found| Reverse(found.rank()));
    if let Some(best) = found.first_mut()
        && let Some(score) = best.score
    {
        best.settings = settings::examine(&best.reading, bench, (best.guess, score));
    }
    found
}

/// Finds the best parameters for a reading. `best` is that of another one, if there is one.
fn decode(reading: &Reading<'_>, bench: &Bench<'_>, best: Option<&Score>) -> Option<Tried> {
    let own = Guess::rv_tracer();
    let own = (bench.image.isa().xlen == own.xlen)
        .then(|| Some((own, bench.decode(reading, &own, Goal::Any)?)))
        .flatten();
    let guess = Guess::new(bench.image.isa().xlen);
    // A search takes time, so it must promise something.
    let promising = best.is_none_or(|best| reading.payload_bytes() > best.followed);
    let searched = promising.then(|| Search::new(bench, reading, &guess).best(guess)).flatten();
    match (own, searched) {
        (Some(own), Some(other)) if own.1.compare(&other.1).is_gt() => Some(own),
        (own, searched) => searched.or(own),
    }
}
