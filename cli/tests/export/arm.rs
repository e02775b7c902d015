//! Captures of programs for Arm: executed by QEMU, traced by the models, in a package.

use super::debug::Traced;
use super::{clean, folder, sum};
use hartrace_encap::coresight::{Formatter, TraceId};
use hartrace_executions::qemu::{ArmStep, Qemu};
use hartrace_golden::arm::{Ranges, etmv4, ptm};
use libtest_mimic::Failed;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::path::Path;

/// What a trace unit is, with the name of the program for it.
pub(crate) const UNITS: [(&str, &str); 3] =
    [("etmv4", "sort-a64"), ("ete", "sort-a64"), ("ptm", "sort-t32")];

enum Unit {
    Etmv4(Box<etmv4::Unit>),
    Ptm(Box<ptm::Unit>),
}

impl Unit {
    /// The unit, and what a package says of it.
    fn new(name: &str) -> (Self, String) {
        let (return_depth, period, branch_broadcast) = (8, 100_000, false);
        if name == "ptm" {
            let (cr, idr, ccer) = (1 << 29, 0x411c_f312, 1 << 22 | 1 << 23 | 1 << 28 | 1 << 29);
            let config = hartrace_ptm::Registers { cr, idr, ccer }.config();
            let options = ptm::Options { branch_broadcast, return_depth, period };
            let text = format!(
                "format: PTM1.1\nETMCR: {cr:#x}\nETMIDR: {idr:#x}\nETMCCER: {ccer:#x}\ncore: ARMv7-A\n"
            );
            return (Self::Ptm(Box::new(ptm::Unit::new(&config, &options, None))), text);
        }
        let (configr, idr0, idr1) = (1 << 12, 1 << 5 | 1 << 7 | 1 << 9 | 1 << 29, 0x4100_f420);
        let (idr2, idr8) = (8 << 25 | 0x0000_0488, 0);
        let devarch = (name == "ete").then_some(0x4770_5a13);
        let registers = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch };
        let options = etmv4::Options {
            branch_broadcast,
            cycles: None,
            return_depth,
            period,
            combine: false,
            speculate: false,
        };
        let format = match devarch {
            Some(devarch) => format!("format: ETE1.0\nTRCDEVARCH: {devarch:#x}\n"),
            None => "format: ETM4.2\n".to_owned(),
        };
        let text = format!(
            "{format}TRCCONFIGR: {configr:#x}\nTRCIDR0: {idr0:#x}\nTRCIDR1: {idr1:#x}\n\
             TRCIDR2: {idr2:#x}\nTRCIDR8: {idr8}\ncore: ARMv8-A\n"
        );
        (Self::Etmv4(Box::new(etmv4::Unit::new(&registers.config(), &options, None))), text)
    }
}

/// A package of the first 200,000 instructions.
pub(crate) fn capture(unit: &str, name: &str) -> Result<Traced, Failed> {
    let folder = folder(&format!("{unit}-{name}"))?;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/debug");
    let program = programs.join(name).with_extension("elf");
    let (mut model, text) = Unit::new(unit);
    let (mut pcs, mut left) = (BTreeMap::<u64, u64>::new(), 200_000u32);
    // Only what is in a range is traced: the end of the trace is not.
    let (mut ranges, mut waiting) = (Ranges::default(), VecDeque::new());
    Qemu::new()?.silent().run_arm(&program, &[], |step| {
        if let ArmStep::Executed { executed, .. } = step {
            match &mut model {
                Unit::Etmv4(unit) => unit.executed(executed),
                Unit::Ptm(unit) => unit.executed(executed),
            }
            waiting.push_back(executed.address);
            if let Some(range) = ranges.executed(executed) {
                let traced = waiting.drain(..(range.2 as usize).min(waiting.len()));
                traced.for_each(|pc| *pcs.entry(pc).or_default() += 1);
            }
        }
        left -= 1;
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let trace = match model {
        Unit::Etmv4(unit) => unit.finish()?,
        Unit::Ptm(unit) => unit.finish()?,
    };
    write(&folder.join("package"), &trace, &text, &[16])?;
    write(&folder.join("both"), &trace, &text, &[16, 17])?;
    let capture = format!("package --elf {}", program.display());
    Traced::new(folder, capture, program, pcs)
}

/// Writes a package in which each of several sources has the same trace.
fn write(package: &Path, trace: &[u8], text: &str, ids: &[u8]) -> Result<(), Failed> {
    let mut metadata = "[buffer]\nformat: coresight\n".to_owned();
    let mut frames = Vec::new();
    let mut formatter = Formatter::new();
    for id in ids {
        metadata += &format!("[trace_{id}]\n{text}");
        let id = TraceId::new(*id).ok_or("no trace ID")?;
        formatter.write(id, trace, &mut |frame| frames.extend_from_slice(frame));
    }
    formatter.finish(&mut |frame| frames.extend_from_slice(frame));
    std::fs::create_dir_all(package)?;
    std::fs::write(package.join("contents.ini"), "[trace]\nmetadata=trace.ini\nbuffer0=t.bin\n")?;
    std::fs::write(package.join("trace.ini"), metadata)?;
    std::fs::write(package.join("t.bin"), frames)?;
    Ok(())
}

/// What is written at the end is written once, with all sources.
pub(crate) fn several(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, pcs, .. } = traced;
    let both = capture.replacen("package", "both", 1);
    let [one, two] = [capture, &both].map(|capture| {
        let folded = clean(folder, &format!("export {capture} --format folded"))?;
        let lcov = clean(folder, &format!("export {capture} --format lcov"))?;
        Ok::<_, Failed>((folded, lcov))
    });
    let ((one, lines), (two, all_lines)) = (one?, two?);
    assert_eq!(sum(&one)?, pcs.values().sum::<u64>());
    let named = |source: u8| -> String {
        one.lines().map(|line| format!("source {source};{line}\n")).collect()
    };
    assert_eq!(two, named(16) + &named(17));
    // Twice as often, and no line twice.
    let executed = |text: &str| -> Vec<(String, u64)> {
        let lines = text.lines().filter(|line| line.starts_with("DA:"));
        let pairs = lines.filter_map(|line| line.rsplit_once(','));
        pairs.filter_map(|(line, times)| Some((line.to_owned(), times.parse().ok()?))).collect()
    };
    let twice = executed(&lines).into_iter().map(|(line, times)| (line, 2 * times));
    assert_eq!(executed(&all_lines), twice.collect::<Vec<_>>());
    println!("{} stacks of two sources, {} lines", two.lines().count(), executed(&lines).len());
    Ok(())
}
