//! Private folders for what other programs read and write.

use super::temporary::{live, number, owned, remove, sweep};
use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::{env, mem};

const START: &str = "hartrace-";
const END: &str = ".scratch";

/// A folder that nobody else may enter, among temporary files; removed when dropped, or when the process ends.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Holds the lock, which says that somebody uses it.
    _file: File,
}

impl Scratch {
    /// Creates a folder, after removing those that killed processes have left.
    ///
    /// # Errors
    ///
    /// If none can be created.
    pub fn new() -> io::Result<Self> {
        let temporary = env::temp_dir();
        sweep(&temporary, START, END);
        let create = |path: &Path| {
            #[allow(unused_mut, reason = "only Unix has modes")]
            let mut builder = DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(path)?;
            File::open(path)
        };
        let path = |_| temporary.join(format!("{START}{}{END}", number()));
        let (path, file) = owned(path, create)?;
        Ok(Self { path, _file: file })
    }

    /// The path of a file in it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let path = mem::take(&mut self.path);
        live().remove(&path);
        remove(&path);
    }
}
