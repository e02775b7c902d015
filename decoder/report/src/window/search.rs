//! Finds out which instructions a window is.

use super::{Place, Window};
use crate::calls::{Callee, Names};
use crate::collect::Collect;
use crate::limits::{Limits, NothingBetween, Position, Span};
use crate::report::Report;
use hartrace_capture::programs::Programs;
use hartrace_decoder::calls::{CallStack, Frame, Functions, Note, Transfers, Visit};
use hartrace_decoder::{Clock, Event, Path, Run, Sink, StreamPos, Time};
use hartrace_isa::Xlen;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::Arc;
use thiserror::Error;

/// Stretches of a window that are kept.
const MOST: usize = 1 << 23;

/// Why a window has no instructions.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The program has no such function.
    #[error("no function is called {name}{}", like.as_ref().map_or(String::new(), |like| format!("; is it {like}?")))]
    NoFunction {
        /// Its name.
        name: String,
        /// One with a similar name.
        like: Option<String>,
    },
    /// It does not happen in the trace, or not that often.
    #[error("{option} {place}: {}", found(.place, *.times, *.after))]
    NotFound {
        /// The option.
        option: &'static str,
        /// The place.
        place: Place,
        /// How often it was found.
        times: u64,
        /// Only what is after the start counts.
        after: bool,
    },
    /// The function is not called, or not that often.
    #[error("--in {inside}: the function is entered {times} times in this trace")]
    NotEntered {
        /// What was asked for.
        inside: String,
        /// How often it is entered.
        times: u64,
    },
    /// It is where the trace only says how often a loop ran.
    #[error(
        "the place is within a loop of which the trace only says how often it ran; use the number of an instruction"
    )]
    Counted,
    /// Nothing is between the start and the end.
    #[error(transparent)]
    Nothing(#[from] NothingBetween),
    /// There are too many stretches.
    #[error("the function is called more than {} times; ask for one call, as in --in FUNCTION:2", MOST / 2)]
    TooMany,
}

fn found(place: &Place, times: u64, after: bool) -> String {
    match (place, times) {
        _ if after => "it does not happen after --from".into(),
        (Place::At(_), _) => "no instruction follows it".into(),
        (Place::Time(_), _) => "the trace has no reading of its clock at or after this time".into(),
        (Place::On(_), times) => format!("tracing starts {times} times"),
        (Place::Trigger(_), times) => format!("{times} triggers fire"),
        (Place::Function(..), times) => format!("entered {times} times"),
        (_, times) => format!("executed {times} times"),
    }
}

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

/// Number of the start, and of the end, of a window.
const FROM: usize = 0;
const TO: usize = 1;

/// What is looked for.
#[derive(Clone, Debug, Default)]
struct Wanted {
    /// The start and the end.
    ends: [Option<(What, Option<u64>)>; 2],
    /// The function of `--in`, and which call of it.
    inside: Option<(HashSet<Callee>, Option<u64>)>,
}

/// Turns of a loop, all alike.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Turns {
    /// Instructions before the first.
    start: u64,
    times: u64,
    /// Instructions of one.
    period: u64,
}

/// It happens once.
const ONCE: Turns = Turns { start: 0, times: 1, period: 0 };

/// The function of `--in` becomes active, or no longer is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Toggle {
    at: u64,
    /// It only waits, or goes on after that.
    waits: bool,
}

/// An end may be here.
#[derive(Copy, Clone, Debug)]
struct Hit {
    /// Instructions before it, the first time.
    at: u64,
    end: usize,
    turns: Turns,
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

/// Stretches that start and end in turn. The last one may go on to the end.
fn spans(toggles: &[Toggle], total: u64) -> Arc<[Span]> {
    let mut spans: Vec<Span> = Vec::new();
    let mut waited = false;
    for pair in toggles.chunks(2) {
        let (start, end, waits) = match pair {
            [start, end] => (*start, end.at, end.waits),
            [start] => (*start, total, false),
            _ => continue,
        };
        let resumes = waited && start.waits;
        match spans.last_mut() {
            _ if start.at >= end => {}
            Some(last) if last.insns.end >= start.at && resumes => {
                last.insns.end = last.insns.end.max(end)
            }
            _ => spans.push(Span { insns: start.at..end, resumes }),
        }
        waited = waits;
    }
    spans.into()
}

/// The ends so far.
#[derive(Debug, Default)]
struct Found {
    ends: [Option<u64>; 2],
    seen: [u64; 2],
    /// Up to where turns of a loop go that may contain the end of the window, while its start is not known.
    passed: u64,
    /// What is looked for is in turns that are only counted.
    unsure: bool,
}

impl Found {
    /// Takes hits in the order of the trace; those of the first turn stand for all turns.
    fn take(&mut self, wanted: &Wanted, hits: &[Hit]) {
        let mut groups: Vec<Vec<Hit>> = Vec::new();
        let mut open: HashMap<Turns, usize> = HashMap::new();
        for hit in hits {
            let next = groups.len();
            let group =
                if hit.turns == ONCE { next } else { *open.entry(hit.turns).or_insert(next) };
            match groups.get_mut(group) {
                Some(group) => group.push(*hit),
                None => groups.push(vec![*hit]),
            }
        }
        for group in groups {
            for end in [FROM, TO] {
                let hits: Vec<Hit> = group.iter().copied().filter(|hit| hit.end == end).collect();
                if let Some(first) = hits.first() {
                    self.group(wanted, *first, &hits);
                }
            }
        }
    }

    /// Takes hits of one end in the same turns.
    fn group(&mut self, wanted: &Wanted, first: Hit, hits: &[Hit]) {
        let Hit { at, end, turns } = first;
        let last = at.saturating_add(turns.times.saturating_sub(1).saturating_mul(turns.period));
        let Some(Some((_, nth))) = wanted.ends.get(end) else { return };
        if self.ends.get(end).is_none_or(Option::is_some) {
            return;
        }
        // Without a number, it is the first time after the start.
        let is_relative = end == TO && nth.is_none();
        if is_relative && let Some(start) = self.ends[FROM] {
            if at <= start {
                self.unsure |= last > start;
                return;
            }
        } else if is_relative && wanted.ends[FROM].is_some() {
            self.passed = self.passed.max(last);
            return;
        }
        let Some(seen) = self.seen.get_mut(end) else { return };
        let each = hits.len() as u64;
        let all = each.saturating_mul(turns.times);
        let left = nth.unwrap_or(1).saturating_sub(*seen);
        *seen = seen.saturating_add(all);
        if left == 0 || left > all {
            return;
        }
        let before = left.saturating_sub(1);
        let turn = before.checked_div(each).unwrap_or(0);
        let index = before.checked_rem(each).unwrap_or(0) as usize;
        let at = hits.get(index).map_or(at, |hit| hit.at);
        let at = at.saturating_add(turn.saturating_mul(turns.period));
        if let Some(found) = self.ends.get_mut(end) {
            *found = Some(at);
        }
        // The end may have been in turns that have been passed.
        self.unsure |= end == FROM && self.passed > at;
    }
}

/// Watches the call stack.
#[derive(Debug, Default)]
struct Watch {
    wanted: Arc<Wanted>,
    clock: Clock,
    hits: Vec<Hit>,
    /// Where the function of `--in` becomes active, and where it no longer is, in turn.
    toggles: Vec<Toggle>,
    /// Those before this are not changed any more.
    fixed: usize,
    /// The active calls of it on the present stack, and whether they are asked for.
    active: Vec<bool>,
    /// How many of them are.
    depth: u64,
    /// How often it was entered.
    calls: u64,
    turns: Option<Repeated>,
    too_many: bool,
    unsure: bool,
}

/// Turns that are reported once.
#[derive(Copy, Clone, Debug)]
struct Repeated {
    turns: Turns,
    hits: usize,
    calls: u64,
}

impl Watch {
    fn hit(&mut self, at: u64, is: impl Fn(&What) -> bool) {
        let ends = self.wanted.ends.iter().enumerate();
        let hits = ends.filter(|(_, want)| want.as_ref().is_some_and(|(what, _)| is(what)));
        self.hits.extend(hits.map(|(end, _)| Hit { at, end, turns: ONCE }));
    }

    /// Whether a frame is one of the function of `--in`.
    fn is_inside(&self, callee: Callee) -> bool {
        self.wanted.inside.as_ref().is_some_and(|(callees, _)| callees.contains(&callee))
    }

    fn toggle(&mut self, at: u64, waits: bool) {
        if self.toggles.len() < MOST {
            self.toggles.push(Toggle { at, waits });
        } else {
            self.too_many = true;
        }
    }

    fn push(&mut self, asked: bool, at: u64, waited: bool) {
        self.active.push(asked);
        if asked {
            if self.depth == 0 {
                self.toggle(at, waited);
            }
            self.depth = self.depth.saturating_add(1);
        }
    }

    /// Returns whether the call that is no longer active was asked for.
    fn pop(&mut self, frame: &Frame, at: u64, waits: bool) -> bool {
        if !self.is_inside(frame.into()) {
            return false;
        }
        let asked = self.active.pop().unwrap_or(false);
        if asked {
            self.depth = self.depth.saturating_sub(1);
            if self.depth == 0 {
                self.toggle(at, waits);
            }
        }
        asked
    }

    fn call(&self) -> Option<u64> {
        self.wanted.inside.as_ref().and_then(|(_, call)| *call)
    }
}

impl Visit for Watch {
    const ONE_BY_ONE: u64 = 1 << 12;

    fn enter(&mut self, frame: &Frame, at: u64) {
        let callee = Callee::from(frame);
        self.hit(at, |what| matches!(what, What::Function(callees) if callees.contains(&callee)));
        if self.is_inside(callee) {
            self.calls = self.calls.saturating_add(1);
            let asked = self.call().is_none_or(|call| call == self.calls);
            self.push(asked, at, false);
        }
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.pop(frame, at, false);
    }

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        [self.pop(frame, at, true).into(), 0]
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        if self.is_inside(frame.into()) {
            // Of a call that was active before the trace, the number is not known.
            let asked = note.map_or(self.call().is_none(), |[asked, _]| asked != 0);
            self.push(asked, at, note.is_some());
        }
    }

    fn begin_turns(&mut self, start: u64, times: u64, more: u64) {
        let period = more.checked_div(times.saturating_sub(1)).unwrap_or(0);
        let (hits, calls) = (self.hits.len(), self.calls);
        self.turns = Some(Repeated { turns: Turns { start, times, period }, hits, calls });
        self.fixed = self.toggles.len();
    }

    fn end_turns(&mut self, _: u64) {
        let Some(Repeated { turns, hits, calls }) = self.turns.take() else { return };
        for hit in self.hits.iter_mut().skip(hits) {
            hit.turns = turns;
        }
        let again = turns.times.saturating_sub(1);
        let entered = self.calls.saturating_sub(calls).saturating_mul(again);
        match self.call() {
            None => {
                let turn = self.toggles.get(self.fixed..).unwrap_or_default().to_vec();
                let more = (turn.len() as u64).saturating_mul(again);
                let room = MOST.saturating_sub(self.toggles.len()) as u64;
                self.too_many |= more > room;
                if more > 0 && more <= room {
                    for n in 1..turns.times {
                        let later = n.saturating_mul(turns.period);
                        self.toggles.extend(turn.iter().map(|toggle| Toggle {
                            at: toggle.at.saturating_add(later),
                            ..*toggle
                        }));
                    }
                }
            }
            Some(call) => {
                self.unsure |= call > self.calls && call <= self.calls.saturating_add(entered);
            }
        }
        self.calls = self.calls.saturating_add(entered);
        self.fixed = self.toggles.len();
    }

    fn time(&mut self, time: Time, at: u64) {
        if let Some(now) = self.clock.take(time) {
            self.hit(at, |what| matches!(what, What::Time(time) if *time <= now));
        }
    }

    fn on(&mut self, at: u64) {
        self.hit(at, |what| matches!(what, What::On));
    }

    fn trigger(&mut self, at: u64) {
        self.hit(at, |what| matches!(what, What::Trigger));
    }
}

/// What a part of the trace is decoded into.
#[derive(Debug)]
pub struct SearchPart {
    transfers: Transfers,
    addresses: Vec<(usize, u64)>,
    /// Ends that are packets or bytes, as long as they are ahead.
    ahead: Vec<(usize, What)>,
    hits: Vec<Hit>,
    insns: u64,
    /// Where the turn that is repeated starts: hits and instructions so far, and how often it is taken.
    turn: Option<(usize, u64, u64)>,
}

impl SearchPart {
    fn reach(&mut self, at: StreamPos) {
        let (hits, insns) = (&mut self.hits, self.insns);
        self.ahead.retain(|(end, what)| {
            let reached = match what {
                What::Packet(number) => at.packet >= *number,
                What::Byte(number) => at.byte >= *number,
                _ => false,
            };
            if reached {
                hits.push(Hit { at: insns, end: *end, turns: ONCE });
            }
            !reached
        });
    }

    fn look(&mut self, at: StreamPos, run: &Run<'_>) {
        if !self.ahead.is_empty() {
            self.reach(at);
        }
        for (end, address) in &self.addresses {
            if (run.start()..run.end()).contains(address) {
                let mut at = self.insns;
                run.addresses(|pc| {
                    if pc == *address {
                        self.hits.push(Hit { at, end: *end, turns: ONCE });
                    }
                    at = at.saturating_add(1);
                });
            }
        }
        self.insns = self.insns.saturating_add(run.insns().into());
    }
}

impl Sink for SearchPart {
    const ORDERED: bool = Transfers::ORDERED;
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.look(at, &run);
        self.transfers.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        match self.addresses.is_empty() && self.ahead.is_empty() {
            true => self.insns = self.insns.saturating_add(path.insns()),
            false => path.runs().for_each(|run| self.look(at, &run)),
        }
        self.transfers.path(at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.turn.get_or_insert((self.hits.len(), self.insns, times));
        self.look(at, &run);
        self.transfers.repeat(at, run, times);
    }

    fn end_turn(&mut self) {
        self.transfers.end_turn();
        let Some((hits, insns, times)) = self.turn.take() else { return };
        let period = self.insns.saturating_sub(insns);
        for hit in self.hits.iter_mut().skip(hits) {
            hit.turns = Turns { start: insns, times, period };
        }
        let again = times.saturating_sub(1);
        self.insns = self.insns.saturating_add(again.saturating_mul(period));
    }

    fn is_full(&self) -> bool {
        self.transfers.is_full() || self.hits.len() >= 1 << 16
    }

    fn bytes(&self) -> Option<usize> {
        let hits = self.hits.capacity().saturating_mul(size_of::<Hit>());
        Some(self.transfers.bytes()?.saturating_add(hits))
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.transfers.event(at, event);
    }
}

impl Collect for SearchPart {}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::{changes, function, functions, report, trace};
    use hartrace_decoder::Leaves;
    use hartrace_tests::case::Dice;
    use std::ops::Range;

    fn searched(
        search: Search,
        turns: &[(Vec<crate::calls::tests::Block>, u64)],
        counted: bool,
    ) -> Result<Vec<Range<u64>>, SearchError> {
        let mut search = search;
        let mut part = search.maker()();
        report(turns, counted, &mut part);
        search.join(None, part, &mut Vec::new()).expect("nothing is written");
        let limits = search.limits()?.map(crate::limits::SharedLimits::new);
        // What is within the limits, as numbers of instructions.
        let mut limited =
            crate::limits::Limited::new(Noting::default(), limits.as_ref(), Default::default());
        report(turns, false, &mut limited);
        Ok(spans_of(&limited.sink))
    }

    /// Where each instruction that is reported is, if what is left out is told.
    #[derive(Default)]
    struct Noting {
        pcs: Vec<u64>,
        pieces: Vec<usize>,
    }

    impl Sink for Noting {
        fn run(&mut self, _: StreamPos, run: Run<'_>) {
            run.addresses(|pc| self.pcs.push(pc));
        }

        fn event(&mut self, _: StreamPos, event: Event) {
            assert!(matches!(event, Event::LeftOut { .. }), "{event:?}");
            self.pieces.push(self.pcs.len());
        }
    }

    impl Collect for Noting {}

    fn spans_of(noting: &Noting) -> Vec<Range<u64>> {
        let ends = noting.pieces.iter().copied().chain([noting.pcs.len()]);
        let mut start = 0;
        ends.map(|end| std::mem::replace(&mut start, end as u64)..end as u64).collect()
    }

    fn pcs(turns: &[(Vec<crate::calls::tests::Block>, u64)]) -> Vec<u64> {
        let mut noting = Noting::default();
        report(turns, false, &mut noting);
        noting.pcs
    }

    /// The n-th execution of an instruction is where the list of all addresses has it.
    #[test]
    fn addresses_are_where_the_list_has_them() {
        let (mut some, mut none) = (0, 0);
        for seed in 0..600 {
            let dice = &mut Dice::new(seed);
            let turns = trace(dice, if seed % 3 == 0 { 3000 } else { 30 });
            let all = pcs(&turns);
            if all.is_empty() {
                continue;
            }
            let address = all[dice.range(0, all.len() as u64 - 1) as usize];
            let nth = dice.range(1, 40);
            let place = Place::Address(address, NonZeroU64::new(nth));
            let window = Window { from: Some(place), ..Window::default() };
            let mut hits = (0..all.len()).filter(|index| all[*index] == address);
            let expected = hits.nth(nth as usize - 1);
            for counted in [false, true] {
                let ends = [Some((What::Address(address), Some(nth))), None];
                let wanted = Wanted { ends, inside: None };
                let search = Search::of(wanted, None, functions(), window.clone());
                let found = searched(search, &turns, counted);
                match expected {
                    Some(index) => {
                        let left = (all.len() - index) as u64;
                        assert_eq!(found, Ok(std::iter::once(0..left).collect()), "seed {seed}");
                        some += 1;
                    }
                    None => {
                        assert!(matches!(found, Err(SearchError::NotFound { .. })), "seed {seed}");
                        none += 1;
                    }
                }
            }
        }
        assert!(some > 300 && none > 50, "{some} found, {none} not");
    }

    /// The same part of a trace, whether the turns of a loop are in it or only their number.
    #[test]
    fn counted_turns_are_like_turns() {
        let (mut same, mut unsure) = (0, 0);
        for seed in 0..600 {
            let dice = &mut Dice::new(seed);
            let turns = trace(dice, if seed % 10 == 0 { 6000 } else { 60 });
            if changes(&turns) > 100_000 {
                continue;
            }
            let end = |dice: &mut Dice, all: &[u64]| match dice.range(0, 2) {
                0 => None,
                1 => {
                    let address = all.get(dice.range(0, all.len() as u64) as usize);
                    let nth = dice.one_in(2).then(|| dice.range(1, 9));
                    Some((What::Address(address.copied().unwrap_or(0)), nth))
                }
                _ => {
                    let callee = Callee::Function(function(dice.range(1, 4)));
                    let nth = dice.one_in(2).then(|| dice.range(1, 9));
                    Some((What::Function(HashSet::from([callee])), nth))
                }
            };
            let all = pcs(&turns);
            let ends = [end(dice, &all), end(dice, &all)];
            let inside = dice.one_in(2).then(|| {
                let callee = Callee::Function(function(dice.range(1, 4)));
                (HashSet::from([callee]), dice.one_in(3).then(|| dice.range(1, 9)))
            });
            let place = |end: &Option<(What, Option<u64>)>| end.as_ref().map(|_| Place::Time(0));
            let function = super::super::Inside { function: "f".into(), call: None };
            let window = Window {
                from: place(&ends[0]),
                to: place(&ends[1]),
                inside: inside.as_ref().map(|_| function),
            };
            let wanted = Wanted { ends, inside };
            let [each, counted] = [false, true].map(|counted| {
                let search = Search::of(wanted.clone(), None, functions(), window.clone());
                searched(search, &turns, counted)
            });
            match counted {
                Err(SearchError::Counted) => unsure += 1,
                counted => {
                    assert_eq!(each, counted, "seed {seed}: {wanted:?}\n{turns:?}");
                    same += u32::from(counted.is_ok());
                }
            }
        }
        assert!(same > 150 && unsure < 60, "{same} with something, {unsure} unsure");
    }

    /// What else happens: starts, triggers and times, packets and bytes.
    #[test]
    fn events_and_packets() {
        let stamp = |value| Event::Time(Time::Stamp { value, bits: 40 });
        let at = |packet| StreamPos { packet, byte: 10 * packet };
        let found = |what: What, nth: u64| {
            let window = Window { from: Some(Place::Time(0)), ..Window::default() };
            let wanted = Wanted { ends: [Some((what, Some(nth))), None], inside: None };
            let mut search = Search::of(wanted, None, functions(), window);
            let mut part = search.maker()();
            // Ten packets with three instructions each.
            for packet in 0..10 {
                match packet {
                    0 | 6 => part.event(at(packet), Event::On),
                    1 => part.event(at(packet), stamp(700)),
                    4 => part.event(at(packet), stamp(1000)),
                    5 | 8 => part.event(at(packet), Event::Trigger),
                    _ => {}
                }
                let run = Run::new(function(1), &[0, 4, 8], function(1) + 12, Leaves::No);
                part.run(at(packet), run.expect("three"));
            }
            search.join(None, part, &mut Vec::new()).expect("nothing is written");
            search.limits().map(|limits| limits.and_then(|limits| limits.first()))
        };
        for (what, nth, expected) in [
            (What::On, 1, 0),
            (What::On, 2, 18),
            (What::Trigger, 1, 15),
            (What::Trigger, 2, 24),
            (What::Time(1), 1, 3),
            (What::Time(701), 1, 12),
            (What::Packet(7), 1, 21),
            (What::Byte(71), 1, 24),
            (What::Address(function(1) + 4), 2, 4),
        ] {
            assert_eq!(found(what.clone(), nth), Ok(Some(expected)), "{what:?} {nth}");
        }
        for (what, nth) in [(What::Trigger, 3), (What::Time(1001), 1), (What::Packet(10), 1)] {
            let missing = found(what.clone(), nth);
            assert!(matches!(missing, Err(SearchError::NotFound { .. })), "{what:?}");
        }
    }
}
