//! `hartrace export`, read back by others.
//!
//! What needs a reader that is not installed shows as ignored. `./test.sh unit` installs them.

mod arm;
mod debug;
mod inlined;
mod linked;
mod names;
mod page;
mod source;
#[path = "../support/mod.rs"]
mod support;

use debug::Traced;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use support::{clean, hartrace};

const PROGRAMS: [&str; 4] = ["calls", "interrupts", "user", "linux"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let annotate = has("callgrind_annotate");
    let python = python();
    let mut trials = vec![
        Trial::test("a_gap_ends_all_calls", a_gap_ends_all_calls),
        Trial::test("names/lines", names::lines),
        Trial::test("page/sources", page::sources),
    ];
    for (form, reader, arguments) in names::READERS {
        let trial = move || names::read(form, reader, arguments);
        trials.push(Trial::test(format!("names/{form}"), trial).with_ignored_flag(!has(reader)));
    }
    for name in PROGRAMS.into_iter().chain(["debug/sort"]) {
        trials.push(Trial::test(format!("folded/{name}"), move || folded(name)));
        trials.push(Trial::test(format!("top/{name}"), move || top(name)));
        trials.push(Trial::test(format!("speedscope/{name}"), move || speedscope(name)));
        let callgrind = Trial::test(format!("callgrind/{name}"), move || callgrind(name));
        trials.push(callgrind.with_ignored_flag(!annotate));
        let missing = python.is_none();
        let python = python.clone().unwrap_or_default();
        let perfetto = Trial::test(format!("perfetto/{name}"), move || perfetto(&python, name));
        trials.push(perfetto.with_ignored_flag(missing));
        let pprof = Trial::test(format!("pprof/{name}"), move || pprof(name));
        trials.push(pprof.with_ignored_flag(missing));
    }
    let [lcov, llvm, bolt] = [
        has("lcov") && has("genhtml"),
        has("llvm-symbolizer-19") && has("llvm-objdump-19") && has("llvm-profdata-19"),
        has("merge-fdata-19"),
    ];
    let emulated = has("qemu-aarch64") && has("qemu-arm") && has("cc");
    trials.push(Trial::test("no_lines", || source::no_lines(&capture("calls", "no-lines")?.0)));
    let mut captures: Vec<(&str, bool, Making)> = vec![("e-trace", true, Box::new(debugged))];
    for (unit, program) in arm::UNITS {
        captures.push((unit, emulated, Box::new(move || arm::capture(unit, program))));
    }
    let compiled = linked::NEEDED.iter().all(|name| has(name));
    let made = Arc::new(std::sync::LazyLock::new(linked::linked));
    let checks: [(&str, bool, linked::Check); 5] = [
        ("entries", true, linked::entries),
        ("names", true, linked::names),
        ("objects", annotate, linked::objects),
        ("mappings", python.is_some(), linked::mappings),
        ("threads", true, linked::threads),
    ];
    for (form, readers, check) in checks {
        let made = Arc::clone(&made);
        let trial = Trial::test(format!("{form}/linked"), move || match &**made {
            Ok(linked) => check(linked),
            Err(error) => Err(format!("{error:?}").into()),
        });
        trials.push(trial.with_ignored_flag(!compiled || !readers));
    }
    for (name, there, make) in captures {
        let made = Arc::new(std::sync::LazyLock::new(make));
        let forms: [(&str, bool, Check); 7] = [
            ("several", true, arm::several),
            ("page", llvm, page::code),
            ("inlined", llvm && python.is_some(), inlined::pprof),
            ("lines", llvm && annotate, inlined::callgrind),
            ("lcov", lcov && llvm, source::lcov),
            ("autofdo", llvm, source::autofdo),
            ("bolt", llvm && bolt, source::bolt),
        ];
        // Only packages have several sources here.
        let forms = forms.into_iter().filter(|(form, ..)| *form != "several" || name != "e-trace");
        for (form, readers, check) in forms {
            let made = Arc::clone(&made);
            let trial = Trial::test(format!("{form}/{name}"), move || match &**made {
                Ok(traced) => check(traced),
                Err(error) => Err(format!("{error:?}").into()),
            });
            trials.push(trial.with_ignored_flag(!there || !readers));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Makes a capture when it is needed first.
type Making = Box<dyn FnOnce() -> Result<Traced, Failed> + Send>;

/// Reads back a format.
type Check = fn(&Traced) -> Result<(), Failed>;

/// A capture of the bundled program with debug information.
fn debugged() -> Result<Traced, Failed> {
    let (folder, instructions) = capture("debug/sort", "source")?;
    let mut pcs = BTreeMap::new();
    for line in clean(&folder, "decode t.te")?.lines() {
        *pcs.entry(u64::from_str_radix(line, 16)?).or_default() += 1;
    }
    assert_eq!(pcs.values().sum::<u64>(), instructions);
    Traced::new(folder, "t.te".to_owned(), program("debug/sort"), pcs)
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/programs/elf/{name}.elf"))
}

/// Standard output of another command, which must succeed.
fn run(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export").join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A folder with a capture `t.te` of a bundled program, and how many instructions it has.
fn capture(name: &str, format: &str) -> Result<(PathBuf, u64), Failed> {
    let folder = folder(&format!("{format}-{name}"))?;
    let program = program(name);
    let line = format!("run {} --encode ir+bp -o t.te --json", program.display());
    // With --json, what a program prints is on standard error.
    let output = hartrace(&folder, &line)?;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let line = String::from_utf8(output.stdout)?;
    let line: Value = serde_json::from_str(line.lines().next().unwrap_or_default())?;
    Ok((folder, line["instructions"].as_u64().ok_or("no instructions")?))
}

/// The sum of the numbers at the ends of lines.
fn sum(text: &str) -> Result<u64, Failed> {
    let numbers = text.lines().filter_map(|line| Some(line.rsplit_once(' ')?.1.parse::<u64>()));
    Ok(numbers.sum::<Result<u64, _>>()?)
}

/// Folded stacks add up to all instructions, however many threads decode.
fn folded(name: &str) -> Result<(), Failed> {
    let (folder, instructions) = capture(name, "folded")?;
    let text = clean(&folder, "export t.te --format folded")?;
    assert_eq!(sum(&text)?, instructions);
    assert!(text.lines().all(|line| !line.starts_with("0x")), "functions have names: {text}");
    assert_eq!(clean(&folder, "export t.te --format folded --threads 3")?, text);
    println!("{name}: {} stacks, {instructions} instructions", text.lines().count());
    Ok(())
}

/// What `top` prints follows from folded stacks: a function that is in a stack twice counts once in its total. Windows that
/// follow each other have all instructions together, and no others.
fn top(name: &str) -> Result<(), Failed> {
    let (folder, instructions) = capture(name, "top")?;
    let (mut own, mut total) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    for line in clean(&folder, "export t.te --format folded")?.lines() {
        let (stack, count) = line.rsplit_once(' ').ok_or("no count")?;
        let (frames, count) = (stack.split(';').collect::<Vec<_>>(), count.parse::<u64>()?);
        *own.entry(frames[frames.len() - 1].to_owned()).or_default() += count;
        for frame in frames.into_iter().collect::<BTreeSet<_>>() {
            *total.entry(frame.to_owned()).or_default() += count;
        }
    }
    // Two functions may have one name, of which one may have been inlined; their totals are not those of stacks.
    let mut twice = BTreeSet::new();
    let mut printed = BTreeMap::new();
    let mut before = u64::MAX;
    for line in clean(&folder, "top t.te --rows 100000 --by total --json")?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let [own, all] = ["self", "total"].map(|key| row[key].as_u64().expect("a number"));
        assert!(all <= before, "{line}: not in order");
        before = all;
        let function = row["function"].as_str().ok_or("no name")?.to_owned();
        let sums: &mut (u64, u64) = printed.entry(function.clone()).or_default();
        if *sums != (0, 0) {
            twice.insert(function);
        }
        *sums = (sums.0 + own, all);
    }
    assert!(twice.len() < printed.len() / 2, "{twice:?}");
    let expected = total.iter().map(|(function, total)| {
        (function.clone(), (own.get(function).copied().unwrap_or_default(), *total))
    });
    let mut expected: BTreeMap<_, _> = expected.collect();
    // What was entered and left without an instruction is in no stack.
    printed.retain(|_, (_, all)| *all > 0);
    for name in &twice {
        let all = printed.get(name).map(|(own, _)| *own);
        assert_eq!(all, expected.get(name).map(|(own, _)| *own), "{name}");
        printed.remove(name);
        expected.remove(name);
    }
    assert_eq!(printed, expected);
    let text = clean(&folder, "top t.te -n 3")?;
    assert!(text.lines().count() <= 6, "{text}");
    assert!(text.ends_with(&format!("{instructions:>14} instructions\n")), "{text}");

    let third = instructions / 3;
    let mut pieces = 0;
    for window in [format!("--to {third}"), format!("--from {third}")] {
        let counted = sum(&clean(&folder, &format!("export t.te --format folded {window}"))?)?;
        let text = clean(&folder, &format!("top t.te -n 1 {window}"))?;
        assert!(text.ends_with(&format!("{counted:>14} instructions\n")), "{window}: {text}");
        let page = clean(&folder, &format!("report t.te -o t.html {window}"))?;
        assert!(page.contains(&format!(" {counted} instructions")), "{window}: {page}");
        pieces += counted;
    }
    assert_eq!(pieces, instructions);
    Ok(())
}

/// Frames are closed in the opposite order, times do not decrease, and there is always a frame.
fn speedscope(name: &str) -> Result<(), Failed> {
    let (folder, instructions) = capture(name, "speedscope")?;
    clean(&folder, "export t.te --format speedscope -o profile.json")?;
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join("profile.json"))?)?;
    let profile = &file["profiles"][0];
    let frames = file["shared"]["frames"].as_array().ok_or("no frames")?;
    let (mut open, mut now, mut busy) = (Vec::new(), 0, 0);
    let events = profile["events"].as_array().ok_or("no events")?;
    for event in events {
        let [at, frame] = ["at", "frame"].map(|key| event[key].as_u64().expect("a number"));
        assert!(at >= now && (frame as usize) < frames.len(), "{event}");
        busy += if open.is_empty() { 0 } else { at - now };
        now = at;
        match event["type"].as_str() {
            Some("O") => open.push(frame),
            Some("C") => assert_eq!(open.pop(), Some(frame), "{event}"),
            _ => return Err(format!("{event}").into()),
        }
    }
    assert!(open.is_empty() && profile["endValue"] == instructions);
    assert_eq!(busy, instructions);
    println!("{name}: {} events of {} functions", events.len(), frames.len());
    Ok(())
}

/// `callgrind_annotate` finds all instructions, and each function has as many as in the folded stacks.
fn callgrind(name: &str) -> Result<(), Failed> {
    let (folder, instructions) = capture(name, "callgrind")?;
    clean(&folder, "export t.te --format callgrind -o t.callgrind")?;
    let mut command = Command::new("callgrind_annotate");
    command.args(["--threshold=100", "--show-percs=no", "t.callgrind"]).current_dir(&folder);
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let number = |line: &str| line.split_whitespace().next()?.replace(',', "").parse::<u64>().ok();
    let of = |end: &str| text.lines().find(|line| line.trim_end().ends_with(end)).and_then(number);
    assert_eq!(of("PROGRAM TOTALS"), Some(instructions), "{text}");
    let folded = clean(&folder, "export t.te --format folded")?;
    let mut functions = std::collections::BTreeMap::<&str, u64>::new();
    for (stack, count) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        let function = stack.rsplit(';').next().unwrap_or(stack);
        *functions.entry(function).or_default() += count.parse::<u64>()?;
    }
    for (function, insns) in &functions {
        let found = of(&format!(":{function}"));
        assert_eq!(found, Some(*insns), "{function}: {text}");
    }
    println!("{name}: {} functions, {instructions} instructions", functions.len());
    Ok(())
}

/// Perfetto's own schema finds the same calls, at the same times, as in a profile for speedscope.
fn perfetto(python: &Path, name: &str) -> Result<(), Failed> {
    let (folder, _) = capture(name, "perfetto")?;
    clean(&folder, "export t.te --format perfetto -o t.pftrace")?;
    clean(&folder, "export t.te --format speedscope -o profile.json")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/read_perfetto.py");
    let output = Command::new(python).arg(script).arg(folder.join("t.pftrace")).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut open = Vec::new();
    let mut found = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let mut words = line.splitn(4, ' ').map(str::to_owned);
        let mut word = || words.next().ok_or_else(|| format!("{line:?}"));
        let (kind, at, track, function) = (word()?, word()?, word()?, word()?);
        assert_eq!(track, "hart_(1_ns_=_1_instruction)");
        match kind.as_str() {
            "SLICE_BEGIN" => {
                open.push(function.clone());
                found.push(("O", at.parse::<u64>()?, function));
            }
            "SLICE_END" => found.push(("C", at.parse()?, open.pop().ok_or("nothing is open")?)),
            _ => return Err(line.into()),
        }
    }
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join("profile.json"))?)?;
    let events = file["profiles"][0]["events"].as_array().ok_or("no events")?;
    assert_eq!(found.len(), events.len());
    for ((kind, at, function), event) in found.iter().zip(events) {
        let frame = event["frame"].as_u64().ok_or("no frame")? as usize;
        let expected = &file["shared"]["frames"][frame]["name"];
        assert!(event["type"] == *kind && event["at"] == *at && expected == function, "{event}");
    }
    println!("{name}: {} events, {} open at the end", found.len(), open.len());
    assert!(open.is_empty());
    Ok(())
}

/// Python with the libraries that readers need.
fn python() -> Option<PathBuf> {
    Some(Path::new(&std::env::var_os("HARTRACE_READERS")?).join("bin/python"))
}

/// What the protobuf library finds in a profile of pprof.
fn read_pprof(file: &Path) -> Result<String, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/read_pprof.py");
    run(Command::new(python().ok_or("no readers")?).arg(script).arg(file))
}

/// The protobuf library finds the same stacks as in the folded ones, which add up to all instructions; functions have
/// the lines that debug information says.
fn pprof(name: &str) -> Result<(), Failed> {
    let (folder, instructions) = capture(name, "pprof")?;
    clean(&folder, "export t.te --format pprof -o t.pb.gz")?;
    let text = read_pprof(&folder.join("t.pb.gz"))?;
    let of = |kind| text.lines().filter_map(move |line| line.strip_prefix(kind));
    let stacks = of("stack ").collect::<BTreeSet<_>>();
    let folded = clean(&folder, "export t.te --format folded")?;
    assert_eq!(stacks, folded.lines().collect());
    assert_eq!(sum(&folded)?, instructions);
    assert_eq!(of("mapping ").collect::<Vec<_>>(), ["t.te"]);
    let placed = of("function ").filter(|line| line.contains("./src/sort.c ")).count();
    assert_eq!(placed > 5, name == "debug/sort", "{text}");
    let (stacks, functions) = (of("stack ").count(), of("function ").count());
    println!("{name}: {stacks} stacks of {functions} functions, {instructions} instructions");
    Ok(())
}

/// Damage is a gap, and everything is closed before it.
fn a_gap_ends_all_calls() -> Result<(), Failed> {
    let (folder, instructions) = capture("calls", "gap")?;
    let mut bytes = std::fs::read(folder.join("t.te"))?;
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4].fill(0xff);
    std::fs::write(folder.join("t.te"), &bytes)?;
    let output = hartrace(&folder, "export t.te --params t.te.toml --format folded -o folded.txt")?;
    let messages = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("gap"), "{messages}");
    let found = sum(&std::fs::read_to_string(folder.join("folded.txt"))?)?;
    assert!(found > 0 && found < instructions, "{found} of {instructions}");
    Ok(())
}
