use crate::spaces::build::Build;
use crate::spaces::log::Written;
use crate::spaces::process::{Layer, Process, Seen, Segment};
use crate::spaces::{Clock, Image, Log};
use std::collections::BTreeMap;
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
pub struct Space {
    /// Which process; `None` is for contexts that are not known, which see the kernel alone.
    process: Option<u32>,
    version: u32,
    kernel: u32,
}

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

/// Stretches of code that a log may stand for: an image may have many, and be there many times.
const MOST: usize = 1 << 20;

/// Bytes that its images may have: the same file may be named many times, each time with another identity.
const MOST_BYTES: u64 = 1 << 32;

/// A log, put together.
#[derive(Clone, Debug)]
pub struct Timeline {
    holds: Holds,
    clock: Clock,
    threads: Names,
    asids: Names,
    /// When a number starts or ceases to stand for a process, in order.
    named: Vec<u64>,
    /// Where in `processes` each one is.
    numbers: BTreeMap<u64, u32>,
    processes: Vec<Process>,
    /// What all others see.
    kernel: Process,
    /// No process.
    nobody: Process,
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
        let mut bytes = 0u64;
        let mut missing = Vec::new();
        let mut segments = |image: &Image, missing: &mut Vec<String>| {
            let loaded = images.entry(image.clone()).or_insert_with(|| {
                let segments = if bytes < MOST_BYTES { load(image) } else { None };
                let sizes = segments.iter().flatten().map(|(_, code)| code.len() as u64);
                bytes = sizes.fold(bytes, u64::saturating_add);
                if segments.is_none() {
                    missing.push(format!("image {}", image.file));
                }
                segments.map(|all| all.into_iter().map(|(at, code)| (at, code.into())).collect())
            });
            loaded.clone().unwrap_or_default()
        };
        let mut processes = BTreeMap::new();
        let mut room = MOST;
        for (pid, known) in build.processes {
            let mut layers = Vec::new();
            for ((base, image), spans) in &known.mapped {
                let loaded = segments(image, &mut missing);
                for when in spans.iter() {
                    let Some(left) = room.checked_sub(loaded.len()) else {
                        let (file, at) = (&image.file, when.start);
                        missing.push(format!("image {file} at {at}, behind {MOST} others,"));
                        break;
                    };
                    room = left;
                    layers.extend(loaded.iter().map(|(at, code)| Layer {
                        when: when.clone(),
                        start: base.wrapping_add(*at),
                        length: code.len() as u64,
                        code: Some(code.clone()),
                    }));
                }
            }
            for (when, start, length, code) in known.patches {
                let code = match code {
                    Written::Bytes(bytes) => Some(bytes.into()),
                    Written::Memory => None,
                    // A file that is not there is no reason to believe in the code before it.
                    Written::File(file) => {
                        let found = segments(&Image { file, uuid: None }, &mut missing);
                        found.into_iter().next().map(|(_, code)| code)
                    }
                };
                layers.push(Layer { when, start, length, code });
            }
            processes.insert(pid, Process::new(layers));
        }
        let kernel = processes.remove(&0).unwrap_or_default();
        let numbers = processes.keys().copied().zip(0..).collect();
        let (threads, asids) = (build.threads.all(), build.asids.all());
        let all = [&threads, &asids].into_iter().flat_map(Names::values).flatten();
        let mut named: Vec<u64> = all.flat_map(|(_, when)| [when.start, when.end]).collect();
        // What never ends does not change.
        named.retain(|time| *time != u64::MAX);
        named.sort_unstable();
        named.dedup();
        Self {
            holds,
            clock: log.clock,
            threads,
            asids,
            named,
            numbers,
            processes: processes.into_values().collect(),
            kernel,
            nobody: Process::default(),
            missing,
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
            // They do not overlap, but for those whose start was not seen.
            let started = spans.get(..spans.partition_point(|(_, when)| when.start <= now))?;
            started.iter().rev().find(|(_, when)| when.contains(&now)).map(|(pid, _)| *pid)
        };
        let (asid, rest) = (context & 0xff, (context >> 8) & 0xff_ffff);
        match self.holds {
            Holds::Asid => find(&self.asids, asid),
            Holds::AsidPid => Some(rest),
            Holds::AsidTid => Some(find(&self.threads, rest).unwrap_or(rest)),
            Holds::Tid => Some(find(&self.threads, context).unwrap_or(context)),
        }
    }

    /// The process of a context at a time. One that the log does not know sees the kernel, as one that is
    /// not known.
    fn of(&self, now: u64, context: Option<u64>) -> (Option<u32>, &Process) {
        let pid = context.and_then(|context| self.process(now, context));
        let number = pid.and_then(|pid| self.numbers.get(&pid)).copied();
        (number, self.numbered(number))
    }

    fn numbered(&self, number: Option<u32>) -> &Process {
        number.and_then(|number| self.processes.get(number as usize)).unwrap_or(&self.nobody)
    }

    /// What the code is in a context at a time. Without a context, or where it does not say which process
    /// it is, that is the code of the kernel.
    pub fn space(&self, now: u64, context: Option<u64>) -> Space {
        let (process, own) = self.of(now, context);
        // A log has fewer lines than that.
        let version = |of: &Process| u32::try_from(of.version(now)).unwrap_or(u32::MAX);
        Space { process, version: version(own), kernel: version(&self.kernel) }
    }

    /// When [`Timeline::space`] may have another answer for a context.
    pub fn changes(&self, now: u64, context: Option<u64>) -> Option<u64> {
        let named = self.named.get(self.named.partition_point(|time| *time <= now)).copied();
        let (_, own) = self.of(now, context);
        [named, own.changes(now), self.kernel.changes(now)].into_iter().flatten().min()
    }

    /// The code at an address.
    pub fn code(&self, space: Space, address: u64) -> Code<'_> {
        let (bytes, length) = self.seen(space).code(address);
        Code { bytes, length }
    }

    /// All of the code, without overlaps, in the order of addresses.
    pub fn segments(&self, space: Space) -> Vec<Segment> {
        self.seen(space).segments()
    }

    fn seen(&self, space: Space) -> Seen<'_> {
        let Space { process, version, kernel } = space;
        Seen {
            own: (self.numbered(process), version as usize),
            kernel: (&self.kernel, kernel as usize),
        }
    }
}
