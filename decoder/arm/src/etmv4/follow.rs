//! Follows committed elements through the program.

use super::element::Element;
use super::{Etmv4, Place};
use crate::event::{Context, ElementSink, Event, Fault, Start};
use crate::walk::Followed;
use hartrace_decoder::StreamPos;
use hartrace_etmv4::Is;
use hartrace_isa::arm::{Insn, Isa, Kind, Return};
use hartrace_spaces::Clock;

/// M profile: the return address of an exception that follows another one.
const TAIL_CHAINED: u64 = 0xffff_fffe;

/// A context with the instruction set of the last address, if there is one; then an address.
pub(super) type Following = (Option<(hartrace_etmv4::Context, Is)>, u64, Is);

impl Etmv4<'_> {
    /// Follows an element other than atoms. `false` if decoding gave up.
    pub(super) fn commit_one(
        &mut self,
        at: StreamPos,
        element: &Element,
        sink: &mut impl ElementSink,
    ) -> bool {
        match *element {
            Element::Atoms { bits, len } => return self.follow_atoms(at, bits, len, sink),
            Element::TraceOn => {
                let start = std::mem::replace(&mut self.start, Start::Normal);
                self.returns.clear();
                self.forget_branch();
                sink.event(at, Event::TraceOn(start, None));
            }
            Element::TraceInfo => {
                self.returns.clear();
                self.forget_branch();
                self.calls_blocked = true;
            }
            Element::Address(address, is) => self.arrive(address, is),
            Element::Context(context, is) => self.enter(at, &context, is, sink),
            Element::Arrival(context, address, is) => {
                self.enter(at, &context, is, sink);
                self.arrive(address, is);
            }
            Element::Exception { number, target, with_address } => {
                return self.queued_exception(at, number, target, with_address, sink);
            }
            Element::ExceptionReturn { .. } => sink.event(at, Event::ExceptionReturn),
            Element::FunctionReturn | Element::Unseen => {}
            Element::Source(address) => return self.source(at, address, sink),
            Element::Q { count, address } => return self.q(at, count, address, sink),
            Element::Transaction(what, _) => sink.event(at, Event::Transaction(what)),
            Element::Events(bits) => sink.event(at, Event::Events(bits)),
            Element::Timestamp { value, cycles } => {
                self.walk.reach(Clock::Time, value);
                if self.marked || !self.config.timestamp_marker {
                    sink.event(at, Event::Timestamp { value, cycles });
                }
            }
            Element::Cycles(cycles) => sink.event(at, Event::Cycles(cycles)),
            Element::TimestampMarker => {
                self.marked = true;
                sink.event(at, Event::TimestampMarker);
            }
            Element::Instrumentation { el, value } => {
                sink.event(at, Event::Instrumentation { el, value });
            }
        }
        true
    }

    /// Follows an address element.
    #[inline]
    pub(super) fn arrive(&mut self, address: u64, is: Is) {
        self.calls_blocked = false;
        self.go_to(address, is);
    }

    #[inline]
    fn go_to(&mut self, address: u64, is: Is) {
        self.walk.set(address, self.isa(is));
        self.place = Place::Known;
    }

    pub(super) fn enter(
        &mut self,
        at: StreamPos,
        new: &hartrace_etmv4::Context,
        is: Is,
        sink: &mut impl ElementSink,
    ) {
        let before = self.context;
        let mut context = Context {
            isa: self.walk.isa,
            wide: new.sf,
            ns: new.ns,
            nse: new.nse,
            el: Some(new.el),
            context_id: new.context_id.or(before.and_then(|context| context.context_id)),
            vmid: new.vmid.or(before.and_then(|context| context.vmid)),
        };
        self.context = Some(context);
        context.isa = self.isa(is);
        self.context = Some(context);
        self.walk.set_isa(context.isa);
        let process = if self.vmid { context.vmid } else { context.context_id };
        self.walk.enter(context.spaces(), process);
        sink.event(at, Event::Context(context));
    }

    /// If the last atom was an indirect branch and no address followed, uses the return stack.
    #[inline]
    fn pop(&mut self, at: StreamPos, sink: &mut impl ElementSink) -> bool {
        if self.place != Place::Returning {
            return true;
        }
        match self.returns.pop() {
            Some((address, isa)) => {
                self.walk.set(address, isa);
                self.place = Place::Known;
                true
            }
            None => {
                self.give_up_elements(at, Fault::ReturnStack, sink);
                false
            }
        }
    }

    /// Follows the oldest `len` atoms. `false` if decoding gave up.
    #[inline]
    pub(super) fn follow_atoms(
        &mut self,
        at: StreamPos,
        mut bits: u32,
        len: u8,
        sink: &mut impl ElementSink,
    ) -> bool {
        let mut left = len;
        while left > 0 {
            if !self.pop(at, sink) {
                return false;
            }
            if !self.is_known() {
                // This packet contains no address. If only the context was missing, the address is not known any more
                // either: O21.
                if self.place == Place::Known {
                    self.place = Place::Unknown;
                }
                return true;
            }
            let plain = self.walk.plain_atoms(at, bits, left, sink);
            bits = bits.wrapping_shr(plain.into());
            left = left.saturating_sub(plain);
            if left > 0 {
                if !self.atom(at, bits & 1 == 1, sink) {
                    return false;
                }
                bits >>= 1;
                left = left.saturating_sub(1);
            }
        }
        true
    }

    /// Follows an atom. `false` if decoding gave up.
    #[inline]
    fn atom(&mut self, at: StreamPos, taken: bool, sink: &mut impl ElementSink) -> bool {
        let isa = self.walk.isa;
        match self.walk.any_atom(at, taken, None, sink) {
            Followed::To(last) if taken => self.leave(at, &last, self.walk.link, isa, sink),
            Followed::On | Followed::To(_) => {}
            Followed::Lost => self.place = Place::NoCode,
            Followed::WrongImage => {
                self.give_up_elements(at, Fault::WrongImage, sink);
                return false;
            }
        }
        true
    }

    /// Notes that a branch was taken, if this is one: `next` is the address after it.
    #[inline]
    fn leave(
        &mut self,
        at: StreamPos,
        last: &Insn,
        next: u64,
        isa: Isa,
        sink: &mut impl ElementSink,
    ) {
        if last.link {
            self.call(next, isa);
        }
        if last.kind == Kind::Indirect {
            self.place = match self.returns.is_active() {
                true => Place::Returning,
                false => Place::Unknown,
            };
            // ETE has no packet for it.
            if last.returns == Return::Eret && self.config.is_ete() {
                sink.event(at, Event::ExceptionReturn);
            }
        }
    }

    fn call(&mut self, next: u64, isa: Isa) {
        if !self.calls_blocked {
            self.returns.push(next, isa);
        }
    }

    /// The address of an exception or Q element, with the context that may precede it.
    fn following(&mut self) -> Option<Following> {
        let mut context = None;
        if let Some((_, Element::Arrival(new, address, is))) = self.queue.front() {
            let found = (Some((*new, *is)), *address, *is);
            self.queue.pop_front();
            return Some(found);
        }
        if let Some((_, Element::Context(new, is))) = self.queue.front() {
            context = Some((*new, *is));
            self.queue.pop_front();
        }
        match self.queue.front() {
            Some((_, Element::Address(address, is))) => {
                let found = (context, *address, *is);
                self.queue.pop_front();
                Some(found)
            }
            _ => None,
        }
    }

    /// Follows an exception whose address is the next element, or that has none.
    fn queued_exception(
        &mut self,
        at: StreamPos,
        number: u16,
        target: bool,
        with_address: bool,
        sink: &mut impl ElementSink,
    ) -> bool {
        if !self.before_exception(at, target, sink) {
            return false;
        }
        let mut following = None;
        if with_address {
            following = self.following();
            if following.is_none() {
                self.give_up_elements(at, Fault::NoAddress, sink);
                return false;
            }
        }
        self.exception(at, number, target, following, sink);
        true
    }

    /// Follows an exception with its address.
    pub(super) fn take_exception(
        &mut self,
        at: StreamPos,
        number: u16,
        target: bool,
        following: Following,
        sink: &mut impl ElementSink,
    ) {
        if self.before_exception(at, target, sink) {
            self.exception(at, number, target, Some(following), sink);
        }
    }

    fn before_exception(
        &mut self,
        at: StreamPos,
        target: bool,
        sink: &mut impl ElementSink,
    ) -> bool {
        // The target of the previous branch is given, so it was not on the stack: O17.
        if target {
            self.forget_branch();
        }
        self.pop(at, sink)
    }

    fn exception(
        &mut self,
        at: StreamPos,
        number: u16,
        target: bool,
        following: Option<Following>,
        sink: &mut impl ElementSink,
    ) {
        let mut returns = None;
        let mut tail_chained = false;
        if let Some((context, address, is)) = following {
            returns = Some(address);
            if target {
                let wide = context.map_or(self.walk.isa == Isa::A64, |(c, _)| c.sf);
                let isa = match (is, wide) {
                    (Is::Is1, _) => Isa::T32,
                    (Is::Is0, true) => Isa::A64,
                    (Is::Is0, false) => Isa::A32,
                };
                self.walk.set(address, isa);
                self.place = Place::Known;
            }
            if let Some((context, is)) = context {
                self.enter(at, &context, is, sink);
            }
            tail_chained = self.config.m_profile && address == TAIL_CHAINED;
            // Even if there is no code at the current address: the instructions executed there are
            // missing too. Not from an unknown address: O10.
            let known = matches!(self.place, Place::Known | Place::NoCode);
            if known && self.context.is_some() && self.walk.pc < address && !tail_chained {
                let stepped = self.walk.step(|_, end| end != address);
                self.walk.report(at, &stepped, None, sink);
                if !stepped.complete {
                    self.place = Place::NoCode;
                    let spaces = self.walk.spaces();
                    sink.event(at, Event::NotAccessible { address: stepped.end, spaces });
                }
                self.walk.set(stepped.end, self.walk.isa);
            }
        }
        let returns = returns.filter(|_| !tail_chained);
        let event = Event::Exception { number, returns, target, tail_chained, cycles: None };
        sink.event(at, event);
    }

    /// Follows instructions of which only the number is known.
    fn q(
        &mut self,
        at: StreamPos,
        count: u32,
        address: Option<(u64, Is)>,
        sink: &mut impl ElementSink,
    ) -> bool {
        let mut context = None;
        let (next, is) = match address {
            Some(found) => found,
            None => match self.following() {
                Some((before, address, is)) => {
                    context = before;
                    (address, is)
                }
                None => {
                    self.give_up_elements(at, Fault::NoAddress, sink);
                    return false;
                }
            },
        };
        let start = self.walk.pc;
        let mut left = count;
        let mut branch = false;
        let mut stepped = None;
        if count > 0 && self.is_known() {
            stepped = Some(self.walk.step(|insn, _| {
                left = left.saturating_sub(1);
                branch = matches!(insn.kind, Kind::Direct { .. } | Kind::Indirect);
                left > 0 && !branch
            }));
        }
        match stepped {
            // All of them in sequence, or up to a branch: the path is known.
            Some(path) if path.count == count && (path.end == next || branch) => {
                self.walk.report(at, &path, None, sink);
            }
            _ => sink.event(at, Event::NoPath { start, next, count }),
        }
        self.go_to(next, is);
        if let Some((context, is)) = context {
            self.enter(at, &context, is, sink);
        }
        true
    }

    /// Follows instructions up to and including the one at an address, which is an atom E (O15). `false` if
    /// decoding gave up.
    fn source(&mut self, at: StreamPos, address: u64, sink: &mut impl ElementSink) -> bool {
        if !self.pop(at, sink) {
            return false;
        }
        if self.context.is_none() {
            return true;
        }
        // That of execution: the packet only tells how many bits of the address it leaves out.
        let isa = self.walk.isa;
        if self.place != Place::Known || self.walk.pc > address {
            // How the program reached this address is not known.
            self.walk.set(address, isa);
        }
        let stepped = self.walk.step(|insn, end| end.wrapping_sub(insn.size.into()) != address);
        let Some(last) = stepped.last.filter(|_| stepped.complete) else {
            let spaces = self.walk.spaces();
            sink.event(at, Event::NotAccessible { address, spaces });
            self.place = Place::Unknown;
            return true;
        };
        self.walk.report(at, &stepped, None, sink);
        self.place = Place::Known;
        match last.kind {
            Kind::Direct { target, isa } => self.walk.set(target, isa),
            _ => self.walk.set(stepped.end, isa),
        }
        self.leave(at, &last, stepped.end, isa, sink);
        true
    }
}
