//! The production decoder equals the golden one, event for event: on random runs, on injured streams
//! and on hostile bytes.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Image, Run, Sink, StreamPos, Tracer, parallel};
use hartrace_etrace::{Layout, Payload};
use hartrace_golden::decoder as golden;
use hartrace_tests::case::{Case, Dice, bits};
use std::num::NonZeroUsize;

/// One event of either decoder, with the payload it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Retired(u64),
    Other(String),
    Gap,
}

type Log = Vec<(u64, Seen)>;

fn golden_log(case: &Case, stream: &[Vec<u8>]) -> Log {
    let image = case.image();
    let mut decoder = golden::Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut log = Vec::new();
    let mut sink = |at: golden::Position, event: golden::Event| {
        let seen = match event {
            golden::Event::Retired(pc) => Seen::Retired(pc),
            golden::Event::Gap(_) => Seen::Gap,
            golden::Event::Trap { cause, interrupt, tval, epc } => {
                Seen::Other(format!("trap {cause} {interrupt} {tval:x?} {epc:x?}"))
            }
            golden::Event::Context { privilege, context, time } => {
                Seen::Other(format!("context {} {context} {time}", privilege.0))
            }
            golden::Event::Off(status) => Seen::Other(format!("off {status:?}")),
        };
        log.push((at.packet, seen));
    };
    for (packet, payload) in stream.iter().enumerate() {
        let at = golden::Position { packet: packet as u64, byte: 0 };
        decoder.feed(at, &bits(payload), &mut sink);
    }
    decoder.finish(&mut sink);
    log
}

#[derive(Default)]
struct Collect(Log);

impl Sink for Collect {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let before = self.0.len();
        run.addresses(|pc| self.0.push((at.packet, Seen::Retired(pc))));
        assert_eq!(self.0.len() - before, run.insns() as usize, "a run counts its instructions");
        assert!(run.insns() > 0, "a run is not empty");
    }

    fn event(&mut self, at: StreamPos, event: hartrace_decoder::Event) {
        use hartrace_decoder::Event;
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

fn image(case: &Case) -> Image {
    let xlen = match case.walk.program.xlen {
        hartrace_walk::Xlen::Rv32 => hartrace_isa::Xlen::Rv32,
        hartrace_walk::Xlen::Rv64 => hartrace_isa::Xlen::Rv64,
    };
    let mut image = Image::new(hartrace_isa::Isa::new(xlen));
    for (address, bytes) in &case.walk.program.segments {
        image.add(*address, bytes);
    }
    image
}

fn config(case: &Case) -> Config {
    let golden = case.decoder();
    Config {
        params: golden.params,
        unit: golden.unit,
        tvec: golden.tvec.iter().map(|(level, base)| (level.0, *base)).collect(),
        ..Config::default()
    }
}

fn feed(tracer: &mut Tracer<'_>, layout: &Layout, packet: u64, payload: &[u8], out: &mut Collect) {
    let at = StreamPos { packet, byte: 0 };
    if payload.len() > 31 {
        return tracer.damage(at, hartrace_decoder::Fault::Frame, out);
    }
    let mut bits = BitReader::new(payload, Tail::Sign);
    match Payload::parse(layout, tracer.options(), &mut bits) {
        Ok(payload) => tracer.feed(at, &payload, out),
        Err(error) => tracer.damage(at, error.into(), out),
    }
}

fn production_log(case: &Case, stream: &[Vec<u8>], block_cap: usize) -> Log {
    let image = image(case);
    let config = Config { block_cap, max_blocks: 1 << 20, ..config(case) };
    let layout = config.params.layout(config.unit).expect("cases are legal");
    let mut tracer = Tracer::new(config, &image).expect("cases are legal");
    let mut out = Collect::default();
    for (packet, payload) in stream.iter().enumerate() {
        feed(&mut tracer, &layout, packet as u64, payload, &mut out);
    }
    tracer.finish(&mut out);
    out.0
}

/// The same on several threads.
fn parallel_log(case: &Case, stream: &[Vec<u8>], threads: usize) -> (Log, usize) {
    let image = image(case);
    let config = Config { max_blocks: 1 << 20, ..config(case) };
    let layout = config.params.layout(config.unit).expect("cases are legal");
    let mut options = hartrace_etrace::Ioptions::default();
    let mut packets = Vec::new();
    for (packet, payload) in stream.iter().enumerate() {
        let mut bits = BitReader::new(payload, Tail::Sign);
        let parsed = Payload::parse(&layout, options, &mut bits);
        if let Ok(Payload::Support(support)) = &parsed {
            options = support.ioptions;
        }
        let at = StreamPos { packet: packet as u64, byte: 0 };
        packets.push((at, parsed.map_err(hartrace_decoder::Fault::from)));
    }
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let parts = parallel::decode(&config, &image, &packets, threads, Collect::default);
    let parts = parts.expect("cases are legal");
    let count = parts.len();
    (parts.into_iter().flat_map(|part| part.0).collect(), count)
}

fn stream(case: &Case) -> Vec<Vec<u8>> {
    case.encode().into_iter().map(|encoded| encoded.bytes).collect()
}

/// What a walk that goes wrong reports before its gap depends on how it notices: leave it out.
fn without_last_steps(log: Log) -> Log {
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

fn compare(name: &str, seed: u64, got: &Log, want: &Log) {
    let same = got.iter().zip(want).take_while(|(a, b)| a == b).count();
    assert!(
        got == want,
        "{name} seed {seed}: {} events instead of {}, first difference at {same}:\n got {:x?}\nwant {:x?}",
        got.len(),
        want.len(),
        got.get(same.saturating_sub(3)..(same + 4).min(got.len())),
        want.get(same.saturating_sub(3)..(same + 4).min(want.len())),
    );
}

#[test]
fn equal_on_random_runs() {
    let mut parts = 0;
    for seed in 0..3000 {
        let case = Case::new(seed);
        let stream = stream(&case);
        let want = golden_log(&case, &stream);
        compare("clean", seed, &production_log(&case, &stream, usize::MAX), &want);
        // A tiny cap makes it forget its blocks at every synchronisation.
        compare("small cap", seed, &production_log(&case, &stream, 2), &want);
        let (parallel, count) = parallel_log(&case, &stream, 3);
        compare("threads", seed, &parallel, &want);
        parts += count;
    }
    println!("{parts} parts");
    assert!(parts > 5000, "only {parts} parts: the streams are hardly ever split");
}

#[test]
fn equal_on_injured_streams() {
    let mut gaps = 0;
    for seed in 0..3000 {
        let case = Case::new(seed);
        let mut stream = stream(&case);
        let mut dice = Dice::new(seed);
        for _ in 0..3 {
            let index = dice.range(0, stream.len() as u64 - 1) as usize;
            match dice.range(0, 3) {
                0 => drop(stream.remove(index)),
                1 => stream.insert(index, stream[index].clone()),
                2 => {
                    let len = stream[index].len() as u64;
                    stream[index].truncate(dice.range(0, len.saturating_sub(1)) as usize);
                }
                _ => {
                    let len = stream[index].len() as u64;
                    if len > 0 {
                        let byte = dice.range(0, len - 1) as usize;
                        stream[index][byte] ^= 1 << dice.range(0, 7);
                    }
                }
            }
            if stream.is_empty() {
                break;
            }
        }
        let want = without_last_steps(golden_log(&case, &stream));
        gaps += want.iter().filter(|(_, seen)| *seen == Seen::Gap).count();
        let got = production_log(&case, &stream, usize::MAX);
        compare("injured, threads", seed, &parallel_log(&case, &stream, 3).0, &got);
        compare("injured", seed, &without_last_steps(got), &want);
    }
    assert!(gaps > 1000, "only {gaps} gaps: the test has lost its teeth");
}
