//! Random streams.

use fastrand::Rng;
use hartrace_etmv4::{Class, Layout, Stepper};

/// Packets of all kinds, each header equally often, after an alignment synchronisation.
#[must_use]
pub fn packets(layout: &Layout, len: usize, seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut bytes = synchronisation();
    let headers: Vec<u8> =
        (0..=u8::MAX).filter(|header| matches!(layout.class(*header), Class::Packet(_))).collect();
    while bytes.len() < len {
        let mut stepper = Stepper::default();
        let header = headers.get(random.usize(..headers.len())).copied().unwrap_or(0xf7);
        let mut packet = vec![header];
        let mut end = stepper.step(layout, header).end;
        while end.is_none() {
            // Bytes that are not malformed may be rare.
            let (byte, next, step) = std::iter::repeat_with(|| {
                let byte = match random.u8(..4) {
                    0 => 0,
                    1 => 0x80,
                    _ => random.u8(..),
                };
                let mut next = stepper;
                let step = next.step(layout, byte);
                (byte, next, step)
            })
            .find(|(_, _, step)| !matches!(step.end, Some(Err(_))))
            .unwrap_or_else(|| unreachable!("some byte continues every packet"));
            packet.push(byte);
            (stepper, end) = (next, step.end);
        }
        bytes.extend(packet);
    }
    bytes
}

/// The same with damage: bytes are changed, removed and added, about once in `every` bytes, with a
/// synchronisation about as often.
#[must_use]
pub fn damaged(layout: &Layout, len: usize, every: usize, seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(!seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let size = random.usize(1..2 * every);
        bytes.extend(packets(layout, size, random.u64(..)));
        // A synchronisation may have more zeros, or be cut off.
        match random.u8(..4) {
            0 => bytes.truncate(bytes.len() - random.usize(..size)),
            1 => bytes.extend(std::iter::repeat_n(0, random.usize(..30))),
            2 => bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(8)),
            _ => {}
        }
    }
    bytes
}

/// An alignment synchronisation.
fn synchronisation() -> Vec<u8> {
    let mut bytes = vec![0; 11];
    bytes.push(0x80);
    bytes
}
