//! How programs end, in the terms of a shell.

use super::{Loaded, Problem, Program};
use hartrace_capture::programs::Symbols;
use hartrace_iss::Exit;

/// Names of signals, the first of them number 1.
const SIGNALS: [&str; 15] = [
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL",
    "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
];

/// Instructions that will never exist: compilers put them where a program must not come.
const NEVER: [u32; 2] = [0, 0xc000_1073];

impl Program {
    /// Returns the signal that ended a run: one that was sent, or, for a Linux program, that of an exception.
    pub fn signal(&self, exit: Exit) -> Option<i32> {
        let linux = !self.is_bare();
        match exit {
            Exit::Killed(signal) => Some(signal),
            Exit::Unsupported { encoding, .. } if linux && NEVER.contains(&encoding) => Some(4),
            Exit::Fault { cause, .. } if linux => Some(match cause {
                3 => 5,
                0 | 4 | 6 => 7,
                _ => 11,
            }),
            _ => None,
        }
    }

    /// Returns the exit status that a shell would have of a run: that of the program, 128 and the number of the signal that
    /// ended it, and 0 if it was cut by its limit. 255 stands for a code of a bare-metal program of which a shell would
    /// see only a 0.
    pub fn status(&self, exit: Exit) -> u8 {
        match (self.signal(exit), exit) {
            (Some(signal), _) => (128 + (signal & 127)) as u8,
            (None, Exit::Exited(0)) => 0,
            (None, Exit::Exited(code)) => match (code & 0xff) as u8 {
                0 => u8::MAX,
                code => code,
            },
            (None, _) => 0,
        }
    }

    /// Describes how a run ended that had loaded this code, with the function where that was.
    pub fn complaint_in(&self, exit: Exit, loaded: &Loaded) -> Option<String> {
        let complaint = self.complaint(exit)?;
        let (Exit::Fault { pc, .. }
        | Exit::Unsupported { pc, .. }
        | Exit::Deadlock { pc, .. }
        | Exit::NewProcess { pc }
        | Exit::Stuck { pc }) = exit
        else {
            return Some(complaint);
        };
        let mut symbols = Symbols::default();
        symbols.add_elf(&self.elf, loaded.bias, self.xlen());
        for library in &loaded.libraries {
            symbols.add_elf(&library.bytes, library.bias, self.xlen());
        }
        Some(match symbols.place(pc) {
            Some(place) => format!("{complaint}, in {}", place.name),
            None => complaint,
        })
    }

    /// Whether a run ended before the program did, as far as it would ever have ended. Code without an operating system
    /// has no other end than to wait for ever.
    pub fn is_early(&self, exit: Exit) -> bool {
        match exit {
            Exit::Exited(_) | Exit::Limit => false,
            Exit::Stuck { .. } => !self.is_bare(),
            _ => true,
        }
    }

    /// Describes how a run ended, unless it ended successfully or at its limit.
    pub fn complaint(&self, exit: Exit) -> Option<String> {
        let problem = Problem::of(exit).map(|problem| problem.to_string());
        match (self.signal(exit), problem, exit) {
            (Some(signal), Some(problem), _) => Some(format!("{}: {problem}", name(signal))),
            (Some(signal), None, _) => Some(name(signal)),
            (None, Some(problem), _) => Some(problem),
            (None, None, Exit::Stuck { pc }) => Some(Problem::Stuck { pc }.to_string()),
            (None, None, Exit::Exited(0) | Exit::Limit) => None,
            (None, None, Exit::Exited(code)) => Some(format!("exit code {code}")),
            (None, None, _) => Some("stopped".into()),
        }
    }
}

/// The name of a signal.
pub(super) fn name(signal: i32) -> String {
    let known = usize::try_from(signal).ok().and_then(|n| SIGNALS.get(n.checked_sub(1)?));
    known.map_or_else(|| format!("signal {signal}"), |name| (*name).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executed::bundled::PROGRAMS;

    fn program(name: &str) -> Program {
        let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).expect("bundled");
        Program::new(name, elf.to_vec()).expect("a program")
    }

    #[test]
    fn ends_have_statuses_and_texts() {
        let fault = Exit::Fault { pc: 0x1_0000, cause: 13, tval: 8 };
        let never = Exit::Unsupported { pc: 4, encoding: 0xc000_1073 };
        let vector = Exit::Unsupported { pc: 4, encoding: 0x57 };
        let (linux, bare) = (program("linux"), program("calls"));
        let of = |program: &Program, exit| (program.status(exit), program.complaint(exit));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(&linux, Exit::Exited(0)), (0, None));
        assert_eq!(of(&linux, Exit::Limit), (0, None));
        assert_eq!(of(&linux, Exit::Exited(3)), (3, text("exit code 3")));
        assert_eq!(of(&bare, Exit::Exited(512)), (255, text("exit code 512")));
        assert_eq!(of(&linux, Exit::Killed(2)), (130, text("SIGINT")));
        assert_eq!(of(&bare, Exit::Killed(40)), (168, text("signal 40")));
        let segv =
            "SIGSEGV: load fault (exception 13) at address 0x8, by the instruction at 0x10000";
        assert_eq!(of(&linux, fault), (139, text(segv)));
        let (_, rest) = segv.split_once(": ").unwrap();
        assert_eq!(of(&bare, fault), (0, text(rest)));
        assert_eq!(of(&linux, never).0, 132);
        let stuck = Exit::Stuck { pc: 4 };
        let waits = text("waits, or jumps to itself, at 0x4 for ever");
        assert_eq!((of(&linux, stuck), of(&bare, stuck)), ((0, waits.clone()), (0, waits)));
        assert!(linux.is_early(stuck) && !bare.is_early(stuck));
        let entry = linux.entry();
        let exit = Exit::Fault { pc: entry, cause: 7, tval: 16 };
        let text = format!(
            "SIGSEGV: store fault (exception 7) at address 0x10, by the instruction at {entry:#x}, in _start"
        );
        assert_eq!(linux.complaint_in(exit, &linux.loaded()), Some(text));
        // That may be an instruction which only our hart does not have.
        let missing = "no instruction 0x00000057 at 0x4";
        assert_eq!(of(&linux, vector), (0, Some(missing.to_owned())));
        assert!(linux.check(vector).is_err() && bare.check(fault).is_err());
        assert!(linux.check(fault).is_ok() && linux.succeeded(fault, &[]).is_err());
    }
}
