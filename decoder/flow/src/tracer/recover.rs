//! Gaps, and how decoding continues after them.

use super::Tracer;
use super::state::{Announced, Latest, Reference, State};
use crate::config::Resync;
use crate::event::{Event, Fault, StreamPos};
use crate::sink::{Rarely, Sink};
use hartrace_etrace::{Branch, Payload};

impl Tracer<'_> {
    /// Reports that a payload cannot be followed. Its address may still be usable.
    pub(super) fn recover(
        &mut self,
        at: StreamPos,
        payload: &Payload,
        fault: Fault,
        sink: &mut Rarely<'_>,
    ) {
        self.fault(at, fault, sink);
        self.resync_fast(at, payload, sink);
    }

    pub(super) fn fault(&mut self, at: StreamPos, fault: Fault, sink: &mut Rarely<'_>) {
        // Payloads within a gap do not start another gap.
        if self.state != State::Lost {
            self.gap(at, fault, sink);
        }
        self.state = State::Lost;
        self.forget();
    }

    /// Continues after a gap at an address outside a synchronisation; see [`Resync::Address`].
    pub(super) fn resync_fast(&mut self, at: StreamPos, payload: &Payload, sink: &mut Rarely<'_>) {
        // What follows depends on tables whose content is lost.
        if self.config.resync != Resync::Address || self.options.history_prediction {
            return;
        }
        let (report, outcome) = match payload {
            Payload::Address(report) => (report, None),
            Payload::Branch(Branch { map, address: Some(report) }) => {
                (report, map.taken(map.branches().wrapping_sub(1)))
            }
            Payload::Branch(_) | Payload::Start(_) | Payload::Trap(_) => return,
            // Their addresses depend on tables whose content is lost.
            _ => {
                self.reference = Reference::Lost;
                return;
            }
        };
        if self.reference == Reference::Lost && !self.options.full_address {
            return;
        }
        let address = self.absolute(report.address);
        self.reference = Reference::Known(address);
        let code = &mut self.programs.code;
        let Some(insn) = code.image.insn(address) else { return };
        // A branch is reported with its outcome, as the last of the map.
        let outcome = outcome.filter(|_| insn.is_branch());
        let modes = self.options.branch_prediction || self.options.jump_target_cache;
        if modes || self.options.implicit_return || insn.is_branch() != outcome.is_some() {
            return;
        }
        let Ok(block) = code.blocks.at(address) else { return };
        (self.walk.pc, self.walk.block, self.state) = (address, block, State::On);
        self.forget();
        if let Some(taken) = outcome {
            self.walk.outcomes.push(taken);
        }
        self.switch_on(at, sink);
        self.emit_pc(at, sink);
    }

    pub(super) fn gap(&mut self, at: StreamPos, fault: Fault, sink: &mut Rarely<'_>) {
        self.announced = Announced::Off;
        sink.event(at, Event::Gap(fault));
    }

    pub(super) fn switch_on(&mut self, at: StreamPos, sink: &mut Rarely<'_>) {
        if self.announced == Announced::Off {
            self.announced = Announced::On;
            sink.event(at, Event::On);
        }
    }

    /// Discards everything that was reported but not yet executed.
    pub(super) fn forget(&mut self) {
        self.walk.outcomes.clear();
        self.undecided = None;
        self.latest = Latest::Retired;
        self.unfinished = None;
    }
}
