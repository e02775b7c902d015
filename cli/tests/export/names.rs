//! A program whose names try to be something else: lines of their own, commands to a terminal, text from right to left.

use super::{clean, folder, program, run};
use hartrace_report::Form;
use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a name may have in place of letters.
const HOSTILE: [&[u8]; 13] = [
    b"\n",
    b"\r",
    b"\t",
    b"\x1b",
    b"\x7f",
    b" ",
    b";",
    b"\xff",
    "\u{85}".as_bytes(),
    "\u{9b}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{200f}".as_bytes(),
];

/// Sections with names: of symbols, of functions, and of files.
const TABLES: [&str; 3] = [".strtab", ".debug_str", ".debug_line_str"];

/// Characters that a terminal or a reader of lines obeys.
fn is_hidden(c: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    c.is_control()
        || marks.contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Replaces letters in the middle of a name, always in the same way, so that all tables agree.
fn spoil(name: &mut [u8]) {
    // The simulator looks for the places where programs talk to it.
    if name == b"tohost" || name == b"fromhost" {
        return;
    }
    let fits = HOSTILE.iter().filter(|hostile| hostile.len() + 2 <= name.len());
    let fits: Vec<_> = fits.collect();
    let number = name.iter().map(|byte| usize::from(*byte)).sum::<usize>();
    if let Some(hostile) = fits.get(number % fits.len().max(1)) {
        name[1..=hostile.len()].copy_from_slice(hostile);
    }
}

/// The program with other names. Their lengths do not change, so that nothing moves.
fn spoiled(mut elf: Vec<u8>) -> Vec<u8> {
    let word = |elf: &[u8], at: usize, size: usize| {
        elf[at..at + size].iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte))
    };
    let (table, count) = (word(&elf, 0x28, 8), word(&elf, 0x3c, 2));
    let section = |elf: &[u8], number: usize| {
        let at = table + 64 * number;
        (word(elf, at, 4), word(elf, at + 0x18, 8), word(elf, at + 0x20, 8))
    };
    let (_, names, _) = section(&elf, word(&elf, 0x3e, 2));
    for number in 0..count {
        let (name, start, size) = section(&elf, number);
        let name = elf[names + name..].split(|byte| *byte == 0).next().unwrap_or_default();
        if TABLES.iter().any(|table| table.as_bytes() == name) {
            elf[start..start + size].split_mut(|byte| *byte == 0).for_each(spoil);
        }
    }
    elf
}

/// A folder with a capture `t.te` of a program of this content.
fn traced(name: &str, elf: &[u8]) -> Result<PathBuf, Failed> {
    let folder = folder(name)?;
    std::fs::write(folder.join("t.elf"), elf)?;
    // Every function is called once by then.
    clean(&folder, "run t.elf --encode ir+bp --limit 100000 -o t.te")?;
    Ok(folder)
}

fn both() -> Result<[PathBuf; 2], Failed> {
    let elf = std::fs::read(program("debug/sort"))?;
    Ok([traced("names-plain", &elf)?, traced("names-hostile", &spoiled(elf))?])
}

/// Commands that print or write names.
fn commands() -> Vec<String> {
    let mut all = vec![
        "report t.te -o -".to_owned(),
        "diff t.te t.te".to_owned(),
        "stats t.te".to_owned(),
        "dump t.te".to_owned(),
        "explain t.te".to_owned(),
        "probe t.te --elf t.elf".to_owned(),
        "decode t.te --emit blocks --json".to_owned(),
        "decode t.te --emit edges --json".to_owned(),
        "decode t.te --emit coverage --json".to_owned(),
    ];
    for form in Form::ALL {
        let (name, export) = (form.name(), form.is_export());
        let line = if export { "export t.te --format" } else { "decode t.te --emit" };
        all.push(format!("{line} {name}"));
    }
    all
}

/// Every command prints as many lines as with harmless names, and nothing that is obeyed instead of shown.
pub(crate) fn lines() -> Result<(), Failed> {
    let [plain, hostile] = both()?;
    let mut escapes = 0;
    for line in commands() {
        let of = |folder: &Path| -> Result<Vec<u8>, Failed> {
            let output = super::hartrace(folder, &line)?;
            // Status 5 is that of a capture that several readings explain.
            let fine = output.status.success() || output.status.code() == Some(5);
            assert!(fine, "{line}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(output.stderr.is_empty(), "{line}");
            Ok(output.stdout)
        };
        let (Ok(expected), Ok(found)) =
            (String::from_utf8(of(&plain)?), String::from_utf8(of(&hostile)?))
        else {
            // Binary formats have lengths before their texts; `readers` reads them.
            continue;
        };
        if found.contains('\0') {
            continue;
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{line}");
        let obeyed = found.chars().find(|c| *c != '\n' && is_hidden(*c));
        assert_eq!(obeyed, None, "{line}");
        escapes += found.matches("\\x1b").count() + found.matches("\\u{202e}").count();
        if line.ends_with("folded") {
            assert_eq!(found.matches(';').count(), expected.matches(';').count());
            assert_eq!(super::sum(&found)?, super::sum(&expected)?);
        }
    }
    assert!(escapes > 0, "no name was escaped");
    Ok(())
}

/// Readers of exports: the format, the reader and its arguments.
pub(crate) const READERS: [(&str, &str, &[&str]); 4] = [
    ("callgrind", "callgrind_annotate", &["t.callgrind"]),
    ("lcov", "lcov", &["--summary", "t.lcov"]),
    ("autofdo", "llvm-profdata-19", &["show", "--sample", "t.autofdo"]),
    ("bolt", "merge-fdata-19", &["t.bolt"]),
];

/// A reader finds nothing wrong with an export.
pub(crate) fn read(form: &str, reader: &str, arguments: &[&str]) -> Result<(), Failed> {
    let elf = std::fs::read(program("debug/sort"))?;
    let hostile = traced(&format!("names-{form}"), &spoiled(elf))?;
    clean(&hostile, &format!("export t.te --format {form} -o t.{form}"))?;
    let text = run(Command::new(reader).args(arguments).current_dir(&hostile))?;
    assert!(!text.is_empty(), "{reader}");
    Ok(())
}
