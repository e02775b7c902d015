//! Decodes a capture into a report.

use crate::{Collect, Erased, Error, Limited, Noted, Printer, Report, Shared, Silent};
use hartrace_capture::follow::Follow;
use hartrace_capture::perf::Recording;
use hartrace_decoder::stream::{Decoded, StreamError};
use std::io::{Read, Write};
use std::ops::ControlFlow;

/// Where a trace is read from.
#[derive(Debug)]
pub enum Origin<'r, I> {
    /// A capture, as it arrives.
    Capture(I),
    /// E-Trace in a recording of perf.
    Recording(&'r Recording),
}

impl<'r, I> Origin<'r, I> {
    /// The same, read in another way.
    pub fn map<J>(self, wrap: impl FnOnce(I) -> J) -> Origin<'r, J> {
        match self {
            Self::Capture(input) => Origin::Capture(wrap(input)),
            Self::Recording(recording) => Origin::Recording(recording),
        }
    }
}

impl<R: Report + Send, W: Write + Send> Printer<R, W> {
    /// Decodes everything within the limits, in parts of about `size` bytes, and finishes the report, even if
    /// an error follows. `progress` is told the number of bytes so far.
    ///
    /// Limits that count instructions need a [`Follow`] with one thread.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, the report not be written, or there is a gap where none is allowed.
    pub fn follow<I: Read + Send>(
        &mut self,
        follow: &Follow,
        origin: Origin<'_, I>,
        size: usize,
        limits: Option<&Shared>,
        mut progress: impl FnMut(u64) + Send,
    ) -> Result<(), StreamError<Error>> {
        let strict = self.gaps.is_strict();
        let maker = self.report.maker();
        let make = || Noted::new(maker(), strict);
        let mut found = Silent::default();
        let mut join = |Decoded { sinks, bytes, packets }: Decoded<Noted<R::Part>>| {
            found = Silent { bytes, packets };
            progress(bytes);
            self.join(sinks)?;
            let done = limits.is_some_and(Shared::is_done);
            Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // Only a whole capture has to be decoded as fast as possible.
        let erased = || Erased::new(make());
        let outcome = match (origin, limits) {
            (Origin::Capture(input), None) => follow.run(input, size, make, join),
            (Origin::Capture(input), Some(limits)) => {
                let make = || Limited { sink: erased(), limits };
                follow.run(input, size, make, |decoded| {
                    join(restored(decoded, |limited| limited.sink))
                })
            }
            (Origin::Recording(recording), None) => {
                follow
                    .run_recorded(recording, erased, |decoded| join(restored(decoded, |sink| sink)))
            }
            (Origin::Recording(recording), Some(limits)) => {
                let make = || Limited { sink: erased(), limits };
                follow.run_recorded(recording, make, |decoded| {
                    join(restored(decoded, |limited| limited.sink))
                })
            }
        };
        let printed = self.finish().map_err(|error| StreamError::Join(error.into()));
        self.gaps.end(*outcome.as_ref().unwrap_or(&ControlFlow::Break(())));
        if let Ok(ControlFlow::Continue(())) = outcome {
            self.gaps.silent(found);
        }
        outcome.and(printed)
    }
}

/// Sinks with the type they were made of.
fn restored<S, P: Collect + 'static>(
    Decoded { sinks, bytes, packets }: Decoded<S>,
    erased: impl Fn(S) -> Erased,
) -> Decoded<P> {
    let sinks = sinks.into_iter();
    let sinks = sinks.filter_map(|(source, sink)| Some((source, erased(sink).into_sink()?)));
    Decoded { sinks: sinks.collect(), bytes, packets }
}
