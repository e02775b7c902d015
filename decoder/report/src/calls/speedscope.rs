//! The file format of speedscope.

use super::log::{Happened, Log, When, more_turns};
use super::{CallForm, Callee, Names};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use hartrace_decoder::Unit;
use hartrace_decoder::calls::{CallStack, Transfers};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

/// Evented profiles of <https://www.speedscope.app>, one for each context: every call, in order. Times are those of the trace, or
/// the number of instructions if it has none; the name of a profile says which. Where a trace only counts the turns of a loop with
/// calls, the calls of the first turns are written, and all other turns are one frame, `N more turns`.
#[derive(Debug, Default)]
pub struct Speedscope {
    name: String,
    unit: Option<Unit>,
    /// Numbers of functions, in the order in which they were entered first.
    frames: HashMap<Entered, usize>,
    entered: Vec<Entered>,
    /// The context that runs.
    context: u64,
    /// The context of the first profile, which is written at once.
    first: Option<u64>,
    /// The events of other contexts, compressed: they are written at the end.
    others: BTreeMap<u64, DeflateEncoder<Vec<u8>>>,
    /// No comma is needed before the next event of the first profile.
    fresh: bool,
}

/// Contexts that have profiles of their own. More of them share the one of the last.
const MAX_CONTEXTS: usize = 1 << 8;

/// What has a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Entered {
    Function(Callee),
    /// So many turns of a loop.
    Turns(u64),
}

impl Speedscope {
    /// A profile with a name, and times of a clock; without one, of that which is read first.
    pub fn new(name: impl Into<String>, unit: Option<Unit>) -> Self {
        Self { name: name.into(), unit, ..Self::default() }
    }

    /// What is before the events of a profile. The first one names its context only if it is another than 0, which traces
    /// without contexts have.
    fn head(&self, context: u64, unit: Unit) -> String {
        let is_only = self.first == Some(context) && context == 0;
        let of = if is_only { String::new() } else { format!(", context {context:#x}") };
        let name = json!(format!("{} ({}){of}", self.name, unit.name()));
        format!(
            "{{\"type\":\"evented\",\"name\":{name},\"unit\":\"none\",\"startValue\":0,\"events\":["
        )
    }

    /// Starts with the profile of the context that runs.
    fn start(&mut self, unit: Unit, out: &mut dyn Write) -> io::Result<()> {
        let schema = json!("https://www.speedscope.app/file-format-schema.json");
        let name = json!(self.name);
        writeln!(out, "{{\"$schema\":{schema},\"exporter\":\"hartrace\",\"name\":{name},")?;
        (self.first, self.fresh) = (Some(self.context), true);
        write!(out, "\"profiles\":[{}", self.head(self.context, unit))
    }

    fn events(
        &mut self,
        calls: &mut Log,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let unit = calls.unit();
        for (When { time: at, .. }, happened) in calls.take() {
            let (kind, entered) = match happened {
                Happened::Enter(callee) | Happened::Resume(callee) => {
                    ('O', Entered::Function(names.one(callee)))
                }
                Happened::Leave(callee) | Happened::Suspend(callee) => {
                    ('C', Entered::Function(names.one(callee)))
                }
                Happened::EnterTurns(times) => ('O', Entered::Turns(times)),
                Happened::LeaveTurns(times) => ('C', Entered::Turns(times)),
                // All functions are suspended before.
                Happened::Context(context) => {
                    self.context = context;
                    continue;
                }
                Happened::Gap | Happened::Back => continue,
            };
            let next = self.entered.len();
            let frame = *self.frames.entry(entered).or_insert_with(|| {
                self.entered.push(entered);
                next
            });
            if self.first.is_none() {
                self.start(unit, out)?;
            }
            let event = format!("\n{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}");
            if self.first == Some(self.context) {
                let comma = if std::mem::take(&mut self.fresh) { "" } else { "," };
                write!(out, "{comma}{event}")?;
                continue;
            }
            let is_known = self.others.contains_key(&self.context);
            let last = self.others.last_key_value().map(|(last, _)| *last);
            let profile = match last.filter(|_| !is_known && self.others.len() >= MAX_CONTEXTS) {
                Some(last) => last,
                None => self.context,
            };
            let fast = || DeflateEncoder::new(Vec::new(), Compression::fast());
            write!(self.others.entry(profile).or_insert_with(fast), "{event},")?;
        }
        Ok(())
    }
}

impl CallForm for Speedscope {
    type Calls = Log;
    const ONE_SOURCE: bool = true;

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Log {
        Log::new(self.unit)
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Log>, part: &Transfers) {
        stack.replay(part);
    }

    fn write(
        &mut self,
        _: Option<u16>,
        calls: &mut Log,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if calls.is_empty() { Ok(()) } else { self.events(calls, names, out) }
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Log, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (mut end, mut unit) = (0, Unit::default());
        for (_, mut calls, instructions) in all {
            end = calls.finish(instructions);
            unit = calls.unit();
            self.events(&mut calls, names, out)?;
        }
        if self.first.is_none() {
            self.start(unit, out)?;
        }
        for (context, events) in std::mem::take(&mut self.others) {
            write!(out, "\n],\"endValue\":{end}}},\n{}", self.head(context, unit))?;
            let packed = events.finish()?;
            let mut events = DeflateDecoder::new(packed.as_slice());
            // Each event has a comma behind it, the last one too.
            let (mut piece, mut held) = ([0; 1 << 12], Vec::new());
            loop {
                let count = events.read(&mut piece)?;
                let more = piece.get(..count).unwrap_or_default();
                if more.is_empty() {
                    break;
                }
                out.write_all(&held)?;
                held = more.to_owned();
            }
            out.write_all(held.strip_suffix(b",").unwrap_or(&held))?;
        }
        let frames = self.entered.iter().map(|entered| match *entered {
            Entered::Turns(times) => json!({"name": more_turns(times)}),
            Entered::Function(function) => match names.source(function) {
                Some((file, line)) => {
                    json!({"name": names.name(function), "file": file, "line": line})
                }
                None => json!({"name": names.name(function)}),
            },
        });
        let frames = json!(frames.collect::<Vec<_>>());
        writeln!(out, "\n],\"endValue\":{end}}}],\n\"shared\":{{\"frames\":{frames}}}}}")
    }
}
