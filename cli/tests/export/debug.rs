//! What LLVM's own tools say about a program, its lines and its branches, to compare with.

use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A function that an instruction belongs to, and the line in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    pub(crate) function: String,
    /// Where the function is declared; 0 if that is not known.
    pub(crate) declared: u64,
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) discriminator: u64,
}

/// A capture of a program with debug information.
pub(crate) struct Traced {
    /// A folder for what is written.
    pub(crate) folder: PathBuf,
    /// The capture, and the options to decode it with.
    pub(crate) capture: String,
    pub(crate) program: PathBuf,
    /// How often each instruction was executed.
    pub(crate) pcs: BTreeMap<u64, u64>,
    /// The functions around each instruction of the program, the innermost first.
    pub(crate) frames: BTreeMap<u64, Vec<Frame>>,
    /// Addresses of conditional branches.
    pub(crate) branches: BTreeSet<u64>,
}

impl Traced {
    pub(crate) fn new(
        folder: PathBuf,
        capture: String,
        program: PathBuf,
        pcs: BTreeMap<u64, u64>,
    ) -> Result<Self, Failed> {
        let code = disassemble(&program)?;
        let all: Vec<u64> = code.keys().copied().collect();
        let unknown = pcs.keys().find(|pc| !code.contains_key(pc));
        assert_eq!(unknown, None, "executed, but not in the program");
        let frames = symbolize(&program, &all)?;
        let branches =
            code.into_iter().filter(|(_, name)| is_branch(name)).map(|(at, _)| at).collect();
        Ok(Self { folder, capture, program, pcs, frames, branches })
    }
}

/// The mnemonics of a program.
fn disassemble(program: &Path) -> Result<BTreeMap<u64, String>, Failed> {
    let mut command = Command::new("llvm-objdump-19");
    let output = command.args(["-d", "--no-show-raw-insn"]).arg(program).output()?;
    let mut code = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        if let Some((address, rest)) = line.split_once(':')
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
            && let Some(name) =
                rest.split_whitespace().next().filter(|name| !name.starts_with(['.', '<']))
        {
            code.insert(address, name.to_owned());
        }
    }
    assert!(code.len() > 100, "{} has no code", program.display());
    Ok(code)
}

/// Whether a mnemonic is a conditional branch, of RISC-V, A64 or T32.
fn is_branch(name: &str) -> bool {
    let name = name.trim_end_matches(".w").trim_end_matches(".n");
    let conditions = [
        "eq", "ne", "lt", "ge", "ltu", "geu", "eqz", "nez", "lez", "gez", "ltz", "gtz", "gt", "le",
        "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "cs", "cc",
    ];
    let short = name.strip_prefix("b.").or_else(|| name.strip_prefix('b'));
    matches!(name, "cbz" | "cbnz" | "tbz" | "tbnz")
        || short.is_some_and(|condition| conditions.contains(&condition))
}

/// The functions and lines at addresses.
fn symbolize(program: &Path, addresses: &[u64]) -> Result<BTreeMap<u64, Vec<Frame>>, Failed> {
    let mut command = Command::new("llvm-symbolizer-19");
    command.args(["--inlines", "--output-style=JSON", "--no-demangle"]);
    let mut child = command
        .arg(format!("--obj={}", program.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let lines: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let mut input = child.stdin.take().ok_or("no input")?;
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the writer failed")??;
    let text = String::from_utf8(output.stdout)?;
    let mut found = BTreeMap::new();
    for (address, line) in addresses.iter().zip(text.lines()) {
        let answer: Value = serde_json::from_str(line)?;
        let text = |frame: &Value, key: &str| frame[key].as_str().unwrap_or_default().to_owned();
        let number = |frame: &Value, key: &str| frame[key].as_u64().unwrap_or_default();
        let frames = answer["Symbol"].as_array().into_iter().flatten().map(|frame| Frame {
            function: text(frame, "FunctionName"),
            declared: number(frame, "StartLine"),
            file: text(frame, "FileName"),
            line: number(frame, "Line"),
            discriminator: number(frame, "Discriminator"),
        });
        found.insert(*address, frames.collect());
    }
    assert_eq!(found.len(), addresses.len(), "llvm-symbolizer says less than was asked");
    Ok(found)
}
