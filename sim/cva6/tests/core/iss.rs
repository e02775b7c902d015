//! Comparison of the instruction set simulator with the record of the core.

use hartrace_cva6_sim::{Commit, Event, Rows};
use hartrace_iss::{Exit, Hart, Step};

/// Causes whose trap value may differ from the simulator's: the core reports the instruction for breakpoints
/// and system calls.
const OTHER_TVAL: [u64; 4] = [3, 8, 9, 11];

/// Runs the hart to its end and compares every step. After the last one the core may only have stored the
/// exit code again: it does not stop before the store reaches memory. Returns the number of equal steps.
pub(crate) fn compare(hart: &mut Hart, commits: &[Commit]) -> Result<usize, String> {
    let (mut rows, mut compared, mut difference) = (Rows::default(), 0, None);
    let exit = hart.run(commits.len() as u64, &mut |step: &Step| {
        if difference.is_some() {
            return;
        }
        match commits.get(compared) {
            Some(commit) if same(step, commit, &mut rows) => compared += 1,
            other => {
                let other = other.map(Commit::to_string).unwrap_or_default();
                let mnemonic = format!("{step:x?}");
                difference = Some(format!("the core\n{}\n{other}\nISS {mnemonic}", Commit::HEADER));
            }
        }
    });
    if let Some(difference) = difference {
        return Err(format!("after {compared} steps: {difference}"));
    }
    if !matches!(exit, Exit::Exited(0)) {
        return Err(format!("the ISS ended with {exit:?} after {compared} steps"));
    }
    let Some(last) = compared.checked_sub(1).map(|last| commits[last].pc) else {
        return Err("nothing was compared".to_owned());
    };
    match commits[compared..].iter().find(|commit| !(last..last + 8).contains(&commit.pc)) {
        None => Ok(compared),
        Some(commit) => Err(format!("the ISS ended at 0x{last:x}, the core went on to {commit}")),
    }
}

fn same(step: &Step, commit: &Commit, rows: &mut Rows) -> bool {
    let Some(row) = rows.row(commit) else { return false };
    if (step.pc, step.privilege) != (row.iaddr, row.privilege) {
        return false;
    }
    match step.trap {
        None => {
            let size = u64::from(step.size);
            let row_says = (row.itype, u64::from(row.iretire) * 2, row.last_bytes());
            commit.event == Event::Retired
                && (step.kind, size, size) == row_says
                && step.encoding == commit.insn
        }
        Some(trap) => {
            let tval = OTHER_TVAL.contains(&trap.cause) || trap.tval == row.tval;
            commit.event == Event::Exception
                && (step.kind, trap.cause) == (row.itype, row.cause)
                && row.iretire == 0
                && tval
        }
    }
}
