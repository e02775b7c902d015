//! Gaps: what could not be followed, and where decoding resumed.

use hartrace_decoder::{Endings, Event, Fault, Restarted, StreamPos};
use hartrace_encap::FrameError;
use hartrace_etrace::ParseError;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::no_sync::NoSync;
pub use crate::unended::Unended;

/// Reports the gaps of one capture: one line for each stretch that is missing.
pub struct Gaps {
    file: String,
    /// Receives what is noticed.
    tell: Box<dyn FnMut(&Note) + Send>,
    strict: bool,
    /// Nobody waits for the rest any more.
    cancel: Arc<AtomicBool>,
    /// What to try after a fault.
    hint: Option<fn(&Fault) -> &'static str>,
    count: u64,
    /// Something was decoded.
    started: bool,
    /// By source.
    open: BTreeMap<Option<u16>, Missing>,
    /// Bytes in gaps after which decoding resumed.
    lost: u64,
    /// Where the gaps start after which it did not.
    never: Vec<u64>,
    endings: Endings,
    /// A sink cannot stop the decoder, so the error waits here.
    failed: Option<Missing>,
}

/// Something about a capture that whoever reads it should know. Its text is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A stretch could not be followed.
    Gap(Missing, Resumed),
    /// A second trace follows one that has ended.
    Restarted {
        /// The capture.
        file: String,
        /// Where.
        again: Restarted,
    },
    /// The trace has not ended where the capture does.
    Unended(Unended),
    /// There is no trace in the capture.
    NoSync {
        /// The capture.
        file: String,
        /// How much of it was read.
        found: NoSync,
    },
}

/// What follows a stretch that could not be followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// Decoding resumed.
    At(StreamPos),
    /// Decoding never resumed.
    Never,
    /// Nobody looked further.
    Unknown,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap(missing, resumed) => f.write_str(&missing.line(&match resumed {
                Resumed::At(at) => format!("; resumed at {}", place(*at)),
                Resumed::Never => "; never resumed".into(),
                Resumed::Unknown => String::new(),
            })),
            Self::Restarted { file, again } => write!(f, "{file}: {again}"),
            Self::Unended(unended) => unended.fmt(f),
            Self::NoSync { file, found } => {
                write!(f, "{file}: nothing to decode: {found}; try {}", found.hint())
            }
        }
    }
}

/// A stretch of a trace that could not be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The capture.
    pub file: String,
    /// Where it starts.
    pub at: StreamPos,
    /// Its source, where the framing names sources.
    pub source: Option<u16>,
    /// Why it could not be followed.
    pub cause: Fault,
    /// What to try.
    pub hint: Option<&'static str>,
    /// Number of gaps in it after the first.
    pub more: u64,
}

impl Missing {
    fn line(&self, end: &str) -> String {
        let Self { file, at, source, cause, hint, more } = self;
        let source = source.map_or(String::new(), |id| format!(", source {id}"));
        let more = if *more > 0 { format!(" ({more} more)") } else { String::new() };
        let hint = hint.map_or(String::new(), |hint| format!("; try {hint}"));
        format!("{file}: gap at {}{source}: {cause}{more}{end}{hint}", place(*at))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(""))
    }
}

impl Error for Missing {}

fn place(at: StreamPos) -> String {
    format!("byte {}, packet {}", at.byte, at.packet)
}

impl Gaps {
    /// Starts without gaps, for the capture of this name. What is noticed goes to `tell`.
    pub fn new(file: impl Into<String>, tell: impl FnMut(&Note) + Send + 'static) -> Self {
        let (file, tell) = (file.into(), Box::new(tell));
        let (count, open, endings) = (0, BTreeMap::new(), Endings::default());
        let (strict, cancel, hint, started, failed) = (false, Arc::default(), None, false, None);
        let (lost, never) = (0, Vec::new());
        Self {
            file,
            tell,
            strict,
            cancel,
            hint,
            count,
            started,
            open,
            lost,
            never,
            endings,
            failed,
        }
    }

    /// If `strict`, the first gap is an error: see [`Gaps::check`].
    pub fn strict(self, strict: bool) -> Self {
        Self { strict, ..self }
    }

    /// Ends the decoding soon after `cancel` is set.
    pub fn cancelled_by(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// Whether nobody waits for the rest any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Adds advice: what to try after a fault.
    pub fn hints(self, hint: fn(&Fault) -> &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// Whether the first gap is an error.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// The name of the capture.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Records gaps, where decoding resumes, and where traces start and end.
    pub fn event(&mut self, source: Option<u16>, at: StreamPos, event: &Event) {
        self.endings.event(source, at, event);
        match event {
            Event::Gap(fault) => self.gap(source, at, *fault),
            Event::On => {
                self.started = true;
                if let Some(open) = self.open.remove(&source) {
                    self.lost = self.lost.saturating_add(at.byte.saturating_sub(open.at.byte));
                    (self.tell)(&Note::Gap(open, Resumed::At(at)));
                }
            }
            _ => {}
        }
    }

    fn gap(&mut self, source: Option<u16>, at: StreamPos, cause: Fault) {
        self.count = self.count.saturating_add(1);
        if let Some(open) = self.open.get_mut(&source) {
            open.more = open.more.saturating_add(1);
            return;
        }
        let hint = self.hint.map(|hint| hint(&cause));
        let open = Missing { file: self.file.clone(), at, source, cause, hint, more: 0 };
        if self.strict {
            self.failed.get_or_insert(open);
        } else {
            self.open.insert(source, open);
        }
    }

    /// Returns the first gap as an error, if none is allowed.
    pub fn check(&mut self) -> Result<(), Missing> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Ends the capture, or the part of it that is of interest if `flow` is a break.
    pub fn end(&mut self, flow: ControlFlow<()>) {
        // After a break, the rest was not read, and decoding might have resumed.
        let resumed = if flow.is_continue() { Resumed::Never } else { Resumed::Unknown };
        for open in std::mem::take(&mut self.open).into_values() {
            self.never.push(open.at.byte);
            (self.tell)(&Note::Gap(open, resumed));
        }
        for again in self.endings.restarts() {
            (self.tell)(&Note::Restarted { file: self.file.clone(), again });
        }
    }

    /// Reports traces that have not ended where a capture of E-Trace does, after this much of it.
    ///
    /// # Errors
    ///
    /// The first of them, if there must be no gap.
    pub fn ended(&mut self, found: NoSync) -> Result<(), Unended> {
        let last = self.endings.on().map(|source| (source, found.bytes, false));
        let others = self.endings.cut_short().map(|(source, at)| (source, at.byte, true));
        for (source, bytes, joined) in others.chain(last) {
            let unended = Unended { file: self.file.clone(), source, bytes, joined };
            if self.strict {
                return Err(unended);
            }
            (self.tell)(&Note::Unended(unended));
        }
        Ok(())
    }

    /// Whether no trace is on.
    pub fn is_ended(&self) -> bool {
        self.endings.on().next().is_none()
    }

    /// Takes where the traces of a capture start and end from one that was not followed.
    pub fn packets(&mut self, endings: &Endings) {
        self.endings = endings.clone();
    }

    /// Reports that a capture contains no trace, unless something was decoded, or a gap says more. `found` is
    /// how much of it was read.
    pub fn silent(&mut self, found: NoSync) {
        if !self.started && self.count == 0 {
            (self.tell)(&Note::NoSync { file: self.file.clone(), found });
        }
    }

    /// Whether anything was decoded.
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Bytes in gaps, of a capture of so many that was decoded to its end. Those of several sources may be the same.
    pub fn lost_bytes(&self, capture: u64) -> u64 {
        let rest = self.never.iter().map(|since| capture.saturating_sub(*since));
        rest.fold(self.lost, u64::saturating_add).min(capture)
    }

    /// Gaps so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// What to try after a fault: options of the command line, for [`Gaps::hints`].
pub fn advice(fault: &Fault) -> &'static str {
    match fault {
        Fault::Malformed(
            ParseError::NoExtension | ParseError::AmbiguousExtension | ParseError::Subformat(_),
        ) => "another f0s_width_p, or a capture from its start",
        Fault::Frame(error) => match error {
            FrameError::Incomplete { .. } => "a capture that was not cut off",
            FrameError::Header(_) => "another --framing, or a capture without damage",
            FrameError::TooShort { .. } => "other --src-bits, --type-bits or --hart-bits",
            FrameError::Record(_) => "a capture that starts at a record, or another --framing",
            _ => "another --framing",
        },
        Fault::Malformed(_) => "other --params, another unit or --framing",
        Fault::NotSynchronised => "a capture from its start; the rest is decoded from here on",
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        Fault::EmptyCacheEntry(_) => "another cache_size_p, or a capture from its start",
        Fault::NoVector(_) => "--tvec PRIV=ADDR",
        Fault::TooLong { .. } => {
            "the program that was traced, other --params, or more --max-blocks"
        }
        Fault::Records(_) => {
            "the program that was traced, another hpred_size_p, or a capture without losses"
        }
        Fault::NotABranch(_) | Fault::InsideInstruction(_) => {
            "the program that was traced: this is another one, or another version of it"
        }
        Fault::TooManySources(_) => {
            "--source ID, or --src-bits and --hart-bits as the encoder has them"
        }
        _ => "the program that was traced, other --params, or --compat",
    }
}

impl fmt::Debug for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gaps").field("file", &self.file).field("count", &self.count).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn at(packet: u64) -> StreamPos {
        StreamPos { packet, byte: 10 * packet }
    }

    #[test]
    fn one_region_is_one_line() {
        let (sender, lines) = channel();
        let mut gaps = Gaps::new("t", move |note| sender.send(note.to_string()).unwrap());
        let damage = Event::Gap(Fault::Frame(FrameError::Header(0xff)));
        gaps.event(None, at(1), &damage);
        gaps.event(None, at(2), &damage);
        gaps.event(None, at(3), &Event::On);
        gaps = gaps.hints(|_| "another file");
        gaps.event(Some(7), at(4), &damage);
        assert_eq!((gaps.count(), gaps.check()), (3, Ok(())));
        gaps.end(ControlFlow::Continue(()));
        assert_eq!(
            lines.try_iter().collect::<Vec<_>>(),
            [
                "t: gap at byte 10, packet 1: no frame starts with header 0xff (1 more); resumed at \
                 byte 30, packet 3",
                "t: gap at byte 40, packet 4, source 7: no frame starts with header 0xff; never \
                 resumed; try another file",
            ]
        );
    }

    #[test]
    fn strict() {
        let mut gaps = Gaps::new("t", |note| panic!("{note}")).strict(true).hints(|_| "the code");
        assert_eq!(gaps.check(), Ok(()));
        gaps.event(None, at(2), &Event::Gap(Fault::NoCode(4)));
        gaps.event(None, at(3), &Event::Gap(Fault::NoCode(8)));
        let missing = gaps.check().unwrap_err();
        assert_eq!(
            missing.to_string(),
            "t: gap at byte 20, packet 2: no code at 0x0000000000000004; try the code"
        );
        gaps.end(ControlFlow::Break(()));
    }
}
