//! Spike's logs.

use crate::join::{Join, Step, Summary, Trap};
use crate::lines::{Lines, hex};
use crate::{Retired, SourceError};
use hartrace_ingress::Privilege;
use hartrace_isa::{Isa, Xlen};
use std::io::BufRead;
use std::ops::ControlFlow;

const HINT: &str = "the output of spike -l --log-commits";

/// How to understand a log of Spike.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SpikeOptions {
    /// Instruction set; also says how wide addresses are.
    pub isa: Isa,
    /// The hart to read; others are skipped.
    pub hart: u32,
}

impl SpikeOptions {
    /// Hart 0.
    pub const fn new(isa: Isa) -> Self {
        Self { isa, hart: 0 }
    }
}

/// One line of the hart.
#[derive(Copy, Clone, Debug)]
enum Line {
    /// `core   0: 3 0x80000000 (0x00000297) x5  0x80000000`: with its privilege, retired.
    /// `core   0: 0x80000000 (0x00000297) auipc   t0, 0x0`: without, started.
    Instruction {
        privilege: Option<Privilege>,
        pc: u64,
        word: u32,
    },
    /// `core   0: exception trap_illegal_instruction, epc 0x80000222`
    Exception {
        interrupt: bool,
        cause: u64,
        epc: u64,
    },
    /// `core   0:           tval 0x00000000`
    Value(u64),
    Other,
}

/// Reads a log of Spike, as written with `--log-commits`, with `-l`, or with both.
///
/// With both, everything is known. With `-l` alone, privilege is not: all rows say M. With
/// `--log-commits` alone, traps are not logged: where addresses jump without a reason an exception
/// with cause 0 is reported, see [`Summary::unexplained`], and traps right behind indirect jumps go
/// unnoticed. Virtualised privilege shows as the plain one.
///
/// `file` is for messages.
pub fn spike(
    input: impl BufRead,
    file: &str,
    options: SpikeOptions,
    sink: impl FnMut(&Retired) -> ControlFlow<()>,
) -> Result<Summary, SourceError> {
    let mut lines = Lines::new(input, file);
    let mut join = Join::new(options.isa, sink);
    let mut state = State::default();
    let mut any = false;
    while lines.advance()? {
        let text = lines.text();
        let Some((hart, rest)) = split_hart(text) else {
            // Whatever the program or the debugger printed in between.
            continue;
        };
        any = true;
        if hart != options.hart {
            continue;
        }
        let Some(line) = parse(rest, options.isa.xlen) else {
            let start: String = text.chars().take(80).collect();
            return Err(lines.error(format!("cannot understand `{start}`"), HINT));
        };
        if state.take(line, &mut join).is_break() {
            join.summary.stopped = true;
            return Ok(join.summary);
        }
    }
    if !any {
        return Err(lines.error("no line of a hart", HINT));
    }
    join.summary.stopped = state.end(&mut join).is_break();
    Ok(join.summary)
}

/// What waits for the next line.
#[derive(Debug, Default)]
struct State {
    /// Retired instructions have lines of their own.
    commits: bool,
    /// The newest instruction was only started, as far as is known.
    started: Option<u64>,
    /// A trap whose value may follow.
    trap: Option<Trap>,
}

impl State {
    fn take<S>(&mut self, line: Line, join: &mut Join<S>) -> ControlFlow<()>
    where
        S: FnMut(&Retired) -> ControlFlow<()>,
    {
        if let (Line::Value(tval), Some(trap)) = (line, &mut self.trap) {
            trap.tval = tval;
        }
        if matches!(line, Line::Value(_) | Line::Other) {
            return ControlFlow::Continue(());
        }
        if let Some(trap) = self.trap.take() {
            join.trap(trap)?;
        }
        match line {
            Line::Instruction { privilege: Some(privilege), pc, word } => {
                if !self.commits && self.started.take() == Some(pc) {
                    // The first instruction, started and now retired.
                    join.drop_current();
                }
                self.commits = true;
                join.step(Step { pc, word, privilege, cycles: 1, taken: None })
            }
            Line::Instruction { privilege: None, pc, word } if !self.commits => {
                self.started = Some(pc);
                join.step(Step { pc, word, privilege: Privilege::M, cycles: 1, taken: None })
            }
            Line::Exception { interrupt, cause, epc } => {
                if !interrupt && self.started.take() == Some(epc) {
                    join.drop_current();
                }
                let privilege = match cause {
                    8 if !interrupt => Some(Privilege::U),
                    9 if !interrupt => Some(Privilege::S),
                    _ => None,
                };
                self.trap = Some(Trap { interrupt, cause, epc, tval: 0, privilege, cycles: 1 });
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn end<S>(&mut self, join: &mut Join<S>) -> ControlFlow<()>
    where
        S: FnMut(&Retired) -> ControlFlow<()>,
    {
        if let Some(trap) = self.trap.take() {
            join.trap(trap)?;
        }
        join.end()
    }
}

/// `core   0: rest`.
fn split_hart(text: &str) -> Option<(u32, &str)> {
    let (hart, rest) = text.strip_prefix("core")?.split_once(':')?;
    Some((hart.trim().parse().ok()?, rest.trim()))
}

/// Takes apart what follows the number of the hart.
fn parse(rest: &str, xlen: Xlen) -> Option<Line> {
    if rest.is_empty() || rest.starts_with(">>>>") {
        return Some(Line::Other);
    }
    if let Some(text) = rest.strip_prefix("exception ") {
        let (name, epc) = text.split_once(", epc ")?;
        let (interrupt, cause) = cause(name)?;
        return Some(Line::Exception { interrupt, cause, epc: xlen.wrap(hex(epc.trim())?) });
    }
    // Older ones call it badaddr.
    if let Some(value) = rest.strip_prefix("tval ").or_else(|| rest.strip_prefix("badaddr ")) {
        return Some(Line::Value(xlen.wrap(hex(value.trim())?)));
    }
    if rest.starts_with("tval2") || rest.starts_with("tinst") {
        return Some(Line::Other);
    }
    let mut words = rest.split_whitespace();
    let mut first = words.next()?;
    let mut privilege = None;
    if let [level @ b'0'..=b'3'] = first.as_bytes() {
        privilege = Some(Privilege(level - b'0'));
        first = words.next()?;
    }
    let pc = xlen.wrap(hex(first.strip_prefix("0x")?)?);
    let word = hex(words.next()?.strip_prefix("(0x")?.strip_suffix(')')?)?;
    // No known instruction is longer; short ones may come with zeros in front.
    Some(Line::Instruction { privilege, pc, word: word as u32 })
}

/// Whether it is an interrupt, and its cause.
fn cause(name: &str) -> Option<(bool, u64)> {
    if let Some(number) = name.strip_prefix("interrupt #") {
        return Some((true, number.parse().ok()?));
    }
    if let Some(number) = name.strip_prefix("trap #") {
        return Some((false, number.parse().ok()?));
    }
    let cause = match name.strip_prefix("trap_")? {
        "instruction_address_misaligned" => 0,
        "instruction_access_fault" => 1,
        "illegal_instruction" => 2,
        "breakpoint" => 3,
        "load_address_misaligned" => 4,
        "load_access_fault" => 5,
        "store_address_misaligned" => 6,
        "store_access_fault" => 7,
        "user_ecall" => 8,
        "supervisor_ecall" => 9,
        "virtual_supervisor_ecall" => 10,
        "machine_ecall" => 11,
        "instruction_page_fault" => 12,
        "load_page_fault" => 13,
        "store_page_fault" => 15,
        "software_check" => 18,
        "instruction_guest_page_fault" => 20,
        "load_guest_page_fault" => 21,
        "virtual_instruction" => 22,
        "store_guest_page_fault" => 23,
        _ => return None,
    };
    Some((false, cause))
}
