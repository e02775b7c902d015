//! Reports of call stacks.

mod callgrind;
mod folded;
mod log;
mod perfetto;
mod pprof;
mod protobuf;
mod speedscope;
mod tree;

pub use callgrind::Callgrind;
pub use folded::Folded;
pub use perfetto::{Perfetto, Timing};
pub use pprof::Pprof;
pub use speedscope::Speedscope;

use crate::report::{Collect, Report};
use hartrace_capture::programs::{Symbols, address};
use hartrace_decoder::calls::{CallStack, Functions, Transfers, Visit};
use hartrace_isa::Xlen;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// A form in which call stacks are written.
pub trait CallForm {
    /// What is known of the calls of a source.
    type Calls: Visit;

    /// Whether only one source can be written.
    const ONE_SOURCE: bool = false;

    /// Nothing is known.
    fn calls(&self) -> Self::Calls;

    /// Writes what can be written before the end.
    fn write(
        &mut self,
        source: Option<u16>,
        calls: &mut Self::Calls,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let _ = (source, calls, names, out);
        Ok(())
    }

    /// Writes the rest: the calls and the number of instructions of each source.
    fn end(
        &mut self,
        all: Vec<(Option<u16>, Self::Calls, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// Names of functions.
pub struct Names<'a> {
    symbols: Symbols<'a>,
    xlen: Xlen,
}

impl<'a> Names<'a> {
    /// The name of the function that starts at an address, or the address.
    pub fn name(&self, function: u64) -> String {
        match self.symbols.place(function) {
            Some(place) => place.to_string(),
            None => address(function, self.xlen),
        }
    }

    /// The addresses of all functions that have names.
    fn range(&self) -> Range<u64> {
        let functions = self.symbols.functions();
        let ends = functions.iter().map(|function| function.range.end);
        functions.first().map_or(0, |first| first.range.start)..ends.max().unwrap_or_default()
    }

    /// A place in a function, if it has a name.
    pub(crate) fn place(&self, address: u64) -> Option<String> {
        self.symbols.place(address).map(|place| place.to_string())
    }

    /// The names themselves.
    pub(crate) fn symbols(&self) -> &Symbols<'a> {
        &self.symbols
    }

    /// Where the function that starts at an address is in the source, as `file:line`.
    pub fn source(&self, function: u64) -> Option<String> {
        self.symbols.source(function)
    }
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("xlen", &self.xlen).finish_non_exhaustive()
    }
}

/// Follows the call stacks of all sources, and writes them in a form.
#[derive(Debug)]
pub struct Calls<'a, F: CallForm> {
    form: F,
    names: Names<'a>,
    functions: Arc<Functions>,
    stacks: BTreeMap<Option<u16>, CallStack<F::Calls>>,
}

impl<'a, F: CallForm> Calls<'a, F> {
    /// Calls of the functions that have symbols, and of those that are called.
    pub fn new(form: F, symbols: Symbols<'a>, xlen: Xlen) -> Self {
        let ranges = symbols.functions().into_iter().map(|function| function.range);
        let functions = Arc::new(Functions::new(ranges));
        Self { form, names: Names { symbols, xlen }, functions, stacks: BTreeMap::new() }
    }

    /// The form.
    pub(crate) fn form(&self) -> &F {
        &self.form
    }

    /// The form, the names of functions, and where these are.
    pub(crate) fn into_parts(self) -> (F, Names<'a>, Arc<Functions>) {
        (self.form, self.names, self.functions)
    }
}

impl Collect for Transfers {}

impl<F: CallForm> Report for Calls<'_, F> {
    type Part = Transfers;
    const ONE_SOURCE: bool = F::ONE_SOURCE;
    const WHOLE: bool = true;

    fn maker(&self) -> Box<dyn Fn() -> Transfers + Send + Sync> {
        let functions = Arc::clone(&self.functions);
        Box::new(move || Transfers::new(Arc::clone(&functions)))
    }

    fn join(
        &mut self,
        source: Option<u16>,
        part: Transfers,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let start = || CallStack::new(Arc::clone(&self.functions), self.form.calls());
        let stack = self.stacks.entry(source).or_insert_with(start);
        stack.replay(&part);
        self.form.write(source, stack.visit(), &self.names, out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let stacks = std::mem::take(&mut self.stacks).into_iter().map(|(source, stack)| {
            let instructions = stack.instructions();
            (source, stack.finish(), instructions)
        });
        self.form.end(stacks.collect(), &self.names, out)
    }
}
