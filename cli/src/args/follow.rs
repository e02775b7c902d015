//! Arguments that `decode`, `check` and `stats` have in common.

use super::stream::COMPAT;
use super::values::{named, parse_isa, parse_threads};
use super::{EventsArgs, StreamArgs};
use crate::failure::Failure;
use clap::Args;
use clap::ValueHint::FilePath;
use clap::builder::Resettable;
use hartrace::Options;
use hartrace_capture::description::{Description, trap_vector};
use hartrace_capture::programs::Placed;
use hartrace_decoder::Resync;
use hartrace_etrace::Compat;
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::Isa;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The heading of what says which code was traced.
const PROGRAM: &str = "Program";

/// A capture, and the program to follow it through.
#[derive(Debug, Args)]
#[command(next_help_heading = "Decoding")]
pub(crate) struct FollowArgs {
    /// The capture, or a bundle of it
    ///
    /// Parameters and programs are those of its description, CAPTURE.toml; options take precedence.
    #[arg(required = true, help_heading = Resettable::Reset)]
    pub(crate) capture: Option<PathBuf>,
    /// Program; BIAS (0x...) is added to its addresses. May be given more than once
    #[arg(long, value_name = "PROG[@BIAS]", allow_hyphen_values = true, value_parser = Placed::program, value_hint = FilePath, help_heading = PROGRAM)]
    pub(crate) elf: Vec<Placed>,
    /// Bare code at ADDR (0x...). May be given more than once
    #[arg(long, value_name = "FILE@ADDR", allow_hyphen_values = true, value_parser = Placed::bare, value_hint = FilePath, help_heading = PROGRAM)]
    pub(crate) image: Vec<Placed>,
    /// Program of context ID only, in addition to all common code. May be given more than once
    #[arg(
        long,
        value_name = "ID=PROG[@BIAS]",
        allow_hyphen_values = true,
        value_parser = Placed::of_context, value_hint = FilePath, help_heading = PROGRAM
    )]
    pub(crate) context_elf: Vec<(u64, Placed)>,
    /// Extensions of the hart, such as rv32imac_zcmp [default: as the programs list them]
    ///
    /// Only Zcmp and Zcmt matter: their encodings mean something else on other harts.
    #[arg(long, value_name = "ISA", value_parser = parse_isa, help_heading = PROGRAM)]
    pub(crate) isa: Option<Isa>,
    /// Contents of xtvec, for implicit exceptions: PRIV is m, s, vs, u or a number
    #[arg(long, value_name = "PRIV=ADDR", value_parser = trap_vector, help_heading = PROGRAM)]
    pub(crate) tvec: Vec<(Privilege, u64)>,
    /// Expect the listed quirks of a reference model
    #[arg(long, value_parser = named(COMPAT))]
    pub(crate) compat: Option<Compat>,
    /// Where to continue after a gap [default: sync]
    #[arg(long, value_parser = named(RESYNC))]
    pub(crate) resync: Option<Resync>,
    /// Follow at most N blocks of code for one packet, and treat it as damaged then [default: no limit]
    ///
    /// A packet may stand for billions of branches, so a damaged one may claim billions that never were,
    /// and commands that print every instruction print them all. Commands that add up count the turns of a
    /// loop without following each.
    #[arg(long, value_name = "N")]
    pub(crate) max_blocks: Option<u64>,
    /// Threads to decode on [default: one per core]
    ///
    /// The output is the same for any number. More than one thread needs synchronisations in the
    /// trace, or several sources, of which each has one thread. So has each source of a snapshot.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// End with an error, and status 1, at the first gap
    #[arg(long)]
    pub(crate) strict: bool,
    /// Names of functions stay as the linker has them: _Z3addii instead of add(int, int)
    ///
    /// Profiles for compilers and lcov always have those.
    #[arg(long, help_heading = PROGRAM)]
    pub(crate) raw_names: bool,
    #[command(flatten)]
    pub(crate) events: EventsArgs,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

impl FollowArgs {
    /// The same, as the library has it.
    pub(crate) fn options(&self) -> Options {
        let mut options = self.stream.options();
        options.programs = self.elf.clone();
        options.images = self.image.clone();
        options.context_programs = self.context_elf.clone();
        options.isa = self.isa;
        options.events = self.events.events.clone();
        options.context_id = self.events.context_id;
        options.trap_vectors = self.tvec.iter().copied().collect();
        options.compat = self.compat;
        options.resync = self.resync.unwrap_or(options.resync);
        options.max_blocks = self.max_blocks;
        options.threads = self.threads;
        options.raw_names = self.raw_names;
        options
    }

    /// The files with code that are given.
    pub(crate) fn program_files(&self) -> impl Iterator<Item = &Path> {
        let contexts = self.context_elf.iter().map(|(_, placed)| placed);
        self.elf.iter().chain(&self.image).chain(contexts).map(|placed| placed.path.as_path())
    }

    /// Whether a program or other code is given.
    pub(crate) fn has_program(&self) -> bool {
        let fixed = self.elf.len() + self.image.len() + self.context_elf.len();
        fixed > 0 || self.events.events.is_some()
    }

    /// The trap vectors of the command line or, without any, of the description.
    pub(crate) fn trap_vectors(&self, known: Option<&Description>) -> BTreeMap<Privilege, u64> {
        match known {
            Some(known) if self.tvec.is_empty() => known.trap_vectors.clone(),
            _ => self.tvec.iter().copied().collect(),
        }
    }

    /// The capture; an error if something else was given in its place.
    pub(crate) fn capture(&self) -> Result<&Path, Failure> {
        self.capture.as_deref().ok_or_else(|| Failure::usage("no capture given"))
    }
}

/// Where to continue after a gap.
///
/// Instructions that never retired end at the next synchronisation. They appear where a packet with an
/// address was lost unnoticed, since addresses are differences from the previous one (except with full
/// addresses), and where an inferable jump is mistaken for one that will be reported.
const RESYNC: [(&str, Resync, &str); 2] = [
    ("sync", Resync::Sync, "At the next synchronisation: exact, whatever was lost"),
    (
        "address",
        Resync::Address,
        "At the next packet with an address: skips less, but may print instructions that never retired",
    ),
];
