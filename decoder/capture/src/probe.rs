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
mod clues;
mod coresight;
mod frames;
mod guess;
mod rivals;
mod search;
mod settings;
mod text;
mod trial;

pub use clues::Clues;
pub use coresight::{CoreSight, Packing, Stream, Tally, Unit as ArmUnit};
pub use frames::Reading;
pub use guess::Guess;
pub use rivals::{Difference, Rival};
pub use search::Starts;
pub use settings::{Origin, Setting};
pub use trial::Score;

use crate::framing::Transport;
use crate::params::Draft;
use hartrace_decoder::Image;
use hartrace_encap::Framing;
use hartrace_etrace::{Compat, Ioptions, Mode};
use search::{Search, Tried, first_modes, modes};
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
    /// Synchronisations, up to a limit, and how many of them are at instructions of the program.
    pub starts: Starts,
    /// How sure each part of the guess is; empty for readings that are not the best.
    pub settings: Vec<Setting>,
    /// Readings that decode as well, but to other instructions or events; nothing tells which one is right.
    pub rivals: Vec<Rival>,
    /// Whether there may be more of them.
    pub more_rivals: bool,
}

impl<'a> Report<'a> {
    /// Examines a capture.
    pub fn new(capture: &'a [u8], known: &Known<'_>, limits: &Limits) -> Self {
        Self::with_progress(capture, known, limits, &|| ())
    }

    /// The same; `progress` is called for each attempt.
    pub fn with_progress(
        capture: &'a [u8],
        known: &Known<'_>,
        limits: &Limits,
        progress: &dyn Fn(),
    ) -> Self {
        let bytes = capture.get(..limits.bytes).unwrap_or(capture);
        let readings = frames::readings(bytes, bytes.len() == capture.len());
        let budget = Cell::new(limits.work);
        let etrace = match known.image {
            Some(image) => {
                let bench = Bench { image, tvec: known.tvec, budget: &budget, progress };
                decoded(readings, &bench, limits.work)
            }
            None => readings.into_iter().map(bare::guess).collect(),
        };
        let coresight = CoreSight::find(bytes);
        let unsure = |best: &ETrace<'_>| best.more_rivals && !best.is_ambiguous();
        let limited = budget.get() == 0 || etrace.first().is_some_and(unsure);
        let (bytes, examined) = (capture.len(), bytes.len());
        Self { bytes, examined, limited, etrace, coresight }
    }

    /// Whether the capture is most likely Arm trace.
    pub fn is_arm(&self) -> bool {
        // A start of Arm trace says more than packets from some byte on, which suit some framing sooner or later.
        let found = |best: &ETrace<'_>| best.score.is_some() || best.reading.skipped == 0;
        let followed = self.etrace.first().is_some_and(|best| best.is_likely() && found(best));
        self.coresight.as_ref().is_some_and(|arm| arm.is_likely() && !followed)
    }

    /// The capture as E-Trace whose packets look as they should, but do not lead through the program: it is of another one, of
    /// another build, or of code that is missing; or its parameters are none of those that are tried.
    pub fn misfit(&self) -> Option<&ETrace<'a>> {
        let is_one = |found: &&ETrace<'_>| found.score.is_some() && found.reading.is_plausible();
        match self.best() {
            None if !self.is_arm() => self.etrace.iter().find(is_one),
            _ => None,
        }
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
            // A wrong reading may follow a part, too.
            Some(score) => score.followed >= score.lost.saturating_mul(4) && score.instructions > 1,
            None => self.reading.is_plausible(),
        }
    }

    /// Whether other readings decode as well, but to something else.
    pub fn is_ambiguous(&self) -> bool {
        !self.rivals.is_empty()
    }

    /// What a file must contain to decode the capture like this.
    pub fn draft(&self) -> Draft {
        draft(self.reading.framing, &self.guess)
    }

    /// The same for a reading by its number: this one is 1, and its rivals follow.
    pub fn draft_of(&self, number: usize) -> Option<Draft> {
        match number.checked_sub(1)?.checked_sub(1) {
            None => Some(self.draft()),
            Some(index) => self.rivals.get(index).map(|rival| draft(rival.framing, &rival.guess)),
        }
    }

    fn rank(&self) -> (u64, Reverse<u64>) {
        let score = self.score.unwrap_or_default();
        (score.followed, Reverse(score.gaps))
    }
}

/// What a file must contain to decode a capture like this.
fn draft(framing: Framing, guess: &Guess) -> Draft {
    let Guess { params, unit, options, compat, xlen } = *guess;
    // Only one of several sources was examined, but the others may be alike.
    let transport = Transport::of(framing, None);
    Draft {
        xlen: Some(xlen),
        compat: Some(compat).filter(|compat| *compat != Compat::None),
        framing: Some(transport.kind()),
        fields: transport.fields(),
        ..Draft::new(&params, unit, &options)
    }
}

/// Decodes every reading as well as possible.
fn decoded<'a>(readings: Vec<Reading<'a>>, bench: &Bench<'_>, work: u64) -> Vec<ETrace<'a>> {
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
        if best.is_some_and(|best| promise < best.permille()) {
            break;
        }
        // A few stretches show whether all of it is worth a search.
        let stretches = stretches(&reading);
        let Some((guess, score)) = decode(&stretches, bench, Search::best) else { continue };
        let searched = if score.followed.saturating_mul(2) < score.lost {
            bench.decode(&reading, &guess, Goal::Any).map(|score| (guess, score))
        } else {
            decode(&reading, bench, Search::best)
        };
        let Some((guess, score)) = searched else { continue };
        let modes = modes(&reading, &guess);
        let starts = Search::new(bench, &reading, &guess).starts(&guess);
        let (settings, rivals) = (Vec::new(), Vec::new());
        let (score, more_rivals) = (Some(score), false);
        found.push(ETrace { reading, guess, modes, score, starts, settings, rivals, more_rivals });
    }
    found.sort_by_key(|found| Reverse(found.rank()));
    if !found.first().is_some_and(ETrace::is_likely) {
        return found;
    }
    // As much work again, so that something is left to vary each part.
    let budget = Cell::new(work);
    contest(&mut found, &Bench { budget: &budget, ..*bench });
    if let Some(best) = found.first_mut()
        && let Some(score) = best.score
    {
        best.settings = settings::examine(&best.reading, bench, (best.guess, score));
    }
    found
}

/// The packets after some synchronisations of a reading: after the first, and then in each third. Programs that do not fit at the
/// start, such as without a boot ROM, may fit later.
fn stretches<'a>(reading: &Reading<'a>) -> Reading<'a> {
    let length = FIRST.saturating_mul(4);
    let third = reading.pieces.len() / 3;
    if third <= length {
        return reading.clone();
    }
    let is_sync = |piece: &frames::Piece<'_>| {
        piece.1.as_ref().is_ok_and(|frame| frames::format(&frame.payload()) == (3, 0))
    };
    let mut stretches = reading.clone();
    stretches.pieces.clear();
    for from in [0, third, third.saturating_mul(2)] {
        let rest = reading.pieces.get(from..).unwrap_or_default();
        let start = if from == 0 { Some(0) } else { rest.iter().position(is_sync) };
        let stretch = rest.iter().skip(start.unwrap_or(rest.len())).take(length);
        stretches.pieces.extend(stretch.cloned());
    }
    stretches
}

/// Looks for what decodes as well as the best reading. The most plausible comes first; if several are left, the
/// others are its rivals.
fn contest(found: &mut Vec<ETrace<'_>>, bench: &Bench<'_>) {
    let Some(best) = found.first().and_then(|best| best.score) else { return };
    let is_best =
        |found: &ETrace<'_>| found.score.is_some_and(|score| score.compare(&best).is_eq());
    let mut all: Vec<(usize, Tried)> = Vec::new();
    let mut more = false;
    for (index, etrace) in found.iter().enumerate().filter(|(_, found)| is_best(found)) {
        let Some(score) = etrace.score else { continue };
        let rivals = rivals::find(&etrace.reading, bench, (etrace.guess, score));
        more |= rivals.more;
        all.extend(rivals.found.into_iter().map(|tried| (index, tried)));
    }
    let mut left = rivals::plausible(all);
    let Some((index, (guess, score))) = left.first().copied() else { return };
    left.retain({
        let mut digests = std::collections::HashSet::new();
        move |(_, (_, score))| digests.insert(score.digest)
    });
    let rivals = left.iter().skip(1).filter_map(|(other, (guess_of, score))| {
        let of = found.get(*other)?;
        let differs = (*other == index)
            .then(|| rivals::difference(bench, &of.reading, guess_of, &guess))
            .flatten();
        Some(Rival { framing: of.reading.framing, guess: *guess_of, score: *score, differs })
    });
    let rivals: Vec<Rival> = rivals.collect();
    if index < found.len() {
        let mut best = found.remove(index);
        best.modes = modes(&best.reading, &guess);
        (best.guess, best.score, best.rivals, best.more_rivals) =
            (guess, Some(score), rivals, more);
        found.insert(0, best);
    }
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
    let mut guess = Guess::new(bench.image.isa().xlen);
    if reading.skipped > 0 {
        // Modes do not change without a support packet: the first one states those that were in force before it.
        guess.options = match first_modes(reading, &guess) {
            Some(modes) => modes,
            None => likely_modes(reading, bench, &guess),
        };
    }
    let searched = search(&Search::new(bench, reading, &guess), guess);
    match (own, searched) {
        (Some(own), Some(other)) if own.1.compare(&other.1).is_gt() => Some(own),
        (own, searched) => searched.or(own),
    }
}

/// The modes with which the first packets of a reading decode best, if no packet says which are on.
fn likely_modes(reading: &Reading<'_>, bench: &Bench<'_>, like: &Guess) -> Ioptions {
    let mut start = reading.clone();
    start.pieces.truncate(FIRST.saturating_mul(8));
    let all =
        [Mode::ImplicitReturn, Mode::BranchPrediction, Mode::JumpTargetCache, Mode::FullAddress];
    let mut best: Option<Tried> = None;
    for set in 0..1u32 << all.len() {
        let mut guess = *like;
        for (bit, mode) in all.into_iter().enumerate() {
            guess.options.set(mode, set >> bit & 1 != 0);
        }
        let tried = Search::new(bench, &start, &guess).first(guess);
        if let Some(tried) = tried
            && best.as_ref().is_none_or(|(_, best)| tried.1.compare(best).is_gt())
        {
            best = Some(tried);
        }
    }
    best.map_or(like.options, |(guess, _)| guess.options)
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
