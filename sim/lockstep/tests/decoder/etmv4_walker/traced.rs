//! Programs that a model of a trace unit traced, and what software finds in the trace.

use fastrand::Rng;
use hartrace_arm_decoder::block_table::Code;
use hartrace_arm_decoder::{Capture, ElementSink, Etmv4, Event, Layout, Memory, Range};
use hartrace_decoder::StreamPos;
use hartrace_decoder::block_table::WordLayout;
use hartrace_decoder_hdl::etmv4;
use hartrace_decoder_hdl::walker::etmv4::Config;
use hartrace_etmv4::{Config as Unit, Registers};
use hartrace_golden::arm::{Disturbances, Program, Step, etmv4 as model, expected};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::arm::{Arch, Isa, Rules, Spaces};
use hartrace_lockstep::decoder::FollowerBench;
use libtest_mimic::Failed;

/// Instructions of a program.
const LENGTH: usize = 400;

/// ETE 1.0.
pub(super) const DEVARCH: u32 = 0x4770_5a13;

/// The registers of a trace unit: those of an ETMv4 with a return stack, or of an ETE without, that others have traced with,
/// and Q elements.
pub(super) fn registers(devarch: Option<u32>) -> Registers {
    let q = 3 << 15;
    match devarch {
        None => Registers {
            configr: 1 << 11 | 1 << 12,
            idr0: 0x2800_0ea1 | q,
            idr1: 0x4100_f400,
            idr2: 0x0000_0488,
            idr8: 0,
            devarch: None,
        },
        Some(_) => Registers {
            configr: 1 << 11,
            idr0: 0x2800_0ca1 | q,
            idr1: 0x5100_fff0,
            idr2: 0x4000_1088,
            idr8: 0,
            devarch,
        },
    }
}

/// The trace unit whose walker also follows the trace of this one: it may have more than it uses.
pub(super) fn walked_as(unit: Unit) -> Unit {
    Unit {
        q: true,
        return_stack: !unit.is_ete(),
        wfx_branch: false,
        transaction_p0: true,
        timestamp_marker: false,
        ..unit
    }
}

/// Room for the code of others, at any address.
pub(super) const ENTRIES: u32 = 1 << 18;

/// All trials of a protocol have the same walker.
pub(super) fn bench(unit: Unit) -> Result<FollowerBench, Failed> {
    let decoder = etmv4::Config { unit: walked_as(unit), ..etmv4::Config::default() };
    let table = WordLayout { start_bits: 63, ..WordLayout::new(ENTRIES, 0) };
    let config = Config { table, ..Config::new(decoder, ENTRIES) };
    Ok(FollowerBench::etmv4(&config, &Options::default())?)
}

/// A program that was traced.
pub(super) struct Traced {
    pub(super) program: Program,
    pub(super) steps: Vec<Step>,
    pub(super) code: Code,
    pub(super) unit: Unit,
    pub(super) bytes: Vec<u8>,
}

/// What differs from walk to walk.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Variant {
    pub(super) wide: bool,
    pub(super) broadcast: bool,
    pub(super) stack: bool,
    pub(super) disturbances: Disturbances,
    pub(super) devarch: Option<u32>,
    pub(super) speculation: u32,
}

impl Traced {
    pub(super) fn new(seed: u64, variant: &Variant, steps: usize) -> Self {
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
    pub(super) fn executed(&self) -> Vec<u64> {
        let (ranges, _) = expected(&self.program, &self.steps);
        let inside = |(start, end, ..): (u64, u64, u32, bool)| {
            std::iter::successors(Some(start), |at| Some(at + self.size(*at)))
                .take_while(move |at| *at < end)
        };
        ranges.into_iter().flat_map(inside).collect()
    }

    pub(super) fn size(&self, address: u64) -> u64 {
        let code = &self.program.code;
        let at = code.binary_search_by_key(&address, |code| code.address);
        at.map_or(4, |at| code[at].size.into())
    }

    /// What the production decoder finds in these bytes.
    pub(super) fn software(&self, bytes: &[u8]) -> Listing {
        let mut memory = Memory::new();
        memory.add(self.program.base, self.program.bytes.clone(), Spaces::ALL);
        let mut listing = Listing::default();
        software(bytes, self.unit, Arch::V8, &memory, &mut listing);
        listing
    }
}

pub(super) fn software(
    bytes: &[u8],
    unit: Unit,
    arch: Arch,
    memory: &Memory,
    sink: &mut impl ElementSink,
) {
    let capture = Capture::split(Layout::Raw, bytes);
    Etmv4::new(unit, arch, memory).decode(&capture.streams[0], sink);
}

/// The instructions and gaps that software reports.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) addresses: Vec<u64>,
    /// Where ranges start, with their instruction sets.
    pub(super) starts: Vec<(u64, Isa)>,
    pub(super) gaps: usize,
    /// Where the packet is that the first instructions after a gap come from.
    pub(super) resumes: Option<u64>,
}

impl Listing {
    /// Whether code was decoded in another instruction set than it has.
    pub(super) fn is_other(&self, code: &Code) -> bool {
        self.starts.iter().any(|(at, set)| code.insn(*at).is_none_or(|(_, isa)| isa != *set))
    }
}

impl ElementSink for Listing {
    const INSTRUCTIONS: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.starts.push((range.start, range.isa));
        if self.gaps > 0 {
            self.resumes.get_or_insert(at.byte);
        }
    }

    fn instructions(&mut self, _: StreamPos, base: u64, offsets: &[u16]) {
        self.addresses.extend(offsets.iter().map(|offset| base + u64::from(*offset)));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.gaps += usize::from(matches!(event, Event::Fault(_) | Event::NotAccessible { .. }));
    }
}
