use crate::coresight::{
    Chunk, Deformatter, Dstream, FSYNC, Fault, Formatter, HSYNC, Item, Mode, TraceId,
};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Data(u8, u64, Vec<u8>),
    Trigger(u64, Vec<u8>),
    Flush(u64),
    Reset,
    Fault(Fault),
}

fn read(mode: Mode, capture: &[u8], piece: usize) -> (Vec<Seen>, Deformatter) {
    let mut seen = Vec::new();
    let mut deformatter = Deformatter::new(mode);
    let mut out = |item: Item<'_>| {
        seen.push(match item {
            Item::Data(Chunk { id, index, bytes }) => Seen::Data(id.get(), index, bytes.to_vec()),
            Item::Trigger { index, bytes } => Seen::Trigger(index, bytes.to_vec()),
            Item::Flush { index } => Seen::Flush(index),
            Item::Reset => Seen::Reset,
            Item::Fault(fault) => Seen::Fault(fault),
        });
    };
    for bytes in capture.chunks(piece) {
        deformatter.feed(bytes, &mut out);
    }
    deformatter.finish(&mut out);
    (seen, deformatter)
}

/// Bytes per source, in order, with neighbours of the same source joined.
fn joined(seen: &[Seen]) -> Vec<(u8, Vec<u8>)> {
    let mut all: Vec<(u8, Vec<u8>)> = Vec::new();
    for item in seen {
        let Seen::Data(id, _, bytes) = item else { continue };
        match all.last_mut() {
            Some((last, data)) if last == id => data.extend(bytes),
            _ => all.push((*id, bytes.clone())),
        }
    }
    all
}

const WORKED: [u8; 16] = [
    0x21, 0xaa, 0x03, 0xbb, 0x44, 0xcc, 0x10, 0xdd, 0x00, 0xee, 0x00, 0xff, 0x00, 0x11, 0x00, 0x04,
];

#[test]
fn the_worked_frame() {
    let (seen, deformatter) = read(Mode::Aligned, &WORKED, 16);
    let second = vec![0xbb, 0x45, 0xcc, 0x10, 0xdd, 0, 0xee, 0, 0xff, 0, 0x11, 0];
    assert_eq!(seen, [Seen::Data(0x10, 0, vec![0xaa]), Seen::Data(0x01, 2, second)]);
    assert_eq!(deformatter.statistics().data, 13);
    assert_eq!(deformatter.statistics().overhead, 3);
}

#[test]
fn a_delayed_change_leaves_the_odd_byte_to_the_old_source() {
    let mut frame = [0; 16];
    frame[0] = 0x21; // source 0x10
    frame[1] = 1;
    frame[2] = 0x23; // source 0x11, delayed
    frame[3] = 2;
    frame[15] = 0b10;
    let (seen, _) = read(Mode::Aligned, &frame, 16);
    assert_eq!(seen[0], Seen::Data(0x10, 0, vec![1, 2]));
    assert_eq!(seen[1], Seen::Data(0x11, 2, vec![0; 11]));
}

#[test]
fn a_change_in_the_last_byte_holds_from_the_next_frame_on() {
    let mut frames = [0; 32];
    frames[0] = 0x21;
    frames[14] = 0x23;
    let (seen, _) = read(Mode::Aligned, &frames, 32);
    assert_eq!(seen, [Seen::Data(0x10, 0, vec![0; 13]), Seen::Data(0x11, 16, vec![0; 15])]);
}

#[test]
fn special_sources_are_told_apart() {
    let frame = [0xfb, 5, 0xf7, 0, 1, 7, 0xe1, 8, 0xe1, 9, 0xe1, 1, 0xe1, 1, 0xe1, 0];
    let (seen, deformatter) = read(Mode::Aligned, &frame, 16);
    assert_eq!(seen, [Seen::Trigger(0, vec![5]), Seen::Flush(2)]);
    assert_eq!(deformatter.statistics().null, 1);
    assert_eq!(deformatter.statistics().reserved, 4);
}

#[test]
fn resets_come_in_fours() {
    let mut capture = WORKED.to_vec();
    capture.extend([FSYNC; 8].concat());
    capture.extend([0; 16]);
    let (seen, deformatter) = read(Mode::AlignedReset, &capture, 16);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], Seen::Reset);
    assert_eq!(deformatter.statistics().unknown, 15); // the source is not known any more

    let capture = [&FSYNC[..], &FSYNC, &[0; 8]].concat();
    let (seen, _) = read(Mode::AlignedReset, &capture, 16);
    assert_eq!(seen, [Seen::Fault(Fault::Reset { index: 0, words: 2 })]);
}

#[test]
fn a_port_is_read_from_the_first_full_synchronisation_on() {
    let capture = [&[1, 2, 3][..], &FSYNC, &WORKED, &FSYNC, &FSYNC, &WORKED].concat();
    for piece in [1, 3, 64] {
        let (seen, deformatter) = read(Mode::Fsync, &capture, piece);
        assert_eq!(seen.len(), 4);
        assert_eq!(seen[0], Seen::Data(0x10, 7, vec![0xaa]));
        assert_eq!(seen[2], Seen::Data(0x10, 31, vec![0xaa]));
        assert_eq!(deformatter.statistics().unsynchronised, 3);
    }
}

#[test]
fn half_synchronisations_are_dropped_or_faults() {
    let capture = [&FSYNC[..], &WORKED[..6], &HSYNC, &HSYNC, &WORKED[6..]].concat();
    let (seen, _) = read(Mode::FsyncHsync, &capture, 5);
    assert_eq!(joined(&seen), joined(&read(Mode::Aligned, &WORKED, 16).0));
    let (seen, _) = read(Mode::Fsync, &capture, 5);
    assert_eq!(seen, [Seen::Fault(Fault::HalfSync { index: 10 })]);
}

#[test]
fn a_full_synchronisation_within_a_frame_loses_that_frame_only() {
    let capture = [&FSYNC[..], &WORKED[..6], &FSYNC, &WORKED].concat();
    let (seen, deformatter) = read(Mode::Fsync, &capture, 7);
    assert_eq!(seen[0], Seen::Fault(Fault::FullSync { index: 10 }));
    assert_eq!(seen[1], Seen::Data(0x10, 14, vec![0xaa]));
    assert_eq!(seen.len(), 3);
    assert_eq!(deformatter.statistics().unsynchronised, 6);
}

#[test]
fn a_full_synchronisation_among_bytes_that_are_a_fault_is_found() {
    // Two bytes too many before the word: its first half is the second half of what is a fault.
    let capture = [&FSYNC[..], &WORKED, &[0xff, 0xff], &FSYNC, &WORKED].concat();
    let (seen, deformatter) = read(Mode::FsyncHsync, &capture, 7);
    assert_eq!(seen[2], Seen::Fault(Fault::FullSync { index: 20 }));
    assert_eq!(seen[3], Seen::Data(0x10, 26, vec![0xaa]));
    assert_eq!(seen.len(), 5);
    assert_eq!(deformatter.statistics().unsynchronised, 2);
    // A byte is missing in the frame before the word.
    let capture = [&FSYNC[..], &WORKED[..5], &FSYNC, &WORKED].concat();
    let (seen, deformatter) = read(Mode::FsyncHsync, &capture, 7);
    assert_eq!(seen[0], Seen::Fault(Fault::FullSync { index: 10 }));
    assert_eq!(seen[1], Seen::Data(0x10, 13, vec![0xaa]));
    assert_eq!(seen.len(), 3);
    assert_eq!(deformatter.statistics().unsynchronised, 5);
}

#[test]
fn an_incomplete_frame_is_a_fault() {
    let (seen, _) = read(Mode::Aligned, &[&WORKED[..], &[1, 2, 3]].concat(), 4);
    assert_eq!(seen[2], Seen::Fault(Fault::Incomplete { index: 16, bytes: 3 }));
}

#[test]
fn an_incomplete_synchronisation_is_a_fault() {
    let capture = [&FSYNC[..], &FSYNC, &FSYNC[..3]].concat();
    let (seen, deformatter) = read(Mode::Fsync, &capture, 4);
    assert!(matches!(seen[..], [Seen::Fault(Fault::Incomplete { bytes: 3, .. })]), "{seen:?}");
    assert_eq!(deformatter.statistics().unsynchronised, 3);
}

#[test]
fn trailers_of_a_probe_are_removed() {
    let capture: Vec<u8> = (0..1100).map(|i| if i % 512 < 504 { 1 } else { 2 }).collect();
    for piece in [1, 7, 511, 2000] {
        let mut trace = Vec::new();
        let mut dstream = Dstream::new();
        capture.chunks(piece).for_each(|b| dstream.feed(b, &mut |b| trace.extend_from_slice(b)));
        assert_eq!(trace, vec![1; 504 + 504 + 76]);
    }
}

/// Writes, and puts synchronisation words where the mode allows.
fn written(writes: &[(u8, Vec<u8>)], mode: Mode, seed: u64) -> Vec<u8> {
    let mut capture = Vec::new();
    let mut random = seed | 1;
    let mut chance = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33).is_multiple_of(3)
    };
    if matches!(mode, Mode::Fsync | Mode::FsyncHsync) {
        capture.extend(FSYNC);
    }
    let mut out = |frame: &[u8; 16]| {
        if matches!(mode, Mode::Fsync | Mode::FsyncHsync) && chance() {
            capture.extend(FSYNC);
        }
        for pair in frame.chunks(2) {
            if mode == Mode::FsyncHsync && chance() {
                capture.extend(HSYNC);
            }
            capture.extend(pair);
        }
    };
    let mut formatter = Formatter::new();
    for (id, bytes) in writes {
        formatter.write(TraceId::new(*id).unwrap(), bytes, &mut out);
    }
    formatter.finish(&mut out);
    capture
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        writes in prop::collection::vec((1u8..4, prop::collection::vec(any::<u8>(), 0..20)), 0..40),
        mode in prop::sample::select(vec![
            Mode::Aligned, Mode::AlignedReset, Mode::Fsync, Mode::FsyncHsync,
        ]),
        piece in 1usize..100,
        seed in any::<u64>(),
    ) {
        // A pair FF FF or FF 7F cannot arise from frames: FF as an ID byte is source 0x7f.
        let capture = written(&writes, mode, seed);
        let mut expected: Vec<(u8, Vec<u8>)> = Vec::new();
        for (id, bytes) in writes.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            match expected.last_mut() {
                Some((last, data)) if last == id => data.extend(bytes),
                _ => expected.push((*id, bytes.clone())),
            }
        }
        let (seen, deformatter) = read(mode, &capture, piece);
        prop_assert_eq!(joined(&seen), expected);
        prop_assert!(!seen.iter().any(|item| matches!(item, Seen::Fault(_))));
        let s = deformatter.statistics();
        let all = s.data + s.unknown + s.null + s.reserved + s.overhead + s.unsynchronised;
        prop_assert_eq!(all, capture.len() as u64);
    }

    #[test]
    fn any_input_in_any_pieces_gives_the_same(
        capture in prop::collection::vec(
            prop_oneof![Just(0xffu8), Just(0x7f), Just(0x21), any::<u8>()], 0..200),
        mode in prop::sample::select(vec![
            Mode::Aligned, Mode::AlignedReset, Mode::Fsync, Mode::FsyncHsync,
        ]),
        piece in 1usize..40,
    ) {
        let (whole, one) = read(mode, &capture, 1000);
        let (pieces, other) = read(mode, &capture, piece);
        prop_assert_eq!(whole, pieces);
        prop_assert_eq!(one.statistics(), other.statistics());
        let s = one.statistics();
        let all = s.data + s.unknown + s.null + s.reserved + s.overhead + s.unsynchronised;
        prop_assert_eq!(all, capture.len() as u64);
    }
}

#[test]
fn the_oldest_byte_comes_first() {
    let written = |write, wrapped, frames| {
        let mut bytes: Vec<u8> = (0..48).collect();
        crate::coresight::oldest_first(&mut bytes, write, wrapped, frames).to_vec()
    };
    let bytes = |range: std::ops::Range<u8>| range.collect::<Vec<u8>>();
    assert_eq!(written(20, false, false), bytes(0..20));
    assert_eq!(written(20, false, true), bytes(0..16));
    assert_eq!(written(99, false, true), bytes(0..48));
    assert_eq!(written(20, true, false), [bytes(20..48), bytes(0..20)].concat());
    assert_eq!(written(16, true, true), [bytes(16..48), bytes(0..16)].concat());
    // The frame from 16 on is half old and half new.
    assert_eq!(written(20, true, true), [bytes(32..48), bytes(0..16)].concat());
    assert_eq!(written(40, true, true), bytes(0..32));
    assert_eq!(written(0, true, true), bytes(0..48));
    assert_eq!(crate::coresight::oldest_first(&mut [], 7, true, true), []);
}
