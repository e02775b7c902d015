//! Packets to elements.

use super::Etmv4;
use super::element::Element;
use crate::Transaction;
use crate::event::{Fault, Lost, Sink};
use hartrace_arm_isa::Arch;
use hartrace_etmv4::{Address, Cancel, Is, Packet, Return};

/// The most elements that wait for their commit (O18). MAXSPEC is a register of 32 bits, but real trace
/// units have room for some hundred; and every one may be looked at for every packet.
pub(super) const MOST: usize = 1 << 12;

/// What a packet says about elements before it.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Resolution {
    pub commit: u32,
    pub cancel: u32,
    pub mispredict: bool,
    pub discard: Option<Lost>,
}

impl Etmv4<'_> {
    /// Takes what later packets are relative to. Returns the address of an address packet.
    pub(super) fn take(&mut self, packet: &Packet) -> Option<(u64, Is)> {
        let address = |this: &mut Self, address: &Address| {
            let wide = this.sent.is_some_and(|context| context.sf);
            Some(this.addresses.update(address, wide))
        };
        match packet {
            Packet::Address(a) | Packet::Source(a) => address(self, a),
            Packet::AddressContext(a, context) => {
                let found = address(self, a);
                self.sent = Some(*context);
                found
            }
            Packet::Q(q) => q.address.as_ref().and_then(|a| address(self, a)),
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
                let mask = if ts.bits >= 64 { u64::MAX } else { !(u64::MAX << ts.bits) };
                let before = self.timestamp.unwrap_or(0);
                self.timestamp = Some(before & !mask | ts.value);
                None
            }
            _ => None,
        }
    }

    /// Takes a packet in a stream that is synchronised.
    #[inline]
    pub(super) fn packet(&mut self, at: u64, packet: &Packet, sink: &mut impl Sink) {
        // Most packets are atoms, and most of these are committed at once.
        if let Packet::Atoms(atoms) = packet
            && self.config.max_speculation == 0
            && self.depth == 0
            && !self.address_pending
        {
            while let Some((at, element)) = self.queue.pop_front() {
                if !self.commit_one(at, &element, sink) {
                    return;
                }
            }
            self.follow_atoms(at, atoms.bits(), atoms.len(), sink);
            return;
        }
        // An address that nothing waits for, and that nothing can take back.
        if let Packet::Address(_) = packet
            && self.config.max_speculation == 0
            && self.queue.is_empty()
            && !self.address_pending
        {
            if let Some((value, is)) = self.take(packet) {
                self.last_is = is;
                self.commit_one(at, &Element::Address(value, is), sink);
            }
            return;
        }
        let mut resolution = Resolution::default();
        match self.enqueue(at, packet, &mut resolution) {
            Ok(()) if self.queue.len() > MOST => self.give_up(at, Fault::Elements, sink),
            Ok(()) => {
                let excess = self.depth.saturating_sub(self.config.max_speculation);
                if excess > 0 {
                    resolution.commit = excess;
                }
                self.resolve(at, resolution, sink);
            }
            Err(fault) => self.give_up(at, fault, sink),
        }
    }

    fn push(&mut self, at: u64, element: Element) {
        // An exception or Q element counts once its address is there.
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

    fn push_address(&mut self, at: u64, address: Option<(u64, Is)>) {
        let Some((value, is)) = address else { return };
        self.last_is = is;
        self.queue.push_back((at, Element::Address(value, is)));
        if std::mem::take(&mut self.address_pending) {
            self.depth = self.depth.saturating_add(1);
        }
    }

    fn enqueue(
        &mut self,
        at: u64,
        packet: &Packet,
        resolution: &mut Resolution,
    ) -> Result<(), Fault> {
        let address = self.take(packet);
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
            Packet::AddressContext(_, context) => {
                self.last_is = address.map_or(self.last_is, |(_, is)| is);
                self.push(at, Element::Context(context, self.last_is));
                self.push_address(at, address);
            }
            Packet::Source(_) => {
                if let Some((value, is)) = address {
                    self.push(at, Element::Source(value, is));
                }
            }
            Packet::Exception(exception) => {
                let target = exception.returns == Return::Target;
                let number = exception.number;
                self.push(at, Element::Exception { number, target, with_address: true });
            }
            // O6.
            Packet::Reset(exception, _) => {
                let number = exception.number;
                self.push(at, Element::Exception { number, target: false, with_address: false });
            }
            Packet::ExceptionReturn => {
                let p0 = self.config.m_profile && self.walk.arch() == Arch::V7;
                self.push(at, Element::ExceptionReturn { p0 });
            }
            Packet::FunctionReturn => self.push(at, Element::FunctionReturn),
            Packet::Event(bits) => self.push(at, Element::Events(bits)),
            Packet::CycleCount(count) => {
                self.push(at, Element::Cycles(count.cycles(self.threshold)));
                resolution.commit = count.commits(&self.config);
            }
            Packet::Timestamp(ts) => {
                let value = self.timestamp.unwrap_or(0);
                self.push(at, Element::Timestamp { value, cycles: ts.cycles });
            }
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
                self.overflowed = true;
                self.depth = 0;
                resolution.discard = Some(Lost::Overflow);
            }
            Packet::Discard => {
                self.depth = 0;
                let overflowed = self.overflowed;
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

    fn push_atoms(&mut self, at: u64, atoms: Option<(u32, u8)>) {
        if let Some((bits, len)) = atoms {
            self.push(at, Element::Atoms { bits, len });
        }
    }
}
