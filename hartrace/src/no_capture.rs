//! What is there where a capture was expected, and what to try.

use crate::error::OpenError;
use hartrace_capture::described::{DescribedError, is_compressed};
use hartrace_capture::description::Description;
use hartrace_capture::limits;
use hartrace_capture::params::SetupError;
use hartrace_capture::text::shown;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What a path leads to that is no capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCapture {
    /// Nothing.
    Nothing {
        /// The first folder on the way that does not exist.
        folder: Option<PathBuf>,
        /// Captures in the same folder.
        others: Vec<PathBuf>,
    },
    /// A folder that is no snapshot, no package and no bundle.
    Folder {
        /// Captures in it.
        captures: Vec<PathBuf>,
    },
    /// A file or folder of a snapshot, a package or a bundle, which is this folder.
    Inside(PathBuf),
    /// A description of a capture.
    Description {
        /// The capture.
        capture: PathBuf,
        /// Whether it is there.
        exists: bool,
    },
    /// A file of parameters.
    Parameters,
    /// A program.
    Program,
    /// A compressed file or an archive.
    Packed {
        /// What has made it.
        by: &'static str,
        /// The command that unpacks it.
        unpack: &'static str,
    },
    /// The execution of a program, not yet encoded.
    Execution,
    /// An empty file.
    Empty,
    /// A text.
    Text,
}

/// Captures that are suggested.
const SUGGESTED: usize = 3;

/// Entries of a folder that are looked at.
const ENTRIES: usize = 4096;

/// Bytes by which a text is recognised.
const START: u64 = 1 << 12;

/// The first bytes of packed files, what makes such files, and what unpacks them.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\x1f\x8b\x08", "gzip", "gunzip"),
    (b"\x28\xb5\x2f\xfd", "zstd", "unzstd"),
    (b"\xfd7zXZ\0", "xz", "unxz"),
    (b"BZh", "bzip2", "bunzip2"),
    (b"\x04\x22\x4d\x18", "lz4", "unlz4"),
];

/// The files that make a folder a snapshot, a package or a bundle.
const METADATA: [&str; 2] = ["snapshot.ini", "contents.ini"];

impl NoCapture {
    /// Looks at what cannot be opened as a capture; `None` if `error` has another reason.
    pub(crate) fn find(path: &Path, error: &OpenError) -> Option<Self> {
        match error {
            OpenError::Described(DescribedError::Unreadable { error, .. })
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Self::nothing(path)
            }
            OpenError::Snapshot { .. } if path.is_dir() => Self::folder(path),
            OpenError::Setup { error: SetupError::NoParameters, .. }
            | OpenError::NoProgram
            | OpenError::Program(_) => Self::file(path),
            _ => None,
        }
    }

    /// Judges a file or folder by its looks; `None` if it may be a capture. For what nothing else is known of: a capture may look
    /// like anything.
    pub fn looks(path: &Path) -> Option<Self> {
        if path.is_dir() { Self::folder(path) } else { Self::file(path) }
    }

    fn nothing(path: &Path) -> Option<Self> {
        if path.exists() {
            return None;
        }
        let folders = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
        let folder = folders.filter(|folder| !folder.is_dir()).last().map(Path::to_owned);
        let others = if folder.is_some() { Vec::new() } else { captures(folder_of(path)) };
        Some(Self::Nothing { folder, others })
    }

    fn folder(path: &Path) -> Option<Self> {
        if METADATA.iter().any(|name| path.join(name).exists()) {
            return None;
        }
        Some(whole(path).unwrap_or_else(|| Self::Folder { captures: captures(path) }))
    }

    fn file(path: &Path) -> Option<Self> {
        // What has a description is a capture, whatever it looks like. A pipe can be read only once.
        let described = Description::places(path).iter().any(|place| place.is_file());
        if described || !path.is_file() {
            return None;
        }
        let mut start = Vec::new();
        limits::open(path).ok()?.take(START).read_to_end(&mut start).ok()?;
        if start.is_empty() {
            return Some(Self::Empty);
        }
        if start.starts_with(b"\x7fELF") {
            return Some(Self::Program);
        }
        if start.starts_with(b"HTRACE\r\n") {
            return Some(Self::Execution);
        }
        let packed = PACKED.iter().find(|(first, ..)| start.starts_with(first));
        // A capture whose name says that it is compressed is read as such.
        if let Some((_, by, unpack)) = packed.filter(|_| !is_compressed(path)) {
            return Some(Self::Packed { by, unpack });
        }
        if start.iter().any(|byte| !(byte.is_ascii_graphic() || byte.is_ascii_whitespace())) {
            return None;
        }
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = limits::read_document(path).ok()?;
            let text = String::from_utf8_lossy(&text);
            if let Ok(known) = Description::parse(&text, &shown(path)) {
                let capture = path.with_extension("");
                let exists = capture.is_file();
                return Some(match exists || known.capture.bytes.is_some() {
                    true => Self::Description { capture, exists },
                    false => Self::Parameters,
                });
            }
        }
        Some(whole(path).unwrap_or(Self::Text))
    }
}

/// Looks for a snapshot, a package or a bundle that a path leads into.
fn whole(path: &Path) -> Option<NoCapture> {
    let folder = folder_of(path);
    let is_one = METADATA.iter().any(|name| folder.join(name).is_file());
    is_one.then(|| NoCapture::Inside(folder.to_owned()))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Captures in a folder, by name: files that have a description.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let paths = paths.map(|path| path.with_extension(""));
    let mut found: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    found.sort();
    found.truncate(SUGGESTED);
    // As it would be written there.
    let here = |path: PathBuf| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path);
    found.into_iter().map(here).collect()
}

impl NoCapture {
    /// What it is.
    pub fn what(&self) -> String {
        match self {
            Self::Nothing { folder: Some(folder), .. } => {
                format!("there is no folder {}", shown(folder))
            }
            Self::Nothing { folder: None, .. } => "there is no such file".into(),
            Self::Folder { .. } => {
                "a folder without snapshot.ini or contents.ini, so it is no snapshot, package or bundle".into()
            }
            Self::Inside(_) => "part of a snapshot, a package or a bundle".into(),
            Self::Description { exists: true, .. } => "a description, not the capture".into(),
            Self::Description { exists: false, .. } => "a description".into(),
            Self::Parameters => "a file of parameters, not a capture".into(),
            Self::Program => "a program (ELF), not a capture".into(),
            Self::Packed { by, .. } => format!("a file of {by}, not a capture"),
            Self::Execution => "the execution of a program, not a trace of it".into(),
            Self::Empty => "an empty file".into(),
            Self::Text => "a text, not a capture".into(),
        }
    }

    /// What to open instead.
    pub fn instead(&self) -> String {
        match self {
            Self::Nothing { folder: Some(_), .. } => "another path".into(),
            Self::Nothing { folder: None, others: captures } | Self::Folder { captures } => {
                suggested(captures)
            }
            Self::Inside(whole) => format!("its folder, {}", shown(whole)),
            Self::Description { capture, exists: true } => shown(capture),
            Self::Description { capture, exists: false } => {
                let capture = shown(capture);
                format!("the capture that it describes, {capture}, which is not there")
            }
            Self::Parameters => "the capture, with this as its parameters".into(),
            Self::Program => "its trace, with this as the program".into(),
            Self::Packed { unpack, .. } => format!("the file after `{unpack}`"),
            Self::Execution => "the trace that `hartrace encode` makes of it".into(),
            Self::Empty => "a capture that was written to its end".into(),
            Self::Text => "the trace itself, as the encoder or the probe has written it".into(),
        }
    }
}

impl fmt::Display for NoCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; try {}", self.what(), self.instead())
    }
}

/// Names captures that are there.
fn suggested(captures: &[PathBuf]) -> String {
    match captures {
        [] => "a capture, a bundle, a snapshot or a recording of perf".into(),
        captures => captures.iter().map(|path| shown(path)).collect::<Vec<_>>().join(" or "),
    }
}
