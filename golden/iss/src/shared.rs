//! What a program of the Linux environment shares with the process that this hart is in: standard streams, files and
//! the current folder.
//!
//! Descriptors are the program's own: it never sees those of this process. Paths are looked up as the process would,
//! from the program's current folder. What waits, such as a read from a terminal, ends when the run is to be stopped.

mod descriptors;
mod entries;
mod layout;
mod paths;
mod streams;

use crate::abi::errno;
use crate::config::Xlen;
use crate::files::text_at;
use crate::hart::Hart;
use crate::libraries::Libraries;
use crate::memory::Memory;
use crate::schedule::Others;
use crate::stop::Exit;
use crate::threads::Then;
use descriptors::Descriptors;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The signal that ends a program which writes where nobody reads.
const SIGPIPE: i32 = 13;

/// The streams, files and folder of a program.
#[derive(Debug)]
pub(crate) struct Shared {
    descriptors: Descriptors,
    /// The program's current folder.
    folder: PathBuf,
    /// The file of the program, `/proc/self/exe`.
    program: PathBuf,
    /// Permissions that new files do not get.
    umask: u32,
    /// The signal that stops the run, once there is one.
    stop: fn() -> Option<i32>,
    /// The other threads, during a call.
    others: Others,
}

/// Why a system call returns no result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Failed {
    /// It fails with this error number.
    With(i32),
    /// It ends the program.
    Ended(Exit),
    /// It has to wait, and has had no effect: other threads run first.
    Later,
}

type Outcome = Result<u64, Failed>;

/// Numbers of errors.
mod error {
    pub(super) const ENOENT: i32 = 2;
    pub(super) const EBADF: i32 = 9;
    pub(super) const EAGAIN: i32 = 11;
    pub(super) const EFAULT: i32 = 14;
    pub(super) const ENOTDIR: i32 = 20;
    pub(super) const EINVAL: i32 = 22;
    pub(super) const EMFILE: i32 = 24;
    pub(super) const ENOTTY: i32 = 25;
    pub(super) const EPIPE: i32 = 32;
    pub(super) const ERANGE: i32 = 34;
}
use error::*;

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        // Errors without a number are made by the library, of arguments that it refuses.
        Self::With(error.raw_os_error().unwrap_or(EINVAL))
    }
}

impl From<rustix::io::Errno> for Failed {
    fn from(error: rustix::io::Errno) -> Self {
        Self::With(error.raw_os_error())
    }
}

/// A system call: its arguments, and the memory that they point to.
struct Call<'a> {
    memory: &'a mut Memory,
    /// Where files are that the program finds elsewhere than this process.
    libraries: Option<&'a Libraries>,
    xlen: Xlen,
    args: [u64; 6],
}

impl Hart {
    /// Lets the process of [`Environment::Linux`](crate::Environment::Linux) use these files as standard input, output and
    /// error, all other files as this process could, and the current folder. Files and input that were given beforehand
    /// are not used then. A run ends with [`Exit::Killed`] when `stop` returns a signal, which it asks when the program
    /// waits. `program` is its file.
    ///
    /// # Errors
    ///
    /// If there is no current folder.
    pub fn share(
        &mut self,
        program: &Path,
        streams: [File; 3],
        stop: fn() -> Option<i32>,
    ) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        let (program, others) = (folder.join(program), Others::None);
        let descriptors = Descriptors::new(streams);
        self.host.shared =
            Some(Shared { descriptors, folder, program, umask: 0o022, stop, others });
        Ok(())
    }

    /// Executes the system call in the registers: its result, or how the program ends. `None` if it is not one on what is
    /// shared.
    pub(crate) fn shared_call(&mut self, number: u64) -> Option<Result<u64, Exit>> {
        let mut shared = self.host.shared.take()?;
        shared.others = self.others();
        let args = std::array::from_fn(|n| self.x[10 + n] & self.mask);
        let libraries = self.host.libraries.as_ref();
        let mut call = Call { memory: &mut self.memory, libraries, xlen: self.xlen, args };
        let outcome = shared.call(number, &mut call);
        self.host.shared = Some(shared);
        Some(match outcome? {
            Ok(result) => Ok(result),
            Err(Failed::With(number)) => Ok(errno(number.into())),
            Err(Failed::Ended(exit)) => Err(exit),
            Err(Failed::Later) => {
                self.then(Then::Again);
                Ok(self.x[10])
            }
        })
    }
}

impl Shared {
    /// Executes a call; `None` if it is not one on streams, files or folders.
    fn call(&mut self, number: u64, call: &mut Call<'_>) -> Option<Outcome> {
        let [a0, a1, a2, a3, a4, _] = call.args;
        let wide = call.xlen == Xlen::Rv64;
        Some(match number {
            17 => self.current_folder(call, a0, a1),
            23 => self.descriptors.duplicate(a0, 0, false),
            24 => self.descriptors.duplicate_to(a0, a1, a2),
            25 => self.descriptors.control(a0, a1, a2),
            29 => self.device_control(call, a0, a1, a2),
            // Advisory locks: nobody else is there.
            32 => self.descriptors.get(a0).map(|_| 0),
            34 => self.make_folder(call, a0, a1, a2),
            35 => self.unlink(call, a0, a1, a2),
            36 => self.symlink(call, a0, a1, a2),
            37 => self.link(call, a0, a1, (a2, a3)),
            38 => self.rename(call, (a0, a1), (a2, a3), 0),
            276 => self.rename(call, (a0, a1), (a2, a3), a4),
            45 => self.truncate(call, a0, call.offset(1)),
            46 => self.truncate_descriptor(a0, call.offset(1)),
            48 | 439 => self.access(call, a0, a1, a2),
            49 => self.change_folder(call, a0),
            50 => self.change_folder_to(a0),
            52 => self.change_mode_of(a0, a1),
            53 => self.change_mode(call, a0, a1, a2),
            54 => self.change_owner(call, a0, a1, [a2, a3, a4]),
            55 => self.change_owner_of(a0, [a1, a2]),
            56 => self.open(call, a0, a1, a2, a3),
            57 => self.descriptors.close(a0),
            59 => self.pipe(call, a0, a1),
            61 => self.list(call, a0, a1, a2),
            62 if wide => self.seek(a0, a1 as i64, a2),
            62 => self
                .seek(a0, (a1 << 32 | a2) as i64, a4)
                .and_then(|at| call.give(a3, &at.to_le_bytes())),
            63 => self.read(call, a0, (a1, a2), None),
            64 => self.write(call, a0, (a1, a2), None),
            65 => self.vector(call, a0, a1, a2, Self::read),
            66 => self.vector(call, a0, a1, a2, Self::write),
            67 => self.read(call, a0, (a1, a2), Some(call.offset(3))),
            68 => self.write(call, a0, (a1, a2), Some(call.offset(3))),
            71 => self.send_file(call, a0, a1, a2, a3),
            73 | 414 => self.poll(call, a0, a1, a2),
            78 => self.read_link(call, a0, a1, (a2, a3)),
            79 if wide => self.stat(call, a0, a1, a2, a3),
            80 if wide => self.stat_of(call, a0, a1),
            81 => Ok(0),
            82 | 83 => self.sync(a0),
            88 | 412 => self.set_times(call, a0, a1, a2, a3),
            166 => Ok(std::mem::replace(&mut self.umask, a0 as u32 & 0o777).into()),
            291 => self.statx(call, a0, a1, a2, a4),
            _ => return None,
        })
    }
}

impl Call<'_> {
    /// The text at an address, as a path.
    fn path(&self, address: u64) -> Result<PathBuf, Failed> {
        let text = text_at(self.memory, address).ok_or(Failed::With(EFAULT))?;
        Ok(PathBuf::from(std::ffi::OsString::from_vec(text)))
    }

    /// Where a file is that the program only looks at: its libraries may be elsewhere than it thinks. What the dynamic linker
    /// of this machine has noted is not for it, and would make runs differ between machines.
    fn sought(&self, path: PathBuf) -> Result<PathBuf, Failed> {
        let Some(libraries) = self.libraries else { return Ok(path) };
        let name = path.as_os_str().as_bytes();
        match libraries.find(name).filter(|found| found.is_file()) {
            Some(found) => Ok(found),
            None if name.starts_with(b"/etc/ld.so.") => Err(Failed::With(ENOENT)),
            None => Ok(path),
        }
    }

    /// Copies `bytes` to where the program wants them.
    fn give(&mut self, place: u64, bytes: &[u8]) -> Outcome {
        if self.memory.write(place, bytes) { Ok(0) } else { Err(Failed::With(EFAULT)) }
    }

    /// The bytes at an address.
    fn bytes(&self, address: u64, size: u64) -> Result<&[u8], Failed> {
        // Nothing is anywhere.
        if size == 0 {
            return Ok(&[]);
        }
        self.memory.read(address, size).ok_or(Failed::With(EFAULT))
    }

    /// A number of 64 bits at an address.
    fn number(&self, address: u64) -> Result<i64, Failed> {
        let number = self.memory.load::<8>(address).ok_or(Failed::With(EFAULT))?;
        Ok(number as i64)
    }

    /// The argument that is an offset in a file: RV32 passes it in two registers, the lower half first.
    fn offset(&self, first: usize) -> i64 {
        match self.xlen {
            Xlen::Rv64 => self.args[first] as i64,
            Xlen::Rv32 => (self.args[first] | self.args[first + 1] << 32) as i64,
        }
    }
}
