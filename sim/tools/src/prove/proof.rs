//! Runs a proof.

use crate::prove::rig::INNER;
use hartrace_rtl::{Component, Direction};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The time limit of a proof.
const SECONDS: u32 = 300;

/// A module with assertions, and the method that shows that they hold.
#[derive(Debug)]
pub struct Proof {
    name: String,
    files: Vec<(String, String)>,
    top: String,
    /// Number of cycles from reset, including the reset cycle.
    cycles: u32,
    means: Means,
    mistakes: Vec<Mistake>,
    /// Mistakes are found in runs of `cycles` cycles.
    soon: bool,
    start: Start,
}

/// The first values of registers and memories without a reset.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    /// Any.
    Free,
    Zero,
}

/// The method that shows that assertions hold.
#[derive(Clone, Debug)]
enum Means {
    /// In runs of a number of cycles, each of which is examined.
    Cycles,
    /// In any run, by an invariant that the solver finds.
    Search,
    /// In any run: this many cycles are examined, and the solver finds an invariant of the others.
    Settled(u32),
    /// In any run, since this text, with more assertions, holds by induction over this many cycles.
    Induction(String, u32),
}

/// A mistake that a proof has to find.
#[derive(Clone, Debug)]
enum Mistake {
    /// One text is replaced by another.
    Text(&'static str, &'static str),
    /// A port of the block in the rig is connected to this instead of its proper signal.
    Port(&'static str, &'static str),
}

impl Proof {
    /// Claims that no run of `cycles` cycles from reset breaks an assertion of `rig` or of its contents.
    #[must_use]
    pub fn bounded(name: &str, rig: &Component, cycles: u32) -> Self {
        Self {
            name: name.to_owned(),
            files: rig.files(),
            top: top(rig, cycles),
            cycles,
            means: Means::Cycles,
            mistakes: vec![],
            soon: false,
            start: Start::Free,
        }
    }

    /// Claims that no run at all breaks an assertion. The assumptions must allow runs of `cycles` cycles.
    #[must_use]
    pub fn any_run(name: &str, rig: &Component, cycles: u32) -> Self {
        Self { means: Means::Search, ..Self::bounded(name, rig, cycles) }
    }

    /// Claims that no run at all breaks an assertion; the first `cycles` are examined one by one. It is for
    /// pipelines of which some registers are not reset: once they are filled, more registers are always equal.
    #[must_use]
    pub fn settled(self, cycles: u32) -> Self {
        Self { means: Means::Settled(cycles), ..self }
    }

    /// Lets registers and memories without a reset be zero in the first cycle. It is for copies of a block that are
    /// compared: only what they are given may differ.
    #[must_use]
    pub fn starting_at_zero(self) -> Self {
        Self { start: Start::Zero, ..self }
    }

    /// Claims that no run at all breaks an assertion, by induction over at most `depth` cycles: if all
    /// assertions of `helped` hold for that long, they also hold in the next cycle. `helped` is the rig with
    /// additional asserted invariants, for example of signals [`within`](crate::prove::Rig::inner) the block;
    /// it may assume what another proof shows. Mistakes have to be found without the invariants, in as many
    /// cycles as the proof had before.
    ///
    /// # Panics
    ///
    /// If `helped` contains other modules, for example because one was replaced before, or if it does not
    /// assert everything that the rig asserts.
    #[must_use]
    #[track_caller]
    pub fn by_induction(mut self, helped: &Component, depth: u32) -> Self {
        let mut files = helped.files();
        let same = self.files.len() == files.len()
            && self.files.iter().zip(&files).all(|(bare, more)| {
                let mut claimed = bare.1.lines().filter(|line| line.contains("assert ("));
                let kept = claimed.all(|line| more.1.contains(line));
                bare.0 == more.0 && if bare.0 == helped.name() { kept } else { bare == more }
            });
        assert!(same, "{}: not the same modules, or not the same claims", self.name);
        files.push(("formal".to_owned(), top(helped, self.cycles)));
        let text = files.iter().map(|(_, text)| text.as_str()).collect();
        self.means = Means::Induction(text, depth);
        self
    }

    /// Replaces the module of the same name, so that a part can be proven without the modules it uses.
    ///
    /// # Panics
    ///
    /// If there is no such module.
    #[must_use]
    #[track_caller]
    pub fn with(self, module: &Component) -> Self {
        self.replaced(module, module.emit())
    }

    /// Lets the outputs of a module take any value at any time: the proof then holds whatever the module
    /// does.
    ///
    /// # Panics
    ///
    /// If there is no such module.
    #[must_use]
    #[track_caller]
    pub fn whatever_does(self, module: &Component) -> Self {
        let mut ports = Vec::new();
        let mut body = String::new();
        for port in module.ports() {
            let (name, high) = (&port.name, port.width - 1);
            if port.direction == Direction::Input {
                ports.push(format!("    input logic [{high}:0] {name}"));
                continue;
            }
            ports.push(format!("    output logic [{high}:0] {name}"));
            let _ = writeln!(body, "  (* anyseq *) logic [{high}:0] any_{name};");
            let _ = writeln!(body, "  assign {name} = any_{name};");
        }
        let (name, ports) = (module.name(), ports.join(",\n"));
        self.replaced(module, format!("module {name} (\n{ports}\n);\n{body}endmodule\n"))
    }

    /// Replaces the text of a module by one that is written by hand, and has the same name and ports.
    ///
    /// # Panics
    ///
    /// If there is no such module.
    #[must_use]
    #[track_caller]
    pub fn written(self, module: &Component, text: String) -> Self {
        self.replaced(module, text)
    }

    #[track_caller]
    fn replaced(mut self, module: &Component, by: String) -> Self {
        let place = self.files.iter_mut().find(|(name, _)| name == module.name());
        let Some((_, text)) = place else { panic!("no module {} to replace", module.name()) };
        *text = by;
        self
    }

    /// Adds a mistake that the proof has to find: a text and its replacement. It depends on how a block is
    /// written.
    #[must_use]
    pub fn refuted_by(mut self, from: &'static str, to: &'static str) -> Self {
        self.mistakes.push(Mistake::Text(from, to));
        self
    }

    /// Adds a mistake that the proof has to find, however a block is written: an input of the block in the
    /// rig is always zero, or an output has any value.
    #[must_use]
    pub fn refuted_without(mut self, port: &'static str) -> Self {
        let value = if port.ends_with("_i") { "'0" } else { "" };
        self.mistakes.push(Mistake::Port(port, value));
        self
    }

    /// Adds such a mistake: all bits of an input are always set.
    #[must_use]
    pub fn refuted_with(mut self, port: &'static str) -> Self {
        self.mistakes.push(Mistake::Port(port, "'1"));
        self
    }

    /// Mistakes have to be found within the cycles of the proof, which may be easier than in any run.
    #[must_use]
    pub fn refuted_soon(self) -> Self {
        Self { soon: true, ..self }
    }

    /// Returns a test that the proof holds, and one test for each mistake.
    ///
    /// # Panics
    ///
    /// If there is no mistake.
    #[must_use]
    #[track_caller]
    pub fn trials(self, folder: &Path) -> Vec<Trial> {
        assert!(!self.mistakes.is_empty(), "{}: nothing shows that it can fail", self.name);
        let mut trials = Vec::new();
        for (i, mistake) in self.mistakes.iter().cloned().enumerate() {
            let name = match &mistake {
                Mistake::Text(..) => format!("{}_refuted_{i}", self.name),
                Mistake::Port(port, "'1") => format!("{}_refuted_with_{port}", self.name),
                Mistake::Port(port, _) => format!("{}_refuted_without_{port}", self.name),
            };
            let text = self.text();
            let search = match self.means {
                Means::Search if !self.soon => Search::Invariant,
                _ => Search::Cycles(self.cycles),
            };
            let folder = folder.join(format!("formal_{name}"));
            trials.push(Trial::test(name, move || {
                prepare(&folder, &mistake.made(&text)?, Claims::Asserted, self.start)?;
                refute(&folder, search)
            }));
        }
        let text = self.text();
        let folder = folder.join(format!("formal_{}", self.name));
        trials.push(Trial::test(self.name, move || {
            // Contradictory assumptions would prove anything.
            prepare(&folder, &text, Claims::NoEnd, self.start)?;
            refute(&folder, Search::Cycles(self.cycles))?;
            let (text, searches) = match self.means {
                Means::Cycles => (text, vec![Search::Cycles(self.cycles)]),
                Means::Search => (text, vec![Search::Invariant]),
                Means::Settled(cycles) => {
                    (text, vec![Search::Cycles(cycles), Search::InvariantAfter(cycles)])
                }
                Means::Induction(helped, depth) => {
                    (helped, vec![Search::Cycles(depth), Search::Step(depth)])
                }
            };
            prepare(&folder, &text, Claims::Asserted, self.start)?;
            searches.into_iter().try_for_each(|search| prove(&folder, search))
        }));
        trials
    }

    /// A row of a table: the name, the block in the rig, which runs are examined, and the number of mistakes.
    pub(crate) fn row(&self) -> String {
        let before = self.files.iter().find_map(|(_, text)| text.split_once(" i_block ("));
        let module = before.and_then(|(before, _)| before.split_whitespace().last());
        let runs = match &self.means {
            Means::Cycles => format!("of {} cycles", self.cycles),
            Means::Search => "any".to_owned(),
            Means::Settled(cycles) => format!("any; the first {cycles} cycles one by one"),
            Means::Induction(_, depth) => format!("any, by induction over {depth} cycles"),
        };
        let (name, module, mistakes) = (&self.name, module.unwrap_or("-"), self.mistakes.len());
        format!("| `{name}` | `{module}` | {runs} | {mistakes} |\n")
    }

    fn text(&self) -> String {
        self.files.iter().map(|(_, text)| text.as_str()).chain([self.top.as_str()]).collect()
    }
}

impl Mistake {
    /// Returns the text with the mistake in it.
    fn made(&self, text: &str) -> Result<String, String> {
        let missing = |what: &str| format!("no text {what:?} to change in\n{text}");
        match self {
            Self::Text(from, to) if text.contains(from) => Ok(text.replace(from, to)),
            Self::Text(from, _) => Err(missing(from)),
            Self::Port(port, value) => {
                // The block is instantiated last.
                let start = text.rfind(" i_block (").ok_or_else(|| missing(" i_block ("))?;
                let (before, instance) = text.split_at(start);
                let connection = format!(".{port}(");
                let at = instance.find(&connection).ok_or_else(|| missing(&connection))?;
                let (head, tail) = instance.split_at(at + connection.len());
                let end = tail.find(')').ok_or_else(|| missing(")"))?;
                Ok(format!("{before}{head}{value}{}", &tail[end..]))
            }
        }
    }
}

/// The rig with all inputs free except reset, which is active only in the first cycle. With `NO_END` there is
/// one more claim, that no run reaches the last cycle.
fn top(rig: &Component, cycles: u32) -> String {
    let mut ports = String::new();
    let mut inner = String::new();
    let mut connections = String::new();
    for port in rig.ports() {
        assert!(port.direction == Direction::Input, "{}: a rig has no outputs", port.name);
        let (name, high) = (&port.name, port.width - 1);
        if name.starts_with(INNER) {
            // The attribute makes yosys connect it to the signal of this name in the flat netlist.
            let path = format!("\\i_rig.i_block.{} ", port.doc);
            let _ = writeln!(inner, "  (* hierconn *) logic [{high}:0] {path};");
            let _ = writeln!(connections, "    .{name}({path}),");
        } else if name != "rst_ni" {
            let _ = writeln!(ports, "    input logic [{high}:0] {name},");
            let _ = writeln!(connections, "    .{name}({name}),");
        }
    }
    let ports = ports.trim_end().trim_end_matches(',');
    let (rig, last) = (rig.name(), cycles - 1);
    format!(
        "module formal (\n{ports}\n);\n{inner}  logic rst_n;\n  logic [7:0] cycle;\n  initial rst_n = 1'b0;\n  \
         initial cycle = 8'd0;\n  always_ff @(posedge clk_i) rst_n <= 1'b1;\n  \
         always_ff @(posedge clk_i) cycle <= cycle + 8'd1;\n  {rig} i_rig (\n{connections}    \
         .rst_ni(rst_n)\n  );\n`ifdef NO_END\n  always_comb assert (cycle != 8'd{last});\n`endif\n\
         endmodule\n"
    )
}

/// The claims to check.
#[derive(Clone, Copy, PartialEq)]
enum Claims {
    /// The assertions.
    Asserted,
    /// Only that no run reaches the last cycle, which is false unless the assumptions contradict each other.
    NoEnd,
}

/// Creates a circuit of AND gates and registers in an empty folder.
fn prepare(folder: &Path, text: &str, claims: Claims, start: Start) -> Result<(), Failed> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("proof.sv"), text)?;
    let (define, remove) = match claims {
        Claims::Asserted => ("", ""),
        // In all modules except the top.
        Claims::NoEnd => ("-D NO_END", "chformal -assert -remove * formal %d;"),
    };
    let first = match start {
        Start::Free => "",
        Start::Zero => "setundef -init -zero;",
    };
    // Logic that no claim depends on is removed; not once more from the gates, which takes as long as all the rest:
    // ABC does that in no time. Undefined values may be anything, even if they appear only in gates.
    let script = format!(
        "read_verilog -formal -sv {define} proof.sv; hierarchy -top formal; proc; {remove} memory_map; \
         flatten; select -assert-none w:* a:hierconn %i; \
         opt_clean -purge; opt -fast; async2sync; opt_clean -purge; \
         {first} setundef -undriven -anyseq; techmap; setundef -undriven -anyseq; dffunmap; simplemap; aigmap; \
         write_aiger -I -B -zinit -no-startoffset proof.aig"
    );
    let output = Command::new("yosys").current_dir(folder).args(["-q", "-p", &script]).output()?;
    if output.status.success() { Ok(()) } else { Err(said(&output).into()) }
}

/// The search that ABC performs.
#[derive(Clone, Copy)]
enum Search {
    /// A run of this many cycles from reset that breaks an assertion.
    Cycles(u32),
    /// An invariant that shows that there is no such run. ABC checks it.
    Invariant,
    /// The same for the cycles after so many.
    InvariantAfter(u32),
    /// Up to this many cycles that break no assertion, from any state, and one more that does.
    Step(u32),
}

/// Runs ABC and returns its output.
fn abc(folder: &Path, search: Search) -> Result<String, Failed> {
    let command = match search {
        Search::Cycles(cycles) => format!("bmc3 -F {cycles}"),
        // Registers that are always equal are merged first.
        Search::Invariant => format!("scorr; dc2; pdr -T {SECONDS}"),
        // The states after these cycles become the initial ones; equal registers are found by induction over two cycles.
        Search::InvariantAfter(cycles) => {
            format!("tempor -F {cycles}; strash; scorr -F 2; dc2; pdr -T {SECONDS}")
        }
        Search::Step(cycles) => format!("orpos; ind -F {} -T {SECONDS}", cycles + 1),
    };
    // `fold` includes the assumptions, `scleanup` removes what became unused in gates only.
    let script = format!("read_aiger proof.aig; fold; strash; scleanup; {command}");
    let output = Command::new("yosys-abc").current_dir(folder).args(["-c", &script]).output()?;
    Ok(said(&output))
}

const BROKEN: &str = "was asserted in frame";

/// Checks that no run breaks an assertion.
fn prove(folder: &Path, search: Search) -> Result<(), Failed> {
    let text = abc(folder, search)?;
    let proven = match search {
        Search::Cycles(cycles) => format!("No output asserted in {cycles} frames"),
        Search::Invariant | Search::InvariantAfter(_) => "Property proved.".to_owned(),
        Search::Step(_) => "Networks are equivalent.".to_owned(),
    };
    if text.contains(&proven) && !text.contains(BROKEN) { Ok(()) } else { Err(text.into()) }
}

/// Checks that a run breaks an assertion; the failure of a tool does not count.
fn refute(folder: &Path, search: Search) -> Result<(), Failed> {
    let text = abc(folder, search)?;
    let broken = text.contains(BROKEN);
    if broken { Ok(()) } else { Err(format!("no run breaks an assertion\n{text}").into()) }
}

/// All output of a tool.
fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
