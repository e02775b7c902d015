//! The code that a run loads, as it comes.

use super::{Executor, Library, Problem, Program, ProgramError, libraries};
use hartrace_capture::description::KernelCode;
use hartrace_capture::limits;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_iss::Mapping;

/// The code that a run has loaded until now.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// All of it.
    pub image: Image,
    /// What is added to the addresses of the program.
    pub bias: u64,
    /// The dynamic linker of the program, and its libraries.
    pub libraries: Vec<Library>,
    /// Code that is in no file, in order of its addresses.
    pub kernel_code: Vec<KernelCode>,
    /// Whether it is known where the program itself is.
    placed: bool,
}

/// What a run passes on.
#[derive(Copy, Clone, Debug)]
pub enum Progress<'a> {
    /// There is more code, of which nothing has been executed yet.
    Loaded(&'a Loaded),
    /// These have retired.
    Rows(&'a [Retired]),
}

impl Program {
    /// Returns what is loaded before a run starts. QEMU tells later where it has loaded a program that can be anywhere.
    pub fn loaded(&self) -> Loaded {
        let elsewhere = self.executor == Executor::Qemu && Self::is_relocatable(&self.elf);
        let placed = !elsewhere || self.is_bare();
        let (image, bias) = match placed {
            true => (self.image.clone(), self.bias),
            false => (Image::new(self.image.isa()), 0),
        };
        Loaded { image, bias, libraries: Vec::new(), kernel_code: Vec::new(), placed }
    }

    /// Adds code of libraries that was mapped. Returns whether there was any that is new.
    pub(super) fn load(
        &self,
        loaded: &mut Loaded,
        mappings: &[Mapping],
    ) -> Result<bool, ProgramError> {
        let mut more = false;
        for mapping in mappings {
            let path = self.real_path(&mapping.file);
            let problem = |why| self.error(Problem::Library { path: path.clone(), why });
            let bytes = limits::read_file(&path).map_err(|error| problem(error.to_string()))?;
            // Files that are no programs have no code that a decoder could know.
            let Some(bias) = libraries::bias(&bytes, mapping) else { continue };
            let known = |library: &Library| library.path == path && library.bias == bias;
            if loaded.libraries.iter().any(known) {
                continue;
            }
            let before = loaded.image.overlaps().len();
            loaded.image.add_elf(&bytes, bias).map_err(|error| problem(error.to_string()))?;
            if loaded.image.overlaps().len() > before {
                let address = mapping.address;
                return Err(self.error(Problem::Replaced { path, address }));
            }
            loaded.libraries.push(Library { path, bytes: bytes.into(), bias });
            more = true;
        }
        Ok(more)
    }

    /// Adds the code of the program itself, where QEMU has mapped it. Returns whether that is new.
    pub(super) fn load_own(
        &self,
        loaded: &mut Loaded,
        mapping: &Mapping,
    ) -> Result<bool, ProgramError> {
        match libraries::bias(&self.elf, mapping) {
            Some(bias) if !loaded.placed => {
                loaded.image.add_elf(&self.elf, bias).map_err(|error| self.error(error))?;
                (loaded.bias, loaded.placed) = (bias, true);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

impl Loaded {
    /// Adds code that is in no file, unless there is code at its address already: what a program generates may change, and a
    /// decoder has one program for each address. Returns whether it is new.
    pub(super) fn add_kernel_code(&mut self, address: u64, bytes: &[u8]) -> bool {
        let size = |code: &KernelCode| code.bytes.len();
        let used: usize = self.kernel_code.iter().map(size).sum();
        if self.image.insn(address).is_some() || used + bytes.len() > limits::KERNEL_CODE {
            return false;
        }
        self.image.add(address, bytes);
        let at = self.kernel_code.partition_point(|code| code.address < address);
        self.kernel_code.insert(at, KernelCode { address, bytes: bytes.to_vec() });
        // Blocks that follow each other are one piece.
        self.kernel_code.dedup_by(|next, code| {
            let follows = code.address.wrapping_add(code.bytes.len() as u64) == next.address;
            if follows {
                code.bytes.append(&mut next.bytes);
            }
            follows
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executed::bundled::PROGRAMS;
    use hartrace_capture::output::Scratch;
    use std::fs;

    #[test]
    fn code_without_a_file_is_kept_once() {
        let (_, elf) = PROGRAMS.iter().find(|(name, _)| *name == "linux").expect("bundled");
        let program = Program::new("program", elf.to_vec()).expect("a program");
        let mut loaded = program.loaded();
        assert!(!loaded.add_kernel_code(program.entry(), &[0x01, 0x00]), "the program is there");
        assert!(loaded.add_kernel_code(0x7000_0004, &[0x73, 0, 0, 0]));
        assert!(loaded.add_kernel_code(0x7000_0000, &[0x93, 0x08, 0xb0, 0x08]));
        assert!(!loaded.add_kernel_code(0x7000_0000, &[0x01, 0x00]));
        let bytes = vec![0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0];
        assert_eq!(loaded.kernel_code, [KernelCode { address: 0x7000_0000, bytes }]);
        assert!(!loaded.add_kernel_code(0x8000_0000, &[1; limits::KERNEL_CODE]), "too much");
    }

    /// The same code again changes nothing; other code at its addresses is an error that names the library.
    #[test]
    fn addresses_of_code_are_not_used_again() {
        let (_, elf) = PROGRAMS.iter().find(|(name, _)| *name == "linux").expect("bundled");
        let program = Program::new("program", elf.to_vec()).expect("a program");
        let folder = Scratch::new().expect("a folder");
        let file = folder.join("lib.so");
        fs::write(&file, elf).expect("a file");
        let at = |address| {
            let file = file.display().to_string();
            let mapping = Mapping { file, address, size: 0x1000, offset: 0 };
            let later = Mapping { offset: 0x1000, ..mapping.clone() };
            if libraries::bias(elf, &mapping).is_some() { mapping } else { later }
        };
        let mut loaded = program.loaded();
        let code =
            |loaded: &Loaded| loaded.image.ranges().map(|range| range.end - range.start).sum();
        let before: u64 = code(&loaded);
        assert!(program.load(&mut loaded, &[at(0x5000_0000)]).expect("code"));
        assert!(!program.load(&mut loaded, &[at(0x5000_0000)]).expect("the same code"));
        assert_eq!((code(&loaded), loaded.libraries.len()), (2 * before, 1));
        assert!(program.load(&mut loaded, &[at(0x6000_0000)]).expect("a copy"));
        let error = program.load(&mut loaded, &[at(0x5000_0040)]).expect_err("other code");
        let text = error.to_string();
        assert!(text.contains("lib.so is at 0x50000040") && text.contains("; try: "), "{text}");
        assert_eq!(loaded.libraries.len(), 2);
    }
}
