//! Why captures cannot be opened, with what to try on the command line.

use crate::failure::Failure;
use crate::files;
use hartrace::OpenError;
use hartrace_arm_decoder::program::ProgramError;
use hartrace_capture::perf;
use hartrace_capture::ring::RingError;
use hartrace_capture::system::SystemError;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Unreadable { path, error } => files::unreadable(&path, &error),
            OpenError::UnreadableProgram { path, error } => files::unreadable(&path, &error)
                .hint("--elf PROG, with the program that was traced"),
            OpenError::Described(error) => error.into(),
            OpenError::Document(error) => error.into(),
            OpenError::Setup { place, error } => match place {
                Some(place) => Self::from(error).at(place),
                None => error.into(),
            },
            OpenError::Ring { name, error } => of_ring(&name, &error),
            OpenError::NoProgram => {
                Self::usage(error).hint("--elf PROG, or --image FILE@ADDR for bare code")
            }
            OpenError::NoContexts => Self::usage("--context-elf, but the trace has no contexts")
                .hint("--elf, or nocontext_p = 0 and context_width_p among the parameters"),
            OpenError::Program(error) => error.into(),
            OpenError::ArmProgram { name, error } => of_program(&name, &error),
            OpenError::Isa { isa, traced } => {
                let (bits, traced) = (isa.bits(), traced.bits());
                let what = format!("--isa of RV{bits}, but the trace is of RV{traced}");
                Self::usage(what).hint(format_args!("--xlen {bits}"))
            }
            OpenError::Compat => Self::usage(
                "--compat reproduces a reference model, but the unit is not `reference`",
            )
            .hint("unit = \"reference\", or no --compat"),
            OpenError::Events(error) => Self::input(error),
            OpenError::NoEvents => Self::usage("--context-id applies only to processes of a log")
                .hint("--events LOG, or the same without it"),
            OpenError::NoContextId => {
                Self::usage(error).hint("--context-id tid, if it holds a thread or process")
            }
            OpenError::NoTime { path, error } => {
                let hint =
                    "a log with @POSITION, or notime_p = 0 and time_width_p among the parameters";
                Self::usage(error).at(path.display()).hint(hint)
            }
            OpenError::Recording(error) => of_recording(&error),
            OpenError::Ordered(path) => {
                Self::usage("--ring, but the kernel has put the trace of a recording in order")
                    .at(path.display())
                    .hint("the same without --ring")
            }
            OpenError::NTrace(path) => {
                Self::input("the recording has N-Trace, which is not supported")
                    .at(path.display())
                    .hint("E-Trace, if the trace unit has it")
            }
            OpenError::Snapshot { path, error } => Self::input(error).at(path.display()),
            OpenError::Frames(error) => Self::usage(error).hint("the same without --frames"),
            OpenError::Bind(error) => error.into(),
            OpenError::System(error @ SystemError::NoContextId) => Self::usage(error)
                .hint("--context-id tid, or context_id_holds in the metadata of a package"),
            OpenError::System(error) => Self::input(error),
            OpenError::NoTrace { path, why } => {
                Self::input(format_args!("no ETMv4, ETE or PTM trace{why}")).at(path.display())
            }
            error => Self::input(error),
        }
    }
}

fn of_ring(name: &str, error: &RingError) -> Failure {
    let failure = Failure::input(error).at(name);
    failure.hint("--ring OFFSET: the write pointer of the trace memory, minus its start")
}

fn of_program(name: &str, error: &ProgramError) -> Failure {
    let failure = Failure::input(error).at(name);
    match error {
        ProgramError::NotElf(_) => failure.hint("--image FILE@ADDR, if this is bare code"),
        ProgramError::NoSegments => failure.hint("the program after linking"),
        _ => failure,
    }
}

/// Why a recording cannot be read; its file is known elsewhere.
pub(crate) fn of_recording(error: &perf::Error) -> Failure {
    let hint = match error {
        perf::Error::Compressed { .. } => Some("perf record without -z"),
        perf::Error::NoTrace => {
            Some("perf record -e cs_etm//u, or the event of another trace unit")
        }
        perf::Error::Short { .. } => Some("the whole file"),
        _ => None,
    };
    Failure::input(error).hint_if(hint)
}
