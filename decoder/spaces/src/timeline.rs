use crate::log::Written;
use crate::process::{Layer, Process};
use crate::span::Spans;
use crate::{Clock, Event, Image, Log, State};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// What the operating system writes to CONTEXTIDR, or to the context register of RISC-V.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// An address space identifier in bits 7:0.
    Asid,
    /// The same, and a process in bits 31:8.
    AsidPid,
    /// The same, and a thread in bits 31:8: Linux with its PID in CONTEXTIDR.
    AsidTid,
    /// A thread, in all bits.
    Tid,
}

/// The code that one process sees at one time. Different ones are never equal, so that what was decoded
/// can be kept under it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(NonZeroU32);

/// What is at an address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// The bytes from there on, if the log tells.
    pub bytes: Option<&'a [u8]>,
    /// Up to how many bytes from there the same can be said; something else is behind.
    pub length: u64,
}

/// Which process a number stands for, at which times.
type Names = BTreeMap<u64, Vec<(u64, Range<u64>)>>;

/// A log, put together.
#[derive(Clone, Debug)]
pub struct Timeline {
    holds: Holds,
    clock: Clock,
    threads: Names,
    asids: Names,
    /// Each with the number of its first space. One that has no number is there for contexts that are not
    /// known: it has the code of the kernel alone.
    processes: BTreeMap<Option<u64>, (u32, Process)>,
    /// Images that could not be had, and code that is longer than it says.
    pub missing: Vec<String>,
}

/// Code by name: segments, each with its distance from where the image is placed.
type Segments = Option<Vec<(u64, Arc<[u8]>)>>;

impl Timeline {
    /// From a log. `load` gives the code of an image: segments, each with its distance from the base
    /// address; `None` if it cannot be had, in which case there is no code.
    pub fn new(
        log: &Log,
        holds: Holds,
        mut load: impl FnMut(&Image) -> Option<Vec<(u64, Vec<u8>)>>,
    ) -> Self {
        let mut build = Build::default();
        for (now, event) in &log.events {
            build.take(*now, event);
        }
        let mut images: BTreeMap<Image, Segments> = BTreeMap::new();
        let mut missing = Vec::new();
        let mut segments = |image: &Image| {
            let loaded = images.entry(image.clone()).or_insert_with(|| {
                let segments = load(image);
                if segments.is_none() {
                    missing.push(format!("image {}", image.file));
                }
                segments.map(|all| all.into_iter().map(|(at, code)| (at, code.into())).collect())
            });
            loaded.clone().unwrap_or_default()
        };
        let mut layers: BTreeMap<u64, Vec<(u64, Layer)>> = BTreeMap::new();
        for ((pid, base, image), spans) in &build.mapped {
            for when in spans.iter() {
                for (at, code) in segments(image) {
                    let (start, length) = (base.wrapping_add(at), code.len() as u64);
                    let order = when.start;
                    let layer = Layer { when: when.clone(), start, length, code: Some(code) };
                    layers.entry(*pid).or_default().push((order, layer));
                }
            }
        }
        for (pid, written) in build.patches {
            for (when, start, length, code) in written {
                let code = match code {
                    Written::Bytes(bytes) => Some(bytes.into()),
                    Written::Memory => None,
                    // A file that is not there is no reason to believe in the code before it.
                    Written::File(file) => {
                        let found = segments(&Image { file, uuid: None });
                        found.into_iter().next().map(|(_, code)| code)
                    }
                };
                let order = when.start;
                layers.entry(pid).or_default().push((order, Layer { when, start, length, code }));
            }
        }
        let mut timeline = Self {
            holds,
            clock: log.clock,
            threads: names(build.threads),
            asids: names(build.asids),
            processes: BTreeMap::new(),
            missing,
        };
        timeline.number(layers);
        timeline
    }

    /// Gives every version of every process a number.
    fn number(&mut self, mut layers: BTreeMap<u64, Vec<(u64, Layer)>>) {
        let kernel = layers.remove(&0).unwrap_or_default();
        let all = layers.into_iter().map(|(pid, layers)| (Some(pid), layers));
        let mut next = 1u32;
        for (pid, mut layers) in all.chain([(None, Vec::new())]) {
            layers.extend(kernel.iter().cloned());
            layers.sort_by_key(|(order, _)| *order);
            let process = Process::new(layers.into_iter().map(|(_, layer)| layer).collect());
            let versions = u32::try_from(process.versions()).unwrap_or(u32::MAX);
            self.processes.insert(pid, (next, process));
            next = next.saturating_add(versions);
        }
    }

    /// What its times are.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// The process of a context at a time, if that can be told.
    pub fn process(&self, now: u64, context: u64) -> Option<u64> {
        let find = |names: &Names, number| {
            let spans = names.get(&number)?;
            spans.iter().rev().find(|(_, when)| when.contains(&now)).map(|(pid, _)| *pid)
        };
        let (asid, rest) = (context & 0xff, (context >> 8) & 0xff_ffff);
        match self.holds {
            Holds::Asid => find(&self.asids, asid),
            Holds::AsidPid => Some(rest),
            Holds::AsidTid => Some(find(&self.threads, rest).unwrap_or(rest)),
            Holds::Tid => Some(find(&self.threads, context).unwrap_or(context)),
        }
    }

    fn of(&self, now: u64, context: Option<u64>) -> Option<&(u32, Process)> {
        let pid = context.and_then(|context| self.process(now, context));
        // A process that the log does not know sees the kernel, as one that is not known.
        self.processes.get(&pid).or_else(|| self.processes.get(&None))
    }

    /// What the code is in a context at a time. Without a context, or where it does not say which process
    /// it is, that is the code of the kernel.
    pub fn space(&self, now: u64, context: Option<u64>) -> Option<Space> {
        let (first, process) = self.of(now, context)?;
        let version = u32::try_from(process.version(now)).ok()?;
        NonZeroU32::new(first.checked_add(version)?).map(Space)
    }

    /// When [`Timeline::space`] may have another answer for a context.
    pub fn changes(&self, now: u64, context: Option<u64>) -> Option<u64> {
        let names = [&self.threads, &self.asids].into_iter().flat_map(|names| names.values());
        let times = names.flatten().flat_map(|(_, when)| [when.start, when.end]);
        let process = self.of(now, context).and_then(|(_, process)| process.changes(now));
        times.filter(|time| *time > now && *time != u64::MAX).chain(process).min()
    }

    /// The code at an address.
    pub fn code(&self, space: Space, address: u64) -> Code<'_> {
        let Some((process, version)) = self.find(space) else {
            return Code { bytes: None, length: u64::MAX };
        };
        let (bytes, length) = process.code(version, address);
        Code { bytes, length }
    }

    /// All of the code, without overlaps, in the order of addresses.
    pub fn segments(&self, space: Space) -> Vec<(u64, &[u8])> {
        self.find(space).map_or(Vec::new(), |(process, version)| process.segments(version))
    }

    /// All there are: since when each is the one of a context, for decoders that want to know beforehand.
    /// `None` is for contexts that are not listed. Where a context holds two numbers, there are too many
    /// contexts to list.
    pub fn spaces(&self) -> Vec<(Option<u64>, u64, Space)> {
        let names = match self.holds {
            Holds::Asid => Some(&self.asids),
            Holds::Tid => Some(&self.threads),
            Holds::AsidPid | Holds::AsidTid => None,
        };
        let mut contexts: BTreeSet<Option<u64>> =
            names.into_iter().flat_map(|names| names.keys().map(|number| Some(*number))).collect();
        if self.holds == Holds::Tid {
            contexts.extend(self.processes.keys().copied());
        }
        contexts.insert(None);
        let mut times: BTreeSet<u64> = BTreeSet::from([0]);
        times.extend(self.processes.values().flat_map(|(_, process)| process.times()));
        let named = [&self.threads, &self.asids].into_iter().flat_map(|names| names.values());
        times.extend(named.flatten().flat_map(|(_, when)| [when.start, when.end]));
        times.remove(&u64::MAX);
        let mut all: Vec<(Option<u64>, u64, Space)> = Vec::new();
        for context in contexts {
            for time in &times {
                let Some(space) = self.space(*time, context) else { continue };
                let before = all.last().filter(|last| last.0 == context);
                if before.is_none_or(|last| last.2 != space) {
                    all.push((context, *time, space));
                }
            }
        }
        all
    }

    fn find(&self, space: Space) -> Option<(&Process, usize)> {
        let number = space.0.get();
        self.processes.values().find_map(|(first, process)| {
            let version = number.checked_sub(*first)? as usize;
            (version < process.versions()).then_some((process, version))
        })
    }
}

fn names(spans: BTreeMap<(u64, u64), Spans>) -> Names {
    let mut names = Names::new();
    for ((number, pid), spans) in spans {
        let all = names.entry(number).or_default();
        all.extend(spans.iter().map(|when| (pid, when)));
        all.sort_by_key(|(_, when)| when.start);
    }
    names
}

/// A patch: when, where, how long, and what.
type Patch = (Range<u64>, u64, u64, Written);

/// What is known after some of the events.
#[derive(Debug, Default)]
struct Build {
    mapped: BTreeMap<(u64, u64, Image), Spans>,
    threads: BTreeMap<(u64, u64), Spans>,
    asids: BTreeMap<(u64, u64), Spans>,
    patches: BTreeMap<u64, Vec<Patch>>,
    /// When a process with this number was last seen to end.
    ended: BTreeMap<u64, u64>,
}

impl Build {
    fn take(&mut self, now: u64, event: &Event) {
        match event {
            Event::Mapped { state, process, pid, base, image } => {
                let floor = self.ended.get(pid).copied().unwrap_or(0);
                let key = (*pid, *base, image.clone());
                self.mapped.entry(key).or_default().take(*state, now, floor);
                if *process && *state == State::End {
                    self.end(*pid, now);
                }
            }
            Event::Thread { state, tid, pid } => name(&mut self.threads, *state, *tid, *pid, now),
            Event::Asid { state, asid, pid } => name(&mut self.asids, *state, *asid, *pid, now),
            Event::Patch { pid, start, length, code } => {
                let patch = (now..u64::MAX, *start, *length, code.clone());
                self.patches.entry(*pid).or_default().push(patch);
            }
        }
    }

    /// A process ends, and with it all it has.
    fn end(&mut self, pid: u64, now: u64) {
        for (_, spans) in self.mapped.iter_mut().filter(|((of, ..), _)| *of == pid) {
            spans.close(now);
        }
        for names in [&mut self.threads, &mut self.asids] {
            for (_, spans) in names.iter_mut().filter(|((_, of), _)| *of == pid) {
                spans.close(now);
            }
        }
        for (when, ..) in self.patches.entry(pid).or_default() {
            when.end = when.end.min(now);
        }
        self.ended.insert(pid, now);
    }
}

/// A number stands for a process; it cannot stand for two at a time.
fn name(names: &mut BTreeMap<(u64, u64), Spans>, state: State, number: u64, pid: u64, now: u64) {
    let others = names.iter_mut().filter(|((other, of), _)| *other == number && *of != pid);
    let mut floor = 0;
    for (_, spans) in others {
        if state != State::End {
            spans.close(now);
        }
        let ends = spans.iter().map(|when| when.end).filter(|end| *end <= now);
        floor = ends.fold(floor, u64::max);
    }
    names.entry((number, pid)).or_default().take(state, now, floor);
}
