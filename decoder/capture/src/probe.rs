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

use crate::framing::Transport;
use crate::params::Draft;
use hartrace_decoder::Image;
use hartrace_etrace::{Compat, Ioptions};
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
        Self { bytes: 1 << 18, work: 1 << 28 }
    }
}

/// Packets that show whether a reading is worth a search.
const FIRST: usize = 256;

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
            Some(score) => score.followed >= score.lost && score.instructions > 1,
            None => self.reading.is_plausible(),
        }
    }

    /// What a file must contain to decode the capture like this.
    pub fn draft(&self) -> Draft {
        let Guess { params, unit, options, compat, xlen } = self.guess;
        // Only one of several sources was examined, but the others may be alike.
        let transport = Transport::of(self.reading.framing, None);
        Draft {
            xlen: Some(xlen),
            compat: Some(compat).filter(|compat| *compat != Compat::None),
            framing: Some(transport.kind()),
            fields: transport.fields(),
            ..Draft::new(&params, unit, &options)
        }
    }

    fn rank(&self) -> (u64, Reverse<u64>) {
        let score = self.score.unwrap_or_default();
        (score.followed, Reverse(score.gaps))
    }
}

/// Decodes every reading as well as possible.
fn decoded<'a>(readings: Vec<Reading<'a>>, bench: &Bench<'_>) -> Vec<ETrace<'a>> {
    // The first packets show which reading promises most.
    let mut promising: Vec<(u64, Reading<'a>)> = Vec::new();
    for reading in readings {
        let mut start = reading.clone();
        start.pieces.truncate(FIRST);
        if let Some((_, score)) = decode(&start, bench, Search::first) {
            promising.push((score.permille(), reading));
        }
    }
    promising.sort_by_key(|(promise, _)| Reverse(*promise));
    let mut found: Vec<ETrace<'a>> = Vec::new();
    for (promise, reading) in promising {
        let best = found.iter().filter_map(|other| other.score).max_by(|a, b| a.compare(b));
        if best.is_some_and(|best| promise <= best.permille()) {
            break;
        }
        let Some((guess, score)) = decode(&reading, bench, Search::best) else { continue };
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

/// Finds parameters for a reading, with `search` or those of rv_tracer.
fn decode<'a>(
    reading: &'a Reading<'a>,
    bench: &'a Bench<'a>,
    search: impl Fn(&Search<'a>, Guess) -> Option<Tried>,
) -> Option<Tried> {
    let own = Guess::rv_tracer();
    let own = (bench.image.isa().xlen == own.xlen)
        .then(|| Some((own, bench.decode(reading, &own, Goal::Any)?)))
        .flatten();
    let guess = Guess::new(bench.image.isa().xlen);
    let searched = search(&Search::new(bench, reading, &guess), guess);
    match (own, searched) {
        (Some(own), Some(other)) if own.1.compare(&other.1).is_gt() => Some(own),
        (own, searched) => searched.or(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::{Isa, Xlen};
    use proptest::prelude::*;

    /// A loop, a call and a return.
    fn image() -> Image {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        let words: [u32; 4] = [0xfe00_0ee3, 0x0080_00ef, 0x0000_8067, 0xff5f_f06f];
        image.add(0x8000_0000, &words.map(u32::to_le_bytes).concat());
        image
    }

    fn examine(bytes: &[u8], image: Option<&Image>) {
        let limits = Limits { bytes: 1 << 12, work: 1 << 14 };
        let report = Report::new(bytes, &Known { image, tvec: &[(3, 0x8000_0000)] }, &limits);
        assert!(!report.to_string().is_empty() && report.json().is_object());
        for found in &report.etrace {
            // What is found can be written, and read again.
            let text = found.draft().to_string();
            let setup = crate::params::Setup::new(
                Some(Draft::parse(&text, "p").unwrap()),
                &Default::default(),
            );
            let setup = setup.unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!((setup.params, setup.compat), (found.guess.params, found.guess.compat));
            assert_eq!(setup.transport.framing, found.reading.framing);
        }
    }

    proptest! {
        // Each one is decoded hundreds of times.
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            examine(&bytes, Some(&image()));
            examine(&bytes, None);
        }

        /// Frames of the reference flow around payloads that look like those of a trace.
        #[test]
        fn any_payloads(
            payloads in prop::collection::vec(
                (prop::sample::select(vec![0x1fu8, 0x73, 0x77, 0x05, 0x02, 0x00]), prop::collection::vec(any::<u8>(), 0..9)),
                1..60,
            )
        ) {
            let mut bytes = Vec::new();
            for (first, rest) in payloads {
                bytes.extend([0x41 + rest.len() as u8, first]);
                bytes.extend(rest);
            }
            examine(&bytes, Some(&image()));
        }
    }

    /// Work is limited, and the report says so.
    #[test]
    fn limits() {
        // A support packet and a synchronisation, then addresses that are nowhere.
        let mut bytes = vec![0x42, 0x1f, 0x00, 0x45, 0x73, 0, 0, 0, 0x20];
        bytes.extend([0x42, 0x02, 0x01].repeat(1000));
        let image = image();
        let known = Known { image: Some(&image), tvec: &[] };
        let report = Report::new(&bytes, &known, &Limits { bytes: 1 << 12, work: 100 });
        assert!(report.limited);
        let report = Report::new(&bytes, &known, &Limits { bytes: 20, ..Limits::default() });
        assert_eq!((report.examined, report.limited), (20, false));
    }
}
