//! Makes a report and its gaps from parts.

use crate::collect::Noted;
use crate::gaps::{Gaps, Missing};
use crate::limits::Unreached;
use crate::report::Report;
use crate::unended::Unended;
use hartrace_decoder::Sink as _;
use hartrace_decoder::stream::{Decode, Decoded, Prepare, StreamError};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use thiserror::Error;

/// Why a report ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The report cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// There is a gap, and none is allowed: see [`Gaps::strict`].
    #[error(transparent)]
    Gap(#[from] Missing),
    /// The trace does not end, and it has to: see [`Gaps::strict`].
    #[error(transparent)]
    Unended(#[from] Unended),
    /// Nothing is within the limits.
    #[error("{file}: {why}")]
    Unreached {
        /// The capture.
        file: String,
        /// Why.
        why: Unreached,
    },
    /// Nobody waits for the rest any more: see [`Gaps::cancelled_by`].
    #[error("cancelled")]
    Cancelled,
    /// There are several sources, and only one can be reported: see [`Report::ONE_SOURCE`].
    #[error(transparent)]
    Sources(#[from] SeveralSources),
}

/// A capture has traces of several sources, and only one can be used: choose one of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{capture}: traces of several sources: {}", list(ids))]
pub struct SeveralSources {
    /// The capture.
    pub capture: String,
    /// Two of the sources, the lower first.
    pub ids: Vec<u16>,
}

fn list(ids: &[u16]) -> String {
    ids.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

/// Refuses a second source.
#[derive(Copy, Clone, Debug, Default)]
pub struct OneSource(Option<Option<u16>>);

impl OneSource {
    /// Records that something of `source` was decoded from the capture of this name.
    pub fn take(&mut self, source: Option<u16>, capture: &str) -> Result<(), SeveralSources> {
        let first = *self.0.get_or_insert(source);
        if first == source {
            return Ok(());
        }
        let mut ids: Vec<u16> = first.into_iter().chain(source).collect();
        ids.sort_unstable();
        Err(SeveralSources { capture: capture.into(), ids })
    }
}

/// Writes a report, part by part, and reports gaps.
#[derive(Debug)]
pub struct Printer<R, W> {
    /// The report.
    pub report: R,
    /// The gaps so far.
    pub gaps: Gaps,
    /// Where the report goes.
    pub out: W,
    source: OneSource,
}

impl<R: Report, W: Write> Printer<R, W> {
    /// A printer that has not written anything yet.
    pub fn new(report: R, out: W, gaps: Gaps) -> Self {
        Self { report, gaps, out, source: OneSource::default() }
    }

    /// Decodes all of a capture and finishes the report, even if the capture ends with an error.
    pub fn decode(
        &mut self,
        decode: &Decode<'_>,
        capture: impl Read + Send,
    ) -> Result<(), StreamError<Error>>
    where
        R: Send,
        W: Send,
    {
        let strict = self.gaps.is_strict();
        let make = self.report.maker();
        let part = |_| Noted::new(make(), strict);
        let preparer = self.report.preparer();
        let preparer = || -> Box<Prepare<'_, Noted<R::Part>>> {
            let mut prepare = preparer.as_ref().map(|preparer| preparer());
            Box::new(move |before, source, noted| {
                if let Some(prepare) = &mut prepare {
                    prepare(before, source, &mut noted.sink);
                }
            })
        };
        let join = |decoded: Decoded<_>| self.join(decoded.sinks);
        let outcome = decode.run_prepared(capture, part, &preparer, join);
        let finished = self.finish().map_err(|error| StreamError::Join(error.into()));
        self.gaps.end(match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        outcome.and(finished)
    }

    /// Takes the next part: a sink for each of its sources.
    pub fn join(&mut self, part: Vec<(Option<u16>, Noted<R::Part>)>) -> Result<(), Error> {
        if self.gaps.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut gaps = Vec::new();
        for (source, noted) in part {
            // Nothing retires before tracing has started, which is noted.
            if R::ONE_SOURCE && noted.has_trace() {
                self.source.take(source, self.gaps.file())?;
            }
            self.report.join(source, noted.sink, &mut self.out)?;
            gaps.extend(noted.gaps.into_iter().map(|(at, event)| (source, at, event)));
        }
        if !R::Part::ORDERED {
            gaps.sort_by_key(|(_, at, _)| at.byte);
        }
        for (source, at, event) in gaps {
            self.gaps.event(source, at, &event);
            self.gaps.check()?;
        }
        Ok(())
    }

    /// Writes the rest of the report so far. Other sources may follow.
    pub fn finish(&mut self) -> io::Result<()> {
        self.report.finish(&mut self.out)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcs::{Pcs, PcsText};
    use hartrace_decoder::{Event, Fault, Leaves, Run, Sink, StreamPos};

    const AT: StreamPos = StreamPos { packet: 3, byte: 30 };

    fn retire(sink: &mut Noted<PcsText>, pc: u64) {
        sink.run(AT, Run::new(pc, &[0], pc + 4, Leaves::No).unwrap());
    }

    fn part(pc: u64) -> Noted<PcsText> {
        let mut noted = Noted::default();
        noted.event(AT, Event::On);
        retire(&mut noted, pc);
        noted
    }

    #[test]
    fn a_second_source_is_refused() {
        let mut printer = Printer::new(Pcs::default(), Vec::new(), Gaps::new("t", |_| {}));
        printer.join(vec![(Some(7), part(0x10))]).unwrap();
        // Nothing of this source was decoded.
        printer.join(vec![(Some(3), Noted::default()), (Some(7), part(0x14))]).unwrap();
        let error = printer.join(vec![(Some(3), part(0x20))]).unwrap_err();
        assert_eq!(error.to_string(), "t: traces of several sources: 3, 7");
        assert_eq!(printer.out, b"0000000000000010\n0000000000000014\n");
    }

    #[test]
    fn a_strict_report_ends_with_the_first_gap() {
        let mut printer =
            Printer::new(Pcs::default(), Vec::new(), Gaps::new("t", |_| {}).strict(true));
        let mut noted = Noted::new(PcsText::default(), true);
        retire(&mut noted, 0x10);
        noted.event(AT, Event::Gap(Fault::NoCode(0x14)));
        retire(&mut noted, 0x18);
        assert!(noted.is_full());
        let error = printer.join(vec![(None, noted)]).unwrap_err();
        assert!(matches!(error, Error::Gap(Missing { at: AT, .. })), "{error}");
        assert_eq!(printer.out, b"0000000000000010\n");
    }
}
