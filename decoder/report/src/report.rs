//! The interface of reports.

use crate::collect::Collect;
use hartrace_decoder::stream::Preparer;
use std::io::{self, Write};

/// Bytes that the result of a part may use before it is passed on. It should stay in the caches, although
/// a few bytes of trace may stand for megabytes of addresses.
pub const PART_BYTES: usize = 1 << 20;

/// A report: joins the decoded parts of a capture, and writes the result.
pub trait Report {
    /// What a part is decoded into, by the thread that decodes it.
    type Part: Collect + 'static;

    /// Whether the report cannot name sources, and so accepts only one.
    const ONE_SOURCE: bool = false;

    /// Whether what is left is written only once, at the end of the capture.
    const WHOLE: bool = false;

    /// Returns a function that makes an empty part.
    fn maker(&self) -> Box<dyn Fn() -> Self::Part + Send + Sync>;

    /// Returns what prepares parts on the threads that decode them, if anything can be done there. [`Report::join`] takes
    /// parts that were not prepared, too.
    fn preparer<'p>(&self) -> Option<Box<Preparer<'p, Self::Part>>>
    where
        Self: 'p,
    {
        None
    }

    /// Takes the next part of a source. Parts come in the order of the capture.
    fn join(
        &mut self,
        source: Option<u16>,
        part: Self::Part,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Writes what is left, at the end of the capture, or, unless [`Report::WHOLE`], after all traces of some of its
    /// sources.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }
}

/// For callers who use a report after it is finished.
impl<R: Report> Report for &mut R {
    type Part = R::Part;
    const ONE_SOURCE: bool = R::ONE_SOURCE;
    const WHOLE: bool = R::WHOLE;

    fn maker(&self) -> Box<dyn Fn() -> Self::Part + Send + Sync> {
        (**self).maker()
    }

    fn preparer<'p>(&self) -> Option<Box<Preparer<'p, Self::Part>>>
    where
        Self: 'p,
    {
        (**self).preparer()
    }

    fn join(
        &mut self,
        source: Option<u16>,
        part: Self::Part,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        (**self).join(source, part, out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        (**self).finish(out)
    }
}
