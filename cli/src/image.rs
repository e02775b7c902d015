//! The traced program: ELF files and bare code, for all contexts or for one.

use crate::args::Placed;
use crate::failure::Failure;
use crate::files;
use crate::listing::address;
use crate::symbols::Symbols;
use hartrace_decoder::{ElfError, Image, Images};
use hartrace_isa::{Isa, Xlen};
use std::io::{self, Write};
use std::sync::Arc;

/// The code of one context, or of all that have none of their own.
#[derive(Debug)]
pub(crate) struct Program {
    context: Option<u64>,
    pub(crate) image: Image,
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

/// Every program of a hart: the common one first.
#[derive(Debug)]
pub(crate) struct Programs(Vec<Program>);

impl Programs {
    /// A program without code or names.
    pub(crate) fn none(xlen: Xlen) -> Self {
        Self(vec![Program { context: None, image: Image::new(Isa::new(xlen)), files: Vec::new() }])
    }

    /// Loads programs, then bare code, then the programs of single contexts; what comes later wins
    /// where they overlap.
    pub(crate) fn load(
        elf: &[Placed],
        bare: &[Placed],
        contexts: &[(u64, Placed)],
        xlen: Xlen,
    ) -> Result<Self, Failure> {
        if elf.is_empty() && bare.is_empty() && contexts.is_empty() {
            return Err(Failure::usage("a trace cannot be followed without the program")
                .hint("--elf PROG, or --image FILE@ADDR for bare code"));
        }
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
        Ok(Self(programs))
    }

    /// As the decoder takes them.
    pub(crate) fn images(&self) -> Images<'_> {
        let listed = self.0.iter().filter_map(|p| Some((p.context?, &p.image)));
        listed.fold(Images::new(&self.0[0].image), |images, (id, image)| images.context(id, image))
    }

    /// The code of a context.
    pub(crate) fn image(&self, context: u64) -> &Image {
        let own = self.0.iter().find(|program| program.context == Some(context));
        &own.unwrap_or(&self.0[0]).image
    }

    pub(crate) fn get(&self, number: usize) -> &Program {
        &self.0[number]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Program> {
        self.0.iter()
    }

    /// What all programs know, the common one first.
    pub(crate) fn all_symbols(&self) -> Symbols<'_> {
        let mut files: Vec<&Arc<File>> = Vec::new();
        for file in self.0.iter().flat_map(|program| &program.files) {
            if !files.iter().any(|other| Arc::ptr_eq(other, file)) {
                files.push(file);
            }
        }
        let mut symbols = Symbols::default();
        for file in files {
            symbols.add_elf(&file.bytes, file.bias, self.0[0].image.isa().xlen);
        }
        symbols
    }

    /// Number of the program that a context runs.
    pub(crate) fn of_context(&self, context: u64) -> usize {
        self.0.iter().position(|program| program.context == Some(context)).unwrap_or(0)
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
        assert_eq!(Programs::load(&[], &[], &[], Xlen::Rv64).unwrap_err().status(), 2);
    }
}
