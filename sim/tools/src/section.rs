//! Sections of documents that tests write.
//!
//! A section stands between the lines `<!-- NAME ... -->` and `<!-- end of NAME -->`, which stay. A test compares it
//! with what it would write, and writes it if the variable `HARTRACE_BLESS` is 1.
#![forbid(unsafe_code)]

use std::path::Path;
use std::{env, fs, io};
use thiserror::Error;

/// A section is not as it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The document cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The document.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// There is no such section.
    #[error("{path} has no lines `<!-- {name} ... -->` and `<!-- end of {name} -->`")]
    Missing {
        /// The document.
        path: String,
        /// The name of the section.
        name: String,
    },
    /// The section has another text.
    #[error("{path}, section {name}: `{found}` would be `{expected}`; HARTRACE_BLESS=1 writes it")]
    Differs {
        /// The document.
        path: String,
        /// The name of the section.
        name: String,
        /// The first line that differs.
        found: String,
        /// The line that it would be.
        expected: String,
    },
}

/// Returns whether tests write what they would otherwise compare.
#[must_use]
pub fn bless() -> bool {
    env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1")
}

/// Returns the text of a section.
pub fn read(path: &Path, name: &str) -> Result<String, SectionError> {
    let text = load(path)?;
    let (from, to) = place(path, &text, name)?;
    Ok(text[from..to].trim().to_owned())
}

/// Compares a section with a text, or writes it.
pub fn compare(path: &Path, name: &str, expected: &str) -> Result<(), SectionError> {
    let text = load(path)?;
    let (from, to) = place(path, &text, name)?;
    let (found, expected) = (text[from..to].trim(), expected.trim());
    if found == expected {
        return Ok(());
    }
    let file = |error| SectionError::File { path: path.display().to_string(), error };
    if bless() {
        let whole = format!("{}\n{expected}\n\n{}", &text[..from], &text[to..]);
        return fs::write(path, whole).map_err(file);
    }
    // One text may be the start of the other.
    let end = || Some("the end");
    let mut lines = found.lines().chain(end()).zip(expected.lines().chain(end()));
    let (found, expected) = lines.find(|(found, expected)| found != expected).unwrap_or_default();
    Err(SectionError::Differs {
        path: path.display().to_string(),
        name: name.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
    })
}

fn load(path: &Path) -> Result<String, SectionError> {
    let file = |error| SectionError::File { path: path.display().to_string(), error };
    fs::read_to_string(path).map_err(file)
}

/// Where a section starts and ends.
fn place(path: &Path, text: &str, name: &str) -> Result<(usize, usize), SectionError> {
    let missing =
        || SectionError::Missing { path: path.display().to_string(), name: name.to_owned() };
    let mark = text.find(&format!("<!-- {name} ")).ok_or_else(missing)?;
    let from = mark + text[mark..].find("-->\n").ok_or_else(missing)? + "-->\n".len();
    let end = format!("<!-- end of {name} -->");
    let to = from + text[from..].find(&end).ok_or_else(missing)?;
    Ok((from, to))
}
