//! Searches for the parameters with which a capture decodes best.

use super::frames::{Reading, format};
use super::guess::{Guess, Knob};
use super::trial::{Bench, Goal, Score};
use hartrace_bits::{BitReader, mask};
use hartrace_decoder::Compat;
use hartrace_etrace::{Ioptions, Mode, Payload, Unit};
use std::cmp::Reverse;

/// Guesses that are refined.
const BEAM: usize = 4;

/// Synchronisations and traps whose addresses are looked up.
const LOOKUPS: usize = 256;

/// Bits of a synchronisation before privilege, time and context.
pub(super) const HEAD: u32 = 5;

/// Rounds in which each part of a guess is improved.
const ROUNDS: usize = 4;

/// Where the synchronisations of a trace are.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// Those at instructions of the program.
    pub inside: usize,
    /// All that were looked up.
    pub all: usize,
}

/// A guess, and how well the capture decodes with it.
pub(super) type Tried = (Guess, Score);

/// The search in one reading of a capture.
pub(super) struct Search<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) reading: &'a Reading<'a>,
    /// Modes that some support packet switches on.
    pub(super) seen: Ioptions,
    /// Whether packets depend on modes before the first support packet.
    pub(super) unannounced: bool,
    syncs: Vec<BitReader<'a>>,
    traps: Vec<BitReader<'a>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(bench: &'a Bench<'a>, reading: &'a Reading<'a>, like: &Guess) -> Self {
        let of = |subformat| {
            let is = move |payload: &BitReader<'_>| format(payload) == (3, subformat);
            reading.payloads().filter(is).take(LOOKUPS).collect()
        };
        let unannounced = reading.payloads().next().is_some_and(|p| format(&p) != (3, 3));
        let seen = modes(reading, like);
        Self { bench, reading, seen, unannounced, syncs: of(0), traps: of(1) }
    }

    /// The best guess before it is refined.
    pub(super) fn first(&self, like: Guess) -> Option<Tried> {
        self.beam(like).into_iter().next()
    }

    /// The best guess of those that differ from `like` in any parameter.
    pub(super) fn best(&self, like: Guess) -> Option<Tried> {
        let mut best: Option<Tried> = None;
        for tried in self.beam(like) {
            let refined = self.refine(tried);
            if best.is_none_or(|(_, best)| refined.1.compare(&best).is_gt()) {
                best = Some(refined);
            }
            if refined.1.is_perfect() {
                break;
            }
        }
        best
    }

    /// The best guesses for the widths of fields.
    fn beam(&self, like: Guess) -> Vec<Tried> {
        let mut beam: Vec<Tried> = Vec::new();
        for guess in self.layouts(like) {
            for guess in self.variants(guess) {
                let last = beam.get(BEAM.wrapping_sub(1)).map(|(_, score)| *score);
                let goal = last.as_ref().map_or(Goal::Any, Goal::Better);
                if let Some(score) = self.bench.decode(self.reading, &guess, goal) {
                    beam.push((guess, score));
                    beam.sort_by(|(_, a), (_, b)| b.compare(a));
                    beam.truncate(BEAM);
                }
            }
        }
        beam
    }

    /// Widths with which synchronisations are at instructions of the program, the most likely first.
    fn layouts(&self, like: Guess) -> Vec<Guess> {
        let mut found: Vec<(usize, Guess)> = Vec::new();
        for lsb in [1, 0, 2] {
            for bits in Knob::StateBits.values(like.xlen) {
                let Some(guess) = Knob::IaddressLsb.set(&like.with_state_bits(bits), lsb) else {
                    continue;
                };
                let hits = self.starts(&guess).inside;
                let (traps, guess) = self.ecause(guess, u32::from(bits).saturating_add(HEAD));
                found.push((hits.saturating_add(traps), guess));
            }
        }
        found.sort_by_key(|(hits, _)| Reverse(*hits));
        // All but few addresses of the right layout are in the program: those before it starts are not.
        let most = found.first().map_or(0, |(hits, _)| *hits);
        found.retain(|(hits, _)| most < 4 || *hits >= most.div_euclid(2));
        found.into_iter().map(|(_, guess)| guess).collect()
    }

    /// Where synchronisations are with these widths.
    pub(super) fn starts(&self, guess: &Guess) -> Starts {
        let skipped = u32::from(guess.state_bits()).saturating_add(HEAD);
        let inside = self.syncs.iter().filter(|sync| self.hits(sync, skipped, guess)).count();
        Starts { inside, all: self.syncs.len() }
    }

    /// The width of ecause with which most handlers are in the program, and how many are.
    fn ecause(&self, guess: Guess, skipped: u32) -> (usize, Guess) {
        let mut best = (0, guess);
        for width in Knob::Ecause.values(guess.xlen) {
            let Some(wider) = Knob::Ecause.set(&guess, width) else { continue };
            let thaddr = skipped.saturating_add(width.into()).saturating_add(1);
            let hits = self.traps.iter().filter(|trap| {
                let mut bits = BitReader::clone(trap);
                bits.skip(thaddr);
                bits.read(1) == Ok(1) && self.hits(trap, thaddr.saturating_add(1), &guess)
            });
            let hits = hits.count();
            if hits > best.0 {
                best = (hits, wider);
            }
        }
        best
    }

    /// Whether the address after `skipped` bits is that of an instruction.
    fn hits(&self, payload: &BitReader<'_>, skipped: u32, guess: &Guess) -> bool {
        let mut bits = payload.clone();
        bits.skip(skipped);
        let Ok(field) = bits.read(guess.params.address_bits()) else { return false };
        let width = mask(guess.params.iaddress_width_p.into());
        let address = field.wrapping_shl(guess.params.iaddress_lsb_p.into()) & width;
        address & 1 == 0 && self.bench.image.insn(address).is_some()
    }

    /// A guess with tables that the modes require, in all dialects.
    fn variants(&self, guess: Guess) -> Vec<Guess> {
        let Ioptions { implicit_return, jump_target_cache, branch_prediction, .. } = self.seen;
        let mut guess = guess;
        guess.params.bpred_size_p = if branch_prediction { 7 } else { 0 };
        guess.params.cache_size_p = if jump_target_cache { 7 } else { 0 };
        guess.params.f0s_width_p = (branch_prediction && jump_target_cache).into();
        guess.params.call_counter_size_p = if implicit_return { 16 } else { 0 };
        let mut variants = vec![guess];
        if implicit_return || jump_target_cache || branch_prediction {
            variants.push(Guess { compat: Compat::CModel, ..guess });
        }
        if implicit_return {
            // Most encoders have a stack.
            let mut stack = guess;
            stack.params.call_counter_size_p = 0;
            stack.params.return_stack_size_p = 4;
            variants.push(stack);
        }
        if self.unannounced {
            let full = Ioptions { full_address: true, ..guess.options };
            variants.push(Guess { options: full, ..guess });
        }
        variants.retain(|guess| guess.layout().is_some());
        variants
    }

    /// Improves one part after the other.
    fn refine(&self, tried: Tried) -> Tried {
        let mut best = tried;
        for _ in 0..ROUNDS {
            let before = best;
            self.vary(&mut best, Knob::Compat);
            self.tables(&mut best);
            self.returns(&mut best);
            for knob in self.knobs() {
                self.vary(&mut best, knob);
            }
            if best == before {
                break;
            }
        }
        best
    }

    fn vary(&self, best: &mut Tried, knob: Knob) {
        for value in knob.values(best.0.xlen) {
            if let Some(guess) = knob.set(&best.0, value) {
                self.try_guess(best, guess);
            }
        }
    }

    /// The parts that may matter.
    pub(super) fn knobs(&self) -> Vec<Knob> {
        let mut knobs = Knob::PARAMETERS.to_vec();
        knobs.retain(|knob| match knob {
            Knob::Ecause => !self.traps.is_empty(),
            Knob::F0s => self.seen.branch_prediction || self.seen.jump_target_cache,
            Knob::Bpred => self.seen.branch_prediction,
            Knob::Cache => self.seen.jump_target_cache,
            _ => true,
        });
        if self.unannounced {
            let modes = Mode::ALL.into_iter().filter(|mode| *mode != Mode::DeltaAddress);
            knobs.extend(modes.map(Knob::Initial));
        }
        knobs
    }

    /// The sizes of predictor and cache depend on each other.
    fn tables(&self, best: &mut Tried) {
        for guess in self.every_table(&best.0) {
            // What else was found since then stays.
            let mut better = best.0;
            better.params.f0s_width_p = guess.params.f0s_width_p;
            better.params.cache_size_p = guess.params.cache_size_p;
            better.params.bpred_size_p = guess.params.bpred_size_p;
            self.try_guess(best, better);
        }
    }

    /// The guess with every combination of sizes of predictor and cache.
    pub(super) fn every_table(&self, guess: &Guess) -> Vec<Guess> {
        let Ioptions { jump_target_cache, branch_prediction, .. } = self.seen;
        if !(jump_target_cache || branch_prediction) {
            return Vec::new();
        }
        let sizes = |on: bool| if on { 1..=16 } else { 0..=0 };
        let mut list = Vec::new();
        // Two subformats need a bit.
        for f0s_width_p in u8::from(jump_target_cache && branch_prediction)..=2 {
            for cache_size_p in sizes(jump_target_cache) {
                for bpred_size_p in sizes(branch_prediction) {
                    let mut other = *guess;
                    other.params.f0s_width_p = f0s_width_p;
                    other.params.cache_size_p = cache_size_p;
                    other.params.bpred_size_p = bpred_size_p;
                    list.push(other);
                }
            }
        }
        list
    }

    fn returns(&self, best: &mut Tried) {
        for guess in self.every_return(&best.0) {
            self.try_guess(best, guess);
        }
    }

    /// The guess in every dialect, and with every return stack or call counter: an encoder has one of them.
    pub(super) fn every_return(&self, guess: &Guess) -> Vec<Guess> {
        let dialects = [
            (guess.unit, guess.compat),
            (guess.unit, Compat::None),
            (Unit::Reference, Compat::CModel),
            (Unit::Reference, Compat::PythonModel),
            (Unit::Hartrace, Compat::None),
        ];
        let mut list = Vec::new();
        for (unit, compat) in dialects {
            let mut other = Guess { unit, compat, ..*guess };
            list.push(other);
            for size in (1..=16).filter(|_| self.seen.implicit_return) {
                other.params.call_counter_size_p = size;
                other.params.return_stack_size_p = 0;
                list.push(other);
                other.params.call_counter_size_p = 0;
                other.params.return_stack_size_p = size;
                list.push(other);
            }
        }
        list
    }

    fn try_guess(&self, best: &mut Tried, guess: Guess) {
        if guess == best.0 || best.1.is_perfect() || guess.layout().is_none() {
            return;
        }
        if let Some(score) = self.bench.decode(self.reading, &guess, Goal::Better(&best.1))
            && score.compare(&best.1).is_gt()
        {
            *best = (guess, score);
        }
    }
}

/// All modes that support packets switch on.
pub(super) fn modes(reading: &Reading<'_>, like: &Guess) -> Ioptions {
    let mut seen = like.options;
    for options in announced(reading, like) {
        for mode in Mode::ALL.into_iter().filter(|mode| options.get(*mode)) {
            seen.set(mode, true);
        }
    }
    seen
}

/// The modes of the first support packet.
pub(super) fn first_modes(reading: &Reading<'_>, like: &Guess) -> Option<Ioptions> {
    announced(reading, like).next()
}

/// The modes of each support packet.
fn announced<'a, 'b>(
    reading: &'a Reading<'b>,
    like: &Guess,
) -> impl Iterator<Item = Ioptions> + use<'a, 'b> {
    let layout = like.layout();
    let payloads = reading.payloads().filter(|payload| format(payload) == (3, 3));
    payloads.filter_map(move |mut payload| {
        let parsed = Payload::parse(layout.as_ref()?, Ioptions::default(), &mut payload);
        let Ok(Payload::Support(support)) = parsed else { return None };
        Some(support.ioptions)
    })
}
