//! The traced program: ELF files and bare code, for all contexts or for one.

pub(crate) mod changing;

use crate::args::Placed;
use crate::failure::Failure;
use crate::files;
use crate::listing::address;
use crate::symbols::Symbols;
use changing::Changing;
use hartrace_decoder::{ElfError, Image, Images, Moment, Versions};
use hartrace_isa::{Isa, Xlen};
use std::io::{self, Write};
use std::sync::Arc;

/// The code of one context, or of all that have none of their own.
#[derive(Debug)]
pub(crate) struct Program {
    context: Option<u64>,
    image: Image,
    /// Its ELF files, the last one first, since that is the one that counts.
    files: Vec<Arc<File>>,
}

/// An ELF file, for what is in it besides code.
#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    bias: u64,
}

impl Program {
    /// Names and source lines, which not every command needs.
    pub(crate) fn symbols(&self) -> Symbols<'_> {
        let mut symbols = Symbols::default();
        for file in &self.files {
            symbols.add_elf(&file.bytes, file.bias, self.image.isa().xlen);
        }
        symbols
    }
}

/// Every program of a hart.
#[derive(Debug)]
pub(crate) struct Programs {
    /// The common one first.
    fixed: Vec<Program>,
    /// What a log says of them.
    changing: Option<Changing>,
}

impl Programs {
    /// A program without code or names.
    pub(crate) fn none(xlen: Xlen) -> Self {
        let image = Image::new(Isa::new(xlen));
        let fixed = vec![Program { context: None, image, files: Vec::new() }];
        Self { fixed, changing: None }
    }

    /// Loads programs, then bare code, then the programs of single contexts; what comes later wins
    /// where they overlap.
    pub(crate) fn load(
        elf: &[Placed],
        bare: &[Placed],
        contexts: &[(u64, Placed)],
        xlen: Xlen,
    ) -> Result<Self, Failure> {
        let image = Image::new(Isa::new(xlen));
        let mut common = Program { context: None, image, files: Vec::new() };
        for program in elf {
            common.add_elf(program)?;
        }
        for code in bare {
            let bytes = files::read(&code.path)?;
            common.add(code, |image| {
                image.add(xlen.wrap(code.address), &bytes);
                Ok(())
            })?;
        }
        let mut programs = vec![common];
        for (id, placed) in contexts {
            let index = programs.iter().position(|program| program.context == Some(*id));
            let index = index.unwrap_or_else(|| {
                let Program { image, files, .. } = &programs[0];
                let (image, files) = (image.clone(), files.clone());
                programs.push(Program { context: Some(*id), image, files });
                programs.len() - 1
            });
            programs[index].add_elf(placed)?;
        }
        Ok(Self { fixed: programs, changing: None })
    }

    /// The same, with code that comes and goes.
    pub(crate) fn change(&mut self, changing: Changing) {
        self.changing = Some(changing);
    }

    /// As the decoder takes them.
    pub(crate) fn images(&self) -> Images<'_> {
        let listed = self.fixed.iter().filter_map(|p| Some((p.context?, &p.image)));
        let first = Images::new(&self.fixed[0].image);
        let images = listed.fold(first, |images, (id, image)| images.context(id, image));
        if self.changing.is_some() { images.versions(self) } else { images }
    }

    /// The code at the start, and its number.
    pub(crate) fn first(&self) -> (usize, Image) {
        (0, self.fixed[0].image.clone())
    }

    /// The code of a context at a time, and its number.
    pub(crate) fn at(&self, moment: Moment) -> (usize, Image) {
        let fixed = self.of_context(moment.context);
        let image = &self.fixed[fixed].image;
        match &self.changing {
            Some(changing) => {
                let (number, image) = changing.version(moment, fixed, image);
                (self.fixed.len() + number, image)
            }
            None => (fixed, image.clone()),
        }
    }

    /// The code of a context.
    pub(crate) fn image(&self, context: u64) -> &Image {
        &self.fixed[self.of_context(Some(context))].image
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Program> {
        self.fixed.iter()
    }

    /// What all programs know, the common one first.
    pub(crate) fn all_symbols(&self) -> Symbols<'_> {
        let mut files: Vec<&Arc<File>> = Vec::new();
        for file in self.fixed.iter().flat_map(|program| &program.files) {
            if !files.iter().any(|other| Arc::ptr_eq(other, file)) {
                files.push(file);
            }
        }
        let mut symbols = Symbols::default();
        for file in files {
            symbols.add_elf(&file.bytes, file.bias, self.fixed[0].image.isa().xlen);
        }
        symbols
    }

    /// Number of the program that a context runs.
    pub(crate) fn of_context(&self, context: Option<u64>) -> usize {
        let own = |program: &Program| program.context == context;
        context.and_then(|_| self.fixed.iter().position(own)).unwrap_or(0)
    }
}

impl Versions for Programs {
    fn at(&self, moment: Moment) -> Option<(usize, Image)> {
        Some(self.at(moment))
    }
}

impl Program {
    fn add_elf(&mut self, placed: &Placed) -> Result<(), Failure> {
        let bytes = files::read(&placed.path)?;
        self.add(placed, |image| image.add_elf(&bytes, placed.address))?;
        self.files.insert(0, Arc::new(File { bytes, bias: placed.address }));
        Ok(())
    }

    /// Adds code, and says so if it takes the place of other code.
    fn add(
        &mut self,
        placed: &Placed,
        add: impl FnOnce(&mut Image) -> Result<(), ElfError>,
    ) -> Result<(), Failure> {
        let name = files::name(&placed.path);
        let before = self.image.overlaps().len();
        add(&mut self.image).map_err(|error| unloadable(error).at(&name))?;
        let xlen = self.image.isa().xlen;
        for range in &self.image.overlaps()[before..] {
            // Nobody may be reading.
            let _ = writeln!(
                io::stderr(),
                "warning: {name}: replaces other code from {} to {}; try another address or bias",
                address(range.start, xlen),
                address(range.end, xlen)
            );
        }
        Ok(())
    }
}

fn unloadable(error: ElfError) -> Failure {
    match &error {
        ElfError::Xlen { found, expected } => Failure::usage(format_args!(
            "this is an RV{} program, the trace is of RV{}",
            found.bits(),
            expected.bits()
        ))
        .hint(format_args!("--xlen {}", found.bits())),
        ElfError::NotElf(_) => {
            Failure::input(error).hint("--image FILE@ADDR, if this is bare code")
        }
        ElfError::NoSegments => Failure::input(error).hint("the program after linking"),
        _ => Failure::input(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_loaded() {
        let width = ElfError::Xlen { found: Xlen::Rv64, expected: Xlen::Rv32 };
        assert_eq!(unloadable(width).status(), 2);
        assert_eq!(unloadable(ElfError::Machine(62)).status(), 3);
        assert_eq!(unloadable(ElfError::NotElf(String::new())).status(), 3);
    }
}
