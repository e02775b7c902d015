//! All ways to look at a trace agree with the list of its instructions.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::stream::{Decode, Decoded, StreamError, Transport};
use hartrace_decoder::{
    Config, Count, Coverage, Edges, Frequencies, Image, Leaves, Resync, Sink, Step, Steps,
    StreamPos, Tracer, Transfer,
};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_golden::walk::Shape;
use hartrace_isa::{Insn, Kind, Link};
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::fault::{injured, numbered};
use hartrace_tests::log::{Collect, Log, Seen};
use hartrace_tests::production::{config, feed, image};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::num::NonZeroUsize;

/// A stream that fits into frames, repeated several times, so that paths are taken again.
fn stream(seed: u64) -> (Case, Vec<Vec<u8>>) {
    let case = Case::new(seed);
    let once: Vec<_> = case.encode().into_iter().map(|encoded| encoded.bytes).collect();
    let stream = [once.clone(), once.clone(), once].concat();
    (case, stream)
}

fn fits(stream: &[Vec<u8>]) -> bool {
    stream.iter().all(|payload| (1..=31).contains(&payload.len()))
}

/// The complete log, without cached paths.
fn log<'s>(
    config: &Config,
    image: &Image,
    stream: impl IntoIterator<Item = (u64, &'s [u8])>,
) -> Log {
    let mut tracer = Tracer::new(config.clone(), image).expect("cases are legal");
    let mut out = Collect::default();
    for (packet, payload) in stream {
        feed(&mut tracer, packet, payload, &mut out);
    }
    tracer.finish(&mut out);
    out.0
}

/// A frame around every payload.
fn frames(stream: &[Vec<u8>]) -> Vec<u8> {
    stream
        .iter()
        .flat_map(|payload| std::iter::once(0x40 | payload.len() as u8).chain(payload.clone()))
        .collect()
}

/// Decodes frames into sinks, joined in order.
fn decode<S: Sink + Default + Send>(
    config: &Config,
    image: &Image,
    stream: &[Vec<u8>],
    threads: usize,
    mut join: impl FnMut(&mut S, S) + Send,
) -> S {
    let bytes = frames(stream);
    let mut decode = Decode::new(config.clone(), image, Transport::new(Framing::Reference));
    decode.threads = NonZeroUsize::new(threads).expect("at least one");
    decode.part = 97;
    let mut all = S::default();
    let result = decode.run(
        &bytes[..],
        |_| S::default(),
        |part: Decoded<S>| {
            part.sinks.into_iter().for_each(|(_, sink)| join(&mut all, sink));
            Ok::<(), Infallible>(())
        },
    );
    result.expect("nothing fails");
    all
}

/// The kind of transfer of an instruction that ends a block.
fn leaves(insn: Insn) -> Leaves {
    match insn.kind {
        Kind::Branch { .. } => Leaves::Branch,
        Kind::EnvironmentTrap => Leaves::No,
        _ if insn.is_sequential() => Leaves::No,
        _ if insn.is_uninferable() => Leaves::Indirect,
        _ => Leaves::Jump,
    }
}

/// The edges according to the list of instructions.
fn edges(image: &Image, log: &Log) -> BTreeMap<(u64, u64, Leaves), u64> {
    let mut edges = BTreeMap::new();
    let mut last: Option<(u64, Leaves)> = None;
    for (_, seen) in log {
        match seen {
            Seen::Retired(pc) => {
                if let Some((from, kind)) = last {
                    *edges.entry((from, *pc, kind)).or_default() += 1;
                }
                let kind = leaves(image.insn(*pc).expect("there is code"));
                last = (kind != Leaves::No).then_some((*pc, kind));
            }
            Seen::Other(text) if text.starts_with("context") => {}
            _ => last = None,
        }
    }
    edges
}

#[test]
fn sinks_agree_with_the_list_of_instructions() {
    let (mut counted, mut kinds) = (0, BTreeSet::new());
    for seed in 0..400 {
        let (case, stream) = stream(seed);
        if !fits(&stream) {
            continue;
        }
        let (image, config) = (image(&case), config(&case));
        let log = log(&Config { path_cap: 0, ..config.clone() }, &image, numbered(&stream, 0));
        let retired: Vec<u64> = log
            .iter()
            .filter_map(|(_, seen)| match seen {
                Seen::Retired(pc) => Some(*pc),
                _ => None,
            })
            .collect();
        for threads in [1, 3] {
            let count: Count =
                decode(&config, &image, &stream, threads, |all: &mut Count, next| {
                    all.instructions += next.instructions;
                    all.gaps += next.gaps;
                });
            assert_eq!(count.instructions, retired.len() as u64, "seed {seed}");

            let covered = decode(&config, &image, &stream, threads, |all: &mut Coverage, next| {
                all.merge(&next);
            });
            let halves: BTreeSet<u64> = retired
                .iter()
                .flat_map(|pc| {
                    let size = image.insn(*pc).expect("there is code").size;
                    (0..u64::from(size)).step_by(2).map(move |offset| (pc >> 1) + (offset >> 1))
                })
                .collect();
            assert!(retired.iter().all(|pc| covered.contains(*pc)), "seed {seed}");
            let bytes: u64 = covered.ranges().iter().map(|range| range.end - range.start).sum();
            assert_eq!((bytes, covered.bytes()), (2 * halves.len() as u64, bytes), "seed {seed}");

            let got = decode(&config, &image, &stream, threads, |all: &mut Edges, next| {
                all.merge(next);
            });
            let got: BTreeMap<_, _> =
                got.sorted().into_iter().map(|(e, n)| ((e.from, e.to, e.kind), n)).collect();
            assert_eq!(got, edges(&image, &log), "seed {seed}, {threads} threads");

            let mut all =
                decode(&config, &image, &stream, threads, |all: &mut Frequencies, next| {
                    all.merge(next);
                });
            assert_eq!(all.instructions(), count.instructions, "seed {seed}");
            // Sums can be added up again.
            let part = std::mem::take(&mut all);
            all.merge(part);
            let (insns, edges) = all.sorted();
            let mut times: BTreeMap<u64, u64> = BTreeMap::new();
            retired.iter().for_each(|pc| *times.entry(*pc).or_default() += 1);
            let found: BTreeMap<u64, u64> = insns.iter().map(|i| (i.address, i.times)).collect();
            assert_eq!(found, times, "seed {seed}, {threads} threads");
            for insn in insns {
                let link = image.insn(insn.address).and_then(Insn::link);
                assert_eq!(insn.transfer == Transfer::Call, link == Some(Link::Call), "{insn:x?}");
            }
            let edges: BTreeMap<_, _> =
                edges.into_iter().map(|(e, n)| ((e.from, e.to, e.kind), n)).collect();
            assert_eq!(edges, got, "seed {seed}, {threads} threads");
            counted += got.values().sum::<u64>();
            kinds.extend(got.keys().map(|(_, _, kind)| *kind));
        }
    }
    assert!(counted > 100_000 && kinds.len() == 3, "{counted} edges of {kinds:?}: no teeth");
}

#[test]
fn asking_is_the_same_as_being_told() {
    for seed in 0..400 {
        let (case, stream) = stream(seed);
        let (image, config) = (image(&case), config(&case));
        let want = log(&config, &image, numbered(&stream, 0));
        let payloads = || {
            numbered(&stream, 0).map(|(packet, payload)| {
                (StreamPos { packet, byte: 0 }, Ok(BitReader::new(payload, Tail::Sign)))
            })
        };
        let tracer = || Tracer::new(config.clone(), &image).expect("cases are legal");
        let mut got = Collect::default();
        let mut instructions = 0;
        for (at, step) in Steps::instructions(tracer(), payloads()) {
            match step {
                Step::Instruction(pc) => {
                    got.0.push((at.packet, Seen::Retired(pc)));
                    instructions += 1;
                }
                Step::Event(event) => got.event(at, event),
                Step::Run(extent) => panic!("{extent:?}"),
            }
        }
        assert_eq!(got.0, want, "seed {seed}");
        let runs = Steps::runs(tracer(), payloads()).map(|(_, step)| match step {
            Step::Run(extent) => u64::from(extent.insns),
            _ => 0,
        });
        assert_eq!(runs.sum::<u64>(), instructions, "seed {seed}");
    }
}

/// Frames of two harts in random order: each hart is decoded as if it were alone.
#[test]
fn sources_are_told_apart() {
    let framing = Framing::Encap(EncapParams::new(8, 0, 0).expect("legal"));
    let mut compared = 0;
    for seed in 0..200 {
        let (case, stream) = stream(seed);
        if !stream.iter().all(|payload| (1..=29).contains(&payload.len())) {
            continue;
        }
        let (image, config) = (image(&case), config(&case));
        let mut dice = Dice::new(seed);
        let mut left = [&stream[..], &stream[..]];
        let mut bytes = Vec::new();
        while left.iter().any(|rest| !rest.is_empty()) {
            let hart = dice.range(0, 1) as usize;
            let Some((payload, rest)) = left[hart].split_first() else { continue };
            left[hart] = rest;
            let header = FrameHeader { source: Some(7 + hart as u16), ..FrameHeader::default() };
            let mut frame = [0; MAX_FRAME];
            let len = framing.emit(&header, payload, &mut frame).expect("it fits");
            bytes.extend(&frame[..len]);
        }
        let seen = |log: Log| log.into_iter().map(|(_, seen)| seen).collect::<Vec<_>>();
        let want = seen(log(&config, &image, numbered(&stream, 0)));
        for (threads, source) in [(1, None), (3, None), (3, Some(8))] {
            let transport = Transport { source, ..Transport::new(framing) };
            let mut decode = Decode::new(config.clone(), &image, transport);
            decode.threads = NonZeroUsize::new(threads).expect("at least one");
            decode.part = 97;
            let mut logs: BTreeMap<u16, Log> = BTreeMap::new();
            let result = decode.run(
                &bytes[..],
                |_| Collect::default(),
                |part: Decoded<Collect>| {
                    for (source, sink) in part.sinks {
                        logs.entry(source.expect("all have one")).or_default().extend(sink.0);
                    }
                    Ok::<(), Infallible>(())
                },
            );
            result.expect("nothing fails");
            assert_eq!(logs.len(), if source.is_some() { 1 } else { 2 });
            for log in logs.into_values() {
                assert!(seen(log) == want, "seed {seed}, {threads} threads");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "only {compared} logs: the test has lost its teeth");
}

/// [`Resync::Address`] changes nothing if nothing is lost. After a loss it is exact again from the
/// next synchronisation on, like the other; and with full addresses, everything that it reports
/// before is true.
#[test]
fn going_on_at_an_address() {
    let mut early = 0;
    // All modes, and more often full addresses alone, where much can be gained.
    for seed in (0..1000).chain((0..300).map(|n| 64 * n + 4)) {
        let shape = Shape { steps: 1000, ..Shape::random(seed) };
        let case = Case::shaped(seed, shape);
        let stream: Vec<_> = case.encode().into_iter().map(|encoded| encoded.bytes).collect();
        let (image, safe) = (image(&case), config(&case));
        let fast = Config { resync: Resync::Address, ..safe.clone() };
        let clean = log(&safe, &image, numbered(&stream, 0));
        assert_eq!(clean, log(&fast, &image, numbered(&stream, 0)), "seed {seed}");

        let mut dice = Dice::new(seed);
        for _ in 0..5 {
            early += loses_less(&case, &image, &fast, &stream, &clean, &mut dice);
        }
    }
    assert!(early > 1000, "only {early} instructions won: the test has lost its teeth");
}

/// Drops a payload; returns the number of instructions that are recovered in addition.
fn loses_less(
    case: &Case,
    image: &Image,
    fast: &Config,
    stream: &[Vec<u8>],
    clean: &Log,
    dice: &mut Dice,
) -> usize {
    let safe = Config { resync: Resync::Sync, ..fast.clone() };
    let index = dice.range(1, stream.len() as u64 - 1) as usize;
    let got = log(fast, image, injured(stream, index, &[]));
    let slow = log(&safe, image, injured(stream, index, &[]));
    // Both continue where the safe mode does, and are equal from there.
    let is = |what: Seen| move |(_, seen): &(u64, Seen)| *seen == what;
    let Some(gap) = slow.iter().position(is(Seen::Gap)) else { return 0 };
    let Some((sync, _)) = slow[gap..].iter().find(|e| is(Seen::On)(e)) else { return 0 };
    let after = |log: &Log| -> Log {
        let events = log.iter().filter(|(packet, seen)| packet > sync && *seen != Seen::On);
        events.cloned().collect()
    };
    assert_eq!(after(&got), after(&slow), "payload {index} lost");

    let modes = case.encoder.options;
    let Some((resumed, _)) = got[gap..].iter().find(|e| is(Seen::On)(e)) else { return 0 };
    if resumed >= sync || !modes.full_address || modes.sequentially_inferred_jump {
        return 0;
    }
    let between = |log: &Log| -> Log {
        let packets = resumed + 1..*sync;
        log.iter().filter(|(packet, _)| packets.contains(packet)).cloned().collect()
    };
    let got = between(&got);
    assert_eq!(got, between(clean), "payload {index} lost");
    got.len()
}

/// A reader that fails in the middle.
struct Broken<'a>(&'a [u8]);

impl std::io::Read for Broken<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        match self.0.is_empty() {
            true => Err(std::io::Error::other("unplugged")),
            false => self.0.read(room),
        }
    }
}

/// Everything read before an error is decoded, as far as it forms complete parts.
#[test]
fn errors_come_after_what_was_read() {
    let mut decoded = 0;
    for seed in 0..100 {
        let (case, stream) = stream(seed);
        if !fits(&stream) {
            continue;
        }
        let (image, config) = (image(&case), config(&case));
        let want = log(&config, &image, numbered(&stream, 0));
        for threads in [1, 3] {
            let bytes = frames(&stream);
            let mut decode =
                Decode::new(config.clone(), &image, Transport::new(Framing::Reference));
            decode.threads = NonZeroUsize::new(threads).expect("at least one");
            decode.part = 10;
            let mut got = Log::new();
            let result = decode.run(
                Broken(&bytes),
                |_| Collect::default(),
                |part: Decoded<Collect>| {
                    got.extend(part.sinks.into_iter().flat_map(|(_, sink)| sink.0));
                    Ok::<(), Infallible>(())
                },
            );
            assert!(matches!(result, Err(StreamError::Input(_))), "seed {seed}");
            assert!(want.starts_with(&got), "seed {seed}, {threads} threads");
            decoded += got.len();
        }
    }
    assert!(decoded > 10_000, "only {decoded} events: the test has lost its teeth");
}
