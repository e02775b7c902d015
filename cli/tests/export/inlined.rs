//! Inlined functions in call stacks, compared with what LLVM's symbolizer says of each instruction that was executed.

use super::debug::Traced;
use super::{clean, read_pprof, sum};
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// Each chain of inlined functions has executed as many instructions as belong to it, and calls are in the same lines.
pub(crate) fn pprof(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    let instructions: u64 = traced.pcs.values().sum();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for (pc, times) in &traced.pcs {
        // The line in the innermost function is not that of the instruction: a profile has whole functions.
        let mut chain = Vec::new();
        for (number, frame) in traced.frames[pc].iter().enumerate() {
            let line = if number == 0 { String::new() } else { format!(":{}", frame.line) };
            chain.push(format!("{}{line}", frame.function));
        }
        chain.reverse();
        *expected.entry(chain.join(";")).or_default() += times;
    }
    let inlined = expected.keys().filter(|chain| chain.contains(';')).count();
    let deep = expected.keys().filter(|chain| chain.matches(';').count() > 1).count();
    assert!(inlined > 0, "nothing is inlined");

    clean(folder, &format!("export {capture} --to pprof -o t.pb.gz"))?;
    let text = read_pprof(&folder.join("t.pb.gz"))?;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("location ")) {
        let (chain, insns) = line.rsplit_once(' ').ok_or("no number")?;
        *found.entry(chain.to_owned()).or_default() += insns.parse::<u64>()?;
    }
    assert_eq!(found, expected);
    assert_eq!(sum(&clean(folder, &format!("export {capture} --to folded"))?)?, instructions);
    println!("{inlined} chains of inlined functions, {deep} of them with several, in {text}");
    Ok(())
}
