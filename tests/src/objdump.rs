//! Checks the assembly text of scenarios against a disassembler.

use hartrace_executions::scenario::Scenario;
use hartrace_golden::isa::Xlen;
use std::path::Path;
use std::process::Command;

/// Returns the disassembler, if one is installed.
pub fn find() -> Option<&'static str> {
    ["riscv64-unknown-elf-objdump", "riscv64-linux-gnu-objdump"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success())
    })
}

/// Checks that the mnemonic of every instruction is that of `objdump`, with or without aliases.
///
/// # Errors
///
/// One line for every instruction with another mnemonic.
pub fn check(objdump: &str, scenarios: &[Scenario]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("hartrace-scenarios-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|err| err.to_string())?;
    let result = [(Xlen::Rv32, "riscv:rv32"), (Xlen::Rv64, "riscv:rv64")]
        .into_iter()
        .try_for_each(|(xlen, machine)| check_xlen(objdump, &folder, scenarios, xlen, machine));
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn check_xlen(
    objdump: &str,
    folder: &Path,
    scenarios: &[Scenario],
    xlen: Xlen,
    machine: &str,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    let mut written = Vec::new();
    for scenario in scenarios.iter().filter(|scenario| scenario.code.xlen() == xlen) {
        for word in scenario.code.words() {
            bytes.extend(word.bytes());
            let place = format!("{}.htt:{}", scenario.name, word.line);
            // Aliases of compressed instructions lose their prefix: c.nop is shown as nop.
            let narrow = if word.size() == 2 { word.mnemonic.strip_prefix("c.") } else { None };
            written.push((place, word.mnemonic.as_str(), narrow));
        }
    }
    if written.is_empty() {
        return Ok(());
    }
    let file = folder.join("code.bin");
    std::fs::write(&file, &bytes).map_err(|err| err.to_string())?;
    let plain = mnemonics(objdump, &file, machine, "no-aliases")?;
    let alias = mnemonics(objdump, &file, machine, "numeric")?;
    if plain.len() != written.len() || alias.len() != written.len() {
        return Err(format!("{} instructions, objdump sees {}", written.len(), plain.len()));
    }
    let mut wrong = String::new();
    for (((place, text, narrow), plain), alias) in written.iter().zip(&plain).zip(&alias) {
        if text != plain && text != alias && *narrow != Some(alias.as_str()) {
            wrong += &format!("{place}: `{text}` is {alias} or {plain}\n");
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Checks that `objdump` finds every instruction in the ELF files of the scenarios, and nothing else.
///
/// # Errors
///
/// One line for every file with other contents.
pub fn check_elf(objdump: &str, scenarios: &[Scenario]) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("hartrace-scenario-{}.elf", std::process::id()));
    let mut wrong = String::new();
    for scenario in scenarios {
        std::fs::write(&file, scenario.code.elf()).map_err(|err| err.to_string())?;
        let output = Command::new(objdump).args(["-d", "-z"]).arg(&file).output();
        let output = output.map_err(|err| err.to_string())?;
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        // `    80000004:\tfe050ee3          \tbeqz\ta0,0x0`
        let found = listing.lines().filter_map(|line| {
            let (address, rest) = line.split_once(":\t")?;
            let word = rest.split_whitespace().next()?;
            let hex = |text: &str| u64::from_str_radix(text.trim(), 16).ok();
            Some((hex(address)?, hex(word)? as u32))
        });
        let written = scenario.code.instructions().map(|(address, word)| (address, word.word));
        if !found.eq(written) {
            wrong += &format!("{}: {listing}\n", scenario.name);
        }
    }
    let _ = std::fs::remove_file(&file);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The mnemonics in a raw file of instructions, in order.
fn mnemonics(
    objdump: &str,
    file: &Path,
    machine: &str,
    style: &str,
) -> Result<Vec<String>, String> {
    let output = Command::new(objdump)
        .args(["-D", "-z", "-b", "binary", "-m", machine, "-M", style])
        .arg(file)
        .output()
        .map_err(|err| err.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // `   4:\tfe050ee3          \tbeqz\ta0,0x0`
    let listing = String::from_utf8_lossy(&output.stdout);
    let columns = listing.lines().filter_map(|line| line.split_once(":\t"));
    Ok(columns
        .filter_map(|(_, rest)| rest.split('\t').nth(1))
        .map(|m| m.trim().to_owned())
        .collect())
}
