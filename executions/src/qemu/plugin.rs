//! The plugin: a C file in this crate, compiled when it is first needed.

use crate::qemu::QemuError;
use hartrace_capture::output::Scratch;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

const SOURCE: &str = include_str!("plugin.c");

/// Compiles the plugin into `folder`.
pub(crate) fn compile(folder: &Scratch) -> Result<PathBuf, QemuError> {
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
