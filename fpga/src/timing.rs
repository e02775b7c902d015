//! Timing on ECP5.

use crate::FpgaError;
use crate::harness::{HARNESS, harness};
use crate::netlist::Netlist;
use crate::path::{Names, Path, RawPath, round};
use crate::source::Source;
use crate::tools::Tools;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::{fs, thread};

/// The device that designs are placed on.
const DEVICE: &str = "LFE5U-85F, speed grade 8";
const DEVICE_ARGS: [&str; 5] = ["--85k", "--speed", "8", "--package", "CABGA756"];
/// Target clock rate of placement, in MHz: more than any design here reaches, so that placement
/// never stops trying.
const TARGET: &str = "400";

/// Speed of a design on ECP5, and its resources there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The device.
    pub device: String,
    /// The median of the clock rates of all placements, in MHz; of an even number, the lower of the
    /// two in the middle.
    pub median_mhz: f64,
    /// The best clock rate of all placements, in MHz.
    pub best_mhz: f64,
    /// Every placement, by seed.
    pub placements: Vec<Placement>,
    /// Cells on the device, by kind and without the harness. `TRELLIS_COMB` is a LUT of four
    /// inputs, which may also be half of a carry cell or a piece of memory.
    pub cells: BTreeMap<String, u64>,
    /// The path that limits the best placement.
    pub critical_path: Path,
}

/// One placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Its random seed.
    pub seed: u32,
    /// Its clock rate after routing, in MHz.
    pub mhz: f64,
}

/// What nextpnr reports.
#[derive(Debug, Deserialize)]
struct Routed {
    critical_paths: Vec<RawPath>,
    fmax: BTreeMap<String, Fmax>,
    utilization: BTreeMap<String, Used>,
}

#[derive(Debug, Deserialize)]
struct Fmax {
    achieved: f64,
}

#[derive(Debug, Deserialize)]
struct Used {
    used: u64,
}

impl Timing {
    /// Measures the timing. Also returns the version of yosys.
    pub(crate) fn of(
        source: &Source,
        tools: &Tools,
        folder: &std::path::Path,
        seeds: u32,
        watch: &dyn Fn(&str),
    ) -> Result<(Self, String), FpgaError> {
        if seeds == 0 {
            return Err(FpgaError::NoSeeds);
        }
        watch("mapping to ECP5");
        let (netlist, around) = synthesise(source, tools, folder)?;
        // Each placement runs on one core.
        let seeds: Vec<u32> = (1..=seeds).collect();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut results = Vec::new();
        for some in seeds.chunks(cores) {
            some.iter().for_each(|seed| watch(&format!("placement {seed}")));
            let mut routed = thread::scope(|scope| -> Result<Vec<_>, FpgaError> {
                let threads: Vec<_> = some
                    .iter()
                    .map(|&seed| scope.spawn(move || route(tools, folder, seed)))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| {
                        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    })
                    .collect()
            })?;
            results.append(&mut routed);
        }

        let placements: Vec<Placement> = results
            .iter()
            .map(|(seed, mhz, _)| Placement { seed: *seed, mhz: round(*mhz) })
            .collect();
        results.sort_by(|a, b| a.1.total_cmp(&b.1));
        let median_mhz = round(results[(results.len() - 1) / 2].1);
        let Some((_, best, routed)) = results.last() else { return Err(FpgaError::NoSeeds) };
        let mut cells = BTreeMap::new();
        for (kind, used) in &routed.utilization {
            // Pins and clocks belong to the harness.
            let counts = ["TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW", "DP16KD", "MULT18X18D"];
            if counts.contains(&kind.as_str()) {
                cells.insert(kind.clone(), used.used);
            }
        }
        let module = netlist.module(HARNESS)?;
        let synthesised = module.kinds(|_| false).get("TRELLIS_FF").copied().unwrap_or(0);
        let placed = cells.get("TRELLIS_FF").copied().unwrap_or(0);
        if placed != synthesised {
            return Err(FpgaError::Vanished { top: source.top().to_owned(), synthesised, placed });
        }
        for (kind, count) in [("TRELLIS_COMB", around.luts), ("TRELLIS_FF", around.ffs)] {
            if let Some(cells) = cells.get_mut(kind) {
                *cells = cells.saturating_sub(count);
            }
        }
        let raw = routed.critical_paths.iter().find(|path| path.is_clocked());
        let raw = raw.ok_or_else(|| unexpected("there is no path from register to register"))?;
        let timing = Self {
            device: DEVICE.to_owned(),
            median_mhz,
            best_mhz: round(*best),
            placements,
            cells,
            critical_path: Path::new(raw, &Names::new(module), source),
        };
        Ok((timing, netlist.version()))
    }
}

/// Resources of the harness.
#[derive(Debug)]
struct Around {
    luts: u64,
    ffs: u64,
}

/// Maps the design in its harness to ECP5, into `ecp5.json`.
fn synthesise(
    source: &Source,
    tools: &Tools,
    folder: &std::path::Path,
) -> Result<(Netlist, Around), FpgaError> {
    let ports = source.ports(tools, folder)?;
    let text = harness(source.top(), &ports)?;
    fs::write(folder.join("harness.v"), text).map_err(FpgaError::io("harness.v"))?;
    let (elaborate, top) = (source.elaborate(), source.top());
    // The design is flattened, but kept separate from its harness until it is mapped. Thus neither
    // changes the other, and both can be counted. Mapping logic loses the names of wires but not of
    // cells, so registers are named after their wires first. Of the scripts for ABC in yosys, the
    // third is the one for speed.
    let script = format!(
        "scratchpad -copy abc9.script.flow3 abc9.script\n\
         {elaborate}flatten\n\
         setattr -mod -set keep_hierarchy 1 {top}\n\
         read_verilog harness.v\n\
         synth_ecp5 -top {HARNESS} -run begin:map_luts\n\
         rename -wire */t:TRELLIS_FF\n\
         synth_ecp5 -top {HARNESS} -run map_luts:\n\
         write_json apart.json\n\
         setattr -mod -unset keep_hierarchy {top}\n\
         flatten\n\
         opt_clean\n\
         write_json ecp5.json\n"
    );
    tools.yosys(folder, &script)?;
    let apart = Netlist::read(folder, "apart.json")?;
    let kinds = apart.module(HARNESS)?.kinds(|cell| apart.is_instance(cell));
    let count = |kind: &str| kinds.get(kind).copied().unwrap_or(0);
    let around = Around { luts: count("LUT4"), ffs: count("TRELLIS_FF") };
    Ok((Netlist::read(folder, "ecp5.json")?, around))
}

/// Places and routes `ecp5.json`.
fn route(
    tools: &Tools,
    folder: &std::path::Path,
    seed: u32,
) -> Result<(u32, f64, Routed), FpgaError> {
    let (report, log, number) =
        (format!("seed{seed}.json"), format!("seed{seed}.log"), seed.to_string());
    let mut args = DEVICE_ARGS.to_vec();
    args.extend(["--json", "ecp5.json", "--report", &report, "--seed", &number, "--freq", TARGET]);
    args.extend(["--timing-allow-fail", "--lpf-allow-unconstrained"]);
    tools.nextpnr(folder, &log, &args)?;
    let text = fs::read(folder.join(&report)).map_err(FpgaError::io(report))?;
    let routed: Routed =
        serde_json::from_slice(&text).map_err(|error| unexpected(&error.to_string()))?;
    // The harness has one clock.
    let mhz = routed.fmax.values().map(|fmax| fmax.achieved).next();
    let mhz = mhz.ok_or_else(|| unexpected("there is no clock rate"))?;
    Ok((seed, mhz, routed))
}

fn unexpected(problem: &str) -> FpgaError {
    FpgaError::Unexpected { tool: "nextpnr-ecp5", file: "its report", problem: problem.to_owned() }
}
