//! Changes of process, lost trace, and instructions that are not reported.

use super::Unit;
use super::address::is;
use crate::arm::walk::Ids;
use hartrace_etmv4::{Context, Packet, Q};
use hartrace_isa::arm::{Executed, Isa, Place};

/// Instructions that are not reported one by one.
#[derive(Copy, Clone, Debug)]
pub(super) struct Unknown {
    left: u32,
    count: u32,
    counted: bool,
}

impl Unit {
    /// Switches to another process, directly after an instruction whose outcome is reported.
    pub fn context(&mut self, ids: Ids) {
        self.ids = ids;
        if self.off {
            return;
        }
        let next = self.next;
        self.tell_target();
        self.flush();
        let wide = next.is_none_or(|next| next.isa == Isa::A64);
        let (el, sf) = (self.context.el, self.context.sf);
        match next {
            // A context alone would set the instruction set to that of the last address.
            Some(next) if !wide && !self.registers.agrees(next.isa) || self.whims.one_in(3) => {
                self.not_from_the_stack(next);
                self.address_with_context(next, el);
            }
            _ => {
                self.context = Context { el, sf, ns: true, ..self.identified() };
                self.send(Packet::Context(Some(self.context)));
            }
        }
    }

    /// Loses what was executed since the last outcome.
    pub fn overflow(&mut self) {
        if self.off {
            return;
        }
        self.tell_target();
        self.flush();
        self.commit();
        self.send(Packet::Overflow);
        (self.off, self.lost, self.returned) = (true, true, false);
    }

    /// Does not report the next `count` instructions one by one: a Q element contains their number,
    /// or not even that. Call it directly after an instruction whose outcome is reported.
    pub fn unknown(&mut self, count: u32, counted: bool) {
        if self.off || !self.config().q || count == 0 {
            return;
        }
        let next = self.next;
        self.tell_target();
        self.flush();
        if let Some(next) = next.filter(|_| self.returned) {
            self.not_from_the_stack(next);
            self.address(next);
        }
        self.unknown = Some(Unknown { left: count, count, counted });
    }

    /// Traces one of them.
    pub(super) fn unknown_one(&mut self, executed: &Executed) {
        self.next = Some(executed.next);
        let Some(unknown) = &mut self.unknown else { return };
        unknown.left -= 1;
        if unknown.left > 0 {
            return;
        }
        let Unknown { count, counted, .. } = *unknown;
        self.unknown = None;
        let count = counted.then_some(count);
        // The address of a Q element does not make calls count.
        let calls_count = self.calls_count;
        let forms = self.registers.forms(executed.next);
        // Only short forms fit, and only with a count.
        let form = self.whims.choose(&forms);
        let fits = Packet::Q(Q { count, address: Some(form) });
        match count {
            Some(_) if self.fits(&fits) && !self.whims.one_in(3) => {
                self.send(fits);
                self.registers.pushed(executed.next.address, is(executed.next));
            }
            _ => {
                self.send(Packet::Q(Q { count, address: None }));
                self.address(executed.next);
            }
        }
        self.calls_count = calls_count;
        self.sent(1);
    }

    /// Sends an address although it is on the return stack, so that the decoder does not pop its
    /// own.
    fn not_from_the_stack(&mut self, next: Place) {
        if std::mem::take(&mut self.returned) {
            self.returns.push(next);
        }
    }
}
