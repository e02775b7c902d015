//! What is in a folder: `getdents64`.

use super::{Call, EINVAL, ENOENT, ENOTDIR, Failed, Outcome, Shared};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::PoisonError;

/// The entries of a folder, and how many the program has.
#[derive(Debug)]
pub(super) struct Entries {
    all: Vec<Entry>,
    pub(super) next: usize,
}

#[derive(Debug)]
struct Entry {
    inode: u64,
    kind: u8,
    name: OsString,
}

impl Entries {
    fn of(folder: &Path) -> io::Result<Self> {
        let special = |name: &str| {
            let inode = fs::metadata(folder.join(name)).map_or(1, |found| found.ino());
            Entry { inode, kind: kind::FOLDER, name: name.into() }
        };
        let mut all = vec![special("."), special("..")];
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type().map_or(0, kind::of);
            all.push(Entry { inode: entry.ino(), kind, name: entry.file_name() });
        }
        Ok(Self { all, next: 0 })
    }
}

/// Kinds of files in entries.
mod kind {
    use super::FileTypeExt;
    use std::fs::FileType;

    pub(super) const FOLDER: u8 = 4;

    pub(super) fn of(found: FileType) -> u8 {
        match found {
            found if found.is_dir() => FOLDER,
            found if found.is_file() => 8,
            found if found.is_symlink() => 10,
            found if found.is_fifo() => 1,
            found if found.is_char_device() => 2,
            found if found.is_block_device() => 6,
            found if found.is_socket() => 12,
            _ => 0,
        }
    }
}

impl Shared {
    /// `getdents64`.
    pub(super) fn list(
        &mut self,
        call: &mut Call<'_>,
        descriptor: u64,
        place: u64,
        size: u64,
    ) -> Outcome {
        let open = self.descriptors.get(descriptor)?;
        if !open.file.metadata()?.is_dir() {
            return Err(Failed::With(ENOTDIR));
        }
        let mut entries = open.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = match &mut *entries {
            Some(entries) => entries,
            none => none.insert(Entries::of(&open.path)?),
        };
        let mut bytes = Vec::new();
        while let Some(Entry { inode, kind, name }) = entries.all.get(entries.next) {
            let length = (19 + name.len() + 1).next_multiple_of(8);
            if (bytes.len() + length) as u64 > size {
                break;
            }
            let end = bytes.len() + length;
            bytes.extend(inode.to_le_bytes());
            bytes.extend((entries.next as u64 + 1).to_le_bytes());
            bytes.extend((length as u16).to_le_bytes());
            bytes.push(*kind);
            bytes.extend(name.as_bytes());
            bytes.resize(end, 0);
            entries.next += 1;
        }
        if bytes.is_empty() && entries.next < entries.all.len() {
            return Err(Failed::With(EINVAL));
        }
        if bytes.is_empty() && !open.path.is_dir() {
            // It was removed meanwhile.
            return Err(Failed::With(ENOENT));
        }
        call.give(place, &bytes)?;
        Ok(bytes.len() as u64)
    }
}
