//! What changed in the address spaces of processes, as a log.

use hartrace_spaces::{Clock, Event, Image, Log, State, Written};
use std::collections::BTreeMap;

/// Bytes of events for each byte of a file: a fork copies all mappings, and a mapping may cut others.
const MOST: usize = 64;
/// This many bytes are allowed for any file.
const MOST_ANYWAY: usize = 1 << 20;

/// The process of code of the kernel.
const KERNEL: u64 = 0;

/// A change, as a record tells it.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A file was mapped.
    Map { pid: u32, tid: u32, range: (u64, u64), pgoff: u64, code: bool, file: File },
    /// A process or thread was created. A process inherits all mappings, unless perf made up the record
    /// for a process that existed before.
    Fork { pid: u32, ppid: u32, tid: u32, inherits: bool },
    /// A thread got another name; if it executes another program, all mappings are gone.
    Comm { pid: u32, tid: u32, exec: bool },
    /// The kernel wrote code.
    Poke { address: u64, code: Vec<u8> },
}

/// A file that was mapped.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) build_id: Option<String>,
}

/// A mapping that exists.
#[derive(Clone, Debug)]
struct Mapping {
    /// The address of its last byte.
    last: u64,
    image: Image,
}

/// Current mappings, by process and address.
#[derive(Debug)]
pub(super) struct Changes {
    processes: BTreeMap<u64, BTreeMap<u64, Mapping>>,
    /// Bytes that events may still use.
    left: usize,
    events: Vec<(u64, Event)>,
    /// Files with code that cannot be found in files of their names, such as modules of the kernel.
    pub(super) without_file: usize,
}

impl Changes {
    /// For a file of this size.
    pub(super) const fn new(size: usize) -> Self {
        let left = size.saturating_mul(MOST).saturating_add(MOST_ANYWAY);
        Self { processes: BTreeMap::new(), left, events: Vec::new(), without_file: 0 }
    }

    /// The log of changes, each with its time.
    ///
    /// The end of a thread or process is not in it: the piece with its last instructions ends later, and
    /// its number is not used again before another fork.
    pub(super) fn log(mut self, mut changes: Vec<(u64, Change)>) -> (Log, Self) {
        // Those that perf made up for what existed before have no time, and come first.
        changes.sort_by_key(|(time, _)| *time);
        for (time, change) in changes {
            self.take(time, change);
        }
        let events = std::mem::take(&mut self.events);
        (Log { clock: Clock::Recorded, events, traces: Vec::new() }, self)
    }

    fn take(&mut self, time: u64, change: Change) {
        match change {
            Change::Map { pid, tid, range: (start, length), pgoff, code, file } => {
                let pid = process(pid);
                self.thread(time, State::Current, tid, pid);
                let Some(last) = length.checked_sub(1).map(|rest| start.saturating_add(rest))
                else {
                    return;
                };
                self.clear(time, pid, start, last);
                if !code {
                    return;
                }
                // A name in brackets or with two slashes is no file. Modules are linked when they are
                // loaded, so that their files do not have the code that runs.
                if file.name.starts_with('[') || file.name.starts_with("//") || pid == KERNEL {
                    self.without_file = self.without_file.saturating_add(1);
                    return;
                }
                let part = Some((pgoff, length));
                let image = Image { file: file.name, uuid: file.build_id, part };
                self.add(time, pid, start, Mapping { last, image });
            }
            Change::Fork { pid, ppid, tid, inherits } => {
                let (child, parent) = (process(pid), process(ppid));
                if child == parent {
                    self.thread(time, State::Start, tid, child);
                    return;
                }
                // Another process may have had the number.
                self.clear(time, child, 0, u64::MAX);
                self.thread(time, State::Start, tid, child);
                if inherits && !self.is_full() {
                    let all = self.processes.get(&parent).cloned();
                    for (start, mapping) in all.into_iter().flatten() {
                        self.add(time, child, start, mapping);
                    }
                }
            }
            Change::Comm { pid, tid, exec } => {
                let pid = process(pid);
                self.thread(time, State::Current, tid, pid);
                if exec {
                    // The piece may have instructions from before, so that the code stays until other
                    // code covers it. Children do not inherit it.
                    self.processes.remove(&pid);
                }
            }
            Change::Poke { address, code } => {
                let (length, code) = (code.len() as u64, Written::Bytes(code));
                let patch = Event::Patch { pid: KERNEL, start: address, length, code };
                self.events.push((time, patch));
            }
        }
    }

    /// Whether there were more events than make sense.
    pub(super) const fn is_full(&self) -> bool {
        self.left == 0
    }

    fn thread(&mut self, time: u64, state: State, tid: u32, pid: u64) {
        // A thread with the number of its process needs no entry, unless another process had it before. The
        // kernel has none: its mappings name any thread.
        if pid != KERNEL && (u64::from(tid) != pid || state == State::Start) {
            self.events.push((time, Event::Thread { state, tid: tid.into(), pid }));
        }
    }

    fn add(&mut self, time: u64, pid: u64, base: u64, mapping: Mapping) {
        self.event(time, State::Start, pid, base, mapping.image.clone());
        if !self.is_full() {
            self.processes.entry(pid).or_default().insert(base, mapping);
        }
    }

    fn event(&mut self, time: u64, state: State, pid: u64, base: u64, image: Image) {
        let size = size_of::<(u64, Event)>().saturating_add(image.file.len());
        self.left = self.left.saturating_sub(size);
        if self.is_full() {
            return;
        }
        let event = Event::Mapped { state, process: false, pid, base, image };
        self.events.push((time, event));
    }

    /// Ends all mappings in a range of addresses. Those that reach beyond it become shorter.
    fn clear(&mut self, time: u64, pid: u64, start: u64, last: u64) {
        let Some(mappings) = self.processes.get_mut(&pid) else { return };
        let below = mappings.range(..start).next_back().filter(|(_, below)| below.last >= start);
        let mut gone: Vec<u64> = below.map(|(base, _)| *base).into_iter().collect();
        gone.extend(mappings.range(start..=last).map(|(base, _)| *base));
        for base in gone {
            let Some(mappings) = self.processes.get_mut(&pid) else { return };
            let Some(Mapping { last: end, image }) = mappings.remove(&base) else { continue };
            self.event(time, State::End, pid, base, image.clone());
            if let Some(left) = start.checked_sub(1).filter(|_| base < start) {
                self.add(time, pid, base, cut(&image, base, base, left));
            }
            if let Some(right) = last.checked_add(1).filter(|right| *right <= end) {
                self.add(time, pid, right, cut(&image, base, right, end));
            }
        }
    }
}

/// The part of a mapping from `start` to `last`.
fn cut(image: &Image, base: u64, start: u64, last: u64) -> Mapping {
    let skipped = start.saturating_sub(base);
    let length = last.saturating_sub(start).saturating_add(1);
    let part = image.part.map(|(offset, _)| (offset.saturating_add(skipped), length));
    Mapping { last, image: Image { part, ..image.clone() } }
}

/// The number of a process in the log. Mappings of the kernel are recorded for process -1.
const fn process(pid: u32) -> u64 {
    if pid == u32::MAX { KERNEL } else { pid as u64 }
}
