//! One line of Spike's log, in the form of any version since 2015 and of tools that imitate it.

use crate::lines::hex;
use hartrace_etrace::ingress::Privilege;

/// What a line reports about a hart. Addresses are as printed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `core   0: 3 0x80000000 (0x00000297) x5  0x80000000`: with its privilege, retired; before
    /// September 2020 without `core   0:`.
    /// `core   0: 0x80000000 (0x00000297) auipc   t0, 0x0`: without privilege, started.
    Instruction { privilege: Option<Privilege>, pc: u64, word: u32, interrupted: bool },
    /// `core   0: exception trap_illegal_instruction, epc 0x80000222`
    Exception { interrupt: bool, cause: Option<u64>, epc: u64 },
    /// `core   0:           tval 0x00000000`
    Value(u64),
    /// `core   0: Executed 7 times`: refers to the previous instruction, which jumps to itself and
    /// is not printed again.
    Executed(u32),
    /// `core   0: >>>>  main`, and other lines that are ignored.
    Other,
}

/// The kind of a line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A line of a hart; of the hart of the previous line, if there is no number.
    Hart(Option<u32>, Line),
    /// A line of a hart in an unknown form.
    Broken(u32),
    /// Output of the program, the debugger or the simulator.
    Nothing,
}

/// Parses a line.
pub(super) fn find(text: &str) -> Found {
    if let Some((hart, interrupted, rest)) = split_hart(text) {
        return match parse(rest, interrupted) {
            Some(line) => Found::Hart(Some(hart), line),
            // The number of the hart is padded: programs do not print it like this by chance.
            None if text.find(':').is_some_and(|colon| colon >= 8) => Found::Broken(hart),
            None => Found::Nothing,
        };
    }
    if let Some(line) = unnumbered(text) {
        return Found::Hart(None, line);
    }
    // The program has not ended its own line.
    let line = text.rfind("core ").and_then(|at| text.get(at..)).and_then(|text| {
        let (hart, interrupted, rest) = split_hart(text)?;
        Some(Found::Hart(Some(hart), parse(rest, interrupted)?))
    });
    line.unwrap_or(Found::Nothing)
}

/// `core   0: rest`, and `core   INTERRUPT 0: rest` of CVA6 for the first instruction of a handler.
fn split_hart(text: &str) -> Option<(u32, bool, &str)> {
    let (hart, rest) = text.strip_prefix("core")?.split_once(':')?;
    let hart = hart.trim_start();
    let handler = hart.strip_prefix("INTERRUPT");
    Some((handler.unwrap_or(hart).trim().parse().ok()?, handler.is_some(), rest.trim()))
}

/// Lines without a hart: commits of old versions and of CVA6, and exceptions of CVA6, `exception :
/// 0x80000000` or `LD_ACCESS_FAULT exception @ 0x80000000 (0x6108)`.
fn unnumbered(text: &str) -> Option<Line> {
    if let Some((name, epc)) = text.split_once("exception @ ") {
        let epc = hex(epc.split_whitespace().next()?.strip_prefix("0x")?)?;
        return Some(Line::Exception { interrupt: false, cause: cva6_cause(name.trim()), epc });
    }
    if let Some(epc) = text.strip_prefix("exception : 0x") {
        return Some(Line::Exception { interrupt: false, cause: None, epc: hex(epc.trim())? });
    }
    let line = instruction(text, false)?;
    matches!(line, Line::Instruction { privilege: Some(_), .. }).then_some(line)
}

/// Parses what follows the number of the hart.
fn parse(rest: &str, interrupted: bool) -> Option<Line> {
    if rest.is_empty() || rest.starts_with(">>>>") {
        return Some(Line::Other);
    }
    if let Some(text) = rest.strip_prefix("exception ") {
        let (name, epc) = text.split_once(", epc ")?;
        let (interrupt, cause) = cause(name)?;
        return Some(Line::Exception { interrupt, cause: Some(cause), epc: hex(epc.trim())? });
    }
    // Until 2017 it was called badaddr.
    if let Some(value) = rest.strip_prefix("tval ").or_else(|| rest.strip_prefix("badaddr ")) {
        return Some(Line::Value(hex(value.trim())?));
    }
    if let Some(text) = rest.strip_prefix("Executed ") {
        let number = text.strip_suffix(" times")?;
        // Hexadecimal until 2021, without a prefix; most numbers are ambiguous.
        let hexadecimal = || hex(number)?.try_into().ok();
        return Some(Line::Executed(number.parse().ok().or_else(hexadecimal)?));
    }
    instruction(rest, interrupted)
}

fn instruction(text: &str, interrupted: bool) -> Option<Line> {
    let mut words = text.split_whitespace();
    let mut first = words.next()?;
    let mut privilege = None;
    if let [level @ b'0'..=b'3'] = first.as_bytes() {
        privilege = Some(Privilege(level - b'0'));
        first = words.next()?;
    }
    let pc = hex(first.strip_prefix("0x")?)?;
    let word = hex(words.next()?.strip_prefix("(0x")?.strip_suffix(')')?)?;
    // No known instruction is longer; short ones may have leading zeros.
    Some(Line::Instruction { privilege, pc, word: word as u32, interrupted })
}

/// The number of digits in the first number of a line.
pub(super) fn digits(text: &str) -> Option<usize> {
    let (_, number) = text.split_once(" 0x")?;
    Some(number.bytes().take_while(u8::is_ascii_hexdigit).count())
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
        // The second name was used from 2015 to 2020.
        "virtual_supervisor_ecall" | "hypervisor_ecall" => 10,
        "machine_ecall" => 11,
        "instruction_page_fault" => 12,
        "load_page_fault" => 13,
        "store_page_fault" => 15,
        "double_trap" => 16,
        "software_check" => 18,
        "hardware_error" => 19,
        "instruction_guest_page_fault" => 20,
        "load_guest_page_fault" => 21,
        "virtual_instruction" => 22,
        "store_guest_page_fault" => 23,
        _ => return None,
    };
    Some((false, cause))
}

fn cva6_cause(name: &str) -> Option<u64> {
    Some(match name {
        "INSTR_ADDR_MISALIGNED" => 0,
        "INSTR_ACCESS_FAULT" => 1,
        "ILLEGAL_INSTR" => 2,
        "BREAKPOINT" => 3,
        "LD_ADDR_MISALIGNED" => 4,
        "LD_ACCESS_FAULT" => 5,
        "ST_ADDR_MISALIGNED" => 6,
        "ST_ACCESS_FAULT" => 7,
        "ENV_CALL_UMODE" => 8,
        "ENV_CALL_SMODE" => 9,
        "ENV_CALL_MMODE" => 11,
        "INSTR_PAGE_FAULT" => 12,
        "LOAD_PAGE_FAULT" => 13,
        "STORE_PAGE_FAULT" => 15,
        _ => return None,
    })
}
