//! Two modules with the same inputs, and whether their outputs can differ.

use hartrace_rtl::{Component, Direction};
use libtest_mimic::Failed;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A generated module next to a module `top` with the same ports.
pub(crate) struct Miter {
    /// The text of the generated module and of `equal`, whose output `bad` reports that they
    /// differ.
    text: String,
}

impl Miter {
    /// `legal` is SystemVerilog that sets `legal` while the inputs are legal; after illegal inputs,
    /// nothing is compared any more. Reset is active in the first cycle only. The data of a stream
    /// is compared while it is valid.
    pub(crate) fn new(ours: &Component, legal: &str) -> Self {
        let (mut inputs, mut wires) = (String::new(), String::new());
        let (mut ports, mut differ) = (String::new(), vec!["1'b0".to_owned()]);
        for port in ours.ports() {
            let (name, range) = (&port.name, format!("logic [{}:0]", port.width - 1));
            if port.direction == Direction::Input {
                let _ = write!(ports, ".{name}({name}), ");
                if name != "clk_i" && name != "rst_ni" {
                    let _ = write!(inputs, ", input {range} {name}");
                }
            } else {
                let _ = writeln!(wires, "  {range} ours_{name}, theirs_{name};");
                let _ = write!(ports, ".{name}(SIDE_{name}), ");
                let when = match name.as_str() {
                    "data_o" => "ours_valid_o && ",
                    _ => "",
                };
                differ.push(format!("({when}ours_{name} != theirs_{name})"));
            }
        }
        let ports = ports.trim_end_matches(", ");
        let (our_ports, their_ports) =
            (ports.replace("SIDE", "ours"), ports.replace("SIDE", "theirs"));
        let mut text: String = ours.files().into_iter().map(|(_, text)| text).collect();
        let _ = write!(
            text,
            "module equal (input logic clk_i{inputs}, output logic bad);
  logic rst_ni, legal, were_legal;
  initial rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;
{wires}
  {} i_ours ({our_ports});
  top i_theirs ({their_ports});
  {legal}
  initial were_legal = 1'b1;
  always_ff @(posedge clk_i) if (rst_ni) were_legal <= were_legal && legal;
  assign bad = rst_ni && were_legal && legal && ({});
endmodule
",
            ours.name(),
            differ.join(" || ")
        );
        Self { text }
    }

    /// The first cycle after reset in which an output of `top` may differ; `None` if it never does.
    pub(crate) fn differs(&self, top: &str) -> Result<Option<u32>, Failed> {
        let folder = folder()?;
        fs::write(folder.join("equal.sv"), format!("{}{top}", self.text))?;
        // Registers without reset start with any value (-zinit); reading outside of a memory gives
        // any value in every cycle (-anyseq).
        let script = "read_verilog -sv -DSYNTHESIS equal.sv; prep -flatten -top equal; memory_map; \
                      setundef -undriven -anyseq; async2sync; techmap; opt; dffunmap; aigmap; write_aiger -zinit equal.aig";
        let yosys =
            Command::new("yosys").args(["-q", "-p", script]).current_dir(&folder).output()?;
        if !yosys.status.success() {
            return Err(said(&folder, &yosys).into());
        }
        // First the common registers and gates, then a search for an invariant.
        let abc = Command::new("yosys-abc")
            .args(["-c", "read_aiger equal.aig; scorr; pdr -T 60"])
            .current_dir(&folder)
            .output()?;
        let text = said(&folder, &abc);
        let asserted = text.split("was asserted in frame ").nth(1);
        let frame = asserted.and_then(|rest| rest.split('.').next()?.trim().parse().ok());
        match (frame, text.contains("Property proved")) {
            (None, true) => fs::remove_dir_all(folder).map(|()| None).map_err(Failed::from),
            (Some(frame), false) => Ok(Some(frame)),
            _ => Err(format!("neither proven nor refuted\n{text}").into()),
        }
    }
}

/// A separate folder for every run.
fn folder() -> Result<PathBuf, Failed> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("equal_{number}"));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn said(folder: &Path, output: &std::process::Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("in {}: {out}{err}", folder.display())
}
