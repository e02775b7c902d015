//! Random programs, executed, encoded by the models and decoded again: by our decoder, and by
//! OpenCSD's `trc_pkt_lister` where that is installed (else those tests show as ignored).

use fastrand::Rng;
use hartrace_arm_decoder::{Capture, Etmv4, Event, Layout, Memory, Ptm, Range, Sink};
use hartrace_arm_golden::{Expected, Program, Step, etmv4, expected, ptm};
use hartrace_arm_isa::{Arch, Spaces};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::{self, Command};
use std::{env, fs};

/// Programs per test; a snapshot each where OpenCSD is asked.
const OURS: u64 = 400;
const THEIRS: usize = 12;

fn main() {
    let args = Arguments::from_args();
    // Not by running it: it has no option that does nothing, and leaves a log where it runs.
    let path = env::var_os("PATH").unwrap_or_default();
    let there = env::split_paths(&path).any(|folder| folder.join("trc_pkt_lister").is_file());
    let theirs = |name: &str, make: fn(u64) -> Case| {
        let run = move || {
            let cases = (0..).map(make).filter(|case| !case.theirs_wrong);
            cases.take(THEIRS).try_for_each(|case| case.theirs())
        };
        Trial::test(format!("opencsd_{name}"), run).with_ignored_flag(!there)
    };
    let ours = |name: &str, test: fn(u64) -> Result<(), Failed>| {
        Trial::test(name, move || (0..OURS).try_for_each(test))
    };
    let trials = vec![
        ours("etmv4_a64", |seed| Case::etmv4(seed, true).ours()),
        ours("etmv4_a32_t32", |seed| Case::etmv4(seed, false).ours()),
        ours("ptm", |seed| Case::ptm(seed).ours()),
        theirs("etmv4_a64", |seed| Case::etmv4(seed, true)),
        theirs("etmv4_a32_t32", |seed| Case::etmv4(seed, false)),
        theirs("ptm", Case::ptm),
    ];
    libtest_mimic::run(&args, trials).exit();
}

#[derive(Copy, Clone, Debug)]
enum Registers {
    Etmv4(hartrace_etmv4::Registers),
    Ptm(hartrace_ptm::Registers),
}

struct Case {
    name: &'static str,
    seed: u64,
    registers: Registers,
    program: Program,
    steps: Vec<Step>,
    trace: Vec<u8>,
    /// OpenCSD gets it wrong.
    theirs_wrong: bool,
}

impl Case {
    fn etmv4(seed: u64, wide: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, wide);
        let (start, steps) = program.walk(&mut rng, 1500);
        let speculative = rng.u8(0..3) == 0;
        // What commits nothing by cycle counts may speculate or not; what does has to.
        let commopt = !speculative || rng.bool();
        let (cycles, broadcast, stack) = (rng.bool(), rng.u8(0..4) == 0, rng.bool());
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        let registers = hartrace_etmv4::Registers {
            configr: bit(broadcast, 3) | bit(cycles, 4) | bit(true, 11) | bit(stack, 12),
            idr0: 1 << 5 | 1 << 7 | 1 << 9 | bit(commopt, 29) | 0x0800_0000,
            idr1: 0x4100_f420,
            idr2: 8 << 25 | 0x0000_0488,
            idr8: if speculative { rng.u32(1..100) } else { 0 },
            devarch: None,
        };
        let combine = rng.bool();
        let options = etmv4::Options {
            branch_broadcast: broadcast,
            cycles: cycles.then(|| rng.u32(0..100)),
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
            speculate: speculative && wide,
            combine,
        };
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let registers = Registers::Etmv4(registers);
        let name = if wide { "a64" } else { "a32" };
        // Before 1.4 it loses instructions where elements are committed late. All pop the return
        // stack where an exception tells the target of the branch before: O17.
        let theirs_wrong = speculative || combine && stack;
        Self { name, seed, registers, program, steps, trace, theirs_wrong }
    }

    fn ptm(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, false);
        let (start, steps) = program.walk(&mut rng, 1500);
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        let registers = hartrace_ptm::Registers {
            cr: bit(rng.bool(), 12) | rng.u32(0..4) << 14 | 1 << 28 | bit(rng.bool(), 29),
            idr: 0x411c_f312,
            ccer: 1 << 22 | 1 << 23 | 1 << 28 | bit(rng.bool(), 29),
        };
        let options = ptm::Options {
            branch_broadcast: rng.u8(0..4) == 0,
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
        };
        let config = registers.config();
        let trace = ptm::encode(&config, &options, &program, start, &steps, &mut rng);
        let registers = Registers::Ptm(registers);
        Self { name: "ptm", seed, registers, program, steps, trace, theirs_wrong: false }
    }

    fn compare(&self, found: &[Expected], times: Option<&[u64]>) -> Result<(), Failed> {
        let wanted = expected(&self.program, &self.steps);
        if wanted.len() < 10 && self.steps.len() > 200 {
            return Err(format!("seed {}: hardly anything is expected", self.seed).into());
        }
        if let Some(at) =
            (0..wanted.len().max(found.len())).find(|at| wanted.get(*at) != found.get(*at))
        {
            let (a, b) = (wanted.get(at), found.get(at));
            let (seed, all) = (self.seed, wanted.len());
            return Err(format!(
                "seed {seed}: range {at} of {all} is {b:x?}, not {a:x?}\n{:x?}",
                self.registers
            )
            .into());
        }
        let time = |step: &Step| match step {
            Step::Time(time) => Some(*time),
            _ => None,
        };
        // What comes behind the last instruction whose outcome is told may be missing.
        let traced = |step: &Step| match step {
            Step::Executed(walked) => self.program.is_traced(walked.number),
            Step::Exception { .. } => true,
            Step::Time(_) => false,
        };
        let last = self.steps.iter().rposition(traced).unwrap_or(0);
        let sure: Vec<u64> = self.steps[..last].iter().filter_map(time).collect();
        let sent: Vec<u64> = self.steps.iter().filter_map(time).collect();
        match times {
            Some(times) if !times.starts_with(&sure) || !sent.starts_with(times) => {
                Err(format!("seed {}: times {times:x?}, not {sent:x?}", self.seed).into())
            }
            _ => Ok(()),
        }
    }

    fn ours(&self) -> Result<(), Failed> {
        let mut memory = Memory::new();
        memory.add(self.program.base, self.program.bytes.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &self.trace);
        let stream = &capture.streams[0];
        let mut seen = Seen::default();
        match self.registers {
            Registers::Etmv4(registers) => {
                Etmv4::new(registers.config(), Arch::V8, &memory).decode(stream, &mut seen);
            }
            Registers::Ptm(registers) => {
                Ptm::new(registers.config(), Arch::V7, &memory).decode(stream, &mut seen);
            }
        }
        if !seen.wrong.is_empty() {
            return Err(format!("seed {}: {:x?}", self.seed, seen.wrong).into());
        }
        let exceptions = self.steps.iter().filter(|step| matches!(step, Step::Exception { .. }));
        let exceptions: Vec<u64> = exceptions
            .map(|step| match step {
                Step::Exception { before, .. } => self.program.code[*before].address,
                _ => 0,
            })
            .collect();
        if seen.exceptions != exceptions {
            return Err(format!("seed {}: other exceptions", self.seed).into());
        }
        self.compare(&seen.ranges, Some(&seen.times))
    }

    /// Through a snapshot.
    fn theirs(&self) -> Result<(), Failed> {
        let folder =
            env::temp_dir().join(format!("hartrace-{}-{}-{}", self.name, process::id(), self.seed));
        fs::create_dir_all(&folder)?;
        let result = self.ask(&folder);
        fs::remove_dir_all(&folder)?;
        result
    }

    fn ask(&self, folder: &std::path::Path) -> Result<(), Failed> {
        let (kind, core, registers) = match self.registers {
            Registers::Etmv4(r) => {
                let lines = format!(
                    "TRCCONFIGR={:#x}\nTRCTRACEIDR=0x10\nTRCIDR0={:#x}\nTRCIDR1={:#x}\nTRCIDR2={:#x}\nTRCIDR8={:#x}\n",
                    r.configr, r.idr0, r.idr1, r.idr2, r.idr8
                );
                ("ETM4", "Cortex-A53", lines)
            }
            Registers::Ptm(r) => {
                let lines = format!(
                    "ETMCR={:#x}\nETMIDR={:#x}\nETMCCER={:#x}\nETMTRACEIDR=0x10\n",
                    r.cr, r.idr, r.ccer
                );
                ("PTM1.1", "Cortex-A15", lines)
            }
        };
        let base = self.program.base;
        fs::write(
            folder.join("snapshot.ini"),
            "[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\n[trace]\nmetadata=trace.ini\n",
        )?;
        fs::write(
            folder.join("cpu.ini"),
            format!(
                "[device]\nname=cpu\nclass=core\ntype={core}\n[regs]\nPC=0\n[dump1]\nfile=code.bin\naddress={base:#x}\n"
            ),
        )?;
        fs::write(
            folder.join("etm.ini"),
            format!("[device]\nname=etm\nclass=trace_source\ntype={kind}\n[regs]\n{registers}"),
        )?;
        fs::write(
            folder.join("trace.ini"),
            "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=B\nfile=trace.bin\nformat=source_data\n[source_buffers]\netm=B\n[core_trace_sources]\ncpu=etm\n",
        )?;
        fs::write(folder.join("code.bin"), &self.program.bytes)?;
        fs::write(folder.join("trace.bin"), &self.trace)?;
        let log = folder.join("log.txt");
        let output = Command::new("trc_pkt_lister")
            .current_dir(folder)
            .args(["-ss_dir", ".", "-decode_only", "-logfilename", "log.txt"])
            .output()?;
        let text = fs::read_to_string(&log)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stdout)))?;
        let mut found = Vec::new();
        for line in text.lines() {
            let Some((_, range)) = line.split_once("INSTR_RANGE(exec range=0x") else { continue };
            let parts: Vec<&str> = range
                .split([':', '[', ']', '(', ')', ' '])
                .filter(|part| !part.is_empty())
                .collect();
            let [start, end, "num_i", count, ..] = parts[..] else {
                return Err(format!("not understood: {line}").into());
            };
            let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
            let taken = parts.iter().find(|part| matches!(**part, "E" | "N")) == Some(&"E");
            found.push((hex(start)?, hex(end)?, count.parse()?, taken));
        }
        self.compare(&found, None).map_err(|failed| {
            let tail: Vec<&str> = text.lines().filter(|line| line.contains("ERR")).collect();
            format!("{}\n{tail:?}", failed.message().unwrap_or_default()).into()
        })
    }
}

#[derive(Default)]
struct Seen {
    ranges: Vec<Expected>,
    times: Vec<u64>,
    exceptions: Vec<u64>,
    wrong: Vec<(u64, Event)>,
}

impl Sink for Seen {
    fn range(&mut self, _: u64, range: &Range) {
        self.ranges.push((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, at: u64, event: Event) {
        match event {
            Event::Timestamp { value, .. } => self.times.push(value),
            Event::Exception { returns, .. } => self.exceptions.push(returns.unwrap_or(0)),
            Event::Fault(_) | Event::NotAccessible { .. } => self.wrong.push((at, event)),
            Event::NoSync(lost) if lost != hartrace_arm_decoder::Lost::Start => {
                self.wrong.push((at, event));
            }
            _ => {}
        }
    }
}
