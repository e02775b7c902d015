//! Parses the packets of a capture.

use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Ioptions, Params, Payload, Unit};
use std::error::Error;

/// A synchronisation at 0x80000000, and a report of 0x80000004, in frames of the reference flow.
const CAPTURE: [u8; 10] = [0x47, 0x13, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x41, 0x12];

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Parameters that are not given have the defaults of the specification.
    let layout = Params::default().layout(Unit::Reference)?;
    let mut parsed = Vec::new();
    for item in Framing::Reference.frames(&CAPTURE) {
        // Damage is an item like any other: a tool would report it and continue.
        let (byte, item) = item.map_err(|(byte, error)| format!("byte {byte}: {error}"))?;
        if let Item::Frame(frame) = item {
            let payload = Payload::parse(&layout, Ioptions::default(), &mut frame.payload())?;
            println!("byte {byte}: {payload}");
            parsed.push(payload);
        }
    }
    assert!(matches!(parsed[..], [Payload::Start(_), Payload::Address(_)]));
    Ok(())
}
