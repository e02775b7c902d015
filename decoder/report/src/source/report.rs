//! Reports that are written from the numbers of executions.

use super::SourceCounts;
use crate::report::Report;
use hartrace_capture::programs::{Programs, Sources, Symbols};
use hartrace_decoder::Frequencies;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// All that such a report can be written from.
#[derive(Debug)]
pub struct Counted<'a, 's> {
    /// How often everything was executed, in all sources.
    pub counts: SourceCounts,
    /// Lines and functions of the programs.
    pub sources: &'a Sources,
    /// Names in the programs.
    pub symbols: &'a Symbols<'s>,
}

/// A form in which numbers of executions are written.
pub trait SourceForm {
    /// Writes it, at the end.
    fn write(&mut self, counted: &Counted<'_, '_>, out: &mut dyn Write) -> io::Result<()>;
}

/// Adds up how often everything was executed, in all sources, and writes it in a form.
#[derive(Debug)]
pub struct SourceReport<'a, F> {
    form: F,
    sources: Sources,
    symbols: Symbols<'a>,
    sums: BTreeMap<Option<u16>, Frequencies>,
}

impl<'a, F: SourceForm> SourceReport<'a, F> {
    /// A report of these programs.
    pub fn new(form: F, programs: &'a Programs) -> Self {
        let (sources, symbols) = (programs.sources(), programs.all_symbols());
        Self { form, sources, symbols, sums: BTreeMap::new() }
    }

    /// Lines and functions of the programs.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }
}

impl<F: SourceForm> Report for SourceReport<'_, F> {
    type Part = Frequencies;
    const WHOLE: bool = true;

    fn maker(&self) -> Box<dyn Fn() -> Frequencies + Send + Sync> {
        Box::new(Frequencies::default)
    }

    fn join(
        &mut self,
        source: Option<u16>,
        part: Frequencies,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        self.sums.entry(source).or_default().merge(part);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut all = Frequencies::default();
        for sum in std::mem::take(&mut self.sums).into_values() {
            all.merge(sum);
            all.interrupt();
        }
        let counts = SourceCounts::new(all, &self.sources, &self.symbols);
        let Self { form, sources, symbols, .. } = self;
        form.write(&Counted { counts, sources, symbols }, out)
    }
}
