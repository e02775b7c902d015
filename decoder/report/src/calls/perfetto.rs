//! Traces for Perfetto: protobuf messages, as `perfetto_trace.proto` describes them.

use super::log::{Happened, Log, more_turns};
use super::protobuf::Message;
use super::{CallForm, Callee, Names};
use hartrace_decoder::Unit;
use hartrace_decoder::calls::{CallStack, Transfers};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// A trace for <https://ui.perfetto.dev>: a track for each source and context, a slice for each call, and an instant for
/// each gap. Times are those of the trace, or the number of instructions if it has none; tracks say which. Slices whose
/// start lies between two times of the trace are marked `interpolated`. Inlined functions are slices within that of the
/// function around them, and are marked `inlined`. While another context runs, the slices of a track stay open, with one more on
/// top, `not running`. Slices that do not start with a call are marked `resumed`: a function that was active before the known part of
/// the trace, or that goes on in its context after another thread. Where a trace only counts the turns of a loop with calls, the calls
/// of the first turns are slices, and all other turns are one, `N more turns`.
#[derive(Debug, Default)]
pub struct Perfetto {
    timing: Timing,
    /// Numbers of the names of functions.
    names: HashMap<Callee, u64>,
    tracks: HashSet<u64>,
    /// The context of each source.
    contexts: HashMap<Option<u16>, Context>,
    /// Tracks whose slices are open while another context of their source runs.
    waiting: HashSet<u64>,
    started: bool,
}

/// The context of a source.
#[derive(Debug, Default)]
struct Context {
    number: u64,
    /// Functions that were suspended last: if another context runs next, their slices stay open.
    suspended: usize,
    /// Its functions are being resumed, whose slices are open.
    resumes: bool,
}

/// All packets belong to one sequence, in which names are numbered.
const SEQUENCE: u64 = 1;
/// The first packet forgets what was numbered before; the others need the numbers.
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;

/// The event types of a track.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;

/// Which times are written.
#[derive(Copy, Clone, Debug, Default)]
pub struct Timing {
    /// The clock; without one, that which is read first.
    pub unit: Option<Unit>,
    /// How often a clock of ticks or cycles counts in a second. If it is not known, a tick is a nanosecond.
    pub ticks_per_second: Option<u64>,
}

impl Timing {
    /// Nanoseconds of a time in `unit`.
    fn nanoseconds(self, time: u64, unit: Unit) -> u64 {
        match self.ticks_per_second.filter(|_| unit != Unit::Instructions) {
            Some(rate) => {
                let all = u128::from(time).saturating_mul(1_000_000_000);
                let nanoseconds = all.checked_div(rate.into()).unwrap_or(0);
                u64::try_from(nanoseconds).unwrap_or(u64::MAX)
            }
            None => time,
        }
    }

    /// What one nanosecond is.
    fn scale(self, unit: Unit) -> String {
        match self.ticks_per_second.filter(|_| unit != Unit::Instructions) {
            Some(rate) => format!("{} at {rate} Hz", unit.name()),
            None => format!("1 ns = 1 {}", unit.name().trim_end_matches('s')),
        }
    }
}

impl Perfetto {
    /// A trace with these times.
    pub fn new(timing: Timing) -> Self {
        Self { timing, ..Self::default() }
    }

    fn events(
        &mut self,
        source: Option<u16>,
        log: &mut Log,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (unit, timing) = (log.unit(), self.timing);
        for (when, happened) in log.take() {
            let context = self.contexts.entry(source).or_default();
            if matches!(happened, Happened::Suspend(_)) {
                context.suspended = context.suspended.saturating_add(1);
                continue;
            }
            let at = timing.nanoseconds(when.time, unit);
            let suspended = std::mem::take(&mut context.suspended);
            let resumes = std::mem::take(&mut context.resumes);
            let next = match happened {
                Happened::Context(next) => Some(std::mem::replace(&mut context.number, next)),
                _ => None,
            };
            let number = next.unwrap_or(context.number);
            let track = self.track(source, number, unit, out)?;
            if next.is_some() {
                if suspended > 0 && self.waiting.insert(track) {
                    write_event(
                        at,
                        Message::default()
                            .number(9, BEGIN)
                            .number(11, track)
                            .text(23, "not running"),
                        out,
                    )?;
                }
                continue;
            }
            // They wait for another thread of the same context.
            for _ in 0..suspended {
                write_event(at, Message::default().number(9, END).number(11, track), out)?;
            }
            if let Happened::Resume(_) = happened {
                let first = self.waiting.remove(&track);
                if first {
                    write_event(at, Message::default().number(9, END).number(11, track), out)?;
                }
                if first || resumes {
                    self.contexts.entry(source).or_default().resumes = true;
                    continue;
                }
            }
            let (mut event, mut interned) = (Message::default(), Message::default());
            match happened {
                Happened::Enter(callee) | Happened::Resume(callee) => {
                    let callee = names.one(callee);
                    let next = self.names.len() as u64;
                    let number = *self.names.entry(callee).or_insert_with(|| {
                        let mut name = Message::default();
                        name.number(1, next.wrapping_add(1)).text(2, &names.name(callee));
                        interned.message(2, &name);
                        next.wrapping_add(1)
                    });
                    event.number(9, BEGIN).number(11, track).number(10, number);
                    if matches!(callee, Callee::Inlined(_)) {
                        event.message(4, Message::default().text(10, "inlined").number(2, 1));
                    }
                    if matches!(happened, Happened::Resume(_)) {
                        event.message(4, Message::default().text(10, "resumed").number(2, 1));
                    }
                    if !when.exact && unit != Unit::Instructions {
                        event.message(4, Message::default().text(10, "interpolated").number(2, 1));
                    }
                }
                Happened::EnterTurns(times) => {
                    event.number(9, BEGIN).number(11, track).text(23, &more_turns(times));
                }
                Happened::Gap => {
                    event.number(9, INSTANT).number(11, track).text(23, "gap");
                }
                Happened::Back => {
                    event.number(9, INSTANT).number(11, track).text(23, "the clock went back");
                }
                Happened::Leave(_)
                | Happened::LeaveTurns(_)
                | Happened::Suspend(_)
                | Happened::Context(_) => {
                    event.number(9, END).number(11, track);
                }
            }
            let mut packet = packet_of(at, &event);
            if !interned.0.is_empty() {
                packet.message(12, &interned);
            }
            write(&packet, out)?;
        }
        Ok(())
    }

    /// The number of the track of a source and context, which is described when it occurs first.
    fn track(
        &mut self,
        source: Option<u16>,
        context: u64,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<u64> {
        let hart = source.map_or(0, |id| u64::from(id).wrapping_add(1));
        // Contexts may have any value: distinct ones get distinct numbers, but for collisions of 64-bit hashes.
        let track = (hart << 48 ^ context.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(1);
        if self.tracks.insert(track) {
            let name = match (source, context) {
                (None, 0) => "hart".to_owned(),
                (None, context) => format!("context {context:#x}"),
                (Some(id), 0) => format!("source {id}"),
                (Some(id), context) => format!("source {id}, context {context:#x}"),
            };
            let name = format!("{name} ({})", self.timing.scale(unit));
            let (mut descriptor, mut packet) = (Message::default(), Message::default());
            descriptor.number(1, track).text(2, &name);
            let flags = if std::mem::replace(&mut self.started, true) { NEEDED } else { CLEARED };
            packet.number(10, SEQUENCE).number(13, flags).message(60, &descriptor);
            write(&packet, out)?;
        }
        Ok(track)
    }
}

impl CallForm for Perfetto {
    type Calls = Log;

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Log {
        Log::new(self.timing.unit)
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Log>, part: &Transfers) {
        stack.replay(part);
    }

    fn write(
        &mut self,
        source: Option<u16>,
        calls: &mut Log,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.events(source, calls, names, out)
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Log, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (source, mut log, instructions) in all {
            log.finish(instructions);
            self.events(source, &mut log, names, out)?;
        }
        Ok(())
    }
}

/// The packet of an event.
fn packet_of(at: u64, event: &Message) -> Message {
    let mut packet = Message::default();
    packet.number(8, at).number(10, SEQUENCE).number(13, NEEDED).message(11, event);
    packet
}

/// Writes an event that needs no names.
fn write_event(at: u64, event: &Message, out: &mut dyn Write) -> io::Result<()> {
    write(&packet_of(at, event), out)
}

/// Writes a packet of the trace.
fn write(packet: &Message, out: &mut dyn Write) -> io::Result<()> {
    let mut trace = Message::default();
    trace.message(1, packet);
    out.write_all(&trace.0)
}
