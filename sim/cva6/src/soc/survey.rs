//! A run without tracing, which shows what a decoder has to know about a program and what tracing
//! must not change.

use crate::soc::run::{Job, Shape};
use crate::soc::{Soc, SocError};
use crate::{Commit, Event, Run};
use hartrace_decoder::Image;
use hartrace_etrace::Ioptions;
use hartrace_hdl_tools::verilate::Model;
use hartrace_isa::{Isa, Xlen};
use std::collections::{BTreeMap, BTreeSet};

/// Observations of a program that ran without tracing.
#[derive(Debug)]
pub struct Survey {
    /// How it ran.
    pub run: Run,
    /// Its code: what is loaded, and what was executed elsewhere, such as at virtual addresses.
    pub image: Image,
    /// Contents of the trap vector registers by privilege; `None` if they changed between traps.
    pub tvec: Option<Vec<(u8, u64)>>,
    /// Number of instructions that differ from what was loaded: the program has changed them.
    pub changed: u64,
}

/// Targets of the traps to one privilege level.
#[derive(Default)]
struct Vectors {
    exceptions: BTreeSet<u64>,
    /// With their causes.
    interrupts: BTreeSet<(u64, u64)>,
}

impl Vectors {
    /// The value of the register, if a single one explains all targets.
    fn register(&self) -> Option<u64> {
        let plain: BTreeSet<u64> = self.interrupts.iter().map(|(_, target)| *target).collect();
        let direct: BTreeSet<u64> = self.exceptions.union(&plain).copied().collect();
        if direct.len() == 1 {
            return direct.first().copied();
        }
        let base = self.interrupts.iter().map(|(cause, target)| target.wrapping_sub(4 * cause));
        let vectored: BTreeSet<u64> = self.exceptions.iter().copied().chain(base).collect();
        if vectored.len() == 1 { vectored.first().map(|base| base | 1) } else { None }
    }
}

impl Survey {
    /// Runs a program on one core of 64 bits with nothing attached: [`Core::model`](crate::Core::model).
    ///
    /// # Errors
    ///
    /// If it cannot be loaded, or the simulation fails.
    pub fn alone(model: &Model, job: &Job) -> Result<Self, SocError> {
        Self::new(model, job, (1, Xlen::Rv64, false))
    }

    /// The trap vectors that a decoder needs with these modes.
    ///
    /// # Errors
    ///
    /// If it needs them, but the program changes them.
    pub fn tvec(&self, modes: &Ioptions) -> Result<Vec<(u8, u64)>, SocError> {
        match (&self.tvec, modes.implicit_exception) {
            (_, false) => Ok(Vec::new()),
            (Some(tvec), true) => Ok(tvec.clone()),
            (None, true) => {
                let what = "the program changes its trap vectors, which implicit exceptions need";
                Err(SocError::Mode(what.to_owned()))
            }
        }
    }

    fn new(model: &Model, job: &Job, shape @ (harts, xlen, _): Shape) -> Result<Self, SocError> {
        let mut platform = job.platform(model, shape)?;
        let mut image = Image::new(Isa::new(xlen));
        image.add_elf(&job.elf, 0)?;
        for (address, bytes) in &job.memory {
            image.add(*address, bytes);
        }
        let mut elsewhere: BTreeMap<u64, (u32, u8)> = BTreeMap::new();
        let mut vectors: BTreeMap<u8, Vectors> = BTreeMap::new();
        let mut trap: Vec<Option<Commit>> = vec![None; harts];
        let mut changed = 0;
        let run = platform.run(job.limit, &mut |commit: &Commit| {
            if commit.debug {
                return;
            }
            // The target of a trap is known only with the next commit.
            if let Some(trap) = trap[usize::from(commit.hart)].take() {
                let to = vectors.entry(commit.privilege.0).or_default();
                match trap.event {
                    Event::Interrupt => drop(to.interrupts.insert((trap.cause, trap.target))),
                    _ => drop(to.exceptions.insert(trap.target)),
                }
            }
            match commit.event {
                Event::Retired => match image.encoding(commit.pc) {
                    None => drop(elsewhere.insert(commit.pc, (commit.insn, commit.size))),
                    Some(loaded) => changed += u64::from(loaded != commit.insn),
                },
                Event::Exception | Event::Interrupt => {
                    trap[usize::from(commit.hart)] = Some(*commit);
                }
                Event::Debug => {}
            }
        })?;
        for (address, (insn, size)) in elsewhere {
            image.add(address, &insn.to_le_bytes()[..size.into()]);
        }
        let registers = vectors.iter().map(|(level, to)| Some((*level, to.register()?)));
        Ok(Survey { run, tvec: registers.collect(), image, changed })
    }
}

impl Soc {
    /// Runs a program on the cores alone.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded, or the simulation fails.
    pub fn survey(&self, job: &Job) -> Result<Survey, SocError> {
        Survey::new(&self.core, job, self.shape())
    }
}
