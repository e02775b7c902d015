//! The production decoder equals the golden one, event for event: on random runs, on damaged streams and
//! on hostile bytes.

use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{
    Config, Edge, Edges, Event, Fault, Image, Path, Run, Sink, StreamPos, Tracer,
};
use hartrace_encap::Framing;
use hartrace_etrace::{AddressReport, Payload, Start};
use hartrace_golden::decoder as golden;
use hartrace_golden::encoder::Resync;
use hartrace_golden::walk::Shape;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::case::{Case, Dice, bits};
use hartrace_tests::log::{self, Collect, Log, Seen, settled, unannounced};
use hartrace_tests::production::{self, config, feed, image};
use std::io::Read;
use std::num::NonZeroUsize;

fn golden_log(case: &Case, stream: &[Vec<u8>]) -> Log {
    let image = case.image();
    let mut decoder = golden::Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut log = Vec::new();
    let mut sink = |at: golden::Position, event: golden::Event| {
        log.push((at.packet, log::of_golden(&event)));
    };
    for (packet, payload) in stream.iter().enumerate() {
        let at = golden::Position { packet: packet as u64, byte: 0 };
        decoder.feed(at, &bits(payload), &mut sink);
    }
    decoder.finish(&mut sink);
    log
}

/// The limits of what the decoder may cache.
#[derive(Copy, Clone)]
struct Caps {
    blocks: usize,
    paths: usize,
}

const LARGE: Caps = Caps { blocks: usize::MAX, paths: 1 << 10 };

/// Blocks are dropped all the time, and few paths are kept for long.
const SMALL: Caps = Caps { blocks: 2, paths: 4 };

/// Everything is parsed and followed step by step.
const NO_PATHS: Caps = Caps { blocks: usize::MAX, paths: 0 };

fn production_log(case: &Case, stream: &[Vec<u8>], caps: Caps) -> Log {
    let image = image(case);
    let Caps { blocks: block_cap, paths: path_cap } = caps;
    let config = Config { block_cap, path_cap, max_blocks: 1 << 20, ..config(case) };
    let mut tracer = Tracer::new(config, &image).expect("cases are legal");
    let mut out = Collect::default();
    for (packet, payload) in stream.iter().enumerate() {
        feed(&mut tracer, packet as u64, payload, &mut out);
    }
    tracer.finish(&mut out);
    unannounced(out.0)
}

/// The same from a framed stream that arrives in pieces, on several threads. Also returns the number of
/// parts.
fn stream_log(case: &Case, stream: &[Vec<u8>], threads: usize, dice: &mut Dice) -> (Log, usize) {
    let image = image(case);
    let config = Config { max_blocks: 1 << 20, ..config(case) };
    let mut bytes = Vec::new();
    for payload in stream {
        bytes.push(0x40 | payload.len() as u8);
        bytes.extend(payload);
    }
    let mut decode = Decode::new(config, &image, Transport::new(Framing::Reference));
    decode.threads = NonZeroUsize::new(threads).expect("at least one");
    decode.part = dice.range(1, 200) as usize;
    let (log, parts, packets) = production::stream_log(&decode, Pieces { bytes: &bytes, dice });
    assert_eq!(packets, stream.len() as u64);
    (log, parts)
}

/// Whether frames can hold its payloads: the length of a frame has five bits, and no payload may be empty.
fn fits(stream: &[Vec<u8>]) -> bool {
    stream.iter().all(|payload| (1..=31).contains(&payload.len()))
}

/// A reader that returns pieces of random size.
struct Pieces<'a> {
    bytes: &'a [u8],
    dice: &'a mut Dice,
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = room.len().min(self.bytes.len()) as u64;
        let (piece, rest) = self.bytes.split_at(self.dice.range(most.min(1), most) as usize);
        room[..piece.len()].copy_from_slice(piece);
        self.bytes = rest;
        Ok(piece.len())
    }
}

fn stream(case: &Case) -> Vec<Vec<u8>> {
    case.encode().into_iter().map(|encoded| encoded.bytes).collect()
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

/// Compares the decoders on so many cases. Returns the number of parts of the streams.
fn compare_runs(seeds: u64, case: fn(u64) -> Case) -> usize {
    let mut parts = 0;
    for seed in 0..seeds {
        let case = case(seed);
        let stream = stream(&case);
        let want = golden_log(&case, &stream);
        for (name, caps) in [("clean", LARGE), ("small caps", SMALL), ("no paths", NO_PATHS)] {
            compare(name, seed, &production_log(&case, &stream, caps), &want);
        }
        for threads in [1, 3].into_iter().filter(|_| fits(&stream)) {
            let (log, count) = stream_log(&case, &stream, threads, &mut Dice::new(seed));
            compare("stream", seed, &log, &want);
            parts += if threads > 1 { count } else { 0 };
        }
    }
    parts
}

#[test]
fn equal_on_random_runs() {
    let parts = compare_runs(3000, Case::new);
    println!("{parts} parts");
    assert!(parts > 5000, "only {parts} parts: the streams are hardly ever split");
}

#[test]
fn equal_on_random_runs_with_history() {
    let parts = compare_runs(600, Case::history);
    assert!(parts > 1000, "only {parts} parts: the streams are hardly ever split");
}

#[test]
fn equal_on_injured_streams() {
    let gaps = compare_injured(3000, Case::new);
    assert!(gaps > 1000, "only {gaps} gaps: the test has lost its teeth");
}

#[test]
fn equal_on_injured_streams_with_history() {
    let gaps = compare_injured(1000, Case::history);
    assert!(gaps > 500, "only {gaps} gaps: the test has lost its teeth");
}

/// Compares the decoders on so many damaged streams. Returns the number of gaps.
fn compare_injured(seeds: u64, case: fn(u64) -> Case) -> usize {
    let mut gaps = 0;
    for seed in 0..seeds {
        let case = case(seed);
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
        let want = settled(golden_log(&case, &stream));
        gaps += want.iter().filter(|(_, seen)| matches!(seen, Seen::Gap | Seen::Endless)).count();
        let got = production_log(&case, &stream, LARGE);
        compare("injured, no paths", seed, &production_log(&case, &stream, NO_PATHS), &got);
        for threads in [1, 3].into_iter().filter(|_| fits(&stream)) {
            let (log, _) = stream_log(&case, &stream, threads, &mut dice);
            compare("injured, stream", seed, &log, &got);
        }
        compare("injured", seed, &settled(got), &want);
    }
    gaps
}

/// Collects events, and counts the payloads of each format that were decoded as paths that are remembered.
#[derive(Default)]
struct Remembered {
    out: Collect,
    stream: Vec<Vec<u8>>,
    formats: [u64; 4],
}

impl Sink for Remembered {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.out.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        let format = self.stream[at.packet as usize][0] & 3;
        self.formats[usize::from(format)] += 1;
        path.runs().for_each(|run| self.out.run(at, run));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.out.event(at, event);
    }
}

/// How often each edge was taken.
fn edges(case: &Case, stream: &[Vec<u8>], caps: Caps) -> Vec<(Edge, u64)> {
    let image = image(case);
    let Caps { blocks: block_cap, paths: path_cap } = caps;
    let config = Config { block_cap, path_cap, ..config(case) };
    let mut tracer = Tracer::new(config, &image).expect("cases are legal");
    let mut edges = Edges::default();
    for (packet, payload) in stream.iter().enumerate() {
        feed(&mut tracer, packet as u64, payload, &mut edges);
    }
    tracer.finish(&mut edges);
    edges.sorted()
}

/// Small programs with long loops, and tables so small that their entries collide: the same payload arrives in the
/// same place with other contents of the tables. Every second stream is injured.
#[test]
fn equal_if_tables_collide() {
    let mut formats = [0; 4];
    for seed in 0..256u64 {
        let mut dice = Dice::new(seed);
        let shape = Shape {
            steps: 6000,
            functions: 2,
            density: 3,
            branches: 900,
            loop_limit: 90,
            ..Shape::random(seed).without_sideband()
        };
        let mut case = Case::shaped(seed, shape);
        let params = &mut case.encoder.params;
        params.bpred_size_p = params.bpred_size_p.min(dice.range(1, 3) as u8);
        params.cache_size_p = params.cache_size_p.min(dice.range(1, 2) as u8);
        case.encoder.resync = Resync::Packets(dice.range(20, 400));
        let mut stream = stream(&case);
        if seed & 64 != 0 {
            let index = dice.range(1, stream.len() as u64 - 1) as usize;
            stream[index][0] ^= 1 << dice.range(2, 7);
        }
        let want = settled(golden_log(&case, &stream));
        for (name, caps) in [("small caps", SMALL), ("no paths", NO_PATHS)] {
            compare(name, seed, &settled(production_log(&case, &stream, caps)), &want);
        }
        let image = image(&case);
        let config = Config { max_blocks: 1 << 20, ..config(&case) };
        let mut tracer = Tracer::new(config, &image).expect("cases are legal");
        let mut sink = Remembered { stream: stream.clone(), ..Remembered::default() };
        for (packet, payload) in stream.iter().enumerate() {
            feed(&mut tracer, packet as u64, payload, &mut sink);
        }
        tracer.finish(&mut sink);
        compare("tables", seed, &settled(unannounced(sink.out.0)), &want);
        formats.iter_mut().zip(sink.formats).for_each(|(sum, count)| *sum += count);
        // Sinks that add up receive the turns of a loop together.
        let edges = [LARGE, NO_PATHS].map(|caps| edges(&case, &stream, caps));
        assert!(edges[0] == edges[1], "seed {seed}: other edges with paths");
    }
    println!("remembered payloads by format: {formats:?}");
    assert!(
        formats[..3].iter().all(|count| *count > 1000),
        "{formats:?} payloads: too few to find a mistake"
    );
}

/// The last cause of a gap, and the number of instructions before it.
#[derive(Default)]
struct LastGap(Option<Fault>, u32);

impl Sink for LastGap {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.1 += run.insns();
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if let Event::Gap(fault) = event {
            self.0 = Some(fault);
        }
    }
}

/// Two jumps that lead to each other, and a reported address that is neither: there is no branch for which
/// outcomes could run out.
#[test]
fn two_jumps_in_a_circle_are_a_gap() {
    let base = 0x8000_0000;
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(base, &[0x6f, 0x00, 0x40, 0x00]); // j base+4
    image.add(base + 4, &[0x6f, 0xf0, 0xdf, 0xff]); // j base
    image.add(base + 8, &[0x13, 0x00, 0x00, 0x00]); // nop
    let config = Config::default();
    let mut tracer = Tracer::new(config, &image).expect("legal");
    let mut last = LastGap::default();
    let start = Start { branch: true, privilege: 3, address: base >> 1, ..Start::default() };
    tracer.feed(StreamPos::default(), &Payload::Start(start), &mut last);
    let beyond = AddressReport::new(8 >> 1);
    tracer.feed(StreamPos::default(), &Payload::Address(beyond), &mut last);
    assert!(matches!(last.0, Some(Fault::NoProgress(_))), "{:?}", last.0);
    assert!(last.1 < 1000, "{} instructions before it was noticed", last.1);
}

/// The cause of the only gap, and the instructions before it.
fn gap(code: &[u32], payloads: &[Payload]) -> (Option<Fault>, u32) {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(BASE, &code.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    let mut tracer = Tracer::new(Config::default(), &image).expect("legal");
    let mut last = LastGap::default();
    for (packet, payload) in (0..).zip(payloads) {
        tracer.feed(StreamPos { packet, byte: 0 }, payload, &mut last);
    }
    tracer.finish(&mut last);
    (last.0, last.1)
}

const BASE: u64 = 0x8000_0000;

/// D20: this is another program than the one that was traced.
#[test]
fn a_wrong_program_is_a_gap() {
    let start = |branch, address: u64| {
        Payload::Start(Start { branch, privilege: 3, address: address >> 1, ..Start::default() })
    };
    let report = |notify, distance: u64| {
        Payload::Address(AddressReport { notify, ..AddressReport::new(distance >> 1) })
    };
    // nop; nop; jr t0; beq x0,x0,.
    let code = [0x13, 0x13, 0x0002_8067, 0x63];
    // Only a branch can be taken.
    let (fault, before) = gap(&code, &[start(false, BASE)]);
    assert_eq!((fault, before), (Some(Fault::NotABranch(BASE)), 0));
    assert_eq!(gap(&code, &[start(false, BASE + 12)]), (None, 1));
    // Without the check, both would be believed to be the target of the jump.
    for notify in [false, true] {
        let got = gap(&code, &[start(true, BASE), report(notify, 6)]);
        assert_eq!(got, (Some(Fault::InsideInstruction(BASE + 6)), 1), "{notify}");
    }
    let got = gap(&code, &[start(true, BASE), start(true, BASE + 6)]);
    assert_eq!(got.0, Some(Fault::InsideInstruction(BASE + 6)));
    // The jump itself.
    let got = gap(&code, &[start(true, BASE), report(true, 10)]);
    assert_eq!(got, (Some(Fault::InsideInstruction(BASE + 10)), 2));
    assert_eq!(gap(&code, &[start(true, BASE), report(true, 8)]), (None, 3));
}
