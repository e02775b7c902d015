//! The documents are true: every console block of every Markdown file is executed, and its output compared.
//!
//! A ```` ```console ```` block holds commands after `$ `, their continuation lines after `> `, and what they
//! print on standard output and standard error. `[..]` stands for any text within a line, a line `...` for any
//! lines. A command that fails without a handler (`|| …`, `; …`) fails the test. The blocks of one document are
//! executed in order, by one shell, in a fresh folder that has `tests` in it: as its reader pastes them.
//!
//! ```` ```console needs=verilator ```` names what a machine may lack: a command, or one of [`needs::Need`]. Without
//! it the block shows as ignored.
//!
//! ```` ```rust file=tests/examples/x.rs ```` quotes a file, which must have this text.
//!
//! Files of the repository and packages that a document names between backticks exist.
//!
//! `HARTRACE_BLESS=1` writes the output of commands, quoted files and the table of crates into the documents, and the pages and
//! interfaces of crates.
//! Elisions that still match stay.

mod crates;
mod document;
mod fences;
mod figures;
mod interfaces;
mod names;
mod needs;
mod session;

use document::Document;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() -> Result<(), Failed> {
    let args = Arguments::from_args();
    let bless = std::env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1");
    let mut trials = vec![
        Trial::test("docs/crates.md", move || crates::table(&repository(), bless)),
        Trial::test("pages of crates", move || crates::pages(&repository(), bless)),
        Trial::test("README.md: area", || figures::area(&repository())),
    ];
    trials.extend(interfaces::trials(&repository(), bless));
    for path in documents(&repository())? {
        let document = Arc::new(Document::read(&repository(), &path)?);
        if bless {
            trials.push(Trial::test(document.name().to_owned(), move || document.bless()));
        } else {
            trials.extend(document::trials(&document));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

/// The root of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// The Markdown files of the repository, relative to it, in order.
fn documents(root: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let (entry, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
            let name = entry.to_string_lossy();
            if path.is_symlink() {
                // The same elsewhere.
            } else if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                found.push(path.strip_prefix(root)?.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}
