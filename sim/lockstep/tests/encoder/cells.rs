//! Whoever has memories and queues of their own replaces one file, and the encoder works as before.

use crate::mutants::noticed;
use crate::stimulus;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{TopConfig, package};
use hartrace_hdl_tools::verilate::{Design, Options};
use hartrace_lockstep::Bench;
use libtest_mimic::{Failed, Trial};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A configuration with all tables.
const CONFIG: &str = "full";

/// Random walks through the encoder.
const WALKS: u64 = 12;

/// Cells of another build: memories are one vector, and words of a queue move towards its exit.
const OTHERS: &str = "
module other_ram #(
  parameter int Width = 1, parameter int Depth = 2, localparam int Bits = $clog2(Depth)
) (
  input logic clk_i, we_i, input logic [Bits-1:0] waddr_i, raddr_i, input logic [Width-1:0] wdata_i,
  output logic [Width-1:0] rdata_o
);
  logic [Depth*Width-1:0] all_q;
  always_ff @(posedge clk_i)
    for (int i = 0; i < Depth; i++) if (we_i && int'(waddr_i) == i) all_q[i*Width +: Width] <= wdata_i;
  assign rdata_o = all_q[int'(raddr_i)*Width +: Width];
endmodule

module other_fifo #(
  parameter int Width = 1, parameter int Depth = 2, localparam int Bits = $clog2(Depth + 1)
) (
  input logic clk_i, rst_ni, valid_i, ready_i, input logic [Width-1:0] data_i,
  output logic ready_o, valid_o, full_o, output logic [Width-1:0] data_o, output logic [Bits-1:0] usage_o
);
  logic [Depth-1:0] there_d, there_q;
  logic [Depth-1:0][Width-1:0] words_d, words_q;
  always_comb begin
    there_d = there_q;
    words_d = words_q;
    if (valid_o && ready_i) begin
      there_d = there_d >> 1;
      words_d = words_d >> Width;
    end
    if (valid_i && ready_o) begin
      words_d[$countones(there_d)] = data_i;
      there_d = there_d << 1 | 1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) there_q <= '0; else there_q <= there_d;
  always_ff @(posedge clk_i) words_q <= words_d;
  assign {full_o, ready_o, valid_o} = {there_q[Depth-1], !there_q[Depth-1], there_q[0]};
  assign data_o = words_q[0];
  assign usage_o = Bits'($countones(there_q));
endmodule
";

/// What a cell promises, a text in [`OTHERS`], and one in its place that does not keep the promise.
type Change = (&'static str, &'static str, &'static str);

/// Each has to be noticed.
const BROKEN: [Change; 3] = [
    ("reads_in_the_same_cycle", "  assign rdata_o =", "  always_ff @(posedge clk_i) rdata_o <="),
    (
        "reads_the_old_word",
        "  assign rdata_o =",
        "  assign rdata_o = we_i && waddr_i == raddr_i ? wdata_i :",
    ),
    ("stays_until_it_is_taken", "if (valid_o && ready_i)", "if (valid_o)"),
];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let replaced = Trial::test("cells/replaced", || match difference(None)? {
        None => Ok(()),
        Some(why) => Err(why.into()),
    });
    let broken = BROKEN.into_iter().map(|change| {
        let run = move || match difference(Some(change))? {
            None => Err("not noticed".into()),
            Some(why) => {
                println!("{}: {why}", change.0);
                Ok(())
            }
        };
        Trial::test(format!("cells/{}", change.0), run)
    });
    broken.chain([replaced]).map(|trial| trial.with_ignored_flag(missing)).collect()
}

/// Runs the files that are delivered, but for one; returns what differs from the golden encoder.
fn difference(change: Option<Change>) -> Result<Option<String>, Failed> {
    let config = Config::named(CONFIG).ok_or("no configuration")?;
    let files = package(&TopConfig::of(config.clone()), vec![])?;
    let text = |name: &str| {
        let file = files.iter().find(|(file, _)| file == name);
        file.map(|(_, text)| text.as_str()).ok_or_else(|| format!("no {name}"))
    };
    let folder = change.map_or("replaced", |(name, ..)| name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cells").join(folder);
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for name in text("te_core.f")?.lines() {
        let path = folder.join(name);
        match name {
            "te_cells.sv" => fs::write(&path, cells(text(name)?, change)?)?,
            _ => fs::write(&path, text(name)?)?,
        }
        paths.push(path);
    }
    let design = Design::files("te_core", paths).clock("clk_i").reset("rst_ni", false);
    let mut bench = Bench::of(&config, design.argument("-Wno-fatal"), &Options::default())?;
    let mut rng = fastrand::Rng::with_seed(9);
    for seed in 0..WALKS {
        let stimulus = stimulus::walk(&mut rng, &config, seed, 3000);
        bench.restart(rng.u32(1..))?;
        if let Some(why) = noticed(stimulus.run(&mut bench))? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// The other cells, with the names and ports of those in a text.
fn cells(ours: &str, change: Option<Change>) -> Result<String, Failed> {
    let mut text = OTHERS.to_owned();
    if let Some((_, from, to)) = change {
        if !text.contains(from) {
            return Err(format!("no {from:?} to change").into());
        }
        text = text.replace(from, to);
    }
    for module in ours.lines().filter_map(|line| line.strip_prefix("module ")?.strip_suffix(" (")) {
        let (kind, size) = module.rsplit_once('_').ok_or("a name without a size")?;
        let (width, depth) = size.split_once('x').ok_or("a size of one number")?;
        let (width, depth): (u32, u32) = (width.parse()?, depth.parse()?);
        let bits = |words: u32| u32::BITS - (words - 1).leading_zeros() - 1;
        let (word, address, usage) = (width - 1, bits(depth), bits(depth + 1));
        let (other, ports) = match kind {
            "te_ram" => (
                "other_ram",
                format!(
                    "input logic clk_i, we_i, input logic [{address}:0] waddr_i, raddr_i, \
                     input logic [{word}:0] wdata_i, output logic [{word}:0] rdata_o"
                ),
            ),
            "fifo" => (
                "other_fifo",
                format!(
                    "input logic clk_i, rst_ni, valid_i, ready_i, input logic [{word}:0] data_i, \
                     output logic ready_o, valid_o, full_o, output logic [{word}:0] data_o, \
                     output logic [{usage}:0] usage_o"
                ),
            ),
            _ => return Err(format!("{module} is not known here").into()),
        };
        writeln!(
            text,
            "module {module} ({ports});\n  {other} #(.Width({width}), .Depth({depth})) i_other (.*);\nendmodule"
        )?;
    }
    Ok(text)
}
