//! The program as it was executed: every instruction disassembled, with functions and source lines.

use crate::causes;
use crate::ordered::InOrder;
use crate::part::Retired;
use crate::text_cache::TextCache;
use hartrace_capture::programs::{Program, Programs, Symbols, address};
use hartrace_decoder::{Event, Image, Moment, StreamPos, Time};
use hartrace_isa::Xlen;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A function or a source line, by number; 0 if there is none.
type Number = u32;

/// Writes instructions as lines. Their text is made once per run, since runs repeat.
#[derive(Debug)]
pub struct Listing<'a> {
    programs: &'a Programs,
    /// By number of the program.
    symbols: Vec<Symbols<'a>>,
    xlen: Xlen,
    numbers: Numbers,
    /// By version of the program, address and number of instructions.
    runs: TextCache<(usize, u64, usize), Rendered>,
    state: ListingState,
}

/// Numbers of names, the same for all threads.
#[derive(Clone, Debug, Default)]
struct Numbers(Arc<Mutex<HashMap<String, Number>>>);

impl Numbers {
    fn of(&self, name: Option<&str>) -> Number {
        let Some(name) = name else { return 0 };
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let number = (numbers.len() as Number).wrapping_add(1);
        numbers.insert(name.to_owned(), number);
        number
    }
}

/// What lines depend on.
#[derive(Clone, Debug)]
pub struct ListingState {
    /// Number of the program.
    program: usize,
    /// The code that is executed, and its number: a log may give a program several versions.
    code: (usize, Image),
    /// Function and source line of the last instruction.
    here: Here,
}

/// Function and source line of an instruction.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Here {
    function: Number,
    source: Number,
}

/// Where the text of a run is.
#[derive(Clone, Debug)]
struct Rendered {
    first: Here,
    last: Here,
    /// The line for the function it starts in, and for the source line, if they have to be printed.
    function: Range<usize>,
    source: Range<usize>,
    /// Its instructions, with lines where function or source line change.
    body: Range<usize>,
}

impl<'a> Listing<'a> {
    /// Lists the code of `programs`, with their names.
    pub fn new(programs: &'a Programs, xlen: Xlen) -> Self {
        Self {
            programs,
            symbols: programs.iter().map(Program::symbols).collect(),
            xlen,
            numbers: Numbers::default(),
            runs: TextCache::default(),
            state: ListingState { program: 0, code: programs.first(), here: Here::default() },
        }
    }

    /// Function and source line of an address, and the lines that name them.
    fn look_up(&self, pc: u64) -> (Here, String, String) {
        let symbols = self.symbols.get(self.state.program);
        let place = symbols.and_then(|symbols| symbols.place(pc));
        let name = place.map(|place| place.name.to_owned());
        let function = place.map_or(String::new(), |place| format!("<{place}>:\n"));
        let source = symbols.and_then(|symbols| symbols.source(pc));
        let line = source.as_ref().map_or(String::new(), |source| format!("{source}\n"));
        let [function_number, source] =
            [name.as_deref(), source.as_deref()].map(|name| self.numbers.of(name));
        let here = Here { function: function_number, source };
        (here, function, line)
    }

    fn render(&self, text: &mut Vec<u8>, addresses: &[u64]) -> Rendered {
        let (first, function, source) = self.look_up(addresses.first().copied().unwrap_or(0));
        let (function, source) = (put(text, &function), put(text, &source));
        let start = text.len();
        let mut last = first;
        for pc in addresses {
            let (here, function, source) = self.look_up(*pc);
            if here.function != last.function {
                put(text, &function);
            }
            if here.source != last.source {
                put(text, &source);
            }
            last = here;
            let line = self.instruction(*pc);
            put(text, &line);
        }
        Rendered { first, last, function, source, body: start..text.len() }
    }

    /// Address, encoding and disassembly; targets in the code with their names.
    fn instruction(&self, pc: u64) -> String {
        let (xlen, (_, image)) = (self.xlen, &self.state.code);
        let address = address(pc, xlen);
        let name = |to| Some(self.symbols.get(self.state.program)?.place(to)?.to_string());
        let Some(Disassembled { raw, text, .. }) = disassemble(image, pc, xlen, name) else {
            return format!("  {address}  ?\n");
        };
        format!("  {address}  {raw:<8}  {text}\n")
    }

    fn note(&mut self, out: &mut Vec<u8>, at: StreamPos, what: &dyn Display) {
        let StreamPos { packet, byte } = at;
        // Writing to memory does not fail.
        let _ = writeln!(out, "-- packet {packet}, byte {byte}: {what}");
    }
}

impl InOrder for Listing<'_> {
    type State = ListingState;

    fn maker<'m>(&self) -> Box<dyn Fn() -> Self + Send + Sync + 'm>
    where
        Self: 'm,
    {
        let (programs, xlen, numbers) = (self.programs, self.xlen, self.numbers.clone());
        Box::new(move || Self { numbers: numbers.clone(), ..Self::new(programs, xlen) })
    }

    fn forget(&mut self) {
        // After the line of the context, function and source line are repeated, whatever they were before.
    }

    fn state(&self) -> Option<ListingState> {
        Some(self.state.clone())
    }

    fn resume(&mut self, state: ListingState) {
        self.state = state;
    }

    fn retired(&mut self, out: &mut Vec<u8>, _: StreamPos, run: Retired<'_>) {
        let Some(start) = run.addresses.first() else { return };
        let key = (self.state.code.0, *start, run.addresses.len());
        let mut runs = std::mem::take(&mut self.runs);
        let (rendered, text) = runs.get(key, |text| self.render(text, run.addresses));
        let text = |range: Range<usize>| text.get(range).unwrap_or_default();
        if rendered.first.function != self.state.here.function {
            out.extend_from_slice(text(rendered.function));
        }
        if rendered.first.source != self.state.here.source {
            out.extend_from_slice(text(rendered.source));
        }
        out.extend_from_slice(text(rendered.body));
        (self.state.here, self.runs) = (rendered.last, runs);
    }

    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event) {
        let text = describe(event, self.xlen);
        self.note(out, at, &text);
        // Function and source line are repeated here, so a reader need not look back.
        self.state.here = Here::default();
    }

    fn turn(&mut self, _: &mut Vec<u8>, _: Option<u16>) {
        self.state.here = Here::default();
    }

    fn enter(&mut self, moment: Moment) {
        self.state.program = self.programs.of_context(moment.context);
        self.state.code = self.programs.at(moment);
    }

    fn gap(&mut self, out: &mut Vec<u8>, at: StreamPos, cause: &dyn Display) {
        self.note(out, at, &format_args!("gap: {cause}"));
        self.state.here = Here::default();
    }
}

/// Appends a text. Returns where it is.
fn put(all: &mut Vec<u8>, text: &str) -> Range<usize> {
    let start = all.len();
    all.extend_from_slice(text.as_bytes());
    start..all.len()
}

/// An instruction in words.
pub(crate) struct Disassembled {
    /// Its encoding.
    pub(crate) raw: String,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// What it does, with the name of its target if that is in the code.
    pub(crate) text: String,
}

/// Disassembles the instruction at an address; `None` if there is none. `name` names places.
pub(crate) fn disassemble(
    image: &Image,
    pc: u64,
    xlen: Xlen,
    name: impl Fn(u64) -> Option<String>,
) -> Option<Disassembled> {
    let (word, insn) = (image.encoding(pc)?, image.insn(pc)?);
    let isa = match xlen {
        Xlen::Rv32 => disc_v::Isa::Rv32,
        Xlen::Rv64 => disc_v::Isa::Rv64,
    };
    let width = usize::from(insn.size).saturating_mul(2);
    let text = disc_v::decode(isa, pc, word.into());
    let target = insn.target(xlen, pc).and_then(name);
    let target = target.map_or(String::new(), |place| format!(" <{place}>"));
    let (raw, text) = (format!("{word:0width$x}"), format!("{text}{target}"));
    Some(Disassembled { raw, size: insn.size.into(), text })
}

/// An event of a RISC-V trace in words, with the names of causes.
pub(crate) fn describe(event: &Event, xlen: Xlen) -> String {
    described(event, xlen, causes::name)
}

/// An event in words; `name` names causes of traps.
pub(crate) fn described(
    event: &Event,
    xlen: Xlen,
    name: impl Fn(u64, bool) -> Option<&'static str>,
) -> String {
    let hex = |value: u64| address(value, xlen);
    match *event {
        Event::On => "on".to_owned(),
        Event::Off(status) => format!("off, {}", status.name()),
        Event::Restart => "another trace starts".to_owned(),
        Event::Trigger => "trigger".to_owned(),
        Event::LeftOut { insns, .. } => format!("left out: {insns} instructions"),
        Event::Trap { cause, interrupt, tval, epc } => {
            let kind = if interrupt { "interrupt" } else { "exception" };
            let tval = tval.map_or(String::new(), |tval| format!(", tval {}", hex(tval)));
            let epc = epc.map_or(String::new(), |epc| format!(", epc {}", hex(epc)));
            let name = name(cause, interrupt).map_or(String::new(), |name| format!(" ({name})"));
            format!("{kind} {cause}{name}{epc}{tval}")
        }
        Event::Context { privilege, context, time } => {
            format!("privilege {privilege}, context {context:#x}, time {time}")
        }
        Event::Time(Time::Stamp { value, bits }) => format!("timestamp {value} of {bits} bits"),
        Event::Time(Time::Cycles(Some(cycles))) => format!("{cycles} cycles"),
        Event::Time(Time::Cycles(None)) => "an unknown number of cycles".to_owned(),
        Event::Gap(fault) => format!("gap: {fault}"),
    }
}
