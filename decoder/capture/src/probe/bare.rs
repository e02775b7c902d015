//! What packets alone show, without the program.

use super::ETrace;
use super::frames::{Reading, bytes, format};
use super::guess::{Guess, Knob};
use super::search::{HEAD, Starts, modes};
use super::settings::{Origin, Setting};
use hartrace_bits::BitReader;
use hartrace_encap::Framing;
use hartrace_isa::Xlen;

/// The usual parameters, as far as nothing contradicts them.
pub(super) fn guess(reading: Reading<'_>) -> ETrace<'_> {
    let guess = match reading.framing {
        Framing::RvTracer => Guess::rv_tracer(),
        _ => standard(&reading),
    };
    let modes = modes(&reading, &guess);
    let origin = if reading.framing == Framing::RvTracer { Origin::Fixed } else { Origin::Guessed };
    let knobs = [Knob::StateBits, Knob::IaddressWidth, Knob::IaddressLsb];
    let settings = knobs.into_iter().map(|knob| Setting::new(knob, &guess, origin)).collect();
    let (rivals, more_rivals) = (Vec::new(), false);
    let (score, starts) = (None, Starts::default());
    ETrace { reading, guess, modes, score, starts, settings, rivals, more_rivals }
}

fn standard(reading: &Reading<'_>) -> Guess {
    let is = |wanted| move |payload: &BitReader<'_>| format(payload) == wanted;
    // An address packet of RV32 has at most 2 + 32 + 3 bits, and those of irdepth.
    let longest = reading.payloads().filter(is((2, 0))).map(|payload| bytes(&payload)).max();
    let xlen = if longest > Some(7) { Xlen::Rv64 } else { Xlen::Rv32 };
    let syncs: Vec<BitReader<'_>> = reading.payloads().filter(is((3, 0))).collect();
    // The lowest bit of addresses that changes is the first that is sent, if many addresses are known
    // and the context never changes.
    let word = |sync: &BitReader<'_>| {
        let mut bits = sync.clone();
        bits.skip(HEAD.saturating_add(2));
        bits.read_wide(128).unwrap_or(0)
    };
    let first = syncs.first().map_or(0, word);
    let changing = syncs.iter().fold(0, |all, sync| all | (word(sync) ^ first));
    let state = match changing {
        0 => 2,
        changing => changing.trailing_zeros().saturating_add(2).min(100) as u8,
    };
    Guess::new(xlen).with_state_bits(state)
}
