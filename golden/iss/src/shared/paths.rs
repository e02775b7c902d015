//! System calls on paths.

use super::descriptors::{Open, flag};
use super::{Call, EFAULT, EINVAL, ENOENT, ENOTDIR, ERANGE, Failed, Outcome, Shared, layout};
use rustix::fs::{Access, OFlags};
use std::fs::{self, DirBuilder, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// In place of a descriptor: the current folder.
const HERE: i32 = -100;
/// A symbolic link itself, and not what it leads to.
const NOFOLLOW: u64 = 0x100;
/// An empty path is the descriptor itself.
const EMPTY: u64 = 0x1000;

/// A place in the file system that a program names.
enum Place {
    Path(PathBuf),
    /// A stream of the program, by a name such as `/dev/stdin`.
    Descriptor(u64),
}

impl Shared {
    /// What a path leads to, from a folder that is a descriptor on.
    fn place(&self, call: &Call<'_>, folder: u64, path: u64) -> Result<Place, Failed> {
        let path = call.path(path)?;
        if path.as_os_str().is_empty() {
            return Err(Failed::With(ENOENT));
        }
        let path = match (path.is_absolute(), folder as u32 as i32) {
            (true, _) => path,
            (false, HERE) => self.folder.join(path),
            (false, _) => {
                let open = self.descriptors.get(folder)?;
                if !open.file.metadata()?.is_dir() {
                    return Err(Failed::With(ENOTDIR));
                }
                open.path.join(path)
            }
        };
        self.seen(path)
    }

    /// What the program must see at a path that leads into the process of the hart.
    fn seen(&self, path: PathBuf) -> Result<Place, Failed> {
        for (number, name) in ["stdin", "stdout", "stderr"].into_iter().enumerate() {
            if path == Path::new("/dev").join(name) {
                return Ok(Place::Descriptor(number as u64));
            }
        }
        let own = format!("/proc/{}", std::process::id());
        let inside = ["/proc/self", "/proc/thread-self", &own].into_iter();
        let inside = inside.filter_map(|root| path.strip_prefix(root).ok()).next();
        let stream = path.strip_prefix("/dev/fd").ok();
        let stream = stream.or_else(|| inside.and_then(|rest| rest.strip_prefix("fd").ok()));
        let stream = stream.and_then(|rest| rest.to_str()?.parse().ok());
        match (stream, inside) {
            (Some(descriptor), _) => Ok(Place::Descriptor(descriptor)),
            (None, Some(rest)) if rest == Path::new("exe") => Ok(Place::Path(self.program.clone())),
            // Those of the program do not exist, and those of the hart are not the program's.
            (None, Some(_)) => Err(Failed::With(ENOENT)),
            (None, None) => Ok(Place::Path(path)),
        }
    }

    /// The path that a call names; streams have none.
    fn path(&self, call: &Call<'_>, folder: u64, path: u64) -> Result<PathBuf, Failed> {
        match self.place(call, folder, path)? {
            Place::Path(path) => Ok(path),
            Place::Descriptor(_) => Err(Failed::With(EINVAL)),
        }
    }

    /// `openat`.
    pub(super) fn open(
        &mut self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        flags: u64,
        mode: u64,
    ) -> Outcome {
        let flags = flags as u32;
        let has = |flag| flags & flag != 0;
        let path = match self.place(call, folder, path)? {
            Place::Path(path) => path,
            Place::Descriptor(other) => return self.descriptors.duplicate(other, 0, false),
        };
        let (read, write) = match flags & flag::ACCESS {
            0 => (true, false),
            1 => (false, true),
            _ => (true, true),
        };
        let path = match write || has(flag::CREATE) || has(flag::TRUNCATE) {
            true => path,
            false => call.sought(path)?,
        };
        // What is given again without its meaning is translated: the numbers of this system may be others.
        let mut custom = OFlags::empty();
        for (flag, own) in [
            (flag::NONBLOCK, OFlags::NONBLOCK),
            (flag::DIRECTORY, OFlags::DIRECTORY),
            (flag::NOFOLLOW, OFlags::NOFOLLOW),
        ] {
            custom.set(own, has(flag));
        }
        // The library adds the others only in combinations that it allows; Linux allows more.
        for (flag, own) in [
            (flag::CREATE, OFlags::CREATE),
            (flag::EXCLUSIVE, OFlags::EXCL),
            (flag::TRUNCATE, OFlags::TRUNC),
            (flag::APPEND, OFlags::APPEND),
        ] {
            custom.set(own, has(flag) && !has(flag::PATH));
        }
        let mut options = OpenOptions::new();
        options.read(read || has(flag::PATH)).write(write && !has(flag::PATH));
        options.custom_flags(custom.bits().cast_signed()).mode(mode as u32 & 0o7777 & !self.umask);
        let file = options.open(&path)?;
        let kept = flags & (flag::ACCESS | flag::APPEND | flag::NONBLOCK | flag::DIRECTORY);
        self.descriptors.add(Arc::new(Open::new(file, path, kept)), 0, has(flag::CLOEXEC))
    }

    /// What is known of the file that a call names, perhaps by an empty path.
    fn found(
        &self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        flags: u64,
    ) -> Result<Metadata, Failed> {
        if flags & EMPTY != 0 && call.path(path)?.as_os_str().is_empty() {
            return match folder as u32 as i32 {
                HERE => Ok(fs::metadata(&self.folder)?),
                _ => Ok(self.descriptors.get(folder)?.file.metadata()?),
            };
        }
        match self.place(call, folder, path)? {
            Place::Descriptor(other) => Ok(self.descriptors.get(other)?.file.metadata()?),
            Place::Path(path) if flags & NOFOLLOW != 0 => {
                Ok(fs::symlink_metadata(call.sought(path)?)?)
            }
            Place::Path(path) => Ok(fs::metadata(call.sought(path)?)?),
        }
    }

    /// `newfstatat`.
    pub(super) fn stat(
        &self,
        call: &mut Call<'_>,
        folder: u64,
        path: u64,
        place: u64,
        flags: u64,
    ) -> Outcome {
        let found = self.found(call, folder, path, flags)?;
        call.give(place, &layout::stat(&found))
    }

    /// `fstat`.
    pub(super) fn stat_of(&self, call: &mut Call<'_>, descriptor: u64, place: u64) -> Outcome {
        let found = self.descriptors.get(descriptor)?.file.metadata()?;
        call.give(place, &layout::stat(&found))
    }

    /// `statx`.
    pub(super) fn statx(
        &self,
        call: &mut Call<'_>,
        folder: u64,
        path: u64,
        flags: u64,
        place: u64,
    ) -> Outcome {
        let found = self.found(call, folder, path, flags)?;
        call.give(place, &layout::statx(&found))
    }

    /// `faccessat`.
    pub(super) fn access(&self, call: &Call<'_>, folder: u64, path: u64, mode: u64) -> Outcome {
        let wanted = Access::from_bits_truncate(mode as u32 & 7);
        match self.place(call, folder, path)? {
            Place::Path(path) => rustix::fs::access(call.sought(path)?, wanted)?,
            Place::Descriptor(other) => drop(self.descriptors.get(other)?),
        }
        Ok(0)
    }

    /// `readlinkat`.
    pub(super) fn read_link(
        &self,
        call: &mut Call<'_>,
        folder: u64,
        path: u64,
        (place, size): (u64, u64),
    ) -> Outcome {
        let name = call.path(path)?;
        // This link leads to the program, and all others of the process to the hart.
        let target = match name == Path::new("/proc/self/exe") {
            true => fs::canonicalize(&self.program)?,
            false => fs::read_link(self.path(call, folder, path)?)?,
        };
        let bytes = target.as_os_str().as_bytes();
        let bytes = bytes.get(..size as usize).unwrap_or(bytes);
        call.give(place, bytes)?;
        Ok(bytes.len() as u64)
    }

    /// `mkdirat`.
    pub(super) fn make_folder(
        &self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        mode: u64,
    ) -> Outcome {
        let path = self.path(call, folder, path)?;
        DirBuilder::new().mode(mode as u32 & 0o7777 & !self.umask).create(path)?;
        Ok(0)
    }

    /// `unlinkat`.
    pub(super) fn unlink(&self, call: &Call<'_>, folder: u64, path: u64, flags: u64) -> Outcome {
        const FOLDER: u64 = 0x200;
        let path = self.path(call, folder, path)?;
        match flags & FOLDER != 0 {
            true => fs::remove_dir(path)?,
            false => fs::remove_file(path)?,
        }
        Ok(0)
    }

    /// `renameat2`.
    pub(super) fn rename(
        &self,
        call: &Call<'_>,
        from: (u64, u64),
        to: (u64, u64),
        flags: u64,
    ) -> Outcome {
        const NOREPLACE: u64 = 1;
        let (from, to) = (self.path(call, from.0, from.1)?, self.path(call, to.0, to.1)?);
        if flags & !NOREPLACE != 0 {
            return Err(Failed::With(EINVAL));
        }
        if flags & NOREPLACE != 0 && fs::symlink_metadata(&to).is_ok() {
            return Err(rustix::io::Errno::EXIST.into());
        }
        fs::rename(from, to)?;
        Ok(0)
    }

    /// `symlinkat`.
    pub(super) fn symlink(&self, call: &Call<'_>, target: u64, folder: u64, path: u64) -> Outcome {
        symlink(call.path(target)?, self.path(call, folder, path)?)?;
        Ok(0)
    }

    /// `linkat`.
    pub(super) fn link(&self, call: &Call<'_>, folder: u64, path: u64, to: (u64, u64)) -> Outcome {
        fs::hard_link(self.path(call, folder, path)?, self.path(call, to.0, to.1)?)?;
        Ok(0)
    }

    /// `truncate`.
    pub(super) fn truncate(&self, call: &Call<'_>, path: u64, length: i64) -> Outcome {
        let path = self.path(call, HERE as u64, path)?;
        let length = u64::try_from(length).map_err(|_| Failed::With(EINVAL))?;
        OpenOptions::new().write(true).open(path)?.set_len(length)?;
        Ok(0)
    }

    /// `getcwd`.
    pub(super) fn current_folder(&self, call: &mut Call<'_>, place: u64, size: u64) -> Outcome {
        let mut bytes = self.folder.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        if bytes.len() as u64 > size {
            return Err(Failed::With(ERANGE));
        }
        call.give(place, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// `chdir`.
    pub(super) fn change_folder(&mut self, call: &Call<'_>, path: u64) -> Outcome {
        let folder = self.path(call, HERE as u64, path)?;
        self.go(&folder)
    }

    /// `fchdir`.
    pub(super) fn change_folder_to(&mut self, descriptor: u64) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        self.go(&open.path)
    }

    fn go(&mut self, folder: &Path) -> Outcome {
        let folder = fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(Failed::With(ENOTDIR));
        }
        rustix::fs::access(&folder, Access::EXEC_OK)?;
        self.folder = folder;
        Ok(0)
    }

    /// `fchmodat`.
    pub(super) fn change_mode(
        &self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        mode: u64,
    ) -> Outcome {
        let path = self.path(call, folder, path)?;
        fs::set_permissions(path, Permissions::from_mode(mode as u32 & 0o7777))?;
        Ok(0)
    }

    /// `fchmod`.
    pub(super) fn change_mode_of(&self, descriptor: u64, mode: u64) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        open.file.set_permissions(Permissions::from_mode(mode as u32 & 0o7777))?;
        Ok(0)
    }

    /// `fchownat`.
    pub(super) fn change_owner(
        &self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        [user, group, flags]: [u64; 3],
    ) -> Outcome {
        let path = self.path(call, folder, path)?;
        let (user, group) = (owner(user), owner(group));
        match flags & NOFOLLOW != 0 {
            true => lchown(path, user, group)?,
            false => chown(path, user, group)?,
        }
        Ok(0)
    }

    /// `fchown`.
    pub(super) fn change_owner_of(&self, descriptor: u64, [user, group]: [u64; 2]) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        std::os::unix::fs::fchown(&open.file, owner(user), owner(group))?;
        Ok(0)
    }

    /// `utimensat`.
    pub(super) fn set_times(
        &self,
        call: &Call<'_>,
        folder: u64,
        path: u64,
        times: u64,
        _flags: u64,
    ) -> Outcome {
        const NOW: i64 = 0x3fff_ffff;
        const OMIT: i64 = 0x3fff_fffe;
        let time = |at: u64| -> Result<Option<SystemTime>, Failed> {
            if times == 0 {
                return Ok(Some(SystemTime::now()));
            }
            match (call.number(at)?, call.number(at.wrapping_add(8))?) {
                (_, NOW) => Ok(Some(SystemTime::now())),
                (_, OMIT) => Ok(None),
                (seconds, nanos) => {
                    let since = Duration::from_secs(seconds.try_into().unwrap_or(0));
                    let nanos = Duration::from_nanos(nanos.try_into().unwrap_or(0));
                    let at = SystemTime::UNIX_EPOCH.checked_add(since.saturating_add(nanos));
                    at.map(Some).ok_or(Failed::With(EINVAL))
                }
            }
        };
        let mut set = FileTimes::new();
        if let Some(accessed) = time(times)? {
            set = set.set_accessed(accessed);
        }
        if let Some(modified) = time(times.wrapping_add(16))? {
            set = set.set_modified(modified);
        }
        // Without a path, the descriptor itself.
        match path {
            0 => self.descriptors.get(folder)?.file.set_times(set)?,
            _ => File::open(self.path(call, folder, path)?)?.set_times(set)?,
        }
        Ok(0)
    }

    /// `pipe2`.
    pub(super) fn pipe(&mut self, call: &mut Call<'_>, place: u64, flags: u64) -> Outcome {
        // Nothing is made if there is no place to tell it.
        if call.memory.read(place, 8).is_none() {
            return Err(Failed::With(EFAULT));
        }
        let (reader, writer) = std::io::pipe()?;
        let (reader, writer): (std::os::fd::OwnedFd, std::os::fd::OwnedFd) =
            (reader.into(), writer.into());
        let (kept, close) = (flags as u32 & flag::NONBLOCK, flags as u32 & flag::CLOEXEC != 0);
        let mut ends = Vec::new();
        for (file, access) in [(File::from(reader), 0), (File::from(writer), 1)] {
            let open = Arc::new(Open::new(file, PathBuf::new(), kept | access));
            ends.extend((self.descriptors.add(open, 0, close)? as u32).to_le_bytes());
        }
        call.give(place, &ends)
    }
}

/// The number of a user or a group; -1 stays as it is.
fn owner(number: u64) -> Option<u32> {
    Some(number as u32).filter(|number| *number != u32::MAX)
}
