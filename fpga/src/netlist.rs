//! Netlists as yosys writes them, in JSON.

use crate::FpgaError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A port of the measured module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// `input`, `output` or `inout`.
    pub(crate) direction: String,
    pub(crate) width: usize,
}

/// Modules after synthesis.
#[derive(Debug, Deserialize)]
pub(crate) struct Netlist {
    creator: String,
    modules: BTreeMap<String, Module>,
}

/// A module after synthesis.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Module {
    attributes: BTreeMap<String, String>,
    ports: BTreeMap<String, JsonPort>,
    pub(crate) cells: BTreeMap<String, Cell>,
    pub(crate) netnames: BTreeMap<String, Net>,
}

#[derive(Debug, Deserialize)]
struct JsonPort {
    direction: String,
    bits: Vec<Bit>,
}

/// A cell or an instance of a module.
#[derive(Debug, Deserialize)]
pub(crate) struct Cell {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    port_directions: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) connections: BTreeMap<String, Vec<Bit>>,
}

/// A name of some bits.
#[derive(Debug, Deserialize)]
pub(crate) struct Net {
    pub(crate) bits: Vec<Bit>,
    #[serde(default)]
    pub(crate) offset: i64,
    #[serde(default)]
    pub(crate) hide_name: u8,
}

/// A bit: its number, or a constant (`0`, `1`, `x`, `z`).
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub(crate) enum Bit {
    Net(u64),
    Constant(String),
}

impl Bit {
    pub(crate) fn net(&self) -> Option<u64> {
        match self {
            Self::Net(number) => Some(*number),
            Self::Constant(_) => None,
        }
    }
}

impl Netlist {
    pub(crate) fn read(folder: &Path, file: &'static str) -> Result<Self, FpgaError> {
        let text = fs::read(folder.join(file)).map_err(FpgaError::io(file))?;
        serde_json::from_slice(&text).map_err(|error| unexpected(file, error.to_string()))
    }

    /// The version of yosys: `0.70 (git sha1 28ba3cb92)`.
    pub(crate) fn version(&self) -> String {
        let version = self.creator.strip_prefix("Yosys ").unwrap_or(&self.creator);
        match version.split_once(',') {
            Some((version, _)) => format!("{version})"),
            None => version.to_owned(),
        }
    }

    pub(crate) fn module(&self, name: &str) -> Result<&Module, FpgaError> {
        self.modules
            .get(name)
            .ok_or_else(|| unexpected("a netlist", format!("there is no {name} in it")))
    }

    /// The modules that are part of the design below `top`, with the number of instances of each.
    pub(crate) fn instances(&self, top: &str) -> Result<BTreeMap<&str, u64>, FpgaError> {
        let mut counts = BTreeMap::new();
        self.count(top, &mut counts)?;
        Ok(counts)
    }

    fn count<'a>(
        &'a self,
        name: &str,
        counts: &mut BTreeMap<&'a str, u64>,
    ) -> Result<(), FpgaError> {
        let Some((name, module)) = self.modules.get_key_value(name) else {
            return Err(unexpected("a netlist", format!("there is no {name} in it")));
        };
        *counts.entry(name).or_default() += 1;
        for cell in module.cells.values().filter(|cell| self.is_instance(cell)) {
            self.count(&cell.kind, counts)?;
        }
        Ok(())
    }

    /// Whether a cell is an instance of a module of the design, not of a library.
    pub(crate) fn is_instance(&self, cell: &Cell) -> bool {
        self.modules.get(&cell.kind).is_some_and(|module| {
            !module.attributes.contains_key("blackbox")
                && !module.attributes.contains_key("whitebox")
        })
    }
}

impl Module {
    pub(crate) fn ports(&self) -> Vec<Port> {
        let port = |(name, port): (&String, &JsonPort)| Port {
            name: name.clone(),
            direction: port.direction.clone(),
            width: port.bits.len(),
        };
        self.ports.iter().map(port).collect()
    }

    /// Number of cells of each kind, without those that `skip` selects.
    pub(crate) fn kinds(&self, skip: impl Fn(&Cell) -> bool) -> BTreeMap<&str, u64> {
        let mut kinds = BTreeMap::new();
        for cell in self.cells.values().filter(|cell| !skip(cell)) {
            *kinds.entry(cell.kind.as_str()).or_default() += 1;
        }
        kinds
    }
}

impl Cell {
    /// Names and bits of its inputs, or of its outputs.
    pub(crate) fn pins(&self, direction: &str) -> impl Iterator<Item = (&str, usize, u64)> {
        self.connections
            .iter()
            .filter(move |(port, _)| {
                self.port_directions.get(*port).is_some_and(|d| d == direction)
            })
            .flat_map(|(port, bits)| {
                bits.iter().enumerate().filter_map(|(i, bit)| Some((port.as_str(), i, bit.net()?)))
            })
    }
}

fn unexpected(file: &'static str, problem: String) -> FpgaError {
    FpgaError::Unexpected { tool: "yosys", file, problem }
}
