//! Reports of call stacks.

mod active;
mod callgrind;
mod folded;
mod functions;
mod log;
mod names;
mod perfetto;
mod pprof;
mod protobuf;
mod speedscope;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
mod turns;

pub(crate) use active::Active;
pub use callgrind::Callgrind;
pub use folded::Folded;
pub use functions::{FunctionTotal, FunctionTotals};
pub use names::{Callee, Names};
pub use perfetto::{Perfetto, Timing};
pub use pprof::Pprof;
pub use speedscope::Speedscope;
pub use table::{FunctionTable, Order, Top};
pub(crate) use tree::{Total, Tree};
pub(crate) use turns::Turns;

use crate::collect::Collect;
use crate::collect::{Decoder, own};
use crate::report::Report;
use hartrace_capture::programs::{Programs, Symbols};
use hartrace_decoder::calls::{CallStack, Functions, Transfers, Visit};
use hartrace_decoder::{Event, Sink as _, StreamPos};
use hartrace_isa::Xlen;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// About how many changes of the call stack a timeline draws when the turns of a loop are only counted. The other turns
/// are drawn as one.
pub(crate) const TURNS_DRAWN: u64 = 1 << 12;

/// A form in which call stacks are written.
pub trait CallForm {
    /// What is known of the calls of a source.
    type Calls: Visit;

    /// Whether only one source can be written.
    const ONE_SOURCE: bool = false;

    /// Nothing is known yet of a source but the names of functions.
    fn calls(&self, source: Option<u16>, names: &Names<'_>) -> Self::Calls;

    /// Follows the next part of a source. Each form calls [`CallStack::replay`] itself: a function of the trait would
    /// be compiled anew, and worse, by every crate that uses it.
    fn replay(stack: &mut CallStack<Self::Calls>, part: &Transfers);

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

/// Follows the call stacks of all sources, and writes them in a form.
#[derive(Debug)]
pub struct Calls<'a, F: CallForm> {
    form: F,
    names: Names<'a>,
    functions: Arc<Functions>,
    stacks: BTreeMap<Option<u16>, CallStack<F::Calls>>,
}

impl<'a, F: CallForm> Calls<'a, F> {
    /// Calls of the functions that have symbols, and of those that are called. Of inlined functions nothing is known.
    pub fn new(form: F, symbols: Symbols<'a>, xlen: Xlen) -> Self {
        Self::of(form, Names::new(symbols, xlen))
    }

    /// Calls of the same functions, and of those that debug information says were inlined into them.
    pub fn with_inlined(form: F, programs: &'a Programs, xlen: Xlen) -> Self {
        Self::of(form, Names::with_inlined(programs, xlen))
    }

    /// The same, with a frame for each line within the function whose code it is, for forms that know such frames.
    pub fn with_lines(form: F, programs: &'a Programs, xlen: Xlen) -> Self {
        Self::of(form, Names::with_lines(programs, xlen))
    }

    /// Calls of these functions, for a form that needs no names.
    pub fn of_functions(form: F, functions: Functions, xlen: Xlen) -> Self {
        let (names, _) = Names::new(Symbols::default(), xlen);
        Self::of(form, (names, functions))
    }

    fn of(form: F, (names, functions): (Names<'a>, Functions)) -> Self {
        Self { form, names, functions: Arc::new(functions), stacks: BTreeMap::new() }
    }

    /// The form.
    pub fn form(&self) -> &F {
        &self.form
    }

    /// The form, the names of functions, and where these are.
    pub(crate) fn into_parts(self) -> (F, Names<'a>, Arc<Functions>) {
        (self.form, self.names, self.functions)
    }
}

impl Collect for Transfers {
    /// Which thread runs has to be known where a stretch starts.
    fn aside(&mut self, at: StreamPos, event: Event) {
        if let Event::Context { .. } = event {
            self.event(at, event);
        }
    }

    #[inline(never)] // or every crate that uses it would compile the decoder anew
    fn decoder() -> Option<Decoder<Self>> {
        Some(own)
    }
}

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
        let start = || {
            let calls = self.form.calls(source, &self.names);
            CallStack::new(Arc::clone(&self.functions), calls)
        };
        let stack = self.stacks.entry(source).or_insert_with(start);
        F::replay(stack, &part);
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
