//! Follows packets through the program.

use super::Ptm;
use crate::event::{ElementSink, Event, Fault, Start};
use crate::walk::Followed;
use hartrace_decoder::StreamPos;
use hartrace_isa::arm::{Isa, Kind};
use hartrace_ptm::{Address, Atoms, Exception, ISync, Packet, Reason, Target, Timestamp};
use hartrace_spaces::Clock;

impl Ptm<'_> {
    #[inline]
    pub(super) fn atoms(&mut self, at: StreamPos, atoms: Atoms, sink: &mut impl ElementSink) {
        let (mut bits, mut left) = (atoms.bits(), atoms.len());
        while left > 0 && self.known {
            let plain = self.walk.plain_atoms(at, bits.into(), left, sink);
            bits = bits.wrapping_shr(plain.into());
            left = left.saturating_sub(plain);
            if left > 0 {
                self.atom(at, bits & 1 == 1, None, sink);
                bits >>= 1;
                left = left.saturating_sub(1);
            }
        }
    }

    pub(super) fn packet(&mut self, at: StreamPos, packet: &Packet, sink: &mut impl ElementSink) {
        match packet {
            Packet::Async { .. } | Packet::Ignore => {}
            Packet::ISync(sync) => self.isync(at, sync, sink),
            Packet::Atoms(atoms) => self.atoms(at, *atoms, sink),
            Packet::Atom { taken, cycles } if self.known => {
                self.atom(at, *taken, Some(*cycles), sink);
            }
            Packet::Atom { .. } => {}
            Packet::Branch { address, exception, cycles } => {
                self.branch_to(at, address, exception.as_ref(), *cycles, sink);
            }
            Packet::Waypoint { address, alt_isa } => self.waypoint_at(at, address, *alt_isa, sink),
            Packet::Trigger => sink.event(at, Event::Trigger),
            Packet::ContextId(id) => {
                if self.context.context_id != Some(*id) {
                    self.context.context_id = Some(*id);
                    self.walk.enter(self.context.spaces(), self.context.context_id);
                    sink.event(at, Event::Context(self.context));
                }
            }
            Packet::Vmid(vmid) => {
                if self.context.vmid != Some((*vmid).into()) {
                    self.context.vmid = Some((*vmid).into());
                    sink.event(at, Event::Context(self.context));
                }
            }
            Packet::Timestamp(ts) => self.timestamp(at, ts, sink),
            Packet::ExceptionReturn => sink.event(at, Event::ExceptionReturn),
        }
    }

    /// Follows a branch to an address in the packet, or an exception.
    #[inline]
    pub(super) fn branch_to(
        &mut self,
        at: StreamPos,
        address: &Address,
        exception: Option<&Exception>,
        cycles: Option<u32>,
        sink: &mut impl ElementSink,
    ) {
        // With any number: O12.
        match exception {
            Some(exception) => sink.event(
                at,
                Event::Exception {
                    number: exception.number,
                    returns: self.known.then_some(self.walk.pc),
                    target: false,
                    tail_chained: false,
                    cycles,
                },
            ),
            None if self.known => self.branch(at, cycles, sink),
            None => {}
        }
        self.target.update(address, exception.map(|exception| exception.alt_isa));
        self.go_to_target(at, sink);
    }

    /// Follows instructions up to an address in the packet.
    pub(super) fn waypoint_at(
        &mut self,
        at: StreamPos,
        address: &Address,
        alt_isa: Option<bool>,
        sink: &mut impl ElementSink,
    ) {
        self.target.update(address, alt_isa);
        if self.known {
            self.waypoint(at, sink);
        }
    }

    pub(super) fn timestamp(&mut self, at: StreamPos, ts: &Timestamp, sink: &mut impl ElementSink) {
        self.time(ts);
        // O8.
        let value = match self.config.timestamp_gray {
            true => from_gray(self.timestamp),
            false => self.timestamp,
        };
        self.walk.reach(Clock::Time, value);
        sink.event(at, Event::Timestamp { value, cycles: ts.cycles });
    }

    fn isync(&mut self, at: StreamPos, sync: &ISync, sink: &mut impl ElementSink) {
        let changed = !self.isa_told || self.target.isa != sync.isa;
        self.isa_told = true;
        self.target = Target { address: sync.address, isa: sync.isa };
        let mut told = changed;
        if sync.context_id.is_some() {
            self.context.context_id = sync.context_id;
            told = true;
        }
        self.context.ns = sync.ns;
        self.walk.enter(self.context.spaces(), self.context.context_id);
        let start = match sync.reason {
            Reason::Overflow => Start::Overflow,
            Reason::DebugExit => Start::DebugExit,
            Reason::Periodic | Reason::TraceOn => Start::Normal,
        };
        let starts = self.fresh || sync.reason != Reason::Periodic;
        if starts {
            sink.event(at, Event::TraceOn(start, sync.cycles));
        }
        self.fresh = false;
        self.returns.clear();
        self.go_to_target(at, sink);
        self.context.isa = self.walk.isa;
        if starts && told {
            sink.event(at, Event::Context(self.context));
        }
    }

    /// Continues at the address of a packet.
    fn go_to_target(&mut self, at: StreamPos, sink: &mut impl ElementSink) {
        let isa = match self.target.isa {
            hartrace_ptm::Isa::Arm => Isa::A32,
            hartrace_ptm::Isa::Thumb => Isa::T32,
            _ => {
                sink.event(at, Event::Fault(Fault::InstructionSet));
                self.known = false;
                return;
            }
        };
        self.walk.set(self.target.address.into(), isa);
        self.known = true;
    }

    #[inline]
    fn atom(
        &mut self,
        at: StreamPos,
        taken: bool,
        cycles: Option<u32>,
        sink: &mut impl ElementSink,
    ) {
        let isa = self.walk.isa;
        let last = match self.walk.atom(at, taken, cycles, sink) {
            Followed::On => return,
            Followed::To(last) => last,
            Followed::Lost => {
                self.known = false;
                return;
            }
            Followed::WrongImage => return self.give_up(at, Fault::WrongImage, sink),
        };
        if !taken {
            return;
        }
        let next = self.walk.link;
        match last.kind {
            Kind::Indirect => {
                self.known = false;
                if self.returns.is_active() {
                    match self.returns.pop() {
                        Some((address, isa)) => {
                            self.walk.set(address, isa);
                            self.known = true;
                        }
                        // O7.
                        None => return self.give_up(at, Fault::ReturnStack, sink),
                    }
                }
            }
            Kind::Direct { .. } => {}
            _ => return,
        }
        if last.link {
            self.returns.push(next, isa);
        }
    }

    /// Follows a branch whose target is in the packet.
    fn branch(&mut self, at: StreamPos, cycles: Option<u32>, sink: &mut impl ElementSink) {
        let isa = self.walk.isa;
        if let Followed::To(last) = self.walk.atom(at, true, cycles, sink)
            && last.link
        {
            self.returns.push(self.walk.link, isa);
        }
    }

    /// Follows instructions up to and including the one at the address of the packet.
    fn waypoint(&mut self, at: StreamPos, sink: &mut impl ElementSink) {
        let address = u64::from(self.target.address);
        let stepped = self.walk.step(|insn, end| end.wrapping_sub(insn.size.into()) != address);
        self.walk.report(at, &stepped, None, sink);
        let Some(last) = stepped.last.filter(|_| stepped.complete) else {
            self.known = false;
            let spaces = self.walk.spaces();
            return sink.event(at, Event::NotAccessible { address: stepped.end, spaces });
        };
        let isa = self.walk.isa;
        if last.link {
            self.returns.push(stepped.end, isa);
        }
        match last.kind {
            Kind::Direct { target, isa } => self.walk.set(target, isa),
            Kind::Indirect => self.known = false,
            _ => self.walk.set(stepped.end, isa),
        }
    }
}

/// Converts Gray code to natural binary.
fn from_gray(mut value: u64) -> u64 {
    for shift in [32, 16, 8, 4, 2, 1] {
        value ^= value >> shift;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::from_gray;

    #[test]
    fn gray_code() {
        for value in [0u64, 1, 2, 3, 0x1234_5678_9abc, u64::MAX] {
            assert_eq!(from_gray(value ^ (value >> 1)), value);
        }
    }
}
