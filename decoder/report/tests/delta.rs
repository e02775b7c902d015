//! What two captures have in common need not be decoded to find where they differ.

use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::params::{Draft, Given, Setup};
use hartrace_capture::programs::Programs;
use hartrace_decoder::calls::Functions;
use hartrace_report::delta::{self, Capture, Delta, Ended, Later, Stretch};
use hartrace_report::gaps::Gaps;
use hartrace_tests::captures::{Folder, follow, trace};
use hartrace_tests::case::Dice;
use std::fs;
use std::sync::Arc;

/// Compares two captures; the number of gaps in each comes with it.
fn compare(follow: &CaptureDecoder, bytes: [&[u8]; 2], context: Option<u64>) -> (Delta, [u64; 2]) {
    let (found, ended) = ended(follow, bytes, context, false);
    (found, ended.map(|ended| ended.expect("it can be read").count()))
}

/// The same, with how decoding ended. If `strict`, the first gap is an error.
fn ended(
    follow: &CaptureDecoder,
    bytes: [&[u8]; 2],
    context: Option<u64>,
    strict: bool,
) -> (Delta, [Ended; 2]) {
    let symbols = follow.programs.all_symbols();
    let ranges = symbols.functions().into_iter().map(|function| function.range);
    let functions = Arc::new(Functions::new(ranges));
    let captures = bytes.map(|input| Capture {
        follow,
        input: Box::new(input),
        gaps: Gaps::new("capture", |_| ()).strict(strict),
        progress: Box::new(|_| ()),
    });
    delta::captures(captures, &functions, 1000, context)
}

/// Everything that does not count instructions, and by how much those of the second capture are more: what was skipped is the
/// same in both.
fn shown(delta: &Delta) -> String {
    let more = |[a, b]: [u64; 2]| b as i64 - a as i64;
    let stretch = |Stretch { before, at, first, insns }: &Stretch| {
        format!("{} {at:?} {first:?} {insns:?}", more(*before))
    };
    let stretches: Vec<_> = delta.stretches.iter().map(stretch).collect();
    let Delta { count, insns, alone, last, counts, .. } = delta;
    let (more, functions, edges) = (more(*insns), counts.functions(), counts.edges());
    format!("{stretches:?} {more} {count} {alone:?} {last:?} {functions:?} {edges:?}")
}

#[test]
fn what_is_skipped_makes_no_difference() {
    let folder = Folder::new("delta");
    let dice = &mut Dice::new(7);
    let (mut skipped, mut later, mut deep) = (0, 0, 0);
    for (name, mode) in [("calls", "delta"), ("linux", "ir+jtc"), ("interrupts", "ie+sij")] {
        let capture = trace(&folder, name, mode, 40_000);
        let follow = follow(&capture);
        let a = fs::read(&capture).expect("it was written");
        for turn in 0..16 {
            let mut b = a.clone();
            for _ in 0..turn / 4 {
                let at = dice.range(0, b.len() as u64 - 1) as usize;
                match turn % 4 {
                    0 => b.truncate(at.max(1)),
                    1 => drop(b.splice(at..at, [0; 9])),
                    2 => drop(b.drain(at..b.len().min(at + 40))),
                    _ => b[at] ^= 1 << dice.range(0, 7),
                }
            }
            let (whole, gaps) = compare(&follow, [&a, &b], None);
            assert_eq!((whole.skipped, whole.later), (None, Later::default()));
            for context in [0, 500] {
                let (found, found_gaps) = compare(&follow, [&a, &b], Some(context));
                let what = format!("{name} {turn}, context {context}, {:?}", found.skipped);
                assert_eq!(shown(&found), shown(&whole), "{what}, {:?}", found.later);
                // No gap is reported twice, though some are decoded twice.
                assert!(found_gaps[0] <= gaps[0] && found_gaps[1] <= gaps[1], "{what}");
                later += found.later.stretches;
                if let Some(place) = found.skipped {
                    skipped += 1;
                    let first = whole.stretches.first();
                    assert!(first.is_none_or(|first| place.byte <= first.at[0].byte), "{what}");
                    // The newest frames are those of the whole stack, as far as they are known.
                    let known = found.stack.iter().rev().zip(whole.stack.iter().rev());
                    deep += known.take_while(|(a, b)| a.function == b.function).count();
                } else if found.later == Later::default() {
                    assert_eq!(found.insns, whole.insns, "{what}");
                }
            }
        }
    }
    println!("{skipped} comparisons skip the start, {later} later stretches, {deep} frames known");
    assert!(skipped > 20 && later > 20, "{skipped} {later}");
}

/// In a long loop, every place is like every other. After damage the second capture has lost some iterations, which no stretch of
/// equal bytes may hide: they are missing at the end.
#[test]
fn iterations_are_not_lost_between_equal_bytes() {
    let draft = "iaddress_width_p = 32\niaddress_lsb_p = 1\n";
    let draft = Draft::parse(draft, "params.toml").expect("it is complete");
    let setup = Setup::new(Some(draft), &Given::default()).expect("it is right");
    let mut programs = Programs::new(setup.xlen);
    programs.add_code(0x1000, &[0x63, 0x10, 0x05, 0x00]); // bnez a0, 0
    let follow = CaptureDecoder::new(setup, programs);
    let period = |maps: usize| {
        let start = [0x45, 0x63, 0x00, 0x04, 0x00, 0x00]; // at 0x1000, a taken branch
        let map = [0x45, 0x01, 0x00, 0x00, 0x00, 0x00]; // 31 taken branches
        [start.to_vec(), map.repeat(maps)].concat()
    };
    let a = period(20).repeat(50);
    let mut b = a.clone();
    let damaged = period(20).len() * 10 + period(7).len();
    b[damaged] = 0; // this frame is none
    b[damaged + 1] = 0xff;
    for (damaged, both) in [(1, [&a[..], &b]), (0, [&b, &a])] {
        let (whole, gaps) = compare(&follow, both, None);
        assert!(gaps[damaged] > 0 && whole.alone[1 - damaged] >= 31, "{gaps:?} {whole:?}");
        for context in [0, 100] {
            let (found, found_gaps) = compare(&follow, both, Some(context));
            assert!(found.skipped.is_some());
            assert_eq!((shown(&found), found_gaps), (shown(&whole), gaps), "{:?}", found.later);
        }
    }
    // If they come to a synchronisation together, they may go on together.
    let less = [period(20).repeat(10), period(7), period(20).repeat(39)].concat();
    let (whole, _) = compare(&follow, [&a, &less], None);
    let (found, _) = compare(&follow, [&a, &less], Some(0));
    assert_eq!(shown(&found), shown(&whole), "{:?}", found.later);
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
    assert!(found.skipped.is_none() && failed.iter().any(Result::is_err));
}
