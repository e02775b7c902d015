//! The speed of exports, compared with counting edges in the same trace, in one run.
//!
//! The trace is that of a bundled program with debug information, many times one after the other. The time includes
//! everything from bytes to the written report. Every rate is that of the best of several passes. The last lines are
//! `ratio NAME VALUE`: the rate of the export over that of counting edges.

use hartrace_capture::programs::Programs;
use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{Config, Edges};
use hartrace_encap::Framing;
use hartrace_etrace::Unit;
use hartrace_executions::executed::{Program, ProgramError, modes};
use hartrace_golden::encoder::{Encoder, EncoderConfig, Resync};
use hartrace_report::calls::{Calls, Folded, Perfetto, Pprof, Timing};
use hartrace_report::gaps::Gaps;
use hartrace_report::source::{Lcov, SourceReport};
use hartrace_report::tables::{Style, Tables};
use hartrace_report::{Printer, Report};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// How often the trace is repeated.
const TIMES: usize = 44;
const PASSES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf");
    let path = folder.join("debug/sort.elf");
    let elf = std::fs::read(&path)?;
    let program = Program::of_file(&path, elf.clone())?;
    let (params, unit) = (modes::params(program.xlen()), Unit::Reference);
    let (options, resync) = (modes::named("ir+bp")?, Resync::Packets(1 << 10));
    let config = EncoderConfig { params, unit, options, resync, ..EncoderConfig::default() };
    let mut encoder = Encoder::new(config)?;
    let mut bytes = Vec::new();
    let mut out = |payload: hartrace_golden::Encoded| {
        bytes.push(0x40 | payload.bytes.len() as u8);
        bytes.extend(payload.bytes);
    };
    let ending = program.execute(u64::MAX, |rows| {
        rows.iter().for_each(|row| encoder.retire(row, &mut out));
        Ok::<(), ProgramError>(())
    })?;
    encoder.finish(&mut out);
    let capture = bytes.repeat(TIMES);
    let insns = ending.instructions * TIMES as u64;
    println!("{insns} instructions in {} bytes", capture.len());

    let mut programs = Programs::new(program.xlen());
    programs.add_elf(elf, 0)?;
    let decode = Decode {
        options,
        part: 1 << 20,
        ..Decode::new(
            Config { params, unit, ..Config::default() },
            programs.images(),
            Transport::new(Framing::Reference),
        )
    };
    let bench = Bench { decode, capture: &capture, insns };
    let xlen = program.xlen();
    let style = || Style { symbols: programs.all_symbols(), xlen, json: false };
    let edges = bench.rate("edges", || Tables::<Edges>::new(style()));
    let calls = || programs.all_symbols();
    let rates = [
        (
            "folded-without-inlined",
            bench.rate("folded, without inlined functions", || Calls::new(Folded, calls(), xlen)),
        ),
        ("folded", bench.rate("folded", || Calls::with_inlined(Folded, &programs, xlen))),
        ("pprof", bench.rate("pprof", || Calls::with_lines(Pprof::new("t"), &programs, xlen))),
        (
            "perfetto",
            bench.rate("perfetto", || {
                Calls::with_inlined(Perfetto::new(Timing::default()), &programs, xlen)
            }),
        ),
        ("lcov", bench.rate("lcov", || SourceReport::new(Lcov, &programs))),
    ];
    for (name, rate) in rates {
        println!("ratio {name}-over-edges {:.2}", rate / edges);
    }
    Ok(())
}

struct Bench<'a> {
    decode: Decode<'a>,
    capture: &'a [u8],
    insns: u64,
}

impl Bench<'_> {
    /// Prints the rate of the best pass, and returns it.
    fn rate<R: Report + Send>(&self, name: &str, make: impl Fn() -> R) -> f64 {
        let mut best = f64::INFINITY;
        for _ in 0..PASSES {
            let gaps = Gaps::new("trace", |note| panic!("{note}"));
            let start = Instant::now();
            let mut printer = Printer::new(make(), std::io::sink(), gaps);
            printer.decode(&self.decode, self.capture).expect("nothing fails");
            best = best.min(start.elapsed().as_secs_f64());
        }
        let rate = self.insns as f64 / best / 1e6;
        println!("  {name:<36} {rate:9.1} M instructions/s");
        rate
    }
}
