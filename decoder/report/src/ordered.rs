//! Reports that are written in the order of execution.

use crate::part::{Item, Part, Retired};
use crate::report::Report;
use hartrace_decoder::{Event, Leaves, Moment, StreamPos};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

/// Bytes of text to collect before they are written.
const CHUNK: usize = 1 << 16;

/// Converts what was decoded to text, in order. [`Ordered`] makes a report of it.
pub trait InOrder {
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

/// A report of things in order.
#[derive(Debug)]
pub struct Ordered<F> {
    form: F,
    text: Vec<u8>,
    headings: bool,
    /// The source of what was reported last.
    source: Option<Option<u16>>,
    /// Where each source is.
    moments: BTreeMap<Option<u16>, Moment>,
}

impl<F: InOrder> Ordered<F> {
    /// A report in this form. It does not name sources, unless the form does.
    pub fn new(form: F) -> Self {
        let text = Vec::with_capacity(CHUNK.saturating_mul(2));
        Self { form, text, headings: false, source: None, moments: BTreeMap::new() }
    }

    /// If `headings`, writes a line `source N:` wherever another source follows.
    pub fn headings(self, headings: bool) -> Self {
        Self { headings, ..self }
    }

    /// What follows belongs to `source`.
    fn turn(&mut self, source: Option<u16>) {
        if self.source.replace(source) == Some(source) {
            return;
        }
        self.form.turn(&mut self.text, source);
        if let (true, Some(id)) = (self.headings, source) {
            // Writing to memory does not fail.
            let _ = writeln!(self.text, "source {id}:");
        }
        if let Some(moment) = self.moments.get(&source) {
            self.form.enter(*moment);
        }
    }

    /// Records contexts, whether they are reported or not.
    fn note(&mut self, source: Option<u16>, at: StreamPos, event: &Event) {
        if let Event::Context { context, time, .. } = *event {
            let moment = Moment { context: Some(context), time, byte: at.byte };
            self.moments.insert(source, moment);
            if self.source == Some(source) {
                self.form.enter(moment);
            }
        }
    }

    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl<F: InOrder> Report for Ordered<F> {
    type Part = Part;

    fn maker(&self) -> Box<dyn Fn() -> Part + Send + Sync> {
        Box::new(Part::default)
    }

    fn join(&mut self, source: Option<u16>, part: Part, out: &mut dyn Write) -> io::Result<()> {
        for (at, item) in part.iter() {
            match item {
                Item::Retired(run) => {
                    self.turn(source);
                    self.form.retired(&mut self.text, at, run);
                }
                Item::Event(event) => {
                    self.turn(source);
                    self.note(source, at, &event);
                    match event {
                        Event::Gap(fault) => self.form.gap(&mut self.text, at, &fault),
                        event => self.form.event(&mut self.text, at, &event),
                    }
                }
                Item::Aside(event) => self.note(source, at, &event),
            }
            if self.text.len() >= CHUNK {
                self.write(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.form.finish(&mut self.text);
        self.write(out)
    }
}

/// How a run ends, in one word.
pub(crate) fn leaves(leaves: Leaves) -> &'static str {
    match leaves {
        Leaves::No => "-",
        Leaves::Branch => "branch",
        Leaves::Jump => "jump",
        Leaves::Indirect => "indirect",
    }
}
