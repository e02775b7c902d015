//! What a program is unlikely to do: clues beyond whether packets can be followed.
//!
//! A wrong reading can lead through the program without a contradiction, but not in a sensible way: functions return
//! to where nobody called them, and instructions trap that cannot.

use hartrace_decoder::{Event, Image, Run, Transfer};
use hartrace_isa::Kind;

/// Calls that are remembered.
const CALLS: usize = 1 << 12;

/// How often a program did what programs rarely do.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    /// Returns to an address behind which there is no call, and environment calls by other instructions.
    pub impossible: u64,
    /// Returns to another place than the latest call.
    pub unmatched: u64,
    /// Different payloads of format 0 whose first field has the same lowest bit in all of them, as a subformat has: then it is most
    /// likely one, and not part of a number.
    pub constant: u64,
}

/// So many different payloads with the same bit are no accident.
const CONSTANT: u64 = 16;

impl Clues {
    /// Whether these are what a program does, and the `other` ones are not.
    pub(super) fn are_better(self, other: Self) -> bool {
        let none = |a: u64, b: u64| a == 0 && b > 0;
        let fewer = self.impossible <= other.impossible
            && self.unmatched <= other.unmatched
            && self.constant <= other.constant;
        let better = none(self.impossible, other.impossible)
            || none(self.unmatched, other.unmatched)
            || none(self.constant, other.constant) && other.constant >= CONSTANT;
        fewer && better
    }

    /// All of them.
    pub(super) fn sum(self) -> u64 {
        self.impossible.saturating_add(self.unmatched).saturating_add(self.constant)
    }
}

/// Follows calls and returns.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    image: &'a Image,
    pub(super) clues: Clues,
    /// Where calls return to, the latest last.
    calls: Vec<u64>,
    /// Where the run before should have returned to, if it is a return: the latest call, if any is known.
    returning: Option<Option<u64>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(image: &'a Image) -> Self {
        Self { image, clues: Clues::default(), calls: Vec::new(), returning: None }
    }

    pub(super) fn run(&mut self, run: &Run<'_>) {
        self.arrive(run.start());
        let transfer = run.transfer();
        if matches!(transfer, Transfer::Return | Transfer::Swap) {
            self.returning = Some(self.calls.pop());
        }
        if matches!(transfer, Transfer::Call | Transfer::Swap) {
            if self.calls.len() >= CALLS {
                self.calls.clear();
            }
            self.calls.push(run.end());
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Trap { cause, interrupt, epc: Some(epc), .. } => {
                self.arrive(*epc);
                let insn = self.image.insn(*epc).map(|insn| insn.kind);
                let asks = insn == Some(Kind::EnvironmentTrap);
                // The environment calls by themselves; breakpoints may also be those of the hardware.
                if !interrupt && matches!(cause, 8..=11) && !asks {
                    self.clues.impossible = self.clues.impossible.saturating_add(1);
                }
            }
            Event::Gap(_) | Event::On | Event::Off(_) | Event::Restart | Event::LeftOut { .. } => {
                self.calls.clear();
                self.returning = None;
            }
            Event::Trap { epc: None, .. } => self.returning = None,
            Event::Time(_) | Event::Context { .. } | Event::Trigger => {}
        }
    }

    /// A return has led to this address.
    fn arrive(&mut self, address: u64) {
        let Some(expected) = self.returning.take() else { return };
        if expected == Some(address) {
            return;
        }
        if expected.is_some() {
            self.clues.unmatched = self.clues.unmatched.saturating_add(1);
            // Behind a call further up: functions were left without a return.
            if let Some(depth) = self.calls.iter().rposition(|call| *call == address) {
                self.calls.truncate(depth);
            }
        }
        if !self.is_behind_call(address) {
            self.clues.impossible = self.clues.impossible.saturating_add(1);
        }
    }

    fn is_behind_call(&self, address: u64) -> bool {
        let is_call = |size: u8| {
            let insn = self.image.insn(address.wrapping_sub(size.into()));
            insn.is_some_and(|insn| {
                insn.size == size && insn.link().is_some_and(|link| link.pushes())
            })
        };
        is_call(2) || is_call(4)
    }
}
