//! Runs a proof.

use hartrace_rtl::{Component, Direction};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A module with assertions, and how they are shown to hold.
#[derive(Debug)]
pub struct Proof {
    name: String,
    files: Vec<(String, String)>,
    top: String,
    /// Cycles from reset, the first being the reset.
    cycles: u32,
    /// Cycles that induction goes back, if it is by induction as well.
    induction: Option<u32>,
    mistakes: Vec<Mistake>,
}

/// A mistake that a proof has to find.
#[derive(Clone, Debug)]
enum Mistake {
    /// A text is another one.
    Text(&'static str, &'static str),
    /// A port of the block in the rig is connected to this, not to what it should be.
    Port(&'static str, &'static str),
}

impl Proof {
    /// That no run of `cycles` cycles from reset breaks an assertion of `rig` or of what is in it.
    #[must_use]
    pub fn bounded(name: &str, rig: &Component, cycles: u32) -> Self {
        Self {
            name: name.to_owned(),
            files: rig.files(),
            top: top(rig),
            cycles,
            induction: None,
            mistakes: vec![],
        }
    }

    /// That no run at all does, if states `steps` apart tell enough.
    #[must_use]
    pub fn induction(name: &str, rig: &Component, cycles: u32, steps: u32) -> Self {
        Self { induction: Some(steps), ..Self::bounded(name, rig, cycles) }
    }

    /// With another module in place of the one of the same name, so that a part can be proven without
    /// what is behind it.
    ///
    /// # Panics
    ///
    /// If there is no such module.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, module: &Component) -> Self {
        let place = self.files.iter_mut().find(|(name, _)| name == module.name());
        let Some((_, text)) = place else { panic!("no module {} to replace", module.name()) };
        *text = module.emit();
        self
    }

    /// A mistake that the proof has to find: a text and what is there instead. Depends on how a block is
    /// written.
    #[must_use]
    pub fn refuted_by(mut self, from: &'static str, to: &'static str) -> Self {
        self.mistakes.push(Mistake::Text(from, to));
        self
    }

    /// A mistake that the proof has to find, however a block is written: an input of the block in the rig
    /// is always zero, or an output is anything.
    #[must_use]
    pub fn refuted_without(mut self, port: &'static str) -> Self {
        let value = if port.ends_with("_i") { "'0" } else { "" };
        self.mistakes.push(Mistake::Port(port, value));
        self
    }

    /// Such a mistake: all bits of an input are always set.
    #[must_use]
    pub fn refuted_with(mut self, port: &'static str) -> Self {
        self.mistakes.push(Mistake::Port(port, "'1"));
        self
    }

    /// A test that it holds, and one for each mistake.
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
            let (text, top, cycles) = (self.text(), self.top.clone(), self.cycles);
            let folder = folder.join(format!("formal_{name}"));
            trials.push(Trial::test(name, move || {
                prepare(&folder, &mistake.made(&text)?, &top)?;
                refute(&folder, cycles)
            }));
        }
        let text = self.text();
        let folder = folder.join(format!("formal_{}", self.name));
        trials.push(Trial::test(self.name, move || {
            prepare(&folder, &text, &self.top)?;
            prove(&folder, &["-t", &self.cycles.to_string()])?;
            match self.induction {
                None => Ok(()),
                Some(steps) => prove(&folder, &["-i", "-t", &steps.to_string()]),
            }
        }));
        trials
    }

    fn text(&self) -> String {
        self.files.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl Mistake {
    /// The text with the mistake in it.
    fn made(&self, text: &str) -> Result<String, String> {
        let missing = |what: &str| format!("no text {what:?} to change in\n{text}");
        match self {
            Self::Text(from, to) if text.contains(from) => Ok(text.replace(from, to)),
            Self::Text(from, _) => Err(missing(from)),
            Self::Port(port, value) => {
                // The block is the last thing that is instantiated.
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

/// The rig with all inputs free but reset, which is on in the first cycle only.
fn top(rig: &Component) -> String {
    let mut ports = String::new();
    let mut connections = String::new();
    for port in rig.ports() {
        assert!(port.direction == Direction::Input, "{}: a rig has no outputs", port.name);
        let name = &port.name;
        if name != "rst_ni" {
            let _ = writeln!(ports, "    input logic [{}:0] {name},", port.width - 1);
            let _ = writeln!(connections, "    .{name}({name}),");
        }
    }
    let ports = ports.trim_end().trim_end_matches(',');
    format!(
        "module formal (\n{ports}\n);\n  logic rst_n;\n  initial rst_n = 1'b0;\n  \
         always_ff @(posedge clk_i) rst_n <= 1'b1;\n  {} i_rig (\n{connections}    \
         .rst_ni(rst_n)\n  );\nendmodule\n",
        rig.name()
    )
}

/// Formulas in an empty folder.
fn prepare(folder: &Path, text: &str, top: &str) -> Result<(), Failed> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("proof.sv"), format!("{text}{top}"))?;
    let script = "read_verilog -formal -sv proof.sv; prep -flatten -top formal; memory_map; \
                  async2sync; opt_clean; dffunmap; setundef -undriven -anyseq; write_smt2 -wires proof.smt2";
    let output = Command::new("yosys").current_dir(folder).args(["-q", "-p", script]).output()?;
    if output.status.success() { Ok(()) } else { Err(said(&output).into()) }
}

fn smtbmc(folder: &Path, args: &[&str]) -> Result<(Output, String), Failed> {
    let mut command = Command::new("yosys-smtbmc");
    // Without --unroll, z3 gets functions of states and does not come to an end.
    command.current_dir(folder).args(["-s", "z3", "--unroll", "--presat", "--noprogress"]);
    let output = command.args(["--timeout", "600"]).args(args).arg("proof.smt2").output()?;
    let text = said(&output);
    Ok((output, text))
}

fn prove(folder: &Path, args: &[&str]) -> Result<(), Failed> {
    let (output, text) = smtbmc(folder, args)?;
    let passed = output.status.success() && text.contains("Status: PASSED");
    if passed { Ok(()) } else { Err(format!("{args:?}\n{text}").into()) }
}

/// A run from reset breaks an assertion; that the formulas are contradictory or a tool fails does not
/// count.
fn refute(folder: &Path, cycles: u32) -> Result<(), Failed> {
    let (output, text) = smtbmc(folder, &["-t", &cycles.to_string()])?;
    let refuted = !output.status.success() && text.contains("Assert failed in");
    if refuted { Ok(()) } else { Err(format!("the mistake was not found\n{text}").into()) }
}

/// Everything a tool said.
fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
