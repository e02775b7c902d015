//! Which paths lead to the same file, whatever they are called.

use std::fs;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;

/// What makes two paths the same file, whatever they are called.
#[cfg(unix)]
pub(crate) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(crate) type Identity = PathBuf;

/// Returns whether a path names standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns whether the path of an output names standard output, also as a file of this process. Opening that would start
/// at the beginning of what the shell has redirected it to.
pub fn is_standard_output(path: &Path) -> bool {
    let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    is_standard(path) || names.iter().any(|name| path == Path::new(name))
}

/// The identity of an open file, if it is a regular one.
#[cfg(unix)]
pub(crate) fn of_open(file: impl std::os::fd::AsFd) -> Option<Identity> {
    let file = file.as_fd().try_clone_to_owned().map(fs::File::from);
    of(&file.and_then(|file| file.metadata()).ok()?)
}

/// The identity of a regular file; nothing else is destroyed by writing.
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    if is_standard_output(path) {
        return None;
    }
    let found = fs::metadata(path).ok()?;
    #[cfg(unix)]
    return of(&found);
    #[cfg(not(unix))]
    return fs::canonicalize(path).ok().filter(|_| found.is_file());
}

#[cfg(unix)]
fn of(found: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    found.is_file().then(|| (found.dev(), found.ino()))
}
