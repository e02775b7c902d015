//! The production decoder equals the golden one, event for event: on random runs, on injured streams
//! and on hostile bytes.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Event, Fault, Image, Run, Sink, StreamPos, Tracer, parallel};
use hartrace_etrace::{AddressReport, Payload, Start};
use hartrace_golden::decoder as golden;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::case::{Case, Dice, bits};
use hartrace_tests::log::{self, Collect, Log, Seen, settled};
use hartrace_tests::production::{config, feed, image};
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
        packets.push((at, parsed.map_err(Fault::from)));
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
        let want = settled(golden_log(&case, &stream));
        gaps += want.iter().filter(|(_, seen)| matches!(seen, Seen::Gap | Seen::Endless)).count();
        let got = production_log(&case, &stream, usize::MAX);
        compare("injured, threads", seed, &parallel_log(&case, &stream, 3).0, &got);
        compare("injured", seed, &settled(got), &want);
    }
    assert!(gaps > 1000, "only {gaps} gaps: the test has lost its teeth");
}

/// The last cause of a gap, and the instructions before it.
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

/// Two jumps that lead to each other, and a reported address that is neither: there is no branch to
/// run out of outcomes at.
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
