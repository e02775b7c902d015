//! Runs a proof.

use crate::support::{folder, run, said, write};
use hartrace_rtl::{Component, Direction};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module with assertions, and how they are shown to hold.
pub(crate) struct Proof {
    name: String,
    files: Vec<(String, String)>,
    top: String,
    /// Cycles from reset, the first being the reset.
    cycles: u32,
    /// Cycles that induction goes back, if it is by induction as well.
    induction: Option<u32>,
    mutations: Vec<(&'static str, &'static str)>,
}

impl Proof {
    /// That no run of `cycles` cycles from reset breaks an assertion of `rig` or of what is in it.
    pub(crate) fn bounded(name: &str, rig: &Component, cycles: u32) -> Self {
        Self {
            name: name.to_owned(),
            files: rig.files(),
            top: top(rig),
            cycles,
            induction: None,
            mutations: vec![],
        }
    }

    /// That no run at all does, if states `steps` apart tell enough.
    pub(crate) fn induction(name: &str, rig: &Component, cycles: u32, steps: u32) -> Self {
        Self { induction: Some(steps), ..Self::bounded(name, rig, cycles) }
    }

    /// A mistake that the proof has to find: a text in a block and what is there instead.
    pub(crate) fn refuted_by(mut self, from: &'static str, to: &'static str) -> Self {
        self.mutations.push((from, to));
        self
    }

    /// A test that it holds, and one for each mistake.
    pub(crate) fn trials(self) -> Vec<Trial> {
        assert!(!self.mutations.is_empty(), "{}: nothing shows that it can fail", self.name);
        let mut trials = Vec::new();
        for (i, (from, to)) in self.mutations.iter().copied().enumerate() {
            let name = format!("{}_refuted_{i}", self.name);
            let mut text = self.text();
            let (file, top, cycles) = (name.clone(), self.top.clone(), self.cycles);
            trials.push(Trial::test(name, move || {
                if !text.contains(from) {
                    return Err(format!("no text {from:?} to change in\n{text}").into());
                }
                text = text.replace(from, to);
                refute(&prepare(&file, &text, &top)?, cycles)
            }));
        }
        let text = self.text();
        trials.push(Trial::test(self.name.clone(), move || {
            let formulas = prepare(&self.name, &text, &self.top)?;
            prove(&formulas, &["-t", &self.cycles.to_string()])?;
            match self.induction {
                None => Ok(()),
                Some(steps) => prove(&formulas, &["-i", "-t", &steps.to_string()]),
            }
        }));
        trials
    }

    fn text(&self) -> String {
        self.files.iter().map(|(_, text)| text.as_str()).collect()
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

fn prepare(name: &str, text: &str, top: &str) -> Result<PathBuf, Failed> {
    let folder = folder(&format!("formal_{name}"));
    write(&folder.join("proof.sv"), &format!("{text}{top}"));
    let script = "read_verilog -formal -sv proof.sv; prep -flatten -top formal; memory_map; \
                  async2sync; opt_clean; dffunmap; setundef -undriven -anyseq; write_smt2 -wires proof.smt2";
    let output = run(Command::new("yosys").current_dir(&folder).args(["-q", "-p", script]));
    if !output.status.success() {
        return Err(said(&output).into());
    }
    Ok(folder)
}

fn smtbmc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("yosys-smtbmc");
    // Without --unroll, z3 gets functions of states and does not come to an end.
    command.current_dir(folder).args(["-s", "z3", "--unroll", "--presat", "--noprogress"]);
    command.args(["--timeout", "120"]).args(args).arg("proof.smt2");
    command
}

fn prove(folder: &Path, args: &[&str]) -> Result<(), Failed> {
    let output = run(&mut smtbmc(folder, args));
    let text = said(&output);
    let passed = output.status.success() && text.contains("Status: PASSED");
    if passed { Ok(()) } else { Err(format!("{args:?}\n{text}").into()) }
}

/// A run from reset breaks an assertion; that the formulas are contradictory or a tool fails does not
/// count.
fn refute(folder: &Path, cycles: u32) -> Result<(), Failed> {
    let output = run(&mut smtbmc(folder, &["-t", &cycles.to_string()]));
    let text = said(&output);
    let refuted = !output.status.success() && text.contains("Assert failed in");
    if refuted { Ok(()) } else { Err(format!("the mistake was not found\n{text}").into()) }
}
