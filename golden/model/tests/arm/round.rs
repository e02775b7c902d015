//! Random programs, executed, encoded by the models and decoded again: by our decoder, and by
//! OpenCSD's `trc_pkt_lister` where that is installed (else those tests show as ignored).

mod opencsd;
mod seen;

use fastrand::Rng;
use hartrace_arm_decoder::{Capture, Etmv4, Layout, Memory, Ptm, list_etmv4, list_ptm};
use hartrace_golden::arm::{Disturbances, Expected, Ids, Program, Step, etmv4, expected, ptm};
use hartrace_isa::arm::{Arch, Spaces};
use libtest_mimic::{Arguments, Failed, Trial};
use opencsd::Registers;
use seen::Seen;
use std::collections::BTreeSet;

/// Programs per test; each needs a snapshot if OpenCSD decodes it.
const OURS: u64 = 400;
const THEIRS: usize = 40;

fn main() {
    let args = Arguments::from_args();
    let there = opencsd::is_there();
    let theirs = |name: &str, make: fn(u64) -> Case| {
        let run = move || read_by_them(make).try_for_each(|case| case.theirs());
        Trial::test(format!("opencsd_{name}"), run).with_ignored_flag(!there)
    };
    let ours = |name: &str, test: fn(u64) -> Result<(), Failed>| {
        Trial::test(name, move || (0..OURS).try_for_each(test))
    };
    let trials = vec![
        ours("etmv4_a64", |seed| Case::etmv4(seed, true).ours()),
        ours("etmv4_a32_t32", |seed| Case::etmv4(seed, false).ours()),
        ours("ete_a64", |seed| Case::ete(seed, true).ours()),
        ours("ete_a32_t32", |seed| Case::ete(seed, false).ours()),
        ours("ptm", |seed| Case::ptm(seed).ours()),
        Trial::test("every_packet_occurs", every_packet_occurs),
        theirs("etmv4_a64", |seed| Case::etmv4(seed, true)),
        theirs("etmv4_a32_t32", |seed| Case::etmv4(seed, false)),
        theirs("ete_a64", |seed| Case::ete(seed, true)),
        theirs("ete_a32_t32", |seed| Case::ete(seed, false)),
        theirs("ptm", Case::ptm),
        Trial::test("opencsd_speculation", || {
            let cases = (0..).map(|seed| Case::etmv4(seed, seed % 2 == 0));
            let cases = cases.filter(|case| !case.theirs_wrong && case.speculates());
            cases.take(THEIRS).try_for_each(|case| case.theirs())
        })
        .with_ignored_flag(!there),
    ];
    libtest_mimic::run(&args, trials).exit();
}

/// Cases that OpenCSD gets right.
fn read_by_them(make: fn(u64) -> Case) -> impl Iterator<Item = Case> {
    (0..).map(make).filter(|case| !case.theirs_wrong).take(THEIRS)
}

/// Packets that the models must send and OpenCSD must read.
const READ: [&str; 24] = [
    "I_OVERFLOW",
    "I_CTXT",
    "I_EXCEPT",
    "I_EXCEPT_RTN",
    "I_TIMESTAMP",
    "I_CCNT_F1",
    "I_CCNT_F2",
    "I_CCNT_F3",
    "I_Q",
    "I_SRC_ADDR_MATCH",
    "I_SRC_ADDR_S_IS0",
    "I_SRC_ADDR_S_IS1",
    "I_ATOM_F6",
    "I_EVENT",
    "CTXTID",
    "VMID",
    "WP_UPDATE",
    "TIMESTAMP",
    "I_COMMIT",
    "I_CANCEL_F1",
    "I_CANCEL_F1_MISPRED",
    "I_CANCEL_F2",
    "I_CANCEL_F3",
    "I_MISPREDICT",
];

/// The tests cover all of them.
fn every_packet_occurs() -> Result<(), Failed> {
    let mut theirs = BTreeSet::new();
    let makes: [fn(u64) -> Case; 4] = [
        |seed| Case::etmv4(seed, true),
        |seed| Case::ete(seed, true),
        |seed| Case::ete(seed, false),
        Case::ptm,
    ];
    for make in makes {
        theirs.extend(read_by_them(make).flat_map(|case| case.packets()));
    }
    match READ.iter().find(|name| !theirs.contains(**name)) {
        Some(name) => Err(format!("no {name} in any trace").into()),
        None => Ok(()),
    }
}

struct Case {
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
        Self::new(seed, wide, None)
    }

    fn ete(seed: u64, wide: bool) -> Self {
        Self::new(seed, wide, Some(0x4770_5a13))
    }

    fn new(seed: u64, wide: bool, devarch: Option<u32>) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, wide);
        let (start, steps) = program.walk(&mut rng, 1500);
        let disturbances =
            Disturbances { contexts: rng.bool(), overflows: rng.bool(), unknown: rng.bool() };
        let steps = program.disturb(&mut rng, &steps, &disturbances);
        let speculative = rng.u8(0..3) == 0;
        // A unit whose cycle counts do not commit may speculate or not; one whose counts commit
        // must speculate.
        let commopt = !speculative || rng.bool();
        let (cycles, broadcast, stack) = (rng.bool(), rng.u8(0..4) == 0, rng.bool());
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        let registers = hartrace_etmv4::Registers {
            configr: bit(broadcast, 3) | bit(cycles, 4) | bit(true, 11) | bit(stack, 12),
            idr0: 1 << 5 | 1 << 7 | 1 << 9 | 3 << 15 | bit(commopt, 29) | 0x0800_0000,
            idr1: 0x4100_f420,
            idr2: 8 << 25 | 0x0000_0488,
            idr8: if speculative { rng.u32(1..100) } else { 0 },
            devarch,
        };
        let combine = rng.bool();
        let options = etmv4::Options {
            branch_broadcast: broadcast,
            cycles: cycles.then(|| rng.u32(0..100)),
            return_depth: rng.usize(1..17),
            period: rng.usize(20..400),
            speculate: speculative,
            combine,
        };
        let config = registers.config();
        let trace = etmv4::encode(&config, &options, &program, start, &steps, &mut rng);
        let registers = Registers::Etmv4(registers);
        // With speculation, 1.3.3 does not commit by cycle counts, and is wrong about Q elements
        // and some returns (docs/design/coresight.md). All versions pop the return stack where an
        // exception reports the target of the preceding branch (O17), and none does for a source
        // address (O15).
        let commits = cycles && !commopt;
        let theirs_wrong = speculative && (commits || stack || disturbances.unknown)
            || combine && stack
            || devarch.is_some() && stack;
        Self { seed, registers, program, steps, trace, theirs_wrong }
    }

    fn ptm(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let program = Program::random(&mut rng, 400, false);
        let (start, steps) = program.walk(&mut rng, 1500);
        let disturbances =
            Disturbances { contexts: rng.bool(), overflows: rng.bool(), unknown: false };
        let steps = program.disturb(&mut rng, &steps, &disturbances);
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
        Self { seed, registers, program, steps, trace, theirs_wrong: false }
    }

    /// Whether elements are sent that may be cancelled.
    fn speculates(&self) -> bool {
        matches!(self.registers, Registers::Etmv4(registers) if registers.idr8 > 0)
    }

    /// The packets of the trace.
    fn packets(&self) -> Vec<&'static str> {
        let capture = Capture::split(Layout::Raw, &self.trace);
        let records = match self.registers {
            Registers::Etmv4(registers) => list_etmv4(&capture.streams[0], &registers.config()),
            Registers::Ptm(registers) => list_ptm(&capture.streams[0], &registers.config()),
        };
        records.iter().map(|record| record.name).collect()
    }

    fn compare(&self, found: &[Expected], times: Option<&[u64]>) -> Result<(), Failed> {
        let (wanted, _) = expected(&self.program, &self.steps);
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
        let sure: Vec<u64> = self.steps[..self.last_told()].iter().filter_map(time).collect();
        let sent: Vec<u64> = self.steps.iter().filter_map(time).collect();
        match times {
            Some(times) if !times.starts_with(&sure) || !sent.starts_with(times) => {
                Err(format!("seed {}: times {times:x?}, not {sent:x?}", self.seed).into())
            }
            _ => Ok(()),
        }
    }

    /// The last step that is reported; later ones may be missing.
    fn last_told(&self) -> usize {
        let told = |step: &Step| match step {
            Step::Executed(walked) => self.program.is_traced(walked.number),
            Step::Exception { .. } => true,
            _ => false,
        };
        self.steps.iter().rposition(told).unwrap_or(0)
    }

    fn ours(&self) -> Result<(), Failed> {
        let mut memory = Memory::new();
        memory.add(self.program.base, self.program.bytes.clone(), Spaces::ALL);
        let capture = Capture::split(Layout::Raw, &self.trace);
        let stream = &capture.streams[0];
        let ptm = matches!(self.registers, Registers::Ptm(_));
        let mut seen = Seen { ptm, ..Seen::default() };
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
        if seen.gaps != expected(&self.program, &self.steps).1 {
            let wanted = expected(&self.program, &self.steps).1;
            let at = (0..).find(|at| wanted.get(*at) != seen.gaps.get(*at)).unwrap_or(0);
            let (found, right) = (seen.gaps.get(at), wanted.get(at));
            return Err(format!("seed {}: gap {at} {found:x?}, not {right:x?}", self.seed).into());
        }
        let overflows =
            |steps: &[Step]| steps.iter().filter(|s| matches!(s, Step::Overflow)).count();
        let sure = overflows(&self.steps[..self.last_told()]);
        if !(sure..=overflows(&self.steps)).contains(&seen.overflows) {
            return Err(format!("seed {}: {} overflows", self.seed, seen.overflows).into());
        }
        self.contexts(&seen.contexts)?;
        self.cycles(&seen.cycles)?;
        self.compare(&seen.ranges, Some(&seen.times))
    }

    /// Checks the number of cycles up to the instructions that were reported before. `None` means
    /// unknown.
    fn cycles(&self, seen: &[(u64, Option<u32>)]) -> Result<(), Failed> {
        let lost = |step: &Step| matches!(step, Step::Overflow | Step::Unknown { .. });
        if self.steps.iter().any(lost) {
            // The number of instructions is not reported.
            return Ok(());
        }
        let (mut passed, mut now) = (vec![0], 0);
        for step in &self.steps {
            match step {
                Step::Executed(_) => {
                    now += 1;
                    passed.push(now);
                }
                Step::Stall(cycles) => now += u64::from(*cycles),
                _ => {}
            }
        }
        let mut told = 0;
        for (instructions, cycles) in seen {
            let right = passed[*instructions as usize];
            told += cycles.map_or(right - told, u64::from);
            if told != right {
                let seed = self.seed;
                return Err(format!("seed {seed}: {told} cycles, not {right}").into());
            }
        }
        Ok(())
    }

    /// Checks the processes that ran, one after the other. The last may be missing if none of it is
    /// reported.
    fn contexts(&self, seen: &[Ids]) -> Result<(), Failed> {
        let (has_context, has_vmid) = match self.registers {
            Registers::Etmv4(_) => (u32::MAX, 0xff),
            Registers::Ptm(registers) => match registers.config().context_id_bytes {
                0 => (0, 0xff),
                bytes => (u32::MAX >> (32 - 8 * u32::from(bytes)), 0xff),
            },
        };
        let ids = self.steps.iter().filter_map(|step| match step {
            Step::Context(ids) => Some(*ids),
            _ => None,
        });
        let mut ids: Vec<Ids> = std::iter::once(Ids::default())
            .chain(ids)
            .map(|ids| Ids { context: ids.context & has_context, vmid: ids.vmid & has_vmid })
            .collect();
        if let Registers::Ptm(_) = self.registers {
            // One after the other.
            let first = ids.windows(2).map(|two| Ids { vmid: two[0].vmid, ..two[1] });
            let first: Vec<Ids> = first.collect();
            let both = first.into_iter().zip(&ids[1..]).flat_map(|(first, then)| [first, *then]);
            ids = std::iter::once(ids[0]).chain(both).collect();
        }
        ids.dedup();
        let mut seen = seen.to_vec();
        seen.dedup();
        if ids.starts_with(&seen) && seen.len() + 1 >= ids.len() {
            return Ok(());
        }
        Err(format!("seed {}: {seen:?}, not {ids:?}", self.seed).into())
    }

    fn theirs(&self) -> Result<(), Failed> {
        let mut found = Vec::new();
        let memory = [(self.program.base, self.program.bytes.clone())];
        let errors = opencsd::decode(&self.registers, &memory, &self.trace, |range| {
            found.push(range);
            Ok(())
        })?;
        self.compare(&found, None).map_err(|failed| {
            format!("{}\n{errors:?}", failed.message().unwrap_or_default()).into()
        })
    }
}
