//! Descriptions of captures: `NAME.toml` beside the capture `NAME`.
//!
//! A description is a [parameter file](crate::params) with a few more keys, so it can be given wherever
//! parameters are expected:
//!
//! ```toml
//! version = 2                       # of this format; 1 without `capture`
//! command = "hartrace run calls.elf -o calls.te"
//! xlen = 64
//!
//! [parameters]                      # as in a parameter file, like the next two
//! iaddress_width_p = 64
//!
//! [options]
//! unit = "hartrace"
//!
//! [framing]
//! kind = "reference"
//!
//! [capture]                         # before any compression; commands that read it compare
//! bytes = 25314
//! xxh3 = "..."                      # its XXH3 of 128 bits
//! instructions = 137310             # that it decodes to, if known
//! ended-early = "SIGINT"            # what ended the run before the program ended itself, if anything did
//!
//! [trap-vectors]                    # contents of xtvec by privilege, where decoding requires them
//! m = "0x80000100"
//!
//! [[programs]]
//! file = "calls.elf"                # relative to the description
//! sha256 = "..."
//! build-id = "..."                  # if the program has one
//! code = "..."                      # XXH3 of 128 bits of its executable segments; decides, if it is there
//! instead-of = "SHA-256 ..."        # if this is not the program that was traced: what identifies that one
//! bias = "0x0"                      # or address, for bare code
//! context = 7                       # if only one context runs it
//!
//! [[kernel-code]]                   # executed, but in no file: where handlers of signals return to, for instance
//! address = "0x7ffff000"
//! bytes = "9308b00873000000"
//! ```

mod kernel;
mod program;
mod traced;

pub use kernel::KernelCode;
pub use program::{At, Different, ProgramFile};
pub use traced::Traced;

use crate::contents::Contents;
use crate::limits::PROGRAMS;
use crate::params::document::{self, Entry};
use crate::params::{DocumentError, Draft, Problem, unknown};
use crate::programs::{PlacedError, parse_address};
use crate::text::printable;
use hartrace_etrace::ingress::Privilege;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version of the format that is written.
pub const VERSION: u64 = 2;

/// The version without [`Description::capture`].
const VERSION_ALONE: u64 = 1;

const KEYS: [&str; 8] =
    ["file", "sha256", "build-id", "code", "instead-of", "bias", "address", "context"];

/// What is known of a capture, apart from its contents.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// The command that wrote the capture.
    pub command: Option<String>,
    /// What the capture contains, as far as that is known.
    pub capture: Contents,
    /// Parameters, modes and framing.
    pub draft: Draft,
    /// Contents of the trap vector registers, where decoding requires them.
    pub trap_vectors: BTreeMap<Privilege, u64>,
    /// The programs that were traced; later ones replace earlier code at the same addresses.
    pub programs: Vec<ProgramFile>,
    /// Code that was executed, and that is in no file.
    pub kernel_code: Vec<KernelCode>,
}

impl Description {
    /// Reads a description. `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// If it is not a description of this version; the error names the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, DocumentError> {
        let entries = document::parse(text, file)?;
        let refer = &mut |name: &str, entry: &Entry| {
            Err::<Draft, _>(entry.wrong(Problem::Reference(name.into())))
        };
        let mut description =
            Self { draft: Draft::of_entries(&entries, refer)?, ..Self::default() };
        for entry in &entries {
            match entry.key.as_str() {
                "version" => match entry.number(u64::MAX)? {
                    VERSION_ALONE..=VERSION => {}
                    version => return Err(entry.wrong(Problem::Version(version))),
                },
                "command" => description.command = Some(printable(entry.text()?).into()),
                "capture" => description.capture = Contents::read(entry.table()?)?,
                "trap-vectors" => {
                    for inner in entry.table()? {
                        let level = privilege(&inner.key);
                        let level =
                            level.ok_or_else(|| unknown(inner, LEVELS.iter().map(|l| l.0)))?;
                        // Levels have several spellings, which TOML takes for several keys.
                        if description.trap_vectors.insert(level, inner.address()?).is_some() {
                            return Err(inner.wrong(Problem::Twice(inner.key.clone())));
                        }
                    }
                }
                "kernel-code" => {
                    let tables = entry.tables()?;
                    if tables.len() > PROGRAMS {
                        return Err(entry.wrong(Problem::TooManyPrograms));
                    }
                    for table in tables {
                        description.kernel_code.push(KernelCode::read(table)?);
                    }
                }
                "programs" => {
                    let tables = entry.tables()?;
                    if tables.len() > PROGRAMS {
                        return Err(entry.wrong(Problem::TooManyPrograms));
                    }
                    for table in tables {
                        description.programs.push(ProgramFile::read(entry, table)?);
                    }
                }
                _ => {}
            }
        }
        Ok(description)
    }

    /// The same with these contents of trap vector registers, by privilege.
    #[must_use]
    pub fn with_trap_vectors(self, vectors: &[(u8, u64)]) -> Self {
        let vectors = vectors.iter().map(|(level, base)| (Privilege(*level), *base));
        Self { trap_vectors: vectors.collect(), ..self }
    }

    /// Returns where the description of a capture may be, the likeliest place first.
    pub fn places(capture: &Path) -> Vec<PathBuf> {
        let mut places = vec![Self::place(capture)];
        // The capture may have been compressed later.
        if capture.extension().is_some_and(|extension| extension == "zst") {
            places.push(Self::place(&capture.with_extension("")));
        }
        places
    }

    /// Returns where to write the description of a capture.
    pub fn place(capture: &Path) -> PathBuf {
        let mut name = capture.as_os_str().to_owned();
        name.push(".toml");
        name.into()
    }
}

/// Names of privilege levels.
const LEVELS: [(&str, Privilege); 5] = [
    ("m", Privilege::M),
    ("s", Privilege::S),
    ("u", Privilege::U),
    ("vs", Privilege::VS),
    ("vu", Privilege::VU),
];

/// A privilege level by name or number.
pub fn privilege(name: &str) -> Option<Privilege> {
    let named = LEVELS.iter().find(|(other, _)| name.eq_ignore_ascii_case(other));
    named.map(|(_, level)| *level).or_else(|| Some(Privilege(name.parse().ok()?)))
}

/// Why a text is not a trap vector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrapVectorError {
    /// There is no privilege level.
    #[error("write PRIV=ADDR, for example m=0x80000100")]
    NoLevel,
    /// There is no such privilege level.
    #[error("privilege `{0}` is not one of m, s, u, vs, vu or a number")]
    Level(String),
    /// The address is wrong.
    #[error(transparent)]
    Address(#[from] PlacedError),
}

/// Reads the trap vector of a privilege level, `PRIV=ADDR`.
///
/// # Errors
///
/// If one of the two is missing or wrong.
pub fn trap_vector(text: &str) -> Result<(Privilege, u64), TrapVectorError> {
    let (name, address) = text.split_once('=').ok_or(TrapVectorError::NoLevel)?;
    let level = privilege(name).ok_or_else(|| TrapVectorError::Level(name.into()))?;
    Ok((level, parse_address(address)?))
}

/// TOML.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_alone = self.capture == Contents::default();
        writeln!(f, "version = {}", if is_alone { VERSION_ALONE } else { VERSION })?;
        if let Some(command) = &self.command {
            writeln!(f, "command = {}", quoted(command))?;
        }
        write!(f, "{}", self.draft)?;
        if !is_alone {
            write!(f, "\n[capture]\n{}", self.capture)?;
        }
        if !self.trap_vectors.is_empty() {
            writeln!(f, "\n[trap-vectors]")?;
        }
        for (level, base) in &self.trap_vectors {
            let named = LEVELS.iter().find(|(_, other)| other == level);
            let name = named.map_or_else(|| level.0.to_string(), |(name, _)| (*name).into());
            writeln!(f, "{name} = \"{base:#x}\"")?;
        }
        self.programs.iter().try_for_each(|program| write!(f, "\n[[programs]]\n{program}"))?;
        self.kernel_code.iter().try_for_each(|code| write!(f, "\n[[kernel-code]]\n{code}"))
    }
}

/// Text as a string of TOML.
fn quoted(text: &str) -> toml::Value {
    toml::Value::String(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
        version = 2\ncommand = \"hartrace run 'a b.elf'\"\nxlen = 32\n\n[parameters]\n\
        iaddress_width_p = 32\n\n[options]\nunit = \"hartrace\"\nimplicit-return = true\n\n\
        [framing]\nkind = \"encap\"\nsrc-bits = 3\n\n[capture]\nbytes = 12\n\
        xxh3 = \"000102030405060708090a0b0c0d0e0f\"\ninstructions = 7\nended-early = \"SIGINT\"\n\n[trap-vectors]\n\
        m = \"0x80000100\"\n7 = \"0xffffffff80000000\"\n\n[[programs]]\nfile = \"a b.elf\"\nbias = \"0x0\"\n\n\
        [[programs]]\nfile = \"rom\"\naddress = \"0xffffffffffff0000\"\n\n\
        [[programs]]\nfile = \"x.elf\"\nbuild-id = \"0a0b\"\ninstead-of = \"SHA-256 12\"\nbias = \"0x10\"\ncontext = 9\n\n\
        [[kernel-code]]\naddress = \"0x7ffff000\"\nbytes = \"9308b00873000000\"\n";

    #[test]
    fn text_and_back() {
        let description = Description::parse(TEXT, "d").unwrap();
        assert_eq!(description.trap_vectors[&Privilege::M], 0x8000_0100);
        assert_eq!(description.programs.len(), 3);
        assert_eq!(description.programs[1].at, At::Address(0xffff_ffff_ffff_0000));
        assert_eq!(description.programs[2].context, Some(9));
        assert_eq!(description.kernel_code[0].bytes[..4], [0x93, 0x08, 0xb0, 0x08]);
        assert_eq!(description.to_string(), TEXT);
    }

    /// What older versions have written, and what is written by hand.
    #[test]
    fn without_a_capture() {
        let description = Description::parse("version = 1\n", "d").unwrap();
        assert_eq!(description.capture, Contents::default());
        assert!(description.to_string().starts_with("version = 1\n"), "{description}");
    }

    #[test]
    fn levels_are_in_order_whatever_they_are_called() {
        let description = Description::parse("[trap-vectors]\nVS = 1\nm = 2", "d").unwrap();
        let text = description.to_string();
        assert!(text.ends_with("m = \"0x2\"\nvs = \"0x1\"\n"), "{text}");
        assert_eq!(Description::parse(&text, "d").unwrap().to_string(), text);
    }

    #[test]
    fn it_is_a_parameter_file() {
        let draft = Draft::parse(TEXT, "d").unwrap();
        assert_eq!((draft.fields.src_bits, draft.params.len()), (Some(3), 1));
    }

    #[test]
    fn mistakes_have_places() {
        let error = |text: &str| Description::parse(text, "d").unwrap_err().to_string();
        assert_eq!(error("version = 3"), "d:1:1: version 3 is not known here, only 1 and 2");
        assert_eq!(error("[capture]\nbyts = 1"), "d:2:1: unknown key byts");
        let short = error("[capture]\nxxh3 = \"00\"");
        assert!(short.ends_with("must be 32 hexadecimal digits, not \"00\""), "{short}");
        assert_eq!(error("programs = 1"), "d:1:1: programs must be a list of tables, not 1");
        assert_eq!(error("[[programs]]\nfiel = \"a\""), "d:2:1: unknown key fiel");
        assert_eq!(error("\n[[programs]]\nbias = 1"), "d:2:3: a program has no file");
        let odd = error("[[kernel-code]]\nbytes = \"9\"");
        assert!(odd.ends_with("must be hexadecimal digits, of at most 64 KiB, not \"9\""), "{odd}");
        assert_eq!(error("[trap-vectors]\nx = 1"), "d:2:1: unknown key x");
        assert_eq!(error("[trap-vectors]\nM = 1\n3 = 1"), "d:2:1: M is given twice");
        assert_eq!(
            error("[[programs]]\nfile = \"a\"\nsha256 = \"0\"").split(':').nth(1),
            Some("3")
        );
        let both = "[[programs]]\nfile = \"a\"\nbias = 0\naddress = 1";
        assert!(error(both).starts_with("d:4:1: address must be"), "{}", error(both));
    }

    #[test]
    fn trap_vectors() {
        assert_eq!(trap_vector("m=0x80000101"), Ok((Privilege::M, 0x8000_0101)));
        assert_eq!(trap_vector("S=0"), Ok((Privilege::S, 0)));
        assert_eq!(trap_vector("6=0x10"), Ok((Privilege::VS, 0x10)));
        assert!(trap_vector("x=0").is_err());
        assert!(trap_vector("m").is_err());
    }

    #[test]
    fn beside_the_capture() {
        assert_eq!(Description::places(Path::new("d/c.te")), [Path::new("d/c.te.toml")]);
        let compressed = Description::places(Path::new("c.te.zst"));
        assert_eq!(compressed, [Path::new("c.te.zst.toml"), Path::new("c.te.toml")]);
    }
}
