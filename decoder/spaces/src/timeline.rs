use crate::build::Build;
use crate::log::Written;
use crate::process::{Layer, Process, Seen, Segment};
use crate::{Clock, Image, Log};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The value that the operating system writes to CONTEXTIDR, or to the context register of RISC-V.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// An address space identifier in bits 7:0.
    Asid,
    /// An address space identifier in bits 7:0, and a process in bits 31:8.
    AsidPid,
    /// An address space identifier in bits 7:0, and a thread in bits 31:8: Linux with its PID in
    /// CONTEXTIDR.
    AsidTid,
    /// A thread, in all bits.
    Tid,
}

impl Holds {
    /// All of them, each with its name and a description.
    pub const NAMED: [(&'static str, Self, &'static str); 4] = [
        ("asid", Self::Asid, "An address space identifier, in bits 7:0"),
        ("asid+pid", Self::AsidPid, "The same, and a process in bits 31:8"),
        ("asid+tid", Self::AsidTid, "The same, and a thread in bits 31:8"),
        ("tid", Self::Tid, "A thread"),
    ];
}

/// The code that one process sees at one time. Spaces with different code are never equal, so a space can
/// be the key of decoded code.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space {
    /// The process; `None` stands for unknown contexts, which only see the kernel.
    process: Option<u32>,
    version: u32,
    kernel: u32,
}

/// The code at an address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// The bytes from there on, if the log contains them.
    pub bytes: Option<&'a [u8]>,
    /// Number of bytes from there for which this answer holds; other code may follow.
    pub length: u64,
}

/// The processes that a number stands for, with their time spans.
type Names = BTreeMap<u64, Vec<(u64, Range<u64>)>>;

/// Maximum number of code ranges of a log: an image may have many, and may be mapped many times.
const MOST: usize = 1 << 20;

/// Maximum number of bytes of its images: a file may be named many times, each time with another identity.
const MOST_BYTES: u64 = 1 << 32;

/// The combined events of a log.
#[derive(Clone, Debug)]
pub struct Timeline {
    holds: Holds,
    clock: Clock,
    threads: Names,
    asids: Names,
    /// The times at which a number starts or ceases to stand for a process, in order.
    named: Vec<u64>,
    /// The index of each process in `processes`.
    numbers: BTreeMap<u64, u32>,
    processes: Vec<Process>,
    /// The kernel, which all others see.
    kernel: Process,
    /// No process.
    nobody: Process,
    /// Images that could not be loaded or identified, and code that exceeds a limit.
    pub missing: Vec<String>,
    /// Images that are others than the log identifies. Where they were mapped there is no code.
    pub wrong: Vec<String>,
}

/// What became of an image that a log names. Code is segments, each with its distance from the base address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Its code.
    Code(Vec<(u64, Vec<u8>)>),
    /// Its code, but nothing tells whether the file is the one that the log identifies.
    Unidentified(Vec<(u64, Vec<u8>)>),
    /// The file is another one than the log identifies.
    Other {
        /// Its code, which is not used, nor any code that it would hide.
        code: Vec<(u64, Vec<u8>)>,
        /// What identifies the file.
        found: String,
    },
    /// It cannot be read.
    Missing,
}

impl From<Option<Vec<(u64, Vec<u8>)>>> for Loaded {
    fn from(code: Option<Vec<(u64, Vec<u8>)>>) -> Self {
        code.map_or(Self::Missing, Self::Code)
    }
}

/// Images that were loaded before, and what is to be said of the others.
#[derive(Debug, Default)]
struct Images {
    /// Distance from the base address, number of bytes, and code, unless it is not to be used.
    known: BTreeMap<Image, Vec<Stretch>>,
    bytes: u64,
    missing: Vec<String>,
    wrong: Vec<String>,
}

#[derive(Clone, Debug)]
struct Stretch {
    at: u64,
    length: u64,
    code: Arc<[u8]>,
}

impl Images {
    fn get(&mut self, image: &Image, load: impl FnOnce(&Image) -> Loaded) -> Vec<Stretch> {
        if let Some(known) = self.known.get(image) {
            return known.clone();
        }
        let Image { file, uuid, .. } = image;
        let uuid = uuid.as_deref().unwrap_or_default();
        let loaded = if self.bytes < MOST_BYTES { load(image) } else { Loaded::Missing };
        let mut used = true;
        let code = match loaded {
            Loaded::Code(code) => code,
            Loaded::Unidentified(code) => {
                self.missing.push(format!("image {file} has no build-id to compare with {uuid}"));
                code
            }
            Loaded::Other { code, found } => {
                let what = "which is not used";
                self.wrong.push(format!("image {file} has build-id {found}, not {uuid}; {what}"));
                used = false;
                code
            }
            Loaded::Missing => {
                self.missing.push(format!("image {file} cannot be read"));
                Vec::new()
            }
        };
        let stretch = |(at, code): (u64, Vec<u8>)| {
            let length = code.len() as u64;
            Stretch { at, length, code: if used { code.into() } else { Arc::default() } }
        };
        let all: Vec<Stretch> = code.into_iter().map(stretch).collect();
        let sizes = all.iter().map(|stretch| stretch.code.len() as u64);
        self.bytes = sizes.fold(self.bytes, u64::saturating_add);
        self.known.insert(image.clone(), all.clone());
        all
    }
}

impl Timeline {
    /// Creates a timeline from a log. `load` returns the code of an image: segments, each with its
    /// distance from the base address. There is no code if the image cannot be loaded.
    pub fn new<L: Into<Loaded>>(
        log: &Log,
        holds: Holds,
        mut load: impl FnMut(&Image) -> L,
    ) -> Self {
        let mut build = Build::default();
        for (now, event) in &log.events {
            build.take(*now, event);
        }
        let mut images = Images::default();
        let mut segments =
            |images: &mut Images, image: &Image| images.get(image, |image| load(image).into());
        let mut processes = BTreeMap::new();
        let mut room = MOST;
        for (pid, known) in build.processes {
            let mut layers = Vec::new();
            for ((base, image), spans) in &known.mapped {
                let loaded = segments(&mut images, image);
                for when in spans.iter() {
                    let Some(left) = room.checked_sub(loaded.len()) else {
                        let (file, at) = (&image.file, when.start);
                        let what = format!("image {file} at {at} cannot be read: {MOST} others");
                        images.missing.push(what);
                        break;
                    };
                    room = left;
                    layers.extend(loaded.iter().map(|stretch| Layer {
                        when: when.clone(),
                        start: base.wrapping_add(stretch.at),
                        length: stretch.length,
                        code: Some(stretch.code.clone()),
                    }));
                }
            }
            for (when, start, length, code) in known.patches {
                let code = match code {
                    Written::Bytes(bytes) => Some(bytes.into()),
                    Written::Memory => None,
                    // If the file is missing, the code before the patch is still outdated.
                    Written::File(file) => {
                        let image = Image { file, uuid: None, part: None };
                        let found = segments(&mut images, &image);
                        found.into_iter().next().map(|stretch| stretch.code)
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
        // An open end is not a change.
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
            missing: images.missing,
            wrong: images.wrong,
        }
    }

    /// The unit of its times.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// The process of a context at a time, if it can be determined.
    pub fn process(&self, now: u64, context: u64) -> Option<u64> {
        let find = |names: &Names, number| {
            let spans = names.get(&number)?;
            // They do not overlap, except those whose start was not seen.
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

    /// The process of a context at a time. A process that is not in the log sees only the kernel, like an
    /// unknown context.
    fn of(&self, now: u64, context: Option<u64>) -> (Option<u32>, &Process) {
        let pid = context.and_then(|context| self.process(now, context));
        let number = pid.and_then(|pid| self.numbers.get(&pid)).copied();
        (number, self.numbered(number))
    }

    fn numbered(&self, number: Option<u32>) -> &Process {
        number.and_then(|number| self.processes.get(number as usize)).unwrap_or(&self.nobody)
    }

    /// The code in a context at a time. Without a context, or if it does not identify a process, this is
    /// the code of the kernel.
    pub fn space(&self, now: u64, context: Option<u64>) -> Space {
        let (process, own) = self.of(now, context);
        // A log has fewer lines than the limit.
        let version = |of: &Process| u32::try_from(of.version(now)).unwrap_or(u32::MAX);
        Space { process, version: version(own), kernel: version(&self.kernel) }
    }

    /// The time at which the answer of [`Timeline::space`] for a context may change.
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

    /// All code, without overlaps, in the order of addresses.
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
