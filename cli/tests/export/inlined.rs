//! Inlined functions in call stacks, compared with what LLVM's symbolizer says of each instruction that was executed.

use super::debug::Traced;
use super::source::programs;
use super::{clean, read_pprof, run, sum};
use libtest_mimic::Failed;
use std::collections::BTreeMap;
use std::process::Command;

/// Each line of each chain of inlined functions has executed as many instructions as belong to it, and calls are in the same
/// lines.
pub(crate) fn pprof(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    let instructions: u64 = traced.pcs.values().sum();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for (pc, times) in &traced.pcs {
        let frames = traced.frames[pc].iter().rev();
        let chain: Vec<_> =
            frames.map(|frame| format!("{}:{}", frame.function, frame.line)).collect();
        *expected.entry(chain.join(";")).or_default() += times;
    }
    let inlined = expected.keys().filter(|chain| chain.contains(';')).count();
    let deep = expected.keys().filter(|chain| chain.matches(';').count() > 1).count();
    assert!(inlined > 0, "nothing is inlined");

    clean(folder, &format!("export {capture} --format pprof -o t.pb.gz"))?;
    let text = read_pprof(&folder.join("t.pb.gz"))?;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("location ")) {
        let (chain, insns) = line.rsplit_once(' ').ok_or("no number")?;
        *found.entry(chain.to_owned()).or_default() += insns.parse::<u64>()?;
    }
    assert_eq!(found, expected);
    assert_eq!(sum(&clean(folder, &format!("export {capture} --format folded"))?)?, instructions);
    println!("{inlined} chains of inlined functions, {deep} of them with several, in {text}");
    Ok(())
}

/// `callgrind_annotate` shows as many instructions at each line as belong to it, whichever function they are of.
pub(crate) fn callgrind(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    clean(folder, &format!("export {capture} --format callgrind -o t.callgrind"))?;
    let mut expected: BTreeMap<(String, u64), u64> = BTreeMap::new();
    for (pc, times) in &traced.pcs {
        if let Some(frame) = traced.frames[pc].first().filter(|frame| frame.line > 0) {
            *expected.entry((frame.file.clone(), frame.line)).or_default() += times;
        }
    }
    let mut command = Command::new("callgrind_annotate");
    command.args(["--auto=yes", "--threshold=100", "--show-percs=no", "--context=0"]);
    command.arg(format!("--include={}", programs()?.display()));
    let text = run(command.arg("t.callgrind").current_dir(folder))?;
    // Every line that is shown has its number before and behind it. Calls from it follow, with an arrow.
    let (mut found, mut file, mut number) = (BTreeMap::new(), String::new(), None);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default().replace(',', "");
        if let Some(name) = line.strip_prefix("-- Auto-annotated source: ") {
            file = name.rsplit(" + ").next().unwrap_or(name).to_owned();
        } else if let Some(rest) = line.strip_prefix("-- line ") {
            let next: u64 = rest.split_whitespace().next().unwrap_or_default().parse()?;
            number = if number == Some(next) { None } else { Some(next) };
        } else if let (Ok(insns), Some(number)) = (first.parse::<u64>(), number)
            && words.next() != Some("=>")
        {
            found.insert((file.clone(), number), insns);
        }
    }
    assert!(found.keys().any(|(file, _)| file.ends_with("sort.c")), "{text}");
    // Of assembly, the folder is not known.
    expected.retain(|(of, _), _| found.keys().any(|(file, _)| file == of));
    println!("{text}");
    assert_eq!(found, expected);
    Ok(())
}
