//! One type for printers of all reports.

use crate::arm::{self, How};
use crate::decode::Origin;
use crate::gaps::Gaps;
use crate::limits::SharedLimits;
use crate::printer::{Error, Printer};
use crate::report::Report;
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::system::Traced;
use hartrace_decoder::stream::StreamError;
use std::io::{Read, Write};

/// What prints a report, whatever the type of the report: a [`Printer`]; [`Form::printer`](crate::Form::printer) makes one.
pub trait Print: Send {
    /// Decodes everything within the limits: see [`Printer::follow`].
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, the report not be written, or there is a gap where none is allowed.
    fn follow(
        &mut self,
        follow: &CaptureDecoder,
        origin: Origin<'_, &mut (dyn Read + Send + '_)>,
        size: usize,
        limits: Option<&SharedLimits>,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), StreamError<Error>>;

    /// Decodes sources of Arm systems: see [`arm::report`].
    ///
    /// # Errors
    ///
    /// If the report cannot be written, or there is a gap where none is allowed.
    fn arm(&mut self, how: How, all: &[Traced<'_>]) -> Result<(), Error>;

    /// The gaps so far.
    fn gaps(&self) -> &Gaps;
}

impl<R: Report + Send, W: Write + Send> Print for Printer<R, W> {
    fn follow(
        &mut self,
        follow: &CaptureDecoder,
        origin: Origin<'_, &mut (dyn Read + Send + '_)>,
        size: usize,
        limits: Option<&SharedLimits>,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), StreamError<Error>> {
        self.follow(follow, origin, size, limits, progress)
    }

    fn arm(&mut self, how: How, all: &[Traced<'_>]) -> Result<(), Error> {
        arm::report(self, how, all)
    }

    fn gaps(&self) -> &Gaps {
        &self.gaps
    }
}
