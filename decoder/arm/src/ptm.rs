//! PTM.

use crate::event::{Context, ElementSink, Event, Fault, Lost, Start};
use crate::returns::ReturnStack;
use crate::walk::{Followed, Walk};
use crate::{Memory, Stream};
use hartrace_capture::spaces::{Clock, Timeline};
use hartrace_isa::arm::{Arch, Isa, Kind, Rules};
use hartrace_ptm::{
    Atoms, Config, Found, ISync, Kind as PacketKind, Packet, Reader, Reason, Target,
};

/// The state of synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// Synchronisation is lost, and the loss is not reported yet.
    Lost(Lost),
    /// Waiting for an alignment synchronisation.
    Async,
    /// Waiting for an instruction synchronisation.
    ISync,
    /// Synchronised: the program is followed.
    Following,
}

/// Decoder of one PTM stream.
#[derive(Debug)]
pub struct Ptm<'m> {
    config: Config,
    walk: Walk<'m>,
    returns: ReturnStack,
    state: State,
    /// The address to which packets are relative.
    target: Target,
    /// The instruction set is known.
    isa_told: bool,
    timestamp: u64,
    context: Context,
    /// The address is known.
    known: bool,
    /// No instruction synchronisation has been followed since the last loss.
    fresh: bool,
    /// Position of the last packet.
    at: u64,
}

impl<'m> Ptm<'m> {
    /// Creates a decoder for a trace unit of a core with this architecture and memory.
    pub fn new(config: Config, arch: Arch, memory: &'m Memory) -> Self {
        let rules = Rules { arch, barriers: config.barriers, wfx: false };
        Self {
            config,
            // The same as in OpenCSD: O13.
            walk: Walk::new(memory, rules, false),
            returns: ReturnStack::new(config.return_stack),
            state: State::Lost(Lost::Start),
            target: Target::default(),
            isa_told: false,
            timestamp: 0,
            context: Context {
                isa: Isa::A32,
                wide: false,
                ns: false,
                nse: false,
                el: None,
                context_id: None,
                vmid: None,
            },
            known: false,
            fresh: true,
            at: 0,
        }
    }

    /// Adds a timeline, for code that changes while the program runs.
    pub fn with_timeline(mut self, timeline: &'m Timeline) -> Self {
        self.walk.set_timeline(timeline);
        self
    }

    /// Decodes a whole stream.
    pub fn decode(&mut self, stream: &Stream, sink: &mut impl ElementSink) {
        let mut positions = stream.positions();
        let mut offset = 0usize;
        for end in stream.ends() {
            let mut reader = Reader::new(self.config);
            while let Some(rest) = stream.bytes.get(offset..end)
                && let Some((found, len)) = reader.next(rest)
            {
                self.feed(positions.index(offset), found, rest, sink);
                offset = offset.saturating_add(len);
            }
            if offset < end {
                self.at = positions.index(offset);
                sink.event(self.at, Event::Fault(Fault::Malformed));
            }
            self.finish(sink);
            offset = end;
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self, sink: &mut impl ElementSink) {
        sink.event(self.at, Event::End(Lost::End));
        self.state = State::Lost(Lost::Start);
        self.known = false;
        self.fresh = true;
    }

    /// Processes the item that a [`Reader`] found at the start of `bytes`, with its position.
    #[inline]
    fn feed(&mut self, at: u64, found: Found, bytes: &[u8], sink: &mut impl ElementSink) {
        self.at = at;
        self.walk.reach(Clock::Position, at);
        if let State::Lost(lost) = self.state {
            sink.event(at, Event::NoSync(lost));
            self.state = State::Async;
        }
        match found {
            Found::Packet(kind) => match (self.state, kind) {
                (State::Async, PacketKind::Async) => self.state = State::ISync,
                (State::ISync, PacketKind::ISync) => self.state = State::Following,
                _ => {}
            },
            Found::Bad(_) if self.state == State::Following => {
                return self.give_up(at, Fault::Malformed, sink);
            }
            Found::Bad(_) | Found::Unsynchronised => return,
        }
        if self.state == State::Following {
            // Most packets are atoms, which are smaller than a `Packet`.
            match Atoms::parse(&self.config, bytes) {
                Some(atoms) => self.atoms(at, atoms, sink),
                None => self.packet(at, bytes, sink),
            }
        } else if let Ok((packet, _)) = Packet::parse(&self.config, bytes) {
            self.skip(&packet);
        }
    }

    #[inline]
    fn atoms(&mut self, at: u64, atoms: Atoms, sink: &mut impl ElementSink) {
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

    /// Processes a packet before the synchronisation: only the state that others depend on.
    fn skip(&mut self, packet: &Packet) {
        match packet {
            Packet::Branch { address, exception, .. } => {
                self.target.update(address, exception.map(|exception| exception.alt_isa));
            }
            Packet::Waypoint { address, alt_isa } => self.target.update(address, *alt_isa),
            Packet::Timestamp(ts) => self.time(ts),
            _ => {}
        }
    }

    /// Drops everything, up to the next alignment synchronisation.
    fn give_up(&mut self, at: u64, fault: Fault, sink: &mut impl ElementSink) {
        sink.event(at, Event::Fault(fault));
        sink.event(at, Event::NoSync(Lost::Packet));
        self.state = State::Async;
        self.known = false;
        self.fresh = true;
    }

    fn time(&mut self, ts: &hartrace_ptm::Timestamp) {
        let mask = if ts.bits >= 64 { u64::MAX } else { !(u64::MAX << ts.bits) };
        self.timestamp = self.timestamp & !mask | ts.value & mask;
    }

    #[inline]
    fn packet(&mut self, at: u64, bytes: &[u8], sink: &mut impl ElementSink) {
        let Ok((packet, _)) = Packet::parse(&self.config, bytes) else { return };
        match &packet {
            Packet::Async { .. } | Packet::Ignore => {}
            Packet::ISync(sync) => self.isync(at, sync, sink),
            Packet::Atoms(atoms) => self.atoms(at, *atoms, sink),
            Packet::Atom { taken, cycles } if self.known => {
                self.atom(at, *taken, Some(*cycles), sink);
            }
            Packet::Atom { .. } => {}
            Packet::Branch { address, exception, cycles } => {
                // With any number: O12.
                match exception {
                    Some(exception) => sink.event(
                        at,
                        Event::Exception {
                            number: exception.number,
                            returns: self.known.then_some(self.walk.pc),
                            target: false,
                            tail_chained: false,
                            cycles: *cycles,
                        },
                    ),
                    None if self.known => self.branch(at, *cycles, sink),
                    None => {}
                }
                self.target.update(address, exception.map(|exception| exception.alt_isa));
                self.go_to_target(at, sink);
            }
            Packet::Waypoint { address, alt_isa } => {
                self.target.update(address, *alt_isa);
                if self.known {
                    self.waypoint(at, sink);
                }
            }
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
            Packet::Timestamp(ts) => {
                self.time(ts);
                // O8.
                let value = match self.config.timestamp_gray {
                    true => from_gray(self.timestamp),
                    false => self.timestamp,
                };
                self.walk.reach(Clock::Time, value);
                sink.event(at, Event::Timestamp { value, cycles: ts.cycles });
            }
            Packet::ExceptionReturn => sink.event(at, Event::ExceptionReturn),
        }
    }

    fn isync(&mut self, at: u64, sync: &ISync, sink: &mut impl ElementSink) {
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
    fn go_to_target(&mut self, at: u64, sink: &mut impl ElementSink) {
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
    fn atom(&mut self, at: u64, taken: bool, cycles: Option<u32>, sink: &mut impl ElementSink) {
        let isa = self.walk.isa;
        let last = match self.walk.atom(at, taken, cycles, sink) {
            Followed::On => return,
            Followed::To(last) => last,
            Followed::Lost => {
                self.known = false;
                return;
            }
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
    fn branch(&mut self, at: u64, cycles: Option<u32>, sink: &mut impl ElementSink) {
        let isa = self.walk.isa;
        if let Followed::To(last) = self.walk.atom(at, true, cycles, sink)
            && last.link
        {
            self.returns.push(self.walk.link, isa);
        }
    }

    /// Follows instructions up to and including the one at the address of the packet.
    fn waypoint(&mut self, at: u64, sink: &mut impl ElementSink) {
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
