//! Traces of random programs, of programs that QEMU runs, if it is installed, and captures of real cores, if `HARTRACE_DATA` names
//! their folder.

use crate::library::Unit;
use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use fastrand::Rng;
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::snapshot::{Device, Snapshot};
use hartrace_encap::coresight::Mode;
use hartrace_executions::qemu::{ArmCause, ArmStep, Qemu};
use hartrace_golden::arm::{Program, etmv4, ptm};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

/// Number of instructions of a random walk, and maximum number of a program.
const WALK: usize = 2_000_000;
const RUN: u64 = 10_000_000;

/// How often a capture follows itself: they are short.
const REPEAT: usize = 50;

/// Memory: addresses with their content.
pub(crate) type Segments = Vec<(u64, Vec<u8>)>;

/// A trace with everything that is needed to decode it.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    /// Suffix of the names of its ratios.
    pub(crate) suffix: &'static str,
    pub(crate) unit: Unit,
    pub(crate) trace: Vec<u8>,
    /// The program; without it, only packets are compared.
    pub(crate) memory: Option<Segments>,
}

impl Input {
    pub(crate) fn protocol(&self) -> &'static str {
        match self.unit {
            Unit::Etmv4(_) => "etmv4",
            Unit::Ptm(_) => "ptm",
        }
    }
}

/// All available traces. Reports those that cannot be created.
pub(crate) fn all() -> Vec<Input> {
    let mut all = vec![random_etmv4(), random_ptm()];
    for run in [run_etmv4(), run_ptm()] {
        match run {
            Ok(input) => all.push(input),
            Err(error) => println!("without a program that QEMU runs: {error}"),
        }
    }
    for capture in [captured_etmv4(), captured_ptm()] {
        match capture {
            Ok(input) => all.push(input),
            Err(error) => println!("without a capture of a real core: {error}"),
        }
    }
    all
}

/// A range has two instructions on average, which is shorter than in real programs, and every few
/// packets are of an exception.
fn random_etmv4() -> Input {
    let mut rng = Rng::with_seed(1);
    let program = Program::random(&mut rng, 4000, true);
    let (start, steps) = program.walk(&mut rng, WALK);
    let registers = etmv4_registers(0x800);
    let options = etmv4::Options {
        branch_broadcast: false,
        cycles: None,
        return_depth: 16,
        period: 4096,
        combine: true,
        speculate: false,
    };
    let trace = etmv4::encode(&registers.config(), &options, &program, start, &steps, &mut rng);
    let memory = Some(vec![(program.base, program.bytes)]);
    Input { name: "ETMv4, random A64", suffix: "", unit: etmv4_unit(&registers), trace, memory }
}

fn random_ptm() -> Input {
    let mut rng = Rng::with_seed(1);
    let program = Program::random(&mut rng, 4000, false);
    let (start, steps) = program.walk(&mut rng, WALK);
    let registers = ptm_registers(0x1000_0000);
    let options = ptm::Options { branch_broadcast: false, return_depth: 16, period: 4096 };
    let trace = ptm::encode(&registers.config(), &options, &program, start, &steps, &mut rng);
    let memory = Some(vec![(program.base, program.bytes)]);
    Input { name: "PTM, random A32 and T32", suffix: "", unit: ptm_unit(&registers), trace, memory }
}

/// Without return stack, as Linux configures trace units: more addresses are sent.
fn run_etmv4() -> Result<Input, Box<dyn Error>> {
    let registers = etmv4_registers(0);
    let options = etmv4::Options {
        branch_broadcast: false,
        cycles: None,
        return_depth: 0,
        period: 4096,
        combine: false,
        speculate: false,
    };
    let mut unit = etmv4::Unit::new(&registers.config(), &options, None);
    let memory = run("long-a64", |step| match step {
        ArmStep::Executed { executed, .. } => unit.executed(executed),
        ArmStep::Exception { cause, returns } => {
            unit.exception(if *cause == ArmCause::Call { 2 } else { 12 }, *returns, None);
        }
    })?;
    let (unit, trace) = (etmv4_unit(&registers), unit.finish()?);
    Ok(Input { name: "ETMv4, A64 in QEMU", suffix: "_qemu", unit, trace, memory: Some(memory) })
}

fn run_ptm() -> Result<Input, Box<dyn Error>> {
    let registers = ptm_registers(0);
    let options = ptm::Options { branch_broadcast: false, return_depth: 0, period: 4096 };
    let mut unit = ptm::Unit::new(&registers.config(), &options, None);
    let memory = run("long-mixed", |step| match step {
        ArmStep::Executed { executed, .. } => unit.executed(executed),
        ArmStep::Exception { cause, .. } => {
            unit.exception(if *cause == ArmCause::Call { 10 } else { 12 }, None);
        }
    })?;
    let (unit, trace) = (ptm_unit(&registers), unit.finish()?);
    Ok(Input {
        name: "PTM, A32 and T32 in QEMU",
        suffix: "_qemu",
        unit,
        trace,
        memory: Some(memory),
    })
}

/// `uname` on a Juno board, the busiest of its cores. Each core has code of its own, so only packets are compared.
fn captured_etmv4() -> Result<Input, Box<dyn Error>> {
    let (device, trace) = captured("etmv4/juno-uname-002", "TRCTRACEIDR")?;
    let [configr, idr0, idr1, idr2, idr8] =
        ["TRCCONFIGR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8"]
            .map(|name| register(&device, name));
    let registers = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch: None };
    let unit = etmv4_unit(&registers);
    Ok(Input { name: "ETMv4, Juno", suffix: "_juno", unit, trace, memory: None })
}

/// A TC2 board.
fn captured_ptm() -> Result<Input, Box<dyn Error>> {
    let (device, trace) = captured("ptm/TC2", "ETMTRACEIDR")?;
    let [cr, idr, ccer] = ["ETMCR", "ETMIDR", "ETMCCER"].map(|name| register(&device, name));
    let unit = ptm_unit(&hartrace_ptm::Registers { cr, idr, ccer });
    Ok(Input { name: "PTM, TC2", suffix: "_tc2", unit, trace, memory: None })
}

/// The trace source of a snapshot that has sent most, and what it has sent, several times.
fn captured(snapshot: &str, id: &str) -> Result<(Device, Vec<u8>), Box<dyn Error>> {
    let data = std::env::var_os("HARTRACE_DATA").ok_or("HARTRACE_DATA is not set")?;
    let snapshot = Snapshot::open(&Path::new(&data).join("coresight").join(snapshot))?;
    let bytes = snapshot.bytes(snapshot.buffer(None)?).read()?;
    let Capture { streams, .. } = Capture::split(Layout::Frames(Mode::Aligned), &bytes);
    let stream = streams.into_iter().max_by_key(|stream| stream.bytes.len()).ok_or("empty")?;
    let is_source = |device: &Device| device.register(id) == Some(stream.id.into());
    let device = snapshot.devices.into_iter().find(is_source).ok_or("no such source")?;
    Ok((device, stream.bytes.repeat(REPEAT)))
}

fn register(device: &Device, name: &str) -> u32 {
    device.register(name).unwrap_or_default() as u32
}

/// Runs one of the programs of the tests; returns its memory.
fn run(program: &str, mut each: impl FnMut(&ArmStep)) -> Result<Segments, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf/arm");
    let path = folder.join(program).with_extension("elf");
    let mut count = 0;
    Qemu::new()?.silent().run_arm(&path, &[], |step| {
        each(step);
        count += 1;
        if count < RUN { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let bytes = std::fs::read(&path)?;
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes)?;
    let segments = file.segments().ok_or("no segments")?.iter();
    let segments = segments.filter(|segment| segment.p_type == PT_LOAD && segment.p_filesz > 0);
    segments.map(|segment| Ok((segment.p_vaddr, file.segment_data(&segment)?.to_vec()))).collect()
}

fn etmv4_registers(configr: u32) -> hartrace_etmv4::Registers {
    let (idr0, idr1, idr2) = (0x2800_02a0, 0x4100_f420, 0x1000_0488);
    hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8: 0, devarch: None }
}

fn etmv4_unit(registers: &hartrace_etmv4::Registers) -> Unit {
    let hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, .. } = *registers;
    Unit::Etmv4([idr0, idr1, idr2, idr8, configr])
}

fn ptm_registers(cr: u32) -> hartrace_ptm::Registers {
    hartrace_ptm::Registers { cr, idr: 0x411c_f312, ccer: 0x30c0_0000 }
}

fn ptm_unit(registers: &hartrace_ptm::Registers) -> Unit {
    Unit::Ptm([registers.idr, registers.cr, registers.ccer])
}
