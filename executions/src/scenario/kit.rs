//! Scenarios for other people's decoders.

use super::run::show;
use super::{BUNDLED, Run, Scenario};
use hartrace_capture::description::{At, Description, ProgramFile};
use hartrace_capture::framing::Kind;
use hartrace_capture::output::Output;
use hartrace_capture::params::Draft;
use hartrace_etrace::{Compat, Ioptions, Unit};
use hartrace_golden::DecoderConfig;
use hartrace_golden::decoder::{Event, Fault};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// A scenario as files: what a decoder needs, and what it has to find.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The code, as an ELF file.
    pub elf: Vec<u8>,
    /// The payloads in frames: [`Scenario::framing`].
    pub capture: Vec<u8>,
    /// The instructions that retired, in order.
    pub addresses: Vec<u64>,
    /// Everything that happened, one line each.
    pub trace: Vec<String>,
    /// What the scenario asks of a decoder.
    pub summary: Summary,
}

/// What a scenario asks of a decoder.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the scenario, and of its files.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// Width of addresses: 32 or 64.
    pub xlen: u32,
    /// Whose support packets and address coding to expect.
    pub unit: &'static str,
    /// Modes in any of its support packets.
    pub modes: String,
    /// The reference model whose habits the stream has, if any.
    pub compat: Option<&'static str>,
    /// Number of packets.
    pub packets: usize,
    /// Number of instructions.
    pub instructions: usize,
    /// Number of places where the stream cannot be followed, on purpose.
    pub gaps: usize,
    /// One of them is a program that loops for ever. What a decoder reports before it notices this is not part of the
    /// expected result.
    pub endless: bool,
}

/// Why a scenario is not in the kit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// There is no stream: the configuration is refused.
    Refused,
    /// A payload cannot be framed, because it is empty.
    Unframed,
    /// The result depends on a limit of the decoder.
    Limited,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "without a stream, because the configuration is refused",
            Self::Unframed => "with an empty payload, which no frame holds",
            Self::Limited => "with a result that depends on a limit of the decoder",
        })
    }
}

impl Scenario {
    /// Returns the files of the scenario for a run.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn entry(&self, run: &Run) -> Result<Entry, Left> {
        if run.refused {
            return Err(Left::Refused);
        }
        if self.setup.decoder.max_steps != DecoderConfig::default().max_steps {
            return Err(Left::Limited);
        }
        let capture = self.capture(run).map_err(|_| Left::Unframed)?;
        let events = settled(&run.events);
        let addresses: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                Event::Retired(address) => Some(*address),
                _ => None,
            })
            .collect();
        let encoder = &self.setup.encoder;
        let summary = Summary {
            name: self.name.clone(),
            about: self.about(),
            xlen: self.code.xlen().bits(),
            unit: match encoder.unit {
                Unit::Reference => "reference",
                Unit::Hartrace => "hartrace",
                Unit::RvTracer => "rv-tracer",
            },
            modes: run.modes(self).to_string(),
            compat: match encoder.compat {
                Compat::None => None,
                Compat::PythonModel => Some("python-model"),
                Compat::CModel => Some("c-model"),
            },
            packets: run.payloads.len(),
            instructions: addresses.len(),
            gaps: events.iter().filter(|event| matches!(event, Event::Gap(_))).count(),
            endless: events.len() < run.events.len(),
        };
        let trace = events.iter().map(show).collect();
        Ok(Entry { elf: self.code.elf(), capture, addresses, trace, summary })
    }
}

/// The events without the steps of walks that do not end: decoders differ in how soon they notice.
fn settled(events: &[(u64, Event)]) -> Vec<Event> {
    let mut kept: Vec<(u64, Event)> = Vec::new();
    for (packet, event) in events {
        if matches!(event, Event::Gap(Fault::NoProgress(_) | Fault::TooLong(_))) {
            while matches!(kept.last(), Some((last, Event::Retired(_))) if last == packet) {
                kept.pop();
            }
        }
        kept.push((*packet, *event));
    }
    kept.into_iter().map(|(_, event)| event).collect()
}

impl Entry {
    /// Returns the names and contents of its files. `text` is that of the scenario.
    fn files(&self, scenario: &Scenario, text: &str) -> [(String, Vec<u8>); 6] {
        let name = |extension: &str| format!("{}.{extension}", scenario.name);
        let trace: String = self.trace.iter().map(|line| format!("{line}\n")).collect();
        let description = self.description(scenario, name("elf"));
        [
            (name("elf"), self.elf.clone()),
            (name("te"), self.capture.clone()),
            (name("te.toml"), description.to_string().into_bytes()),
            (name("pcs"), self.listing().into_bytes()),
            (name("trace"), trace.into_bytes()),
            (name("htt"), text.as_bytes().to_vec()),
        ]
    }

    fn description(&self, scenario: &Scenario, elf: String) -> Description {
        let decoder = &scenario.setup.decoder;
        let draft = Draft {
            xlen: Some(scenario.code.xlen()),
            framing: Some(match decoder.unit {
                Unit::RvTracer => Kind::RvTracer,
                Unit::Reference | Unit::Hartrace => Kind::Encap,
            }),
            // The support packets of the stream say which modes are on.
            ..Draft::new(&decoder.params, decoder.unit, &Ioptions::default())
        };
        Description {
            command: Some("hartrace scenarios".to_owned()),
            draft,
            trap_vectors: decoder.tvec.iter().copied().collect(),
            programs: vec![ProgramFile::new(elf, At::Bias(0), &self.elf)],
            ..Description::default()
        }
    }

    /// Returns the addresses as text: 16 hexadecimal digits and a line feed each.
    pub fn listing(&self) -> String {
        self.addresses.iter().map(|address| format!("{address:016x}\n")).collect()
    }
}

/// What was written by [`write`](fn@write).
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The scenarios in the kit.
    pub index: Vec<Summary>,
    /// Number of the others, by reason.
    pub left: BTreeMap<Left, usize>,
}

/// Writes all scenarios to a folder, with an index of them.
///
/// # Errors
///
/// If a file cannot be written, or, which the tests exclude, if a scenario is wrong.
pub fn write(folder: &Path) -> io::Result<Written> {
    let mut written = Written::default();
    for (name, text) in &BUNDLED {
        let scenario = Scenario::parse(name, text).map_err(io::Error::other)?;
        let run = scenario.run().map_err(io::Error::other)?;
        match scenario.entry(&run) {
            Ok(entry) => {
                for (file, bytes) in entry.files(&scenario, text) {
                    Output::write_new(&folder.join(file), bytes)?;
                }
                written.index.push(entry.summary);
            }
            Err(reason) => *written.left.entry(reason).or_default() += 1,
        }
    }
    let mut json = serde_json::to_vec_pretty(&written.index)?;
    json.push(b'\n');
    Output::write_new(&folder.join("index.json"), json)?;
    Ok(written)
}
