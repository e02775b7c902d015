//! The same stimulus for the interpreter and for simulators.

use super::random::{INPUTS, bits};
use fastrand::Rng;
use hartrace_rtl::{Bits, Component, Direction, Interpreter};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Modules that share their inputs, and values for these.
pub struct Bench {
    pub modules: Vec<Component>,
    pub stimulus: Vec<Vec<Bits>>,
}

impl Bench {
    pub fn new(rng: &mut Rng, modules: Vec<Component>, cycles: usize) -> Self {
        let vector = |_| INPUTS.iter().map(|(_, width)| bits(rng, *width)).collect();
        let stimulus = (0..cycles).map(vector).collect();
        Self { modules, stimulus }
    }

    /// The outputs as the test bench prints them: for each cycle, one line per module.
    pub fn expected(&self) -> Vec<String> {
        let mut modules: Vec<Interpreter> = self.modules.iter().map(Interpreter::new).collect();
        let mut lines = Vec::new();
        for vector in &self.stimulus {
            for (module, component) in modules.iter_mut().zip(&self.modules) {
                module.set_all(INPUTS.iter().zip(vector).map(|((name, _), v)| (*name, v.clone())));
                let values: Vec<Bits> =
                    outputs(component).into_iter().map(|(name, _)| module.get(&name)).collect();
                lines.push(format!("{:x}", Bits::concat(&values)));
            }
            modules.iter_mut().for_each(|module| drop(module.clock()));
        }
        lines
    }

    /// A test bench for any simulator.
    pub fn text(&self) -> String {
        let mut out = String::from("module bench;\n  logic clk_i = 0, rst_ni = 1;\n");
        let total: u32 = INPUTS.iter().map(|(_, width)| width).sum();
        let names: Vec<&str> = INPUTS.iter().map(|(name, _)| *name).collect();
        for (name, width) in INPUTS {
            let _ = writeln!(out, "  logic [{}:0] {name};", width - 1);
        }
        let (n, top) = (self.stimulus.len(), total - 1);
        let _ = writeln!(out, "  logic [{top}:0] stimulus [{n}];");
        let (mut presets, mut prints) = (String::new(), String::new());
        for component in &self.modules {
            let name = component.name();
            let mut ports: Vec<String> =
                names.iter().map(|input| format!(".{input}({input})")).collect();
            if component.clocked() {
                ports.extend([".clk_i(clk_i)".to_owned(), ".rst_ni(rst_ni)".to_owned()]);
                // The interpreter starts with zeros in registers without reset.
                let _ = writeln!(presets, "    i_{name}.late_q = '0;");
                let _ =
                    writeln!(presets, "    for (int n = 0; n < 8; n++) i_{name}.words[n] = '0;");
            }
            let mut wires = Vec::new();
            for (output, width) in outputs(component) {
                let wire = format!("{name}_{output}");
                let _ = writeln!(out, "  wire [{}:0] {wire};", width - 1);
                ports.push(format!(".{output}({wire})"));
                wires.push(wire);
            }
            let _ = writeln!(out, "  {name} i_{name} ({});", ports.join(", "));
            let _ = writeln!(prints, "      $display(\"%h\", {{{}}});", wires.join(", "));
        }
        let _ = write!(
            out,
            "  initial begin\n    $readmemh(\"stimulus.hex\", stimulus);\n    {{{}}} = '0;\n{presets}    \
             #1 rst_ni = 0;\n    #1 rst_ni = 1;\n    for (int n = 0; n < {n}; n++) begin\n      {{{}}} = stimulus[n];\n      \
             #1;\n{prints}      clk_i = 1;\n      #1 clk_i = 0;\n    end\n    $finish;\n  end\n\
             endmodule\n",
            names.join(", "),
            names.join(", ")
        );
        out
    }

    /// Writes modules, test bench and stimulus into an empty folder.
    pub fn write(&self, folder: &str) -> io::Result<PathBuf> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for component in &self.modules {
            fs::write(folder.join(format!("{}.sv", component.name())), component.emit())?;
        }
        fs::write(folder.join("bench.sv"), self.text())?;
        let lines: Vec<String> =
            self.stimulus.iter().map(|vector| format!("{:x}\n", Bits::concat(vector))).collect();
        fs::write(folder.join("stimulus.hex"), lines.concat())?;
        Ok(folder)
    }

    pub fn files(&self) -> Vec<String> {
        let modules = self.modules.iter().map(|component| format!("{}.sv", component.name()));
        modules.chain(["bench.sv".to_owned()]).collect()
    }

    /// Compares the output of a simulator.
    pub fn compare(&self, printed: &str) -> Result<(), String> {
        let expected = self.expected();
        let hex = |line: &&str| {
            !line.is_empty() && line.chars().all(|c| "0123456789abcdefxz".contains(c))
        };
        let lines: Vec<&str> = printed.lines().filter(hex).collect();
        if lines.len() != expected.len() {
            return Err(format!("{} lines, {} expected:\n{printed}", lines.len(), expected.len()));
        }
        for (i, (line, wanted)) in lines.iter().zip(&expected).enumerate() {
            if line != wanted {
                let (cycle, module) = (i / self.modules.len(), i % self.modules.len());
                return Err(self.explain(cycle, &self.modules[module], line, wanted));
            }
        }
        Ok(())
    }

    fn explain(&self, cycle: usize, component: &Component, line: &str, wanted: &str) -> String {
        let mut text = format!("cycle {cycle}, module {}:\n", component.name());
        for ((name, _), value) in INPUTS.iter().zip(&self.stimulus[cycle]) {
            let _ = writeln!(text, "  {name} = {value:?}");
        }
        let outputs = outputs(component);
        let mut lo: u32 = outputs.iter().map(|(_, width)| width).sum();
        let total = lo;
        for (name, width) in outputs {
            lo -= width;
            let part = |hex: &str| Bits::from_hex(total, hex).map(|bits| bits.slice(lo, width));
            let (got, want) = (part(line), part(wanted));
            if got != want {
                let _ = writeln!(text, "  {name}: {got:?}, {want:?} expected");
                let source = component.emit();
                for line in source.lines().filter(|line| line.contains(&name)) {
                    let _ = writeln!(text, "    {line}");
                }
            }
        }
        if line.contains(['x', 'z']) {
            let _ = writeln!(text, "  {line}\n  {wanted}");
        }
        text
    }
}

fn outputs(component: &Component) -> Vec<(String, u32)> {
    let outputs = component.ports().iter().filter(|port| port.direction == Direction::Output);
    outputs.map(|port| (port.name.clone(), port.width)).collect()
}

/// Runs a command in a folder and returns its output.
pub fn run(folder: &Path, command: &[&str]) -> Result<String, String> {
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{}: {error}", command[0]))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let tail = |text: &str| text.lines().take(40).collect::<Vec<_>>().join("\n");
    Err(format!("{}: {}\n{}\n{}", command.join(" "), output.status, tail(&text), tail(&errors)))
}
