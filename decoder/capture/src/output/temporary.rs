//! Temporary files, which vanish however the process ends.
//!
//! Whoever writes a temporary file holds a lock on it. One whose lock can be taken is left over from a process that was
//! killed, and belongs to nobody.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files and folders of this process.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What temporary files end in.
const PART: &str = ".part";

/// The longest name that is kept whole: file systems have 255 bytes for it and for what is added.
const LONGEST_NAME: usize = 160;

/// Removes the temporary files and folders of this process, which then has to end: whoever starts or completes a file
/// after this waits for ever.
pub fn remove_temporaries() {
    let live = live();
    live.iter().for_each(|path| remove(path));
    mem::forget(live);
}

/// Holds signals off while files take their places: see [`remove_temporaries`].
pub(super) fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a file or a folder. If that fails, there is nobody to tell.
pub(super) fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}

/// A number that no other temporary file of this process has.
pub(super) fn number() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A file that will take the place of another.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    file: File,
    place: PathBuf,
    /// Whether something is at its place that must not be lost before this is on the disk.
    replaces: bool,
    /// Whether it is removed if it never takes its place.
    vanishes: bool,
}

impl Temporary {
    /// A hidden file beside `place`, after removing those that killed processes have left there.
    pub(super) fn beside(place: PathBuf) -> io::Result<Self> {
        let (folder, name) = (folder(&place), short_name(&place));
        sweep(folder, &format!(".{name}."), PART);
        Self::make(place, true, |_, folder| folder.join(format!(".{name}.{}{PART}", number())))
    }

    /// A file that everybody can see beside `place`, and that stays if the process is killed.
    pub(super) fn visible(place: PathBuf) -> io::Result<Self> {
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        Self::make(place, false, |attempt, folder| {
            let mut name = name.clone();
            if attempt > 0 {
                name.push(format!("-{attempt}"));
            }
            folder.join(name)
        })
    }

    fn make(
        place: PathBuf,
        vanishes: bool,
        path: impl Fn(u32, &Path) -> PathBuf,
    ) -> io::Result<Self> {
        // A file that must not be written must not be replaced either.
        let old = match File::options().write(true).open(&place) {
            Ok(file) => Some(file.metadata()?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let folder = folder(&place);
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let (path, file) =
            owned(|attempt| path(attempt, folder), create).map_err(|error| {
                match (error.kind(), &old) {
                    (ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem, Some(_)) => {
                        let what =
                            format!("a new file has to be made in its folder first: {error}");
                        io::Error::new(error.kind(), what)
                    }
                    _ => error,
                }
            })?;
        if !vanishes {
            live().remove(&path);
        }
        let temporary = Self { path, file, place, replaces: old.is_some(), vanishes };
        if let Some(old) = old {
            temporary.file.set_permissions(old.permissions())?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                // Only a privileged user can give a file away; for others, it is theirs from now on.
                let _ = fchown(&temporary.file, Some(old.uid()), Some(old.gid()));
            }
        }
        Ok(temporary)
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that the contents are on the disk, where losing them would lose more than themselves.
    pub(super) fn sync(&self) -> io::Result<()> {
        if self.replaces { self.file.sync_data() } else { Ok(()) }
    }

    /// Takes its place.
    pub(super) fn put(&mut self) -> io::Result<()> {
        self.sync()?;
        let mut live = live();
        self.rename(&mut live, &self.place.clone())?;
        live.remove(&self.place);
        Ok(())
    }

    /// Takes another name, by which it is removed from now on if anything fails.
    pub(super) fn rename(&mut self, live: &mut BTreeSet<PathBuf>, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        live.remove(&self.path);
        live.insert(to.to_owned());
        self.path = to.to_owned();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        live().remove(&self.path);
        let is_empty = || self.file.metadata().is_ok_and(|found| found.len() == 0);
        if self.path != self.place && (self.vanishes || is_empty()) {
            remove(&self.path);
        }
    }
}

/// Creates something at the first path that is not taken, and locks it.
pub(super) fn owned(
    path: impl Fn(u32) -> PathBuf,
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(PathBuf, File)> {
    for attempt in 0..=u32::MAX {
        let path = path(attempt);
        let mut live = live();
        let file = match create(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        live.insert(path.clone());
        // Where there are no locks, nobody else can take one either.
        let _ = file.lock();
        // Another process may have taken the lock first, and removed what it took for a left-over.
        if is_at(&file, &path) {
            return Ok((path, file));
        }
        live.remove(&path);
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        file.metadata().ok().map(identity) == path.metadata().ok().map(identity)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// Removes what belongs to nobody in a folder, of names that start and end so.
pub(super) fn sweep(folder: &Path, start: &str, end: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let between = name.to_str().and_then(|name| name.strip_prefix(start)?.strip_suffix(end));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        // Opening anything else, such as a pipe, might wait.
        let is_ours = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if is_ours
            && between.is_some_and(is_number)
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            remove(&entry.path());
        }
    }
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of a file, or the start of a long one, for names that are derived from it.
pub(super) fn short_name(path: &Path) -> String {
    let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    while name.len() > LONGEST_NAME {
        name.pop();
    }
    name
}

/// Returns what a path leads to, through symbolic links, even if it is not there yet.
pub(super) fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => {
                let name = path.file_name().map(OsString::from);
                return name.map(|_| path).ok_or_else(|| ErrorKind::InvalidInput.into());
            }
        }
    }
    Err(io::Error::other("too many symbolic links"))
}
