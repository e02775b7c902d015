//! Any program, any parameters, any payloads: the production decoder ends, does not panic, and
//! reports what the golden decoder does.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::BitReader;
use hartrace_decoder::{Compat, Config, Event, Fault, Image, Run, Sink, StreamPos, Tracer};
use hartrace_etrace::Payload;
use hartrace_fuzz::golden::{self, MAX_STEPS};
use hartrace_fuzz::stream::Stream;
use hartrace_fuzz::tail;
use hartrace_golden::decoder as model;
use hartrace_isa::{Isa, Xlen};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Retired(u64),
    Other(String),
    Gap,
}

type Log = Vec<(u64, Seen)>;

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let Some(stream) = Stream::new(&mut u)? else { return Ok(()) };
    let got = production(&stream);
    // The two count the length of a walk differently.
    if let Some(want) = golden(&stream) {
        let (got, want) = (settled(got), settled(want));
        let same = got.iter().zip(&want).take_while(|(a, b)| a == b).count();
        assert_eq!(got.get(same), want.get(same), "event {same}");
    }
    Ok(())
}

/// What a walk that goes wrong reports before its gap depends on how it notices: left out.
fn settled(log: Log) -> Log {
    let mut kept: Log = Vec::new();
    for (packet, seen) in log {
        if seen == Seen::Gap {
            while matches!(kept.last(), Some((p, Seen::Retired(_))) if *p == packet) {
                kept.pop();
            }
        }
        kept.push((packet, seen));
    }
    kept
}

/// `None` if a walk was too long.
fn golden(stream: &Stream) -> Option<Log> {
    let mut log = Vec::new();
    let mut too_long = false;
    golden::decode(stream, &mut |packet, event| {
        let seen = match event {
            model::Event::Retired(pc) => Seen::Retired(pc),
            model::Event::Gap(fault) => {
                too_long |= matches!(fault, model::Fault::TooLong(_));
                Seen::Gap
            }
            model::Event::Trap { cause, interrupt, tval, epc } => {
                Seen::Other(format!("trap {cause} {interrupt} {tval:x?} {epc:x?}"))
            }
            model::Event::Context { privilege, context, time } => {
                Seen::Other(format!("context {} {context} {time}", privilege.0))
            }
            model::Event::Off(status) => Seen::Other(format!("off {status:?}")),
        };
        log.push((packet, seen));
    });
    (!too_long).then_some(log)
}

#[derive(Default)]
struct Collect(Log);

impl Sink for Collect {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        run.addresses(|pc| self.0.push((at.packet, Seen::Retired(pc))));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let seen = match event {
            Event::Gap(_) => Seen::Gap,
            Event::Trap { cause, interrupt, tval, epc } => {
                Seen::Other(format!("trap {cause} {interrupt} {tval:x?} {epc:x?}"))
            }
            Event::Context { privilege, context, time } => {
                Seen::Other(format!("context {privilege} {context} {time}"))
            }
            Event::Off(status) => Seen::Other(format!("off {status:?}")),
        };
        self.0.push((at.packet, seen));
    }
}

fn production(stream: &Stream) -> Log {
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
        ..Config::default()
    };
    let layout = config.params.layout(config.unit).expect("the layout is legal");
    let mut tracer = Tracer::new(config, &image).expect("the layout is legal");
    let mut out = Collect::default();
    for (packet, bytes) in stream.payloads.iter().enumerate() {
        let at = StreamPos { packet: packet as u64, byte: 0 };
        if bytes.len() > hartrace_etrace::MAX_PAYLOAD_BYTES {
            tracer.damage(at, Fault::Frame, &mut out);
            continue;
        }
        let mut bits = BitReader::new(bytes, tail(stream.unit));
        match Payload::parse(&layout, tracer.options(), &mut bits) {
            Ok(payload) => tracer.feed(at, &payload, &mut out),
            Err(error) => tracer.damage(at, error.into(), &mut out),
        }
    }
    tracer.finish(&mut out);
    out.0
}
