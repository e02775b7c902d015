//! Which source files a page may hold.
//!
//! Debug information names any file, and a page is sent around. So it holds only files below folders that were chosen: those
//! of the programs, and others that the caller names.

use serde::Serialize;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Bytes of a file.
const LARGEST: u64 = 1 << 20;

/// Folders with sources.
#[derive(Clone, Debug, Default)]
pub struct SourceRoots {
    /// Folders of programs.
    programs: Vec<PathBuf>,
    given: Vec<PathBuf>,
}

/// Why a source file is not in a page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LeftOut {
    /// It is not below any of the folders.
    Outside,
    /// There is no such file.
    Missing,
    /// It is no file, or no text.
    NotText,
    /// It is large, or the page is full.
    TooLarge,
}

impl SourceRoots {
    /// The folders of `programs`, which are files, and further folders.
    pub fn new<'a>(programs: impl IntoIterator<Item = &'a Path>, given: &[PathBuf]) -> Self {
        let folder = |program: &'a Path| match program.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
            folder => folder,
        };
        let real = |folder: &Path| fs::canonicalize(folder).ok().filter(|real| real.is_dir());
        let mut folders: Vec<_> =
            programs.into_iter().filter_map(folder).filter_map(real).collect();
        // Everything is below the root.
        folders.retain(|folder| folder.parent().is_some());
        folders.dedup();
        Self { programs: folders, given: given.iter().filter_map(|folder| real(folder)).collect() }
    }

    /// Reads a source file. A relative name is looked for in every folder. An absolute one has to be below a folder; the folders
    /// that were named may also be another place for it: `/build/a/b.c` is then `a/b.c` or `b.c` there.
    pub(super) fn read(&self, name: &str) -> Result<String, LeftOut> {
        let name = Path::new(name);
        let mut reason = LeftOut::Outside;
        for path in self.candidates(name) {
            match self.read_one(&path) {
                Ok(text) => return Ok(text),
                // The most helpful reason is that of a file that is there.
                Err(LeftOut::Missing) if reason != LeftOut::Outside => {}
                Err(LeftOut::Outside) => {}
                Err(other) => reason = other,
            }
        }
        Err(reason)
    }

    /// Where a file may be.
    fn candidates(&self, name: &Path) -> Vec<PathBuf> {
        let roots = self.programs.iter().chain(&self.given);
        if name.is_relative() {
            return roots.map(|root| root.join(name)).collect();
        }
        let parts: Vec<Component<'_>> =
            name.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let ends = (0..parts.len()).filter_map(|skipped| parts.get(skipped..));
        let ends: Vec<PathBuf> = ends.map(|end| end.iter().collect()).collect();
        let elsewhere = self.given.iter().flat_map(|root| ends.iter().map(|end| root.join(end)));
        std::iter::once(name.to_owned()).chain(elsewhere).collect()
    }

    /// Reads a file that is below a folder, also when all links are followed.
    fn read_one(&self, path: &Path) -> Result<String, LeftOut> {
        let roots = || self.programs.iter().chain(&self.given);
        let Ok(real) = fs::canonicalize(path) else {
            // Whether a file exists elsewhere is nobody's business.
            let upwards = path.components().any(|part| part == Component::ParentDir);
            let inside = !upwards && roots().any(|root| path.starts_with(root));
            return Err(if inside { LeftOut::Missing } else { LeftOut::Outside });
        };
        if !self.holds(&real) {
            return Err(LeftOut::Outside);
        }
        // A pipe would never end.
        if !fs::metadata(&real).is_ok_and(|known| known.is_file()) {
            return Err(LeftOut::NotText);
        }
        let mut bytes = Vec::new();
        let file = hartrace_capture::input::open(&real).map_err(|_| LeftOut::Missing)?;
        let limit = LARGEST.saturating_add(1);
        file.take(limit).read_to_end(&mut bytes).map_err(|_| LeftOut::NotText)?;
        if bytes.len() as u64 > LARGEST {
            return Err(LeftOut::TooLarge);
        }
        String::from_utf8(bytes).map_err(|_| LeftOut::NotText)
    }

    /// Whether a file, with no links in its path, is below a folder. A program may be in somebody's home: what is hidden
    /// there, such as keys, is no source.
    fn holds(&self, real: &Path) -> bool {
        let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let below = |root: &PathBuf| {
            real.strip_prefix(root).is_ok_and(|rest| !rest.components().any(is_hidden))
        };
        self.programs.iter().any(below) || self.given.iter().any(|root| real.starts_with(root))
    }

    /// Whether a file that a page leaves out exists: then another folder would help.
    pub(super) fn would_help(&self, name: &str) -> bool {
        self.programs.iter().any(|root| root.join(name).is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a program, sources beside and outside of it, and what leads from one to the other.
    fn tree(name: &str) -> PathBuf {
        let tree =
            std::env::temp_dir().join(format!("hartrace-roots-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&tree);
        for folder in ["build/src", "build/.hidden", "other/src"] {
            fs::create_dir_all(tree.join(folder)).unwrap();
        }
        let hidden = ["build/.hidden/key", "build/src/.env"];
        for file in ["build/a.elf", "build/src/in.c", "other/src/out.c"].iter().chain(&hidden) {
            fs::write(tree.join(file), file).unwrap();
        }
        fs::write(tree.join("build/large.c"), vec![b' '; LARGEST as usize + 1]).unwrap();
        fs::write(tree.join("build/binary.c"), [0xff]).unwrap();
        fs::canonicalize(&tree).unwrap()
    }

    #[test]
    fn only_files_below_the_folders() {
        let tree = tree("below");
        let program = tree.join("build/a.elf");
        let text = |path: &str| tree.join(path).to_str().unwrap().to_owned();
        let roots = SourceRoots::new([&*program], &[]);
        assert_eq!(roots.read("src/in.c").as_deref(), Ok("build/src/in.c"));
        assert_eq!(roots.read("./src/in.c").as_deref(), Ok("build/src/in.c"));
        assert_eq!(roots.read(&text("build/src/in.c")).as_deref(), Ok("build/src/in.c"));
        assert_eq!(roots.read(&text("other/../build/src/in.c")).as_deref(), Ok("build/src/in.c"));
        let outside =
            [text("other/src/out.c"), text("build/../other/src/out.c"), text("other/no.c")];
        let known = ["/etc/passwd", "../other/src/out.c", "", "/"].map(str::to_owned);
        for name in outside.iter().chain(&known) {
            assert!(matches!(roots.read(name), Err(LeftOut::Outside | LeftOut::NotText)), "{name}");
        }
        for (name, reason) in [
            ("src/no.c", LeftOut::Missing),
            ("no\0name", LeftOut::Missing),
            ("../no.c", LeftOut::Outside),
            (".hidden/key", LeftOut::Outside),
            ("src/.env", LeftOut::Outside),
            ("src", LeftOut::NotText),
            ("binary.c", LeftOut::NotText),
            ("large.c", LeftOut::TooLarge),
        ] {
            assert_eq!(roots.read(name), Err(reason), "{name}");
        }
        // A program at the root does not open everything, and what is named may be hidden.
        assert!(SourceRoots::new([Path::new("/a.elf")], &[]).programs.is_empty());
        let named = SourceRoots::new([&*program], &[tree.join("build/.hidden")]);
        assert_eq!(named.read("key").as_deref(), Ok("build/.hidden/key"));
        // A name that leads upwards is followed from the folder of the program.
        let roots_of = |given: &str| SourceRoots::new([&*program], &[tree.join(given)]);
        assert_eq!(roots_of("other").read("../other/src/out.c").as_deref(), Ok("other/src/out.c"));
        // Another folder may be named, and may be another place for what was elsewhere.
        let roots = roots_of("other");
        assert_eq!(roots.read(&text("other/src/out.c")).as_deref(), Ok("other/src/out.c"));
        assert_eq!(roots.read("/build/her/src/out.c").as_deref(), Ok("other/src/out.c"));
        assert_eq!(roots.read("/etc/passwd"), Err(LeftOut::Missing));
        fs::remove_dir_all(tree).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn no_links_to_other_places_and_no_pipes() {
        let tree = tree("links");
        let program = tree.join("build/a.elf");
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, tree.join(name)).unwrap();
        link("../other/src/out.c", "build/link.c");
        link("/etc", "build/etc");
        link("/dev/zero", "build/zero.c");
        link("src/in.c", "build/same.c");
        let pipe = std::process::Command::new("mkfifo").arg(tree.join("build/pipe.c")).status();
        let roots = SourceRoots::new([&*program], &[]);
        for name in ["link.c", "etc/passwd", "zero.c"] {
            assert_eq!(roots.read(name), Err(LeftOut::Outside), "{name}");
        }
        if pipe.is_ok_and(|status| status.success()) {
            assert_eq!(roots.read("pipe.c"), Err(LeftOut::NotText));
        }
        assert_eq!(roots.read("same.c").as_deref(), Ok("build/src/in.c"));
        fs::remove_dir_all(tree).unwrap();
    }
}
