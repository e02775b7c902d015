//! Comparison of what was decoded with what was executed, from the first instruction to the last.

use crate::executed::Instructions;
use hartrace_decoder::{Event, Run, Sink, StreamPos, Time};
use hartrace_etrace::QualStatus;
use hartrace_etrace::ingress::{IType, Retired};
use std::collections::VecDeque;
use std::fmt;

/// An executed piece that is to be decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Executed {
    /// Code from its first instruction up to the address after its last, of which everything before `from`
    /// has been decoded. It is silent if a decoder knows where it continues. The same code follows `again`
    /// times.
    Code { start: u64, from: u64, end: u64, silent: bool, again: u64 },
    /// A trap, with its value and the address of the instruction that did not retire, where they are known.
    Trap { cause: u64, interrupt: bool, tval: Option<u64>, epc: Option<u64> },
    /// Another context.
    Context(u64),
    /// Rows that the trace does not contain, which it reports.
    Lost,
}

impl fmt::Display for Executed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { from, .. } => write!(f, "{from:#x}"),
            Self::Trap { cause, interrupt, tval, epc } => {
                let kind = if *interrupt { "interrupt" } else { "exception" };
                write!(f, "{kind} {cause}")?;
                if let Some(tval) = tval {
                    write!(f, " with {tval:#x}")?;
                }
                epc.map_or(Ok(()), |epc| write!(f, " at {epc:#x}"))
            }
            Self::Context(context) => write!(f, "context {context:#x}"),
            Self::Lost => f.write_str("a loss"),
        }
    }
}

impl Executed {
    /// Whether it may have been decoded as `decoded`; a field that is unknown on one side is ignored.
    fn is(&self, decoded: &Self) -> bool {
        let same = |a: Option<u64>, b: Option<u64>| a.zip(b).is_none_or(|(a, b)| a == b);
        match (self, decoded) {
            (
                Self::Trap { cause, interrupt, tval, epc },
                Self::Trap { cause: c, interrupt: i, tval: t, epc: e },
            ) => cause == c && interrupt == i && same(*tval, *t) && same(*epc, *e),
            (executed, decoded) => executed == decoded,
        }
    }
}

/// Compares incrementally: every instruction, every trap and every loss must be in its place, with no gap
/// anywhere else. Code does not change while it is traced, so the same ranges in the same order are the
/// same instructions.
#[derive(Debug, Default)]
pub struct Verify {
    /// What has not been decoded yet.
    executed: VecDeque<Executed>,
    /// The address after the last decoded instruction.
    end: Option<u64>,
    /// The context of what was executed last and of what was decoded last, if contexts are compared.
    contexts: Option<(u64, u64)>,
    result: Verified,
}

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Number of decoded instructions.
    pub decoded: u64,
    /// Losses that were reported at the right place.
    pub losses: u64,
    /// Number of times that tracing started.
    pub starts: u64,
    /// Code at the end, or before a trap, that no trace contains: see [`is_idle`].
    pub idle: Vec<Idle>,
    /// The times of synchronisations, each with the number of instructions decoded before it.
    pub times: Vec<(u64, u64)>,
    /// The first difference.
    pub difference: Option<String>,
}

/// Code that was executed some number of times.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its first address.
    pub start: u64,
    /// The address after its last instruction.
    pub end: u64,
    /// How often it was executed.
    pub times: u64,
}

/// Whether what was executed after the end of a trace is what no trace contains (D15): further turns of a
/// loop without branches or indirect jumps, such as a jump to itself after the end of a program, or calls until the stack is full. `end` is the
/// address after the last instruction of the trace, and `left` what was executed after it: the address after
/// each piece of code, `None` if a trace has to report where that piece leads.
pub fn is_idle(end: Option<u64>, left: impl IntoIterator<Item = Option<u64>>) -> bool {
    let mut last = None;
    left.into_iter().all(|piece| {
        last = piece;
        piece.is_some()
    }) && last == end
}

impl Verified {
    /// Returns the number of instructions that no trace contains.
    pub fn idle_instructions(&self, instructions: &Instructions<'_>) -> u64 {
        let count =
            |idle: &Idle| instructions.between(idle.start, idle.end).saturating_mul(idle.times);
        self.idle.iter().map(count).fold(0, u64::saturating_add)
    }
}

impl Verify {
    /// Compares contexts too: each piece of code has to be decoded in the one that it was executed in. The first is 0.
    #[must_use]
    pub fn with_contexts(self) -> Self {
        Self { contexts: Some((0, 0)), ..self }
    }

    /// Adds what a hart reports.
    pub fn executed(&mut self, row: &Retired) {
        if let Some((executed, _)) = &mut self.contexts
            && std::mem::replace(executed, row.context) != row.context
        {
            self.executed.push_back(Executed::Context(row.context));
        }
        if row.iretire > 0 {
            let (start, end) = (row.iaddr, row.next_address());
            let silent = matches!(
                row.itype,
                IType::None
                    | IType::InferableCall
                    | IType::InferableTailCall
                    | IType::OtherInferableJump
                    // The trap follows.
                    | IType::Exception
                    | IType::Interrupt
            );
            let new = (start, end, silent);
            match self.executed.back_mut() {
                // A loop without branches may run for as long as it wants.
                Some(Executed::Code { start, end, silent, again, .. })
                    if (*start, *end, *silent) == new =>
                {
                    *again += 1;
                }
                _ => {
                    let code = Executed::Code { start, from: start, end, silent, again: 0 };
                    self.executed.push_back(code);
                }
            }
        }
        if row.itype.is_trap() {
            let (cause, interrupt) = (row.cause, row.itype == IType::Interrupt);
            let tval = (!interrupt).then_some(row.tval);
            // After instructions in the same row, the trap is wherever they lead.
            let epc = (row.iretire == 0).then_some(row.iaddr);
            self.executed.push_back(Executed::Trap { cause, interrupt, tval, epc });
        }
    }

    /// Marks that one or more rows are lost here.
    pub fn lost(&mut self) {
        self.executed.push_back(Executed::Lost);
    }

    /// Returns the result so far.
    pub fn so_far(&self) -> &Verified {
        &self.result
    }

    /// Returns the result after everything has been decoded.
    pub fn finish(mut self) -> Verified {
        if let Some(executed) = self.executed.front().copied() {
            match self.idle(self.executed.len()) {
                Some(idle) => self.result.idle.extend(idle),
                None => self.differ(format_args!("{executed} was not decoded")),
            }
        }
        self.result
    }

    /// The next `count` pieces, if they are code that the trace could not contain.
    fn idle(&self, count: usize) -> Option<Vec<Idle>> {
        let silent = |executed: &Executed| match *executed {
            Executed::Code { end, silent: true, .. } => Some(end),
            _ => None,
        };
        if !is_idle(self.end, self.executed.iter().take(count).map(silent)) {
            return None;
        }
        let mut left = Vec::new();
        for executed in self.executed.iter().take(count) {
            if let Executed::Code { start, from, end, again, .. } = *executed {
                left.push(Idle { start: from, end, times: 1 });
                if again > 0 {
                    left.push(Idle { start, end, times: again });
                }
            }
        }
        Some(left)
    }

    fn differ(&mut self, what: fmt::Arguments<'_>) {
        self.result.difference.get_or_insert_with(|| what.to_string());
    }

    /// Leaves out what was executed before the next trap, if no trace contains it.
    fn skip_idle(&mut self) {
        let code = |executed: &&Executed| matches!(executed, Executed::Code { .. });
        let count = self.executed.iter().take_while(code).count();
        if count == 0 || count == self.executed.len() {
            return;
        }
        if let Some(idle) = self.idle(count) {
            self.result.idle.extend(idle);
            self.executed.drain(..count);
        }
    }

    /// Compares the next decoded piece.
    fn expect(&mut self, at: StreamPos, decoded: Executed) {
        let packet = at.packet;
        if !matches!(decoded, Executed::Code { .. }) {
            self.skip_idle();
        }
        match self.executed.pop_front() {
            Some(executed) if executed.is(&decoded) => {}
            Some(executed) => {
                self.differ(format_args!("packet {packet}: {decoded} instead of {executed}"));
            }
            None => self.differ(format_args!("packet {packet}: {decoded} is too much")),
        }
    }
}

impl Sink for Verify {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.result.decoded += u64::from(run.insns());
        let (mut from, to) = (run.start(), run.end());
        self.end = Some(to);
        while from != to && self.result.difference.is_none() {
            match self.executed.front_mut() {
                Some(Executed::Code { start, from: next, end, again, .. }) if *next == from => {
                    let len = to.wrapping_sub(from).min(end.wrapping_sub(*next));
                    from = from.wrapping_add(len);
                    *next = next.wrapping_add(len);
                    if next == end {
                        match again.checked_sub(1) {
                            Some(left) => (*next, *again) = (*start, left),
                            None => drop(self.executed.pop_front()),
                        }
                    }
                }
                _ => {
                    let (start, end) = (from, to);
                    let code = Executed::Code { start, from, end, silent: false, again: 0 };
                    self.expect(at, code);
                }
            }
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let packet = at.packet;
        match event {
            Event::Trap { cause, interrupt, tval, epc } => {
                self.expect(at, Executed::Trap { cause, interrupt, tval, epc });
            }
            Event::Off(QualStatus::TraceLost) => {
                self.expect(at, Executed::Lost);
                self.result.losses += 1;
            }
            Event::Context { context, .. } => {
                if let Some((_, decoded)) = &mut self.contexts
                    && std::mem::replace(decoded, context) != context
                {
                    self.expect(at, Executed::Context(context));
                }
            }
            Event::On => self.result.starts += 1,
            Event::Time(Time::Stamp { value, .. }) => {
                self.result.times.push((self.result.decoded, value));
            }
            Event::Gap(fault) => self.differ(format_args!("packet {packet}: {fault}")),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: StreamPos = StreamPos { packet: 0, byte: 0 };

    #[test]
    fn traps_have_a_value_and_a_place() {
        let row = Retired {
            itype: IType::Exception,
            iretire: 0,
            cause: 5,
            tval: 0x40,
            ..Retired::plain(0x100)
        };
        let difference = |tval, epc| {
            let mut verify = Verify::default();
            verify.executed(&row);
            verify.event(AT, Event::Trap { cause: 5, interrupt: false, tval, epc });
            verify.finish().difference
        };
        assert_eq!(difference(Some(0x40), Some(0x100)), None);
        assert_eq!(difference(Some(0x40), None), None, "not every packet tells where");
        assert!(difference(Some(0x41), Some(0x100)).is_some());
        assert!(difference(Some(0x40), Some(0x102)).is_some());
    }

    /// A function that calls itself until its store traps, and a thread that jumps to itself until it is interrupted.
    #[test]
    fn turns_before_a_trap() {
        let call = Retired { itype: IType::InferableCall, ..Retired::plain(0x104) };
        let trap =
            Retired { itype: IType::Exception, cause: 7, iretire: 0, ..Retired::plain(0x104) };
        let run = |start, end| Run::new(start, &[0], end, hartrace_decoder::Leaves::Jump).unwrap();
        let verified = |pieces: &[(u64, u64)], epc| {
            let mut verify = Verify::default();
            for _ in 0..1000 {
                verify.executed(&Retired::plain(0x100));
                verify.executed(&call);
            }
            verify.executed(&Retired::plain(0x100));
            verify.executed(&trap);
            for (start, end) in pieces {
                verify.run(AT, run(*start, *end));
            }
            let (tval, epc) = (Some(0), Some(epc));
            verify.event(AT, Event::Trap { cause: 7, interrupt: false, tval, epc });
            verify.finish()
        };
        let found = verified(&[(0x100, 0x104)], 0x104);
        assert_eq!((found.difference, found.idle.len()), (None, 2000));
        let found = verified(&[(0x100, 0x104), (0x104, 0x108), (0x100, 0x104)], 0x104);
        assert_eq!((found.difference, found.idle.len()), (None, 1998));
        // The trap is elsewhere, or something else was executed.
        assert!(verified(&[(0x100, 0x104), (0x104, 0x108)], 0x100).difference.is_some());
        assert!(verified(&[(0x100, 0x104), (0x200, 0x204)], 0x104).difference.is_some());
    }

    /// Only more iterations of a loop that the trace need not report may be left over.
    #[test]
    fn what_is_left_at_the_end() {
        let left = |rows: &[Retired], end| {
            let mut verify = Verify { end: Some(end), ..Verify::default() };
            rows.iter().for_each(|row| verify.executed(row));
            let verified = verify.finish();
            (verified.idle.len(), verified.difference.is_some())
        };
        let store = Retired::plain(0x100);
        let jump = Retired { itype: IType::InferableTailCall, ..Retired::plain(0x104) };
        assert_eq!(left(&[store, jump], 0x108), (2, false));
        assert_eq!(left(&[store], 0x108), (0, true), "it ends elsewhere");
        // Any number of turns uses no memory.
        let many = vec![jump; 1000];
        assert_eq!(left(&many, 0x108), (2, false));
        let branch = Retired { itype: IType::Taken, ..jump };
        assert_eq!(left(&[store, branch], 0x108), (0, true), "a branch is to be told");
    }
}
