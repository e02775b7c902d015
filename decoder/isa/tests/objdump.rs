//! Equality with GNU objdump on all half-words and a sample of words; ignored if it is not
//! installed.

use hartrace_isa::{Insn, Isa, Kind, Link, Xlen, decode};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::{Command, ExitCode};

/// Number of words for each base instruction set, in addition to all half-words.
const WORDS: usize = 60_000;
/// Number of pairs of a constant and a jump.
const PAIRS: usize = 2_000;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let found =
        ["riscv64-unknown-elf-objdump", "riscv64-linux-gnu-objdump"].into_iter().find(|name| {
            Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success())
        });
    let trials = [("rv32", Xlen::Rv32), ("rv64", Xlen::Rv64)].map(|(name, xlen)| {
        Trial::test(name, move || compare(found.unwrap_or_default(), name, xlen))
            .with_ignored_flag(found.is_none())
    });
    libtest_mimic::run(&args, trials.into()).exit_code()
}

fn compare(objdump: &str, name: &str, xlen: Xlen) -> Result<(), Failed> {
    let isa = Isa::new(xlen);
    let mut code = half_words();
    code.extend(words());
    let first_pair = code.len();
    code.extend(pairs());
    let listing = disassemble(objdump, name, &code)?;
    if listing.len() != code.len() {
        return Err(format!("{} instructions, objdump sees {}", code.len(), listing.len()).into());
    }
    let (mut wrong, mut flows, mut inferred) = (String::new(), 0, 0);
    let mut before = None;
    for (n, (line, &(word, size))) in listing.iter().zip(&code).enumerate() {
        let insn = decode(isa, word).ok_or("unknown length")?;
        let expected = line.kind(xlen, word)?;
        if insn != (Insn { size, kind: expected }) {
            wrong += &format!("{word:#010x} is {insn:?}, but {expected:?}: {line:?}\n");
        }
        flows += usize::from(!insn.is_sequential());
        // `# 0x1234`: objdump's own inference. It also remembers constants from further above.
        if n > first_pair
            && let (Some((before, pc)), Some(target)) = (before, line.comment)
            && let Some(ours) = insn.sequential_target(xlen, before, pc)
        {
            inferred += 1;
            if ours != target & !1 {
                wrong += &format!("{word:#010x} goes to {ours:#x}: {line:?}\n");
            }
        }
        before = Some((insn, line.pc));
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    // An empty comparison is not a success.
    if flows < 25_000 || inferred < PAIRS / 2 {
        return Err(format!("only {flows} jumps and branches, {inferred} inferred").into());
    }
    Ok(())
}

// --- what is compared -----------------------------------------------------------------------------

/// All instructions of 16 bits, with their length.
fn half_words() -> Vec<(u32, u8)> {
    (0..=0xffff).filter(|half| half & 3 != 3).map(|half| (half, 2)).collect()
}

/// Random words, every other one with a relevant opcode, and all SYSTEM words without registers.
fn words() -> impl Iterator<Item = (u32, u8)> {
    let mut random = random();
    let opcodes = [0x63, 0x67, 0x6f, 0x37, 0x17, 0x73, 0x63, 0x67];
    let chosen = (0..WORDS).map(move |n| match (n % 4, opcodes[n / 4 % opcodes.len()]) {
        (0, _) => random() | 3,
        // jalr with its only funct3; then with x1 and x5 only
        (1, 0x67) => random() & !0x7fff | random() & 0xf80 | 0x67,
        (2, 0x67) => random() & 0xfff2_0200 | 0x8067 | random() & 0x80,
        (_, opcode) => random() & !0x7f | opcode,
    });
    let system = (0..0x1000).map(|funct12| funct12 << 20 | 0x73);
    chosen.chain(system).filter(|word| word & 0x1c != 0x1c).map(|word| (word, 4))
}

/// Pairs of lui or auipc and a jump by the register they load.
fn pairs() -> impl Iterator<Item = (u32, u8)> {
    let mut random = random();
    (0..PAIRS).flat_map(move |n| {
        let rd = random() % 27 + 5; // objdump takes tp, x4, for 0
        let load = match n % 2 {
            0 => (random() & 0xffff_f000 | rd << 7 | 0x37, 4),
            _ => (random() & 0xffff_f000 | rd << 7 | 0x17, 4),
        };
        let jump = random() & 0xfff0_0f80 | rd << 15 | 0x67;
        [load, (jump, 4)]
    })
}

/// Marsaglia's xorshift, which always returns the same numbers.
fn random() -> impl FnMut() -> u32 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    }
}

// --- the disassembler -----------------------------------------------------------------------------

/// One line of the listing.
#[derive(Debug)]
struct Line {
    pc: u64,
    mnemonic: String,
    operands: Vec<String>,
    /// The address after `#`.
    comment: Option<u64>,
}

fn disassemble(objdump: &str, name: &str, code: &[(u32, u8)]) -> Result<Vec<Line>, Failed> {
    let bytes: Vec<u8> = code
        .iter()
        .flat_map(|&(word, size)| word.to_le_bytes().into_iter().take(size.into()))
        .collect();
    let file = std::env::temp_dir().join(format!("hartrace-isa-{}-{name}", std::process::id()));
    std::fs::write(&file, bytes)?;
    let output = Command::new(objdump)
        .args(["-D", "-z", "-b", "binary", "-m", &format!("riscv:{name}")])
        .args(["-M", "no-aliases,numeric"])
        .arg(&file)
        .output();
    std::fs::remove_file(&file)?;
    let output = output?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    String::from_utf8(output.stdout)?
        .lines()
        .filter(|line| line.contains(":\t"))
        .map(|line| Line::parse(line).ok_or_else(|| format!("not understood: {line}").into()))
        .collect()
}

impl Line {
    /// `   4:\tfe050ee3          \tbeq\tx10,x0,0x0 # comment`
    fn parse(line: &str) -> Option<Self> {
        let (pc, rest) = line.trim().split_once(":\t")?;
        let mut columns = rest.split('\t').skip(1);
        let mnemonic = columns.next()?.trim().to_owned();
        let (text, comment) = match columns.next() {
            Some(text) => text.split_once('#').map_or((text, None), |(t, c)| (t, Some(c))),
            None => ("", None),
        };
        Some(Self {
            pc: u64::from_str_radix(pc, 16).ok()?,
            mnemonic,
            operands: text.split([',', '(', ')']).map(|part| part.trim().to_owned()).collect(),
            comment: comment.and_then(number),
        })
    }

    /// The meaning of the mnemonic; all others are plain.
    fn kind(&self, xlen: Xlen, word: u32) -> Result<Kind, Failed> {
        let line = || format!("not understood: {self:?}");
        let operand = |n: usize| self.operands.get(n).ok_or_else(line);
        let register = |n| {
            let name = operand(n)?.strip_prefix('x').ok_or_else(line)?;
            name.parse::<u8>().map_err(|_| line())
        };
        let value = |n| number(operand(n)?).ok_or_else(line);
        // The distance as a signed number of this width.
        let offset = |n| {
            let distance = value(n)?.wrapping_sub(self.pc);
            Ok::<_, String>(match xlen {
                Xlen::Rv32 => distance as i32,
                Xlen::Rv64 => i32::try_from(distance as i64).map_err(|_| line())?,
            })
        };
        let indirect = |rs1, offset, rd| Kind::IndirectJump { rs1, offset, link: jalr(rd, rs1) };
        Ok(match self.mnemonic.as_str() {
            "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" => Kind::Branch { offset: offset(2)? },
            "c.beqz" | "c.bnez" => Kind::Branch { offset: offset(1)? },
            "jal" => Kind::Jump { offset: offset(1)?, link: jal(register(0)?) },
            "c.j" => Kind::Jump { offset: offset(0)?, link: Link::Jump },
            "c.jal" => Kind::Jump { offset: offset(0)?, link: Link::Call },
            "jalr" => match (register(0)?, value(1)? as i32, register(2)?) {
                (rd, imm, 0) => Kind::AbsoluteJump { target: imm & !1, link: jal(rd) },
                (rd, imm, rs1) => indirect(rs1, imm, rd),
            },
            "c.jr" => indirect(register(0)?, 0, 0),
            "c.jalr" => indirect(register(0)?, 0, 1),
            "ecall" | "ebreak" | "c.ebreak" => Kind::EnvironmentTrap,
            "uret" | "sret" | "mret" | "mnret" | "dret" => Kind::TrapReturn,
            // Old versions do not know mnret, new ones do not know uret.
            _ if matches!(word, 0x0020_0073 | 0x7020_0073) => Kind::TrapReturn,
            "c.lui" if register(0)? == 0 => Kind::Plain, // a hint
            "lui" | "c.lui" => Kind::Lui { rd: register(0)?, value: (value(1)? << 12) as i32 },
            "auipc" => Kind::Auipc { rd: register(0)?, value: (value(1)? << 12) as i32 },
            _ => Kind::Plain,
        })
    }
}

/// A number as objdump prints it: `0x1f`, `31` or `-31`.
fn number(text: &str) -> Option<u64> {
    match text.trim().strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.trim().parse::<i64>().ok().map(i64::cast_unsigned),
    }
}

/// Spec: E-Trace 2.0 4.1.1, table of `itype` values, as far as `jal` is concerned.
fn jal(rd: u8) -> Link {
    match rd {
        0 => Link::Jump,
        1 | 5 => Link::Call,
        _ => Link::Other,
    }
}

/// The same for `jalr`, in the table's order.
fn jalr(rd: u8, rs1: u8) -> Link {
    let link = |register| register == 1 || register == 5;
    let rows = [
        (rd == 1 && rs1 != 5, Link::Call),
        (rd == 5 && rs1 != 1, Link::Call),
        (link(rs1) && !link(rd), Link::Return),
        (rd == 1 && rs1 == 5, Link::Swap),
        (rd == 5 && rs1 == 1, Link::Swap),
        (rd == 0 && !link(rs1), Link::Jump),
    ];
    rows.into_iter().find(|&(applies, _)| applies).map_or(Link::Other, |(_, link)| link)
}
