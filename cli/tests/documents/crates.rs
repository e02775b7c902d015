//! `docs/crates.md`, which is generated from the description of each package.

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

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    folder: String,
    description: String,
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
        packages.push(Package { name, folder: folder.display().to_string(), description });
    }
    packages.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(packages)
}

/// Compares the table with the manifests, or writes it.
pub(crate) fn table(root: &Path, bless: bool) -> Result<(), Failed> {
    let mut table = HEAD.to_owned();
    for Package { folder, name, description } in packages(root)? {
        table += &format!("| `{folder}` | `{name}` | {description} |\n");
    }
    let path = root.join("docs/crates.md");
    if bless {
        std::fs::write(path, table)?;
    } else if std::fs::read_to_string(path)? != table {
        return Err(
            "docs/crates.md is not what the manifests say; HARTRACE_BLESS=1 writes it".into()
        );
    }
    Ok(())
}
