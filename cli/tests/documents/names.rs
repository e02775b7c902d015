//! Checks that what documents name exists: files and folders of the repository, packages, and headings of links.

use crate::crates;
use libtest_mimic::Failed;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Checks the names in a document, whose lines these are.
pub(crate) fn check(root: &Path, name: &str, lines: &[String]) -> Result<(), Failed> {
    static PACKAGES: OnceLock<BTreeSet<String>> = OnceLock::new();
    if PACKAGES.get().is_none() {
        let names = crates::packages(root)?.into_iter().map(|package| package.name);
        PACKAGES.get_or_init(|| names.collect());
    }
    let packages = PACKAGES.get().ok_or("no packages")?;
    let mut wrong = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mut say = |what: String| wrong.push(format!("{name}:{}: {what}", number + 1));
        for word in quoted(line) {
            if is_path(root, word) && !root.join(word).exists() {
                say(format!("there is no `{word}`"));
            }
            let package = word.split("::").next().unwrap_or_default().replace('_', "-");
            let plain =
                package.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            if plain && package.starts_with("hartrace-") && !packages.contains(&package) {
                say(format!("there is no package `{package}`"));
            }
        }
        for (file, heading) in anchors(line) {
            let file = match file {
                "" => root.join(name),
                file => root.join(name).with_file_name("").join(file),
            };
            // Whether the file exists is checked with all links.
            if fs::read_to_string(file).is_ok_and(|text| !has_heading(&text, heading)) {
                say(format!("no heading for #{heading}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The texts between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a word looks like a path from the root of the repository.
fn is_path(root: &Path, word: &str) -> bool {
    let plain =
        word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c));
    let folder = word.split_once('/').map(|(folder, _)| folder);
    let other = ["", ".", "target"];
    plain && folder.is_some_and(|folder| !other.contains(&folder) && root.join(folder).is_dir())
}

/// Files and headings of the links of a line, `[text](file#heading)`.
fn anchors(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains(':')).filter_map(|target| target.split_once('#'))
}

/// Whether a Markdown text has a heading with this identifier.
fn has_heading(text: &str, wanted: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| identifier(line.trim_start_matches('#').trim())).any(|id| id == wanted)
}

/// The identifier that a heading gets: lower case, hyphens for blanks, no punctuation.
fn identifier(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}
