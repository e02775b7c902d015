//! The file format of callgrind, which KCachegrind and `callgrind_annotate` read.

use super::{Active, CallForm, Callee, Names};
use hartrace_decoder::calls::{CallStack, Frame, Transfers, Visit};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Instructions of each function, and who called whom, how often and for how many instructions. A call of a function that
/// is active already adds to the instructions of that call only. An inlined function counts as called whenever the
/// program arrives at instructions of it.
#[derive(Copy, Clone, Debug, Default)]
pub struct Callgrind;

/// What each function has executed and called.
#[derive(Debug, Default)]
pub struct Costs {
    functions: BTreeMap<Callee, u64>,
    calls: BTreeMap<(Callee, Callee), Called>,
    active: Active,
}

/// Calls of a function by another one.
#[derive(Copy, Clone, Debug, Default)]
struct Called {
    times: u64,
    insns: u64,
}

impl Costs {
    fn count(&mut self, at: u64) {
        if let Some((function, more)) = self.active.count(at) {
            let insns = self.functions.entry(function).or_default();
            *insns = insns.saturating_add(more);
        }
    }
}

impl Visit for Costs {
    const ONE_BY_ONE: u64 = 0;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        let callee = Callee::from(frame);
        self.active.enter(callee, at);
        self.functions.entry(callee).or_default();
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        self.count(at);
        let Some((function, times, insns)) = self.active.leave(at) else { return };
        if let Some(caller) = self.active.innermost() {
            let called = self.calls.entry((caller, function)).or_default();
            called.times = called.times.saturating_add(times);
            called.insns = called.insns.saturating_add(insns);
        }
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        self.count(at);
        self.active.begin_turns(times, more);
    }

    fn end_turns(&mut self, at: u64) {
        self.count(at);
        self.active.end_turns(at);
    }
}

/// Writes names in full when they occur first, and numbers after that.
#[derive(Default)]
struct Numbered {
    files: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

impl Numbered {
    fn file(&mut self, name: String) -> String {
        numbered(&mut self.files, name)
    }

    /// Inlined copies of a function have the name and number of the function.
    fn function(&mut self, callee: Callee, names: &Names<'_>) -> String {
        numbered(&mut self.functions, names.name(callee))
    }
}

fn numbered(known: &mut HashMap<String, usize>, name: String) -> String {
    let next = known.len().saturating_add(1);
    match known.get(&name) {
        Some(number) => format!("({number})"),
        None => {
            let text = format!("({next}) {name}");
            known.insert(name, next);
            text
        }
    }
}

/// The file and line of a function; `???` and 0 are what callgrind writes if they are not known.
fn place(callee: Callee, names: &Names<'_>) -> (String, u32) {
    names.source(callee).unwrap_or_else(|| ("???".to_owned(), 0))
}

impl CallForm for Callgrind {
    type Calls = Costs;

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Costs {
        Costs::default()
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Costs>, part: &Transfers) {
        stack.replay(part);
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Costs, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let total = all.iter().fold(0u64, |sum, (_, _, insns)| sum.saturating_add(*insns));
        writeln!(out, "# callgrind format\nversion: 1\ncreator: hartrace\npositions: line")?;
        writeln!(out, "events: Instructions\nsummary: {total}")?;
        let mut numbered = Numbered::default();
        for (_, costs, _) in &all {
            for (function, insns) in &costs.functions {
                let (file, line) = place(*function, names);
                writeln!(out, "\nfl={}", numbered.file(file))?;
                writeln!(out, "fn={}\n{line} {insns}", numbered.function(*function, names))?;
                let first = (*function, Callee::Function(0));
                let calls = costs.calls.range(first..);
                for ((_, to), called) in calls.take_while(|((from, _), _)| from == function) {
                    let (file, to_line) = place(*to, names);
                    writeln!(out, "cfi={}", numbered.file(file))?;
                    writeln!(out, "cfn={}", numbered.function(*to, names))?;
                    writeln!(out, "calls={} {to_line}\n{line} {}", called.times, called.insns)?;
                }
            }
        }
        writeln!(out, "\ntotals: {total}")
    }
}
