//! Scenarios for other people's decoders.

use super::run::show;
use super::{Run, Scenario};
use hartrace_etrace::{Compat, Unit};
use hartrace_golden::DecoderConfig;
use hartrace_golden::decoder::{Event, Fault};
use serde::Serialize;
use std::fmt;

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
    /// Returns the addresses as text: 16 hexadecimal digits and a line feed each.
    pub fn listing(&self) -> String {
        self.addresses.iter().map(|address| format!("{address:016x}\n")).collect()
    }
}
