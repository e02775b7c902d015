//! Readings that decode as well as the best one, but to other instructions.
//!
//! The search for a reading ends with the first that explains every packet. A short capture, or one whose packets
//! mean much only together with a table (a predictor, a cache, a return stack), may have several. Here, everything
//! that can be mistaken together is varied together. What is unlikely to have happened decides; if it does not,
//! nothing does.

use super::clues::Clues;
use super::frames::Reading;
use super::guess::{Guess, Knob};
use super::search::{Search, Tried};
use super::trial::{Bench, Goal, Score};
use hartrace_decoder::StreamPos;
use hartrace_encap::Framing;
use std::collections::HashSet;

/// Readings that are told apart.
const MOST: usize = 16;

/// Instructions with which most guesses are rejected.
const SHORT: u64 = 1 << 12;

/// A reading that decodes as well as another one, but to other instructions or events.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The framing.
    pub framing: Framing,
    /// The parameters.
    pub guess: Guess,
    /// How well it decodes.
    pub score: Score,
    /// Where it first differs; `None` if that is in another framing.
    pub differs: Option<Difference>,
}

/// Where two readings first differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The packet.
    pub at: StreamPos,
    /// Number of the first instruction that differs, from 0.
    pub instruction: u64,
    /// Its address in this reading; `None` if there is none.
    pub here: Option<u64>,
    /// Its address in the other reading.
    pub there: Option<u64>,
}

/// What was found beside a guess.
#[derive(Debug)]
pub(super) struct Rivals {
    /// The guess itself comes first.
    pub(super) found: Vec<Tried>,
    /// Whether there may be more.
    pub(super) more: bool,
}

/// Finds readings that decode as well as `first`, or better.
pub(super) fn find(reading: &Reading<'_>, bench: &Bench<'_>, first: Tried) -> Rivals {
    let mut hunt = Hunt::new(reading, bench, first);
    let mut next = 0;
    while let Some((guess, _)) = hunt.found.get(next).copied() {
        let here = hunt.digests.get(next).copied();
        next = next.saturating_add(1);
        // Parts that do not matter here need not be varied together with others.
        let mut same: HashSet<(usize, u64)> = HashSet::new();
        for other in hunt.neighbours(&guess) {
            if hunt.found.len() >= MOST || bench.budget.get() == 0 {
                return Rivals { found: hunt.found, more: true };
            }
            let changed = changes(&guess, &other);
            match changed[..] {
                [change] => {
                    let digest = hunt.consider(other);
                    if digest.is_some() && digest == here {
                        same.insert(change);
                    }
                }
                _ if changed.iter().any(|change| same.contains(change)) => {}
                _ => drop(hunt.consider(other)),
            }
        }
    }
    Rivals { found: hunt.found, more: false }
}

/// The parts that may be mistaken together.
fn parts(guess: &Guess) -> [u64; 5] {
    let params = &guess.params;
    let pair = |high: u8, low: u8| u64::from(high) << 8 | u64::from(low);
    [
        params.f0s_width_p.into(),
        params.bpred_size_p.into(),
        params.cache_size_p.into(),
        // An encoder has one of them.
        pair(params.return_stack_size_p, params.call_counter_size_p),
        pair(Knob::Unit.get(guess), Knob::Compat.get(guess)),
    ]
}

/// Which of these parts another guess changes, and the values there.
fn changes(from: &Guess, to: &Guess) -> Vec<(usize, u64)> {
    let both = parts(from).into_iter().zip(parts(to)).enumerate();
    both.filter(|(_, (from, to))| from != to).map(|(part, (_, to))| (part, to)).collect()
}

/// Those that did nothing unlikely, if there are such, each with the number of its framing.
pub(super) fn plausible(mut found: Vec<(usize, Tried)>) -> Vec<(usize, Tried)> {
    let score = |(_, (_, score)): &(usize, Tried)| *score;
    let Some(best) = found.iter().map(score).max_by(Score::compare) else { return found };
    found.retain(|other| score(other).compare(&best).is_eq());
    let all: Vec<Clues> = found.iter().map(|other| score(other).clues).collect();
    found.retain(|other| !all.iter().any(|clues| clues.are_better(score(other).clues)));
    found.sort_by_key(|other| score(other).clues.sum());
    found
}

/// One start of a capture, or all of it, with what a guess has to score there.
struct Stage<'a> {
    reading: Reading<'a>,
    score: Score,
    /// Whether it shows what the rest is worth.
    shows: bool,
}

struct Hunt<'a> {
    bench: &'a Bench<'a>,
    reading: &'a Reading<'a>,
    /// The shortest first.
    stages: Vec<Stage<'a>>,
    tried: HashSet<Guess>,
    /// What readings that were found decode to, by stage.
    known: HashSet<(usize, u64)>,
    found: Vec<Tried>,
    /// What each of them decodes to, as far as the first stage that shows it.
    digests: Vec<u64>,
}

impl<'a> Hunt<'a> {
    fn new(reading: &'a Reading<'a>, bench: &'a Bench<'a>, (guess, score): Tried) -> Self {
        let (stages, known) = (Vec::new(), HashSet::new());
        let (tried, found) = (HashSet::from([guess]), vec![(guess, score)]);
        let digests = Vec::new();
        let mut hunt = Self { bench, reading, stages, tried, known, found, digests };
        let mut short = 0;
        bench.decode_each(reading, &guess, Goal::Any, &mut |packet, score| {
            if score.instructions < SHORT {
                short = packet.saturating_add(1);
            }
        });
        let start = |packets| {
            let mut start = reading.clone();
            start.pieces.truncate(packets);
            start
        };
        for (packets, shows) in [(short, false), (score.sample, true)] {
            if score.is_perfect() && packets < reading.pieces.len() {
                hunt.stage(start(packets), &guess, shows);
            }
        }
        if !score.is_perfect() && short < reading.pieces.len() {
            // Something is lost, perhaps at the start for one guess, and later for another; but not nearly all of the start.
            hunt.stage(start(short), &guess, false);
            if let Some(Stage { score, .. }) = hunt.stages.first_mut() {
                *score =
                    Score { followed: score.followed / 2, gaps: u64::MAX, odd: u64::MAX, ..*score };
            }
        }
        hunt.stage(reading.clone(), &guess, true);
        let shows = hunt.stages.iter().find(|stage| stage.shows);
        hunt.digests.extend(shows.map(|stage| stage.score.digest));
        hunt
    }

    fn stage(&mut self, reading: Reading<'a>, guess: &Guess, shows: bool) {
        if let Some(score) = self.bench.decode(&reading, guess, Goal::Any) {
            self.known.insert((self.stages.len(), score.digest));
            self.stages.push(Stage { reading, score, shows });
        }
    }

    /// Decodes with a guess, and keeps it if it is as good as the first, and decodes to something new. Returns what it decodes
    /// to, as far as the first stage that shows it, if it is as good.
    fn consider(&mut self, guess: Guess) -> Option<u64> {
        if guess.layout().is_none() || !self.tried.insert(guess) {
            return None;
        }
        let (mut decoded, mut digest) = (None, None);
        for (number, Stage { reading, score, shows }) in self.stages.iter().enumerate() {
            let tried = self.bench.decode(reading, &guess, Goal::AsGood(score))?;
            if tried.compare(score).is_lt() {
                return None;
            }
            if *shows {
                digest = digest.or(Some(tried.digest));
                if !self.known.insert((number, tried.digest)) {
                    return digest;
                }
            }
            decoded = Some(tried);
        }
        if let (Some(score), Some(digest)) = (decoded, digest) {
            self.found.push((guess, score));
            self.digests.push(digest);
        }
        digest
    }

    /// Guesses that differ in one part, and then those that differ in several that may be mistaken together.
    fn neighbours(&self, guess: &Guess) -> Vec<Guess> {
        let search = Search::new(self.bench, self.reading, guess);
        let mut list = Vec::new();
        if self.bench.image.isa().xlen == Guess::rv_tracer().xlen {
            list.push(Guess::rv_tracer());
        }
        for knob in search.knobs() {
            list.extend(knob.values(guess.xlen).into_iter().filter_map(|v| knob.set(guess, v)));
        }
        let (tables, returns) = (search.every_table(guess), search.every_return(guess));
        for returned in returns.iter().chain([guess]) {
            list.push(*returned);
            // All three together are too many.
            let both = search.seen.branch_prediction && search.seen.jump_target_cache;
            for table in &tables {
                let (a, b) = (&table.params, &guess.params);
                let one = a.bpred_size_p == b.bpred_size_p || a.cache_size_p == b.cache_size_p;
                if !both || one || returned == guess {
                    let mut other = *returned;
                    other.params.f0s_width_p = a.f0s_width_p;
                    other.params.bpred_size_p = a.bpred_size_p;
                    other.params.cache_size_p = a.cache_size_p;
                    list.push(other);
                }
            }
        }
        list.sort_by_key(|other| changes(guess, other).len() > 1);
        list
    }
}

/// Where `guess` first leads elsewhere than `other` in the same reading.
pub(super) fn difference(
    bench: &Bench<'_>,
    reading: &Reading<'_>,
    guess: &Guess,
    other: &Guess,
) -> Option<Difference> {
    let marks = |guess: &Guess| {
        let mut marks = Vec::new();
        bench.decode_each(reading, guess, Goal::Any, &mut |_, score| {
            marks.push((score.digest, score.instructions));
        });
        marks
    };
    let (here, there) = (marks(guess), marks(other));
    let packet = here.iter().zip(&there).position(|(a, b)| a != b)?;
    let before = packet.checked_sub(1).and_then(|before| here.get(before));
    let instruction = before.map_or(0, |(_, instructions)| *instructions);
    let here = bench.addresses(reading, guess, packet);
    let there = bench.addresses(reading, other, packet);
    let same = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let byte = reading.pieces.get(packet).map_or(0, |(byte, _)| *byte);
    Some(Difference {
        at: StreamPos { packet: packet as u64, byte },
        instruction: instruction.saturating_add(same as u64),
        here: here.get(same).copied(),
        there: there.get(same).copied(),
    })
}
