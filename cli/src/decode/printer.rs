//! Parts to text, in order.

use super::forms::Form;
use crate::failure::Failure;
use crate::gaps::Gaps;
use crate::part::{Item, Part};
use hartrace_decoder::{Event, Moment, StreamPos};
use std::collections::BTreeMap;
use std::io::Write;

/// Bytes of text to collect before they are written.
const CHUNK: usize = 1 << 16;

/// Prints one part after the other.
pub(crate) struct Printer<'a, W> {
    out: W,
    text: Vec<u8>,
    form: Box<dyn Form + Send + 'a>,
    pub(crate) gaps: Gaps,
    /// Text says which source follows.
    headings: bool,
    /// The source of what was printed last.
    source: Option<Option<u16>>,
    /// Where each source is.
    moments: BTreeMap<Option<u16>, Moment>,
}

impl<'a, W: Write> Printer<'a, W> {
    pub(crate) fn new(out: W, form: Box<dyn Form + Send + 'a>, gaps: Gaps, headings: bool) -> Self {
        let text = Vec::with_capacity(2 * CHUNK);
        let moments = BTreeMap::new();
        Self { out, text, form, gaps, headings, source: None, moments }
    }

    /// Prints the next part. With `--strict` it ends with the first gap.
    pub(crate) fn join(&mut self, source: Option<u16>, part: &Part) -> Result<(), Failure> {
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
            self.gaps.check()?;
            if self.text.len() >= CHUNK {
                self.write()?;
            }
        }
        Ok(())
    }

    /// What follows is of `source`.
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

    /// Takes note of what counts whether it is printed or not.
    fn note(&mut self, source: Option<u16>, at: StreamPos, event: &Event) {
        self.gaps.event(source, at, event);
        if let Event::Context { context, time, .. } = *event {
            let moment = Moment { context: Some(context), time, byte: at.byte };
            self.moments.insert(source, moment);
            if self.source == Some(source) {
                self.form.enter(moment);
            }
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Prints what is left.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        self.form.finish(&mut self.text);
        self.write()?;
        self.out.flush()?;
        Ok(())
    }
}
