//! Windows of random traces, against lists of everything that was executed.

use super::*;
use crate::calls::tests::{changes, function, functions, report, trace};
use crate::collect::Collect;
use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos, Time};
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
