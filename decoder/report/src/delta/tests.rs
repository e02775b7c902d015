use super::compare::{ALIKE, PLACES, align};
use super::*;
use crate::calls::tests::{Block, report, trace};
use hartrace_decoder::calls::Functions;
use hartrace_decoder::{Event, Leaves, Run, Sink, Transfer};
use hartrace_tests::case::Dice;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Functions of 0x100 bytes from 0x1000 up.
fn functions() -> Arc<Functions> {
    Arc::new(Functions::new((0..8).map(|i| 0x1000 + 0x100 * i..0x1100 + 0x100 * i)))
}

/// Each address is a run of two instructions that ends with a jump.
fn pieces(starts: &[u64]) -> Pieces {
    let mut pieces = Pieces::default();
    for start in starts {
        let transfer = if start & 0xff == 0x80 { Transfer::Call } else { Transfer::None };
        let run = Run::new(*start, &[0, 4], start + 8, Leaves::Jump).unwrap();
        pieces.run(StreamPos::default(), run.with_transfer(transfer));
    }
    pieces
}

fn compare(a: &[u64], b: &[u64]) -> Delta {
    // In parts that end at different places.
    let parts =
        |all: &[u64], size: usize| -> Vec<Pieces> { all.chunks(size).map(pieces).collect() };
    delta([parts(a, 3).into_iter(), parts(b, 5).into_iter()], &functions(), 10)
}

#[test]
fn the_same_is_the_same() {
    let all: Vec<u64> = (0..100).map(|i| 0x1000 + 0x10 * (i % 7)).collect();
    let delta = compare(&all, &all);
    assert!(delta.is_empty());
    assert_eq!(delta.insns, [200, 200]);
}

#[test]
fn what_only_one_has_is_counted_and_then_they_are_aligned() {
    let same = |from: u64| (0..20).map(move |i| from + 0x10 * (i % 5));
    let a: Vec<u64> = same(0x1000).chain([0x1080, 0x1200, 0x1210]).chain(same(0x1400)).collect();
    let b: Vec<u64> = same(0x1000).chain([0x1080, 0x1300]).chain(same(0x1400)).collect();
    let delta = compare(&a, &b);
    assert_eq!((delta.count, delta.alone), (1, [4, 2]));
    let first = &delta.stretches[0];
    assert_eq!((first.before, first.insns), ([42, 42], [4, 2]));
    assert_eq!(
        first.first.map(|piece| piece.and_then(|piece| piece.start())),
        [Some(0x1200), Some(0x1300)]
    );
    assert_eq!(delta.last, Some(0x1084));
    assert_eq!(delta.stack.iter().map(|frame| frame.function).collect::<Vec<_>>(), [0x1000]);
    assert_eq!(delta.counts.functions(), [(0x1200, [4, 0]), (0x1300, [0, 2])]);
    assert_eq!(
        delta.counts.edges(),
        [((0x1204, 0x1210), [1, 0]), ((0x1214, 0x1400), [1, 0]), ((0x1304, 0x1400), [0, 1])]
    );
}

#[test]
fn a_trap_and_the_end_are_differences() {
    let all = [0x1000, 0x1010, 0x1020];
    let mut trapped = pieces(&all[..1]);
    let trap = Event::Trap { cause: 7, interrupt: true, tval: None, epc: None };
    trapped.event(StreamPos::default(), trap);
    let a = [pieces(&all)];
    let found = delta([a.into_iter(), [trapped].into_iter()], &functions(), 10);
    assert_eq!((found.count, found.alone, found.insns), (1, [4, 0], [6, 2]));
    assert_eq!(found.stretches[0].first[1], Some(Piece::Other(trap)));
    let shorter = compare(&all, &all[..2]);
    assert_eq!((shorter.count, shorter.alone), (1, [2, 0]));
    assert_eq!(shorter.stretches[0].first[1], None);
}

/// Runs that end elsewhere, because a part ends within them, are the same instructions.
#[test]
fn the_same_instructions_in_other_runs() {
    let run = |pieces: &mut Pieces, start: u64, insns: usize, leaves| {
        let offsets: Vec<u16> = (0..insns).map(|i| 4 * i as u16).collect();
        let end = start + 4 * insns as u64;
        pieces.run(StreamPos::default(), Run::new(start, &offsets, end, leaves).unwrap());
    };
    let (mut whole, mut first, mut second) =
        (Pieces::default(), Pieces::default(), Pieces::default());
    run(&mut whole, 0x1000, 6, Leaves::Jump);
    run(&mut first, 0x1000, 2, Leaves::No);
    run(&mut second, 0x1008, 4, Leaves::Jump);
    let parts: [Box<dyn Iterator<Item = Pieces>>; 2] =
        [Box::new([whole].into_iter()), Box::new([first, second].into_iter())];
    let found = delta(parts, &functions(), 10);
    assert!(found.is_empty());
    assert_eq!(found.insns, [6, 6]);
}

/// Numbers that look random, up to a limit.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// Runs at some of a few addresses.
    fn starts(&mut self, count: u64, addresses: u64) -> Vec<u64> {
        (0..count).map(|_| 0x1000 + 0x10 * self.below(addresses)).collect()
    }

    /// Another sequence, with stretches that are missing, new or replaced.
    fn changed(&mut self, all: &[u64], addresses: u64, changes: u64) -> Vec<u64> {
        let mut other = all.to_vec();
        for _ in 0..changes {
            let at = self.below(other.len() as u64 + 1) as usize;
            let end = other.len().min(at + self.below(6) as usize);
            let (kept, new) = (self.below(2) * 5, self.below(6));
            let end = if kept == 0 { end } else { at };
            let new = self.starts(new, addresses);
            other.splice(at..end, new);
        }
        other
    }
}

/// The fewest pieces to skip, by trying all.
fn align_slowly(a: &[(StreamPos, Piece)], b: &[(StreamPos, Piece)]) -> Option<(usize, usize)> {
    let is_tried = |i: usize| {
        let start = a[i].1.start();
        a[..i].iter().filter(|(_, piece)| piece.start() == start).count() < PLACES
    };
    let alike = |i: usize, j: usize| {
        let (rest_a, rest_b) = (a.len() - i, b.len() - j);
        let next = rest_a.min(rest_b).min(ALIKE);
        rest_a.min(ALIKE) == rest_b.min(ALIKE)
            && (0..next).all(|k| a[i + k].1.start() == b[j + k].1.start())
    };
    let totals = 0..(a.len() + b.len()).saturating_sub(1);
    let mut pairs = totals.flat_map(|total| (0..=total).map(move |j| (total - j, j)));
    pairs.find(|(i, j)| *i < a.len() && *j < b.len() && is_tried(*i) && alike(*i, *j))
}

#[test]
fn an_alignment_skips_as_little_as_possible() {
    let mut random = Random(1);
    let mut found = 0;
    for case in 0..400 {
        let addresses = [3, 20, 500][case % 3];
        let count = random.below(120);
        let a = random.starts(count, addresses);
        let changes = random.below(4);
        let b = random.changed(&a, addresses, changes);
        let (a, b) = (pieces(&a).list, pieces(&b).list);
        let skip = random.below(4) as usize;
        let a = a.get(skip..).unwrap_or_default();
        assert_eq!(align(a, &b), align_slowly(a, &b), "case {case}");
        found += usize::from(align(a, &b).is_some_and(|(i, j)| i + j > 0));
    }
    assert!(found > 50, "{found} alignments that skip anything");
}

/// Longer than what is aligned at once: all that is not alone is the same in both.
#[test]
fn long_traces_are_aligned_again() {
    let mut random = Random(7);
    for changes in [1, 10, 300] {
        let a = random.starts(60_000, 5_000);
        let b = random.changed(&a, 5_000, changes);
        let delta = compare(&a, &b);
        assert_eq!(delta.insns, [a.len(), b.len()].map(|pieces| 2 * pieces as u64));
        let both = [0, 1].map(|side| delta.insns[side] - delta.alone[side]);
        assert_eq!(both[0], both[1]);
        // A change replaces, adds or removes at most five pieces; more are alone only where two changes meet.
        assert!(delta.alone.iter().all(|alone| *alone <= 2 * 3 * 5 * changes), "{:?}", delta.alone);
        assert!(delta.count <= changes, "{} stretches of {changes} changes", delta.count);
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count() as u64;
        // A change may put back what it takes away.
        let first = (a != b).then_some([2 * same; 2]);
        assert_eq!(delta.stretches.first().map(|first| first.before), first);
        for side in [0, 1] {
            let alone: u64 = delta.counts.functions().iter().map(|(_, both)| both[side]).sum();
            assert!(alone <= delta.alone[side], "of one side, or of both alike");
        }
    }
}

/// However long it is, and wherever its parts end.
#[test]
fn every_edge_of_a_trace_that_is_alone_is_counted() {
    let mut random = Random(3);
    for count in [1, 2, 100, 1 << 14, 40_001] {
        let all = random.starts(count, 500);
        let mut edges = BTreeMap::new();
        for pair in all.windows(2) {
            // From the second instruction of a run to the first of the next.
            *edges.entry((pair[0] + 4, pair[1])).or_insert(0u64) += 1;
        }
        for side in [0, 1] {
            let delta = if side == 0 { compare(&all, &[]) } else { compare(&[], &all) };
            let found: BTreeMap<_, _> = delta.counts.edges().into_iter().collect();
            let expected = edges.iter().map(|(edge, times)| {
                let mut both = [0; 2];
                both[side] = *times;
                (*edge, both)
            });
            assert!(found.into_iter().eq(expected), "{count} runs, side {side}");
        }
    }
}

/// The pieces of loops, with every turn of its own unless they are `counted`.
fn loops(trace: &[(Vec<Block>, u64)], counted: bool) -> std::array::IntoIter<Pieces, 1> {
    let mut pieces = Pieces::default();
    report(trace, counted, &mut pieces);
    [pieces].into_iter()
}

/// Loops that a trace only counts are compared as if every turn were in the trace.
#[test]
fn counted_turns_are_compared_like_turns() {
    let mut differ = 0;
    for seed in 0..600 {
        let mut dice = Dice::new(seed);
        let a = trace(&mut dice, 300);
        let mut b = a.clone();
        match dice.range(0, 3) {
            // Another number of turns, another loop, or another trace.
            0 => b[0].1 = dice.range(0, 300),
            1 => b.extend(trace(&mut dice, 300)),
            2 => b = trace(&mut dice, 300),
            _ => {}
        }
        let [each, counted] = [false, true].map(|counted| {
            let found = delta([loops(&a, counted), loops(&b, counted)], &functions(), 10);
            let counts = (found.counts.functions(), found.counts.edges());
            (
                found.count,
                found.insns,
                found.alone,
                found.stretches,
                found.last,
                found.stack,
                counts,
            )
        });
        assert_eq!(each, counted, "seed {seed}: {a:?} {b:?}");
        differ += u32::from(each.0 > 0);
    }
    assert!((100..500).contains(&differ), "{differ} differ");
}

#[test]
fn billions_of_turns_are_compared_at_once() {
    let turn = trace(&mut Dice::new(1), 1).swap_remove(0).0;
    let insns: u64 = {
        let once = delta([loops(&[(turn.clone(), 1)], false), loops(&[], false)], &functions(), 1);
        once.insns[0]
    };
    let [few, many] = [(1 << 31) + 7, 1 << 32];
    let [a, b] = [few, many].map(|times| loops(&[(turn.clone(), times)], true));
    let found = delta([a, b], &functions(), 10);
    assert_eq!(found.insns, [few * insns, many * insns]);
    assert_eq!((found.count, found.alone), (1, [0, (many - few) * insns]));
    // Neither is in the other.
    let other: Vec<Block> = turn.iter().map(|block| block.moved(0x4000)).collect();
    let [a, b] = [(turn, few), (other, many)].map(|some| loops(&[some], true));
    let found = delta([a, b], &functions(), 10);
    assert_eq!((found.count, found.alone), (1, [few * insns, many * insns]));
}
