//! This project's side of a comparison.

use hartrace_etrace::ingress::IType;
use hartrace_golden::Decoder;
use hartrace_golden::decoder::{Event, Position};
use hartrace_tests::case::{Case, bits};

/// An item that a trace reports.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Traced {
    /// An instruction retired.
    Retired(u64),
    /// A trap with its cause and, for an exception, its value.
    Trap(u64, Option<u64>),
}

/// What was executed, as far as it is traced, each with its row.
pub(crate) fn executed(case: &Case) -> Vec<(usize, Traced)> {
    let params = &case.encoder.params;
    let cut = |value: u64, width: u8| if width < 64 { value & ((1 << width) - 1) } else { value };
    let rows = case.walk.rows.iter().zip(case.traced()).enumerate();
    let mut list = Vec::new();
    for (index, (row, _)) in rows.filter(|(_, (_, traced))| *traced) {
        if row.iretire > 0 {
            list.push((index, Traced::Retired(row.iaddr)));
        }
        if row.itype.is_trap() {
            let exception = row.itype == IType::Exception;
            let tval = exception.then(|| cut(row.tval, params.iaddress_width_p));
            list.push((index, Traced::Trap(cut(row.cause, params.ecause_width_p), tval)));
        }
    }
    list
}

/// The result of the golden decoder for a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoded {
    /// The items, each with its payload.
    pub(crate) traced: Vec<(usize, Traced)>,
    /// Payloads that could not be followed.
    pub(crate) gaps: Vec<(usize, String)>,
}

/// Decodes `payloads` with the golden decoder.
pub(crate) fn decode<'a>(case: &Case, payloads: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let image = case.image();
    let mut decoder = Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut out = Decoded::default();
    let mut sink = |at: Position, event: Event| {
        let packet = at.packet as usize;
        match event {
            Event::Retired(address) => out.traced.push((packet, Traced::Retired(address))),
            Event::Trap { cause, tval, .. } => out.traced.push((packet, Traced::Trap(cause, tval))),
            Event::Gap(fault) => out.gaps.push((packet, fault.to_string())),
            Event::Context { .. } | Event::Off(_) => {}
        }
    };
    for (packet, bytes) in payloads.enumerate() {
        let at = Position { packet: packet as u64, byte: 0 };
        decoder.feed(at, &bits(bytes), &mut sink);
    }
    decoder.finish(&mut sink);
    out
}
