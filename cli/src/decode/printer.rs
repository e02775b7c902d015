//! Parts to text, in order.

use super::forms::Form;
use super::part::{Item, Part, Retired};
use crate::failure::{Failure, Status};
use crate::gaps::Gaps;
use crate::limits::Limits;
use hartrace_decoder::{Event, Leaves, StreamPos};
use std::io::Write;

/// Bytes of text to collect before they are written.
const CHUNK: usize = 1 << 16;

/// Prints one part after the other.
pub(crate) struct Printer<'a, W> {
    out: W,
    text: Vec<u8>,
    form: Box<dyn Form + 'a>,
    gaps: Gaps,
    limits: Limits,
}

impl<'a, W: Write> Printer<'a, W> {
    pub(crate) fn new(out: W, form: Box<dyn Form + 'a>, gaps: Gaps, limits: Limits) -> Self {
        Self { out, text: Vec::with_capacity(2 * CHUNK), form, gaps, limits }
    }

    /// Nothing that follows will be printed.
    pub(crate) fn is_done(&self) -> bool {
        self.limits.is_done()
    }

    /// Prints the next part. With `--strict` it ends with the first gap, and what was decoded before
    /// is printed all the same.
    pub(crate) fn join(&mut self, part: &Part) -> Result<(), Failure> {
        for (at, item) in part.iter() {
            if self.is_done() {
                break;
            }
            match item {
                Item::Retired(run) => self.retired(at, run),
                Item::Event(event) => self.event(at, &event),
            }
            if let Err(failure) = self.gaps.check() {
                self.end()?;
                return Err(failure);
            }
            if self.text.len() >= CHUNK {
                self.write()?;
            }
        }
        Ok(())
    }

    fn retired(&mut self, at: StreamPos, run: Retired<'_>) {
        let range = self.limits.take(at, run.addresses.len());
        if range.is_empty() {
            return;
        }
        let cut = match run.addresses.get(range.end) {
            Some(next) => Retired { end: *next, leaves: Leaves::No, ..run },
            None => run,
        };
        let addresses = &run.addresses[range];
        self.form.retired(&mut self.text, at, Retired { addresses, ..cut });
    }

    fn event(&mut self, at: StreamPos, event: &Event) {
        self.gaps.event(at, event);
        if let Event::Context { context, .. } = event {
            self.form.enter(*context);
        }
        if !self.limits.admits(at) {
            return;
        }
        match event {
            Event::Gap(fault) => self.form.gap(&mut self.text, at, fault),
            event => self.form.event(&mut self.text, at, event),
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Prints what is left.
    fn end(&mut self) -> Result<(), Failure> {
        self.form.finish(&mut self.text);
        self.write()?;
        self.out.flush()?;
        Ok(())
    }

    /// Ends the output.
    pub(crate) fn finish(mut self) -> Result<Status, Failure> {
        self.end()?;
        if self.is_done() {
            self.gaps.stop();
        } else {
            self.gaps.finish();
        }
        Ok(self.gaps.status())
    }
}
