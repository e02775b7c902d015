//! System calls that read, write, wait and ask devices.

use super::descriptors::{Open, flag};
use super::{Call, EAGAIN, EBADF, EFAULT, EINVAL, ENOTTY, EPIPE, Failed, Outcome, SIGPIPE, Shared};
use crate::config::Xlen;
use crate::schedule::Others;
use crate::stop::Exit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Time after which a program that waits is asked again whether it has to end.
const TICK: Duration = Duration::from_millis(50);

/// Bytes that fit where a write was found not to wait.
const AT_ONCE: usize = 4096;

/// [`Shared::read`] or [`Shared::write`].
type Part = fn(&mut Shared, &mut Call<'_>, u64, (u64, u64), Option<i64>) -> Outcome;

impl Shared {
    /// Waits until a file can be read or written; an error if the run ends first, the program does not want to wait, or other
    /// threads have to run: one of them may be at the other end of a pipe.
    fn wait(&self, open: &Open, wanted: PollFlags) -> Result<(), Failed> {
        if !open.waits {
            return Ok(());
        }
        loop {
            if let Some(signal) = (self.stop)() {
                return Err(Failed::Ended(Exit::Killed(signal)));
            }
            let at_once = open.has(flag::NONBLOCK) || self.others == Others::Ready;
            let patience = if at_once { Duration::ZERO } else { TICK };
            match ready(&mut [PollFd::new(&open.file, wanted)], patience)? {
                0 if open.has(flag::NONBLOCK) => return Err(Failed::With(EAGAIN)),
                0 if self.others != Others::None => return Err(Failed::Later),
                0 => {}
                _ => return Ok(()),
            }
        }
    }

    /// `read`, and `pread64` at an offset.
    pub(super) fn read(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        (place, size): (u64, u64),
        offset: Option<i64>,
    ) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        if open.has(1) {
            return Err(Failed::With(EBADF));
        }
        let mut bytes = vec![0; call.bytes(place, size)?.len()];
        let count = match offset {
            Some(offset) => open.file.read_at(&mut bytes, place_in_file(offset)?)?,
            None => {
                self.wait(&open, PollFlags::IN)?;
                retry(|| (&open.file).read(&mut bytes))?
            }
        };
        call.give(place, &bytes[..count])?;
        Ok(count as u64)
    }

    /// Path and contents of a file, from an offset on, as far as they fit; `None` if there is no file to be read.
    pub(crate) fn mapped(
        &self,
        descriptor: u64,
        from: u64,
        size: u64,
    ) -> Option<(String, Vec<u8>)> {
        let open = self.descriptors.get(descriptor).ok().filter(|open| !open.has(1))?;
        let length = open.file.metadata().ok().filter(|found| found.is_file())?.len();
        let mut bytes = vec![0; length.saturating_sub(from).min(size) as usize];
        open.file.read_exact_at(&mut bytes, from).ok()?;
        Some((open.path.to_string_lossy().into_owned(), bytes))
    }

    /// `write`, and `pwrite64` at an offset.
    pub(super) fn write(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        (place, size): (u64, u64),
        offset: Option<i64>,
    ) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        if !open.has(flag::ACCESS) {
            return Err(Failed::With(EBADF));
        }
        let bytes = call.bytes(place, size)?;
        match offset {
            Some(offset) => Ok(open.file.write_at(bytes, place_in_file(offset)?)? as u64),
            None => self.put(&open, bytes),
        }
    }

    /// Writes to a file, or piece by piece to what may wait.
    fn put(&self, open: &Open, bytes: &[u8]) -> Outcome {
        let most = if open.waits { AT_ONCE } else { usize::MAX };
        let mut done = 0;
        while done < bytes.len() {
            let piece = &bytes[done..];
            let piece = piece.get(..most).unwrap_or(piece);
            let written = self
                .wait(open, PollFlags::OUT)
                .and_then(|()| Ok(retry(|| (&open.file).write(piece))?));
            match written {
                Ok(count) => done += count,
                Err(Failed::With(EPIPE)) => return Err(Failed::Ended(Exit::Killed(SIGPIPE))),
                Err(Failed::With(_) | Failed::Later) if done > 0 => break,
                Err(failed) => return Err(failed),
            }
        }
        Ok(done as u64)
    }

    /// `readv` and `writev`: `part` for each piece of memory, until one is not used whole.
    pub(super) fn vector(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        vector: u64,
        count: u64,
        part: Part,
    ) -> Outcome {
        let size = if call.xlen == Xlen::Rv32 { 4 } else { 8 };
        let mut total = 0;
        if count > 1024 {
            return Err(Failed::With(EINVAL));
        }
        for index in 0..count {
            let at = vector.wrapping_add(index * 2 * size);
            let load = |at| match size {
                4 => call.memory.load::<4>(at),
                _ => call.memory.load::<8>(at),
            };
            let (Some(base), Some(length)) = (load(at), load(at.wrapping_add(size))) else {
                return Err(Failed::With(EFAULT));
            };
            match part(self, call, descriptor, (base, length), None) {
                Ok(done) => {
                    total += done;
                    if done < length {
                        break;
                    }
                }
                Err(Failed::With(_) | Failed::Later) if total > 0 => break,
                Err(failed) => return Err(failed),
            }
        }
        Ok(total)
    }

    /// `lseek`.
    pub(super) fn seek(&mut self, descriptor: u64, offset: i64, whence: u64) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        let mut entries = open.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if open.file.metadata()?.is_dir() {
            // Positions are numbers of entries. Back at the start, the folder is read anew.
            if (offset, whence) == (0, 0) {
                *entries = None;
            } else if let Some(entries) = entries.as_mut()
                && whence == 0
            {
                entries.next = offset.try_into().unwrap_or(0);
            }
            return Ok(offset as u64);
        }
        let to = match whence {
            0 => SeekFrom::Start(place_in_file(offset)?),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return Err(Failed::With(EINVAL)),
        };
        Ok((&open.file).seek(to)?)
    }

    /// `sendfile`: the program reads and writes without its own memory.
    pub(super) fn send_file(
        &mut self,
        call: &mut Call<'_>,
        to: u64,
        from: u64,
        offset: u64,
        size: u64,
    ) -> Outcome {
        let (from, to) = (self.descriptors.get(from)?, self.descriptors.get(to)?);
        // What is read has to be written too.
        let most = if to.waits { AT_ONCE } else { 1 << 20 };
        self.wait(&to, PollFlags::OUT)?;
        let mut bytes = vec![0; size.min(most as u64) as usize];
        let count = match offset {
            0 => {
                self.wait(&from, PollFlags::IN)?;
                retry(|| (&from.file).read(&mut bytes))?
            }
            _ => from.file.read_at(&mut bytes, place_in_file(call.number(offset)?)?)?,
        };
        let done = self.put(&to, &bytes[..count])?;
        match offset {
            0 => {}
            _ => {
                let next = call.number(offset)? + done as i64;
                call.give(offset, &next.to_le_bytes())?;
            }
        }
        Ok(done)
    }

    /// `ppoll`. The signals that it would let through never come.
    pub(super) fn poll(
        &mut self,
        call: &mut Call<'_>,
        place: u64,
        count: u64,
        timeout: u64,
    ) -> Outcome {
        let size = count.checked_mul(8).filter(|_| count <= 1024).ok_or(Failed::With(EINVAL))?;
        let wanted: Vec<(i32, u16)> = call
            .bytes(place, size)?
            .chunks_exact(8)
            .map(|entry| {
                let number = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                (number, u16::from_le_bytes([entry[4], entry[5]]))
            })
            .collect();
        let end = match timeout {
            0 => None,
            at => {
                let seconds = call.number(at)?.try_into().unwrap_or(0);
                let nanos = call.number(at.wrapping_add(8))?.clamp(0, 999_999_999) as u32;
                Instant::now().checked_add(Duration::new(seconds, nanos))
            }
        };
        let open: Vec<Option<Arc<Open>>> =
            wanted.iter().map(|(number, _)| self.descriptors.get(*number as u64).ok()).collect();
        loop {
            let mut found = vec![0u16; wanted.len()];
            let (mut polled, mut places) = (Vec::new(), Vec::new());
            for (at, ((number, events), open)) in wanted.iter().zip(&open).enumerate() {
                match open {
                    Some(open) => {
                        let events = PollFlags::from_bits_truncate(*events);
                        polled.push(PollFd::new(&open.file, events));
                        places.push(at);
                    }
                    None if *number < 0 => {}
                    None => found[at] = PollFlags::NVAL.bits(),
                }
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let is_bad = found.iter().any(|events| *events != 0);
            let at_once = is_bad || self.others == Others::Ready && end.is_none();
            let patience = if at_once { Duration::ZERO } else { left.unwrap_or(TICK).min(TICK) };
            ready(&mut polled, patience)?;
            for (at, polled) in places.into_iter().zip(&polled) {
                found[at] = polled.revents().bits();
            }
            let count = found.iter().filter(|events| **events != 0).count();
            if count > 0 || left == Some(Duration::ZERO) {
                for (at, events) in found.iter().enumerate() {
                    call.give(place.wrapping_add(8 * at as u64 + 6), &events.to_le_bytes())?;
                }
                return Ok(count as u64);
            }
            if let Some(signal) = (self.stop)() {
                return Err(Failed::Ended(Exit::Killed(signal)));
            }
            if self.others != Others::None && end.is_none() {
                return Err(Failed::Later);
            }
        }
    }

    /// `ioctl`, as far as it only asks.
    pub(super) fn device_control(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        request: u64,
        place: u64,
    ) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        match request {
            // TCGETS
            0x5401 => call.give(place, &terminal(&tcgetattr(&open.file)?)),
            // TIOCGWINSZ
            0x5413 => {
                let size = tcgetwinsize(&open.file)?;
                let words = [size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel];
                call.give(place, &words.map(u16::to_le_bytes).concat())
            }
            // FIONREAD
            0x541b => {
                let count = rustix::io::ioctl_fionread(&open.file)?;
                call.give(place, &(count as u32).to_le_bytes())
            }
            _ => Err(Failed::With(ENOTTY)),
        }
    }

    /// `ftruncate`.
    pub(super) fn truncate_descriptor(&mut self, descriptor: u64, length: i64) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        open.file.set_len(place_in_file(length)?)?;
        Ok(0)
    }

    /// `fsync`.
    pub(super) fn sync(&mut self, descriptor: u64) -> Outcome {
        self.descriptors.get(descriptor)?.file.sync_all()?;
        Ok(0)
    }
}

/// Waits for files, for some time. Returns how many are ready.
fn ready(files: &mut [PollFd<'_>], patience: Duration) -> Result<usize, Failed> {
    let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    match poll(files, Some(&patience)) {
        Ok(count) => Ok(count),
        Err(rustix::io::Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Does again what a signal to the process of the hart has interrupted.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn place_in_file(offset: i64) -> Result<u64, Failed> {
    u64::try_from(offset).map_err(|_| Failed::With(EINVAL))
}

/// `struct termios` of the kernel.
fn terminal(found: &Termios) -> [u8; 36] {
    let mut bytes = [0; 36];
    let flags = [
        found.input_modes.bits(),
        found.output_modes.bits(),
        found.control_modes.bits(),
        found.local_modes.bits(),
    ];
    for (place, flags) in bytes.chunks_exact_mut(4).zip(flags) {
        // Other systems have more of them.
        place.copy_from_slice(&flags.to_le_bytes()[..4]);
    }
    let codes = [
        SpecialCodeIndex::VINTR,
        SpecialCodeIndex::VQUIT,
        SpecialCodeIndex::VERASE,
        SpecialCodeIndex::VKILL,
        SpecialCodeIndex::VEOF,
        SpecialCodeIndex::VTIME,
        SpecialCodeIndex::VMIN,
    ];
    for (place, code) in bytes[17..].iter_mut().zip(codes) {
        *place = found.special_codes[code];
    }
    bytes
}
