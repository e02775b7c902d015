//! The path that limits the clock, in terms of the source.

use crate::harness::INSTANCE;
use crate::netlist::Module;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A path from register to register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The register at which it starts.
    pub from: String,
    /// The register at which it ends.
    pub to: String,
    /// Its delay, in ns.
    pub ns: f64,
    /// The part of it that is due to wires.
    pub routing_ns: f64,
    /// Number of cells on it, without registers.
    pub cells: u64,
    /// Points on the path that still have a name, in order.
    pub steps: Vec<Step>,
}

/// A point on a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// A signal, or for an adder or comparison its module and expression in the source.
    pub at: String,
    /// Time at which the path leaves it, in ns from its start.
    pub ns: f64,
    /// Number of cells between the previous step and this one.
    pub cells: u64,
}

/// A path as nextpnr reports it.
#[derive(Debug, Deserialize)]
pub(crate) struct RawPath {
    from: String,
    to: String,
    path: Vec<Segment>,
}

#[derive(Debug, Deserialize)]
struct Segment {
    #[serde(rename = "type")]
    kind: String,
    delay: f64,
    net: Option<String>,
    #[serde(default)]
    sources: Vec<String>,
    to: End,
}

#[derive(Debug, Deserialize)]
struct End {
    cell: String,
}

impl RawPath {
    /// Whether it starts and ends at the clock; the other paths start or end at pins.
    pub(crate) fn is_clocked(&self) -> bool {
        [&self.from, &self.to].iter().all(|end| end.starts_with("posedge"))
    }
}

impl Path {
    pub(crate) fn new(raw: &RawPath, names: &Names, source: &Source) -> Self {
        let (mut ns, mut routing_ns, mut cells, mut passed) = (0.0, 0.0, 0, 0);
        let mut steps: Vec<Step> = Vec::new();
        for segment in &raw.path {
            ns += segment.delay;
            match (segment.kind.as_str(), &segment.net) {
                ("routing", Some(net)) => {
                    routing_ns += segment.delay;
                    let quoted = || segment.sources.iter().find_map(|at| source.quote(at));
                    let Some(at) = names.signal(net).or_else(quoted) else { continue };
                    match steps.last_mut() {
                        // The output of the register.
                        None if cells == 0 => {}
                        // Within an adder.
                        Some(last) if last.at == at => {
                            last.ns = round(ns);
                            last.cells += passed;
                        }
                        _ => steps.push(Step { at, ns: round(ns), cells: passed }),
                    }
                    passed = 0;
                }
                ("logic", _) => {
                    cells += 1;
                    passed += 1;
                }
                _ => {}
            }
        }
        let end = |segment: Option<&Segment>| {
            segment.map_or_else(|| "?".to_owned(), |segment| register(&segment.to.cell).to_owned())
        };
        Self {
            from: end(raw.path.first()),
            to: end(raw.path.last()),
            ns: round(ns),
            routing_ns: round(routing_ns),
            cells,
            steps,
        }
    }
}

/// Names in the source, for nets of a mapped design.
#[derive(Debug)]
pub(crate) struct Names {
    /// The best name of each bit.
    names: BTreeMap<u64, String>,
    /// Every name of every bit.
    bits: BTreeMap<String, u64>,
}

impl Names {
    pub(crate) fn new(module: &Module) -> Self {
        let (mut names, mut bits) = (BTreeMap::<u64, String>::new(), BTreeMap::new());
        for (name, net) in &module.netnames {
            for (index, bit) in net.bits.iter().enumerate() {
                let Some(bit) = bit.net() else { continue };
                let name = match net.bits.len() {
                    1 => name.clone(),
                    _ => format!("{name}[{}]", index as i64 + net.offset),
                };
                if net.hide_name == 0 && !is_derived(&name) {
                    let name = strip(&name);
                    let better = |old: &String| (name.len(), name) < (old.len(), old.as_str());
                    if names.get(&bit).is_none_or(better) {
                        names.insert(bit, name.to_owned());
                    }
                }
                bits.insert(name, bit);
            }
        }
        Self { names, bits }
    }

    /// Name of a net in the source, if it was there.
    fn signal(&self, net: &str) -> Option<String> {
        self.names.get(self.bits.get(net)?).cloned()
    }
}

/// Name of a register in the source. Its cell has its name and, after a backslash, its kind (see
/// `synthesise`); memories have their own names.
fn register(cell: &str) -> &str {
    let name = cell.split_once('\\').map_or(cell, |(name, _)| name);
    strip(stem(name))
}

/// Cells of ECP5 in names that yosys derives from others (`count_q_LUT4_D_Z`).
const MARKS: [&str; 6] = ["_LUT4_", "_PFUMX_", "_L6MUX21_", "_CCU2C_", "_TRELLIS_", "_DP16KD_"];

fn stem(name: &str) -> &str {
    let end = MARKS.iter().filter_map(|mark| name.find(mark)).min();
    &name[..end.unwrap_or(name.len())]
}

/// Whether a name does not come from the source.
fn is_derived(name: &str) -> bool {
    name.contains(['$', '\\']) || stem(name).len() < name.len()
}

fn strip(name: &str) -> &str {
    name.strip_prefix(INSTANCE).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

/// Rounds to hundredths: the delays are not more precise.
pub(crate) fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_told_by_names_of_the_source() {
        let module: Module = serde_json::from_value(json!({
            "netnames": {
                "dut.a_q": { "bits": [2, 3], "hide_name": 0 },
                "dut.i_deep.a_i": { "bits": [2, 3], "hide_name": 0 },
                "dut.a_q_LUT4_D_Z": { "bits": [4], "hide_name": 0 },
                "$abc$1": { "bits": [5], "hide_name": 1 },
                "dut.sum": { "bits": [6], "hide_name": 0 },
                "dut.b_q": { "bits": [7], "hide_name": 0 },
            },
        }))
        .unwrap();
        let source = Source::new("m", "module m;\n  assign t = a + b;\nendmodule\n").unwrap();
        let routing = |net: &str, sources: &[&str]| json!({ "type": "routing", "delay": 0.5, "net": net, "sources": sources, "to": { "cell": "x" } });
        let logic = json!({ "type": "logic", "delay": 0.25, "to": { "cell": "x" } });
        let raw: RawPath = serde_json::from_value(json!({
            "from": "posedge clk",
            "to": "posedge clk",
            "path": [
                { "type": "clk-to-q", "delay": 0.5, "to": { "cell": "dut.a_q[1]\\TRELLIS_FF" } },
                routing("dut.i_deep.a_i[1]", &[]),
                logic.clone(),
                routing("dut.a_q_LUT4_D_Z", &[]),
                logic.clone(),
                routing("$abc$1", &["lib.v:1.1-1.2", "source.sv:2.14-2.19"]),
                logic.clone(),
                routing("$carry", &["source.sv:2.14-2.19"]),
                logic,
                routing("dut.sum", &[]),
                { "type": "setup", "delay": 0.0, "to": { "cell": "dut.b_q\\TRELLIS_FF" } },
            ],
        }))
        .unwrap();
        assert!(raw.is_clocked());
        let step = |at: &str, ns, cells| Step { at: at.to_owned(), ns, cells };
        assert_eq!(
            Path::new(&raw, &Names::new(&module), &source),
            Path {
                from: "a_q[1]".to_owned(),
                to: "b_q".to_owned(),
                ns: 4.0,
                routing_ns: 2.5,
                cells: 4,
                steps: vec![step("m: a + b", 3.25, 3), step("sum", 4.0, 1)],
            }
        );
    }
}
