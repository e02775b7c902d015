//! Commit, cancel, mispredict and discard.

use super::element::Element;
use super::packet::Resolution;
use super::{Etmv4, Place, State};
use crate::event::{ElementSink, Event, Fault, Lost, Start, Transaction};
use hartrace_decoder::StreamPos;

impl Etmv4<'_> {
    pub(super) fn resolve(
        &mut self,
        at: StreamPos,
        resolution: Resolution,
        sink: &mut impl ElementSink,
    ) {
        let Resolution { commit, cancel, mispredict, discard } = resolution;
        if commit > 0 && !self.commit(commit, at, sink) {
            return;
        }
        if cancel > 0 && !self.cancel(cancel) {
            return self.give_up_elements(at, Fault::Elements, sink);
        }
        if mispredict && !self.mispredict() {
            return self.give_up_elements(at, Fault::Elements, sink);
        }
        if let Some(lost) = discard {
            self.discard(at, lost, sink);
        }
    }

    /// Follows the oldest P0 elements, and all older elements. `false` if decoding gave up.
    fn commit(&mut self, mut count: u32, at: StreamPos, sink: &mut impl ElementSink) -> bool {
        while count > 0 {
            let Some((root, element)) = self.queue.pop_front() else {
                self.give_up_elements(at, Fault::Elements, sink);
                return false;
            };
            let mut p0 = element.p0();
            if let Element::Atoms { bits, len } = element {
                // Some of them may have to wait.
                let now = len.min(u8::try_from(count).unwrap_or(u8::MAX));
                if now < len {
                    let left = Element::Atoms { bits: bits >> now, len: len.saturating_sub(now) };
                    self.queue.push_front((root, left));
                }
                p0 = now.into();
                if !self.follow_atoms(root, bits, now, sink) {
                    return false;
                }
            } else if !self.commit_one(root, &element, sink) {
                return false;
            }
            count = count.saturating_sub(p0);
            self.depth = self.depth.saturating_sub(p0);
        }
        true
    }

    /// Removes the newest P0 elements, and the addresses and contexts after them.
    fn cancel(&mut self, mut count: u32) -> bool {
        let mut at = self.queue.len();
        while count > 0 {
            let Some(before) = at.checked_sub(1) else { return false };
            at = before;
            let Some((_, element)) = self.queue.get_mut(at) else { return false };
            match element {
                Element::Atoms { len, bits } if u32::from(*len) > count => {
                    *len = len.saturating_sub(count as u8);
                    *bits &= !(u32::MAX << *len);
                    self.depth = self.depth.saturating_sub(count);
                    count = 0;
                }
                element if element.stays() => {}
                element => {
                    let p0 = element.p0();
                    count = count.saturating_sub(p0);
                    self.depth = self.depth.saturating_sub(p0);
                    self.queue.remove(at);
                }
            }
        }
        true
    }

    /// Inverts the newest atom, and removes the addresses after it.
    fn mispredict(&mut self) -> bool {
        for at in (0..self.queue.len()).rev() {
            match self.queue.get_mut(at) {
                Some((_, Element::Atoms { bits, len })) => {
                    *bits ^= 1u32.wrapping_shl(u32::from(*len).saturating_sub(1));
                    return true;
                }
                // An atom from before the synchronisation, which is not known.
                Some((_, Element::Unseen)) => return true,
                Some((_, Element::Address(..))) => {
                    self.queue.remove(at);
                }
                Some((_, element)) => {
                    if let Element::Arrival(context, _, is) = *element {
                        *element = Element::Context(context, is);
                    }
                }
                None => {}
            }
        }
        false
    }

    /// Drops all elements except those that belong to the trace.
    fn discard(&mut self, at: StreamPos, lost: Lost, sink: &mut impl ElementSink) {
        while let Some((root, element)) = self.queue.pop_front() {
            if element.stays() && !self.commit_one(root, &element, sink) {
                return;
            }
        }
        self.depth = 0;
        self.address_pending = false;
        self.context = None;
        self.place = Place::Unknown;
        self.state = State::Async;
        sink.event(at, Event::NoSync(lost));
    }

    /// Ends the stream: elements that are not committed are dropped.
    pub fn finish(&mut self, sink: &mut impl ElementSink) {
        while let Some((root, element)) = self.queue.pop_front() {
            let p0 = element.p0() > 0;
            let over = p0 || matches!(element, Element::TraceOn | Element::ExceptionReturn { .. });
            if over {
                break;
            }
            let done =
                matches!(element, Element::Transaction(Transaction::Commit | Transaction::Fail, _))
                    && (self.config.max_speculation == 0 || self.depth == 0);
            if (element.stays() || done) && !self.commit_one(root, &element, sink) {
                break;
            }
        }
        let lost = if self.start == Start::Overflow { Lost::Overflow } else { Lost::End };
        sink.event(self.at, Event::End(lost));
        self.forget();
        self.state = State::Lost(Lost::Start);
    }
}
