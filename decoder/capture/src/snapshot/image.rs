//! Code in files: ELF, or bare code.

use elf::ElfBytes;
use elf::abi::{PT_LOAD, PT_NOTE};
use elf::endian::AnyEndian;
use elf::note::Note;
use hartrace_spaces::{Image, Loaded};

/// Maximum number of segments that are searched for the identifier of a file: each may span all of it.
const NOTES: usize = 16;

/// The code of an image that a log names, from the bytes of its file. If the log identifies the image, and
/// the file is another one, its code is not used.
pub fn load(image: &Image, bytes: Vec<u8>) -> Loaded {
    let found = build_id(&bytes);
    let Some(code) = segments(bytes) else { return Loaded::Missing };
    match (&image.uuid, found) {
        (Some(uuid), Some(found)) if !is_same(uuid, &found) => Loaded::Other { code, found },
        (Some(_), None) => Loaded::Unidentified(code),
        _ => Loaded::Code(code),
    }
}

/// The segments of code, each with its distance from the lowest address. `None` if the file is an ELF
/// file that cannot be read: wrong code is worse than none.
pub fn segments(bytes: Vec<u8>) -> Option<Vec<(u64, Vec<u8>)>> {
    if !bytes.starts_with(b"\x7fELF") {
        return Some(vec![(0, bytes)]);
    }
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes).ok()?;
    let all: Vec<_> = file.segments()?.iter().filter(|segment| segment.p_type == PT_LOAD).collect();
    // Segments may share a page, but not a whole file: a few bytes could then fill all memory.
    let size = all.iter().fold(0u64, |size, segment| size.saturating_add(segment.p_filesz));
    if size > (bytes.len() as u64).saturating_mul(2) {
        return None;
    }
    let lowest = all.iter().map(|segment| segment.p_vaddr).min()?;
    all.iter()
        .map(|segment| {
            let data = file.segment_data(segment).ok()?;
            Some((segment.p_vaddr.wrapping_sub(lowest), data.to_vec()))
        })
        .collect()
}

/// The identifier that the linker gave an ELF file, in hexadecimal digits.
pub fn build_id(bytes: &[u8]) -> Option<String> {
    let file = ElfBytes::<AnyEndian>::minimal_parse(bytes).ok()?;
    let segments = file.segments()?.iter().filter(|segment| segment.p_type == PT_NOTE);
    let notes =
        segments.take(NOTES).filter_map(|segment| file.segment_data_as_notes(&segment).ok());
    notes.flatten().find_map(|note| match note {
        Note::GnuBuildId(id) => Some(id.0.iter().map(|byte| format!("{byte:02x}")).collect()),
        _ => None,
    })
}

/// Whether two identifiers have the same digits. Some tools write hyphens in between, or capital letters.
fn is_same(a: &str, b: &str) -> bool {
    let digits = |text: &str| -> String {
        text.chars().filter(|digit| *digit != '-').map(|digit| digit.to_ascii_lowercase()).collect()
    };
    digits(a) == digits(b)
}
