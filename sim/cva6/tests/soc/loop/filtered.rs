//! A program that traces itself with filters: what lies in memory is the part of its work that each lets pass.

use crate::models::Kind;
use crate::self_hosted::{Decoded, header_is_of, symbol, words};
use hartrace_cva6_sim::Exit;
use hartrace_cva6_sim::soc::{Job, SelfTraced};
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::{IType, Privilege, Retired};
use hartrace_lockstep::{FilterRequest, Setting};
use hartrace_tests::cva6::elf;
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// Causes of an `ecall` in machine mode, and of a software interrupt.
const ECALL_M: u64 = 11;
const SOFTWARE: u64 = 3;

/// Offsets of `trTeInstFilters`, and of all registers of filters and comparators.
const FILTERS: u32 = 0xc;
const OF_FILTERS: std::ops::Range<u32> = 0x400..0x800;

/// A trace: what its filters ask for, and whether they let an instruction pass.
struct Trace<'a> {
    name: &'static str,
    asked: Vec<FilterRequest>,
    passes: Box<dyn FnMut(&Retired) -> bool + 'a>,
}

/// Whether an instruction is between a trap and the return from it. Handlers of the program do not trap.
fn handler(kind: IType, cause: u64) -> impl FnMut(&Retired) -> bool {
    let mut inside = false;
    move |row| {
        if row.itype.is_trap() {
            inside = (row.itype, row.cause) == (kind, cause);
        }
        let here = inside;
        inside &= row.itype != IType::TrapReturn;
        here
    }
}

/// The traces of the program, in order.
fn traces(program: &[u8]) -> Result<Vec<Trace<'static>>, Failed> {
    let at = |name| symbol(program, name);
    let (first, last) = (at("fibonacci")?, at("fibonacci_end")? - 1);
    let single = at("single")?;
    let spaces =
        [(at("in_space_5")?, true), (at("in_space_9")?, true), (at("in_space_12")?, false)];
    let mut asked = false;
    // Supervisor mode is entered at one of these functions, each in its own space.
    let in_space = move |row: &Retired| {
        if let Some((_, is)) = spaces.iter().find(|(start, _)| *start == row.iaddr) {
            asked = *is;
        }
        asked && row.privilege == Privilege::S
    };
    let by_address = |range| FilterRequest { range: Some(range), ..FilterRequest::default() };
    let user = FilterRequest { privileges: vec![0], ..FilterRequest::default() };
    let (exception, interrupt) = (Some(false), Some(true));
    let of = |name, asked, passes| Trace { name, asked, passes };
    Ok(vec![
        of(
            "a range of addresses",
            vec![by_address((first, last))],
            Box::new(move |row| (first..=last).contains(&row.iaddr)),
        ),
        of(
            "one address",
            vec![by_address((single, single))],
            Box::new(move |row| row.iaddr == single),
        ),
        of("user mode", vec![user.clone()], Box::new(|row| row.privilege == Privilege::U)),
        of(
            "contexts 5 to 9 in supervisor mode",
            vec![FilterRequest {
                privileges: vec![1],
                context: Some((5, 9)),
                ..FilterRequest::default()
            }],
            Box::new(in_space),
        ),
        of(
            "handlers of ecall",
            vec![FilterRequest {
                causes: vec![ECALL_M],
                interrupt: exception,
                ..FilterRequest::default()
            }],
            Box::new(handler(IType::Exception, ECALL_M)),
        ),
        of(
            "handlers of interrupts",
            vec![FilterRequest { interrupt, ..FilterRequest::default() }],
            Box::new(handler(IType::Interrupt, SOFTWARE)),
        ),
        of(
            "one address, or user mode",
            vec![by_address((single, single)), user],
            Box::new(move |row| row.iaddr == single || row.privilege == Privilege::U),
        ),
    ])
}

/// The last words that were written to registers of filters since the encoder was reset, without zeros.
fn settings(writes: &[(u32, u32)]) -> BTreeMap<u32, u32> {
    let of_filters = |offset: &u32| *offset == FILTERS || OF_FILTERS.contains(offset);
    let mut last: BTreeMap<u32, u32> =
        writes.iter().copied().filter(|(offset, _)| of_filters(offset)).collect();
    last.retain(|_, word| *word != 0);
    last
}

/// The driver writes what the lock-step tests of the encoder write for the same filters.
fn check_writes(config: &Config, trace: &Trace<'_>, writes: &[(u32, u32)]) -> Result<(), Failed> {
    let setting = Setting { filters: trace.asked.clone(), ..Setting::default() };
    let (wanted, got) = (settings(&setting.writes(config, false)), settings(writes));
    if wanted == got {
        return Ok(());
    }
    Err(format!("{}: the driver wrote {got:x?} instead of {wanted:x?}", trace.name).into())
}

fn check(
    job: &Job,
    after: &SelfTraced,
    (i, mut trace): (usize, Trace<'_>),
    report: &[u64],
) -> Result<(), Failed> {
    let soc = Kind::LinuxSelfHosted.soc()?;
    check_writes(&soc.config().top.encoder, &trace, &after.writes[i])?;
    let bytes = after.read_memory(report[0], report[2]).ok_or("not in memory")?;
    let decoded = Decoded::new(soc, job, bytes, false)?;
    let executed = &after.traced[i];
    let passed = executed.iter().filter(|row| (trace.passes)(row));
    let wanted: Vec<u64> = passed.filter(|row| row.iretire > 0).map(|row| row.iaddr).collect();
    let all = executed.iter().filter(|row| row.iretire > 0).count();
    let name = trace.name;
    println!("{name}: {} of {all} instructions in {} bytes", wanted.len(), bytes.len());
    if decoded.addresses != wanted || !decoded.gaps.is_empty() {
        let pairs = wanted.iter().zip(&decoded.addresses);
        let same = pairs.take_while(|(a, b)| a == b).count();
        let (wanted, got) = (wanted.get(same..), decoded.addresses.get(same..));
        let some = |rest: Option<&[u64]>| rest.map(|rest| rest[..rest.len().min(5)].to_vec());
        let (wanted, got, gaps) = (some(wanted), some(got), &decoded.gaps);
        return Err(format!(
            "{name}: the same up to {same}, then {got:x?} instead of {wanted:x?}; {gaps:?}"
        )
        .into());
    }
    assert!(!wanted.is_empty() && wanted.len() < all, "{name}");
    Ok(())
}

/// The core sets up a filter, works, and stops, again and again.
pub(crate) fn filtered() -> Result<(), Failed> {
    let soc = Kind::LinuxSelfHosted.soc()?;
    header_is_of(soc, "src/cva6/linux")?;
    let job = Job { limit: 2_000_000, ..Job::new(elf("filtered")?) };
    let after = soc.run_self_hosted(&job)?;
    println!("{:?}, {} traces", after.run, after.traced.len());
    let traces = traces(&job.elf)?;
    let traced = (after.run.exit, after.traced.len(), after.lost);
    if traced != (Exit::Exited(0), traces.len(), 0) {
        return Err(format!("{:?}, {traced:?}", after.run).into());
    }
    let reports = words(&job.elf, &after, 3 * traces.len() as u64)?;
    let mut pairs = traces.into_iter().enumerate().zip(reports.chunks_exact(3));
    pairs.try_for_each(|(trace, report)| check(&job, &after, trace, report))
}
