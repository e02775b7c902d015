//! Compares opcodes with LLVM's disassembler: whether they change the flow of control, and their
//! targets.
//!
//! Needs `llvm-mc`; shows as ignored without it.

use hartrace_isa::arm::{Arch, Isa, Kind, Rules, decode};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

const RULES: Rules = Rules { arch: Arch::V8r3, barriers: true, wfx: true };

fn main() {
    let args = Arguments::from_args();
    let there = Command::new("llvm-mc").arg("--version").output().is_ok();
    let trial = |name: &str, isa, triple: &'static str, bias: &'static [(u32, u32)]| {
        Trial::test(name, move || compare(isa, triple, bias)).with_ignored_flag(!there)
    };
    let a64: &[_] = &[
        (0, 0),
        (0x1c00_0000, 0x1400_0000),
        (0xff00_0000, 0xd600_0000),
        (0xffff_0000, 0xd503_0000),
        (0xff9f_f3e0, 0xd61f_03e0),
    ];
    let a32: &[_] = &[
        (0, 0),
        (0xf000_f000, 0xe000_f000),
        (0x0f00_0000, 0x0100_0000),
        (0xf000_0000, 0xf000_0000),
    ];
    let t32: &[_] = &[
        (0, 0),
        (0xf000_0000, 0xf000_0000),
        (0xfe00_f000, 0xe800_f000),
        (0xff00_0000, 0xf800_0000),
    ];
    let trials = vec![
        trial("a64", Isa::A64, "aarch64", a64),
        trial("a32", Isa::A32, "armv8a", a32),
        trial("t32", Isa::T32, "thumbv8a", t32),
    ];
    libtest_mimic::run(&args, trials).exit();
}

/// Random opcodes, some in the parts of the encoding space that contain branches.
fn opcodes(isa: Isa, bias: &[(u32, u32)]) -> Vec<u32> {
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as u32
    };
    let mut all: Vec<u32> = (0..30_000)
        .map(|n| {
            let (mask, value) = bias[n % bias.len()];
            next() & !mask | value
        })
        .collect();
    if isa == Isa::T32 {
        // Every short opcode; the half-word after it is a nop.
        all.extend((0u32..0xe800).map(|first| first << 16 | 0xbf00));
    }
    all
}

/// The bytes of an opcode in memory order. Short opcodes of T32 have two.
fn bytes(isa: Isa, opcode: u32) -> Vec<u8> {
    if isa != Isa::T32 {
        return opcode.to_le_bytes().into();
    }
    let (first, second) = ((opcode >> 16) as u16, opcode as u16);
    let mut bytes = first.to_le_bytes().to_vec();
    if hartrace_isa::arm::is_wide(first) {
        bytes.extend(second.to_le_bytes());
    }
    bytes
}

/// The result of LLVM, by encoding. Opcodes that it does not know are left out.
fn disassemble(triple: &str, codes: &[Vec<u8>]) -> Result<BTreeMap<Vec<u8>, String>, Failed> {
    let mut command = Command::new("llvm-mc");
    command.args(["--disassemble", "--show-encoding", "-triple", triple]);
    match triple {
        "aarch64" => command.args(["-mattr=+v8.3a"]),
        _ => command.args([
            "-mattr=+v8a,+fp-armv8,+neon,+crypto,+crc,+virtualization,+trustzone,+hwdiv,+hwdiv-arm",
        ]),
    };
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut text = String::new();
    for code in codes {
        let hex: Vec<String> = code.iter().map(|byte| format!("{byte:#04x}")).collect();
        text += &hex.join(" ");
        text.push('\n');
    }
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the writer panicked")??;
    let mut known = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((insn, encoding)) = line.split_once("encoding: [") else { continue };
        let insn = insn.trim_end_matches([' ', '\t', '/', '@', ';']).trim().to_owned();
        let hex = encoding.trim_end_matches(']').split(',');
        let code = hex.map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16));
        known.insert(code.collect::<Result<_, _>>().map_err(|e| format!("{line}: {e}"))?, insn);
    }
    Ok(known)
}

/// The meaning of the text of an instruction: a word for its kind, and the offset of a direct
/// branch.
fn meaning(isa: Isa, text: &str) -> (&'static str, Option<i64>) {
    let (mnemonic, operands) = text.split_once(['\t', ' ']).unwrap_or((text, ""));
    let mnemonic = mnemonic.trim_end_matches(".w");
    let base = mnemonic.split('.').next().unwrap_or(mnemonic);
    let last = operands.rsplit([',', ' ', '\t']).next().unwrap_or_default();
    let offset = last.strip_prefix('#').and_then(|number| number.parse::<i64>().ok());
    // Conditions are part of AArch32 mnemonics.
    let conditions =
        ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", ""];
    let is = |names: &[&str]| {
        names.iter().any(|name| {
            base == *name
                || isa != Isa::A64
                    && base.strip_prefix(name).is_some_and(|rest| conditions.contains(&rest))
        })
    };
    if is(&["isb"]) {
        return ("isb", None);
    }
    if is(&["dsb", "dmb", "ssbb", "pssbb", "dfb"]) {
        return ("barrier", None);
    }
    if is(&["wfi", "wfe"]) {
        return ("wfx", None);
    }
    if let Some(offset) = offset
        && is(&["b", "bl", "blx", "cbz", "cbnz", "tbz", "tbnz"])
    {
        return ("direct", Some(offset));
    }
    let a64 = [
        "br", "blr", "ret", "eret", "braa", "brab", "blraa", "blrab", "braaz", "brabz", "blraaz",
        "blrabz", "retaa", "retab", "eretaa", "eretab", "drps",
    ];
    if isa == Isa::A64 {
        let indirect = is(&a64) && base != "drps";
        return (if indirect { "indirect" } else { "other" }, None);
    }
    if is(&["bx", "blx", "bxj", "eret", "tbb", "tbh"]) || base.starts_with("rfe") {
        return ("indirect", None);
    }
    let operand = operands.trim();
    if base.starts_with("ldm") || base.starts_with("pop") {
        return (
            if operand.contains("pc}") || operand == "{pc}" { "indirect" } else { "other" },
            None,
        );
    }
    let multiplies = base.starts_with("ml") || base.starts_with("sml");
    if multiplies && operand.contains("pc") {
        return ("undefined", None);
    }
    if !operand.starts_with("pc,") {
        return ("other", None);
    }
    // These are the defined instructions that write the program counter; A32 also has data
    // processing. For undefined ones we follow OpenCSD, and LLVM gives no answer.
    let (load, of_a32) = (
        ["ldr", "mov", "add"],
        [
            "adc", "sub", "sbc", "rsb", "rsc", "and", "orr", "eor", "bic", "mvn", "lsl", "lsr",
            "asr", "ror", "rrx", "adr",
        ],
    );
    let narrow = ["ldrb", "ldrh", "ldrd", "ldrs", "ldrt", "ldrex", "movw", "movt"]
        .iter()
        .any(|name| base.starts_with(name));
    let writes = |names: &[&str]| names.iter().any(|name| base.starts_with(name));
    match isa {
        _ if narrow => ("undefined", None),
        _ if writes(&load) => ("indirect", None),
        Isa::A32 if writes(&of_a32) => ("indirect", None),
        _ => ("undefined", None),
    }
}

fn compare(isa: Isa, triple: &str, bias: &[(u32, u32)]) -> Result<(), Failed> {
    let opcodes = opcodes(isa, bias);
    let codes: Vec<Vec<u8>> = opcodes.iter().map(|opcode| bytes(isa, *opcode)).collect();
    let known = disassemble(triple, &codes)?;
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut wrong = Vec::new();
    for (opcode, code) in opcodes.iter().zip(&codes) {
        let Some(text) = known.get(code) else { continue };
        let (expected, offset) = meaning(isa, text);
        if expected == "undefined" {
            continue;
        }
        let address = 0x4000_0000u64;
        let insn = decode(isa, &RULES, address, *opcode);
        let (found, target) = match insn.kind {
            Kind::Other | Kind::TransactionStart => ("other", None),
            Kind::Direct { target, .. } => ("direct", Some(target)),
            Kind::Indirect => ("indirect", None),
            Kind::Isb => ("isb", None),
            Kind::Barrier => ("barrier", None),
            Kind::Wfx => ("wfx", None),
        };
        // Offsets of AArch32 count from the program counter, which is ahead of the instruction.
        let ahead = match isa {
            Isa::A64 => 0,
            Isa::A32 => 8,
            Isa::T32 => 4,
        };
        let expected_target = offset.map(|by| (address as i64 + ahead + by) as u64);
        *counts.entry(expected).or_default() += 1;
        if (found, target) != (expected, expected_target) || usize::from(insn.size) != code.len() {
            wrong.push(format!(
                "{opcode:#010x} {text}: {found} {target:x?}, not {expected} {expected_target:x?}"
            ));
        }
    }
    println!("{triple}: {counts:?}");
    if counts.values().sum::<usize>() < 10_000 || counts.get("indirect").is_none_or(|n| *n < 20) {
        return Err(format!("too few were compared: {counts:?}").into());
    }
    if !wrong.is_empty() {
        wrong.sort_by_key(|line| line.split_once(' ').map(|(_, text)| text.to_owned()));
        let shown = wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
        return Err(format!("{} differences\n{shown}", wrong.len()).into());
    }
    Ok(())
}
