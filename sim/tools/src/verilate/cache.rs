//! The cache of built models.
//!
//! An entry is a folder with the built files and a manifest. It is built in a temporary folder and then
//! renamed, so that it exists as a whole or not at all, however many processes build at once. The name
//! of the folder is a hash of the key; the manifest contains the key itself, which is compared.

use crate::verilate::ports::Ports;
use crate::verilate::{Options, SimError};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};
use tempfile::TempDir;

const MANIFEST: &str = "manifest.json";

/// Returns the folder for models in the cache of the user, `$XDG_CACHE_HOME` or `~/.cache`. Libraries are
/// loaded from there, so it must belong to the user.
pub fn user_cache() -> Option<PathBuf> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| env::home_dir().map(|home| home.join(".cache")))?;
    Some(folder.join("hartrace"))
}

/// The description of an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Everything that the entry depends on, except the contents of `inputs`.
    pub(crate) key: String,
    /// The file that was built, by its name in the folder of the entry, and its hash.
    pub(crate) built: (String, u64),
    /// Files outside the folder that were read, and their hashes.
    pub(crate) inputs: Vec<(PathBuf, u64)>,
    /// The ports of a model.
    pub(crate) ports: Ports,
}

/// A folder of entries.
#[derive(Debug)]
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(crate) fn new(options: &Options) -> Result<Self, SimError> {
        let root = options.cache.clone().or_else(default_root).ok_or(SimError::NoFolder)?;
        fs::create_dir_all(&root).map_err(SimError::io("create", &root))?;
        // An absolute path, for tools that run in other folders.
        let root = root.canonicalize().map_err(SimError::io("find", &root))?;
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn folder(&self, key: &str) -> PathBuf {
        self.root.join(format!("{:016x}", hash(key.as_bytes())))
    }

    /// Returns the entry with this key, if it exists, is undamaged and not older than its inputs: the
    /// built file and the manifest.
    pub(crate) fn find(&self, key: &str) -> Option<(PathBuf, Manifest)> {
        let folder = self.folder(key);
        let manifest = fs::read(folder.join(MANIFEST)).ok()?;
        let manifest: Manifest = serde_json::from_slice(&manifest).ok()?;
        let same = |path: &Path, hash| hash_file(path).is_ok_and(|now| now == hash);
        let built = folder.join(&manifest.built.0);
        let good = manifest.key == key
            && same(&built, manifest.built.1)
            && manifest.inputs.iter().all(|(path, hash)| same(path, *hash));
        good.then_some((built, manifest))
    }

    /// Creates a folder to build an entry in. It is deleted when dropped.
    pub(crate) fn scratch(&self) -> Result<TempDir, SimError> {
        tempfile::Builder::new()
            .prefix("building-")
            .tempdir_in(&self.root)
            .map_err(SimError::io("create a folder in", &self.root))
    }

    /// Makes an entry from the files `keep` in `scratch`. If another process was faster, its entry is
    /// used.
    pub(crate) fn publish(
        &self,
        scratch: &TempDir,
        keep: &[&str],
        manifest: &Manifest,
    ) -> Result<PathBuf, SimError> {
        let entry = self.scratch()?;
        for name in keep {
            let to = entry.path().join(name);
            fs::rename(scratch.path().join(name), &to).map_err(SimError::io("create", &to))?;
        }
        let path = entry.path().join(MANIFEST);
        let text = serde_json::to_vec(manifest).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text)).map_err(SimError::io("write", &path))?;
        let folder = self.folder(&manifest.key);
        while let Err(error) = fs::rename(entry.path(), &folder) {
            // The other process's file may have another name: compilers need not produce the same bytes
            // twice.
            if let Some((built, _)) = self.find(&manifest.key) {
                return Ok(built);
            }
            // A damaged or outdated entry is moved away, to be deleted with its new folder.
            let old = self.scratch()?;
            match fs::rename(&folder, old.path().join("old")) {
                Ok(()) => {}
                // Another process has done so.
                Err(gone)
                    if gone.kind() == io::ErrorKind::NotFound && folder_is_in_the_way(&error) => {}
                Err(_) => return Err(SimError::io("create", &folder)(error)),
            }
        }
        Ok(folder.join(&manifest.built.0))
    }
}

fn folder_is_in_the_way(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

/// The folder `cache/hartrace` for temporary files in cargo's target folder: the one that contains the running program, the one
/// that cargo was given, or the one of the workspace in which the program runs. Libraries are loaded
/// from there, so it must not be a folder that others may write to. Tests of the command line have the
/// same folder, so that no model is built twice.
fn default_root() -> Option<PathBuf> {
    let is_target = |folder: &Path| folder.join("CACHEDIR.TAG").is_file();
    let exe = env::current_exe().unwrap_or_default();
    let built_in = || exe.ancestors().skip(1).find(|folder| is_target(folder)).map(Path::to_owned);
    let told = || env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).filter(|p| p.is_absolute());
    let here = env::current_dir().unwrap_or_default();
    let workspace = || here.ancestors().map(|f| f.join("target")).find(|folder| is_target(folder));
    built_in().or_else(told).or_else(workspace).map(|target| target.join("tmp/cache/hartrace"))
}

pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn hash_file(path: &Path) -> io::Result<u64> {
    fs::read(path).map(|bytes| hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(key: &str, inputs: Vec<(PathBuf, u64)>) -> Manifest {
        let built = ("model".to_owned(), hash(b"built"));
        Manifest { key: key.to_owned(), built, inputs, ports: Ports::default() }
    }

    fn publish(cache: &Cache, manifest: &Manifest) -> PathBuf {
        let scratch = cache.scratch().unwrap();
        fs::write(scratch.path().join("model"), "built").unwrap();
        cache.publish(&scratch, &["model"], manifest).unwrap()
    }

    fn cache() -> (TempDir, Cache) {
        let root = tempfile::tempdir().unwrap();
        let options = Options { cache: Some(root.path().to_owned()), ..Options::default() };
        let cache = Cache::new(&options).unwrap();
        (root, cache)
    }

    #[test]
    fn an_entry_is_found_until_it_is_damaged() {
        let (_root, cache) = cache();
        assert!(cache.find("key").is_none());
        let built = publish(&cache, &manifest("key", vec![]));
        assert_eq!(cache.find("key").unwrap().0, built);
        assert!(cache.find("other key").is_none());
        // Built twice at once: both find it.
        assert_eq!(publish(&cache, &manifest("key", vec![])), built);

        fs::write(&built, "buil").unwrap();
        assert!(cache.find("key").is_none(), "damaged");
        assert_eq!(publish(&cache, &manifest("key", vec![])), built);
        assert!(cache.find("key").is_some(), "built again");

        fs::write(built.with_file_name(MANIFEST), "{").unwrap();
        assert!(cache.find("key").is_none(), "no manifest");
        let left = fs::read_dir(&cache.root).unwrap().count();
        assert_eq!(left, 1, "folders that were used for building are gone");
    }

    #[test]
    fn who_comes_second_gets_what_is_there() {
        let (_root, cache) = cache();
        let first = publish(&cache, &manifest("key", vec![]));
        let scratch = cache.scratch().unwrap();
        fs::write(scratch.path().join("other"), "bytes").unwrap();
        let built = ("other".to_owned(), hash(b"bytes"));
        let second = Manifest { built, ..manifest("key", vec![]) };
        assert_eq!(cache.publish(&scratch, &["other"], &second).unwrap(), first);
    }

    #[test]
    fn an_entry_is_outdated_when_a_file_it_was_built_from_changes() {
        let (root, cache) = cache();
        let input = root.path().join("input.svh");
        fs::write(&input, "1").unwrap();
        let inputs = vec![(input.clone(), hash_file(&input).unwrap())];
        publish(&cache, &manifest("key", inputs));
        assert!(cache.find("key").is_some());
        fs::write(&input, "2").unwrap();
        assert!(cache.find("key").is_none());
        fs::remove_file(&input).unwrap();
        assert!(cache.find("key").is_none());
    }

    #[test]
    fn a_key_with_the_hash_of_another_is_another() {
        let (_root, cache) = cache();
        let built = publish(&cache, &manifest("key", vec![]));
        let folder = cache.folder("other");
        fs::rename(built.parent().unwrap(), &folder).unwrap();
        assert!(cache.find("other").is_none());
    }
}
