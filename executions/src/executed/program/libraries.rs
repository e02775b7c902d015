//! Dynamically linked programs: where their libraries are, and which of them a run loads.

use super::{Problem, Program, ProgramError};
use elf::ElfBytes;
use elf::abi::{EM_RISCV, ET_DYN, PT_INTERP, PT_LOAD};
use elf::endian::LittleEndian;
use hartrace_capture::limits;
use hartrace_capture::text::shown;
use hartrace_isa::Xlen;
use hartrace_iss::{Exit, Hart, Mapping};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Exit code of a dynamic linker that does not find a library.
const NOT_FOUND: i32 = 127;

/// A file whose code a run has executed besides the program: a library, or the dynamic linker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its file.
    pub path: PathBuf,
    /// The contents of the file.
    pub bytes: Arc<[u8]>,
    /// What is added to its addresses.
    pub bias: u64,
}

/// Names of libraries that were looked for, and whether they were found.
pub(super) type Sought = Arc<Mutex<BTreeMap<String, bool>>>;

impl Program {
    /// Sets the folder that a dynamically linked program finds its dynamic linker and its libraries in. Unless told, it is the
    /// one of `QEMU_LD_PREFIX`, or where compilers for another machine have it. Other programs stay as they are.
    ///
    /// # Errors
    ///
    /// If the dynamic linker is not there.
    pub fn linked_in(mut self, folder: Option<PathBuf>) -> Result<Self, ProgramError> {
        if let Some(linker) = self.interpreter() {
            let sysroot = Self::find_sysroot(self.xlen(), folder, &linker);
            self.sysroot = Some(sysroot.map_err(|problem| self.error(problem))?);
        }
        Ok(self)
    }

    /// The dynamic linker that a Linux program asks for.
    pub(super) fn interpreter(&self) -> Option<String> {
        let file = ElfBytes::<LittleEndian>::minimal_parse(&self.elf).ok()?;
        let segment = file.segments()?.iter().find(|segment| segment.p_type == PT_INTERP)?;
        let name = String::from_utf8_lossy(file.segment_data(&segment).ok()?);
        Some(name.trim_end_matches('\0').to_owned())
    }

    /// Whether the program can be loaded anywhere.
    pub(super) fn is_relocatable(elf: &[u8]) -> bool {
        let file = ElfBytes::<LittleEndian>::minimal_parse(elf);
        file.is_ok_and(|file| file.ehdr.e_type == ET_DYN)
    }

    /// The folder that has the dynamic linker.
    fn find_sysroot(
        xlen: Xlen,
        given: Option<PathBuf>,
        interpreter: &str,
    ) -> Result<PathBuf, Problem> {
        let has = |folder: &PathBuf| below(folder, interpreter).is_some_and(|path| path.is_file());
        let places = match (given, env::var_os("QEMU_LD_PREFIX")) {
            (Some(given), _) => vec![given],
            (None, Some(prefix)) => vec![prefix.into()],
            (None, None) => {
                let name = match xlen {
                    Xlen::Rv32 => "riscv32",
                    Xlen::Rv64 => "riscv64",
                };
                // Debian, Fedora, tools that were built elsewhere, and a machine that is a RISC-V itself.
                vec![
                    format!("/usr/{name}-linux-gnu").into(),
                    format!("/usr/{name}-linux-gnu/sys-root").into(),
                    "/opt/riscv/sysroot".into(),
                    "/".into(),
                ]
            }
        };
        match places.iter().find(|folder| has(folder)) {
            Some(folder) => Ok(folder.clone()),
            None => Err(Problem::NoLinker { linker: interpreter.to_owned(), places }),
        }
    }

    /// Lets a hart find the libraries of this program.
    pub(super) fn give_libraries(&self, hart: &mut Hart) -> Sought {
        let sought = Sought::default();
        let Some(sysroot) = self.sysroot.clone().filter(|_| self.interpreter().is_some()) else {
            return sought;
        };
        let path = self.path.as_ref().and_then(|path| fs::canonicalize(path).ok());
        let executable = path.map_or_else(|| self.name.clone(), |path| shown(&path));
        let seen = sought.clone();
        hart.set_libraries(executable, move |name| {
            let found = find(&sysroot, name);
            if let Some(file) = Path::new(name).file_name().and_then(|file| file.to_str())
                && file.contains(".so")
                && !file.starts_with("ld.so.")
            {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                *seen.entry(file.to_owned()).or_default() |=
                    found.as_ref().is_some_and(|it| it.is_file());
            }
            found
        });
        sought
    }

    /// Checks that the dynamic linker has found all libraries, if the program has ended before it `started`.
    pub(super) fn check_linked(
        &self,
        exit: Exit,
        started: bool,
        sought: &Sought,
    ) -> Result<(), ProgramError> {
        let sought = sought.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = sought.iter().filter(|(_, found)| !**found).map(|(name, _)| name.clone());
        let names: Vec<_> = missing.collect();
        match &self.sysroot {
            Some(sysroot) if exit == Exit::Exited(NOT_FOUND) && !started && !names.is_empty() => {
                Err(self.error(Problem::NoLibrary { names, sysroot: sysroot.clone() }))
            }
            _ => Ok(()),
        }
    }

    /// The file that a program opens under a name.
    pub(super) fn real_path(&self, name: &str) -> PathBuf {
        let path = self.sysroot.as_ref().and_then(|sysroot| below(sysroot, name));
        let path = path.filter(|path| path.is_file()).unwrap_or_else(|| name.into());
        fs::canonicalize(&path).unwrap_or(path)
    }
}

/// A path below a folder.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    Some(folder.join(Path::new(name).strip_prefix("/").ok()?))
}

/// What is under a name: below the folder of the libraries, or a library of this machine for the program.
fn find(sysroot: &Path, name: &str) -> Option<PathBuf> {
    if let Some(path) = below(sysroot, name).filter(|path| path.is_dir() || path.is_file()) {
        return Some(path);
    }
    let path = PathBuf::from(name);
    if path.is_dir() {
        return Some(path);
    }
    // The identification of an ELF file, its type and its machine.
    let (mut magic, mut rest, mut kind) = ([0; 4], [0; 12], [0; 4]);
    let mut file =
        Some(&path).filter(|path| path.is_file()).and_then(|path| limits::open(path).ok())?;
    for part in [&mut magic[..], &mut rest, &mut kind] {
        file.read_exact(part).ok()?;
    }
    let [kind @ .., low, high] = kind;
    let (kind, machine) = (u16::from_le_bytes(kind), u16::from_le_bytes([low, high]));
    let is_library = magic == *b"\x7fELF" && machine == EM_RISCV && kind == ET_DYN;
    is_library.then_some(path)
}

/// What is added to the addresses of a file, if this is a mapping of its code.
pub(super) fn bias(bytes: &[u8], mapping: &Mapping) -> Option<u64> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok()?;
    let segment = file.segments()?.iter().find(|segment| {
        let start = segment.p_offset & !0xfff;
        let end = segment.p_offset.saturating_add(segment.p_filesz);
        segment.p_type == PT_LOAD && (start..end).contains(&mapping.offset)
    })?;
    let offset = mapping.offset.wrapping_sub(segment.p_offset);
    Some(mapping.address.wrapping_sub(segment.p_vaddr.wrapping_add(offset)))
}
