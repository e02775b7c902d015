//! The plugin: a C file in this crate, compiled when it is first needed.

use crate::qemu::QemuError;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, io, process};

const SOURCE: &str = include_str!("plugin.c");

/// A private folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates a folder that nobody else may enter, because its contents are loaded into QEMU.
    pub(crate) fn new() -> Result<Self, QemuError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("hartrace-{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left over from an earlier process with the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(QemuError::io("cannot create a folder")(error)),
            }
        }
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing can be done about it here, and the run itself succeeded.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles the plugin into `folder`.
pub(crate) fn compile(folder: &Folder) -> Result<PathBuf, QemuError> {
    let (source, library) = (folder.join("plugin.c"), folder.join("plugin.so"));
    fs::write(&source, SOURCE).map_err(QemuError::io("cannot write the plugin"))?;
    let cc = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-o"])
        .args([&library, &source])
        .output();
    match cc {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(QemuError::Compiler(text.lines().next().unwrap_or("no message").into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(QemuError::NoCompiler),
        Err(error) => Err(QemuError::io("cannot start cc")(error)),
    }
}

/// Escapes a path in an option of QEMU, where a comma would end it.
pub(crate) fn escape(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}
