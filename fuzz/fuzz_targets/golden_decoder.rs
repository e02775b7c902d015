//! Any program, any parameters, any payloads: the golden decoder ends, and says so where it cannot
//! follow.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::BitWriter;
use hartrace_etrace::{Payload, Unit};
use hartrace_fuzz::{bits, code, options, params, payload, unit};
use hartrace_golden::decoder::{Event, Position};
use hartrace_golden::isa::{Isa, Xlen};
use hartrace_golden::{Compat, Decoder, DecoderConfig, Image};
use hartrace_ingress::Privilege;
use libfuzzer_sys::fuzz_target;

const MAX_STEPS: u64 = 20_000;
const MAX_PAYLOADS: u64 = 48;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let unit = unit(&mut u)?;
    let params = params(&mut u)?;
    let Ok(layout) = params.layout(unit) else { return Ok(()) };
    let mut modes = options(&mut u)?;

    let any = u.arbitrary()?;
    let base = *u.choose(&[0, 0x8000_0000, any])?;
    let isa = Isa { xlen: *u.choose(&[Xlen::Rv32, Xlen::Rv64])?, zcm: u.arbitrary()? };
    let mut image = Image::new(isa);
    image.add(base, &code::program(&mut u, 48)?);
    let config = DecoderConfig {
        params,
        unit,
        tvec: vec![(Privilege(0), base & !3 | 1), (Privilege(1), u.arbitrary()?)],
        compat: *u.choose(&[Compat::None, Compat::PythonModel, Compat::CModel])?,
        max_steps: MAX_STEPS,
    };
    let mut decoder = Decoder::new(config, &image).expect("the layout is legal");

    let mut retired = 0;
    let mut gaps = 0;
    let mut sink = |_: Position, event: Event| match event {
        Event::Retired(_) => retired += 1,
        Event::Gap(_) => gaps += 1,
        _ => {}
    };
    let mut packet = 0;
    while !u.is_empty() && packet < MAX_PAYLOADS {
        let bytes = if u.ratio(1, 8)? {
            hartrace_fuzz::raw(&mut u, 34)?.to_vec()
        } else {
            let payload = payload::payload(&mut u, &params, modes, base)?;
            let mut buffer = [0; 31];
            let mut out = BitWriter::new(&mut buffer);
            if payload.emit(&layout, modes, &mut out).is_err() {
                continue;
            }
            let len = match unit {
                Unit::RvTracer => out.finish_padded(),
                Unit::Reference | Unit::Hartrace => out.finish_compressed(),
            };
            if let Payload::Support(support) = payload {
                modes = support.ioptions;
            }
            buffer[..len].to_vec()
        };
        decoder.feed(Position { packet, byte: 0 }, &bits(&bytes), &mut sink);
        packet += 1;
    }
    decoder.finish(&mut sink);
    // A payload walks twice at most: once to settle the one before it.
    assert!(retired <= packet * (2 * MAX_STEPS + 2), "{retired} after {packet} payloads");
    assert!(gaps <= 2 * packet);
    Ok(())
}
