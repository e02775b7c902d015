//! Sections and names of ELF files. Files may list the same bytes many times; here every byte counts once.

use crate::limits::{CODE_PER_BYTE, NAME_BYTES};
use crate::text::{printable, printable_bytes};
use elf::ElfBytes;
use elf::abi::{PF_X, PT_LOAD, SHF_EXECINSTR, SHN_XINDEX, SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB};
use elf::endian::LittleEndian;
use elf::section::SectionHeader;
use elf::symbol::Symbol;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CStr;
use std::ops::Range;

type File<'a> = ElfBytes<'a, LittleEndian>;

/// The addresses of code: in order, without overlaps.
pub(super) fn code_ranges(file: &File<'_>) -> Vec<Range<u64>> {
    let headers = file.section_headers().into_iter().flatten().filter(is_code);
    let mut ranges: Vec<Range<u64>> = headers
        .map(|header| header.sh_addr..header.sh_addr.saturating_add(header.sh_size))
        .filter(|range| !range.is_empty())
        .collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, range| {
        let joined = next.start <= range.end;
        range.end = if joined { range.end.max(next.end) } else { range.end };
        joined
    });
    ranges
}

/// The addresses of the segments that a file loads to execute, in the order of the file.
pub(super) fn loaded_code(bytes: &[u8]) -> Vec<Range<u64>> {
    let Ok(file) = File::minimal_parse(bytes) else { return Vec::new() };
    let segments = file.segments().into_iter().flatten();
    let code = segments.filter(|segment| segment.p_type == PT_LOAD && segment.p_flags & PF_X != 0);
    let ranges = code.map(|code| code.p_vaddr..code.p_vaddr.saturating_add(code.p_memsz));
    ranges.filter(|range| !range.is_empty()).collect()
}

/// Whether one of the ranges of [`code_ranges`] contains all of another one.
pub(super) fn contains(ranges: &[Range<u64>], inner: &Range<u64>) -> bool {
    let after = ranges.partition_point(|range| range.start <= inner.start);
    let around = after.checked_sub(1).and_then(|index| ranges.get(index));
    !inner.is_empty() && around.is_some_and(|around| inner.end <= around.end)
}

/// The bytes of code with their addresses: in order, without overlaps. Of two sections at an address, the first
/// in memory counts.
pub(super) fn code_bytes<'a>(file: &File<'a>, size: usize) -> Vec<(u64, &'a [u8])> {
    let headers = file.section_headers().into_iter().flatten().filter(is_code);
    let mut sections: Vec<(u64, &[u8])> = headers
        .filter(|header| header.sh_type != SHT_NOBITS)
        .filter_map(|header| match file.section_data(&header) {
            Ok((bytes, None)) => Some((header.sh_addr, bytes)),
            _ => None,
        })
        .collect();
    sections.sort_by_key(|(address, _)| *address);
    let (mut end, mut left) = (0, size.saturating_mul(CODE_PER_BYTE));
    sections.retain_mut(|(address, bytes)| {
        let covered = usize::try_from(end.max(*address).saturating_sub(*address));
        *bytes = bytes.get(covered.unwrap_or(usize::MAX)..).unwrap_or_default();
        *bytes = bytes.get(..left).unwrap_or(bytes);
        *address = end.max(*address);
        left = left.saturating_sub(bytes.len());
        end = end.max(address.saturating_add(bytes.len() as u64));
        !bytes.is_empty()
    });
    sections
}

fn is_code(header: &SectionHeader) -> bool {
    header.sh_flags & u64::from(SHF_EXECINSTR) != 0
}

/// The sections with these names; of several with one name, the first.
pub(super) fn named(
    file: &File<'_>,
    names: impl Iterator<Item = &'static str>,
) -> HashMap<&'static str, SectionHeader> {
    let find = || {
        let headers = file.section_headers()?;
        let index = match file.ehdr.e_shstrndx {
            SHN_XINDEX => headers.get(0).ok()?.sh_link as usize,
            index => index.into(),
        };
        let (strings, _) = file.section_data(&headers.get(index).ok()?).ok()?;
        Some((headers, strings))
    };
    let mut found = HashMap::new();
    let Some((headers, strings)) = find() else { return found };
    let names: Vec<&'static str> = names.collect();
    for header in headers {
        let here = strings.get(header.sh_name as usize..).unwrap_or_default();
        let is = |name: &&&str| {
            here.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
        };
        if let Some(name) = names.iter().find(is) {
            found.entry(*name).or_insert(header);
        }
    }
    found
}

/// The symbols, with their names; those of dynamic linking if there are no others.
pub(super) fn symbols<'a>(
    file: &File<'a>,
) -> Option<impl Iterator<Item = (Symbol, &'a [u8])> + use<'a>> {
    let headers = file.section_headers()?;
    let of = |kind| headers.iter().find(|header| header.sh_type == kind);
    let header = of(SHT_SYMTAB).or_else(|| of(SHT_DYNSYM))?;
    let (strings, _) = file.section_data(&headers.get(header.sh_link as usize).ok()?).ok()?;
    let table = match header.sh_type {
        SHT_SYMTAB => file.symbol_table(),
        _ => file.dynamic_symbol_table(),
    };
    let (table, _) = table.ok()??;
    let named = move |symbol: Symbol| Some((text(strings, symbol.st_name as usize)?, symbol));
    Some(table.into_iter().filter_map(named).map(|(name, symbol)| (symbol, name)))
}

/// A text that ends with a null byte. Of one that is too long, as much that [`cut`] recognises it.
pub(super) fn text(strings: &[u8], at: usize) -> Option<&[u8]> {
    let rest = strings.get(at..)?;
    let start = rest.get(..=NAME_BYTES).unwrap_or(rest);
    match CStr::from_bytes_until_nul(start) {
        Ok(text) => Some(text.to_bytes()),
        Err(_) => Some(start).filter(|start| start.len() > NAME_BYTES),
    }
}

/// A name as it is kept: fit to be printed, and not too long.
pub(super) fn cut(name: &[u8]) -> Cow<'_, str> {
    match name.get(..NAME_BYTES) {
        Some(start) if start.len() < name.len() => {
            // Not in the middle of a letter.
            let start = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            format!("{}…", printable(start)).into()
        }
        _ => printable_bytes(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut() {
        for (letters, cut_off) in [(NAME_BYTES / 2, false), (NAME_BYTES / 2 + 1, true)] {
            let long = "é".repeat(letters) + "\0";
            let name = cut(text(long.as_bytes(), 0).unwrap());
            assert_eq!(name.trim_end_matches('…'), "é".repeat(NAME_BYTES / 2));
            assert_eq!(name.ends_with('…'), cut_off);
        }
        assert_eq!(cut(&[b'a'; NAME_BYTES]).len(), NAME_BYTES);
        assert_eq!(text(b"\0main\0end", 1), Some(&b"main"[..]));
        assert_eq!(text(b"\xff\0", 0), Some(&b"\xff"[..]));
        assert_eq!((text(b"\0main\0end", 6), text(b"a\0", 9)), (None, None));
    }

    #[test]
    fn only_whole_ranges_are_inside() {
        let ranges = [0x10..0x20, 0x30..0x40];
        let inside = |range| contains(&ranges, &range);
        assert!(inside(0x10..0x20) && inside(0x3f..0x40));
        assert!(
            !inside(0x0..0x11) && !inside(0x1f..0x21) && !inside(0x18..0x18) && !inside(0x50..0x51)
        );
    }
}
