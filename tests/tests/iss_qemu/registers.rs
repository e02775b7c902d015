//! Registers at given addresses, as QEMU prints them.
//!
//! With `-singlestep` every instruction is a separate block, and QEMU prints the registers before a
//! block whose address passes `-dfilter` when it is executed for the first time. Without direct links
//! between blocks (`nochain`), it also prints them at later executions.

use hartrace_iss::Registers;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The registers before the instruction at `pc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pc: u64,
    pub(crate) x: [u64; 32],
    pub(crate) f: [u64; 32],
}

/// Runs `command` and returns the registers that it prints at `addresses`, in order.
pub(crate) fn at(
    command: &mut Command,
    program: &[&Path],
    addresses: &[u64],
    log: &Path,
) -> Result<Vec<Seen>, String> {
    let ranges: Vec<String> = addresses.iter().map(|pc| format!("0x{pc:x}+1")).collect();
    let status = command
        .args(["-singlestep", "-dfilter", &ranges.join(","), "-D"])
        .arg(log)
        .args(program)
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !status.status.success() {
        let text = String::from_utf8_lossy(&status.stderr);
        return Err(format!("{command:?}: {}: {text}", status.status));
    }
    let text = fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Seen>, String> {
    let mut list = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        while let Some(name) = words.next() {
            let register = match name.split_once('/') {
                None if name == "pc" => None,
                Some((register, _)) => Some(register),
                None => break,
            };
            let value = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            let value = value.ok_or_else(|| format!("no number in `{line}`"))?;
            let Some(register) = register else {
                list.push(Seen { pc: value, ..Seen::default() });
                continue;
            };
            let seen = list.last_mut().ok_or("registers without pc")?;
            let (kind, number) = register.split_at(1);
            let file = if kind == "x" { &mut seen.x } else { &mut seen.f };
            let place = number.parse().ok().and_then(|number: usize| file.get_mut(number));
            *place.ok_or_else(|| format!("no register {register}"))? = value;
        }
    }
    Ok(list)
}

/// The differences between the registers, if any. `same` decides which values of integer registers
/// count as equal.
pub(crate) fn differences(
    iss: &Registers,
    qemu: &Seen,
    mask: u64,
    same: impl Fn(u64, u64) -> bool,
) -> Vec<String> {
    let mut list = Vec::new();
    for number in 0..32 {
        let (ours, theirs) = (iss.x[number] & mask, qemu.x[number]);
        if ours != theirs && !same(ours, theirs) {
            list.push(format!("x{number} is 0x{ours:x}, in QEMU 0x{theirs:x}"));
        }
        let (ours, theirs) = (iss.f[number], qemu.f[number]);
        if ours != theirs {
            list.push(format!("f{number} is 0x{ours:x}, in QEMU 0x{theirs:x}"));
        }
    }
    list
}
