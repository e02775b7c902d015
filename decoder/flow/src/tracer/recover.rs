//! Gaps, and how decoding goes on after them.

use super::{State, Tracer};
use crate::{Event, Fault, Resync, Sink, StreamPos};
use hartrace_etrace::{Branch, Payload};

impl Tracer<'_> {
    pub(super) fn fault<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        // Payloads of a stretch that is lost already are not another gap.
        if self.state != State::Lost {
            self.gap(at, fault, sink);
        }
        self.state = State::Lost;
        self.forget();
    }

    /// Goes on after a gap at an address that is no synchronisation; see [`Resync::Address`].
    pub(super) fn resync_fast<S: Sink>(&mut self, at: StreamPos, payload: &Payload, sink: &mut S) {
        if self.config.resync != Resync::Address {
            return;
        }
        let (report, outcome) = match payload {
            Payload::Address(report) => (report, None),
            Payload::Branch(Branch { map, address: Some(report) }) => {
                (report, map.taken(map.branches().wrapping_sub(1)))
            }
            Payload::Branch(_) | Payload::Start(_) | Payload::Trap(_) => return,
            // Their addresses need tables that are lost.
            _ => {
                self.based = false;
                return;
            }
        };
        if !self.based && !self.options.full_address {
            return;
        }
        self.address = self.absolute(report.address);
        self.based = true;
        let Some(insn) = self.code.image.insn(self.address) else { return };
        // A branch is reported with its outcome, as the last of the map.
        let outcome = outcome.filter(|_| insn.is_branch());
        let modes = self.options.branch_prediction || self.options.jump_target_cache;
        if modes || self.options.implicit_return || insn.is_branch() != outcome.is_some() {
            return;
        }
        let Ok(block) = self.code.blocks.at(self.address) else { return };
        (self.pc, self.block, self.state) = (self.address, block, State::On);
        self.forget();
        if let Some(taken) = outcome {
            self.outcomes.push(taken);
        }
        self.switch_on(at, sink);
        self.emit_pc(at, sink);
    }

    pub(super) fn gap<S: Sink>(&mut self, at: StreamPos, fault: Fault, sink: &mut S) {
        self.on = false;
        sink.event(at, Event::Gap(fault));
    }

    pub(super) fn switch_on<S: Sink>(&mut self, at: StreamPos, sink: &mut S) {
        if !self.on {
            self.on = true;
            sink.event(at, Event::On);
        }
    }

    pub(super) fn forget(&mut self) {
        self.outcomes.clear();
        self.undecided = None;
        self.after_trap = false;
        self.later = None;
    }
}
