//! Coverage and profiles by source line, read back by lcov, llvm-profdata and BOLT, and compared with what LLVM's
//! symbolizer says of each instruction that was executed.

use super::debug::{Frame, Traced};
use super::{clean, run};
use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line of a file.
type Place = (String, u64);

/// Where the sources of the bundled programs are.
pub(crate) fn programs() -> std::io::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs").canonicalize()
}

/// The records of a tracefile: lines and branches of all files.
#[derive(Default)]
struct Tracefile {
    lines: BTreeMap<Place, u64>,
    /// Both ways of each branch; nothing if it was not executed.
    branches: BTreeMap<Place, Vec<[Option<u64>; 2]>>,
    functions: BTreeMap<String, u64>,
}

fn tracefile(text: &str) -> Result<Tracefile, Failed> {
    let (mut found, mut file) = (Tracefile::default(), String::new());
    for line in text.lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let fields: Vec<&str> = value.split(',').collect();
        match (key, &fields[..]) {
            ("SF", _) => file = value.to_owned(),
            ("DA", [line, times]) => {
                found.lines.insert((file.clone(), line.parse()?), times.parse()?);
            }
            ("BRDA", [line, block, way, times]) => {
                let list = found.branches.entry((file.clone(), line.parse()?)).or_default();
                list.resize(list.len().max(block.parse::<usize>()? + 1), [None; 2]);
                list[block.parse::<usize>()?][way.parse::<usize>()?] = times.parse().ok();
            }
            ("FNDA", [times, name]) => {
                *found.functions.entry((*name).to_owned()).or_default() += times.parse::<u64>()?;
            }
            ("TN" | "FN" | "FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH" | "end_of_record", _) => {}
            _ => return Err(format!("{line:?} is no record of lcov").into()),
        }
    }
    Ok(found)
}

/// lcov and genhtml find the lines that have code, executed or not, and both ways of every branch.
pub(crate) fn lcov(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    clean(folder, &format!("export {capture} --format lcov -o t.info"))?;
    let found = tracefile(&std::fs::read_to_string(folder.join("t.info"))?)?;

    // By line and the functions around it, then by line: as often as the most frequent instruction.
    let mut most: BTreeMap<(Place, &[Frame]), u64> = BTreeMap::new();
    for (pc, frames) in &traced.frames {
        let [inner, around @ ..] = &frames[..] else { continue };
        if inner.line > 0 {
            let times = most.entry(((inner.file.clone(), inner.line), around)).or_default();
            *times = (*times).max(traced.pcs.get(pc).copied().unwrap_or_default());
        }
    }
    let mut lines: BTreeMap<Place, u64> = BTreeMap::new();
    for ((place, _), times) in most {
        *lines.entry(place).or_default() += times;
    }
    assert_eq!(found.lines, lines);

    // Every branch of the program is there, and went as often each way as the edges say.
    let edges = clean(folder, &format!("decode {capture} --emit edges --json"))?;
    let edges: Vec<Value> = edges.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let taken = |row: &&Value| row["kind"] == "branch";
    let sum: u64 = edges.iter().filter(taken).filter_map(|row| row["count"].as_u64()).sum();
    let ways: Vec<[Option<u64>; 2]> = found.branches.values().flatten().copied().collect();
    let told: u64 = ways.iter().flatten().flatten().sum();
    assert_eq!((ways.len(), told), (traced.branches.len(), sum), "branches, and their executions");
    let executed = traced.branches.iter().filter(|pc| traced.pcs.contains_key(pc)).count();
    assert_eq!(ways.iter().filter(|ways| ways[0].is_some()).count(), executed);
    let never = ways.iter().filter(|ways| ways[0].is_none()).count();
    let one_way = ways.iter().filter(|ways| ways.contains(&Some(0))).count();
    assert!(never > 0 && one_way > 0, "{never} branches never executed, {one_way} one way only");

    let mut summary = Command::new("lcov");
    summary.args(["--summary", "t.info", "--rc", "lcov_branch_coverage=1"]).current_dir(folder);
    let summary = run(&mut summary)?;
    let hit = |times: &[u64]| times.iter().filter(|times| **times > 0).count();
    let [lines, functions] = [
        lines.into_values().collect::<Vec<_>>(),
        found.functions.into_values().collect::<Vec<_>>(),
    ];
    let both: Vec<u64> = ways.iter().flatten().map(|times| times.unwrap_or_default()).collect();
    for (name, counts) in [("lines", &lines), ("functions", &functions), ("branches", &both)] {
        let expected = format!("({} of {} {name})", hit(counts), counts.len());
        assert!(summary.contains(&expected), "{expected}: {summary}");
    }
    println!("{summary}");
    // Names of files are relative to the folder that the program was compiled in.
    let mut pages = Command::new("genhtml");
    pages.args(["--branch-coverage", "--output-directory"]).arg(folder.join("pages"));
    // GNU as for Arm leaves out the folder of `rt/linux-arm.S`.
    pages.args(["--ignore-errors", "source"]);
    pages.arg("--prefix").arg(programs()?);
    pages.arg(folder.join("t.info")).current_dir(programs()?);
    println!("{}", run(&mut pages)?);
    assert!(folder.join("pages/src/sort.c.gcov.html").is_file());
    Ok(())
}

/// The base discriminator in one that LLVM has encoded.
fn base(discriminator: u64) -> u64 {
    let value = discriminator / 2;
    match (discriminator % 2, value & 32) {
        (1, _) => 0,
        (_, 0) => value % 32,
        _ => value % 32 + (value >> 6) % 128 * 32,
    }
}

/// Lines of a profile: by name of the function, call sites with the names of inlined functions, and line.
#[derive(Debug, Default)]
struct Samples {
    lines: BTreeMap<String, u64>,
    heads: BTreeMap<String, u64>,
    calls: BTreeMap<String, u64>,
}

fn samples(text: &str) -> Result<Samples, Failed> {
    let mut found = Samples::default();
    let mut stack: Vec<String> = Vec::new();
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        stack.truncate(depth);
        let (name, rest) = line.trim_start().split_once(':').ok_or(line)?;
        let wrong = || Failed::from(format!("{line:?} is not of a profile"));
        if depth == 0 {
            let (_, head) = rest.rsplit_once(':').ok_or_else(wrong)?;
            found.heads.insert(name.to_owned(), head.parse()?);
            stack.push(name.to_owned());
            continue;
        }
        let mut words = rest.split_whitespace();
        let first = words.next().ok_or_else(wrong)?;
        let path = format!("{} {name}", stack.join(" "));
        match first.split_once(':') {
            Some((inlined, _)) => stack.push(format!("{name} {inlined}")),
            None => {
                found.lines.insert(path, first.parse()?);
            }
        }
        for word in words {
            let (name, times) = word.split_once(':').ok_or_else(wrong)?;
            *found.calls.entry(name.to_owned()).or_default() += times.parse::<u64>()?;
        }
    }
    Ok(found)
}

/// llvm-profdata reads the profile, and has every line of every function as often as its most frequent instruction.
pub(crate) fn autofdo(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    clean(folder, &format!("export {capture} --format autofdo -o t.prof"))?;
    let profdata = |line: &str| {
        let mut command = Command::new("llvm-profdata-19");
        run(command.args(line.split_whitespace()).current_dir(folder))
    };
    profdata("merge --sample t.prof -o t.profdata")?;
    profdata("merge --sample --text t.profdata -o read.prof")?;
    let found = samples(&std::fs::read_to_string(folder.join("read.prof"))?)?;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut executed = BTreeSet::new();
    for (pc, frames) in &traced.frames {
        // Assembly has no functions.
        if frames.iter().any(|frame| frame.declared == 0) {
            continue;
        }
        let line = |frame: &Frame| {
            let offset = (frame.line.wrapping_sub(frame.declared)) & 0xffff;
            match base(frame.discriminator) {
                0 => format!("{offset}"),
                discriminator => format!("{offset}.{discriminator}"),
            }
        };
        let Some(outer) = frames.last() else { continue };
        // A part of a function that GCC has split off has a name of its own, but is the same function in the source.
        let name = outer.function.split(".part.").next().unwrap_or_default();
        let mut path = name.to_owned();
        for pair in frames.windows(2).rev() {
            path += &format!(" {} {}", line(&pair[1]), pair[0].function);
        }
        path += &format!(" {}", line(&frames[0]));
        let times = traced.pcs.get(pc).copied().unwrap_or_default();
        if times > 0 {
            executed.insert(name.to_owned());
            let most = lines.entry(path).or_default();
            *most = (*most).max(times);
        }
    }
    let positive = found.lines.iter().filter(|(_, times)| **times > 0);
    assert_eq!(positive.map(|(k, v)| (k.clone(), *v)).collect::<BTreeMap<_, _>>(), lines);
    assert_eq!(found.heads.keys().cloned().collect::<BTreeSet<_>>(), executed);
    // Who is entered was called; the first function by assembly, which has no lines in the profile.
    for (name, head) in &found.heads {
        let calls = found.calls.get(name).copied().unwrap_or_default();
        let first = u64::from(name == "sort");
        assert_eq!(calls + first, *head, "{name}");
    }
    let shown = profdata("show --sample t.profdata")?;
    let functions = shown.lines().filter(|line| line.starts_with("Function: ")).count();
    assert_eq!(functions, found.heads.len(), "{shown}");
    println!("{}", shown.lines().take(12).collect::<Vec<_>>().join("\n"));
    Ok(())
}

/// The records of a profile, each with how often it was taken.
fn records(text: &str) -> BTreeMap<String, u64> {
    let records = text.lines().filter_map(|line| line.rsplit_once(' '));
    records.filter_map(|(edge, times)| Some((edge.to_owned(), times.parse().ok()?))).collect()
}

/// BOLT and merge-fdata read the profile: two of them are twice as many of each edge. The edges are those of `decode --emit edges`.
pub(crate) fn bolt(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, .. } = traced;
    clean(folder, &format!("export {capture} --format bolt -o t.fdata"))?;
    let found = records(&std::fs::read_to_string(folder.join("t.fdata"))?);
    let edges = clean(folder, &format!("decode {capture} --emit edges --json"))?;
    let edges: Vec<Value> = edges.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let sum: u64 = edges.iter().filter_map(|row| row["count"].as_u64()).sum();
    assert_eq!((found.len(), found.values().sum::<u64>()), (edges.len(), sum));
    optimise(traced, &edges)?;
    let mut merge = Command::new("merge-fdata-19");
    merge.args(["t.fdata", "t.fdata"]).current_dir(folder);
    let merged = records(&run(&mut merge)?);
    let twice = found.iter().map(|(edge, times)| (edge.clone(), 2 * times));
    assert_eq!(merged, twice.collect::<BTreeMap<_, _>>());
    println!("{} edges, taken {sum} times", found.len());
    Ok(())
}

/// What BOLT 19 says of the profile. It rewrites programs in A64; for RISC-V it reads the profile, and then fails; T32 it does not
/// know.
fn optimise(Traced { folder, program, .. }: &Traced, edges: &[Value]) -> Result<(), Failed> {
    let mut command = Command::new("llvm-bolt-19");
    command.arg(program).args(["--data=t.fdata", "-o", "bolted.elf", "--dyno-stats"]);
    let output = command.current_dir(folder).output()?;
    let text = String::from_utf8([output.stdout, output.stderr].concat())?;
    if program.ends_with("sort-t32.elf") {
        return Ok(());
    }
    let read = text.lines().find(|line| line.contains("have non-empty execution profile"));
    println!("{}", read.ok_or_else(|| text.clone())?);
    assert!(!text.contains("stale"), "{text}");
    if program.ends_with("sort-a64.elf") {
        // The first statistics are of the program as it is.
        let line = text.lines().find(|line| line.ends_with(": all conditional branches"));
        println!("{}", line.ok_or_else(|| text.clone())?);
        let counted: u64 =
            line.and_then(|line| line.split_whitespace().next()).ok_or("no number")?.parse()?;
        let branches = edges.iter().filter(|row| row["kind"] == "branch");
        let sum: u64 = branches.filter_map(|row| row["count"].as_u64()).sum();
        // Which way the last branch of the trace goes is not known; BOLT concludes that it goes one.
        assert!(counted.abs_diff(sum) <= 1, "{sum}: {text}");
        assert!(output.status.success(), "{text}");
    }
    Ok(())
}

/// A program without debug information has no lines; the message says what to do.
pub(crate) fn no_lines(folder: &Path) -> Result<(), Failed> {
    for format in ["lcov", "autofdo"] {
        let output = super::hartrace(folder, &format!("export t.te --format {format} -o none"))?;
        let message = String::from_utf8(output.stderr)?;
        assert!(message.contains("no program has debug information"), "{message}");
        assert!(message.contains("-g") && output.status.code() == Some(2), "{message}");
    }
    Ok(())
}
