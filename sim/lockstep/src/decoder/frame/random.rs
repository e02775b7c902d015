//! Captures of a trace port.

use super::Write;
use fastrand::Rng;
use hartrace_encap::coresight::{FRAME, FSYNC, Formatter, HSYNC, TraceId};

/// Sources that write; some of them have no decoder.
const WRITERS: [u8; 5] = [0x10, 0x11, 0x6f, 0x01, 0x37];

/// Frames of several sources, with synchronisation words wherever they may be, after up to three other bytes.
#[must_use]
pub fn frames(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut capture: Vec<u8> = (0..random.usize(..4)).map(|_| random.u8(..0x80)).collect();
    capture.extend(FSYNC);
    let mut formatter = Formatter::new();
    let mut syncs = random.fork();
    // Half synchronisation words come in runs, as when a port is idle.
    let mut idle = false;
    while capture.len() < len {
        let longest = 1 << random.u32(..7);
        let bytes: Vec<u8> = (0..random.usize(1..=longest)).map(|_| random.u8(..)).collect();
        let writer = TraceId::new(WRITERS[random.usize(..WRITERS.len())]);
        let mut out = |frame: &[u8; FRAME]| {
            if syncs.u8(..8) == 0 {
                (0..syncs.u8(1..4)).for_each(|_| capture.extend(FSYNC));
            }
            for pair in frame.chunks(2) {
                idle = syncs.u8(..16) == 0 || idle && syncs.u8(..4) != 0;
                if idle {
                    (0..syncs.u8(1..6)).for_each(|_| capture.extend(HSYNC));
                }
                capture.extend(pair);
            }
        };
        writer.iter().for_each(|id| formatter.write(*id, &bytes, &mut out));
        if random.u8(..16) == 0 {
            formatter.finish(&mut out);
        }
    }
    capture
}

/// The same with damage: about once in 100 bytes, some are changed, removed or added.
#[must_use]
pub fn damaged(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(!seed);
    let mut capture = Vec::new();
    while capture.len() < len {
        let mut piece = frames(random.usize(20..200), random.u64(..));
        let at = random.usize(..piece.len());
        let end = random.usize(at..piece.len().min(at + 8));
        match random.u8(..5) {
            0 => drop(piece.drain(at..end)),
            1 => piece[at] = random.u8(..),
            2 => drop(piece.splice(at..at, FSYNC)),
            3 => drop(piece.splice(at..at, HSYNC)),
            _ => drop(piece.splice(at..at, std::iter::repeat_n(0xff, random.usize(1..7)))),
        }
        capture.extend(piece);
    }
    capture
}

/// Bytes as they are not in frames, most of them of synchronisation words.
#[must_use]
pub fn hostile(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut capture = Vec::new();
    while capture.len() < len {
        match random.u8(..8) {
            0 => capture.extend(FSYNC),
            1 | 2 => capture.push(0xff),
            3 => capture.push(0x7f),
            4 => capture.extend(HSYNC),
            _ => (0..random.u8(1..12)).for_each(|_| capture.push(random.u8(..))),
        }
    }
    capture
}

/// A frame with each synchronisation word, and each part of one, at each place within it and after it, from each
/// byte of a word on.
#[must_use]
pub fn synchronisations() -> Vec<u8> {
    let words: [&[u8]; 7] = [
        &FSYNC,
        &HSYNC,
        &[0xff],
        &[0x7f],
        &[0xff, 0xff],
        &[0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff],
    ];
    let mut capture = Vec::new();
    for start in 0..4usize {
        for word in words {
            for other in words {
                for at in 0..=FRAME {
                    let fill = (start + 4 - capture.len() % 4) % 4;
                    capture.extend(std::iter::repeat_n(0x55, fill));
                    capture.extend(FSYNC);
                    let written = (capture.len() as u8) & 0x7f;
                    let frame: [u8; FRAME] =
                        std::array::from_fn(|i| if i == 0 { 0x21 } else { written ^ i as u8 });
                    capture.extend(&frame);
                    capture.extend(&frame[..at]);
                    capture.extend(word);
                    capture.extend(other);
                    capture.extend(&frame[at..]);
                    capture.extend(&frame);
                }
            }
        }
    }
    capture
}

/// What several sources write, in pieces of one byte and more, with flushes at any place; the last one ends with a
/// flush.
#[must_use]
pub fn writes(len: usize, seed: u64) -> Vec<Write> {
    let mut random = Rng::with_seed(seed);
    let mut writes = Vec::new();
    let mut left = len;
    while left > 0 {
        let longest = (1 << random.u32(..8)).min(left);
        let bytes: Vec<u8> = (0..random.usize(1..=longest)).map(|_| random.u8(..)).collect();
        left -= bytes.len();
        let id = WRITERS[random.usize(..WRITERS.len())];
        writes.push(Write { id, bytes, flush: left == 0 || random.u8(..16) == 0 });
        // Nothing is left after the first of two flushes.
        if random.u8(..32) == 0 {
            writes.push(Write { id, bytes: Vec::new(), flush: true });
        }
    }
    writes
}
