//! Converts items to text, whatever source they are from.

use super::InOrder;
use super::ahead::{Start, State};
use crate::part::Item;
use hartrace_decoder::{Event, Moment, StreamPos};
use std::collections::BTreeMap;
use std::io::Write;

/// A form, and where the trace is.
#[derive(Debug)]
pub(super) struct Writer<F> {
    pub(super) form: F,
    pub(super) headings: bool,
    /// The source of what was reported last.
    pub(super) source: Option<Option<u16>>,
    /// Where each source is.
    pub(super) moments: BTreeMap<Option<u16>, Moment>,
}

impl<F: InOrder> Writer<F> {
    pub(super) fn new(form: F) -> Self {
        Self { form, headings: false, source: None, moments: BTreeMap::new() }
    }

    /// Appends the text of an item.
    pub(super) fn take(
        &mut self,
        out: &mut Vec<u8>,
        source: Option<u16>,
        at: StreamPos,
        item: Item<'_>,
    ) {
        match item {
            Item::Retired(run) => {
                self.turn(out, source);
                self.form.retired(out, at, run);
            }
            Item::Event(event) => {
                self.turn(out, source);
                self.note(source, at, &event);
                match event {
                    Event::Gap(fault) => self.form.gap(out, at, &fault),
                    event => self.form.event(out, at, &event),
                }
            }
            Item::Aside(event) => self.note(source, at, &event),
        }
    }

    /// What follows belongs to `source`.
    fn turn(&mut self, out: &mut Vec<u8>, source: Option<u16>) {
        if self.source.replace(source) == Some(source) {
            return;
        }
        self.form.turn(out, source);
        if let (true, Some(id)) = (self.headings, source) {
            // Writing to memory does not fail.
            let _ = writeln!(out, "source {id}:");
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

    /// Everything that the text of what follows depends on, if it is known.
    pub(super) fn start(&self) -> Option<Start<F::State>> {
        let Self { headings, source, ref moments, .. } = *self;
        Some(Start { form: self.form.state()?, headings, source, moments: moments.clone() })
    }

    /// The same after text of `source` alone.
    pub(super) fn state(&self, source: Option<u16>) -> Option<State<F::State>> {
        let moment = self.moments.get(&source).copied();
        Some(State { form: self.form.state()?, source: self.source, moment })
    }

    /// Continues after text of `source` that another has made.
    pub(super) fn resume(&mut self, source: Option<u16>, state: State<F::State>) {
        self.form.resume(state.form);
        self.source = state.source;
        if let Some(moment) = state.moment {
            self.moments.insert(source, moment);
        }
    }
}
