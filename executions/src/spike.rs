//! Spike's logs.

mod line;

use crate::join::{Join, Step, Trap};
use crate::lines::Lines;
use crate::{Guesses, Row, SourceError};
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::{Isa, Xlen};
use line::{Found, Line};
use std::io::BufRead;

/// Executions that lines `Executed N times` of a log may stand for together: a few bytes must not take minutes.
const REPEATS: u32 = 1 << 22;

const HINT: &str = "the output of spike -l --log-commits";

/// Reads the rows of a log of Spike, written with `--log-commits`, with `-l`, or with both; or by
/// the RVFI tracer of CVA6, which writes nearly the same.
///
/// With both, everything is known except the privilege of an instruction that traps directly after a
/// trap return. With `-l` alone, privilege is not known: all rows report M. With `--log-commits`
/// alone, traps are not logged: an unexplained jump of addresses is reported as an exception with
/// cause 0, see [`Guesses::traps`], and traps directly after indirect jumps go unnoticed.
/// Virtualised privilege is reported as the plain one. CVA6 does not log the causes of interrupts or
/// trap values.
#[derive(Debug)]
pub(crate) struct Spike<R> {
    lines: Lines<R>,
    hart: u32,
    /// Known from the start, or from the first address on.
    join: Option<(Xlen, Join)>,
    /// The hart of the last line.
    newest: u32,
    state: State,
    any: bool,
    at_end: bool,
}

impl<R: BufRead> Spike<R> {
    pub(crate) fn new(input: R, file: &str, xlen: Option<Xlen>, hart: u32) -> Self {
        Self {
            lines: Lines::new(input, file),
            hart,
            join: xlen.map(|xlen| (xlen, Join::new(Isa::new(xlen)))),
            newest: hart,
            state: State { may_repeat: Some(REPEATS), ..State::default() },
            any: false,
            at_end: false,
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, SourceError> {
        loop {
            if let Some((_, join)) = &mut self.join {
                if let Some(row) = join.take() {
                    return Ok(Some(row));
                }
                if self.state.repeat(join) {
                    continue;
                }
            }
            if self.at_end {
                return Ok(None);
            }
            if self.lines.advance()? {
                self.take_line()?;
                continue;
            }
            self.at_end = true;
            if !self.any {
                return Err(self.lines.error(format!("no line of hart {}", self.hart), HINT));
            }
            if let Some((_, join)) = &mut self.join {
                self.state.end(join);
            }
        }
    }

    pub(crate) fn guesses(&self) -> Guesses {
        self.join.as_ref().map_or(Guesses::default(), |(_, join)| join.guesses)
    }

    fn take_line(&mut self) -> Result<(), SourceError> {
        let text = self.lines.text();
        let (hart, line) = match line::find(text) {
            Found::Hart(hart, line) => (hart.unwrap_or(self.newest), line),
            Found::Broken(hart) if hart == self.hart => {
                let start: String = text.chars().take(80).collect();
                return Err(self.lines.error(format!("cannot understand `{start}`"), HINT));
            }
            Found::Broken(_) | Found::Nothing => return Ok(()),
        };
        self.newest = hart;
        if hart != self.hart {
            return Ok(());
        }
        self.any = true;
        let (xlen, join) = self.join.get_or_insert_with(|| {
            // Addresses are padded to the width of registers.
            let xlen = if line::digits(text) == Some(8) { Xlen::Rv32 } else { Xlen::Rv64 };
            (xlen, Join::new(Isa::new(xlen)))
        });
        self.state.take(line, self.lines.number(), *xlen, join);
        match self.state.may_repeat {
            Some(_) => Ok(()),
            None => Err(self.lines.error(
                format!("instructions of this log are executed again more than {REPEATS} times"),
                "a log with --log-commits, which has a line for each",
            )),
        }
    }
}

/// Whether a line belongs to a hart.
pub(crate) fn is_line(text: &str) -> bool {
    matches!(line::find(text), Found::Hart(_, line) if line != Line::Other)
}

/// State that waits for the next line.
#[derive(Debug, Default)]
struct State {
    /// Whether retired instructions have separate lines.
    commits: bool,
    /// The last instruction that was started, as far as is known.
    started: Option<Step>,
    /// A trap whose value may follow.
    trap: Option<Trap>,
    /// Number of additional executions of the last instruction.
    repeats: u32,
    /// Number of them that are left for the whole log; `None` after one too many.
    may_repeat: Option<u32>,
}

impl State {
    fn take(&mut self, line: Line, number: u64, xlen: Xlen, join: &mut Join) {
        match line {
            Line::Value(tval) => {
                if let Some(trap) = &mut self.trap {
                    trap.tval = xlen.wrap(tval);
                }
            }
            // Follows the trap that ended the loop, if there was one.
            Line::Executed(times) if !self.commits && self.started.is_some() => {
                self.repeats = times.saturating_sub(1);
                self.may_repeat = self.may_repeat.and_then(|left| left.checked_sub(self.repeats));
            }
            Line::Executed(_) | Line::Other => {}
            Line::Instruction { privilege, pc, word, interrupted } => {
                self.flush(join);
                let level = privilege.unwrap_or(Privilege::M);
                let pc = xlen.wrap(pc);
                let step = Step {
                    line: number,
                    pc,
                    word,
                    privilege: level,
                    cycles: 1,
                    taken: None,
                    interrupted,
                };
                self.instruction(step, privilege.is_some(), join);
            }
            Line::Exception { interrupt, cause, epc } => {
                self.flush(join);
                let epc = xlen.wrap(epc);
                if !interrupt {
                    self.unretire(epc, join);
                }
                let privilege = match cause {
                    Some(8) if !interrupt => Some(Privilege::U),
                    Some(9) if !interrupt => Some(Privilege::S),
                    Some(11) if !interrupt => Some(Privilege::M),
                    _ => None,
                };
                let line = number;
                self.trap =
                    Some(Trap { line, interrupt, cause, epc, tval: 0, privilege, cycles: 1 });
            }
        }
    }

    fn instruction(&mut self, step: Step, retired: bool, join: &mut Join) {
        if !retired {
            self.started = Some(step);
            if !self.commits {
                join.step(step);
            }
            return;
        }
        let started = self.started.take().filter(|started| started.pc == step.pc);
        if !self.commits && started.is_some() {
            // The first instruction, which was started and has now retired.
            join.drop_current();
        }
        self.commits = true;
        // Only the line of the start contains this.
        let interrupted = step.interrupted || started.is_some_and(|started| started.interrupted);
        join.step(Step { interrupted, ..step });
    }

    /// Undoes the instruction at `epc`, which has trapped.
    fn unretire(&mut self, epc: u64, join: &mut Join) {
        let Some(current) = join.current().filter(|step| step.pc == epc) else {
            return;
        };
        // A partly completed vector access is logged although it traps.
        let vector = matches!(current.word & 0x7f, 0x07 | 0x27);
        if !self.commits || vector {
            join.drop_current();
        }
    }

    /// Repeats the last instruction once, if repetitions are left.
    fn repeat(&mut self, join: &mut Join) -> bool {
        let Some(left) = self.repeats.checked_sub(1) else {
            return false;
        };
        self.repeats = left;
        if let Some(step) = self.started {
            join.step(step);
        }
        true
    }

    /// Passes on a complete trap.
    fn flush(&mut self, join: &mut Join) {
        if let Some(trap) = self.trap.take() {
            join.trap(trap);
        }
    }

    fn end(&mut self, join: &mut Join) {
        self.flush(join);
        join.end();
    }
}
