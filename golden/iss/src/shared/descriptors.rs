//! The descriptors of a program.

use super::entries::Entries;
use super::{EBADF, EINVAL, EMFILE, Failed, Outcome};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// As many as Linux allows unless told otherwise.
const MOST: usize = 1024;

/// Flags of open files, as the program knows them.
pub(super) mod flag {
    pub(crate) const ACCESS: u32 = 3;
    pub(crate) const CREATE: u32 = 0o100;
    pub(crate) const EXCLUSIVE: u32 = 0o200;
    pub(crate) const TRUNCATE: u32 = 0o1000;
    pub(crate) const APPEND: u32 = 0o2000;
    pub(crate) const NONBLOCK: u32 = 0o4000;
    pub(crate) const DIRECTORY: u32 = 0o20_0000;
    pub(crate) const NOFOLLOW: u32 = 0o40_0000;
    pub(crate) const CLOEXEC: u32 = 0o200_0000;
    pub(crate) const PATH: u32 = 0o1000_0000;
}

/// An open file. Duplicates of a descriptor share it, with its position.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) file: File,
    /// Where it was opened, for folders.
    pub(super) path: PathBuf,
    /// Flags that it was opened with, or that were set since.
    pub(super) flags: AtomicU32,
    /// What is in a folder, once that was asked.
    pub(super) entries: Mutex<Option<Entries>>,
    /// Whether a read or a write of it may wait.
    pub(super) waits: bool,
}

impl Open {
    pub(super) fn new(file: File, path: PathBuf, flags: u32) -> Self {
        let waits = !file.metadata().is_ok_and(|found| found.is_file() || found.is_dir());
        let (flags, entries) = (AtomicU32::new(flags), Mutex::default());
        Self { file, path, flags, entries, waits }
    }

    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }
}

#[derive(Clone, Debug)]
struct Descriptor {
    open: Arc<Open>,
    close_on_exec: bool,
}

#[derive(Debug)]
pub(super) struct Descriptors(Vec<Option<Descriptor>>);

impl Descriptors {
    pub(super) fn new(streams: [File; 3]) -> Self {
        let stream = |(file, flags)| Descriptor {
            open: Arc::new(Open::new(file, PathBuf::new(), flags)),
            close_on_exec: false,
        };
        Self(streams.into_iter().zip([0, 1, 1]).map(stream).map(Some).collect())
    }

    fn slot(&self, descriptor: u64) -> Result<&Descriptor, Failed> {
        let slot = self.0.get(descriptor as u32 as usize).and_then(Option::as_ref);
        slot.ok_or(Failed::With(EBADF))
    }

    pub(super) fn get(&self, descriptor: u64) -> Result<Arc<Open>, Failed> {
        self.slot(descriptor).map(|slot| Arc::clone(&slot.open))
    }

    /// The first free descriptor that is not below `least`.
    pub(super) fn add(&mut self, open: Arc<Open>, least: usize, close_on_exec: bool) -> Outcome {
        let free = (least..MOST).find(|at| self.0.get(*at).is_none_or(Option::is_none));
        let free = free.ok_or(Failed::With(EMFILE))?;
        self.put(free, Descriptor { open, close_on_exec });
        Ok(free as u64)
    }

    fn put(&mut self, at: usize, descriptor: Descriptor) {
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(descriptor);
    }

    /// `close`.
    pub(super) fn close(&mut self, descriptor: u64) -> Outcome {
        self.slot(descriptor)?;
        self.0[descriptor as u32 as usize] = None;
        Ok(0)
    }

    /// `dup`, and `fcntl` to the same effect.
    pub(super) fn duplicate(
        &mut self,
        descriptor: u64,
        least: u64,
        close_on_exec: bool,
    ) -> Outcome {
        let open = self.get(descriptor)?;
        match usize::try_from(least).ok().filter(|least| *least < MOST) {
            Some(least) => self.add(open, least, close_on_exec),
            None => Err(Failed::With(EINVAL)),
        }
    }

    /// `dup3`.
    pub(super) fn duplicate_to(&mut self, from: u64, to: u64, flags: u64) -> Outcome {
        let (open, at) = (self.get(from)?, to as u32 as usize);
        if at >= MOST {
            return Err(Failed::With(EBADF));
        }
        if from as u32 == to as u32 {
            return Err(Failed::With(EINVAL));
        }
        let close_on_exec = flags as u32 & flag::CLOEXEC != 0;
        self.put(at, Descriptor { open, close_on_exec });
        Ok(at as u64)
    }

    /// `fcntl`.
    pub(super) fn control(&mut self, descriptor: u64, command: u64, argument: u64) -> Outcome {
        const SETTABLE: u32 = flag::APPEND | flag::NONBLOCK;
        let slot = self.slot(descriptor)?;
        match command {
            0 => self.duplicate(descriptor, argument, false),
            1 => Ok(slot.close_on_exec.into()),
            2 => {
                let close_on_exec = argument & 1 != 0;
                let open = Arc::clone(&slot.open);
                self.put(descriptor as u32 as usize, Descriptor { open, close_on_exec });
                Ok(0)
            }
            3 => Ok(slot.open.flags.load(Ordering::Relaxed).into()),
            4 => {
                let kept = slot.open.flags.load(Ordering::Relaxed) & !SETTABLE;
                slot.open.flags.store(kept | argument as u32 & SETTABLE, Ordering::Relaxed);
                Ok(0)
            }
            // Locks: nobody else is there.
            5..=7 | 36..=38 => Ok(0),
            1030 => self.duplicate(descriptor, argument, true),
            _ => Err(Failed::With(EINVAL)),
        }
    }
}
