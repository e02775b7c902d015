//! The wires between cores and what is attached to them, which are in different models.

use crate::soc::Soc;
use hartrace_hdl_tools::verilate::{Input, Model, Output, SimError, Simulation};

/// How often both sides may change what the other receives within a cycle. Nothing that connectors answer to a core in
/// the same cycle depends on that answer, so that the second time is already the last.
const MOST_ANSWERS: usize = 4;

/// An output of one core, and an input of what is attached.
#[derive(Debug)]
struct Wire {
    core: usize,
    from: Output,
    to: Input,
}

/// An output of what is attached, and an input of a core: one that makes it stand still, or the answer of an
/// interconnect.
#[derive(Debug)]
struct Back {
    from: Output,
    core: usize,
    to: Input,
}

/// The simulation of what is attached to cores, and the wires between them.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) attached: Simulation,
    wires: Vec<Wire>,
    holds: Vec<Back>,
    answers: Vec<Back>,
}

impl Link {
    /// Starts the simulation of what a system attaches to cores of a model; it is in reset.
    pub(crate) fn new(soc: &Soc, model: &Model, seed: u64) -> Result<Self, SimError> {
        let (mut wires, mut holds, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for core in 0..soc.config.top.harts as usize {
            let prefix = format!("hart{core}_");
            for input in soc.attached.inputs() {
                let Some(name) = input.name.strip_prefix(&prefix) else { continue };
                let from = model.output(&format!("{}o", name.trim_end_matches('i')))?;
                wires.push(Wire { core, from, to: soc.attached.input(&input.name)? });
            }
            if soc.config.stalls() {
                let from = soc.attached.output(&format!("{prefix}hold_o"))?;
                holds.push(Back { from, core, to: model.input("hold_i")? });
            }
            for output in soc.attached.outputs() {
                let Some(name) = output.name.strip_prefix(&prefix) else { continue };
                let name = format!("{}i", name.trim_end_matches('o'));
                if soc.config.is_self_hosted()
                    && let Ok(to) = model.input(&name)
                {
                    answers.push(Back { from: soc.attached.output(&output.name)?, core, to });
                }
            }
        }
        Ok(Self { attached: soc.attached.start(seed as u32)?, wires, holds, answers })
    }

    fn pass(&mut self, cores: &[Simulation]) {
        for Wire { core, from, to } in &self.wires {
            self.attached.set_wide(*to, cores[*core].get_wide(*from));
        }
    }

    /// Passes on what an interconnect answers to the cores. It does not depend on what they ask in this cycle.
    pub(crate) fn answer(&mut self, cores: &mut [Simulation]) -> Result<(), SimError> {
        self.attached.settle()?;
        for Back { from, core, to } in &self.answers {
            cores[*core].set(*to, self.attached.get(*from));
        }
        Ok(())
    }

    /// Tells the cores whether to stand still, when all their other inputs are set. Nothing if they never have to.
    pub(crate) fn hold(&mut self, cores: &mut [Simulation]) -> Result<(), SimError> {
        if self.holds.is_empty() {
            return Ok(());
        }
        let mut told: Vec<Option<u64>> = vec![None; self.holds.len()];
        for _ in 0..MOST_ANSWERS {
            cores.iter_mut().try_for_each(Simulation::settle)?;
            self.pass(cores);
            self.attached.settle()?;
            let now: Vec<_> =
                self.holds.iter().map(|hold| Some(self.attached.get(hold.from))).collect();
            if now == told {
                return Ok(());
            }
            for (hold, value) in self.holds.iter().zip(&now) {
                cores[hold.core].set(hold.to, value.unwrap_or(0));
            }
            told = now;
        }
        let message = "a core and its connector make each other change their mind".to_owned();
        Err(SimError::Stopped { message, cycle: self.attached.cycle() })
    }

    /// Called after a clock cycle of the cores: the same cycle of what is attached.
    pub(crate) fn follow(&mut self, cores: &[Simulation]) -> Result<(), SimError> {
        self.pass(cores);
        self.attached.step()
    }

    /// A clock cycle of everything, with the inputs of the cores as they are. Outputs are those before its edge.
    pub(crate) fn step(&mut self, cores: &mut [Simulation]) -> Result<(), SimError> {
        self.hold(cores)?;
        cores.iter_mut().try_for_each(Simulation::step)?;
        self.follow(cores)
    }
}
