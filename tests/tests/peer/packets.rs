//! Payloads: fields and bytes.

use crate::convert;
use crate::difference::{P, Tally, Verdict};
use hartrace_etrace::{Params, Payload};
use hartrace_tests::case::{Case, bits};

/// The peer parses each payload of the golden encoder to the same fields.
pub(crate) fn parse(n: u64, case: &Case, tally: &mut Tally) {
    let params = &case.encoder.params;
    for encoded in case.encode() {
        tally.add(n, read(params, &encoded.payload, &encoded.bytes));
    }
}

/// Compares the peer's result for `bytes`, which are `payload`.
pub(crate) fn read(params: &Params, payload: &Payload, bytes: &[u8]) -> Verdict {
    let got = convert::parse(params, bytes);
    match (payload, convert::payload(params, payload)) {
        (_, Some(want)) if got == Ok(want) => Verdict::Equal,
        (Payload::JumpTarget(_), Some(_)) if params.f0s_width_p == 0 => {
            Verdict::Known(P::OnlyCache)
        }
        (Payload::Trap(trap), None) if trap.thaddr && trap.address.is_none() => {
            Verdict::Known(P::ImplicitException)
        }
        (_, want) => Verdict::Unknown(format!("{payload}\nas {got:?}\nnot {want:?}")),
    }
}

/// The peer emits each payload like the golden encoder.
pub(crate) fn write(n: u64, case: &Case, tally: &mut Tally) {
    let params = &case.encoder.params;
    for encoded in case.encode() {
        tally.add(n, written(params, &encoded.payload, &encoded.bytes));
    }
}

/// Compares the peer's bytes for `payload` with `bytes`.
pub(crate) fn written(params: &Params, payload: &Payload, bytes: &[u8]) -> Verdict {
    let Some(theirs) = convert::payload(params, payload) else {
        return Verdict::Known(P::ImplicitException);
    };
    let got = convert::emit(params, &theirs);
    let extension = matches!(payload, Payload::BranchCount(_) | Payload::JumpTarget(_));
    match got {
        Ok(got) if got == bytes => Verdict::Equal,
        Ok(got) if extension && got == without_subformat(params, bytes) => {
            Verdict::Known(P::NoSubformat)
        }
        got => Verdict::Unknown(format!("{payload}\n{got:02x?}\nnot {bytes:02x?}")),
    }
}

/// A payload of format 0 without its subformat field.
fn without_subformat(params: &Params, bytes: &[u8]) -> Vec<u8> {
    let mut bits = bits(bytes);
    let sign = bits[bits.len() - 1];
    bits.drain(2..2 + usize::from(params.f0s_width_p));
    while bits.len() > 1 && bits[bits.len() - 2] == sign {
        bits.pop();
    }
    bits.resize(bits.len().next_multiple_of(8), sign);
    bits.chunks(8)
        .map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | u8::from(*bit)))
        .collect()
}
