//! Names and source lines of code, from ELF files.

use super::debug::Lines;
use super::demangle::demangle;
use super::plt;
use super::tables;
use elf::ElfBytes;
use elf::abi::{EM_ARM, SHF_EXECINSTR, STB_LOCAL, STT_FUNC, STT_NOTYPE};
use elf::endian::LittleEndian;
use hartrace_isa::Xlen;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::ops::Range;

/// Names and source lines from several files; the file that was added first is searched first.
#[derive(Default)]
pub struct Symbols<'a> {
    files: Vec<File<'a>>,
}

/// Bytes of names for each byte of a file.
const PER_BYTE: usize = 16;

/// What the names of stubs end with.
const STUB: &str = "@plt";

struct File<'a> {
    bytes: &'a [u8],
    bias: u64,
    xlen: Xlen,
    /// By address in the file.
    symbols: Vec<Symbol<'a>>,
    /// Read when the first one is asked for.
    lines: OnceCell<Lines>,
    /// The file among programs, which is told if there is too much of them.
    of: Option<&'a super::File>,
    /// Bytes that names in the source may still take.
    left: Cell<usize>,
}

impl File<'_> {
    fn place(&self, address: u64) -> Option<Place<'_>> {
        let address = self.xlen.wrap(address.wrapping_sub(self.bias));
        let index = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols.get(index.checked_sub(1)?)?;
        let offset = address.wrapping_sub(symbol.start);
        (address < symbol.end).then(|| Place {
            name: self.name(symbol),
            linkage: &symbol.linkage,
            offset,
        })
    }

    /// The name of a function in its source, if names are not to stay as the linker has them.
    fn name<'s>(&self, symbol: &'s Symbol<'_>) -> &'s str {
        let name = symbol.name.get_or_init(|| {
            let (linkage, stub) = match symbol.linkage.strip_suffix(STUB) {
                Some(linkage) => (linkage, STUB),
                None => (&*symbol.linkage, ""),
            };
            let name =
                demangle(linkage).filter(|_| self.of.is_none_or(|file| !file.has_raw_names()))?;
            let name = name + stub;
            self.left.set(self.left.get().checked_sub(name.len())?);
            Some(name)
        });
        name.as_deref().unwrap_or(&symbol.linkage)
    }

    /// Source lines. What cannot be read, or stands for too much, has none.
    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| {
            let file = ElfBytes::minimal_parse(self.bytes);
            let lines =
                file.map_or(Ok(Lines::default()), |file| Lines::of_file(&file, self.bytes.len()));
            lines.unwrap_or_else(|error| {
                self.of.inspect(|file| file.note(error));
                Lines::default()
            })
        })
    }

    /// Where symbols without a size end: at the next symbol, or at the end of their section.
    fn ends(&self) -> impl Iterator<Item = u64> {
        let next = self.symbols.iter().skip(1).map(|symbol| symbol.start);
        let ends = self.symbols.iter().map(|symbol| symbol.end);
        ends.zip(next.chain([u64::MAX])).map(|(end, next)| end.min(next))
    }
}

struct Symbol<'a> {
    start: u64,
    /// End of its section: code that no symbol covers belongs to the one before, as in objdump.
    end: u64,
    /// Size in bytes; 0 if it is not given.
    size: u64,
    /// As the linker knows it, fit to be printed.
    linkage: Cow<'a, str>,
    /// As the source has it, if that is something else; found when it is asked for.
    name: OnceCell<Option<String>>,
    /// Of several names for one address, the one with the lowest rank is used.
    rank: u8,
}

/// A place in a function: `name` or `name+0x12`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Name of the function, as its source has it.
    pub name: &'a str,
    /// The same as the linker knows it.
    pub linkage: &'a str,
    /// Bytes from its start.
    pub offset: u64,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => f.write_str(self.name),
            offset => write!(f, "{}+{offset:#x}", self.name),
        }
    }
}

/// A function and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its name, as its source has it.
    pub name: &'a str,
    /// The same as the linker knows it.
    pub linkage: &'a str,
    /// Whether it is known only within its file.
    pub local: bool,
    /// Its addresses: as many as its symbol specifies, otherwise up to the next symbol. Not empty.
    pub range: Range<u64>,
}

impl<'a> Symbols<'a> {
    /// Adds the symbols and source lines of a file. A file without them, or with any that cannot be
    /// read, adds nothing: code can be followed without them.
    pub fn add_elf(&mut self, bytes: &'a [u8], bias: u64, xlen: Xlen) {
        self.add(bytes, bias, xlen, None);
    }

    pub(super) fn add_file(&mut self, file: &'a super::File, xlen: Xlen) {
        self.add(&file.bytes, file.bias, xlen, Some(file));
    }

    fn add(&mut self, bytes: &'a [u8], bias: u64, xlen: Xlen, of: Option<&'a super::File>) {
        if let Ok(file) = ElfBytes::<LittleEndian>::minimal_parse(bytes) {
            let symbols = symbols(&file, bytes.len()).unwrap_or_default();
            let left = Cell::new(bytes.len().saturating_mul(PER_BYTE));
            self.files.push(File { bytes, bias, xlen, symbols, lines: OnceCell::new(), of, left });
        }
    }

    /// Returns the function that contains an address.
    pub fn place(&self, address: u64) -> Option<Place<'_>> {
        self.files.iter().find_map(|file| file.place(address))
    }

    /// Returns all functions by address, except where a file that was added before has another one.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut list = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            for (symbol, next) in file.symbols.iter().zip(file.ends()) {
                let end =
                    if symbol.size > 0 { symbol.start.saturating_add(symbol.size) } else { next };
                let start = file.xlen.wrap(symbol.start.wrapping_add(file.bias));
                let range = start..start.saturating_add(end.saturating_sub(symbol.start));
                if !range.is_empty()
                    && !self.files.iter().take(index).any(|other| other.place(start).is_some())
                {
                    let local = matches!(symbol.rank, 1 | 3);
                    let (name, linkage) = (file.name(symbol), &*symbol.linkage);
                    list.push(Function { name, linkage, local, range });
                }
            }
        }
        list.sort_by_key(|function| function.range.start);
        list
    }

    /// Returns the source line of an address, as `file:line`.
    pub fn source(&self, address: u64) -> Option<String> {
        self.files.iter().find_map(|file| {
            let address = file.xlen.wrap(address.wrapping_sub(file.bias));
            let (name, line) = file.lines().find(address)?;
            Some(format!("{name}:{line}"))
        })
    }
}

/// Names of code in a file of this size.
fn symbols<'a>(file: &ElfBytes<'a, LittleEndian>, size: usize) -> Option<Vec<Symbol<'a>>> {
    let sections = file.section_headers()?;
    let thumb = file.ehdr.e_machine == EM_ARM;
    let mut list = Vec::new();
    for (entry, name) in tables::symbols(file)? {
        let Ok(section) = sections.get(entry.st_shndx.into()) else { continue };
        // `$x` marks code, `.L` starts a label of the compiler.
        let own = matches!(name.first(), None | Some(b'$' | b'.'));
        if own || section.sh_flags & u64::from(SHF_EXECINSTR) == 0 {
            continue;
        }
        let rank = match (entry.st_symtype(), entry.st_bind()) {
            (STT_FUNC, STB_LOCAL) => 1,
            (STT_FUNC, _) => 0,
            (STT_NOTYPE, STB_LOCAL) => 3,
            (STT_NOTYPE, _) => 2,
            _ => continue,
        };
        let end = section.sh_addr.saturating_add(section.sh_size);
        // The lowest bit tells that a function is of T32.
        let start = entry.st_value & if thumb && rank < 2 { !1 } else { !0 };
        // Beyond its section there is no code.
        if start > end || (start == end && entry.st_size > 0) {
            continue;
        }
        let (size, linkage, source) = (entry.st_size, Cow::default(), OnceCell::new());
        list.push((name, Symbol { start, end, size, linkage, name: source, rank }));
    }
    list.sort_by_key(|(_, symbol)| (symbol.start, symbol.rank));
    // Of several names for one start and rank, the first in the alphabet. Sorting by name would compare long names often.
    list.dedup_by(|next, kept| {
        let same = next.1.start == kept.1.start;
        if same && next.1.rank == kept.1.rank && next.0 < kept.0 {
            std::mem::swap(next, kept);
        }
        same
    });
    // Names may overlap, and escaped ones are copies: there are no more than the file has room for.
    let mut left = size.saturating_mul(PER_BYTE);
    list.retain_mut(|(name, symbol)| {
        let fits = name.len() <= left;
        if fits {
            symbol.linkage = tables::cut(name);
            left = left.saturating_sub(symbol.linkage.len());
        }
        fits
    });
    let mut symbols: Vec<Symbol<'a>> = list.into_iter().map(|(_, symbol)| symbol).collect();
    let mut stubs = plt::stubs(file, left);
    stubs.retain(|stub| symbols.binary_search_by_key(&stub.start, |symbol| symbol.start).is_err());
    symbols.extend(stubs.into_iter().map(|plt::Stub { start, name }| {
        let (size, linkage, name) = (plt::SIZE, name.into(), OnceCell::new());
        Symbol { start, end: start.saturating_add(size), size, linkage, name, rank: 0 }
    }));
    symbols.sort_by_key(|symbol| symbol.start);
    Some(symbols)
}

impl fmt::Debug for Symbols<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").field("files", &self.files.len()).finish()
    }
}
