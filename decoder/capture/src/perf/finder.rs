//! Files with the code that was mapped.

use super::features::hex;
use crate::programs::Placed;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use elf::note::Note;
use elf::{ElfBytes, ElfStream};
use hartrace_spaces::{Event, Image, Log};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of code: a recording may map a file many times.
const MOST: u64 = 1 << 30;

/// Bits of an address within the largest page.
const PAGE: u64 = 0xffff;

/// Finds the files that were mapped while a recording was made. Later code may have the same name, so that a
/// file with another build identifier than the recorded one is not used.
#[derive(Debug, Default)]
pub struct Finder {
    /// Files to look at first.
    pub given: Vec<Given>,
    /// Where the files of the recorded machine are, by their recorded paths; `None` for this machine.
    sysroot: Option<PathBuf>,
    /// Folders with files by build identifier, as perf keeps them in `~/.debug`.
    build_ids: Vec<PathBuf>,
    /// Files that were found, but are not those that were recorded.
    pub refused: Vec<String>,
    /// Bytes of code so far.
    taken: u64,
}

/// A file that stands for a mapped file of the same name or build identifier.
#[derive(Debug)]
pub struct Given {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it was mapped.
    pub used: bool,
    build_id: Option<String>,
}

impl Given {
    /// Looks for the build identifier of a file.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        let build_id = ElfBytes::<AnyEndian>::minimal_parse(&bytes).ok().and_then(|file| {
            let segments = file.segments()?.iter();
            let mut notes =
                segments.filter_map(|segment| file.segment_data_as_notes(&segment).ok());
            notes.find_map(|mut notes| notes.find_map(build_id_of))
        });
        Self { path, bytes, used: false, build_id }
    }

    /// What to add to the addresses of the file, to get those where it was mapped first; `None` if it was not
    /// mapped, or is no ELF file.
    pub fn bias(&self, log: &Log) -> Option<u64> {
        let mapped = |(_, event): &(u64, Event)| match event {
            Event::Mapped { base, image, .. } if self.is(image) => Some((*base, image.part?.0)),
            _ => None,
        };
        let (base, offset) = log.events.iter().find_map(mapped)?;
        let file = ElfBytes::<AnyEndian>::minimal_parse(&self.bytes).ok()?;
        let mut segments = file.segments()?.iter().filter(|segment| segment.p_type == PT_LOAD);
        // A mapping starts at a page, which may be before the segment.
        let segment = segments.find(|segment| {
            let end = segment.p_offset.saturating_add(segment.p_filesz);
            (segment.p_offset & !PAGE..end).contains(&offset)
        })?;
        let address = segment.p_vaddr.wrapping_sub(segment.p_offset).wrapping_add(offset);
        Some(base.wrapping_sub(address))
    }

    /// Whether it is the file of a mapping.
    fn is(&self, image: &Image) -> bool {
        match (&self.build_id, &image.uuid) {
            (Some(own), Some(recorded)) => own == recorded,
            _ => self.path.file_name() == Path::new(&image.file).file_name(),
        }
    }
}

impl Finder {
    /// Returns programs at the addresses where they were mapped; those that were not mapped stay where they are.
    pub fn placed(&self, programs: &[Placed], log: &Log) -> Vec<Placed> {
        let bias = |placed: &Placed| {
            let given = self.given.iter().find(|given| given.path == placed.path);
            given.and_then(|given| given.bias(log)).unwrap_or(placed.address)
        };
        let place = |placed: &Placed| Placed { path: placed.path.clone(), address: bias(placed) };
        programs.iter().map(place).collect()
    }

    /// Looks at given files first, then in folders with files by build identifier, and then for the recorded
    /// path, below `sysroot` if there is one.
    pub fn new(given: Vec<Given>, build_ids: Vec<PathBuf>, sysroot: Option<PathBuf>) -> Self {
        Self { given, build_ids, sysroot, ..Self::default() }
    }

    /// The code of a mapping, at its distance from the start of the mapping; `None` if the file cannot be
    /// found.
    pub fn code(&mut self, image: &Image) -> Option<Vec<(u64, Vec<u8>)>> {
        let (offset, length) = image.part?;
        let room = MOST.saturating_sub(self.taken);
        let bytes = match self.given.iter_mut().find(|given| given.is(image)) {
            Some(given) => {
                given.used = true;
                let start = usize::try_from(offset).ok()?;
                let rest = given.bytes.get(start..).unwrap_or_default();
                let length = usize::try_from(length.min(room)).unwrap_or(usize::MAX);
                rest.get(..length).unwrap_or(rest).to_vec()
            }
            None => {
                let path = self.path(image)?;
                read(&path, offset, length.min(room)).ok()?
            }
        };
        self.taken = self.taken.saturating_add(bytes.len() as u64);
        (!bytes.is_empty()).then(|| vec![(0, bytes)])
    }

    /// The file of a mapping.
    fn path(&mut self, image: &Image) -> Option<PathBuf> {
        if let Some(found) = image.uuid.as_deref().and_then(|id| self.by_build_id(id)) {
            return Some(found);
        }
        let path = match &self.sysroot {
            // A recorded path is absolute. One with `..` in it was not recorded by perf.
            Some(root) => {
                let inner = image.file.trim_start_matches('/');
                let outside = Path::new(inner).components().any(|part| part.as_os_str() == "..");
                (!outside).then(|| root.join(inner))?
            }
            None => PathBuf::from(&image.file),
        };
        // A pipe would never end.
        fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
        let (recorded, own) = (image.uuid.as_deref(), build_id(&path));
        if let (Some(recorded), Some(own)) = (recorded, &own)
            && recorded != own
        {
            let shown = path.display();
            self.refused
                .push(format!("{shown} has build identifier {own}, but {recorded} was recorded"));
            return None;
        }
        Some(path)
    }

    fn by_build_id(&self, id: &str) -> Option<PathBuf> {
        let (first, rest) = id.split_at_checked(2)?;
        self.build_ids.iter().find_map(|folder| {
            let entry = folder.join(".build-id").join(first).join(rest);
            let found = [entry.join("elf"), entry].into_iter().find(|path| path.is_file())?;
            // The folder may be out of date.
            build_id(&found).is_none_or(|own| own == id).then_some(found)
        })
    }
}

/// A part of a file, as far as it has one.
fn read(path: &Path, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut file = crate::input::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The build identifier of an ELF file, if it has one.
fn build_id(path: &Path) -> Option<String> {
    let mut file = ElfStream::<AnyEndian, _>::open_stream(crate::input::open(path).ok()?).ok()?;
    let segments = file.segments().clone();
    segments.iter().find_map(|segment| {
        let mut notes = file.segment_data_as_notes(segment).ok()?;
        notes.find_map(build_id_of)
    })
}

fn build_id_of(note: Note<'_>) -> Option<String> {
    match note {
        Note::GnuBuildId(id) => Some(hex(id.0)),
        _ => None,
    }
}
