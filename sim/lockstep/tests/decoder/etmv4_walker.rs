//! Decoder and block walker behind the model of an ETMv4: what they report is what was executed.

use fastrand::Rng;
use hartrace_arm_decoder::block_table::Code;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_arm_decoder::{Capture, ElementSink, Etmv4, Event, Layout, Memory, Range};
use hartrace_arm_golden::{Disturbances, Program, Step, etmv4 as model, expected};
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_decoder::{Edge, Edges, Leaves, StreamPos};
use hartrace_decoder_hdl::etmv4;
use hartrace_decoder_hdl::walker::Cause;
use hartrace_decoder_hdl::walker::etmv4::Config;
use hartrace_etmv4::{Config as Unit, Registers};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::arm::{Arch, Rules, Spaces};
use hartrace_lockstep::decoder::{FollowerBench, Said, Walked};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;

/// Instructions of a program, and steps of a walk.
const LENGTH: usize = 400;
const STEPS: usize = 1500;

/// ETE 1.3.
const DEVARCH: u32 = 0x4770_5a13;

/// A trace unit whose cycle counts commit nothing: an ETMv4 with a return stack, or an ETE without.
fn registers(devarch: Option<u32>) -> Registers {
    Registers {
        configr: 1 << 11 | u32::from(devarch.is_none()) << 12,
        idr0: 1 << 5 | 1 << 7 | 1 << 9 | 3 << 15 | 1 << 29 | 0x0800_0000,
        idr2: 8 << 25 | 0x0000_0488,
        devarch,
        ..model::REGISTERS
    }
}

fn config(unit: Unit) -> Config {
    Config::new(etmv4::Config { unit, ..etmv4::Config::default() }, 1 << 10)
}

/// A program that was traced.
struct Traced {
    program: Program,
    steps: Vec<Step>,
    code: Code,
    unit: Unit,
    bytes: Vec<u8>,
}

/// What differs from walk to walk.
#[derive(Copy, Clone, Debug, Default)]
struct Variant {
    wide: bool,
    broadcast: bool,
    stack: bool,
    disturbances: Disturbances,
    devarch: Option<u32>,
    speculation: u32,
}

impl Traced {
    fn new(seed: u64, variant: &Variant, steps: usize) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, LENGTH, variant.wide);
        let (start, walked) = program.walk(&mut rng, steps);
        let steps = program.disturb(&mut rng, &walked, &variant.disturbances);
        let mut registers = registers(variant.devarch);
        registers.idr8 = variant.speculation;
        if !variant.stack {
            registers.configr &= !(1 << 12);
        }
        let options = model::Options {
            branch_broadcast: variant.broadcast,
            cycles: rng.bool().then(|| rng.u32(0..100)),
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
            combine: rng.bool(),
            speculate: variant.speculation > 0,
        };
        let unit = registers.config();
        let bytes = model::encode(&unit, &options, &program, start, &steps, &mut rng);
        let rules = Rules { arch: Arch::V8, barriers: false, wfx: false };
        let mut code = Code::new(rules);
        for insn in &program.code {
            let at = (insn.address - program.base) as usize;
            code.add(insn.address, &program.bytes[at..at + usize::from(insn.size)], insn.isa);
        }
        Self { program, steps, code, unit, bytes }
    }

    /// The instructions that the trace has to tell.
    fn executed(&self) -> Vec<u64> {
        let (ranges, _) = expected(&self.program, &self.steps);
        let inside = |(start, end, ..): (u64, u64, u32, bool)| {
            std::iter::successors(Some(start), |at| Some(at + self.size(*at)))
                .take_while(move |at| *at < end)
        };
        ranges.into_iter().flat_map(inside).collect()
    }

    fn size(&self, address: u64) -> u64 {
        let code = &self.program.code;
        let at = code.binary_search_by_key(&address, |code| code.address);
        at.map_or(4, |at| code[at].size.into())
    }

    /// What the production decoder finds in these bytes.
    fn software(&self, bytes: &[u8]) -> Listing {
        let mut memory = Memory::new();
        memory.add(self.program.base, self.program.bytes.clone(), Spaces::ALL);
        let mut listing = Listing::default();
        software(bytes, self.unit, Arch::V8, &memory, &mut listing);
        listing
    }
}

fn software(bytes: &[u8], unit: Unit, arch: Arch, memory: &Memory, sink: &mut impl ElementSink) {
    let capture = Capture::split(Layout::Raw, bytes);
    Etmv4::new(unit, arch, memory).decode(&capture.streams[0], sink);
}

/// The instructions and gaps that software reports.
#[derive(Default)]
struct Listing {
    addresses: Vec<u64>,
    gaps: usize,
}

impl ElementSink for Listing {
    const INSTRUCTIONS: bool = true;

    fn range(&mut self, _: StreamPos, _: &Range) {}

    fn instructions(&mut self, _: StreamPos, base: u64, offsets: &[u16]) {
        self.addresses.extend(offsets.iter().map(|offset| base + u64::from(*offset)));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.gaps += usize::from(matches!(event, Event::Fault(_) | Event::NotAccessible { .. }));
    }
}

/// The addresses of the instructions that were executed; `None` if there is no such code.
fn expand(code: &Code, block: &Walked) -> Option<Vec<u64>> {
    let (mut addresses, mut at) = (Vec::new(), block.start);
    loop {
        if block.faulted && at == block.last {
            return Some(addresses);
        }
        let (insn, _) = code.insn(at)?;
        addresses.push(at);
        if at == block.last {
            return Some(addresses);
        }
        at += u64::from(insn.size);
    }
}

/// What the walker says of a stream.
#[derive(Default)]
struct Walk {
    addresses: Vec<u64>,
    gaps: Vec<Cause>,
    edges: BTreeMap<Edge, u64>,
    blocks: u64,
    lost: u64,
    wrong: Option<String>,
    /// Instructions that were reported before the first gap.
    before_gap: Option<usize>,
    next: Option<u64>,
}

/// Tracing starts: the walker says what it still has.
const TRACE_ON: [u8; 1] = [4];

impl Walk {
    fn new(bench: &FollowerBench, code: &Code, bytes: &[u8]) -> Result<Self, Failed> {
        let table = code.table(&[], WordLayout::SPAN_BITS);
        let mut following = bench.start(&table, 0, &[])?;
        let mut walk = Self::default();
        // Slowly, so that nothing is lost.
        for chunk in bytes.chunks(64) {
            following.send(chunk, |said| walk.said(code, &said))?;
            following.rest(|said| walk.said(code, &said))?;
        }
        following.send(&TRACE_ON, |said| walk.said(code, &said))?;
        following.rest(|said| walk.said(code, &said))?;
        walk.lost = following.lost();
        Ok(walk)
    }

    fn said(&mut self, code: &Code, said: &Said) {
        if let Some(block) = &said.block {
            self.blocks += 1;
            if let Some(next) = self.next.filter(|next| *next != block.start) {
                self.wrong.get_or_insert(format!("{next:#x} was to come before {block:x?}"));
            }
            self.next = block.next;
            match expand(code, block) {
                Some(more) => self.addresses.extend(more),
                None => {
                    self.wrong.get_or_insert(format!("{block:x?}: there is no such code"));
                }
            }
            if let (Some(to), Some(kind)) = (block.next, leaves(block.ends)) {
                *self.edges.entry(Edge { from: block.last, to, kind }).or_default() += 1;
            }
        }
        if let Some(cause) = said.gap {
            self.before_gap.get_or_insert(self.addresses.len());
            self.gaps.push(cause);
        }
    }

    /// Compares instructions.
    fn is(&self, wanted: &[u64], what: &str) -> Result<(), Failed> {
        if let Some(wrong) = &self.wrong {
            return Err(format!("{what}: {wrong}").into());
        }
        let found = &self.addresses;
        match (0..found.len().max(wanted.len())).find(|at| found.get(*at) != wanted.get(*at)) {
            None => Ok(()),
            Some(at) => Err(format!(
                "{what}: instruction {at} of {} is {:x?}, not {:x?} (of {}); gaps {:?}",
                found.len(),
                found.get(at),
                wanted.get(at),
                wanted.len(),
                self.gaps,
            )
            .into()),
        }
    }
}

fn leaves(ends: Ends) -> Option<Leaves> {
    match ends {
        Ends::Next | Ends::NoCode => None,
        Ends::Branch => Some(Leaves::Branch),
        Ends::Jump | Ends::Call => Some(Leaves::Jump),
        Ends::Indirect | Ends::IndirectCall | Ends::Return => Some(Leaves::Indirect),
    }
}

/// Walked = executed = what software finds, and so are the edges.
fn same(bench: &FollowerBench, seed: u64, variant: &Variant) -> Result<u64, Failed> {
    let traced = Traced::new(seed, variant, STEPS);
    let what = format!("seed {seed}, {variant:?}");
    let walk = Walk::new(bench, &traced.code, &traced.bytes)?;
    walk.is(&traced.executed(), &what)?;
    walk.is(&traced.software(&traced.bytes).addresses, &what)?;
    let overflows = traced.steps.iter().filter(|step| matches!(step, Step::Overflow)).count();
    let gaps = walk.gaps.iter().filter(|cause| **cause == Cause::TraceLost).count();
    if walk.gaps.len() != gaps || gaps > overflows || walk.lost > 0 {
        return Err(format!("{what}: {:?}, {} lost", walk.gaps, walk.lost).into());
    }
    let mut runs = Runs::new(Edges::default(), Profile::A);
    let mut memory = Memory::new();
    memory.add(traced.program.base, traced.program.bytes.clone(), Spaces::ALL);
    software(&traced.bytes, traced.unit, Arch::V8, &memory, &mut runs);
    let (wanted, found) = (runs.sink.sorted(), walk.edges.into_iter().collect::<Vec<_>>());
    if wanted != found {
        let other = found.iter().zip(&wanted).find(|(a, b)| a != b);
        return Err(format!("{what}: edges differ: {other:x?}").into());
    }
    Ok(walk.addresses.len() as u64)
}

fn variants(wide: bool, devarch: Option<u32>, seed: u64) -> Variant {
    let mut rng = Rng::with_seed(seed);
    let disturbances = Disturbances { contexts: rng.bool(), overflows: rng.bool(), unknown: false };
    let (broadcast, stack) = (seed % 4 == 1, seed.is_multiple_of(2));
    Variant { wide, broadcast, stack, disturbances, devarch, speculation: 0 }
}

/// Programs of each kind.
const PROGRAMS: u64 = 40;

fn executed(wide: bool, devarch: Option<u32>) -> Result<(), Failed> {
    let bench = FollowerBench::etmv4(&config(registers(devarch).config()), &Options::default())?;
    let mut instructions = 0;
    for seed in 0..PROGRAMS {
        instructions += same(&bench, seed, &variants(wide, devarch, seed))?;
    }
    // Otherwise, this does not test what it should.
    if instructions < 10_000 { Err(format!("only {instructions}").into()) } else { Ok(()) }
}

/// The trials of the walker for ETMv4.
pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, wide, devarch) in [
        ("a64", true, None),
        ("a32_t32", false, None),
        ("ete_a64", true, Some(DEVARCH)),
        ("ete_a32_t32", false, Some(DEVARCH)),
    ] {
        let test = move || executed(wide, devarch);
        trials.push(Trial::test(format!("etmv4_walker/{name}"), test).with_ignored_flag(missing));
    }
    trials
}
