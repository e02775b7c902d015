//! The program as an Arm core executed it: every instruction disassembled, with functions and source lines.

use super::disassembly::disassemble;
use super::{Form, How, Make, Passing, Take, decode_each, each, profile};
use crate::collect::Collect;
use crate::limits::Unreached;
use crate::listing::described;
use crate::printer::{Error, Printer};
use crate::report::{PART_BYTES, Report};
use hartrace_arm_decoder::runs::Runs;
use hartrace_arm_decoder::{self as arm, ElementSink, Range};
use hartrace_capture::programs::{Programs, Symbols, address};
use hartrace_capture::system::Traced;
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use hartrace_isa::Xlen;
use hartrace_isa::arm::{Isa, Rules, decode};
use std::collections::HashMap;
use std::io::{self, Write};

/// Addresses are printed with all 16 digits.
const XLEN: Xlen = Xlen::Rv64;

/// Instructions whose text is kept; when there are more, all of it is dropped.
const KEEP: usize = 1 << 18;

/// Decodes sources, each on one of several threads, and lists them one after the other, with the names of
/// `programs`. Finishes the report and its gaps, even if an error follows.
pub fn listing<W: Write>(
    printer: &mut Printer<Listing, W>,
    how: How,
    all: &[Traced<'_>],
    programs: &Programs,
) -> Result<(), Error> {
    each(printer, &Text::default, Ok, |make, take| listed(how, all, programs, make, take))
}

/// Decodes sources. Nothing of its type depends on where the listing goes, so that it is compiled once, here.
fn listed(
    how: How,
    all: &[Traced<'_>],
    programs: &Programs,
    make: &Make<'_, Text>,
    take: &mut Take<'_, Text>,
) -> Result<Option<Unreached>, Error> {
    decode_each(&how, all, &Listed { programs }, make, take)
}

/// The report.
#[derive(Debug, Default)]
pub struct Listing {
    source: Option<u16>,
}

impl Report for Listing {
    type Part = Text;

    fn maker(&self) -> Box<dyn Fn() -> Text + Send + Sync> {
        Box::new(Text::default)
    }

    fn join(&mut self, source: Option<u16>, part: Text, out: &mut dyn Write) -> io::Result<()> {
        if let Some(id) = source.filter(|_| self.source != source && !part.text.is_empty()) {
            writeln!(out, "source {id}:")?;
            self.source = source;
        }
        out.write_all(&part.text)
    }
}

/// Lines, and what has not become a line yet.
#[derive(Debug, Default)]
pub struct Text {
    text: Vec<u8>,
    pending: Vec<Pending>,
}

#[derive(Copy, Clone, Debug)]
enum Pending {
    Insn(u64),
    Event(StreamPos, Event),
}

impl Sink for Text {
    const ORDERED: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|pc| self.pending.push(Pending::Insn(pc)));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.pending.push(Pending::Event(at, event));
    }

    fn is_full(&self) -> bool {
        self.text.len() >= PART_BYTES
    }
}

impl Collect for Text {}

struct Listed<'a> {
    programs: &'a Programs,
}

impl Form<Text> for Listed<'_> {
    fn decode(&self, traced: &Traced<'_>, passing: &mut Passing<'_, Text>) {
        // Reading names takes time, but source lines cannot be shared by threads.
        let symbols = self.programs.all_symbols();
        let rules = Rules { arch: traced.core.arch, barriers: false, wfx: false };
        let mut lister = Lister {
            runs: Runs::new(&mut *passing, profile(traced)),
            lines: Lines { symbols, rules, known: HashMap::new(), here: Here::default() },
            piece: Piece::default(),
            next: (Isa::A64, Vec::new()),
        };
        traced.decode(&mut lister);
        lister.write();
        passing.end();
    }
}

/// Function and source line of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Here {
    function: Option<String>,
    source: Option<String>,
}

/// Instructions at consecutive addresses.
#[derive(Debug)]
struct Piece {
    isa: Isa,
    base: u64,
    offsets: Vec<u16>,
    opcodes: Vec<u32>,
}

impl Default for Piece {
    fn default() -> Self {
        Self { isa: Isa::A64, base: 0, offsets: Vec::new(), opcodes: Vec::new() }
    }
}

impl Piece {
    fn opcode(&self, pc: u64) -> Option<u32> {
        let offset = u16::try_from(pc.wrapping_sub(self.base)).ok()?;
        self.opcodes.get(self.offsets.binary_search(&offset).ok()?).copied()
    }
}

/// Lists what is reported to a part, while its code is known.
struct Lister<'p, 'a, 's> {
    runs: Runs<&'p mut Passing<'a, Text>>,
    lines: Lines<'s>,
    piece: Piece,
    /// The opcodes of the next piece.
    next: (Isa, Vec<u32>),
}

impl Lister<'_, '_, '_> {
    /// Writes what was reported since the last time.
    fn write(&mut self) {
        let Text { text, pending } = self.runs.sink.part();
        for item in pending.drain(..) {
            match item {
                Pending::Insn(pc) => self.lines.insn(text, pc, &self.piece),
                Pending::Event(at, event) => self.lines.event(text, at, &event),
            }
        }
        self.runs.sink.check();
    }
}

impl ElementSink for Lister<'_, '_, '_> {
    const INSTRUCTIONS: bool = true;
    const OPCODES: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.runs.range(at, range);
        self.write();
    }

    fn opcodes(&mut self, isa: Isa, opcodes: &[u32]) {
        self.next = (isa, opcodes.to_vec());
    }

    fn instructions(&mut self, at: StreamPos, base: u64, offsets: &[u16]) {
        // This reports the piece before.
        self.runs.instructions(at, base, offsets);
        self.write();
        let (isa, opcodes) = (self.next.0, std::mem::take(&mut self.next.1));
        self.piece = Piece { isa, base, offsets: offsets.to_vec(), opcodes };
    }

    fn event(&mut self, at: StreamPos, event: arm::Event) {
        self.runs.event(at, event);
        self.write();
    }

    fn is_done(&self) -> bool {
        self.runs.sink.done
    }
}

/// The text of an instruction.
struct Line {
    here: Here,
    /// The line for the function, if it has to be printed.
    function: String,
    text: String,
}

/// Makes lines.
struct Lines<'s> {
    symbols: Symbols<'s>,
    rules: Rules,
    /// By address, instruction set and opcode.
    known: HashMap<(u64, Isa, Option<u32>), Line>,
    /// Function and source line of the last instruction.
    here: Here,
}

impl Lines<'_> {
    fn insn(&mut self, out: &mut Vec<u8>, pc: u64, piece: &Piece) {
        if self.known.len() > KEEP {
            self.known.clear();
        }
        let (symbols, rules, isa, opcode) =
            (&self.symbols, &self.rules, piece.isa, piece.opcode(pc));
        let line = self.known.entry((pc, isa, opcode)).or_insert_with(|| {
            let place = symbols.place(pc);
            Line {
                here: Here {
                    function: place.map(|place| place.name.to_owned()),
                    source: symbols.source(pc),
                },
                function: place.map_or(String::new(), |place| format!("<{place}>:\n")),
                text: line(symbols, rules, isa, pc, opcode),
            }
        });
        if line.here != self.here {
            if line.here.function != self.here.function {
                out.extend_from_slice(line.function.as_bytes());
            }
            if let Some(source) =
                line.here.source.as_ref().filter(|_| line.here.source != self.here.source)
            {
                // Writing to memory does not fail.
                let _ = writeln!(out, "{source}");
            }
            self.here.clone_from(&line.here);
        }
        out.extend_from_slice(line.text.as_bytes());
    }

    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event) {
        let StreamPos { packet, byte } = at;
        let _ = writeln!(
            out,
            "-- packet {packet}, byte {byte}: {}",
            described(event, XLEN, |_, _| None)
        );
        // Function and source line are repeated here, so a reader need not look back.
        self.here = Here::default();
    }
}

/// Address, encoding and disassembly of an instruction; a target in the code with its name.
fn line(symbols: &Symbols<'_>, rules: &Rules, isa: Isa, pc: u64, opcode: Option<u32>) -> String {
    let Some(opcode) = opcode else { return format!("  {}  ?\n", address(pc, XLEN)) };
    let insn = decode(isa, rules, pc, opcode);
    let name = |target| symbols.place(target).map(|place| place.to_string());
    let (raw, text) = disassemble(isa, opcode, &insn, name);
    format!("  {}  {raw:<8}  {text}\n", address(pc, XLEN))
}
