//! The steps section.

use super::LineError;
use super::code::{Code, Word};
use super::line::{Line, hex, number};
use super::path::{Path, Row};
use super::setup::{Setup, modes};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::{CType, IType, ITypeWidth, Privilege, Retired};
use hartrace_golden::isa::Flow;

/// An event at the encoder.
#[derive(Clone, Debug)]
pub enum Action {
    /// A row of the ingress port.
    Row(Row),
    /// [`Encoder::lose`](hartrace_golden::Encoder::lose).
    Lose,
    /// [`Encoder::recover`](hartrace_golden::Encoder::recover).
    Recover,
    /// [`Encoder::set_options`](hartrace_golden::Encoder::set_options).
    Options(Ioptions),
}

/// Values that apply to all following rows.
#[derive(Copy, Clone)]
struct Sticky {
    privilege: Privilege,
    context: u64,
    time: u64,
}

/// The values of the words of a row.
struct Words {
    row: Retired,
    taken: Option<bool>,
    then: Option<IType>,
    half_words: Option<u32>,
    traced: bool,
    times: u64,
}

pub(crate) fn parse(
    lines: &[Line<'_>],
    setup: &Setup,
    code: &Code,
) -> Result<Vec<Action>, LineError> {
    let mut sticky = Sticky { privilege: Privilege::M, context: 0, time: 0 };
    let mut path = Path::new(code);
    let mut actions = Vec::new();
    for line in unroll(lines)? {
        let (first, rest) = line.text.split_once(' ').unwrap_or((line.text, ""));
        match (first, rest) {
            ("lose", "") => actions.push(Action::Lose),
            ("recover", "") => actions.push(Action::Recover),
            ("options", words) => actions.push(Action::Options(modes(&line, words)?)),
            _ => {
                let (row, times) = parse_row(&line, setup, code, &mut sticky)?;
                for _ in 0..times {
                    path.step(&row).map_err(|text| line.error(text))?;
                    actions.push(Action::Row(row.clone()));
                }
            }
        }
    }
    Ok(actions)
}

/// The largest number of repetitions.
const REPETITIONS: u64 = 1 << 20;

/// Expands the lines between `repeat` and `end`.
fn unroll<'a>(lines: &[Line<'a>]) -> Result<Vec<Line<'a>>, LineError> {
    let mut unrolled = Vec::new();
    let mut group: Option<(u64, Line<'a>, Vec<Line<'a>>)> = None;
    for line in lines {
        match (line.text.strip_prefix("repeat "), line.text, &mut group) {
            (Some(times), _, None) => group = Some((repetitions(line, times)?, *line, Vec::new())),
            (Some(_), ..) => return Err(line.error("a repetition inside another")),
            (_, "end", Some((times, _, body))) => {
                (0..*times).for_each(|_| unrolled.extend_from_slice(body));
                group = None;
            }
            (_, "end", None) => return Err(line.error("nothing to end")),
            (.., Some((_, _, body))) => body.push(*line),
            (.., None) => unrolled.push(*line),
        }
    }
    match group {
        Some((_, line, _)) => Err(line.error("a repetition without end")),
        None => Ok(unrolled),
    }
}

/// The number of times that something is repeated, all of which are in memory.
fn repetitions(line: &Line<'_>, text: &str) -> Result<u64, LineError> {
    match number(line, text)? {
        times @ 0..=REPETITIONS => Ok(times),
        _ => Err(line.error(format!("repeated more than {REPETITIONS} times"))),
    }
}

fn parse_row(
    line: &Line<'_>,
    setup: &Setup,
    code: &Code,
    sticky: &mut Sticky,
) -> Result<(Row, u64), LineError> {
    let mut words = line.text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let trap = match first {
        "exception" => Some(IType::Exception),
        "interrupt" => Some(IType::Interrupt),
        _ => None,
    };
    let address = match first {
        "exception" | "interrupt" | "block" => words.next().unwrap_or_default(),
        _ => first,
    };
    let address = hex(line, address)?;
    let said = parse_words(line, words, sticky, address)?;
    let Words { mut row, then, taken, half_words, traced, times } = said;
    if (first == "block") != half_words.is_some() {
        return Err(line.error("`block` and a number of half-words belong together"));
    }
    if let Some(itype) = trap {
        if then.is_some() || taken.is_some() {
            return Err(line.error("nothing retires here"));
        }
        row.itype = itype;
        row.iretire = 0;
        row.ilastsize = 0;
        return Ok((
            Row { retired: row, instructions: Vec::new(), epc: Some(address), traced },
            times,
        ));
    }

    let (instructions, last) = block(line, code, address, half_words)?;
    row.iretire = instructions.iter().filter_map(|a| code.get(*a)).map(half_words_of).sum();
    row.ilastsize = last.insn.size / 4;
    if last.insn.is_branch() != taken.is_some() {
        return Err(line.error("branches, and only branches, are `taken` or `not-taken`"));
    }
    if last.insn.flow == Flow::Trap && then.is_none() {
        return Err(line.error("this instruction retires only with `then-exception`"));
    }
    let itype = last.itype(taken == Some(true));
    row.itype = match setup.encoder.itype_width {
        ITypeWidth::Three => itype.narrow(),
        ITypeWidth::Four => itype,
    };
    let mut epc = None;
    if let Some(trap) = then {
        if row.itype != IType::None {
            return Err(line.error("an instruction that has an itype cannot also trap"));
        }
        row.itype = trap;
        let at_call = last.insn.flow == Flow::Trap && trap == IType::Exception;
        epc = Some(if at_call { row.last_address() } else { row.next_address() });
    }
    Ok((Row { retired: row, instructions, epc, traced }, times))
}

fn half_words_of(word: &Word) -> u32 {
    u32::from(word.insn.size) / 2
}

/// The instructions of a block that starts at `address`, and the last one.
fn block<'a>(
    line: &Line<'_>,
    code: &'a Code,
    address: u64,
    half_words: Option<u32>,
) -> Result<(Vec<u64>, &'a Word), LineError> {
    let mut instructions = Vec::new();
    let mut at = address;
    let mut left = half_words;
    loop {
        let word = code.get(at).ok_or_else(|| line.error(format!("no code at {at:x}")))?;
        instructions.push(at);
        let size = half_words_of(word);
        match left {
            None => return Ok((instructions, word)),
            Some(n) if n == size => return Ok((instructions, word)),
            Some(n) if n < size => return Err(line.error("the block ends inside an instruction")),
            Some(n) => left = Some(n - size),
        }
        if word.insn.flow != Flow::Next {
            return Err(line.error(format!("the block cannot continue after {at:x}")));
        }
        at = at.wrapping_add(word.insn.size.into());
    }
}

fn parse_words<'a>(
    line: &Line<'_>,
    words: impl Iterator<Item = &'a str>,
    sticky: &mut Sticky,
    address: u64,
) -> Result<Words, LineError> {
    let mut row = Retired::plain(address);
    let (mut taken, mut then, mut half_words, mut traced, mut times) = (None, None, None, true, 1);
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("taken", "") => taken = Some(true),
            ("not-taken", "") => taken = Some(false),
            ("notify", "") => row.trigger.notify = true,
            ("on", "") => row.trigger.on = true,
            ("off", "") => row.trigger.off = true,
            ("halted", "") => row.halted = true,
            ("reset", "") => row.reset = true,
            ("sijump", "") => row.sijump = true,
            ("untraced", "") => traced = false,
            ("then-exception", "") => then = Some(IType::Exception),
            ("then-interrupt", "") => then = Some(IType::Interrupt),
            ("priv", n) => sticky.privilege = Privilege(number(line, n)? as u8),
            ("context", n) => sticky.context = number(line, n)?,
            ("time", n) => sticky.time = number(line, n)?,
            ("ctype", n) => row.ctype = CType::from_raw(number(line, n)? as u8),
            ("cycles", n) => row.cycles = number(line, n)? as u32,
            ("cause", n) => row.cause = number(line, n)?,
            ("tval", n) => row.tval = hex(line, n)?,
            _ => match (word.strip_prefix('+'), word.strip_prefix('x')) {
                (Some(n), _) => half_words = Some(number(line, n)? as u32),
                (_, Some(n)) => times = repetitions(line, n)?,
                _ => return Err(line.error(format!("unknown word `{word}`"))),
            },
        }
    }
    row.privilege = sticky.privilege;
    row.context = sticky.context;
    row.time = sticky.time;
    Ok(Words { row, taken, then, half_words, traced, times })
}
