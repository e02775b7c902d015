//! Decoder and block walker behind the golden encoder: what they report is what was executed.

use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder::{Config as Reading, Edge, Edges, StreamPos, Tracer};
use hartrace_decoder_hdl::{etrace, walker};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Params, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{EncoderConfig, Resync};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::Xlen;
use hartrace_lockstep::decoder::{FollowerBench, WalkFigures, Walks};
use hartrace_sources::executed::{Port, Program, ProgramError, modes};
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

fn trace(params: Params, name: &str, mode: &str, limit: u64) -> Result<Traced, Failed> {
    let path = format!("{}/../../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let program = Program::new(name, std::fs::read(path)?)?;
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
    let framing = Framing::Encap(config().decoder.encap);
    let mut tracer = Tracer::new(
        Reading { params, unit, tvec: tvec.clone(), ..Reading::default() },
        program.image(),
    )?;
    let mut edges = Edges::default();
    let mut packets = VecDeque::new();
    let mut push = |at: usize, payload: &[u8]| {
        let mut frame = [0; MAX_FRAME];
        let len = framing.emit(&FrameHeader::default(), payload, &mut frame);
        packets.push_back((at, frame[..len.unwrap_or_else(|error| panic!("{error}"))].to_vec()));
        let bits = hartrace_bits::BitReader::new(payload, hartrace_bits::Tail::Sign);
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
    following.rest(|said| walks.said(&said))?;
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

/// The trials of the walker.
pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
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
