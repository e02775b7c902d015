//! The program `spaces`, which runs in several address spaces: the contexts in its trace are the numbers of these spaces.

use super::simulator;
use super::{modes, setting, trace};
use hartrace_cva6_sim::Exit;
use hartrace_cva6_sim::soc::{Job, Soc, Survey};
use hartrace_iss::{Exit as IssExit, Hart, Step};
use hartrace_tests::cva6::elf;
use std::collections::BTreeSet;

/// More steps than the program has.
const LIMIT: u64 = 1_000_000;

/// `csrrw` and `csrrwi` of `satp`, with any registers.
const WRITES_SATP: [u32; 2] = [0x1800_1073, 0x1800_5073];

/// Bits of an encoding that are no register.
const OPERATION: u32 = 0xfff0_707f;

/// Returns the number of the address space that an instruction selects, from its encoding and the registers before it.
fn selects(hart: &Hart, step: &Step) -> Option<u64> {
    let rs1 = step.encoding >> 15 & 31;
    let value = match WRITES_SATP.map(|write| step.encoding & OPERATION == write) {
        [true, _] => hart.registers().x[rs1 as usize],
        [_, true] => rs1.into(),
        _ => return None,
    };
    Some(value >> 44 & 0xffff)
}

/// The address of every instruction that retires, and the number of the address space it runs in, as the instruction set
/// simulator has them: it sees nothing of the core. What selects a space still runs in the one before.
fn executed(elf: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    let (mut hart, mut before) = (simulator::hart(elf)?, simulator::hart(elf)?);
    let (mut space, mut executed) = (0, Vec::new());
    for _ in 0..LIMIT {
        let mut seen = None;
        let exit = hart.run(1, &mut |step: &Step| seen = Some(*step));
        if let Some(step) = seen.filter(|step| step.trap.is_none()) {
            executed.push((step.pc, space));
            space = selects(&before, &step).unwrap_or(space);
        }
        match exit {
            IssExit::Limit => before.run(1, &mut |_: &Step| ()),
            IssExit::Exited(0) => return Ok(executed),
            exit => return Err(format!("the instruction set simulator: {exit:?}")),
        };
    }
    Err(format!("more than {LIMIT} steps"))
}

/// Traces the program, whose encoder has contexts, and compares addresses and contexts.
pub(crate) fn check(
    soc: &Soc,
    survey: impl Fn(&Job) -> Result<Survey, String>,
) -> Result<(), String> {
    let mut job = Job::new(elf("spaces")?);
    let executed = executed(&job.elf)?;
    let survey = survey(&job)?;
    for number in [0b00, 0b11] {
        job.setting = setting(modes(number));
        let outcome = trace(soc, &job, &survey)?;
        let hart = &outcome.harts[0];
        if outcome.run.exit != Exit::Exited(0) || hart.lost > 0 {
            return Err(format!("{:?}, {hart:?}", outcome.run));
        }
        let mut decoded = Vec::new();
        let mut retired = |address, context| decoded.push((address, context));
        soc.decode(&job, &survey, &outcome, 0, &mut retired).map_err(|error| error.to_string())?;
        compare(&executed, &decoded)?;
        let spaces: BTreeSet<u64> = decoded.iter().map(|(_, context)| *context).collect();
        let changes = decoded.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
        println!(
            "modes {number:02b}: {} cycles, {} of {} instructions, {} traps, contexts {spaces:x?}, {changes} changes, {} \
             packets",
            outcome.run.cycles,
            decoded.len(),
            hart.instructions - hart.idle,
            hart.traps,
            hart.packets,
        );
        if spaces != BTreeSet::from([0, 5, 9, 0x8001, 0xffff]) || changes < 40 {
            return Err("not all address spaces were seen".to_owned());
        }
    }
    Ok(())
}

/// The trace has to have everything, each instruction in its space. The core repeats the last store until it reaches memory.
fn compare(executed: &[(u64, u64)], decoded: &[(u64, u64)]) -> Result<(), String> {
    let Some(&(last, space)) = executed.last() else { return Err("nothing was executed".into()) };
    let ends =
        |&(address, context): &(u64, u64)| (last..last + 8).contains(&address) && context == space;
    let (trace, end) = decoded.split_at_checked(executed.len()).unwrap_or((decoded, &[]));
    if trace == executed && end.iter().all(ends) {
        return Ok(());
    }
    let same = executed.iter().zip(trace).take_while(|(a, b)| a == b).count();
    let around =
        |rows: &[(u64, u64)]| rows.get(same..).map(|rest| rest[..rest.len().min(3)].to_vec());
    Err(format!(
        "address and context differ after {same} instructions: executed {:x?}, decoded {:x?}",
        around(executed),
        around(decoded),
    ))
}
