//! How sure each part of a guess is.

use super::frames::Reading;
use super::guess::{Guess, Knob};
use super::search::{Search, Tried};
use super::trial::{Bench, Goal};
use hartrace_etrace::Unit;
use std::cmp::Ordering;

/// Why a part of a guess has its value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Other values were tried: [`Setting::same`] and the others say how they decode.
    Tried,
    /// No packet of the capture contains it.
    Unused,
    /// The encoder always has this value.
    Fixed,
    /// It fits, but the capture does not determine it without the program.
    Guessed,
}

/// A part of a guess, and how well other values decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the parameter; `unit` or `compat`.
    pub name: &'static str,
    /// Its value. Units are reference and hartrace; `compat` is none, python-model and c-model.
    pub value: u8,
    /// Why.
    pub origin: Origin,
    /// Values that decode to the same instructions and events.
    pub same: Vec<u8>,
    /// Values that decode as well, but to others.
    pub rivals: Vec<u8>,
    /// Values that decode worse.
    pub worse: Vec<u8>,
}

impl Setting {
    /// Whether the capture determines the value.
    pub fn is_named(&self) -> bool {
        self.origin == Origin::Tried
            && self.same.is_empty()
            && self.rivals.is_empty()
            && !self.worse.is_empty()
    }

    /// Whether this value, or another, decodes the capture in the same way.
    pub fn allows(&self, value: u8) -> bool {
        self.value == value || self.origin == Origin::Unused || self.same.contains(&value)
    }

    pub(super) fn new(knob: Knob, guess: &Guess, origin: Origin) -> Self {
        let (name, value) = (knob.name(), knob.get(guess));
        Self { name, value, origin, same: Vec::new(), rivals: Vec::new(), worse: Vec::new() }
    }
}

/// Varies each part of a guess alone.
pub(super) fn examine(
    reading: &Reading<'_>,
    bench: &Bench<'_>,
    (guess, score): Tried,
) -> Vec<Setting> {
    if guess.unit == Unit::RvTracer {
        let fixed = |knob: Knob| Setting::new(knob, &guess, Origin::Fixed);
        let mut knobs = Knob::PARAMETERS.to_vec();
        knobs.retain(|knob| !matches!(knob, Knob::Unit | Knob::Compat));
        return knobs.into_iter().map(fixed).collect();
    }
    // The start of a long capture is enough.
    let mut reading = reading.clone();
    reading.pieces.truncate(score.sample);
    let Some(score) = bench.decode(&reading, &guess, Goal::Any) else { return Vec::new() };
    let search = Search::new(bench, &reading, &guess);
    let knobs = search.knobs();
    let mut all = Knob::PARAMETERS.to_vec();
    all.extend(knobs.iter().filter(|knob| matches!(knob, Knob::Initial(_))));
    all.into_iter()
        .map(|knob| {
            if !knobs.contains(&knob) {
                return Setting::new(knob, &guess, Origin::Unused);
            }
            let mut setting = Setting::new(knob, &guess, Origin::Tried);
            for value in knob.values(guess.xlen) {
                let Some(other) = knob.set(&guess, value).filter(|other| *other != guess) else {
                    continue;
                };
                let tried = bench.decode(&reading, &other, Goal::AsGood(&score));
                if bench.budget.get() == 0 {
                    break;
                }
                let list = match tried {
                    Some(tried) if tried.compare(&score) == Ordering::Less => &mut setting.worse,
                    Some(tried) if tried.digest == score.digest => &mut setting.same,
                    Some(_) => &mut setting.rivals,
                    None => &mut setting.worse,
                };
                list.push(value);
            }
            setting
        })
        .collect()
}
