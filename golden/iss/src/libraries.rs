//! Files that a dynamically linked program finds for itself: its dynamic linker and its libraries.

use crate::abi::{errno, stat_of_folder};
use crate::files::text_at;
use crate::hart::Hart;
use std::fmt;
use std::path::PathBuf;

/// Looks for files and folders of this machine by the names that the program opens.
type Find = Box<dyn Fn(&str) -> Option<PathBuf> + Send>;

/// The files of a dynamically linked program.
pub(crate) struct Libraries {
    find: Find,
    /// The path of the program, which its libraries may be relative to.
    executable: String,
}

impl fmt::Debug for Libraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Libraries").field("executable", &self.executable).finish_non_exhaustive()
    }
}

impl Libraries {
    /// The file or folder under a name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<PathBuf> {
        (self.find)(std::str::from_utf8(name).ok()?)
    }

    /// The same for a file, with its contents.
    pub(crate) fn read(&self, name: &[u8]) -> Option<Vec<u8>> {
        let path = self.find(name).filter(|path| path.is_file())?;
        std::fs::read(path).ok()
    }
}

impl Hart {
    /// Sets where the program at the path `executable` finds its dynamic linker and its libraries in the Linux environment:
    /// the files of this machine that `find` returns for absolute names, besides those of
    /// [`Environment::Linux`](crate::Environment::Linux) or before those of [`share`](Self::share), for reading only.
    /// Without, dynamically linked programs are refused.
    pub fn set_libraries(
        &mut self,
        executable: impl Into<String>,
        find: impl Fn(&str) -> Option<PathBuf> + Send + 'static,
    ) {
        self.host.libraries =
            Some(Libraries { find: Box::new(find), executable: executable.into() });
    }

    /// `readlinkat`: only the link to the program itself exists.
    pub(crate) fn read_link(&mut self, path: u64, place: u64, size: u64) -> u64 {
        let Some(name) = text_at(&self.memory, path) else { return errno(14) };
        let libraries = self.host.libraries.as_ref().filter(|_| name == b"/proc/self/exe");
        let Some(libraries) = libraries else { return errno(2) };
        let text = libraries.executable.as_bytes();
        let text = text.get(..usize::try_from(size).unwrap_or(usize::MAX)).unwrap_or(text).to_vec();
        match self.give(place, &text) {
            0 => text.len() as u64,
            error => error,
        }
    }

    /// Writes `struct stat` of a folder, if there is one of this name.
    pub(crate) fn stat_folder(&mut self, name: &[u8], place: u64) -> u64 {
        match self.host.libraries.as_ref().and_then(|libraries| libraries.find(name)) {
            Some(path) if path.is_dir() => self.give(place, &stat_of_folder()),
            _ => errno(2),
        }
    }
}
