//! Converts packets to elements.

use super::element::Element;
use super::{Etmv4, Surroundings};
use crate::Transaction;
use crate::event::{ElementSink, Event, Fault, Lost, Start};
use hartrace_decoder::StreamPos;
use hartrace_etmv4::{Address, Cancel, Context, Exception, Fields, Is, Packet, Return, Timestamp};
use hartrace_isa::arm::Arch;

/// Maximum number of elements that wait for their commit (O18). MAXSPEC is a 32-bit register, but real
/// trace units have room for a few hundred, and each packet may have to examine all elements.
pub(super) const MOST: usize = 1 << 12;

/// Whether atoms follow the packets that would wait for them, so that these need not wait.
#[inline]
fn atoms_follow(packets: &[Fields]) -> bool {
    let waits = |packet: &&Fields| {
        packet.is_exception_return()
            || packet.is_address_context()
            || packet.timestamp().is_some()
            || packet.events().is_some()
    };
    let next = packets.iter().take(4).find(|packet| !waits(packet));
    next.is_some_and(|packet| packet.atoms().is_some())
}

/// The effect of a packet on earlier elements.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Resolution {
    pub commit: u32,
    pub cancel: u32,
    pub mispredict: bool,
    pub discard: Option<Lost>,
}

impl Etmv4<'_> {
    /// Updates the state to which later packets are relative. Returns the address of an address packet.
    pub(super) fn take(&mut self, packet: &Packet) -> Option<(u64, Is)> {
        match packet {
            Packet::Address(a) | Packet::Source(a) => Some(self.take_address(a)),
            Packet::AddressContext(a, context) => Some(self.take_address_context(a, context)),
            Packet::Q(q) => q.address.as_ref().map(|a| self.take_address(a)),
            Packet::Context(Some(context)) => {
                self.sent = Some(*context);
                None
            }
            Packet::TraceInfo(info) => {
                self.addresses = Default::default();
                self.timestamp = None;
                self.threshold = info.threshold.unwrap_or(0);
                None
            }
            Packet::Timestamp(ts) => {
                self.take_timestamp(ts);
                None
            }
            _ => None,
        }
    }

    /// Processes a packet of a synchronised stream without speculation.
    #[inline(always)]
    pub(super) fn frequent(
        &mut self,
        at: StreamPos,
        packet: &Fields,
        all: Surroundings<'_>,
        sink: &mut impl ElementSink,
    ) {
        if let Some(atoms) = packet.atoms()
            && !self.address_pending
            && self.depth == 0
        {
            while let Some((at, element)) = self.queue.pop_front() {
                if !self.commit_one(at, &element, sink) {
                    return;
                }
            }
            self.follow_atoms(at, atoms.bits(), atoms.len(), sink);
        } else if packet.is_address()
            && !self.address_pending
            && self.queue.is_empty()
            && let Some(address) = packet.address()
        {
            let (value, is) = self.take_address(&address);
            self.last_is = is;
            self.arrive(value, is);
        } else {
            self.waiting(at, packet, all, sink);
        }
    }

    /// Processes a packet through the queue, unless it is clear that nothing has to wait there.
    #[inline(never)]
    fn waiting(
        &mut self,
        at: StreamPos,
        packet: &Fields,
        all: Surroundings<'_>,
        sink: &mut impl ElementSink,
    ) {
        let Surroundings { batch, following, headers, bytes, offset } = all;
        let empty = self.queue.is_empty() && !self.address_pending && self.depth == 0;
        let at_once = empty && atoms_follow(following);
        if let Some(context) = batch.context(packet)
            && let Some(address) = packet.address()
        {
            if at_once {
                let (value, is) = self.take_address_context(&address, &context);
                self.last_is = is;
                self.enter(at, &context, is, sink);
                return self.arrive(value, is);
            }
            self.push_address_context(at, &address, &context);
        } else if packet.is_exception_return() {
            if at_once && !self.config.m_profile {
                return sink.event(at, Event::ExceptionReturn);
            }
            self.push_exception_return(at);
        } else if let Some(exception) = packet.exception() {
            self.push_exception(at, &exception);
        } else if packet.is_address()
            && let Some(address) = packet.address()
        {
            let (value, is) = self.take_address(&address);
            if let Some((root, number, target)) = self.only_exception() {
                self.last_is = is;
                self.take_exception(root, number, target, (None, value, is), sink);
                return;
            }
            self.push_address(at, Some((value, is)));
        } else if let Some(timestamp) = packet.timestamp() {
            let value = self.take_timestamp(&timestamp);
            let element = Element::Timestamp { value, cycles: None };
            if at_once {
                self.commit_one(at, &element, sink);
                return;
            }
            self.push(at, element);
        } else if let Some(bits) = packet.events() {
            if at_once {
                return sink.event(at, Event::Events(bits));
            }
            self.push(at, Element::Events(bits));
        } else {
            let bytes = bytes.get(offset..).unwrap_or_default();
            return match Packet::parse(headers, bytes) {
                Ok((packet, _)) => self.other(at, &packet, sink),
                Err(_) => self.give_up(at, Fault::Malformed, sink),
            };
        }
        if self.depth > 0 || self.queue.len() > MOST {
            self.settle(at, Resolution::default(), sink);
        }
    }

    /// Removes from the queue and returns the exception that waits for its address, if nothing else
    /// waits.
    #[inline]
    fn only_exception(&mut self) -> Option<(StreamPos, u16, bool)> {
        if !self.address_pending || self.depth > 0 || self.queue.len() != 1 {
            return None;
        }
        let Some((root, Element::Exception { number, target, with_address: true })) =
            self.queue.front()
        else {
            return None;
        };
        let found = (*root, *number, *target);
        self.queue.clear();
        self.address_pending = false;
        Some(found)
    }

    /// Updates the state to which later addresses are relative.
    #[inline]
    fn take_address(&mut self, address: &Address) -> (u64, Is) {
        let wide = self.sent.is_some_and(|context| context.sf);
        self.addresses.update(address, wide)
    }

    #[inline]
    fn take_address_context(&mut self, address: &Address, context: &Context) -> (u64, Is) {
        let found = self.take_address(address);
        self.sent = Some(*context);
        found
    }

    #[inline]
    fn take_timestamp(&mut self, ts: &Timestamp) -> u64 {
        let mask = if ts.bits >= 64 { u64::MAX } else { !(u64::MAX << ts.bits) };
        let value = self.timestamp.unwrap_or(0) & !mask | ts.value;
        self.timestamp = Some(value);
        value
    }

    /// Processes a packet through the queue.
    #[inline(never)]
    pub(super) fn other(&mut self, at: StreamPos, packet: &Packet, sink: &mut impl ElementSink) {
        let mut resolution = Resolution::default();
        match self.enqueue(at, packet, &mut resolution) {
            Ok(()) => self.settle(at, resolution, sink),
            Err(fault) => self.give_up(at, fault, sink),
        }
    }

    /// Follows the elements that can be followed after a change of the queue.
    fn settle(&mut self, at: StreamPos, mut resolution: Resolution, sink: &mut impl ElementSink) {
        if self.queue.len() > MOST {
            return self.give_up(at, Fault::Elements, sink);
        }
        let excess = self.depth.saturating_sub(self.config.max_speculation);
        if excess > 0 {
            resolution.commit = excess;
        }
        self.resolve(at, resolution, sink);
    }

    #[inline]
    fn push_exception_return(&mut self, at: StreamPos) {
        let p0 = self.config.m_profile && self.walk.arch() == Arch::V7;
        self.push(at, Element::ExceptionReturn { p0 });
    }

    #[inline]
    fn push_exception(&mut self, at: StreamPos, exception: &Exception) {
        let target = exception.returns == Return::Target;
        let number = exception.number;
        self.push(at, Element::Exception { number, target, with_address: true });
    }

    #[inline]
    fn push_address_context(&mut self, at: StreamPos, address: &Address, context: &Context) {
        let address = self.take_address_context(address, context);
        self.last_is = address.1;
        self.queue.push_back((at, Element::Arrival(*context, address.0, address.1)));
        self.addressed();
    }

    #[inline]
    fn push_timestamp(&mut self, at: StreamPos, ts: &Timestamp) {
        let value = self.take_timestamp(ts);
        self.push(at, Element::Timestamp { value, cycles: ts.cycles });
    }

    #[inline]
    fn push(&mut self, at: StreamPos, element: Element) {
        // An exception or Q element counts once its address is known.
        let waits = match element {
            Element::Exception { with_address, .. } => with_address,
            Element::Q { address, .. } => address.is_none(),
            _ => false,
        };
        if waits {
            self.address_pending = true;
        } else {
            self.depth = self.depth.saturating_add(element.p0());
        }
        self.queue.push_back((at, element));
    }

    #[inline]
    fn push_address(&mut self, at: StreamPos, address: Option<(u64, Is)>) {
        let Some((value, is)) = address else { return };
        self.last_is = is;
        self.queue.push_back((at, Element::Address(value, is)));
        self.addressed();
    }

    /// Notes the address that an exception or Q element may have been waiting for.
    #[inline]
    fn addressed(&mut self) {
        if std::mem::take(&mut self.address_pending) {
            self.depth = self.depth.saturating_add(1);
        }
    }

    fn enqueue(
        &mut self,
        at: StreamPos,
        packet: &Packet,
        resolution: &mut Resolution,
    ) -> Result<(), Fault> {
        let address = match packet {
            // These are processed together with the element.
            Packet::AddressContext(..) | Packet::Timestamp(_) => None,
            _ => self.take(packet),
        };
        match *packet {
            Packet::Async | Packet::Ignore | Packet::Context(None) => {}
            Packet::TraceInfo(_) => self.push(at, Element::TraceInfo),
            Packet::TraceOn => self.push(at, Element::TraceOn),
            Packet::Atoms(atoms) => {
                self.push(at, Element::Atoms { bits: atoms.bits(), len: atoms.len() });
            }
            Packet::Context(Some(context)) => {
                self.push(at, Element::Context(context, self.last_is));
            }
            Packet::Address(_) => self.push_address(at, address),
            Packet::AddressContext(address, context) => {
                self.push_address_context(at, &address, &context);
            }
            Packet::Source(_) => {
                if let Some((value, _)) = address {
                    self.push(at, Element::Source(value));
                }
            }
            Packet::Exception(exception) => self.push_exception(at, &exception),
            // O6.
            Packet::Reset(exception, _) => {
                let number = exception.number;
                self.push(at, Element::Exception { number, target: false, with_address: false });
            }
            Packet::ExceptionReturn => self.push_exception_return(at),
            Packet::FunctionReturn => self.push(at, Element::FunctionReturn),
            Packet::Event(bits) => self.push(at, Element::Events(bits)),
            Packet::CycleCount(count) => {
                self.push(at, Element::Cycles(count.cycles(self.threshold)));
                resolution.commit = count.commits(&self.config);
            }
            Packet::Timestamp(ts) => self.push_timestamp(at, &ts),
            Packet::TimestampMarker => self.push(at, Element::TimestampMarker),
            Packet::Mispredict(atoms) => {
                self.push_atoms(at, atoms.map(|atoms| (atoms.bits(), atoms.len())));
                resolution.mispredict = true;
            }
            Packet::Cancel(Cancel::F1 { count, mispredict }) => {
                resolution.cancel = count;
                resolution.mispredict = mispredict;
            }
            Packet::Cancel(Cancel::F2(atoms)) => {
                self.push_atoms(at, atoms.map(|atoms| (atoms.bits(), atoms.len())));
                resolution.cancel = 1;
                resolution.mispredict = true;
            }
            Packet::Cancel(Cancel::F3 { atom, count }) => {
                self.push_atoms(at, atom.then_some((1, 1)));
                resolution.cancel = count.into();
                resolution.mispredict = true;
            }
            Packet::Commit(count) => resolution.commit = count,
            Packet::Overflow => {
                self.start = Start::Overflow;
                self.depth = 0;
                resolution.discard = Some(Lost::Overflow);
            }
            Packet::Discard => {
                self.depth = 0;
                let overflowed = self.start == Start::Overflow;
                resolution.discard = Some(if overflowed { Lost::Overflow } else { Lost::Discard });
            }
            Packet::Q(q) => {
                let count = q.count.unwrap_or(0);
                self.push(at, Element::Q { count, address });
            }
            Packet::TransactionStart => {
                let p0 = self.config.transaction_p0;
                self.push(at, Element::Transaction(Transaction::Start, p0));
            }
            Packet::TransactionCommit => {
                self.push(at, Element::Transaction(Transaction::Commit, false));
            }
            Packet::TransactionFail(..) => {
                self.push(at, Element::Transaction(Transaction::Fail, false));
            }
            Packet::Ite { el, value } => self.push(at, Element::Instrumentation { el, value }),
            Packet::NumberedMarker(_)
            | Packet::UnnumberedMarker(_)
            | Packet::ConditionalF1(_)
            | Packet::ConditionalF2(_)
            | Packet::ConditionalF3 { .. }
            | Packet::ConditionalFlush
            | Packet::ResultF1(..)
            | Packet::ResultF2 { .. }
            | Packet::ResultF3(_)
            | Packet::ResultF4(_) => return Err(Fault::Unsupported),
        }
        Ok(())
    }

    fn push_atoms(&mut self, at: StreamPos, atoms: Option<(u32, u8)>) {
        if let Some((bits, len)) = atoms {
            self.push(at, Element::Atoms { bits, len });
        }
    }
}
