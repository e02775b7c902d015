//! The RTL in a simulator that knows unknown values (Icarus Verilog).
//!
//! Many registers have no reset, and no memory has one: they start with X. After reset no output may be X, except the
//! payload while none is offered, and every payload has to be that of the golden encoder. The lock step with that
//! runs in Verilator, which records inputs and outputs of each cycle; Icarus receives the same inputs.

use crate::stimulus::{self, Stimulus};
use hartrace_encoder_hdl::{Config, encoder, files};
use hartrace_hdl_tools::verilate::{Design, Options};
use hartrace_lockstep::Bench;
use hartrace_rtl::{Component, Direction, Port};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Instructions and traps of each walk.
const STEPS: usize = 400;
/// A remark of Icarus Verilog: it evaluates some blocks more often than necessary.
const WAIVED: &str = "constant selects in always_* processes are not currently supported";
/// Walks of each configuration.
const WALKS: u64 = 4;
/// A configuration, and a register whose reset is left out: this has to be noticed.
const NOTICED: [(&str, &str); 2] = [("small", "active_q"), ("full", "room_taken_q")];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let missing = missing || Command::new("iverilog").arg("-V").output().is_err();
    let named = Config::all_named().into_iter().map(|(name, config)| {
        let label = format!("unknown/{name}");
        Trial::test(label, move || check(&name, &config, None))
    });
    let noticed = NOTICED.into_iter().map(|(name, register)| {
        let run = move || {
            let config = Config::named(name).ok_or("no configuration")?;
            match check(name, &config, Some(register)) {
                Ok(()) => Err(format!("{register} without reset is not noticed").into()),
                Err(error) if error.message().is_some_and(|text| text.contains("is unknown")) => {
                    Ok(())
                }
                Err(error) => Err(error),
            }
        };
        Trial::test(format!("unknown/{name}_without_{register}"), run)
    });
    named.chain(noticed).map(|trial| trial.with_ignored_flag(missing)).collect()
}

/// Runs some walks in both simulators; the one that knows unknown values has the RTL without the reset of a register.
fn check(name: &str, config: &Config, without: Option<&str>) -> Result<(), Failed> {
    let core = encoder(config)?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unknown");
    let folder = folder.join(format!("{name}{}", without.unwrap_or_default()));
    fs::create_dir_all(&folder)?;
    let mut rtl = files(&core);
    let mut paths = Vec::new();
    for (file, text) in &rtl {
        let path = folder.join(format!("recorded_{file}"));
        fs::write(&path, text)?;
        paths.push(path);
    }
    let design = Design::files("te_recorded", paths).text("te_recorded", &recorder(&core));
    let design = design.clock("clk_i").reset("rst_ni", false).argument("-Wno-fatal");
    let mut bench = Bench::of(config, design, &Options::default())?;

    if let Some(register) = without {
        let place = format!("      {register} <= ");
        let (_, text) = rtl.iter_mut().find(|(file, _)| file == "te_core.sv").ok_or("no core")?;
        let from = text.find(&place).ok_or_else(|| format!("no {register}"))?;
        let to = from + text[from..].find('\n').ok_or("no line")? + 1;
        text.replace_range(from..to, "");
    }
    let mut command = Command::new("iverilog");
    command.current_dir(&folder).args(["-g2012", "-o", "bench.vvp"]);
    rtl.push(("bench.sv".into(), replayer(&core)));
    for (file, text) in &rtl {
        fs::write(folder.join(file), text)?;
        command.arg(file);
    }
    said(&mut command)?;

    let mut rng = fastrand::Rng::with_seed(3);
    let mut payloads = 0;
    for seed in 1..=WALKS {
        bench.restart(seed as u32)?;
        let stimulus: Stimulus = stimulus::walk(&mut rng, config, seed, STEPS);
        payloads += stimulus.run(&mut bench)?.payloads;
        let recorded = bench.simulation().printed();
        let cycles: Vec<_> = recorded.lines().filter_map(|line| line.split_once(' ')).collect();
        // Those of the reset come in addition.
        if (cycles.len() as u64) < bench.simulation().cycle() {
            let all = bench.simulation().cycle();
            return Err(format!("{} of {all} cycles are recorded", cycles.len()).into());
        }
        let inputs: String = cycles.iter().map(|(inputs, _)| format!("{inputs}\n")).collect();
        fs::write(folder.join("inputs.hex"), inputs)?;
        let mut vvp = Command::new("vvp");
        vvp.current_dir(&folder).args(["-n", "bench.vvp"]).arg(format!("+cycles={}", cycles.len()));
        let replayed = said(&mut vvp)?;
        let outputs: Vec<_> = cycles.iter().map(|(_, outputs)| *outputs).collect();
        compare(&core, &outputs, &replayed).map_err(|error| format!("walk {seed}, {error}"))?;
    }
    println!("{name}: {payloads} payloads, no output unknown");
    Ok(())
}

/// Compares the outputs of all cycles, in bits.
fn compare(core: &Component, recorded: &[&str], replayed: &str) -> Result<(), String> {
    let replayed: Vec<_> = replayed.lines().collect();
    if replayed.len() != recorded.len() {
        return Err(format!("{} cycles instead of {}", replayed.len(), recorded.len()));
    }
    for (cycle, (expected, got)) in recorded.iter().zip(replayed).enumerate() {
        let (mut rest, mut wanted) = (got, *expected);
        let mut values = Vec::new();
        for port in outputs(core) {
            let width = port.width as usize;
            let cut = |text: &str| text.get(..width).zip(text.get(width..)).is_none();
            if cut(rest) || cut(wanted) {
                return Err(format!("cycle {cycle}: {got:?} is no outputs"));
            }
            let ((now, left), (then, left_then)) = (rest.split_at(width), wanted.split_at(width));
            values.push((port, now, then));
            (rest, wanted) = (left, left_then);
        }
        // The first bit says whether the hart is in reset.
        let Some(("1", "1")) = Some((rest, wanted)) else { continue };
        let offered = values.iter().any(|(port, now, _)| port.name == "valid_o" && *now == "1");
        for (port, now, then) in values {
            if !offered && ["data_o", "len_o"].contains(&port.name.as_str()) {
                continue;
            }
            if now.contains(['x', 'z']) {
                return Err(format!("cycle {cycle}: {} is unknown: {now}", port.name));
            }
            if now != then {
                return Err(format!("cycle {cycle}: {} is {now} instead of {then}", port.name));
            }
        }
    }
    Ok(())
}

fn outputs(core: &Component) -> impl Iterator<Item = &Port> {
    core.ports().iter().filter(|port| port.direction == Direction::Output)
}

fn inputs(core: &Component) -> impl Iterator<Item = &Port> {
    let inputs = core.ports().iter().filter(|port| port.direction == Direction::Input);
    inputs.filter(|port| port.name != "clk_i")
}

fn names<'a>(ports: impl Iterator<Item = &'a Port>) -> String {
    ports.map(|port| port.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The core, and a line for each cycle: all inputs, and all outputs and the reset.
fn recorder(core: &Component) -> String {
    let port = |port: &Port| {
        let kind = if port.direction == Direction::Input { "input " } else { "output" };
        format!("    {kind} logic [{}:0] {}", port.width - 1, port.name)
    };
    let ports: Vec<_> = core.ports().iter().map(port).collect();
    format!(
        "module te_recorded (\n{}\n);\n  te_core i_core (.*);\n  always @(posedge clk_i)\n    \
         $display(\"%h %b\", {{{}}}, {{{}, rst_ni}});\nendmodule\n",
        ports.join(",\n"),
        names(inputs(core)),
        names(outputs(core)),
    )
}

/// The core with inputs from a file; it prints the outputs of each cycle before the edge.
fn replayer(core: &Component) -> String {
    let declare = |port: &Port| format!("  logic [{}:0] {};\n", port.width - 1, port.name);
    let signals: String = core.ports().iter().map(declare).collect();
    let width: u32 = inputs(core).map(|port| port.width).sum();
    format!(
        "module bench;\n{signals}  int cycles;\n  int file;\n  int read;\n  logic [{high}:0] vector;\n  \
         te_core i_core (.*);\n  initial begin\n    read = $value$plusargs(\"cycles=%d\", cycles);\n    \
         file = $fopen(\"inputs.hex\", \"r\");\n    clk_i = 1'b0;\n    \
         for (int i = 0; i < cycles; i++) begin\n      read = $fscanf(file, \"%h\", vector);\n      \
         {{{inputs}}} = vector;\n      #1;\n      $display(\"%b\", {{{outputs}, rst_ni}});\n      \
         clk_i = 1'b1;\n      #1;\n      clk_i = 1'b0;\n      #1;\n    end\n    $finish;\n  end\nendmodule\n",
        high = width - 1,
        inputs = names(inputs(core)),
        outputs = names(outputs(core)),
    )
}

/// Runs a tool and returns what it printed.
fn said(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && errors.lines().all(|line| line.contains(WAIVED)) {
        return Ok(text);
    }
    let start: String = text.lines().chain(errors.lines()).take(20).collect::<Vec<_>>().join("\n");
    Err(format!("{command:?}: {start}").into())
}
