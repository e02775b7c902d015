use crate::snapshot::Error;
use crate::snapshot::ini::{Ini, Section};
use hartrace_isa::arm::Spaces;

/// The class of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A core that executes programs.
    Core,
    /// A source of trace.
    TraceSource,
    /// Anything else.
    Other(String),
}

/// A device of the system.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// Its type, such as `Cortex-A53` or `ETM4.2`.
    pub kind: String,
    /// Its registers, without the text in parentheses after their names.
    pub registers: Vec<(String, u64)>,
    /// The memory that it sees.
    pub dumps: Vec<Dump>,
}

/// Memory in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The file.
    pub file: String,
    /// The address of its first byte in memory.
    pub address: u64,
    /// Number of bytes; `None` for all.
    pub length: Option<u64>,
    /// Bytes of the file to skip.
    pub offset: u64,
    /// The address spaces that contain it.
    pub spaces: Spaces,
}

impl Device {
    pub(crate) fn read(ini: &Ini) -> Result<Self, Error> {
        let class = match ini.need("device", "class")? {
            "core" => Class::Core,
            "trace_source" => Class::TraceSource,
            other => Class::Other(other.to_owned()),
        };
        let mut registers = Vec::new();
        for (key, value) in ini.named("regs").flat_map(|section| &section.entries) {
            let name = key.split('(').next().unwrap_or(key).trim();
            // Registers of cores can be wider than those of a trace source; they are not needed.
            match ini.number(key, value) {
                Ok(value) => registers.push((name.to_owned(), value)),
                Err(_) if class != Class::TraceSource => {}
                Err(error) => return Err(error),
            }
        }
        let dumps = dumps(ini)?;
        Ok(Self {
            name: ini.need("device", "name")?.to_owned(),
            class,
            kind: ini.get("device", "type").unwrap_or_default().to_owned(),
            registers,
            dumps,
        })
    }

    /// The value of a register.
    pub fn register(&self, name: &str) -> Option<u64> {
        self.registers.iter().rev().find(|(other, _)| other == name).map(|(_, value)| *value)
    }
}

/// All memory dumps that a file lists.
pub(crate) fn dumps(ini: &Ini) -> Result<Vec<Dump>, Error> {
    let sections = ini.sections.iter().filter(|section| section.name.starts_with("dump"));
    // An empty section results from a repeated section header.
    let sections = sections.filter(|section| !section.entries.is_empty());
    sections.map(|section| dump(ini, section)).collect()
}

fn dump(ini: &Ini, section: &Section) -> Result<Dump, Error> {
    let need = |key: &str| {
        let what = || ini.missing(format!("key {key:?} in [{}]", section.name));
        section.get(key).ok_or_else(what)
    };
    let optional = |key: &str| section.get(key).map(|value| ini.number(key, value)).transpose();
    let spaces = match section.get("space") {
        None => Spaces::ALL,
        Some(name) => Spaces::named(name).ok_or_else(|| Error::Value {
            file: ini.name.clone(),
            key: "space".to_owned(),
            value: name.to_owned(),
            expected: "EL1N, EL1S, EL1R, EL2, EL2N, EL2S, EL2R, EL3, ROOT, N, S, R, H or ANY",
        })?,
    };
    Ok(Dump {
        file: need("file")?.to_owned(),
        address: ini.number("address", need("address")?)?,
        length: optional("length")?,
        offset: optional("offset")?.unwrap_or(0),
        spaces,
    })
}
