//! Descriptions of what has just been traced.

use super::{At, Description, ProgramFile};
use crate::output::{Action, FileError, Output};
use std::path::Path;
use std::{fs, io};

/// A program that was traced.
#[derive(Copy, Clone, Debug)]
pub struct Traced<'a> {
    /// Its file.
    pub path: &'a Path,
    /// The contents of the file.
    pub bytes: &'a [u8],
    /// What kind of file it is, and where its code is.
    pub at: At,
    /// Whether it stays where it is if the capture and what belongs to it are moved, as a library does.
    pub installed: bool,
}

impl<'a> Traced<'a> {
    /// An ELF file at its own addresses.
    pub const fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, bytes, at: At::Bias(0), installed: false }
    }

    /// A library that belongs to the machine, at its addresses plus `bias`.
    pub const fn installed(path: &'a Path, bytes: &'a [u8], bias: u64) -> Self {
        Self { path, bytes, at: At::Bias(bias), installed: true }
    }

    /// Describes it in the file `description`, with a path relative to it.
    fn beside(&self, description: &Path) -> Result<ProgramFile, FileError> {
        let folder = description.parent().unwrap_or(Path::new(""));
        let relative = |path: &Path, folder: &Path| {
            let path = pathdiff::diff_paths(path, folder)?;
            folder.join(&path).is_file().then_some(path)
        };
        let absolute = |path: &Path| fs::canonicalize(path).ok();
        // As given, if that leads there; symbolic links may be in the way.
        let given = relative(self.path, folder).filter(|_| !self.installed);
        let path = given.or_else(|| {
            if self.installed {
                return None;
            }
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            relative(&absolute(self.path)?, &absolute(folder)?)
        });
        let path = path.or_else(|| absolute(self.path)).unwrap_or_else(|| self.path.into());
        // Another name would lead to another file, or to none.
        let name = path.to_str().ok_or_else(|| FileError {
            name: self.path.display().to_string(),
            action: Action::Write,
            error: io::Error::other("a description cannot hold a name that is not UTF-8"),
        })?;
        Ok(ProgramFile::new(name, self.at, self.bytes))
    }
}

impl Description {
    /// The description of a capture that `command`, its words, has made, of `programs`.
    ///
    /// # Errors
    ///
    /// If the name of a program is not UTF-8.
    pub fn made_by(
        mut self,
        capture: &Path,
        command: impl IntoIterator<Item = String>,
        programs: &[Traced<'_>],
    ) -> Result<Self, FileError> {
        let place = Self::place(capture);
        let words: Vec<String> = command.into_iter().map(quoted).collect();
        self.command = Some(words.join(" "));
        self.programs =
            programs.iter().map(|traced| traced.beside(&place)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Writes the description of a capture beside it. [`CaptureOutput`](crate::output::CaptureOutput) writes both.
    ///
    /// # Errors
    ///
    /// If the file, which is at [`Description::place`], cannot be written.
    pub fn write(&self, capture: &Path) -> Result<(), FileError> {
        Output::write(&Self::place(capture), self.to_string())
    }
}

/// A word as a shell reads it.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["run", "a b", "", "it's", "x=1"].map(|word| quoted(word.into()));
        assert_eq!(words, ["run", "'a b'", "''", r"'it'\''s'", "x=1"]);
    }
}
