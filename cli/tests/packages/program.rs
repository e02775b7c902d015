//! The program beside the trace: code, names, listing; and a part of the trace.

use crate::{Made, clean, decode, package_of};
use hartrace_golden::arm::{Does, Program};
use hartrace_isa::arm::Isa;
use std::fs;
use std::process::Output;

fn put(file: &mut [u8], at: usize, value: u64, len: usize) {
    file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
}

/// A program as an ELF file, linked to `base`: one segment, and two functions, each half of the code.
fn elf(program: &Program, base: u64) -> Vec<u8> {
    let text = 64 + 56;
    let code = &program.bytes;
    let names = b"\0first\0second\0.text\0.symtab\0.strtab\0";
    let symbols = text + code.len().next_multiple_of(8);
    let strings = symbols + 3 * 24;
    let sections = (strings + names.len()).next_multiple_of(8);
    let mut file = vec![0; sections + 4 * 64];
    file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
    let header = [(16, 2), (18, 183), (52, 64), (54, 56), (56, 1), (58, 64), (60, 4), (62, 3)];
    header.into_iter().for_each(|(at, value)| put(&mut file, at, value, 2));
    put(&mut file, 20, 1, 4);
    put(&mut file, 32, 64, 8);
    put(&mut file, 40, sections as u64, 8);
    put(&mut file, 64, 1, 4);
    put(&mut file, 68, 5, 4);
    for (at, value) in [(8, text as u64), (16, base), (32, code.len() as u64), (48, 8)] {
        put(&mut file, 64 + at, value, 8);
    }
    file[text..text + code.len()].copy_from_slice(code);
    let half = code.len() as u64 / 8 * 4;
    for (number, name, start, size) in [(1, 1, 0, half), (2, 7, half, code.len() as u64 - half)] {
        let at = symbols + number * 24;
        put(&mut file, at, name, 4);
        file[at + 4] = 0x12; // a global function
        put(&mut file, at + 6, 1, 2);
        put(&mut file, at + 8, base + start, 8);
        put(&mut file, at + 16, size, 8);
    }
    file[strings..strings + names.len()].copy_from_slice(names);
    // Name, type, flags, address, offset, size, link, info, size of an entry.
    let table: [[u64; 9]; 3] = [
        [14, 1, 6, base, text as u64, code.len() as u64, 0, 0, 0],
        [20, 2, 0, 0, symbols as u64, 72, 3, 1, 24],
        [28, 3, 0, 0, strings as u64, names.len() as u64, 0, 0, 0],
    ];
    for (number, [name, kind, flags, address, offset, size, link, info, entry]) in (1..).zip(table)
    {
        let at = sections + number * 64;
        put(&mut file, at, name, 4);
        put(&mut file, at + 4, kind, 4);
        for (field, value) in [(8, flags), (16, address), (24, offset), (32, size), (56, entry)] {
            put(&mut file, at + field, value, 8);
        }
        put(&mut file, at + 40, link, 4);
        put(&mut file, at + 44, info, 4);
    }
    file
}

/// A package without memory, its program, and the ranges that must be decoded.
fn without_code(name: &str, seed: u64, wide: bool) -> (Made, Program, String) {
    let (made, program, ranges) = package_of(name, seed, wide);
    let contents = fs::read_to_string(made.0.join("contents.ini")).unwrap();
    let (contents, _) = contents.split_once("[dump1]").unwrap();
    fs::write(made.0.join("contents.ini"), contents).unwrap();
    fs::remove_file(made.0.join("system-event-log")).unwrap();
    fs::write(made.0.join("program.elf"), elf(&program, 0x1000)).unwrap();
    fs::write(made.0.join("program.bin"), &program.bytes).unwrap();
    (made, program, ranges)
}

/// The option that names the program, which is loaded at another address than it was linked to.
fn elf_option(made: &Made, program: &Program) -> String {
    let path = made.0.join("program.elf");
    format!("--elf={}@{:#x}", path.display(), program.base.wrapping_sub(0x1000))
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn code_of_the_command_line() {
    let (made, program, ranges) = without_code("code", 7, true);
    let output = decode(&made.0, &["--emit", "ranges"]);
    assert!(output.stdout.is_empty() && output.status.code() == Some(1), "{}", message(&output));
    let elf = elf_option(&made, &program);
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges", &elf])), ranges);
    let bare = made.0.join("program.bin");
    let bare = format!("--image={}@{:#x}", bare.display(), program.base);
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges", &bare])), ranges);
    // It has priority over memory.
    let contents = fs::read_to_string(made.0.join("contents.ini")).unwrap();
    fs::write(made.0.join("zeros"), vec![0; program.bytes.len()]).unwrap();
    let dump = format!("{contents}[dump1]\nfile=zeros\naddress={:#x}\n", program.base);
    fs::write(made.0.join("contents.ini"), dump).unwrap();
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges", &elf])), ranges);
    // Another machine.
    let mut other = fs::read(made.0.join("program.elf")).unwrap();
    other[18] = 243;
    fs::write(made.0.join("program.elf"), other).unwrap();
    let output = decode(&made.0, &["--emit", "ranges", &elf]);
    assert_eq!(output.status.code(), Some(3));
    assert!(message(&output).contains("machine 243, not Arm"), "{}", message(&output));
}

#[test]
fn names() {
    let (made, program, _) = without_code("names", 8, true);
    let elf = elf_option(&made, &program);
    let half = program.base + program.bytes.len() as u64 / 8 * 4;
    let blocks = clean(&decode(&made.0, &["--emit", "blocks", &elf]));
    for line in blocks.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let start = u64::from_str_radix(&words[0][2..], 16).unwrap();
        let (name, from) = if start < half { ("first", program.base) } else { ("second", half) };
        let place = match start - from {
            0 => format!("<{name}>"),
            offset => format!("<{name}+{offset:#x}>"),
        };
        assert_eq!(words.last(), Some(&&place[..]), "{line}");
    }
    assert!(blocks.contains("<first+") && blocks.contains("<second+"));
    let edges = clean(&decode(&made.0, &["--emit", "edges", &elf]));
    assert!(edges.lines().skip(1).all(|line| line.contains(" -> <")), "{edges}");
    let coverage = clean(&decode(&made.0, &["--emit", "coverage", &elf]));
    let functions: Vec<&str> = coverage.lines().rev().take(2).collect();
    assert!(functions[0].ends_with(" %  second") && functions[1].ends_with(" %  first"));
}

/// Every instruction is listed, with its encoding, and branches with their targets.
#[test]
fn listing() {
    for (seed, wide) in [(9, true), (10, false)] {
        let (made, program, _) = without_code("listing", seed, wide);
        let elf = elf_option(&made, &program);
        let pcs = clean(&decode(&made.0, &["--emit", "pcs", &elf]));
        let listing = clean(&decode(&made.0, &["--emit", "listing", &elf]));
        let lines: Vec<&str> = listing.lines().filter(|line| line.starts_with("  0x")).collect();
        assert_eq!(lines.len(), pcs.lines().count());
        let mut text_of = [0; 4];
        for (line, pc) in lines.iter().zip(pcs.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0][2..], *pc, "{line}");
            let address = u64::from_str_radix(pc, 16).unwrap();
            let code = program.code.iter().find(|code| code.address == address).unwrap();
            let at = (address - program.base) as usize;
            let bytes = &program.bytes[at..at + usize::from(code.size)];
            // Half-words of T32 in their order.
            let piece = if code.isa == Isa::T32 { 2 } else { 4 };
            let halves = bytes.chunks(piece).flat_map(|half| half.iter().rev());
            let encoding: String = halves.map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(words[1], encoding, "{line}");
            let text = &words[2..].join(" ");
            match code.does {
                Does::Nothing if code.isa == Isa::A64 => {
                    assert_eq!(text, "nop", "{line}");
                    text_of[0] += 1;
                }
                Does::Branch { to, link, .. } => {
                    let target = format!("{:#x}", program.code[to].address);
                    assert!(text.contains(&target) && text.contains('<'), "{line}");
                    assert_eq!(text.starts_with("bl"), link, "{line}");
                    text_of[1] += 1;
                }
                Does::Return if code.isa == Isa::A64 => {
                    assert!(text.starts_with("ret"), "{line}");
                    text_of[2] += 1;
                }
                // What is not disassembled has its effect.
                Does::Isb => assert!(text.starts_with("isb") || text == "? (barrier)", "{line}"),
                _ => text_of[3] += usize::from(text.starts_with('?')),
            }
        }
        assert!(text_of[1] > 20 && text_of[3] == 0, "{text_of:?}");
        // Functions are named where they change, and after every event.
        let starts = listing.lines().filter(|line| line.starts_with('<')).count();
        let events = listing.lines().filter(|line| line.starts_with("-- packet ")).count();
        assert!(starts > events / 2 && events > 5, "{starts} {events}");
        let some = clean(&decode(&made.0, &["--emit", "listing", &elf, "--from=10", "--to=15"]));
        let some: Vec<&str> = some.lines().filter(|line| line.starts_with("  0x")).collect();
        assert_eq!(some, lines[10..15]);
    }
}

/// A part of the trace is exactly that part of the whole.
#[test]
fn parts() {
    let (made, program, _) = without_code("parts", 11, true);
    let elf = elf_option(&made, &program);
    let print =
        |more: &[&str]| clean(&decode(&made.0, &[&["--emit", "json", &elf], more].concat()));
    let all = print(&[]);
    let value = |line: &str, key: &str| -> u64 {
        let rest = line.split_once(&format!("\"{key}\":")).unwrap().1;
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    };
    let retired: Vec<&str> = all.lines().filter(|line| line.contains("retired")).collect();
    let of = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("retired")).map(str::to_owned).collect()
    };
    assert_eq!(of(&print(&["--from", "100", "--to", "insn:130"])), retired[100..130]);
    let packet = value(retired[retired.len() / 2], "packet");
    let from = of(&print(&["--from", &format!("packet:{packet}")]));
    let expected = retired.iter().filter(|line| value(line, "packet") >= packet);
    assert_eq!(from, expected.map(|line| (*line).to_owned()).collect::<Vec<_>>());
    let byte = value(retired[retired.len() / 3], "byte");
    let to = of(&print(&["--to", &format!("byte:{byte}")]));
    let expected: Vec<&str> =
        retired.iter().copied().take_while(|line| value(line, "byte") < byte).collect();
    assert!(!expected.is_empty() && to == expected, "{} {}", to.len(), expected.len());
    // Packets are numbered as in gaps and events.
    let packets = clean(&decode(&made.0, &["--emit", "packets"]));
    let packets: Vec<&str> = packets.lines().collect();
    let range = ["--emit", "packets", "--from", "packet:20", "--to", "packet:30"];
    assert_eq!(clean(&decode(&made.0, &range)).lines().collect::<Vec<_>>(), packets[20..30]);
    let output = decode(&made.0, &["--emit", "packets", "--from", "20"]);
    assert!(output.status.code() == Some(2) && message(&output).contains("packet:N"));
    // Elements too.
    let elements = clean(&decode(&made.0, &["--emit", "ranges", &elf]));
    let some = clean(&decode(&made.0, &["--emit", "ranges", &elf, "--to", "byte:200"]));
    assert!(elements.starts_with(&some) && !some.is_empty() && some.len() < elements.len());
}

/// The first gap ends everything.
#[test]
fn strict() {
    // One that starts in the first half of the code, which stays.
    let starts = |(_, program, ranges): &(Made, Program, String)| {
        let half = program.base + program.bytes.len() as u64 / 8 * 4;
        let mut first = ranges.lines().take(2).map(|line| line.split('\t').nth(2).unwrap());
        first.all(|end| u64::from_str_radix(end, 16).unwrap() < half)
    };
    let packages = (30..).map(|seed| package_of("strict", seed, true));
    let (made, program, ranges) = packages.into_iter().find(starts).unwrap();
    let clean_pcs = clean(&decode(&made.0, &["--emit", "pcs", "--strict"]));
    let count: usize =
        ranges.lines().map(|line| line.split('\t').nth(3).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(clean_pcs.lines().count(), count);
    // Without the second half of the code.
    fs::write(made.0.join("system-event-log"), "").unwrap();
    for emit in ["pcs", "blocks", "json", "edges", "elements", "listing"] {
        let output = decode(&made.0, &["--emit", emit, "--strict"]);
        let told = message(&output);
        assert_eq!(output.status.code(), Some(1), "{emit}: {told}");
        assert!(told.starts_with("error: ") && told.lines().count() == 1, "{emit}: {told}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match emit {
            "pcs" => assert!(clean_pcs.starts_with(&text) && text.len() < clean_pcs.len()),
            "elements" => {
                assert_eq!(text.lines().filter(|line| line.contains("ADDR_NACC")).count(), 1);
            }
            _ => {}
        }
    }
    let half = program.base + program.bytes.len() as u64 / 8 * 4;
    let output = decode(&made.0, &["--emit", "pcs", "--strict"]);
    let last = String::from_utf8_lossy(&output.stdout).lines().last().unwrap().to_owned();
    assert!(u64::from_str_radix(&last, 16).unwrap() < half);
}
