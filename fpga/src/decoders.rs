//! The cost of trace decoders by bytes per cycle, beside published figures.

use crate::netlist::Netlist;
use crate::report::{Options, Report};
use crate::source::Source;
use crate::tools::Tools;
use crate::{FpgaError, levels};
use serde::Serialize;
use std::fmt::Write;

/// Synthesis for logic levels that can be compared: with carry chains and wide multiplexers, cells of different
/// delays would count alike. ABC's script is that for speed, as for clock rates.
const LUTS_ONLY: &str = "scratchpad -copy abc9.script.flow3 abc9.script\n\
     synth_xilinx -family xcup -noiopad -noclkbuf -flatten -nocarry -nowidelut -abc9";

/// Delay of a level with its routing in nanoseconds: 4 ns for 12 levels on UltraScale+, as Weingarten (2023)
/// reports. Only good enough to rank designs.
const LEVEL: f64 = 0.33;

/// The cost of a decoder that takes some bytes in every cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unrolled {
    /// Bytes per cycle.
    pub unroll: u32,
    /// LUTs on the longest path of the decoder. None if there is a loop.
    pub levels: Option<u64>,
    /// The same for the stage that finds packets, byte after byte in one cycle, alone.
    pub chain: Option<u64>,
    /// Area and clock rate.
    pub report: Report,
}

impl Unrolled {
    /// Number of steps in addition to those of a report.
    pub(crate) const STEPS: u64 = 2;

    /// Measures a decoder, and the stage that finds packets, and announces each step.
    pub(crate) fn measure(
        unroll: u32,
        [decoder, chain]: [&Source; 2],
        options: &Options,
        tools: &Tools,
        watch: &dyn Fn(&str),
    ) -> Result<Self, FpgaError> {
        watch("levels of logic");
        let whole = depth(decoder, tools)?;
        watch("levels of the stage that finds packets");
        let chain = depth(chain, tools)?;
        let report = Report::watched(decoder, options, tools, watch)?;
        Ok(Self { unroll, levels: whole, chain, report })
    }

    /// Converts to JSON, as [`Report::to_json`].
    pub(crate) fn to_json(&self) -> String {
        // Conversion cannot fail: no map has keys other than strings.
        serde_json::to_string_pretty(self)
            .map_or_else(|error| error.to_string(), |text| text + "\n")
    }

    /// Bytes per nanosecond, estimated from the levels.
    #[must_use]
    pub fn gigabytes(&self) -> Option<f64> {
        self.levels.map(|levels| f64::from(self.unroll) / (LEVEL * levels as f64))
    }
}

/// LUTs on the longest path. None if there is a loop.
fn depth(source: &Source, tools: &Tools) -> Result<Option<u64>, FpgaError> {
    let folder = tempfile::tempdir().map_err(FpgaError::io("temporary folder"))?;
    let (folder, file) = (folder.path(), "luts.json");
    source.write(folder)?;
    let (read, top) = (source.read(), source.top());
    tools.yosys(folder, &format!("{read}{LUTS_ONLY} -top {top}\nwrite_json {file}\n"))?;
    let netlist = Netlist::read(folder, file)?;
    Ok(levels::longest(netlist.module(top)?))
}

/// Figures of Weingarten et al. for their ETMv4 decoder on a Zynq UltraScale+, measured with Vivado: LUT, FF and MHz
/// for one to six bytes per cycle.
const PUBLISHED: [(u64, u64, u64); 6] = [
    (521, 631, 550),
    (1_701, 953, 400),
    (2_375, 1_324, 300),
    (3_075, 1_614, 250),
    (5_702, 1_965, 180),
    (5_727, 2_282, 130),
];

/// A table of decoders in Markdown. If they are for ETMv4, published figures stand beside.
pub(crate) fn decoders(all: &[Unrolled], is_etmv4: bool) -> String {
    let mut heads = vec!["bytes/cycle", "LUT", "FF", "BRAM18", "levels", "of finding packets"];
    heads.push("GB/s, estimated");
    let timed = all.iter().any(|one| one.report.timing.is_some());
    heads.extend(timed.then_some("MHz on ECP5"));
    if is_etmv4 {
        heads.extend(["published LUT", "published FF", "published MHz"]);
    }
    let mut out = format!("| {} |\n|{}\n", heads.join(" | "), " ---: |".repeat(heads.len()));
    let shown = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
    for one in all {
        let cells = one.report.area.as_ref().map(|area| &area.flat);
        let mut row = vec![one.unroll.to_string()];
        row.push(shown(cells.map(|cells| cells.lut.to_string())));
        row.push(shown(cells.map(|cells| cells.ff.to_string())));
        row.push(shown(cells.map(|cells| cells.bram18.to_string())));
        row.push(shown(one.levels.map(|levels| levels.to_string())));
        row.push(shown(one.chain.map(|levels| levels.to_string())));
        row.push(shown(one.gigabytes().map(|rate| format!("{rate:.2}"))));
        if timed {
            let timing = one.report.timing.as_ref();
            row.push(shown(timing.map(|timing| format!("{:.1}", timing.median_mhz))));
        }
        if is_etmv4 {
            let index = (one.unroll as usize).wrapping_sub(1);
            let published = PUBLISHED.get(index).map(|(lut, ff, mhz)| [*lut, *ff, *mhz]);
            row.extend((0..3).map(|i| shown(published.map(|figures| figures[i].to_string()))));
        }
        // Writing to a string never fails.
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolVersions;

    #[test]
    fn published_figures_stand_beside() {
        let one = |unroll, levels| Unrolled {
            unroll,
            levels: Some(levels),
            chain: Some(3),
            report: Report {
                config: None,
                top: "m".to_owned(),
                source: String::new(),
                tools: ToolVersions::default(),
                area: None,
                timing: None,
            },
        };
        let all = [one(4, 12), one(8, 24)];
        let table = decoders(&all, true);
        assert!(table.contains("| 4 | - | - | - | 12 | 3 | 1.01 | 3075 | 1614 | 250 |"), "{table}");
        assert!(table.contains("| 8 | - | - | - | 24 | 3 | 1.01 | - | - | - |"), "{table}");
        assert!(!decoders(&all, false).contains("published"));
    }
}
