//! The system event log.
//!
//! Lines of `<time> <event> key=value ...`; numbers are decimal, or hexadecimal with 0x. In place of a
//! time, `@N` is a position in the trace buffer. Empty lines and text after `#` are ignored.

use crate::{ChangedRegisters, Defined};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a log cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{log}:{line}: {what}")]
pub struct Error {
    /// Name of the log.
    pub log: String,
    /// Line, from 1.
    pub line: usize,
    /// The problem, and what to write instead.
    pub what: String,
}

/// The state that an event reports for its subject.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It exists from now on.
    Start,
    /// It existed up to now.
    End,
    /// It exists; its start is not given.
    Current,
}

/// The unit of the first field of a line.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Time, in the unit of the timestamps of the trace.
    Time,
    /// Bytes of the trace buffer.
    Position,
    /// Time of a recording, which the trace does not have: only the time of each piece is known.
    Recorded,
}

/// A file with code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Image {
    /// Its name.
    pub file: String,
    /// Identifies it among files of the same name, if given.
    pub uuid: Option<String>,
    /// The bytes of the file that are mapped, by offset and length; `None` for all segments of it.
    pub part: Option<(u64, u64)>,
}

/// An event that changes the code at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A process, or one of its libraries. Process 0 is the kernel, which all others see.
    Mapped {
        /// Its state.
        state: State,
        /// Whether it is the process itself, whose end is the end of everything that belongs to it.
        process: bool,
        /// The process.
        pid: u64,
        /// Its base address.
        base: u64,
        /// Its code.
        image: Image,
    },
    /// A thread of a process.
    Thread {
        /// Its state.
        state: State,
        /// Its number.
        tid: u64,
        /// The process.
        pid: u64,
    },
    /// An address space identifier of a process.
    Asid {
        /// Its state.
        state: State,
        /// The identifier.
        asid: u64,
        /// The process.
        pid: u64,
    },
    /// Code was written.
    Patch {
        /// The process.
        pid: u64,
        /// The address.
        start: u64,
        /// Number of bytes.
        length: u64,
        /// The new code.
        code: Written,
    },
}

impl Event {
    /// The process that the event concerns.
    pub const fn pid(&self) -> u64 {
        match self {
            Self::Mapped { pid, .. }
            | Self::Thread { pid, .. }
            | Self::Asid { pid, .. }
            | Self::Patch { pid, .. } => *pid,
        }
    }
}

/// The location of code that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// In the log.
    Bytes(Vec<u8>),
    /// In a file of this name.
    File(String),
    /// Still in memory, outside the log.
    Memory,
}

/// A system event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The unit of the times of events.
    pub clock: Clock,
    /// Events in chronological order.
    pub events: Vec<(u64, Event)>,
    /// Sources that change their number or configuration, in chronological order.
    pub traces: Vec<(u64, Defined)>,
}

/// The keys of a line.
struct Fields<'a> {
    log: &'a str,
    line: usize,
    event: &'a str,
    values: BTreeMap<&'a str, &'a str>,
}

impl Fields<'_> {
    fn bad(&self, what: String) -> Error {
        Error { log: self.log.to_owned(), line: self.line, what }
    }

    fn text(&self, key: &str) -> Result<&str, Error> {
        let missing = || self.bad(format!("{} needs {key}=...", self.event));
        self.values.get(key).copied().ok_or_else(missing)
    }

    fn number(&self, key: &str) -> Result<u64, Error> {
        let text = self.text(key)?;
        number(text).ok_or_else(|| self.bad(format!("{key}={text}: expected a number")))
    }

    fn state(&self) -> Result<State, Error> {
        match self.text("state")? {
            "START" => Ok(State::Start),
            "END" => Ok(State::End),
            "CURRENT" => Ok(State::Current),
            other => Err(self.bad(format!("state={other}: expected START, END or CURRENT"))),
        }
    }

    /// A 32-bit register, if it is given.
    fn register(&self, key: &str) -> Result<Option<u32>, Error> {
        if !self.values.contains_key(key) {
            return Ok(None);
        }
        let value = u32::try_from(self.number(key)?);
        value.map(Some).map_err(|_| self.bad(format!("{key}: expected a number of 32 bits")))
    }

    fn defined(&self) -> Result<Defined, Error> {
        let id = self.number("id")?;
        let known = u8::try_from(id).ok().filter(|id| (1..=0x6f).contains(id));
        Ok(Defined {
            state: self.state()?,
            id: known.ok_or_else(|| {
                self.bad(format!("id={id}: expected the ID of a trace source, 1 to 111"))
            })?,
            source: self.text("source")?.to_owned(),
            setup: ChangedRegisters {
                etmcr: self.register("etmcr")?,
                trcconfigr: self.register("trcconfigr")?,
            },
        })
    }

    /// The event, if it concerns code.
    fn event(&self) -> Result<Event, Error> {
        Ok(match self.event {
            "declare_process" | "declare_library" => Event::Mapped {
                state: self.state()?,
                process: self.event == "declare_process",
                pid: self.number("pid")?,
                base: self.number("base_address")?,
                image: Image {
                    file: self.text("image_file")?.to_owned(),
                    uuid: self
                        .values
                        .get("uuid")
                        .filter(|uuid| !uuid.is_empty())
                        .map(|uuid| (*uuid).to_owned()),
                    part: None,
                },
            },
            "declare_thread" => Event::Thread {
                state: self.state()?,
                tid: self.number("tid")?,
                pid: self.number("pid")?,
            },
            "declare_asid" => Event::Asid {
                state: self.state()?,
                asid: self.number("asid")?,
                pid: self.number("pid")?,
            },
            "patch_code" => {
                let (pid, start) = (self.number("pid")?, self.number("start_address")?);
                let length = self.number("length")?;
                Event::Patch { pid, start, length, code: self.written(length)? }
            }
            other => {
                return Err(self.bad(format!(
                    "event {other}: expected declare_process, declare_library, declare_thread, \
                     declare_asid, patch_code or define_trace"
                )));
            }
        })
    }

    fn written(&self, length: u64) -> Result<Written, Error> {
        let Some(text) = self.values.get("code") else {
            let id = self.values.get("id").map(|id| (*id).to_owned());
            return Ok(id.map_or(Written::Memory, Written::File));
        };
        let digit = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
        let byte = |pair: &[u8]| match *pair {
            [high, low] => Some(digit(high)?.wrapping_shl(4) | digit(low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let bytes = bytes.filter(|bytes| bytes.len() as u64 == length);
        bytes.map(Written::Bytes).ok_or_else(|| {
            self.bad(format!("code={text}: expected {length} bytes of two hexadecimal digits"))
        })
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Log {
    /// Parses a log; `name` is used in errors. Lines may be in any order.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let mut log = Self { clock: Clock::Time, events: Vec::new(), traces: Vec::new() };
        let mut clock = None;
        for (text, line) in text.lines().zip(1..) {
            let mut words = text.split('#').next().unwrap_or_default().split_whitespace();
            let Some(when) = words.next() else { continue };
            let event = words.next().unwrap_or_default();
            let mut fields = Fields { log: name, line, event, values: BTreeMap::new() };
            for word in words {
                let Some((key, value)) = word.split_once('=') else {
                    return Err(fields.bad(format!("{word}: expected key=value")));
                };
                fields.values.insert(key, value);
            }
            let (kind, digits) = match when.strip_prefix('@') {
                Some(position) => (Clock::Position, position),
                None => (Clock::Time, when),
            };
            let Some(when) = number(digits) else {
                return Err(fields.bad(format!("{when}: expected a time, or @ and a position")));
            };
            if *clock.get_or_insert(kind) != kind {
                let what = "times and positions in one log cannot be ordered; use one of them";
                return Err(fields.bad(what.to_owned()));
            }
            match event {
                "define_trace" => log.traces.push((when, fields.defined()?)),
                _ => log.events.push((when, fields.event()?)),
            }
        }
        log.clock = clock.unwrap_or(Clock::Time);
        log.events.sort_by_key(|(when, _)| *when);
        log.traces.sort_by_key(|(when, _)| *when);
        Ok(log)
    }
}
