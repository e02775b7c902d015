//! What frames of call stacks are called.

use hartrace_capture::programs::{Programs, SourceFunction, Sources, Symbols, address};
use hartrace_decoder::calls::{Frame, Functions, Inlined, Why};
use hartrace_isa::Xlen;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What a frame executes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callee {
    /// A function, which starts at this address.
    Function(u64),
    /// A copy of a function that was inlined; its number is that of [`Functions`].
    Inlined(u32),
}

impl From<&Frame> for Callee {
    fn from(frame: &Frame) -> Self {
        match frame.why {
            Why::Inlined(number) => Self::Inlined(number),
            _ => Self::Function(frame.function),
        }
    }
}

impl From<u64> for Callee {
    fn from(function: u64) -> Self {
        Self::Function(function)
    }
}

/// Names of functions.
pub struct Names<'a> {
    symbols: Symbols<'a>,
    sources: Sources,
    /// The inlined functions, as numbers of instances in `sources`.
    inlined: Vec<u32>,
    /// The first inlined copy of each function in `sources`.
    first: HashMap<u32, u32>,
    xlen: Xlen,
}

impl<'a> Names<'a> {
    /// Names of functions, and where these are.
    pub(super) fn new(symbols: Symbols<'a>, xlen: Xlen) -> (Self, Functions) {
        let functions =
            Functions::new(symbols.functions().into_iter().map(|function| function.range));
        let (sources, inlined, first) = Default::default();
        (Self { symbols, sources, inlined, first, xlen }, functions)
    }

    /// The names of all functions of programs, those that were inlined among them, and where these are.
    pub fn with_inlined(programs: &'a Programs, xlen: Xlen) -> (Self, Functions) {
        let (mut names, functions) = Self::new(programs.all_symbols(), xlen);
        let sources = programs.sources();
        let instances = sources.instances();
        // Pieces of one inlined function have one number.
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut inlined = Vec::new();
        for (instance, number) in instances.iter().zip(0..) {
            let Some((caller, _)) = instance.call.filter(|_| instance.same == number) else {
                continue;
            };
            let next = names.inlined.len() as u32;
            numbers.insert(number, next);
            names.first.entry(instance.function).or_insert(next);
            names.inlined.push(number);
            let caller = instances.get(caller as usize);
            let caller = caller.and_then(|caller| numbers.get(&caller.same).copied());
            inlined.push(Inlined { entry: instance.entry, caller });
        }
        let places = sources.pieces().filter_map(|(range, number)| {
            let same = instances.get(number as usize)?.same;
            Some((range, *numbers.get(&same)?))
        });
        let functions = functions.with_inlined(inlined, places);
        names.sources = sources;
        (names, functions)
    }

    /// The name of a function, or its address.
    pub fn name(&self, callee: impl Into<Callee>) -> String {
        match callee.into() {
            Callee::Function(function) => match self.symbols.place(function) {
                Some(place) => place.to_string(),
                None => address(function, self.xlen),
            },
            Callee::Inlined(number) => match self.inlined_function(number) {
                Some((function, _)) => function.name.clone(),
                None => "unknown".into(),
            },
        }
    }

    /// The function that was inlined, and its number.
    fn inlined_function(&self, number: u32) -> Option<(&SourceFunction, u32)> {
        let instance = *self.inlined.get(number as usize)?;
        let function = self.sources.instances().get(instance as usize)?.function;
        Some((self.sources.function(function)?, function))
    }

    /// One of all inlined copies of a function: always the same one.
    pub(super) fn one(&self, callee: Callee) -> Callee {
        match callee {
            Callee::Function(_) => callee,
            Callee::Inlined(number) => {
                let function = self.inlined_function(number).map(|(_, function)| function);
                let first = function.and_then(|function| self.first.get(&function));
                Callee::Inlined(first.copied().unwrap_or(number))
            }
        }
    }

    /// For each inlined copy of a function, one of all of them, as [`Self::one`] says.
    pub(crate) fn ones(&self) -> Arc<[u32]> {
        let one = |number| match self.one(Callee::Inlined(number)) {
            Callee::Inlined(one) => one,
            Callee::Function(_) => number,
        };
        (0..).zip(&self.inlined).map(|(number, _)| one(number)).collect()
    }

    /// The addresses of all functions that have names.
    pub(super) fn range(&self) -> Range<u64> {
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

    /// Where a function is in the source: file and line.
    pub fn source(&self, callee: impl Into<Callee>) -> Option<(String, u32)> {
        match callee.into() {
            Callee::Function(function) => {
                let source = self.symbols.source(function)?;
                let (file, line) = source.rsplit_once(':')?;
                Some((file.to_owned(), line.parse().ok()?))
            }
            Callee::Inlined(number) => {
                let (function, _) = self.inlined_function(number)?;
                let declared = function.declared?;
                Some((self.sources.file(declared.file).to_owned(), declared.line))
            }
        }
    }

    /// The first instruction of an inlined function, and the line of the call.
    pub(crate) fn call(&self, number: u32) -> Option<(u64, u32)> {
        let instance = *self.inlined.get(number as usize)?;
        let instance = self.sources.instances().get(instance as usize)?;
        Some((instance.entry, instance.call?.1.line))
    }
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("xlen", &self.xlen).finish_non_exhaustive()
    }
}
