//! The stretch of a trace that is reported.

use hartrace_decoder::{Event, StreamPos};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

pub use crate::limited::{Limited, SharedLimits};

/// A place in a trace: instructions, packets and bytes are numbered from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Number of an instruction.
    Insn(u64),
    /// Number of a packet.
    Packet(u64),
    /// Byte of the capture.
    Byte(u64),
}

/// Text that is not a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PositionError {
    /// There is no such unit.
    #[error("`{0}` is not one of insn, packet and byte")]
    Unit(String),
    /// There is no number.
    #[error("`{0}` is not a number; write for example 1000, packet:12 or byte:4096")]
    Number(String),
}

/// The range between two positions is empty.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("the range from {from} to {to} is empty")]
pub struct NothingBetween {
    /// The first position.
    pub from: u64,
    /// The second.
    pub to: u64,
}

/// Nothing of a trace is within the limits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreached {
    /// The trace ends before it gets there.
    #[error("the trace has {insns} instructions; --from {from} is past its end")]
    PastEnd {
        /// Where the limits start.
        from: Position,
        /// Instructions of the trace.
        insns: u64,
    },
    /// The end of the limits comes first.
    #[error("nothing is between --from {from} and --to, which comes first")]
    ToFirst {
        /// Where the limits start.
        from: Position,
    },
    /// The function is not active there.
    #[error("the function of --in is not active between --from and --to")]
    Inactive,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insn(number) => write!(f, "{number}"),
            Self::Packet(number) => write!(f, "packet:{number}"),
            Self::Byte(number) => write!(f, "byte:{number}"),
        }
    }
}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let (unit, number) = text.split_once(':').unwrap_or(("insn", text));
        let number = number.parse().map_err(|_| PositionError::Number(number.into()))?;
        match unit {
            "insn" => Ok(Self::Insn(number)),
            "packet" => Ok(Self::Packet(number)),
            "byte" => Ok(Self::Byte(number)),
            _ => Err(PositionError::Unit(unit.into())),
        }
    }
}

impl Position {
    /// Returns how many of `count` instructions of packet `at` come before this position. The first of
    /// them has number `insn`.
    fn before(self, at: StreamPos, insn: u64, count: usize) -> usize {
        let reached = match self {
            Self::Insn(number) => {
                let ahead = number.saturating_sub(insn);
                return usize::try_from(ahead).unwrap_or(usize::MAX).min(count);
            }
            Self::Packet(number) => at.packet >= number,
            Self::Byte(number) => at.byte >= number,
        };
        if reached { 0 } else { count }
    }

    /// Whether nothing comes before it.
    pub const fn is_start(self) -> bool {
        matches!(self, Self::Insn(0) | Self::Packet(0) | Self::Byte(0))
    }

    fn is_reached(self, at: StreamPos, insn: u64) -> bool {
        self.before(at, insn, 1) == 0
    }
}

/// Instructions to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Their numbers.
    pub insns: Range<u64>,
    /// The functions that were active at the end of the span before are active again: they have waited.
    pub resumes: bool,
}

/// What is left out before what is reported.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many instructions.
    pub insns: u64,
    /// See [`Span::resumes`].
    pub resumes: bool,
}

/// Which part of a trace to report. A position that was reached stays reached.
#[derive(Clone, Debug)]
pub struct Limits {
    from: Option<Position>,
    /// The first instruction, if it was given by its number.
    first: Option<u64>,
    to: Option<Position>,
    /// Instructions so far.
    insns: u64,
    /// The only instructions to report, in order, if not all.
    spans: Option<Arc<[Span]>>,
    /// The first span that is not over.
    span: usize,
    /// The number after the last instruction that was reported.
    reported: Option<u64>,
}

impl Limits {
    /// From the first position up to, but not including, the second; `None` if that is everything.
    pub fn new(
        from: Option<Position>,
        to: Option<Position>,
    ) -> Result<Option<Self>, NothingBetween> {
        use Position::{Byte, Insn, Packet};
        let pair = match (from, to) {
            (Some(Insn(a)), Some(Insn(b)))
            | (Some(Packet(a)), Some(Packet(b)))
            | (Some(Byte(a)), Some(Byte(b))) => Some((a, b)),
            _ => None,
        };
        match pair {
            Some((from, to)) if from >= to => Err(NothingBetween { from, to }),
            _ if from.is_none() && to.is_none() => Ok(None),
            _ => {
                let first = if let Some(Insn(number)) = from { Some(number) } else { None };
                Ok(Some(Self { from, first, to, ..Self::all() }))
            }
        }
    }

    /// Everything.
    fn all() -> Self {
        Self { from: None, first: None, to: None, insns: 0, spans: None, span: 0, reported: None }
    }

    /// Only these instructions, which are in order, of what is within limits.
    #[must_use]
    pub fn only(limits: Option<Self>, spans: Arc<[Span]>) -> Self {
        Self { spans: Some(spans), ..limits.unwrap_or_else(Self::all) }
    }

    /// Takes the next instructions. Calls `report` with each stretch of them to report, and with what is
    /// left out between it and the last one.
    pub fn take(
        &mut self,
        at: StreamPos,
        count: usize,
        report: &mut dyn FnMut(Range<usize>, LeftOut),
    ) {
        let before = |p: Position| p.before(at, self.insns, count);
        let start = self.from.map_or(0, before);
        let end = self.to.map_or(count, before);
        if start < count && !self.is_done() {
            self.from = None;
        }
        if end < count {
            self.to = Some(Position::Insn(0));
        }
        let first = self.insns;
        self.insns = first.saturating_add(count as u64);
        if start >= end {
            return;
        }
        let Some(spans) = self.spans.clone() else { return report(start..end, LeftOut::default()) };
        let limit = |n: usize| first.saturating_add(n as u64);
        let (from, to) = (limit(start), limit(end));
        while let Some(Span { insns: span, .. }) =
            spans.get(self.span).filter(|span| span.insns.start < to)
        {
            let piece = span.start.max(from)..span.end.min(to);
            if piece.start < piece.end {
                let left_out = self.left_out(piece.start);
                self.reported = Some(piece.end);
                let number = |insn: u64| insn.saturating_sub(first) as usize;
                report(number(piece.start)..number(piece.end), left_out);
            }
            if span.end > to {
                break;
            }
            self.span = self.span.saturating_add(1);
        }
    }

    /// What is left out if an instruction is reported next. Told once.
    fn left_out(&mut self, next: u64) -> LeftOut {
        let reported = self.reported.replace(next).unwrap_or(next);
        let spans = self.spans.iter().flat_map(|spans| spans.get(..=self.span).unwrap_or_default());
        // All spans between have to resume.
        let mut between = spans
            .rev()
            .take_while(|span| span.insns.start >= reported)
            .filter(|span| span.insns.start <= next);
        LeftOut { insns: next.saturating_sub(reported), resumes: between.all(|span| span.resumes) }
    }

    /// What is left out before an event that is reported.
    pub fn left_out_before(&mut self) -> LeftOut {
        match self.spans.is_some() && self.reported.is_some() {
            true => self.left_out(self.insns),
            false => LeftOut::default(),
        }
    }

    /// Whether an event is in one of the spans. What leads to a function is not: a trap before its first instruction. A gap that
    /// ends a span is.
    fn contains(&self, event: &Event) -> bool {
        let now = self.insns;
        self.spans.as_ref().is_none_or(|spans| {
            let before = self.span.saturating_sub(1);
            let near = spans.get(before..).unwrap_or_default();
            let mut near = near.iter().take_while(|span| span.insns.start <= now);
            near.any(|Span { insns, .. }| match event {
                Event::Gap(_) => insns.start < now && now <= insns.end,
                Event::Trap { .. } => insns.start < now && now < insns.end,
                _ => insns.contains(&now),
            })
        })
    }

    /// Whether to report something that is not an instruction.
    pub fn admits(&mut self, at: StreamPos, event: Option<&Event>) -> bool {
        let reached = |p: Position| p.is_reached(at, self.insns);
        if self.from.is_some_and(reached) {
            self.from = None;
        }
        if self.to.is_some_and(reached) {
            self.to = Some(Position::Insn(0));
        }
        self.from.is_none() && !self.is_done() && event.is_none_or(|event| self.contains(event))
    }

    /// Why nothing was reported, if the start has not been reached.
    pub fn unreached(&self) -> Option<Unreached> {
        let insns = self.insns;
        // What happens after the last instruction has the number of the next one.
        let past = self.first.filter(|first| *first >= insns).map(Position::Insn);
        let inactive = self.spans.is_some() && self.reported.is_none();
        if inactive && self.is_done() {
            return Some(Unreached::Inactive);
        }
        let Some(from) = self.from.or(past) else {
            return inactive.then_some(Unreached::Inactive);
        };
        Some(match self.is_done() {
            true => Unreached::ToFirst { from },
            false => Unreached::PastEnd { from, insns },
        })
    }

    /// Instructions before the next position that is the number of one.
    pub fn distance(&self) -> u64 {
        let ahead = |position: Option<Position>| match position {
            Some(Position::Insn(number)) => number.saturating_sub(self.insns),
            _ => u64::MAX,
        };
        let spans = self.spans.iter().flat_map(|spans| spans.get(self.span..).unwrap_or_default());
        let mut edges = spans.flat_map(|span| [span.insns.start, span.insns.end]);
        let edge = edges.find(|edge| *edge > self.insns);
        let edge = edge.map_or(u64::MAX, |edge| edge.saturating_sub(self.insns));
        ahead(self.from).min(ahead(self.to)).min(edge)
    }

    /// Takes turns of a loop, of so many instructions each, which no such position is within. Returns whether to
    /// report them, with what is left out between them and the last ones.
    pub fn take_turns(&mut self, at: StreamPos, insns: u64, times: u64) -> Option<LeftOut> {
        let mut reported = None;
        let count = usize::try_from(insns).unwrap_or(usize::MAX);
        self.take(at, count, &mut |_, left_out| reported = Some(left_out));
        let others = insns.saturating_mul(times.saturating_sub(1));
        self.insns = self.insns.saturating_add(others);
        if reported.is_some() {
            self.reported = self.reported.map(|reported| reported.saturating_add(others));
        }
        reported
    }

    /// The number of the first instruction that is reported, if it does not depend on packets or bytes and nothing has been
    /// reported.
    pub fn first(&self) -> Option<u64> {
        let from = match self.from {
            None => 0,
            Some(Position::Insn(number)) => number,
            Some(Position::Packet(_) | Position::Byte(_)) => return None,
        };
        match &self.spans {
            None => Some(from),
            Some(spans) => {
                let span = spans.iter().find(|span| span.insns.end > from)?;
                Some(span.insns.start.max(from))
            }
        }
    }

    /// Whether nothing more will be reported.
    pub fn is_done(&self) -> bool {
        let last = self.spans.as_ref().map(|spans| spans.last().map_or(0, |span| span.insns.end));
        matches!(self.to, Some(Position::Insn(number)) if number <= self.insns)
            || last.is_some_and(|last| last <= self.insns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(from: &str, to: &str) -> Result<Option<Limits>, NothingBetween> {
        let position = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        Limits::new(position(from), position(to))
    }

    /// Which instructions are reported, of three packets with three each, 10 bytes apart.
    fn printed(from: &str, to: &str) -> Vec<u64> {
        let mut limits = limits(from, to).unwrap().unwrap();
        let mut list = Vec::new();
        for packet in 0..3 {
            let at = StreamPos { packet, byte: 10 * packet };
            limits.take(at, 3, &mut |range, _| {
                list.extend(range.map(|n| 3 * packet + n as u64));
            });
        }
        list
    }

    #[test]
    fn instructions_packets_and_bytes() {
        assert_eq!(printed("0", ""), (0..9).collect::<Vec<_>>());
        assert_eq!(printed("2", "7"), [2, 3, 4, 5, 6]);
        assert_eq!(printed("insn:4", "insn:5"), [4]);
        assert_eq!(printed("packet:1", ""), [3, 4, 5, 6, 7, 8]);
        assert_eq!(printed("packet:1", "7"), [3, 4, 5, 6]);
        assert_eq!(printed("", "byte:11"), [0, 1, 2, 3, 4, 5]);
        assert_eq!(printed("byte:1", "packet:2"), [3, 4, 5]);
        assert!(printed("100", "").is_empty());
        // Positions of different kinds: the end may come before the start.
        assert!(printed("packet:2", "2").is_empty());
    }

    #[test]
    fn events_and_the_end() {
        let mut limits = limits("packet:1", "4").unwrap().unwrap();
        let at = |packet| StreamPos { packet, byte: 0 };
        assert!(!limits.admits(at(0), None));
        limits.take(at(0), 3, &mut |range, _| panic!("{range:?}"));
        assert!(limits.admits(at(1), None));
        assert!(!limits.is_done());
        let mut taken = Vec::new();
        limits.take(at(1), 3, &mut |range, _| taken.push(range));
        assert_eq!(taken, std::iter::once(0..1).collect::<Vec<_>>());
        assert!(limits.is_done() && !limits.admits(at(1), None));
    }

    #[test]
    fn nothing_within_them() {
        let unreached = |from, to| {
            let mut limits = limits(from, to).unwrap().unwrap();
            for packet in 0..3 {
                limits.take(StreamPos { packet, byte: 10 * packet }, 3, &mut |_, _| ());
            }
            limits.unreached().map(|why| why.to_string())
        };
        assert_eq!(unreached("8", ""), None);
        let mut end = limits("0", "").unwrap().unwrap();
        assert!(end.admits(StreamPos::default(), None) && end.unreached().is_some());
        let past = "the trace has 9 instructions; --from 9 is past its end";
        assert_eq!(unreached("9", "").as_deref(), Some(past));
        let past = "the trace has 9 instructions; --from packet:3 is past its end";
        assert_eq!(unreached("packet:3", "").as_deref(), Some(past));
        let first = "nothing is between --from byte:15 and --to, which comes first";
        assert_eq!(unreached("byte:15", "2").as_deref(), Some(first));
    }

    #[test]
    fn mistakes() {
        for bad in ["", "x", "line:3", "packet:", "packet:-1", "0x10"] {
            assert!(bad.parse::<Position>().is_err(), "{bad}");
        }
        assert_eq!(limits("5", "5").unwrap_err(), NothingBetween { from: 5, to: 5 });
        assert!(limits("5", "packet:5").is_ok());
        assert!(limits("", "").unwrap().is_none());
    }
}
