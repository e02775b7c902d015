//! A CVA6 on boards whose tools nobody can install from a package: the design of each board elaborates, with the core, and its
//! constraints have a pin for every port.

use super::folder;
use hartrace_cva6_connector::{Interface, package as connector};
use hartrace_encoder_hdl::top::{TopConfig, package};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BOARDS: [&str; 2] = ["genesys2", "vcu118"];

/// What devices have in themselves, as far as the designs use it.
const BUFFERS: &str = "
module IBUFDS (input logic I, input logic IB, output logic O);
  assign O = I & ~IB;
endmodule
module BUFG (input logic I, output logic O);
  assign O = I;
endmodule
";

/// The same for both, under two names.
const MMCM: &str = "
module MMCM #(
  parameter real CLKIN1_PERIOD = 0.0, parameter real CLKFBOUT_MULT_F = 5.0, parameter real CLKOUT0_DIVIDE_F = 1.0
) (
  input logic CLKIN1, input logic CLKFBIN, output logic CLKFBOUT, output logic CLKOUT0, output logic LOCKED,
  input logic PWRDWN, input logic RST
);
  if (CLKFBOUT_MULT_F / CLKIN1_PERIOD < 0.6 || CLKFBOUT_MULT_F / CLKIN1_PERIOD > 1.44) begin : gen_range
    $error(\"its oscillator runs at 0.6 to 1.44 GHz in all devices\");
  end
  if (1000.0 * CLKFBOUT_MULT_F / CLKIN1_PERIOD / CLKOUT0_DIVIDE_F > 50.1) begin : gen_fast
    $error(\"the clock is faster than the 50 MHz of the serial line\");
  end
  assign {CLKFBOUT, CLKOUT0, LOCKED} = {CLKFBIN, CLKIN1, ~(PWRDWN | RST)};
endmodule
";

/// Elaborates what a list names; the first argument is the top module.
const SLANG: &str = "
import sys
from pyslang import driver

slang = driver.Driver()
slang.addStandardArgs()
line = f'slang -f design.f --top {sys.argv[1]} -D VERILATOR=1 -Wno-range-width-oob -Wport-width-trunc -Wport-width-expand'
if not (slang.parseCommandLine(line) and slang.processOptions() and slang.parseAllSources()):
    sys.exit(1)
slang.reportCompilation(slang.createCompilation(), False)
sys.exit(0 if slang.reportDiagnostics(False) else 1)
";

pub(crate) fn trials() -> Vec<Trial> {
    let missing = core().is_none() || !python().is_some_and(|python| python.is_file());
    let elaborates = |board: &'static str| {
        let run = move || elaborates(board);
        Trial::test(format!("board/{board}/elaborates"), run).with_ignored_flag(missing)
    };
    let pins = |board| Trial::test(format!("board/{board}/pins"), move || has_pins(board));
    BOARDS.into_iter().flat_map(|board| [elaborates(board), pins(board)]).collect()
}

/// Where the package with the core of 2022 has its sources.
fn core() -> Option<PathBuf> {
    let lib = Path::new(&env::var_os("HARTRACE_CVA6_TOOLS")?).join("lib");
    let packages = fs::read_dir(lib).ok()?.flatten();
    let sources = "site-packages/pythondata_cpu_cva6/system_verilog";
    packages.map(|python| python.path().join(sources)).find(|path| path.is_dir())
}

fn python() -> Option<PathBuf> {
    Some(Path::new(&env::var_os("HARTRACE_SLANG_TOOLS")?).join("bin/python"))
}

fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

fn elaborates(board: &str) -> Result<(), Failed> {
    let (core, python) = (core().ok_or("no core")?, python().ok_or("no slang")?);
    let (folder, top) = (folder(board)?, format!("{board}_top"));
    let config = TopConfig::from_toml(&fs::read_to_string(repository("fpga/cva6/board.toml"))?)?;
    let (modules, adapter) = connector(&config.encoder, "", Interface::Nets)?;
    for (name, text) in package(&config, modules)?.into_iter().chain(adapter) {
        fs::write(folder.join(name), text)?;
    }
    let primitives = ["MMCME2_BASE", "MMCME4_BASE"].map(|name| MMCM.replace("MMCM", name));
    fs::write(folder.join("primitives.sv"), BUFFERS.to_owned() + &primitives.concat())?;

    // The list of the core, whose package lacks a part of the FPU, with the configuration of our tests.
    let mut list = String::new();
    for line in fs::read_to_string(core.join("core/Flist.cv64a6_imafdc_sv39"))?.lines() {
        let line = line.trim();
        let tracer = line.contains("instr_tracer") && !line.ends_with("instr_tracer_pkg.sv");
        if line.ends_with("_config_pkg.sv") {
            writeln!(list, "{}", repository("sim/cva6/rtl/cva6_config_pkg.sv").display())?;
        } else if !tracer && !line.contains("fpu_div_sqrt_mvp") && !line.starts_with("//") {
            writeln!(list, "{line}")?;
        }
    }
    for name in ["te_top.f", "cva6_te_adapter.f"] {
        list += &fs::read_to_string(folder.join(name))?;
    }
    list += &fs::read_to_string(repository("fpga/cva6/boards.f"))?;
    writeln!(list, "{}", repository(&format!("fpga/cva6/{top}.sv")).display())?;
    list += "primitives.sv\n";
    fs::write(folder.join("design.f"), list)?;

    let mut slang = Command::new(python);
    slang.current_dir(&folder).args(["-c", SLANG, &top]);
    slang.env("CVA6_REPO_DIR", &core).env("FPGA", repository("fpga"));
    let output = slang.output()?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // The core has remarks of its own.
    let is_remark =
        |line: &&str| line.contains(": warning: ") && !line.contains("pythondata_cpu_cva6");
    let remarks: Vec<&str> = text.lines().filter(is_remark).collect();
    if !output.status.success() || !text.contains(&top) || !remarks.is_empty() {
        return Err(format!("{}\n\n{text}", remarks.join("\n")).into());
    }
    Ok(())
}

/// Every port of the top module has a pin, and every pin a port.
fn has_pins(board: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(repository(&format!("fpga/cva6/{board}_top.sv")))?;
    let mut ports = BTreeSet::new();
    for line in text.lines().take_while(|line| *line != ");") {
        let line = line.split("//").next().unwrap_or_default().trim().trim_end_matches(',');
        if line.starts_with("input") || line.starts_with("output") {
            let name = line.rsplit(' ').next().unwrap_or_default();
            match line.contains("[1:0]") {
                true => ports.extend([0, 1].map(|bit| format!("{name}[{bit}]"))),
                false => _ = ports.insert(name.to_owned()),
            }
        }
    }
    let text = fs::read_to_string(repository(&format!("fpga/cva6/{board}.xdc")))?;
    let mut pins = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains("PACKAGE_PIN")) {
        // `[get_ports tx]` or `[get_ports {led[0]}]`.
        let name = line.rsplit("get_ports ").next().unwrap_or_default();
        let name = name.strip_suffix(']').unwrap_or(name).trim_matches(['{', '}']);
        if !pins.insert(name.to_owned()) {
            return Err(format!("two pins: {line}").into());
        }
    }
    match ports.len() > 4 && ports == pins {
        true => Ok(()),
        false => Err(format!("ports {ports:?}, but pins {pins:?}").into()),
    }
}
