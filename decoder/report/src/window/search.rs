//! Finds out which instructions a window is.

mod ends;
mod error;
mod part;
#[cfg(test)]
mod tests;
mod watch;

pub use error::SearchError;

use super::{Place, Window};
use crate::calls::{Callee, Names};
use crate::limits::{Limits, Position};
use crate::report::Report;
use ends::{FROM, Found, Hit, ONCE, TO};
use hartrace_capture::programs::Programs;
use hartrace_decoder::calls::{CallStack, Functions, Transfers};
use hartrace_isa::Xlen;
use part::SearchPart;
use std::collections::HashSet;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::Arc;
use watch::{Watch, spans};

/// What an end of a window waits for.
#[derive(Clone, Debug)]
enum What {
    Packet(u64),
    Byte(u64),
    Address(u64),
    Function(HashSet<Callee>),
    Time(u64),
    On,
    Trigger,
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
struct Wanted {
    /// The start and the end.
    ends: [Option<(What, Option<u64>)>; 2],
    /// The function of `--in`, and which call of it.
    inside: Option<(HashSet<Callee>, Option<u64>)>,
}

/// Decodes a trace to find a window in it. Nothing is written.
#[derive(Debug)]
pub struct Search {
    wanted: Arc<Wanted>,
    functions: Arc<Functions>,
    stack: CallStack<Watch>,
    found: Found,
    window: Window,
}

impl Search {
    /// Looks for a window in a trace of these programs.
    ///
    /// # Errors
    ///
    /// If the window has no number that is not looked for, and is empty; or if the programs have no function of this name.
    pub fn new(window: &Window, programs: &Programs, xlen: Xlen) -> Result<Self, SearchError> {
        let (names, functions) = Names::with_inlined(programs, xlen);
        let ends = [wanted(&names, &window.from)?, wanted(&names, &window.to)?];
        let inside = match &window.inside {
            Some(inside) => {
                Some((called(&names, &inside.function)?, inside.call.map(NonZeroU64::get)))
            }
            None => None,
        };
        let start = match &window.from {
            Some(Place::At(Position::Insn(number))) => Some(*number),
            _ => None,
        };
        let functions = Arc::new(functions);
        Ok(Self::of(Wanted { ends, inside }, start, functions, window.clone()))
    }

    fn of(wanted: Wanted, start: Option<u64>, functions: Arc<Functions>, window: Window) -> Self {
        let wanted = Arc::new(wanted);
        let watch = Watch { wanted: Arc::clone(&wanted), ..Watch::default() };
        let stack = CallStack::new(Arc::clone(&functions), watch);
        let found = Found { ends: [start, None], ..Found::default() };
        Self { wanted, functions, stack, found, window }
    }

    /// What was found, after all of the trace.
    ///
    /// # Errors
    ///
    /// If something of the window was not found, or cannot be known.
    pub fn limits(self) -> Result<Option<Limits>, SearchError> {
        let Self { wanted, stack, found, window, .. } = self;
        let total = stack.instructions();
        let watch = stack.finish();
        if found.unsure || watch.unsure {
            return Err(SearchError::Counted);
        }
        if watch.too_many {
            return Err(SearchError::TooMany);
        }
        let has_start = window.from.is_some();
        let position = |end: usize, option, place: Option<Place>| match (place, &wanted.ends) {
            (Some(place), ends) if ends.get(end).is_some_and(Option::is_some) => {
                let number = found.ends.get(end).copied().flatten();
                let times = found.seen.get(end).copied().unwrap_or(0);
                // As without a search, a trace may end before a packet or a byte.
                if end == TO && number.is_none() && place.position().is_some() {
                    return Ok(None);
                }
                let is_relative = matches!(ends.get(end), Some(Some((_, None))));
                let after = end == TO && has_start && is_relative;
                let missing = SearchError::NotFound { option, place, times, after };
                number.map(|number| Some(Position::Insn(number))).ok_or(missing)
            }
            (place, _) => Ok(place.and_then(|place| place.position())),
        };
        let from = position(FROM, "--from", window.from)?;
        let to = position(TO, "--to", window.to)?;
        let limits = Limits::new(from, to)?;
        let Some(inside) = window.inside else { return Ok(limits) };
        let spans = spans(&watch.toggles, total);
        if spans.is_empty() {
            let (inside, times) = (inside.to_string(), watch.calls);
            return Err(SearchError::NotEntered { inside, times });
        }
        Ok(Some(Limits::only(limits, spans)))
    }
}

/// What an end waits for, and how often it has to happen, unless it is a number.
fn wanted(
    names: &Names<'_>,
    place: &Option<Place>,
) -> Result<Option<(What, Option<u64>)>, SearchError> {
    let number = |nth: &Option<NonZeroU64>| nth.map(NonZeroU64::get);
    Ok(Some(match place {
        None | Some(Place::At(Position::Insn(_))) => return Ok(None),
        Some(Place::At(Position::Packet(number))) => (What::Packet(*number), Some(1)),
        Some(Place::At(Position::Byte(number))) => (What::Byte(*number), Some(1)),
        Some(Place::Address(address, nth)) => (What::Address(*address), number(nth)),
        Some(Place::Function(name, nth)) => (What::Function(called(names, name)?), number(nth)),
        Some(Place::Time(time)) => (What::Time(*time), Some(1)),
        Some(Place::On(nth)) => (What::On, number(nth)),
        Some(Place::Trigger(nth)) => (What::Trigger, number(nth)),
    }))
}

/// The functions of a name.
fn called(names: &Names<'_>, name: &str) -> Result<HashSet<Callee>, SearchError> {
    let found = names.find(name);
    match found.is_empty() {
        true => Err(SearchError::NoFunction { name: name.into(), like: names.like(name) }),
        false => Ok(found),
    }
}

impl Report for Search {
    type Part = SearchPart;
    // Instructions of several sources have no common numbers.
    const ONE_SOURCE: bool = true;
    const WHOLE: bool = true;

    fn maker(&self) -> Box<dyn Fn() -> SearchPart + Send + Sync> {
        let functions = Arc::clone(&self.functions);
        let ends = self.wanted.ends.iter().enumerate();
        let addresses: Vec<_> = ends
            .filter_map(|(end, want)| match want {
                Some((What::Address(address), _)) => Some((end, *address)),
                _ => None,
            })
            .collect();
        let ends = self.wanted.ends.iter().enumerate();
        let ahead: Vec<_> = ends
            .filter_map(|(end, want)| match want {
                Some((what @ (What::Packet(_) | What::Byte(_)), _)) => Some((end, what.clone())),
                _ => None,
            })
            .collect();
        Box::new(move || SearchPart {
            transfers: Transfers::new(Arc::clone(&functions)),
            addresses: addresses.clone(),
            ahead: ahead.clone(),
            hits: Vec::new(),
            insns: 0,
            turn: None,
        })
    }

    fn join(&mut self, _: Option<u16>, part: SearchPart, _: &mut dyn Write) -> io::Result<()> {
        let before = self.stack.instructions();
        self.stack.replay(&part.transfers);
        let mut hits = std::mem::take(&mut self.stack.visit().hits);
        hits.extend(part.hits.iter().map(|hit| {
            let (at, mut turns) = (before.saturating_add(hit.at), hit.turns);
            if turns != ONCE {
                turns.start = before.saturating_add(turns.start);
            }
            Hit { at, turns, ..*hit }
        }));
        hits.sort_by_key(|hit| hit.at);
        self.found.take(&self.wanted, &hits);
        Ok(())
    }
}
