//! Any capture in any framing, any program: the examination ends, does not panic, and what it finds can be
//! written as a description and read again.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_capture::framing::{Fields, Kind, Transport};
use hartrace_capture::params::{Draft, Given, Setup};
use hartrace_capture::probe::{Known, Limits, Report};
use hartrace_decoder::Image;
use hartrace_encap::MAX_FRAME;
use hartrace_fuzz::stream::Stream;
use hartrace_isa::{Isa, Xlen};
use libfuzzer_sys::fuzz_target;

/// The limits of the command line would take seconds for hostile input.
const LIMITS: Limits = Limits { bytes: 1 << 12, work: 1 << 16 };

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
    examine(input, None, &[]);
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let kind = *u.choose(&Kind::ALL)?;
    let width = |u: &mut Unstructured<'_>, max: u8| u.int_in_range(0..=max).map(Some);
    let fields = Fields {
        src_bits: width(&mut u, 16)?,
        timestamp_bytes: width(&mut u, 8)?,
        type_bits: width(&mut u, 8)?,
        hart_bits: width(&mut u, 16)?,
        ..Fields::default()
    };
    let Ok(transport) = Transport::new(kind, &Fields::default(), &fields) else { return Ok(()) };
    let Some(stream) = Stream::new(&mut u)? else { return Ok(()) };
    let mut capture = Vec::new();
    let mut frame = [0; MAX_FRAME];
    for (packet, payload) in (0u64..).zip(&stream.payloads) {
        match transport.emit(packet, packet, payload, &mut frame) {
            Ok(len) => capture.extend_from_slice(&frame[..len]),
            // Damage.
            Err(_) => capture.extend_from_slice(payload),
        }
    }
    let xlen = if stream.rv32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let mut image = Image::new(Isa::new(xlen));
    image.add(stream.base, &stream.code);
    examine(&capture, Some(&image), &stream.tvec);
    Ok(())
}

fn examine(capture: &[u8], image: Option<&Image>, tvec: &[(u8, u64)]) {
    let report = Report::new(capture, &Known { image, tvec }, &LIMITS);
    assert!(!report.to_string().is_empty() && report.json().is_object());
    for found in &report.etrace {
        let text = found.draft().to_string();
        let draft = Draft::parse(&text, "description").expect("what was written can be read");
        let setup = Setup::new(Some(draft), &Given::default()).expect("and is complete");
        assert_eq!(setup.params, found.guess.params, "{text}");
        assert_eq!(setup.transport.framing, found.reading.framing, "{text}");
    }
}
