//! `hartrace demo`, also what runs without arguments: the whole loop on programs made up on the
//! spot, in every mode, with nothing else needed.

use crate::failure::{Failure, Status};
use hartrace_decoder::{Config, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{EncapParams, FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_etrace::{Ioptions, Params, Payload, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{Encoded, EncoderConfig, Resync};
use hartrace_isa::{Isa, Xlen};
use hartrace_walk::{Shape, Walk, generate};
use std::io::{self, Write};

/// Instructions and traps per program.
const STEPS: usize = 100_000;

/// What a hart with every option has.
const PARAMS: Params = Params {
    iaddress_width_p: 64,
    iaddress_lsb_p: 1,
    privilege_width_p: 2,
    ecause_width_p: 5,
    context_width_p: 1,
    nocontext_p: true,
    time_width_p: 1,
    notime_p: true,
    f0s_width_p: 1,
    bpred_size_p: 7,
    cache_size_p: 7,
    return_stack_size_p: 4,
    call_counter_size_p: 0,
    sijump_p: true,
};

/// Runs the demonstration; [`Status::Different`] if any instruction comes back wrong.
pub(crate) fn run() -> Result<Status, Failure> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "Random programs of {STEPS} steps: encoded by the golden encoder, framed, and decoded again.\n"
    )?;
    writeln!(
        out,
        "{:9} {:28} {:>12} {:>8} {:>8} {:>9}  {:>10}  decoded = executed",
        "program", "modes", "instructions", "packets", "bytes", "bits/insn", "compressed"
    )?;
    let mut status = Status::Clean;
    for (seed, (name, shape)) in (1..).zip(programs()) {
        let walk = generate(seed, &shape);
        for (modes, options) in modes() {
            let figures = Figures::measure(&walk, options)?;
            let Figures { instructions, packets, bytes, verified } = figures;
            let bits = 8.0 * bytes as f64 / instructions as f64;
            let rate = 100.0 * (1.0 - bits / 32.0);
            let verdict = if verified { "yes" } else { "NO" };
            writeln!(
                out,
                "{name:9} {modes:28} {instructions:12} {packets:8} {bytes:8} {bits:9.3} {rate:10.2}%  {verdict}"
            )?;
            if !verified {
                status = Status::Different;
            }
        }
    }
    writeln!(
        out,
        "\nbytes: payloads without framing; compressed: 1 - bits / (32 * instructions). Random walks \
         jump about\nmore than real programs do: their figures say that the loop works, not how well \
         your program compresses.\nhartrace --help lists the commands for your own traces."
    )?;
    Ok(status)
}

fn programs() -> [(&'static str, Shape); 3] {
    let quiet = Shape { steps: STEPS, ..Shape::default() }.without_sideband();
    [
        (
            "loops",
            Shape { branches: 900, calls: 100, indirect: 20, ..quiet.clone() }.without_traps(),
        ),
        (
            "calls",
            Shape { branches: 300, calls: 900, leaf_runs: 400, ..quiet.clone() }.without_traps(),
        ),
        ("traps", Shape { exceptions: 10, interrupts: 10, ..quiet }),
    ]
}

fn modes() -> [(&'static str, Ioptions); 8] {
    let delta = Ioptions::default();
    let full = Ioptions { full_address: true, ..delta };
    let exception = Ioptions { implicit_exception: true, ..delta };
    let sijump = Ioptions { sijump: true, ..delta };
    let returns = Ioptions { implicit_return: true, ..delta };
    let prediction = Ioptions { branch_prediction: true, ..delta };
    let cache = Ioptions { jump_target_cache: true, ..delta };
    let all = Ioptions {
        implicit_exception: true,
        sijump: true,
        implicit_return: true,
        branch_prediction: true,
        jump_target_cache: true,
        ..delta
    };
    [
        ("delta address", delta),
        ("full address", full),
        ("implicit exception", exception),
        ("sequentially inferable jump", sijump),
        ("implicit return", returns),
        ("branch prediction", prediction),
        ("jump target cache", cache),
        ("all but full address", all),
    ]
}

struct Figures {
    instructions: usize,
    packets: usize,
    bytes: usize,
    verified: bool,
}

impl Figures {
    fn measure(walk: &Walk, options: Ioptions) -> Result<Self, Failure> {
        let payloads = encode(walk, options)?;
        let framing = Framing::Encap(EncapParams::new(4, 0, 0).map_err(Failure::usage)?);
        let decoded = decode(walk, &framing, &frame(&payloads, &framing)?)?;
        let expected: Vec<u64> = walk.expected_pcs().collect();
        Ok(Self {
            instructions: expected.len(),
            packets: payloads.len(),
            bytes: payloads.iter().map(|p| p.bytes.len()).sum(),
            verified: decoded == expected,
        })
    }
}

/// The payloads of a walk.
fn encode(walk: &Walk, options: Ioptions) -> Result<Vec<Encoded>, Failure> {
    let config = EncoderConfig {
        params: PARAMS,
        unit: Unit::Hartrace,
        options,
        resync: Resync::Packets(1 << 10),
        ..EncoderConfig::default()
    };
    let mut encoder = Encoder::new(config).map_err(Failure::usage)?;
    let mut payloads = Vec::new();
    for row in &walk.rows {
        encoder.retire(row, &mut |payload| payloads.push(payload));
    }
    encoder.finish(&mut |payload| payloads.push(payload));
    Ok(payloads)
}

fn frame(payloads: &[Encoded], framing: &Framing) -> Result<Vec<u8>, Failure> {
    let header = FrameHeader { source: Some(1), ..FrameHeader::default() };
    let mut stream = Vec::new();
    let mut buffer = [0; MAX_FRAME];
    for payload in payloads {
        let len = framing.emit(&header, &payload.bytes, &mut buffer).map_err(Failure::usage)?;
        stream.extend_from_slice(&buffer[..len]);
    }
    Ok(stream)
}

/// The retired addresses; a gap leaves some out, so that the comparison fails.
fn decode(walk: &Walk, framing: &Framing, stream: &[u8]) -> Result<Vec<u64>, Failure> {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    for (address, bytes) in &walk.program.segments {
        image.add(*address, bytes);
    }
    let vectored = u64::from(walk.program.vectored);
    let tvec = walk.program.tvec.iter().map(|(level, base)| (level.0, base | vectored)).collect();
    let unit = Unit::Hartrace;
    let layout = PARAMS.layout(unit).map_err(Failure::usage)?;
    let config = Config { params: PARAMS, unit, tvec, ..Config::default() };
    let mut tracer = Tracer::new(config, &image).map_err(Failure::usage)?;
    let mut addresses = Addresses(Vec::new());
    for (packet, item) in framing.frames(stream).enumerate() {
        if let Ok((byte, Item::Frame(frame))) = item {
            let at = StreamPos { packet: packet as u64, byte };
            match Payload::parse(&layout, tracer.options(), &mut frame.payload()) {
                Ok(payload) => tracer.feed(at, &payload, &mut addresses),
                Err(error) => tracer.damage(at, error.into(), &mut addresses),
            }
        }
    }
    tracer.finish(&mut addresses);
    Ok(addresses.0)
}

struct Addresses(Vec<u64>);

impl Sink for Addresses {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|pc| self.0.push(pc));
    }
}
