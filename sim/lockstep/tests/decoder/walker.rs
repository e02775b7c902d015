//! Decoder and block walker behind the golden encoder: what they report is what was executed.

mod scenarios;

use crate::RESTLESS;
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder::{Config as Reading, Edge, Edges, Event, Run, Sink, StreamPos, Tracer};
use hartrace_decoder_hdl::walker::Cause;
use hartrace_decoder_hdl::{etrace, walker};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_encoder_hdl::Config as EncoderHdl;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Params, QualStatus, Unit};
use hartrace_executions::executed::{Instructions, Port, Program, ProgramError, modes};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{EncoderConfig, Resync};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::Xlen;
use hartrace_lockstep::Setting;
use hartrace_lockstep::decoder::{FollowerBench, Said, WalkFigures, Walks};
use hartrace_lockstep::rtl_loop::{Loop, LoopBench, LoopConfig};
use hartrace_lockstep::trial::Work;
use libtest_mimic::{Failed, Trial};
use std::collections::VecDeque;

/// After this many cycles in which two instructions retire, there is one in which none does.
const RUSH: u32 = 3;

const ENCAP: (u8, u8, u8) = (0, 0, 0);

/// The walker of all trials: every table of the encoder, four bytes per cycle.
fn config() -> walker::Config {
    let params = modes::params(Xlen::Rv64);
    let (source, time, kind) = ENCAP;
    let encap = EncapParams::new(source, time, kind).unwrap_or_else(|error| panic!("{error}"));
    let decoder = etrace::Config { unroll: 4, params, unit: Unit::Hartrace, encap, aligned: true };
    walker::Config::new(decoder, 1 << 10)
}

/// A program in one mode.
struct Traced {
    program: Program,
    tvec: Vec<(u8, u64)>,
    rows: Vec<Retired>,
    /// Framed packets, with the number of rows that were retired before them.
    packets: VecDeque<(usize, Vec<u8>)>,
    /// The edges that the software finds.
    edges: Vec<(Edge, u64)>,
}

fn program(name: &str) -> Result<Program, Failed> {
    let path = format!("{}/../../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    Ok(Program::new(name, std::fs::read(path)?)?)
}

/// A payload in its frame.
fn frame(payload: &[u8]) -> Vec<u8> {
    let mut frame = [0; MAX_FRAME];
    let framing = Framing::Encap(config().decoder.encap);
    let len = framing.emit(&FrameHeader::default(), payload, &mut frame);
    frame[..len.unwrap_or_else(|error| panic!("{error}"))].to_vec()
}

fn trace(params: Params, name: &str, mode: &str, limit: u64) -> Result<Traced, Failed> {
    let program = program(name)?;
    let mut rows = Vec::new();
    // A hart that retires two blocks per cycle.
    let port = Port { lanes: 2, half_words: 31, rows: 2, itype_width: ITypeWidth::Four };
    let ending = program.execute_on(port, limit, |more| {
        rows.extend_from_slice(more);
        Ok::<(), ProgramError>(())
    })?;
    let (options, unit) = (modes::named(mode)?, Unit::Hartrace);
    let mut encoder = Encoder::new(EncoderConfig {
        params,
        unit,
        options,
        itype_width: ITypeWidth::Four,
        resync: Resync::Packets(50),
        ..EncoderConfig::default()
    })?;
    let tvec = ending.tvec;
    let mut tracer = Tracer::new(
        Reading { params, unit, tvec: tvec.clone(), ..Reading::default() },
        program.image(),
    )?;
    let mut edges = Edges::default();
    let mut packets = VecDeque::new();
    let mut push = |at: usize, payload: &[u8]| {
        packets.push_back((at, frame(payload)));
        let bits = BitReader::new(payload, Tail::Sign);
        tracer.feed_bits(StreamPos::default(), bits, &mut edges);
    };
    for (at, row) in rows.iter().enumerate() {
        encoder.retire(row, &mut |encoded| push(at + 1, &encoded.bytes));
    }
    encoder.finish(&mut |encoded| push(rows.len(), &encoded.bytes));
    tracer.finish(&mut edges);
    let edges = edges.sorted();
    Ok(Traced { program, tvec, rows, packets, edges })
}

/// Sends packets when they come out of the encoder, one cycle for each cycle of the hart.
fn follow(bench: &FollowerBench, traced: &Traced) -> Result<(WalkFigures, u64), Failed> {
    let image = traced.program.image();
    let table = BlockTable::build(image, &[], WordLayout::SPAN_BITS);
    let mut following = bench.start(&table, 0, &traced.tvec)?;
    let mut walks = Walks::new(image);
    let mut packets = traced.packets.iter().peekable();
    let mut bytes: VecDeque<u8> = VecDeque::new();
    let mut cycles = 0u32;
    for (at, row) in traced.rows.iter().enumerate() {
        walks.executed(row);
        if row.cycles == 0 {
            continue;
        }
        while let Some((_, packet)) = packets.next_if(|(ready, _)| *ready <= at) {
            bytes.extend(packet);
        }
        let count = bytes.len().min(following.unroll());
        let now: Vec<u8> = bytes.drain(..count).collect();
        following.cycle(&now)?.iter().for_each(|said| walks.said(said));
        // Two instructions in every cycle are more than any hart retires for long.
        cycles += 1;
        if cycles.is_multiple_of(RUSH) {
            following.cycle(&[])?.iter().for_each(|said| walks.said(said));
        }
    }
    packets.for_each(|(_, packet)| bytes.extend(packet));
    while !bytes.is_empty() {
        let now: Vec<u8> = bytes.drain(..bytes.len().min(following.unroll())).collect();
        following.cycle(&now)?.iter().for_each(|said| walks.said(said));
    }
    following.rest(RESTLESS, |said| walks.said(&said))?;
    Ok((walks.finish(), following.lost()))
}

/// Decoded = executed, and the edges are those of the software.
fn same(bench: &FollowerBench, name: &str, mode: &str, limit: u64) -> Result<(), Failed> {
    let traced = trace(config().decoder.params, name, mode, limit)?;
    let (figures, lost) = follow(bench, &traced)?;
    if let Some(difference) = &figures.difference {
        return Err(format!("{name}, {mode}: {difference}").into());
    }
    if lost > 0 || !figures.gaps.is_empty() {
        return Err(format!("{name}, {mode}: {lost} records lost, {:?}", figures.gaps).into());
    }
    let edges = &figures.edges;
    if *edges != traced.edges {
        let other = edges.iter().zip(&traced.edges).find(|(a, b)| a != b);
        let counts = (edges.len(), traced.edges.len());
        return Err(format!("{name}, {mode}: edges differ, {counts:?}, {other:x?}").into());
    }
    Ok(())
}

const PROGRAMS: [&str; 10] = [
    "branchy",
    "calls",
    "crypto",
    "float",
    "interp",
    "interrupts",
    "linux",
    "sort",
    "strings",
    "user",
];

/// The generated encoder in front: what it encodes, encapsulates and sends, cycle by cycle, is what was executed.
///
/// With a synchronisation every 64 packets, the encoder itself loses some, which the walker has to report where they are
/// missing. Without, nothing may be missing.
fn rtl_loop() -> Result<(), Failed> {
    let encoder = EncoderHdl::named("full").ok_or("there is no such configuration")?;
    let mut bench = LoopBench::new(&LoopConfig::new(encoder.clone(), 4), &Options::default())?;
    let mut missing = 0;
    for (mode, resync) in
        [("delta", 2), ("ir", 2), ("ir+ie+sij+bp+jtc", 2), ("ir+ie+sij+bp+jtc", 8)]
    {
        let options = modes::named(mode)?;
        let setting = Setting::new(&encoder, options, resync);
        for name in PROGRAMS {
            let program = program(name)?;
            let unknown = options.implicit_exception && !program.knows_trap_vectors();
            if unknown || program.xlen() != Xlen::Rv64 {
                continue;
            }
            let work = Work::program(program, &encoder)?;
            let trial = Loop { limit: 20_000, idle: 200, ..Loop::new(&setting, mode) };
            let figures = trial.run(&mut bench, work, |_| ())?;
            missing += figures.encoder.losses;
            let complete = resync < 8 || figures.walked.gaps.is_empty();
            if figures.difference().is_some() || figures.lost > 0 || !complete {
                return Err(format!("{figures}: {:?}", figures.walked.gaps).into());
            }
            // One step per cycle at most. An address that is searched takes longer.
            if !(0.1..=1.0).contains(&figures.step_rate()) {
                return Err(format!("{figures}").into());
            }
        }
    }
    // Otherwise, this does not test what it should.
    if missing == 0 { Err("the encoder lost nothing".into()) } else { Ok(()) }
}

/// The instructions and gaps that software reports.
#[derive(Default)]
struct Listing {
    addresses: Vec<u64>,
    gaps: usize,
}

impl Sink for Listing {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.addresses.push(address));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.gaps +=
            usize::from(matches!(event, Event::Gap(_) | Event::Off(QualStatus::TraceLost)));
    }
}

/// Damaged packets: the walker reports the same instructions as the software, and gaps where that reports some.
///
/// It notices later that the program goes round and round, so it reports more of that before the gap.
fn damaged(mode: &str) -> Result<(), Failed> {
    let bench = FollowerBench::new(&config(), &Options::default())?;
    let mut random = fastrand::Rng::with_seed(1);
    let mut gaps = 0;
    for name in ["branchy", "calls", "interp", "interrupts", "sort", "user"] {
        let traced = trace(config().decoder.params, name, mode, 20_000)?;
        for _ in 0..rounds() {
            // Not before the first synchronisation.
            let packet = random.usize(2..traced.packets.len() / 2);
            let bit = random.usize(..8 * (traced.packets[packet].1.len() - 1));
            gaps += damage(&bench, &traced, packet, bit).map_err(|error| {
                format!("{name}, {mode}, bit {bit} of packet {packet}: {:?}", error.message())
            })?;
        }
    }
    // Otherwise, this does not test what it should.
    if gaps < 10 { Err(format!("only {gaps} gaps").into()) } else { Ok(()) }
}

/// Packets that are damaged in each program.
fn rounds() -> usize {
    std::env::var("HARTRACE_DAMAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// Inverts a bit of a packet; returns the number of gaps.
fn damage(
    bench: &FollowerBench,
    traced: &Traced,
    packet: usize,
    bit: usize,
) -> Result<usize, Failed> {
    let image = traced.program.image();
    let config = config().decoder;
    let table = BlockTable::build(image, &[], WordLayout::SPAN_BITS);
    let mut following = bench.start(&table, 0, &traced.tvec)?;
    let (params, unit, tvec) = (config.params, config.unit, traced.tvec.clone());
    let mut tracer = Tracer::new(Reading { params, unit, tvec, ..Reading::default() }, image)?;
    let mut listing = Listing::default();
    let mut said = Vec::new();
    for (at, (_, frame)) in traced.packets.iter().enumerate() {
        let mut frame = frame.clone();
        if at == packet {
            frame[1 + bit / 8] ^= 1 << (bit % 8);
        }
        following.send(&frame, |more| said.push(more))?;
        following.rest(RESTLESS, |more| said.push(more))?;
        let bits = BitReader::new(&frame[1..], Tail::Sign);
        tracer.feed_bits(StreamPos::default(), bits, &mut listing);
    }
    tracer.finish(&mut listing);
    // An address inside an instruction is noticed only in the last one of a block: there is no such code then.
    let blocks = said.iter().filter_map(|said| said.block);
    let blocks: Vec<_> = blocks.map(|block| block.instructions(image)).collect();
    let inside = blocks.iter().any(Option::is_none);
    let reported: Vec<u64> =
        blocks.into_iter().flatten().flat_map(|(addresses, _)| addresses).collect();
    let gaps: Vec<Cause> = said.iter().filter_map(|said| said.gap).collect();
    let expected = listing.addresses;
    let mut same = reported == expected && gaps.len() == listing.gaps;
    // The walker goes on longer before it notices a loop; software also decodes inside of instructions.
    let other = [Cause::NoProgress, Cause::InsideInstruction];
    if inside || other.iter().any(|cause| gaps.contains(cause)) {
        let equal = |pair: &(&u64, &u64)| pair.0 == pair.1;
        let before = reported.iter().zip(&expected).take_while(equal).count();
        let after = reported.iter().rev().zip(expected.iter().rev()).take_while(equal).count();
        same = before + after >= reported.len().min(expected.len());
    }
    if same {
        return Ok(gaps.len());
    }
    let (count, software) = (reported.len(), expected.len());
    Err(format!("{count} instructions, not {software}; {gaps:?}, {} in software", listing.gaps)
        .into())
}

/// Records come faster than the walker can follow: some are lost, each loss is a gap, and everything between the gaps was
/// executed.
fn losses() -> Result<(), Failed> {
    let bench = FollowerBench::new(&config(), &Options::default())?;
    let traced = trace(config().decoder.params, "interp", "delta", 60_000)?;
    let image = traced.program.image();
    let table = BlockTable::build(image, &[], WordLayout::SPAN_BITS);
    let mut following = bench.start(&table, 0, &traced.tvec)?;
    let mut said = Vec::new();
    let bytes: Vec<u8> = traced.packets.iter().flat_map(|(_, frame)| frame.clone()).collect();
    following.send(&bytes, |more| said.push(more))?;
    following.rest(RESTLESS, |more| said.push(more))?;
    let instructions = Instructions::of(image);
    let mut executed = Vec::new();
    for row in traced.rows.iter().filter(|row| row.iretire > 0) {
        instructions.split(row, |row| executed.push(row.iaddr));
    }
    let (mut rest, mut piece, mut gaps) = (executed.as_slice(), Vec::new(), 0);
    let end = [Said { block: None, gap: Some(Cause::Lost) }];
    for said in said.iter().chain(&end) {
        if let Some(block) = said.block {
            piece.extend(block.instructions(image).ok_or("there is no such code")?.0);
        }
        match said.gap {
            None => continue,
            Some(Cause::Lost) => gaps += 1,
            Some(other) => return Err(format!("{other:?}").into()),
        }
        let at = rest.windows(piece.len().max(1)).position(|window| window == piece);
        let at = if piece.is_empty() { Some(0) } else { at };
        let at = at.ok_or_else(|| format!("piece {gaps} was not executed"))?;
        rest = &rest[at + piece.len()..];
        piece.clear();
    }
    match following.lost() {
        0 => Err("nothing was lost".into()),
        lost if gaps < 2 => Err(format!("{lost} records lost without a gap").into()),
        _ => Ok(()),
    }
}

/// The trials of the walker.
pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let mut trials = vec![Trial::test("loop", rtl_loop).with_ignored_flag(missing)];
    trials.push(Trial::test("walker/losses", losses).with_ignored_flag(missing));
    trials.push(Trial::test("walker/scenarios", scenarios::follow).with_ignored_flag(missing));
    for mode in ["delta", "ir+ie+sij+bp+jtc"] {
        let test = move || damaged(mode);
        trials.push(Trial::test(format!("walker/damaged/{mode}"), test).with_ignored_flag(missing));
    }
    for mode in modes::ALL {
        let test = move || {
            let bench = FollowerBench::new(&config(), &Options::default())?;
            // The trap vectors of a Linux program are those of the kernel.
            let implicit = modes::named(mode)?.implicit_exception;
            for name in PROGRAMS.into_iter().filter(|name| !implicit || *name != "linux") {
                same(&bench, name, mode, 20_000)?;
            }
            Ok(())
        };
        trials.push(Trial::test(format!("walker/{mode}"), test).with_ignored_flag(missing));
    }
    trials
}
