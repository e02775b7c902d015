//! Format 3: synchronisations, traps, and what changes the modes.

use super::{Code, PARKED, State, Tracer};
use crate::blocks::Exit;
use crate::run::NONE;
use crate::walk::Goal;
use crate::{Compat, Event, Fault, Image, Sink, StreamPos};
use hartrace_etrace::{Payload, QualStatus, Start, Support, Trap};
use hartrace_isa::{Kind, Link};

impl Tracer<'_> {
    /// Format 3, subformat 3.
    pub(super) fn support<S: Sink>(&mut self, at: StreamPos, p: &Support, sink: &mut S) {
        let result = match (p.qual_status, self.undecided) {
            (QualStatus::EndedNtr, Some(undecided)) if self.state == State::On => {
                self.decide(at, undecided, sink)
            }
            _ => Ok(()),
        };
        self.set_options(p.ioptions);
        self.undecided = None;
        if p.qual_status != QualStatus::NoChange || !p.ienable {
            if let Err(fault) = result {
                self.fault(at, fault, sink);
            }
            self.forget();
            self.state = State::Off;
            (self.on, self.based) = (false, false);
            sink.event(at, Event::Off(p.qual_status));
        }
    }

    /// Format 3, subformat 1.
    pub(super) fn trap<S: Sink>(
        &mut self,
        at: StreamPos,
        p: &Trap,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let address = p.address.map(|field| self.unshift(field));
        let epc = self.epc(p, address);
        let (cause, interrupt, tval) = (p.ecause, p.interrupt, p.tval);
        sink.event(at, Event::Trap { cause, interrupt, tval, epc });
        // D17: a branch that was reported before the trap belongs to what the trap interrupted.
        self.outcomes.clear();
        self.undecided = None;
        if !p.thaddr {
            if let Some(address) = address {
                (self.address, self.based) = (address, true);
            }
            self.after_trap = true;
            self.reset_tables();
            return Ok(());
        }
        let address = match address {
            Some(address) => address,
            None => self.vector(p)?,
        };
        self.enter(at, p.context, p.time);
        if self.code.blocks.insn(address)?.is_branch() {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
        let (privilege, context, time) = (p.privilege, p.context, p.time);
        sink.event(at, Event::Context { privilege, context, time });
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

    /// The instruction that did not retire, where it can be known.
    pub(super) fn epc(&self, p: &Trap, address: Option<u64>) -> Option<u64> {
        if !p.thaddr && self.state == State::Off && !self.after_trap {
            return address;
        }
        if self.state != State::On || self.after_trap {
            return None;
        }
        if self.withdrawn {
            return Some(self.pc);
        }
        let insn = self.code.image.insn(self.pc)?;
        let xlen = self.code.image.isa().xlen;
        let next = insn.next(xlen, self.pc) & self.mask;
        let target = insn.target(xlen, self.pc).map(|target| target & self.mask);
        match insn.kind {
            // Encoders that count ecall and ebreak as retired (D13) report them as the last
            // instruction.
            Kind::EnvironmentTrap if !p.interrupt => Some(self.pc),
            Kind::Branch { .. } => {
                if self.outcomes.peek()? {
                    target
                } else {
                    Some(next)
                }
            }
            _ if target.is_some() => target,
            _ if insn.is_uninferable() => {
                let target = address.filter(|_| !p.thaddr);
                let implicit = self.options.implicit_return && insn.link() == Some(Link::Return);
                let predicted = self.returns.top().filter(|_| implicit);
                self.sequential().or(match (target, predicted) {
                    // A failed prediction, or a trap in the handler of this one (D19).
                    (Some(target), Some(predicted)) if target != predicted => None,
                    (target, predicted) => predicted.or(target),
                })
            }
            _ => Some(next),
        }
    }

    /// Where the jump at `pc` leads, if it is sequentially inferable.
    pub(super) fn sequential(&self) -> Option<u64> {
        match self.code.blocks.get(self.block)? {
            block if block.last == self.pc && self.sijump => match block.exit {
                Exit::Indirect { sequential, .. } => sequential,
                _ => None,
            },
            _ => None,
        }
    }

    /// Format 3, subformat 0.
    pub(super) fn start<S: Sink>(
        &mut self,
        at: StreamPos,
        p: &Start,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let address = self.unshift(p.address);
        let insn = match self.images.is_one() {
            true => self.code.image.insn(address),
            false => self.images.find(&self.config, at, (p.context, p.time)).1.insn(address),
        };
        let insn = insn.ok_or(Fault::NoCode(address))?;
        self.walk_to(at, p, sink);
        self.enter(at, p.context, p.time);
        self.outcomes.clear();
        if insn.is_branch() {
            self.outcomes.push(!p.branch);
        }
        self.synchronise(address, p.privilege)?;
        self.switch_on(at, sink);
        let (privilege, context, time) = (p.privilege, p.context, p.time);
        sink.event(at, Event::Context { privilege, context, time });
        self.held = Some(at);
        Ok(())
    }

    /// Follows the program up to a synchronisation, if it is known where from.
    pub(super) fn walk_to<S: Sink>(&mut self, at: StreamPos, p: &Start, sink: &mut S) {
        self.undecided = None;
        if self.state != State::On || self.after_trap {
            return;
        }
        let address = self.unshift(p.address);
        // A branch there has its outcome in the payload.
        if self.code.blocks.insn(address).is_ok_and(|insn| insn.is_branch()) {
            self.outcomes.push(!p.branch);
        }
        let goal = Goal::Sync { address, privilege: p.privilege };
        if let Err(fault) = self.follow(at, goal, sink) {
            // The synchronisation itself is good: only what leads to it is not.
            self.gap(at, fault, sink);
        }
    }

    pub(super) fn synchronise(&mut self, address: u64, privilege: u8) -> Result<(), Fault> {
        if self.code.blocks.is_full() {
            self.code.forget();
        }
        self.state = State::On;
        self.pc = address;
        self.block = self.code.blocks.at(address)?;
        self.address = address;
        self.based = true;
        self.after_trap = false;
        self.privilege = privilege;
        self.reset_tables();
        Ok(())
    }

    pub(super) fn reset_tables(&mut self) {
        self.returns.reset();
        self.cache.reset();
        if self.config.compat != Compat::CModel {
            self.predictor.reset();
        }
    }

    /// Changes to the code of a context at a time.
    pub(super) fn enter(&mut self, at: StreamPos, context: u64, time: u64) {
        if self.images.is_one() {
            return;
        }
        let (number, image) = self.images.find(&self.config, at, (context, time));
        if number != self.code.number {
            self.change(number, image);
            // Only matters if the hart goes on at the same place, which is in both, then.
            self.block = self.code.blocks.at(self.pc).unwrap_or(NONE);
        }
    }

    /// Changes to other code, and keeps what is known of this.
    pub(super) fn change(&mut self, number: usize, image: Image) {
        let known = self.parked.iter().position(|code| code.number == number);
        let next = match known {
            Some(index) => self.parked.remove(index),
            None => Code::new(number, image, self.mask, &self.config),
        };
        if self.parked.len() >= PARKED {
            // That which was left first.
            self.parked.remove(0);
        }
        self.parked.push(std::mem::replace(&mut self.code, next));
    }

    /// D2: an instruction fetch fault at the address just synchronised to, which is not where the
    /// instruction there leads. It did not retire, then.
    pub(super) fn is_fetch_fault(&self, payload: &Payload) -> bool {
        match payload {
            Payload::Trap(p) => {
                let fault = matches!(p.ecause, 0 | 1 | 12 | 20) && p.tval == Some(self.pc);
                fault && p.thaddr && self.epc(p, None) != Some(self.pc)
            }
            _ => false,
        }
    }
}
