//! What two captures have in common need not be decoded to find where they differ.

// Only some of it is used here.
#[allow(dead_code)]
#[path = "parts/captures.rs"]
mod captures;

use captures::{Folder, follow, trace};
use hartrace_capture::follow::Follow;
use hartrace_decoder::calls::Functions;
use hartrace_report::Gaps;
use hartrace_report::delta::{self, Capture, Delta, Ended, Stretch};
use hartrace_tests::case::Dice;
use std::fs;
use std::sync::Arc;

/// Compares two captures; the number of gaps in each comes with it.
fn compare(follow: &Follow, bytes: [&[u8]; 2], context: Option<u64>) -> (Delta, [u64; 2]) {
    let (found, ended) = ended(follow, bytes, context, false);
    (found, ended.map(|ended| ended.expect("it can be read").count()))
}

/// The same, with how decoding ended. If `strict`, the first gap is an error.
fn ended(
    follow: &Follow,
    bytes: [&[u8]; 2],
    context: Option<u64>,
    strict: bool,
) -> (Delta, [Ended; 2]) {
    let symbols = follow.programs.all_symbols();
    let ranges = symbols.functions().into_iter().map(|function| function.range);
    let functions = Arc::new(Functions::new(ranges));
    let captures = bytes.map(|input| Capture {
        follow,
        input,
        gaps: Gaps::new("capture", |_| ()).strict(strict),
        progress: |_| (),
    });
    delta::captures(captures, &functions, 1000, context)
}

/// Everything that does not count instructions from the start, and what does, from another start.
fn shown(delta: &Delta, skipped: u64) -> String {
    let stretch = |stretch: &Stretch| {
        let before = stretch.before.map(|before| before + skipped);
        (before, stretch.at, stretch.first, stretch.insns)
    };
    let stretches: Vec<_> = delta.stretches.iter().map(stretch).collect();
    let insns = delta.insns.map(|insns| insns + skipped);
    let Delta { count, alone, last, counts, .. } = delta;
    let (functions, edges) = (counts.functions(), counts.edges());
    format!("{stretches:?} {insns:?} {count} {alone:?} {last:?} {functions:?} {edges:?}")
}

#[test]
fn what_is_skipped_makes_no_difference() {
    let folder = Folder::new("delta");
    let dice = &mut Dice::new(7);
    let (mut skipped, mut deep) = (0, 0);
    for (name, mode) in [("calls", "delta"), ("linux", "ir+jtc"), ("interrupts", "ie+sij")] {
        let capture = trace(&folder, name, mode, 40_000);
        let follow = follow(&capture);
        let a = fs::read(&capture).expect("it was written");
        for turn in 0..8 {
            let mut b = a.clone();
            let at = dice.range(0, b.len() as u64 - 1) as usize;
            match turn {
                0 => {}
                1 => b.truncate(at),
                2 => drop(b.splice(at..at, [0; 9])),
                _ => b[at] ^= 1 << dice.range(0, 7),
            }
            let (whole, gaps) = compare(&follow, [&a, &b], None);
            assert_eq!(whole.skipped, None);
            for context in [0, 500] {
                let (found, found_gaps) = compare(&follow, [&a, &b], Some(context));
                let before = whole.insns[0] - found.insns[0];
                let what = format!("{name} {turn}, context {context}, {:?}", found.skipped);
                assert_eq!(shown(&found, before), shown(&whole, 0), "{what}");
                assert_eq!(found_gaps, gaps, "{what}");
                if let Some(place) = found.skipped {
                    skipped += 1;
                    let first = whole.stretches.first();
                    assert!(first.is_none_or(|first| place.byte <= first.at[0].byte), "{what}");
                    // The newest frames are those of the whole stack, as far as they are known.
                    let known = found.stack.iter().rev().zip(whole.stack.iter().rev());
                    deep += known.take_while(|(a, b)| a.function == b.function).count();
                } else {
                    assert_eq!(before, 0, "{what}");
                }
            }
        }
    }
    println!("{skipped} comparisons with something to skip, {deep} frames known");
    assert!(skipped > 20, "{skipped}");
}

/// A gap that both captures have is an error where none is allowed, although it could be skipped.
#[test]
fn gaps_are_not_skipped_where_they_are_errors() {
    let folder = Folder::new("delta-strict");
    let capture = trace(&folder, "calls", "delta", 100_000);
    let follow = follow(&capture);
    let mut bytes = fs::read(&capture).expect("it was written");
    bytes[40..60].fill(0xff);
    let (found, ended_well) = ended(&follow, [&bytes, &bytes], Some(0), false);
    assert!(found.skipped.is_some() && ended_well.iter().all(Result::is_ok));
    let (found, failed) = ended(&follow, [&bytes, &bytes], Some(0), true);
    assert!(found.skipped.is_none() && failed.iter().all(Result::is_err));
}
