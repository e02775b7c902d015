//! A compressor in simulation.

use super::stimuli::Stimulus;
use hartrace_compressors::Bits;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::{Design, Input, Model, Options, Output, SimError, Simulation};
use libtest_mimic::Failed;
use thiserror::Error;

/// More cycles than a compressor may need without accepting or sending anything: tables have to be cleared.
const PATIENCE: u64 = 5_000;

/// The RTL of a compressor.
pub(super) struct Bench {
    model: Model,
    ports: Ports,
}

struct Ports {
    itype: Input,
    iaddr: Input,
    iretire: Input,
    flush: Input,
    ready: Input,
    stall: Output,
    empty: Output,
    valid: Output,
    data: Output,
    len: Output,
}

/// Hardware and software differ.
#[derive(Debug, Error)]
pub(super) enum Difference {
    /// Other bits.
    #[error("{len} bits behind {at} of {all}: {found:032b}, not {expected:032b}")]
    Bits { at: u64, len: u64, all: u64, found: u32, expected: u32 },
    /// Fewer bits.
    #[error("{found} bits, not {expected}")]
    Missing { found: u64, expected: u64 },
    /// Nothing happens.
    #[error("stuck behind row {row}")]
    Stuck { row: usize },
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl Bench {
    pub(super) fn new(design: impl Into<Design>) -> Result<Self, Failed> {
        let model = Model::build(design, &Options::default())?;
        let sim = model.start(1)?;
        let ports = Ports {
            itype: sim.input("itype_i")?,
            iaddr: sim.input("iaddr_i")?,
            iretire: sim.input("iretire_i")?,
            flush: sim.input("flush_i")?,
            ready: sim.input("ready_i")?,
            stall: sim.output("stall_o")?,
            empty: sim.output("empty_o")?,
            valid: sim.output("valid_o")?,
            data: sim.output("data_o")?,
            len: sim.output("len_o")?,
        };
        Ok(Self { model, ports })
    }

    /// Compares every bit, and returns the cycles in which the hart had to wait, but not for tables to be cleared.
    pub(super) fn compare(&mut self, of: &Stimulus, seed: u64) -> Result<u64, Difference> {
        self.compare_mutant(of, seed, None)
    }

    /// The same with a mistake in the RTL.
    pub(super) fn compare_mutant(
        &mut self,
        of: &Stimulus,
        seed: u64,
        mutant: Option<u64>,
    ) -> Result<u64, Difference> {
        let mut at = 0;
        let stalled = self.run(of, seed, mutant, |len, word| {
            check(&of.bits, at, len, word)?;
            at += len;
            Ok(())
        })?;
        match at == of.bits.len() {
            true => Ok(stalled),
            false => Err(Difference::Missing { found: at, expected: of.bits.len() }),
        }
    }

    /// What the hardware sends.
    pub(super) fn bits(&mut self, of: &Stimulus, seed: u64) -> Result<Bits, Difference> {
        let mut bits = Bits::default();
        self.run(of, seed, None, |len, word| {
            let word = u32::from_be_bytes(word) >> 32_u64.saturating_sub(len);
            bits.put(word.into(), len as u32);
            Ok(())
        })?;
        Ok(bits)
    }

    /// Passes on every word, the number of its bits first, and returns the cycles in which the hart had to wait.
    fn run(
        &mut self,
        of: &Stimulus,
        seed: u64,
        mutant: Option<u64>,
        mut word: impl FnMut(u64, [u8; 4]) -> Result<(), Difference>,
    ) -> Result<u64, Difference> {
        let Stimulus { rows, idle, back_pressure, flushes, .. } = of;
        let ports = &self.ports;
        let mut sim = self.model.start(seed as u32 + 1)?;
        if let Some(mutant) = mutant {
            let chosen = sim.input("mutant_i")?;
            sim.set(chosen, mutant);
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        ports.drive(&mut sim, None);
        sim.set(ports.flush, 0);
        sim.set(ports.ready, 0);
        sim.reset()?;
        let (mut at, mut stalled, mut quiet) = (0, 0, 0);
        let mut waiting = false;
        loop {
            // A row that has to wait stays.
            waiting |= at < rows.len() && rng.u32(..1000) >= *idle;
            ports.drive(&mut sim, rows.get(at).filter(|_| waiting));
            let ready = rng.u32(..1000) >= *back_pressure;
            sim.set(ports.ready, ready.into());
            let flush = at == rows.len() || (*flushes && !waiting && rng.u8(..16) == 0);
            sim.set(ports.flush, flush.into());
            sim.step()?;
            quiet += 1;
            if waiting && sim.get(ports.stall) == 0 {
                (at, waiting, quiet) = (at + 1, false, 0);
            } else if waiting && at > 0 {
                stalled += 1;
            }
            if ready && sim.get(ports.valid) == 1 {
                word(sim.get(ports.len), (sim.get(ports.data) as u32).to_le_bytes())?;
                quiet = 0;
            } else if at == rows.len() && quiet > 1 && sim.get(ports.empty) == 1 {
                return Ok(stalled);
            }
            if quiet > PATIENCE {
                return Err(Difference::Stuck { row: at });
            }
        }
    }
}

/// Compares the bits of a word, which is full unless it was flushed; bits behind them are zero.
fn check(bits: &Bits, at: u64, len: u64, found: [u8; 4]) -> Result<(), Difference> {
    let all = bits.len();
    let expected = (at..at + len).map(|bit| {
        let byte = bits.bytes().get((bit / 8) as usize).copied().unwrap_or_default();
        u32::from(byte >> (7 - bit % 8) & 1)
    });
    let expected = expected.zip((0..32).rev()).fold(0, |word, (bit, place)| word | bit << place);
    let found = u32::from_be_bytes(found);
    match at + len <= all && found == expected && len > 0 {
        true => Ok(()),
        false => Err(Difference::Bits { at, len, all, found, expected }),
    }
}

impl Ports {
    fn drive(&self, sim: &mut Simulation, row: Option<&Retired>) {
        let (itype, iretire) = row.map_or((0, 0), |row| (row.itype.raw(), row.iretire));
        sim.set(self.itype, itype.into());
        sim.set(self.iretire, iretire.into());
        if let Some(row) = row {
            sim.set(self.iaddr, row.iaddr);
        }
    }
}
