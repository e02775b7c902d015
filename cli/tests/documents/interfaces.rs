//! `api.txt` of the crates that others embed: a change of what is public is seen, and meant.

use crate::crates::generated;
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;

/// Crate and folder.
const CRATES: [(&str, &str); 7] = [
    ("hartrace", "hartrace"),
    ("hartrace-bits", "packets/bits"),
    ("hartrace-encap", "packets/encap"),
    ("hartrace-etmv4", "packets/etmv4"),
    ("hartrace-etrace", "packets/etrace"),
    ("hartrace-isa", "decoder/isa"),
    ("hartrace-ptm", "packets/ptm"),
];

/// The release of Rust whose rustdoc writes what `public-api` reads: that format changes with releases.
const RELEASE: &str = "1.95.";

/// One for each crate; with another release of Rust they show as ignored.
pub(crate) fn trials(root: &Path, bless: bool) -> Vec<Trial> {
    let version = Command::new("rustc").arg("--version").output();
    let known = version.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().nth(1).is_some_and(|version| version.starts_with(RELEASE))
    });
    let trial = |(name, folder)| {
        let root = root.to_owned();
        let check = move || {
            let text = interface(&root, name)?;
            generated(&root, &format!("{folder}/api.txt"), &text, bless)
        };
        Trial::test(format!("{folder}/api.txt"), check).with_ignored_flag(!known)
    };
    CRATES.into_iter().map(trial).collect()
}

/// Everything public of a crate, a line each.
fn interface(root: &Path, name: &str) -> Result<String, Failed> {
    // A folder of its own: the variable for rustdoc would have other crates built anew.
    let target = root.join("target/interfaces");
    let cargo = Path::new(env!("CARGO"));
    let output = Command::new(cargo)
        .args(["rustdoc", "--quiet", "--lib", "--all-features", "--package", name, "--target-dir"])
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format", "json"])
        .env("RUSTC_BOOTSTRAP", "1")
        // Not those that rustup takes for a package with a `rust-toolchain` of its own.
        .env("RUSTC", cargo.with_file_name("rustc"))
        .env("RUSTDOC", cargo.with_file_name("rustdoc"))
        .env_remove("RUSTDOCFLAGS")
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let json = target.join(format!("doc/{}.json", name.replace('-', "_")));
    let interface = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(interface.to_string())
}
