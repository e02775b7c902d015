//! The traced program: ELF files and bare code, for all contexts or for one.

mod block_table;
mod changing;
mod code;
mod debug;
mod demangle;
mod placed;
mod plt;
mod sources;
mod symbols;
mod tables;

pub use block_table::{TableError, table_of};
pub use changing::{Changing, NoTime};
pub use code::{ArmCode, ArmInsn};
pub use debug::TooLarge;
pub use placed::{Code, Overlap, Placed, PlacedError, Unloadable, elf_xlen, parse_address};
pub use sources::{Branch, Instance, Row, SourceFunction, SourceLine, Sources};
pub use symbols::{Function, Place, Symbols};

use hartrace_decoder::{ElfError, Image, Images, Moment, Versions};
use hartrace_isa::{Isa, Xlen};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An address as listings print it: 8 or 16 digits.
pub fn address(address: u64, xlen: Xlen) -> String {
    match xlen {
        Xlen::Rv32 => format!("{address:#010x}"),
        Xlen::Rv64 => format!("{address:#018x}"),
    }
}

/// The code of one context, or of all contexts without their own code.
#[derive(Debug)]
pub struct Program {
    image: Image,
    /// Its ELF files, the last one first, since it takes precedence.
    files: Vec<Arc<File>>,
}

/// An ELF file, kept for its names and source lines.
#[derive(Debug)]
struct File {
    /// For messages.
    name: String,
    bytes: Vec<u8>,
    bias: u64,
    /// Set once its debug information was found to be too large.
    too_large: OnceLock<TooLarge>,
    /// Set if names stay as the linker has them.
    raw_names: OnceLock<()>,
}

impl File {
    fn new(name: &str, bytes: Vec<u8>, bias: u64) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            bytes,
            bias,
            too_large: OnceLock::new(),
            raw_names: OnceLock::new(),
        })
    }

    fn has_raw_names(&self) -> bool {
        self.raw_names.get().is_some()
    }

    fn note(&self, error: TooLarge) {
        self.too_large.get_or_init(|| error);
    }
}

impl Program {
    /// Reads names and source lines. This takes time, so call it once.
    pub fn symbols(&self) -> Symbols<'_> {
        let mut symbols = Symbols::default();
        for file in &self.files {
            symbols.add_file(file, self.image.isa().xlen);
        }
        symbols
    }
}

/// Code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its addresses.
    pub range: Range<u64>,
    /// The file.
    pub file: String,
}

/// Ranges of code that were replaced by other code.
pub type Replaced = Vec<Range<u64>>;

/// Every program of a hart: code that all contexts share, and code of single contexts.
#[derive(Debug)]
pub struct Programs {
    common: Program,
    /// Each includes all common code.
    contexts: Vec<(u64, Program)>,
    /// Changes to the code, according to a log.
    changing: Option<Changing>,
}

impl Programs {
    /// A program without code or names.
    pub fn new(xlen: Xlen) -> Self {
        let common = Program { image: Image::new(Isa::new(xlen)), files: Vec::new() };
        Self { common, contexts: Vec::new(), changing: None }
    }

    /// Adds an ELF file; `bias` is added to its addresses. It replaces earlier code at the same addresses;
    /// returns what it replaces.
    pub fn add_elf(&mut self, bytes: Vec<u8>, bias: u64) -> Result<Replaced, ElfError> {
        self.common.add_elf("", bytes, bias)
    }

    /// Adds the names and source lines of an ELF file, without its code, for a decoder that has the code
    /// already; `bias` is added to its addresses. `name` is for messages.
    pub fn add_names(&mut self, name: &str, bytes: Vec<u8>, bias: u64) {
        self.common.files.insert(0, File::new(name, bytes, bias));
    }

    /// Adds bare code. It replaces earlier code at the same addresses; returns what it replaces.
    pub fn add_code(&mut self, address: u64, bytes: &[u8]) -> Replaced {
        let image = &mut self.common.image;
        let before = image.overlaps().len();
        image.add(image.isa().xlen.wrap(address), bytes);
        image.overlaps().get(before..).unwrap_or_default().to_vec()
    }

    /// Adds an ELF file that only one context runs, on top of all common code that was added before.
    pub fn add_context_elf(
        &mut self,
        context: u64,
        bytes: Vec<u8>,
        bias: u64,
    ) -> Result<Replaced, ElfError> {
        self.add_context("", context, bytes, bias)
    }

    fn add_context(
        &mut self,
        name: &str,
        context: u64,
        bytes: Vec<u8>,
        bias: u64,
    ) -> Result<Replaced, ElfError> {
        if let Some((_, own)) = self.contexts.iter_mut().find(|(id, _)| *id == context) {
            return own.add_elf(name, bytes, bias);
        }
        let Program { image, files } = &self.common;
        let mut own = Program { image: image.clone(), files: files.clone() };
        let replaced = own.add_elf(name, bytes, bias)?;
        self.contexts.push((context, own));
        Ok(replaced)
    }

    /// Whether all code is the same, and neither changes.
    pub fn is_same(&self, other: &Self) -> bool {
        let contexts = |programs: &Self| -> Vec<(u64, Image)> {
            programs.contexts.iter().map(|(id, own)| (*id, own.image.clone())).collect()
        };
        self.changing.is_none()
            && other.changing.is_none()
            && self.common.image == other.common.image
            && contexts(self) == contexts(other)
    }

    /// Whether the code is that of the same files, wherever it is.
    pub fn has_same_files(&self, other: &Self) -> bool {
        let (mut own, mut others) = (self.files(), other.files());
        own.sort_by(|one, other| one.bytes.cmp(&other.bytes));
        others.sort_by(|one, other| one.bytes.cmp(&other.bytes));
        !own.is_empty()
            && own.iter().map(|file| &file.bytes).eq(others.iter().map(|file| &file.bytes))
    }

    /// Names of functions stay as the linker has them, `_Z3addii` instead of `add(int, int)`, in all files that were added.
    pub fn keep_raw_names(&self) {
        for file in self.files() {
            file.raw_names.get_or_init(|| ());
        }
    }

    /// Whether code may change while it is traced.
    pub fn may_change(&self) -> bool {
        self.changing.is_some()
    }

    /// Sets the encodings that all programs use, whatever their files say.
    pub fn set_isa(&mut self, isa: Isa) {
        self.common.image.set_isa(isa);
        self.contexts.iter_mut().for_each(|(_, own)| own.image.set_isa(isa));
    }

    /// Adds code that changes over time.
    pub fn change(&mut self, changing: Changing) {
        self.changing = Some(changing);
    }

    /// Sets the time of the piece of a recording that is decoded next, and its thread if that is known.
    pub fn set_moment(&self, time: u64, thread: Option<u64>) {
        if let Some(changing) = &self.changing {
            changing.set_moment(time, thread);
        }
    }

    /// Returns the programs in the form that the decoder uses.
    pub fn images(&self) -> Images<'_> {
        let first = Images::new(&self.common.image);
        let contexts = self.contexts.iter();
        let images = contexts.fold(first, |images, (id, own)| images.context(*id, &own.image));
        if self.changing.is_some() { images.versions(self) } else { images }
    }

    /// Returns the code at the start of a trace, and its number.
    pub fn first(&self) -> (usize, Image) {
        (0, self.common.image.clone())
    }

    /// Returns the code of a context at a time, and its number.
    pub fn at(&self, moment: Moment) -> (usize, Image) {
        let program = self.of_context(moment.context);
        let image = self.image_of(program);
        match &self.changing {
            Some(changing) => {
                let (number, image) = changing.version(moment, program, image);
                // Numbers of programs come first, including that of the common one.
                (self.contexts.len().wrapping_add(1).wrapping_add(number), image)
            }
            None => (program, image.clone()),
        }
    }

    /// Returns the code of a context.
    pub fn image(&self, context: u64) -> &Image {
        self.image_of(self.of_context(Some(context)))
    }

    fn image_of(&self, program: usize) -> &Image {
        self.iter().nth(program).map_or(&self.common.image, |program| &program.image)
    }

    /// Returns all programs by number, the common one first.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(&self.common).chain(self.contexts.iter().map(|(_, own)| own))
    }

    /// Reads names and source lines of all programs, the common one first.
    pub fn all_symbols(&self) -> Symbols<'_> {
        let mut symbols = Symbols::default();
        for file in self.files() {
            symbols.add_file(file, self.common.image.isa().xlen);
        }
        symbols
    }

    /// Reads lines, functions and branches of all programs, the common one first.
    pub fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        for file in self.files() {
            let added = sources.add_elf(&file.bytes, file.bias, self.common.image.isa());
            added.unwrap_or_else(|error| file.note(error));
        }
        if self.files().iter().any(|file| file.has_raw_names()) {
            sources.keep_raw_names();
        }
        sources
    }

    /// Reads the Arm code of all programs, the common one first.
    pub fn arm_code(&self) -> ArmCode<'_> {
        let mut code = ArmCode::default();
        for file in self.files() {
            code.add_elf(&file.bytes, file.bias);
        }
        code
    }

    /// Warns of programs whose source lines were asked for so far, and are left out.
    pub fn warnings(&self) -> Vec<String> {
        let files = self.files().into_iter();
        let large = files.filter(|file| file.too_large.get().is_some());
        let warning =
            |name: &str| format!("debug information of {name} is {TooLarge}; lines are left out");
        large.map(|file| warning(&file.name)).collect()
    }

    /// The code of files that have a name, by address: what they load to execute.
    pub fn objects(&self) -> Vec<Object> {
        let xlen = self.common.image.isa().xlen;
        let mut objects = Vec::new();
        for file in self.files().into_iter().filter(|file| !file.name.is_empty()) {
            let ranges = tables::loaded_code(&file.bytes).into_iter();
            objects.extend(ranges.map(|range| {
                let start = xlen.wrap(range.start.wrapping_add(file.bias));
                let length = range.end.saturating_sub(range.start);
                Object { range: start..start.saturating_add(length), file: file.name.clone() }
            }));
        }
        objects.sort_by_key(|object| object.range.start);
        objects
    }

    /// The files of all programs, each once.
    fn files(&self) -> Vec<&File> {
        let mut known = HashSet::new();
        let files = self.iter().flat_map(|program| &program.files);
        files.filter(|file| known.insert(Arc::as_ptr(file))).map(|file| &**file).collect()
    }

    /// Returns the number of the program that a context runs.
    pub fn of_context(&self, context: Option<u64>) -> usize {
        let own = self.contexts.iter().position(|(id, _)| Some(*id) == context);
        own.map_or(0, |index| index.wrapping_add(1))
    }
}

impl Versions for Programs {
    fn at(&self, moment: Moment) -> Option<(usize, Image)> {
        Some(self.at(moment))
    }
}

impl Program {
    fn add_elf(&mut self, name: &str, bytes: Vec<u8>, bias: u64) -> Result<Replaced, ElfError> {
        let before = self.image.overlaps().len();
        self.image.add_elf(&bytes, bias)?;
        self.files.insert(0, File::new(name, bytes, bias));
        Ok(self.image.overlaps().get(before..).unwrap_or_default().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: [u8; 4] = [0x33, 0x05, 0xb5, 0x00];

    #[test]
    fn later_code_wins() {
        let mut programs = Programs::new(Xlen::Rv32);
        assert!(programs.add_code(0x1000, &[0; 16]).is_empty());
        assert_eq!(programs.add_code(0x1004, &ADD), vec![0x1004..0x1008; 1]);
        assert_eq!(programs.image(7).encoding(0x1004), Some(0x00b5_0533));
        assert_eq!(programs.of_context(Some(7)), 0);
    }

    #[test]
    fn what_cannot_be_loaded() {
        let mut programs = Programs::new(Xlen::Rv32);
        let garbage = || b"no ELF file".to_vec();
        assert!(matches!(programs.add_elf(garbage(), 0), Err(ElfError::NotElf(_))));
        assert!(programs.add_context_elf(3, garbage(), 0).is_err());
        // A context without its own code runs the common program.
        assert_eq!((programs.of_context(Some(3)), programs.iter().count()), (0, 1));
    }
}
