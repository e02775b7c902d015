//! What the RTL sends, decoded.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config as Decoding, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_etrace::Unit;
use hartrace_ingress::IType;
use hartrace_isa::{Isa, Xlen};
use hartrace_lockstep::{Bench, Setting, Traffic};
use hartrace_verilate::Options;
use hartrace_walk::{Shape, generate};
use libtest_mimic::Failed;

/// Instructions by address, and traps by cause.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Retired(u64),
    Trap { cause: u64, interrupt: bool },
}

#[derive(Default)]
struct List {
    steps: Vec<Step>,
    gaps: Vec<String>,
}

impl Sink for List {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.steps.push(Step::Retired(address)));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        match event {
            Event::Trap { cause, interrupt, .. } => {
                self.steps.push(Step::Trap { cause, interrupt });
            }
            Event::Gap(fault) => self.gaps.push(fault.to_string()),
            _ => {}
        }
    }
}

/// A walk through the RTL of a configuration and the decoder: all of it comes out, from the first to
/// the last instruction.
pub(crate) fn round_trip(name: &str) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let config = Config { overflow: Overflow::Stall, ..config };
    let mut rng = fastrand::Rng::with_seed(7);
    let mut bench = Bench::new(&config, &Options::default())?;
    for seed in 0..8 {
        let shape: Shape = super::shape(&mut rng, &config, seed, 5_000);
        let walk = generate(seed, &shape);
        let half_words = (1 << config.iretire_width_p) - 1;
        let rows = walk.blocks_within(seed, config.lanes.into(), half_words);
        let setting = Setting { resync: (1, 2), ..Setting::default() };
        let traffic = Traffic { back_pressure: 200, idle: 200, seed };
        let summary = bench.run(&rows, &setting, traffic)?;

        let vectored = u64::from(walk.program.vectored);
        let decoding = Decoding {
            params: config.etrace,
            unit: config.unit(),
            tvec: walk.program.tvec.iter().map(|(p, base)| (p.0, base | vectored)).collect(),
            ..Decoding::default()
        };
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        for (address, bytes) in &walk.program.segments {
            image.add(*address, bytes);
        }
        let tail = if config.unit() == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
        let mut tracer = Tracer::new(decoding, &image)?;
        let mut list = List::default();
        for (packet, payload) in (0..).zip(&summary.sent) {
            let at = StreamPos { packet, byte: 0 };
            tracer.feed_bits(at, BitReader::new(payload, tail), &mut list);
        }
        tracer.finish(&mut list);

        let mut expected = Vec::new();
        for row in &walk.rows {
            if row.iretire > 0 {
                expected.push(Step::Retired(row.iaddr));
            }
            if row.itype.is_trap() {
                let interrupt = row.itype == IType::Interrupt;
                expected.push(Step::Trap { cause: row.cause, interrupt });
            }
        }
        if let Some(gap) = list.gaps.first() {
            return Err(format!("seed {seed}: {gap}").into());
        }
        let equal = expected.iter().zip(&list.steps).take_while(|(a, b)| a == b).count();
        if equal < expected.len().max(list.steps.len()) || equal == 0 {
            let (want, got) = (expected.get(equal), list.steps.get(equal));
            return Err(format!("seed {seed}, step {equal}: {got:x?} instead of {want:x?}").into());
        }
    }
    Ok(())
}
