//! What frames of call stacks are called.

use hartrace_capture::programs::{
    Instance, Object, Programs, SourceFunction, SourceLine, Sources, Symbols, address,
};
use hartrace_decoder::calls::{Frame, Functions, Inlined, Why};
use hartrace_isa::Xlen;
use std::collections::{HashMap, HashSet};
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

impl Callee {
    /// Whether it is a copy of a function that was inlined.
    pub const fn is_inlined(self) -> bool {
        matches!(self, Self::Inlined(_))
    }
}

impl From<&Frame> for Callee {
    fn from(frame: &Frame) -> Self {
        match frame.why {
            Why::Inlined(number) => Self::Inlined(number),
            _ => Self::Function(frame.function),
        }
    }
}

impl Callee {
    /// The copy that stands for all of an inlined function: `ones` has it for each copy, as [`Names::ones`] says.
    pub(super) fn one_of(self, ones: &[u32]) -> Self {
        match self {
            Self::Inlined(number) => {
                Self::Inlined(ones.get(number as usize).copied().unwrap_or(number))
            }
            Self::Function(_) => self,
        }
    }
}

impl From<u64> for Callee {
    fn from(function: u64) -> Self {
        Self::Function(function)
    }
}

/// The longest name that is suggested.
const MAX_LIKE: usize = 200;

/// The name of a function without the types of its parameters.
fn bare(name: &str) -> &str {
    let without = name.strip_suffix(" const").unwrap_or(name);
    if !without.ends_with(')') {
        return name;
    }
    let mut depth = 0u32;
    let open = without.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => depth = depth.saturating_add(1),
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    open.and_then(|(at, _)| without.get(..at)).filter(|bare| !bare.is_empty()).unwrap_or(name)
}

/// Names of functions.
pub struct Names<'a> {
    symbols: Symbols<'a>,
    sources: Sources,
    /// The inlined functions, as numbers of instances in `sources`.
    inlined: Vec<u32>,
    /// The first inlined copy of each function in `sources`.
    first: HashMap<u32, u32>,
    /// Lines that have frames of their own, and the first instruction of each. Their numbers follow those of inlined functions.
    lines: Vec<(SourceLine, u64)>,
    /// The code of each file, if several have code.
    objects: Vec<Object>,
    xlen: Xlen,
}

/// What is inlined where: copies of functions, and ranges of addresses with the number of the innermost.
type Places = (Vec<Inlined>, Vec<(Range<u64>, u32)>);

impl<'a> Names<'a> {
    /// Names of functions, and where these are.
    pub(super) fn new(symbols: Symbols<'a>, xlen: Xlen) -> (Self, Functions) {
        let functions =
            Functions::new(symbols.functions().into_iter().map(|function| function.range));
        let (sources, inlined, first, lines, objects) = Default::default();
        (Self { symbols, sources, inlined, first, lines, objects, xlen }, functions)
    }

    /// The names of all functions of programs, those that were inlined among them, and where these are.
    pub fn with_inlined(programs: &'a Programs, xlen: Xlen) -> (Self, Functions) {
        let (names, functions, (inlined, places)) = Self::and_places(programs, xlen);
        (names, functions.with_inlined(inlined, places))
    }

    /// The same, with a frame for each line within the function whose code it is. What a function executes is then known line by
    /// line, and the line of each call.
    pub fn with_lines(programs: &'a Programs, xlen: Xlen) -> (Self, Functions) {
        let (mut names, functions, (mut inlined, places)) = Self::and_places(programs, xlen);
        let rows = names.sources.rows();
        let ends = |range: &Range<u64>| [range.start, range.end];
        let mut bounds: Vec<u64> = rows.iter().flat_map(|row| ends(&row.range)).collect();
        bounds.extend(places.iter().flat_map(|(range, _)| ends(range)));
        bounds.sort_unstable();
        bounds.dedup();
        let mut numbers: HashMap<(u64, Option<u32>, SourceLine), u32> = HashMap::new();
        let mut divided = Vec::new();
        let mut left = places.iter().peekable();
        for (start, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            while left.next_if(|(range, _)| range.end <= *start).is_some() {}
            let around = left.peek().filter(|(range, _)| range.contains(start));
            let around = around.map(|(_, number)| *number);
            let line =
                names.sources.row(*start).map(|row| SourceLine { discriminator: 0, ..row.at });
            let number = line.map(|line| {
                let function = functions.containing(*start).map_or(0, |function| function.start);
                *numbers.entry((function, around, line)).or_insert_with(|| {
                    let next = inlined.len() as u32;
                    inlined.push(Inlined { entry: *start, caller: around });
                    names.lines.push((line, *start));
                    next
                })
            });
            divided.extend(number.or(around).map(|number| (*start..*end, number)));
        }
        (names, functions.with_inlined(inlined, divided))
    }

    /// Names, the functions of the program, and what was inlined into them.
    fn and_places(programs: &'a Programs, xlen: Xlen) -> (Self, Functions, Places) {
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
        let places = places.collect();
        names.sources = sources;
        names.objects = programs.objects();
        let first = names.objects.first().map(|object| object.file.clone());
        if names.objects.iter().all(|object| Some(&object.file) == first.as_ref()) {
            names.objects.clear();
        }
        (names, functions, (inlined, places))
    }

    /// The number of functions that were inlined: frames with this number or a greater one are lines.
    pub(super) fn lines_from(&self) -> u32 {
        self.inlined.len() as u32
    }

    /// The line that a frame stands for, and its first instruction.
    fn line_of(&self, number: u32) -> Option<&(SourceLine, u64)> {
        self.lines.get(number.checked_sub(self.lines_from())? as usize)
    }

    /// The file and line that a frame stands for.
    pub(super) fn line(&self, number: u32) -> Option<(&str, u32)> {
        let (line, _) = self.line_of(number)?;
        Some((self.sources.file(line.file), line.line))
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

    /// The functions of a name, those that were inlined among them: a name as the source has it, with or without the types of
    /// its parameters, or as the linker has it.
    pub(crate) fn find(&self, name: &str) -> HashSet<Callee> {
        // As tables print them.
        let (name, only_inlined) = match name.strip_suffix(" (inlined)") {
            Some(name) => (name, true),
            None => (name.split_once(" [").map_or(name, |(name, _)| name), false),
        };
        if let Some(address) = name.strip_prefix("0x") {
            let address = u64::from_str_radix(address, 16).ok();
            return address.map(Callee::Function).into_iter().collect();
        }
        let is = |full: &str, linkage: &str| full == name || linkage == name || bare(full) == name;
        let functions = self.symbols.functions();
        let functions = functions
            .iter()
            .filter(|function| !only_inlined && is(function.name, function.linkage));
        let inlined = (0..).take(self.inlined.len()).filter(|number| {
            let function = self.inlined_function(*number);
            function.is_some_and(|(function, _)| is(&function.name, &function.linkage))
        });
        functions
            .map(|function| Callee::Function(function.range.start))
            .chain(inlined.map(Callee::Inlined))
            .collect()
    }

    /// A function whose name resembles this one.
    pub(crate) fn like(&self, name: &str) -> Option<String> {
        let functions = self.symbols.functions();
        let names = functions.iter().map(|function| bare(function.name));
        let distance = |other: &&str| strsim::damerau_levenshtein(other, name);
        let names: Vec<&str> = names.filter(|other| other.len() < MAX_LIKE).collect();
        let qualified = format!("::{name}");
        if let Some(other) = names.iter().find(|other| other.ends_with(&qualified)) {
            return Some((*other).to_owned());
        }
        let nearest = names.into_iter().min_by_key(distance)?;
        (distance(&nearest) <= (name.len() / 4).saturating_add(1)).then(|| nearest.to_owned())
    }

    /// The name of a function as the linker knows it, or its address.
    pub(super) fn linkage(&self, callee: Callee) -> String {
        match callee {
            Callee::Function(function) => match self.symbols.place(function) {
                Some(place) if place.offset == 0 => place.linkage.to_owned(),
                _ => self.name(callee),
            },
            Callee::Inlined(number) => match self.inlined_function(number) {
                Some((function, _)) => function.linkage.clone(),
                None => self.name(callee),
            },
        }
    }

    /// The first instruction of a function, or of a copy that was inlined.
    pub fn entry(&self, callee: impl Into<Callee>) -> u64 {
        match callee.into() {
            Callee::Function(function) => function,
            Callee::Inlined(number) => match self.line_of(number) {
                Some((_, start)) => *start,
                None => self.instance(number).map_or(0, |instance| instance.entry),
            },
        }
    }

    /// A copy of a function that was inlined.
    fn instance(&self, number: u32) -> Option<&Instance> {
        let instance = *self.inlined.get(number as usize)?;
        self.sources.instances().get(instance as usize)
    }

    /// The function that was inlined, and its number.
    fn inlined_function(&self, number: u32) -> Option<(&SourceFunction, u32)> {
        let function = self.instance(number)?.function;
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

    /// The code of the program and its libraries, by address; nothing if only one file has code.
    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The file that a function is in, if several files have code.
    pub(super) fn object(&self, callee: impl Into<Callee>) -> Option<&str> {
        let entry = self.entry(callee);
        let object = self.objects.iter().find(|object| object.range.contains(&entry))?;
        Some(&object.file)
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
        let instance = self.instance(number)?;
        Some((instance.entry, instance.call?.1.line))
    }

    /// The file and line from which a function was inlined.
    pub(super) fn call_place(&self, number: u32) -> Option<(&str, u32)> {
        let (_, line) = self.instance(number)?.call?;
        Some((self.sources.file(line.file), line.line))
    }
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("xlen", &self.xlen).finish_non_exhaustive()
    }
}
