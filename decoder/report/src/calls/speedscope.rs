//! The file format of speedscope.

use super::log::{Happened, Log, When, more_turns};
use super::{CallForm, Callee, Names};
use hartrace_decoder::Unit;
use hartrace_decoder::calls::{CallStack, Transfers};
use serde_json::json;
use std::collections::HashMap;
use std::io::{self, Write};

/// An evented profile of <https://www.speedscope.app>: every call, in order. Times are those of the trace, or the number
/// of instructions if it has none; the name of the profile says which. Where a trace only counts the turns of a loop with
/// calls, the calls of the first turns are written, and all other turns are one frame, `N more turns`.
#[derive(Debug, Default)]
pub struct Speedscope {
    name: String,
    unit: Option<Unit>,
    started: bool,
    /// Numbers of functions, in the order in which they were entered first.
    frames: HashMap<Entered, usize>,
    entered: Vec<Entered>,
}

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

    fn events(
        &mut self,
        calls: &mut Log,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.started {
            let schema = json!("https://www.speedscope.app/file-format-schema.json");
            let name = json!(self.name);
            writeln!(out, "{{\"$schema\":{schema},\"exporter\":\"hartrace\",\"name\":{name},")?;
            let profile = json!(format!("{} ({})", self.name, calls.unit().name()));
            write!(
                out,
                "\"profiles\":[{{\"type\":\"evented\",\"name\":{profile},\"unit\":\"none\","
            )?;
            write!(out, "\"startValue\":0,\"events\":[")?;
        }
        for (When { time: at, .. }, happened) in calls.take() {
            let (kind, entered) = match happened {
                Happened::Enter(callee) => ('O', Entered::Function(names.one(callee))),
                Happened::Leave(callee) => ('C', Entered::Function(names.one(callee))),
                Happened::EnterTurns(times) => ('O', Entered::Turns(times)),
                Happened::LeaveTurns(times) => ('C', Entered::Turns(times)),
                // All functions are left before.
                Happened::Context(_) | Happened::Gap | Happened::Back => continue,
            };
            let next = self.entered.len();
            let frame = *self.frames.entry(entered).or_insert_with(|| {
                self.entered.push(entered);
                next
            });
            let comma = if std::mem::replace(&mut self.started, true) { "," } else { "" };
            write!(out, "{comma}\n{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}")?;
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
        let mut end = 0;
        for (_, mut calls, instructions) in all {
            end = calls.finish(instructions);
            self.events(&mut calls, names, out)?;
        }
        if !self.started {
            self.events(&mut Log::default(), names, out)?;
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
