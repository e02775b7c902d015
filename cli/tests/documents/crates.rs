//! What is generated from the packages themselves: `docs/crates.md` from their descriptions, and the page that crates.io
//! shows of each from the documentation of the crate.

use libtest_mimic::Failed;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str = "\
<!-- Written by `HARTRACE_BLESS=1 ./test.sh docs` from the manifests of the packages; changes here are lost. -->

# Crates

Dependencies point one way: `packets` know nothing of `decoder`, `golden` and hardware, and only `cli` and `tests` know
everything. `packets/*` and `decoder/isa` need neither `std` nor `alloc`. Fuzz targets are in `fuzz` and
the Python package is in `python`, each a workspace of its own.

| folder | crate | job |
| --- | --- | --- |
";

const PAGE_HEAD: &str = "\
<!-- Written by `HARTRACE_BLESS=1 ./test.sh docs` from the documentation of the crate; changes here are lost. -->
";

const PAGE_TAIL: &str = "
---

Part of [hartrace](https://github.com/hartrace/hartrace), the processor trace toolkit, whose documents are named here by their paths.
Licensed under Apache-2.0 or MIT, as you like.
";

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    folder: String,
    description: String,
    /// Of its library, if it is for others to depend on.
    published: Option<PathBuf>,
}

/// The packages of the workspace, as Cargo knows them, by folder.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>, Failed> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array().ok_or("no packages")? {
        let text = |key: &str| -> Result<String, String> {
            let text = package[key].as_str().ok_or(format!("{}: no {key}", package["name"]))?;
            Ok(text.to_owned())
        };
        let manifest = PathBuf::from(text("manifest_path")?);
        let folder = manifest.parent().ok_or("no folder")?.strip_prefix(root)?;
        let (name, description) = (text("name")?, text("description")?);
        let library = package["targets"].as_array().into_iter().flatten().find(|target| {
            target["kind"].as_array().is_some_and(|kinds| kinds.contains(&Value::from("lib")))
        });
        // An empty list is a package that stays here.
        let published = library
            .filter(|_| package["publish"].is_null())
            .and_then(|target| target["src_path"].as_str())
            .map(PathBuf::from);
        let folder = folder.display().to_string();
        packages.push(Package { name, folder, description, published });
    }
    packages.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(packages)
}

/// Compares the table with the manifests, or writes it.
pub(crate) fn table(root: &Path, bless: bool) -> Result<(), Failed> {
    let mut table = HEAD.to_owned();
    for Package { folder, name, description, .. } in packages(root)? {
        table += &format!("| `{folder}` | `{name}` | {description} |\n");
    }
    generated(root, "docs/crates.md", &table, bless)
}

/// Compares the pages of the published packages with the documentation of their libraries, or writes them.
pub(crate) fn pages(root: &Path, bless: bool) -> Result<(), Failed> {
    let mut pages = 0;
    for package in packages(root)? {
        let Some(library) = &package.published else { continue };
        let text = page(&package.name, &std::fs::read_to_string(library)?)?;
        generated(root, &format!("{}/README.md", package.folder), &text, bless)?;
        pages += 1;
    }
    if pages == 0 {
        return Err("no package is published".into());
    }
    Ok(())
}

/// Compares a file with what it should be, or writes it.
pub(crate) fn generated(root: &Path, path: &str, text: &str, bless: bool) -> Result<(), Failed> {
    if bless {
        std::fs::write(root.join(path), text)?;
    } else if std::fs::read_to_string(root.join(path)).unwrap_or_default() != text {
        let problem = format!("{path} is not what the packages say; HARTRACE_BLESS=1 writes it");
        return Err(problem.into());
    }
    Ok(())
}

/// The documentation at the head of a library, as a page of its own: what only rustdoc understands becomes plain.
fn page(name: &str, library: &str) -> Result<String, Failed> {
    let lines = library.lines().take_while(|line| line.starts_with("//!"));
    let lines = lines.map(|line| line[3..].strip_prefix(' ').unwrap_or(&line[3..]));
    let mut text = format!("{PAGE_HEAD}\n# {name}\n\n");
    let (mut code, mut examples) = (None, 0);
    for line in lines {
        if let Some(language) = line.strip_prefix("```") {
            code = match code {
                Some(_) => None,
                None => Some(matches!(language, "" | "no_run")),
            };
            examples += usize::from(code == Some(true));
            text += if code == Some(true) { "```rust" } else { line };
        } else if code.is_some() {
            // Lines that make the example complete, and that nobody has to see.
            if line == "#" || line.starts_with("# ") {
                continue;
            }
            text += line;
        } else if line.starts_with('[') && line.contains("]: ") {
            // The target of a link to an item.
            continue;
        } else {
            if line.starts_with("# ") {
                text.push('#');
            }
            text += &plain(line);
        }
        text.push('\n');
    }
    if examples == 0 {
        return Err(format!("{name}: the documentation of the crate has no example").into());
    }
    let text = text.trim_end();
    Ok(format!("{text}\n{PAGE_TAIL}"))
}

/// A line without links to items: `[name](path)` and `[name]` become their names.
fn plain(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('[') {
        text += before;
        let Some((name, after)) = after.split_once(']') else {
            return text + "[" + after;
        };
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = match target {
            // A file or an address, not an item.
            Some((target, after)) if target.contains(['/', '.']) => {
                text += &format!("[{name}]({target})");
                after
            }
            Some((_, after)) => {
                text += name;
                after
            }
            None if name.starts_with('`') => {
                text += name;
                after
            }
            None => {
                text += &format!("[{name}]");
                after
            }
        };
    }
    // Names that were put together from several links.
    (text + rest).replace("``", "")
}
