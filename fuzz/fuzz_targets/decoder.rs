//! Any program, any parameters, any payloads: the production decoder ends, does not panic, and
//! reports the same as the golden decoder.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::BitReader;
use hartrace_decoder::{Compat, Config, Image, StreamPos, Tracer};
use hartrace_encap::FrameError;
use hartrace_fuzz::golden::{self, MAX_STEPS};
use hartrace_fuzz::stream::Stream;
use hartrace_fuzz::tail;
use hartrace_golden::decoder as model;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::log::{self, Collect, Log, settled, unannounced};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let Some(stream) = Stream::new(&mut u)? else { return Ok(()) };
    let got = production(&stream, 1 << 10);
    // Caching paths has no visible effect.
    assert_eq!(got, production(&stream, 0));
    // Where all addresses are within two instructions, an address is both at the start of one and inside of
    // another, and D20 has no meaning.
    if stream.params.iaddress_width_p < 4 || wraps(&stream) {
        return Ok(());
    }
    // The two count the length of a walk differently.
    if let Some(want) = golden(&stream) {
        let (got, want) = (settled(got), settled(want));
        let same = got.iter().zip(&want).take_while(|(a, b)| a == b).count();
        assert_eq!(got.get(same), want.get(same), "event {same}");
    }
    Ok(())
}

/// Whether execution can run over the end of the address space. For a jump at address 0, the golden decoder then
/// knows the instruction before it, the one that retired; the production decoder, which looks at the code, does not.
fn wraps(stream: &Stream) -> bool {
    let end = 1_u128 << stream.params.iaddress_width_p;
    u128::from(stream.base) % end + stream.code.len() as u128 >= end
}

/// `None` if a walk was too long.
fn golden(stream: &Stream) -> Option<Log> {
    let mut log = Log::new();
    let mut too_long = false;
    golden::decode(stream, &mut |packet, event| {
        if let model::Event::Gap(fault) = &event {
            too_long |= matches!(fault, model::Fault::TooLong(_));
        }
        log.push((packet, log::of_golden(&event)));
    });
    (!too_long).then_some(log)
}

fn production(stream: &Stream, path_cap: usize) -> Log {
    let xlen = if stream.rv32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let isa = Isa::new(xlen).with_zcmp(stream.zcm).with_zcmt(stream.zcm);
    let mut image = Image::new(isa);
    image.add(stream.base, &stream.code);
    let config = Config {
        params: stream.params,
        unit: stream.unit,
        tvec: stream.tvec.to_vec(),
        compat: match stream.compat {
            0 => Compat::None,
            1 => Compat::PythonModel,
            _ => Compat::CModel,
        },
        max_blocks: MAX_STEPS,
        path_cap,
        ..Config::default()
    };
    let mut tracer = Tracer::new(config, &image).expect("the layout is legal");
    let mut out = Collect::default();
    for (packet, bytes) in stream.payloads.iter().enumerate() {
        let at = StreamPos { packet: packet as u64, byte: 0 };
        if bytes.len() > hartrace_etrace::MAX_PAYLOAD_BYTES {
            tracer.damage(at, FrameError::Header(0).into(), &mut out);
        } else {
            tracer.feed_bits(at, BitReader::new(bytes, tail(stream.unit)), &mut out);
        }
    }
    tracer.finish(&mut out);
    unannounced(out.0)
}
