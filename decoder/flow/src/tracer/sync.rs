//! Format 3: synchronisations, traps, and changes of the modes.

use super::Tracer;
use super::state::{Announced, Held, Latest, Reference, State};
use crate::blocks::Exit;
use crate::endings::Session;
use crate::event::{Event, Fault, StreamPos};
use crate::run::NONE;
use crate::sink::{Rarely, Sink};
use crate::time::Time;
use crate::walk::Goal;
use hartrace_etrace::{Compat, Payload, QualStatus, Start, Support, Trap};
use hartrace_isa::{Kind, Link};

impl Tracer<'_> {
    /// Format 3, subformat 3.
    pub(super) fn support(&mut self, at: StreamPos, p: &Support, sink: &mut Rarely<'_>) {
        let result = match (p.qual_status, self.undecided) {
            (QualStatus::EndedNtr, Some(undecided)) if self.state == State::On => {
                self.decide(at, undecided, sink)
            }
            _ => Ok(()),
        };
        self.leave_history(at, p, sink);
        let restarts = self.session.restarts(self.state == State::On, self.options, p);
        self.set_options(p.ioptions);
        self.undecided = None;
        if p.qual_status != QualStatus::NoChange || !p.ienable {
            if let Err(fault) = result {
                self.fault(at, fault, sink);
            }
            self.forget();
            self.state = State::Off;
            self.announced = Announced::Off;
            self.reference = Reference::Lost;
            sink.event(at, Event::Off(p.qual_status));
        }
        if restarts {
            sink.event(at, Event::Restart);
        }
    }

    /// Format 3, subformat 1.
    pub(super) fn trap(
        &mut self,
        at: StreamPos,
        p: &Trap,
        sink: &mut Rarely<'_>,
    ) -> Result<(), Fault> {
        let address = p.address.map(|field| self.unshift(field));
        if self.options.history_prediction {
            return self.trap_with_history(at, p, address, sink);
        }
        let epc = self.epc(p, address);
        let (cause, interrupt, tval) = (p.ecause, p.interrupt, p.tval);
        sink.event(at, Event::Trap { cause, interrupt, tval, epc });
        // D17: a branch that was reported before the trap belongs to the interrupted program.
        self.walk.outcomes.clear();
        self.undecided = None;
        if !p.thaddr {
            if let Some(address) = address {
                self.reference = Reference::Known(address);
            }
            self.latest = Latest::Trapped;
            self.reset_tables();
            return Ok(());
        }
        let address = match address {
            Some(address) => address,
            None => self.vector(p)?,
        };
        self.enter(at, p.context, p.time);
        let insn = self.programs.code.blocks.insn(address)?;
        self.config.check_branch(address, insn, p.branch)?;
        if insn.is_branch() {
            self.walk.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
        self.context(at, (p.privilege, p.context, p.time), sink);
        self.emit_pc(at, sink);
        Ok(())
    }

    /// Spec: E-Trace 2.0, 3.2.3: the handler's address follows from the cause.
    pub(super) fn vector(&self, p: &Trap) -> Result<u64, Fault> {
        let entry = self.config.tvec.iter().find(|(level, _)| *level == p.privilege);
        let (_, tvec) = entry.ok_or(Fault::NoVector(p.privilege))?;
        let vectored = tvec & 3 == 1 && p.interrupt;
        let offset = if vectored { p.ecause.wrapping_mul(4) } else { 0 };
        Ok((tvec & !3).wrapping_add(offset) & self.mask)
    }

    /// The instruction that did not retire, if it can be determined.
    pub(super) fn epc(&self, p: &Trap, address: Option<u64>) -> Option<u64> {
        if !p.thaddr && self.state == State::Off && self.latest == Latest::Retired {
            return address;
        }
        if self.state != State::On || self.latest == Latest::Trapped {
            return None;
        }
        let pc = self.walk.pc;
        if self.held == Held::DidNotRetire {
            return Some(pc);
        }
        let image = &self.programs.code.image;
        let insn = image.insn(pc)?;
        let xlen = image.isa().xlen;
        let next = insn.next(xlen, pc) & self.mask;
        let target = insn.target(xlen, pc).map(|target| target & self.mask);
        match insn.kind {
            // Encoders that count ecall and ebreak as retired (D13) report them as the last
            // instruction.
            Kind::EnvironmentTrap if !p.interrupt => Some(pc),
            Kind::Branch { .. } => {
                if self.walk.outcomes.peek()? {
                    target
                } else {
                    Some(next)
                }
            }
            _ if target.is_some() => target,
            _ if insn.is_uninferable() => {
                let target = address.filter(|_| !p.thaddr);
                let implicit = self.options.implicit_return && insn.link() == Some(Link::Return);
                let predicted = self.walk.returns.top().filter(|_| implicit);
                self.sequential().or(match (target, predicted) {
                    // A failed prediction, or a trap in the handler of this one (D19).
                    (Some(target), Some(predicted)) if target != predicted => None,
                    (target, predicted) => predicted.or(target),
                })
            }
            _ => Some(next),
        }
    }

    /// The target of the jump at `pc`, if it is sequentially inferable.
    pub(super) fn sequential(&self) -> Option<u64> {
        let block = self.programs.code.blocks.get(self.walk.block)?;
        match block.exit {
            Exit::Indirect { sequential, .. }
                if block.last == self.walk.pc && self.walk.modes.sequentially_inferred_jump =>
            {
                sequential
            }
            _ => None,
        }
    }

    /// Format 3, subformat 0.
    pub(super) fn start(
        &mut self,
        at: StreamPos,
        p: &Start,
        sink: &mut Rarely<'_>,
    ) -> Result<(), Fault> {
        let address = self.unshift(p.address);
        let insn = self.programs.insn_at(&self.config, at, p, address);
        let insn = insn.ok_or(Fault::NoCode(address))?;
        self.config.check_branch(address, insn, p.branch)?;
        self.walk_to(at, p, sink);
        self.enter(at, p.context, p.time);
        self.walk.outcomes.clear();
        if insn.is_branch() {
            self.walk.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
        self.context(at, (p.privilege, p.context, p.time), sink);
        if self.options.history_prediction {
            // The records that follow tell whether the instruction retired.
            self.history.start(address);
        } else {
            self.held = Held::MayNotHaveRetired(at);
        }
        Ok(())
    }

    /// Follows the program up to a synchronisation, if the starting point is known.
    pub(super) fn walk_to(&mut self, at: StreamPos, p: &Start, sink: &mut Rarely<'_>) {
        self.undecided = None;
        if self.state != State::On || self.latest == Latest::Trapped {
            return;
        }
        let address = self.unshift(p.address);
        if self.options.history_prediction {
            if !self.history.is_at(address) {
                self.gap(at, Fault::Records(self.history.pc), sink);
            }
            return;
        }
        // The payload contains the outcome of a branch there.
        if self.programs.code.blocks.insn(address).is_ok_and(|insn| insn.is_branch()) {
            self.walk.outcomes.push(!p.branch);
        }
        let goal = Goal::Sync { address, privilege: p.privilege };
        if let Err(fault) = self.follow(at, goal, sink) {
            // The synchronisation itself is usable; only the way to it is not.
            self.gap(at, fault, sink);
        }
    }

    pub(super) fn synchronise(&mut self, address: u64, privilege: u8) -> Result<(), Fault> {
        if self.programs.code.blocks.is_full() {
            self.programs.code.forget();
        }
        self.state = State::On;
        self.session = Session::Started;
        self.walk.pc = address;
        self.walk.block = self.programs.code.blocks.at(address)?;
        self.reference = Reference::Known(address);
        self.latest = Latest::Retired;
        self.walk.privilege = privilege;
        self.reset_tables();
        Ok(())
    }

    pub(super) fn reset_tables(&mut self) {
        self.walk.returns.reset();
        self.cache.reset();
        if self.config.compat != Compat::CModel {
            self.walk.predictor.reset();
        }
    }

    /// Reports privilege, context and time.
    pub(super) fn context(
        &self,
        at: StreamPos,
        (privilege, context, time): (u8, u64, u64),
        sink: &mut Rarely<'_>,
    ) {
        sink.event(at, Event::Context { privilege, context, time });
        let bits = self.config.params.time_bits() as u8;
        if bits > 0 {
            sink.event(at, Event::Time(Time::Stamp { value: time, bits }));
        }
    }

    /// Changes to the program of a context at a time.
    pub(super) fn enter(&mut self, at: StreamPos, context: u64, time: u64) {
        let Self { programs, walk, config, .. } = self;
        if programs.enter(config, at, context, time) {
            // Only matters if the hart continues at the same address, which is then in both
            // programs.
            walk.block = programs.code.blocks.at(walk.pc).unwrap_or(NONE);
        }
    }

    /// D2: whether the payload is an instruction fetch fault at the address of the last
    /// synchronisation, to which the instruction there does not lead. It then did not retire.
    pub(super) fn is_fetch_fault(&self, payload: &Payload) -> bool {
        match payload {
            Payload::Trap(p) => {
                let fault = matches!(p.ecause, 0 | 1 | 12 | 20) && p.tval == Some(self.walk.pc);
                fault && p.thaddr && self.epc(p, None) != Some(self.walk.pc)
            }
            _ => false,
        }
    }
}
