//! Faults of a stream of payloads.

use crate::case::Dice;
use hartrace_etrace::Payload;
use std::fmt;

/// A fault of one payload during transmission.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is lost.
    Drop,
    /// One of its bits changes.
    Flip,
    /// Bytes at its end are missing.
    Truncate,
    /// It arrives twice.
    Duplicate,
}

impl Kind {
    /// All kinds of faults.
    pub const ALL: [Self; 4] = [Self::Drop, Self::Flip, Self::Truncate, Self::Duplicate];

    /// Returns what arrives instead of `payload`, which is not empty.
    pub fn injure(self, payload: &[u8], dice: &mut Dice) -> Vec<Vec<u8>> {
        let mut hurt = payload.to_vec();
        match self {
            Self::Drop => return Vec::new(),
            Self::Duplicate => return vec![hurt.clone(), hurt],
            Self::Truncate => hurt.truncate(dice.range(0, payload.len() as u64 - 1) as usize),
            Self::Flip => {
                let bit = dice.range(0, 8 * payload.len() as u64 - 1) as usize;
                hurt[bit / 8] ^= 1 << (bit % 8);
            }
        }
        vec![hurt]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Drop => "drop",
            Self::Flip => "flip",
            Self::Truncate => "truncate",
            Self::Duplicate => "duplicate",
        })
    }
}

/// Returns a stream in which `instead` replaces payload `index`, each payload with its number in
/// the whole stream.
pub fn injured<'s>(
    stream: &'s [Vec<u8>],
    index: usize,
    instead: &'s [Vec<u8>],
) -> impl Iterator<Item = (u64, &'s [u8])> {
    let before = numbered(&stream[..index], 0);
    let hurt = instead.iter().map(move |payload| (index as u64, payload.as_slice()));
    before.chain(hurt).chain(numbered(&stream[index + 1..], index + 1))
}

/// Returns the payloads of a stream with their numbers, starting at `first`.
pub fn numbered(stream: &[Vec<u8>], first: usize) -> impl Iterator<Item = (u64, &[u8])> {
    stream.iter().enumerate().map(move |(n, payload)| ((first + n) as u64, payload.as_slice()))
}

/// Returns whether a decoder needs nothing from before this payload except the modes.
pub fn synchronises(payload: &Payload) -> bool {
    match payload {
        Payload::Start(_) => true,
        Payload::Trap(trap) => trap.thaddr,
        _ => false,
    }
}
