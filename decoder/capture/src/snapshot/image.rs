//! Code in files: ELF, or bare code.

use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;

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
