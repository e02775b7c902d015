//! Reports that are written in the order of execution.

mod ahead;
mod writer;

use crate::collect::Collect;
use crate::part::{Part, Retired};
use crate::part_pool::PartPool;
use crate::report::Report;
use ahead::{Ahead, State};
use hartrace_decoder::stream::{Prepare, Preparer};
use hartrace_decoder::{Event, Moment, Run, Sink, StreamPos};
use std::fmt::Display;
use std::io::{self, Write};
use writer::Writer;

/// Bytes of text to collect before they are written.
const CHUNK: usize = 1 << 16;

/// Converts what was decoded to text, in order. [`Ordered`] makes a report of it.
///
/// Lines may depend on what came before them. Where that is not known, since another thread decodes it, a form is
/// told to [`forget`](InOrder::forget): text from there on is not used until the form has a
/// [`state`](InOrder::state) again.
pub trait InOrder {
    /// What text depends on, apart from what it is about.
    type State: Clone + Send + Sync + 'static;

    /// Returns a function that makes the same form, for other threads.
    fn maker<'m>(&self) -> Box<dyn Fn() -> Self + Send + Sync + 'm>
    where
        Self: 'm;

    /// Whatever came before is no longer known, except for the source. The next item is a context.
    fn forget(&mut self);

    /// What the text of everything that follows depends on; `None` if that is not known.
    fn state(&self) -> Option<Self::State>;

    /// Continues where another form of this kind has stopped.
    fn resume(&mut self, state: Self::State);

    /// Instructions that retired.
    fn retired(&mut self, out: &mut Vec<u8>, at: StreamPos, run: Retired<'_>);

    /// Any other event, except gaps.
    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event);

    /// Something is missing.
    fn gap(&mut self, out: &mut Vec<u8>, at: StreamPos, cause: &dyn Display);

    /// What follows belongs to this source; what came before belongs to another.
    fn turn(&mut self, out: &mut Vec<u8>, source: Option<u16>);

    /// Code of this context and time follows. Called for all contexts, even where nothing is reported.
    fn enter(&mut self, moment: Moment) {
        let _ = moment;
    }

    /// The end.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}

/// A part of a report in order: text, and on both sides of it what has to become text still.
#[derive(Debug)]
pub struct OrderedPart<S> {
    head: Part,
    /// The text, and what follows from it.
    text: Vec<u8>,
    after: Option<State<S>>,
    tail: Part,
}

impl<S> Default for OrderedPart<S> {
    fn default() -> Self {
        Self { head: Part::default(), text: Vec::new(), after: None, tail: Part::default() }
    }
}

impl<S> Sink for OrderedPart<S> {
    const ORDERED: bool = Part::ORDERED;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.head.run(at, run);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.head.event(at, event);
    }

    fn is_full(&self) -> bool {
        self.head.is_full()
    }

    fn bytes(&self) -> Option<usize> {
        let items = self.head.bytes()?.saturating_add(self.tail.bytes()?);
        Some(items.saturating_add(self.text.capacity()))
    }
}

impl<S: Send> Collect for OrderedPart<S> {
    fn aside(&mut self, at: StreamPos, event: Event) {
        self.head.aside(at, event);
    }
}

/// A report of things in order.
#[derive(Debug)]
pub struct Ordered<F: InOrder> {
    writer: Writer<F>,
    text: Vec<u8>,
    spare: PartPool<OrderedPart<F::State>>,
}

impl<F: InOrder> Ordered<F> {
    /// A report in this form. It does not name sources, unless the form does.
    pub fn new(form: F) -> Self {
        let text = Vec::with_capacity(CHUNK.saturating_mul(2));
        Self { writer: Writer::new(form), text, spare: PartPool::default() }
    }

    /// If `headings`, writes a line `source N:` wherever another source follows.
    pub fn headings(mut self, headings: bool) -> Self {
        self.writer.headings = headings;
        self
    }

    /// Writes what a part consists of.
    fn items(&mut self, source: Option<u16>, part: &Part, out: &mut dyn Write) -> io::Result<()> {
        for (at, item) in part.iter() {
            self.writer.take(&mut self.text, source, at, item);
            if self.text.len() >= CHUNK {
                self.write(out)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl<F: InOrder> Report for Ordered<F> {
    type Part = OrderedPart<F::State>;

    fn maker(&self) -> Box<dyn Fn() -> Self::Part + Send + Sync> {
        let spare = self.spare.clone();
        Box::new(move || spare.take())
    }

    fn preparer<'p>(&self) -> Option<Box<Preparer<'p, Self::Part>>>
    where
        Self: 'p,
    {
        let (form, start) = (self.writer.form.maker(), self.writer.start()?);
        Some(Box::new(move || -> Box<Prepare<'p, Self::Part>> {
            let mut ahead = Ahead::new(form(), start.clone());
            Box::new(move |before, source, part| ahead.prepare(before, source, part))
        }))
    }

    fn join(
        &mut self,
        source: Option<u16>,
        mut part: Self::Part,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.items(source, &part.head, out)?;
        if let Some(after) = part.after.take() {
            self.writer.resume(source, after);
            if self.text.len().saturating_add(part.text.len()) < CHUNK {
                self.text.extend_from_slice(&part.text);
            } else {
                self.write(out)?;
                out.write_all(&part.text)?;
            }
        }
        self.items(source, &part.tail, out)?;
        part.head.truncate(0, 0);
        part.text.clear();
        part.tail = Part::default();
        self.spare.give(part);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.writer.form.finish(&mut self.text);
        self.write(out)
    }
}
