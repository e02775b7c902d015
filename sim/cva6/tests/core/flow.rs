//! Checks that a record is consistent: each instruction is at the address to which the previous one leads,
//! and matches its encoding.

use hartrace_cva6_sim::{Commit, Event, map};
use hartrace_isa::{Insn, Isa, Xlen, decode};

/// Operations of the core, as its package numbers them.
const FU_CONTROL_FLOW: u8 = 4;

/// The address at which execution continues after a commit, as far as it is known.
fn next(commit: &Commit) -> Result<u64, String> {
    match commit.event {
        Event::Debug => return Ok(map::DEBUG_ENTRY),
        Event::Exception | Event::Interrupt => return Ok(commit.target),
        Event::Retired if commit.eret => return Ok(commit.target),
        Event::Retired => {}
    }
    let insn = decode(Isa::new(Xlen::Rv64), commit.insn);
    if u64::from(commit.size) != if commit.insn & 3 == 3 { 4 } else { 2 } {
        return Err("its length is not that of its encoding".to_owned());
    }
    let jumps = insn.is_some_and(|insn| insn.is_branch() || insn.is_uninferable());
    let target = insn.and_then(|insn| insn.target(Xlen::Rv64, commit.pc));
    if (commit.fu == FU_CONTROL_FLOW) != (jumps || target.is_some()) {
        return Err("the core and its encoding disagree whether it jumps".to_owned());
    }
    if insn.is_some_and(Insn::is_branch) {
        let to = if commit.taken { target } else { Some(commit.fall_through()) };
        if to != Some(commit.next_pc) {
            return Err("a branch that leads elsewhere than its encoding and outcome".to_owned());
        }
    } else if target.is_some_and(|target| target != commit.next_pc) {
        return Err("a jump that leads elsewhere than its encoding".to_owned());
    }
    Ok(commit.next_pc)
}

/// Checks the record of one hart from reset on.
pub(crate) fn check(commits: &[Commit]) -> Result<(), String> {
    let mut expected = map::RAM;
    let mut before: Option<&Commit> = None;
    for commit in commits {
        let wrong = |what: &str| {
            let before = before.map(Commit::to_string).unwrap_or_default();
            format!("{what}:\n{}\n{before}\n{commit}", Commit::HEADER)
        };
        if commit.pc != expected {
            return Err(wrong(&format!("not at 0x{expected:x}, where the one before leads")));
        }
        let together = before.is_some_and(|before| before.cycle == commit.cycle);
        let older = before.is_some_and(|before| before.port == 0 && before.event == Event::Retired);
        if together != (commit.port == 1) || together && !older {
            return Err(wrong("a second commit port without the first, or two traps at once"));
        }
        expected = next(commit).map_err(|what| wrong(&what))?;
        before = Some(commit);
    }
    if commits.is_empty() { Err("nothing was committed".to_owned()) } else { Ok(()) }
}
