//! Parts of a trace by what happens in it.

use crate::place::{Place, stderr, stdout};
use std::collections::BTreeSet;

/// An instruction of a listing.
struct Insn {
    pc: u64,
    size: u64,
    function: String,
    text: String,
}

/// The instructions of a listing, with the function that each is in.
fn listed(listing: &str) -> Vec<Insn> {
    let (mut insns, mut function) = (Vec::new(), String::new());
    for line in listing.lines() {
        if let Some(name) = line.strip_prefix('<') {
            function = name.split(['+', '>']).next().unwrap().to_owned();
        } else if let Some(insn) = line.strip_prefix("  0x") {
            let mut words = insn.split_whitespace();
            let pc = u64::from_str_radix(words.next().unwrap(), 16).unwrap();
            let size = words.next().unwrap().len() as u64 / 2;
            let text = words.collect::<Vec<_>>().join(" ");
            insns.push(Insn { pc, size, function: function.clone(), text });
        }
    }
    insns
}

/// Calls of a function in the order in which they start: from its first instruction up to where the caller goes on, found by the
/// instructions alone.
fn calls(insns: &[Insn], function: &str) -> Vec<std::ops::Range<usize>> {
    let (mut open, mut found): (Vec<(u64, Option<usize>)>, Vec<_>) = Default::default();
    for (index, insn) in insns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| insns.get(before));
        let Some(before) = before else { continue };
        let is_call = before.text.starts_with("jal ") || before.text.starts_with("jalr ");
        if is_call {
            let number = (insn.function == function).then(|| {
                found.push(index..insns.len());
                found.len() - 1
            });
            open.push((before.pc + before.size, number));
        } else if before.text == "ret"
            && let Some(caller) = open.iter().rposition(|(returns, _)| *returns == insn.pc)
        {
            for (_, number) in open.drain(caller..) {
                if let Some(number) = number {
                    found[number].end = index;
                }
            }
        }
    }
    found
}

fn pcs<'a>(insns: impl IntoIterator<Item = &'a Insn>) -> String {
    insns.into_iter().map(|insn| format!("{:016x}\n", insn.pc)).collect()
}

fn traced(name: &str) -> (Place, Vec<Insn>) {
    let place = Place::new(name);
    let calls = format!("{}/../tests/programs/elf/calls.elf", env!("CARGO_MANIFEST_DIR"));
    place.clean(&format!("run {calls} --encode ir+bp -o t.te"));
    let insns = listed(&place.clean("decode t.te --emit listing"));
    assert_eq!(insns.len(), 211_317);
    (place, insns)
}

/// What is executed while a function is active is what its calls in the listing span.
#[test]
fn inside_a_function() {
    let (place, insns) = traced("window-inside");
    for function in ["fibonacci", "ackermann", "deep", "calls"] {
        let calls = calls(&insns, function);
        assert!(!calls.is_empty(), "{function}");
        let within: BTreeSet<usize> = calls.iter().cloned().flatten().collect();
        let expected = pcs(within.iter().map(|index| &insns[*index]));
        assert_eq!(place.clean(&format!("decode t.te --in {function}")), expected, "{function}");
        let row = place.clean(&format!("top t.te --in {function} --json -n 1000"));
        let of = |name: &str| {
            let rows =
                row.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            rows.into_iter().find(|row| row["function"] == name).unwrap()
        };
        let row = of(function);
        assert_eq!(row["calls"], calls.len(), "{function}");
        assert_eq!(row["total"], within.len(), "{function}");
        for number in [1, calls.len() / 2, calls.len()].into_iter().filter(|number| *number > 0) {
            let expected = pcs(&insns[calls[number - 1].clone()]);
            let decoded = place.clean(&format!("decode t.te --in {function}:{number}"));
            assert_eq!(decoded, expected, "call {number} of {function}");
        }
    }
}

/// No edge leads over what is left out.
#[test]
fn edges_do_not_lead_over_what_is_left_out() {
    let (place, _) = traced("window-edges");
    let edges = |options: &str| -> BTreeSet<String> {
        let table = place.clean(&format!("decode t.te --emit edges {options}"));
        let ends = table.lines().skip(1).map(|line| line.split_whitespace().take(3));
        ends.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
    };
    let (all, some) = (edges(""), edges("--in even"));
    assert!(!some.is_empty() && some.is_subset(&all), "{some:?}");
    let json = place.clean("decode t.te --emit json --in even");
    assert!(json.contains(r#""event":"left_out""#));
    assert!(place.clean("decode t.te --emit listing --in even").contains(": left out: "));
}

/// Starts and ends by function and address; an end is the first one after the start.
#[test]
fn from_and_to() {
    let (place, insns) = traced("window-ends");
    let (first, second) = (calls(&insns, "fibonacci"), calls(&insns, "ackermann"));
    let start = |calls: &[std::ops::Range<usize>], number: usize| calls[number - 1].start;
    let decode = |options: &str| place.clean(&format!("decode t.te {options}"));
    let from = start(&first, 5);
    assert_eq!(decode("--from fibonacci:5"), pcs(&insns[from..]));
    let to = second.iter().map(|call| call.start).find(|start| *start > from).unwrap();
    assert_eq!(decode("--from fibonacci:5 --to ackermann"), pcs(&insns[from..to]));
    assert_eq!(decode(&format!("--from {from} --to ackermann")), pcs(&insns[from..to]));
    assert_eq!(decode("--to fibonacci:5"), pcs(&insns[..from]));
    let (one, other) = (start(&first, 5), start(&first, 9));
    assert_eq!(decode("--from fibonacci:5 --to fibonacci:9"), pcs(&insns[one..other]));
    let after = place.run("decode t.te --from fibonacci:5 --to fibonacci:2");
    assert!(stderr(&after).contains(" is empty"), "{}", stderr(&after));
    let address = insns[1000].pc;
    let mut hits = (0..insns.len()).filter(|index| insns[*index].pc == address);
    let third = hits.nth(2).unwrap();
    assert_eq!(decode(&format!("--from {address:#x}:3")), pcs(&insns[third..]));
    let both = decode(&format!("--from {from} --to {to} --in fibonacci"));
    let within: BTreeSet<usize> = first.iter().cloned().flatten().collect();
    assert_eq!(both, pcs(within.range(from..to).map(|index| &insns[*index])));
    // Exports and the page, with the same numbers.
    let folded = place.clean("export t.te --format folded --from fibonacci:5 --to ackermann");
    let sum = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap());
    assert_eq!(sum.sum::<usize>(), to - from);
    place.clean("report t.te -o page.html --from fibonacci:5 --to ackermann");
    let page = std::fs::read_to_string(place.dir.join("page.html")).unwrap();
    assert!(page.contains("from call 5 of fibonacci up to the first call of ackermann"));
}

/// Numbers are those of `--from`, also behind what is left out, and from a packet on.
#[test]
fn numbers() {
    let (place, insns) = traced("window-numbers");
    let numbers = |options: &str| -> Vec<(usize, u64)> {
        let text = place.clean(&format!("decode t.te --emit listing --numbers {options}"));
        let lines = text.lines().filter_map(|line| line.split_once("  0x"));
        lines
            .filter_map(|(number, insn)| {
                let pc = insn.split_whitespace().next()?;
                Some((number.trim().parse().ok()?, u64::from_str_radix(pc, 16).ok()?))
            })
            .collect()
    };
    for options in
        ["", "--from 70 --to 90", "--in even", "--from packet:40 --to packet:60", "--from male:3"]
    {
        let found = numbers(options);
        assert!(found.len() > 19, "{options}");
        for (number, pc) in found {
            assert_eq!(insns[number].pc, pc, "{options}: {number}");
        }
    }
    let json = place.clean("decode t.te --emit json --numbers --in even");
    let mut some = 0;
    for line in json.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(number) = line["insn"].as_u64() {
            assert_eq!(line["iaddr"], format!("0x{:016x}", insns[number as usize].pc));
            some += 1;
        }
    }
    assert!(some > 1000, "{some}");
    let output = place.run("decode t.te --numbers");
    assert!(stderr(&output).contains("--numbers applies to listings and JSON only"));
}

/// What is not there is said, with what to try.
#[test]
fn what_is_not_there() {
    let (place, _) = traced("window-missing");
    for (options, status, message) in [
        ("--in fibonaci", 2, "no function is called fibonaci; is it fibonacci?"),
        ("--in fibonacci:99999999", 1, "--in fibonacci:99999999: the function is entered "),
        ("--from fibonacci:99999999", 1, "--from fibonacci:99999999: entered 2584 times"),
        ("--from 0x10", 1, "--from 0x10: executed 0 times"),
        (
            "--from time:5",
            1,
            "--from time:5: the trace has no reading of its clock at or after this time",
        ),
        ("--to trigger", 1, "--to trigger: 0 triggers fire"),
        ("--from 500 --to calls", 1, "--to calls: it does not happen after --from"),
        ("--from 150000 --in queens:1", 1, "the function of --in is not active between"),
        ("--numbers --emit listing --from packet:0 --to packet:1", 2, "is empty"),
        ("--from main:0", 2, "the first time is 1, not 0"),
    ] {
        let output = place.run(&format!("decode t.te {options}"));
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{options}: {error}");
        assert!(error.contains(message), "{options}: {error}");
        assert_eq!(stdout(&output), "", "{options}");
    }
    let trace = std::fs::read(place.dir.join("t.te")).unwrap();
    let calls = format!("{}/../tests/programs/elf/calls.elf", env!("CARGO_MANIFEST_DIR"));
    let output =
        place.fed(&format!("decode - --params p.toml --xlen 64 --elf {calls} --in deep"), &trace);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("can be read only once"), "{}", stderr(&output));
}

/// An export of every call that nobody could open asks for a part of the trace, and leaves nothing behind.
#[test]
fn a_long_export_asks_for_a_part() {
    let place = Place::new("window-size");
    let long = format!("{}/../tests/programs/elf/long.elf", env!("CARGO_MANIFEST_DIR"));
    place.run(&format!("run {long} --encode ir --limit 70M -o t.te"));
    let _ = std::fs::remove_file(place.dir.join("speedscope"));
    let output = place.run("export t.te --format speedscope -o speedscope");
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("it would be larger than 100 MB"), "{error}");
    assert!(error.contains("--in"), "{error}");
    assert!(!place.dir.join("speedscope").exists());
    place.clean("export t.te --format speedscope --to 100000 -o speedscope");
    place.clean("export t.te --format folded -o folded");
    let output = place.run("export t.te --format folded --any-size");
    assert!(stderr(&output).contains("--any-size, but folded has no limit"));
}

/// What waits for another task goes on where it was: its instructions are still those of the function and what it called.
#[test]
fn what_waits_is_not_forgotten() {
    let place = Place::new("window-waits");
    for (program, function) in [("user", "fork"), ("interrupts", "raise")] {
        let elf = format!("{}/../tests/programs/elf/{program}.elf", env!("CARGO_MANIFEST_DIR"));
        place.clean(&format!("run {elf} --encode ir -o {program}.te"));
        // Of the call stacks of all of the trace, those with the function, from it on.
        let of = |folded: &str| -> std::collections::BTreeMap<String, u64> {
            let mut stacks = std::collections::BTreeMap::new();
            for line in folded.lines() {
                let (stack, count) = line.rsplit_once(' ').unwrap();
                let mut frames = stack.split(';').skip_while(|frame| *frame != function).peekable();
                if frames.peek().is_some() {
                    let stack = frames.collect::<Vec<_>>().join(";");
                    *stacks.entry(stack).or_default() += count.parse::<u64>().unwrap();
                }
            }
            stacks
        };
        let all = of(&place.clean(&format!("export {program}.te --format folded")));
        let some = place.clean(&format!("export {program}.te --format folded --in {function}"));
        let sum = |folded: &str| -> u64 {
            folded
                .lines()
                .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
                .sum()
        };
        assert_eq!(all.values().sum::<u64>(), sum(&some), "{program}");
    }
}

/// A gap is reported, wherever the window is.
#[test]
fn gaps_are_reported_for_all_of_the_trace() {
    let (place, _) = traced("window-gaps");
    let mut trace = std::fs::read(place.dir.join("t.te")).unwrap();
    let middle = trace.len() / 2;
    trace[middle..middle + 40].fill(0xff);
    place.write("damaged.te", &trace);
    let program = format!("{}/../tests/programs/elf/calls.elf", env!("CARGO_MANIFEST_DIR"));
    let damaged = |options: &str| {
        place.run(&format!(
            "decode damaged.te --params t.te.toml --elf {program} --in calls {options}"
        ))
    };
    let output = damaged("");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("gap at byte "), "{}", stderr(&output));
    let strict = damaged("--strict");
    assert_eq!((strict.status.code(), stdout(&strict)), (Some(1), String::new()));
}
