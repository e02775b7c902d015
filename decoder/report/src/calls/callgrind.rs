//! The file format of callgrind, which KCachegrind and `callgrind_annotate` read.

use super::{Active, CallForm, Callee, Names};
use hartrace_decoder::calls::{CallStack, Frame, Note, Transfers, Visit};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

/// Instructions of each function, line by line, and who called whom from which line, how often and for how many instructions. A call
/// of a function that is active already adds no instructions: those of the call that it is within contain them. So the calls of a
/// function add up to what was executed while it was active. An inlined function counts as called whenever the
/// program arrives at instructions of it.
#[derive(Copy, Clone, Debug, Default)]
pub struct Callgrind;

/// What each function has executed and called.
#[derive(Debug, Default)]
pub struct Costs {
    functions: BTreeMap<Callee, Cost>,
    calls: BTreeMap<(Callee, Site, Callee), Called>,
    active: Active,
    /// What each active function executes.
    sites: Vec<Site>,
    /// For each inlined copy of a function, the one that stands for all of them.
    ones: Arc<[u32]>,
    /// Frames with this number or a greater one are lines.
    lines_from: u32,
}

/// A place in a function.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Site {
    /// No line is known.
    #[default]
    Unknown,
    /// A line that has a frame.
    Line(u32),
    /// Where this copy of a function was inlined.
    Inlined(u32),
}

impl Site {
    /// The file and line; those of the function if nothing better is known.
    fn place(self, function: Callee, names: &Names<'_>) -> (String, u32) {
        let known = match self {
            Self::Unknown => None,
            Self::Line(number) => names.line(number),
            Self::Inlined(number) => names.call_place(number),
        };
        match known {
            Some((file, line)) => (file.to_owned(), line),
            None => place(function, names),
        }
    }
}

/// What a function has executed itself, and how often it is active at present.
#[derive(Clone, Debug, Default)]
struct Cost {
    insns: BTreeMap<Site, u64>,
    depth: u64,
}

/// Calls of a function by another one.
#[derive(Copy, Clone, Debug, Default)]
struct Called {
    times: u64,
    insns: u64,
}

impl Costs {
    fn count(&mut self, at: u64) {
        if let Some((function, more)) = self.active.count(at)
            && more > 0
        {
            let cost = self.functions.entry(function).or_default();
            let insns = cost.insns.entry(self.sites.last().copied().unwrap_or_default());
            let insns = insns.or_default();
            *insns = insns.saturating_add(more);
        }
    }

    /// The line that a frame stands for, if it is no function.
    fn line(&self, frame: &Frame) -> Option<u32> {
        match Callee::from(frame) {
            Callee::Inlined(number) if number >= self.lines_from => Some(number),
            _ => None,
        }
    }

    /// The function that a frame stands for, which is active once more.
    fn arrive_in(&mut self, frame: &Frame) -> Callee {
        let callee = Callee::from(frame);
        if let Callee::Inlined(copy) = callee {
            self.go_to(Site::Inlined(copy));
        }
        let callee = callee.one_of(&self.ones);
        let cost = self.functions.entry(callee).or_default();
        cost.depth = cost.depth.saturating_add(1);
        callee
    }

    /// The innermost function executes something else.
    fn go_to(&mut self, site: Site) {
        if let Some(now) = self.sites.last_mut() {
            *now = site;
        }
    }
}

impl Visit for Costs {
    const ONE_BY_ONE: u64 = 0;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        if let Some(line) = self.line(frame) {
            return self.go_to(Site::Line(line));
        }
        let (caller, callee) = (self.active.innermost(), self.arrive_in(frame));
        let site = self.sites.last().copied().unwrap_or_default();
        let times = self.active.enter(callee, at);
        if let Some(caller) = caller {
            let called = self.calls.entry((caller, site, callee)).or_default();
            called.times = called.times.saturating_add(times);
        }
        self.sites.push(Site::Unknown);
    }

    fn resume(&mut self, frame: &Frame, at: u64, _: Option<Note>) {
        self.count(at);
        if let Some(line) = self.line(frame) {
            return self.go_to(Site::Line(line));
        }
        let callee = self.arrive_in(frame);
        self.active.resume(callee, at);
        self.sites.push(Site::Unknown);
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        if self.line(frame).is_some() {
            return self.go_to(Site::Unknown);
        }
        self.sites.pop();
        let Some((function, insns)) = self.active.leave(at) else { return };
        let cost = self.functions.entry(function).or_default();
        cost.depth = cost.depth.saturating_sub(1);
        // The call that it is within contains them.
        let insns = if cost.depth == 0 { insns } else { 0 };
        if let Some(caller) = self.active.innermost() {
            let site = self.sites.last().copied().unwrap_or_default();
            let called = self.calls.entry((caller, site, function)).or_default();
            called.insns = called.insns.saturating_add(insns);
        }
        if let Some(Site::Inlined(_)) = self.sites.last() {
            self.go_to(Site::Unknown);
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
    objects: HashMap<String, usize>,
    files: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

impl Numbered {
    fn object(&mut self, name: &str) -> String {
        numbered(&mut self.objects, name.to_owned())
    }

    fn file(&mut self, name: String) -> String {
        numbered(&mut self.files, name)
    }

    /// The next lines are of another file, if it is not the one that they were of so far.
    fn go_to(&mut self, now: &mut String, file: String, out: &mut dyn Write) -> io::Result<()> {
        if *now != file {
            writeln!(out, "fi={}", self.file(file.clone()))?;
            *now = file;
        }
        Ok(())
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

    fn calls(&self, _: Option<u16>, names: &Names<'_>) -> Costs {
        Costs { ones: names.ones(), lines_from: names.lines_from(), ..Costs::default() }
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
            for (function, cost) in &costs.functions {
                let (own, line) = place(*function, names);
                writeln!(out)?;
                if let Some(object) = names.object(*function) {
                    writeln!(out, "ob={}", numbered.object(object))?;
                }
                writeln!(out, "fl={}", numbered.file(own.clone()))?;
                writeln!(out, "fn={}", numbered.function(*function, names))?;
                let mut lines: BTreeMap<(String, u32), u64> = BTreeMap::new();
                for (site, insns) in &cost.insns {
                    let sum = lines.entry(site.place(*function, names)).or_default();
                    *sum = sum.saturating_add(*insns);
                }
                if lines.is_empty() {
                    lines.insert((own.clone(), line), 0);
                }
                let mut file = own;
                for ((of, line), insns) in lines {
                    numbered.go_to(&mut file, of, out)?;
                    writeln!(out, "{line} {insns}")?;
                }
                let first = (*function, Site::Unknown, Callee::Function(0));
                let calls = costs.calls.range(first..);
                for ((_, site, to), called) in calls.take_while(|((from, ..), _)| from == function)
                {
                    let (of, line) = site.place(*function, names);
                    let (to_file, to_line) = place(*to, names);
                    numbered.go_to(&mut file, of, out)?;
                    if let Some(object) = names.object(*to) {
                        writeln!(out, "cob={}", numbered.object(object))?;
                    }
                    writeln!(out, "cfi={}", numbered.file(to_file))?;
                    writeln!(out, "cfn={}", numbered.function(*to, names))?;
                    writeln!(out, "calls={} {to_line}\n{line} {}", called.times, called.insns)?;
                }
            }
        }
        writeln!(out, "\ntotals: {total}")
    }
}
