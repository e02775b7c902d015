//! The code in the page of a trace, compared with LLVM's disassembler.

use super::debug::Traced;
use super::{clean, hartrace, run};
use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Names that differ although the instructions do not: an alias on one side, or a suffix for the width or the condition.
fn same(ours: &str, theirs: &str) -> bool {
    let base = |name: &str| name.trim_end_matches(".w").trim_end_matches(".n").replace('.', "");
    let (ours, theirs) = (base(ours), base(theirs));
    ours == theirs || ours.starts_with(&theirs) || theirs.starts_with(&ours)
}

/// Every instruction that was executed is there, with its encoding, its count, and nearly always its name.
pub(crate) fn code(traced: &Traced) -> Result<(), Failed> {
    let Traced { folder, capture, program, .. } = traced;
    clean(folder, &format!("report {capture} -o page.html"))?;
    let page = std::fs::read_to_string(folder.join("page.html"))?;
    let (_, data) = page.split_once("id=\"data\">").ok_or("no data")?;
    let data: Value = serde_json::from_str(data.split_once("</script>").ok_or("no end")?.0)?;

    let mut theirs = BTreeMap::new();
    for line in run(Command::new("llvm-objdump-19").arg("-d").arg(program))?.lines() {
        if let Some((address, rest)) = line.split_once(": ")
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
            && let Some((raw, text)) = rest.split_once('\t')
        {
            let name = text.split_whitespace().next().unwrap_or_default();
            theirs.insert(address, (raw.replace(' ', ""), name.to_owned()));
        }
    }
    let mut found = BTreeMap::new();
    let mut named = 0;
    for (number, rows) in data["code"]["functions"].as_object().ok_or("no code")? {
        let start = data["functions"][number.parse::<usize>()?]["address"].as_str();
        let start = u64::from_str_radix(start.ok_or("no address")?.trim_start_matches("0x"), 16)?;
        for row in rows.as_array().ok_or("no rows")? {
            let address = start + row[0].as_u64().ok_or("no offset")?;
            let (raw, name) = theirs.get(&address).ok_or("no instruction there")?;
            assert_eq!(row[1], **raw, "{address:#x} {row}");
            let ours = row[2].as_str().and_then(|text| text.split_whitespace().next());
            let alike = same(ours.unwrap_or_default(), name);
            named += u64::from(alike);
            if !alike {
                println!("{address:#x} {row}: {name}");
            }
            found.insert(address, row[3].as_u64().unwrap_or_default());
        }
    }
    let executed = |(_, times): &(u64, u64)| *times > 0;
    let counts: BTreeMap<u64, u64> = found.clone().into_iter().filter(executed).collect();
    assert_eq!(counts, traced.pcs);
    println!("{} instructions, {named} with the same name", found.len());
    functions(traced, &data)?;
    assert!(named * 10 > found.len() as u64 * 9, "{named} of {}", found.len());
    Ok(())
}

/// Functions have as many instructions of their own as LLVM's symbolizer says, whether they were inlined or not.
fn functions(traced: &Traced, data: &Value) -> Result<(), Failed> {
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for (pc, times) in &traced.pcs {
        let innermost = traced.frames[pc].first().ok_or("no function")?;
        *expected.entry(&innermost.function).or_default() += times;
    }
    let rows = data["functions"].as_array().ok_or("no functions")?;
    let mut shown: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        let (name, own) = (row["name"].as_str().ok_or("no name")?, row["own"].as_u64());
        *shown.entry(name).or_default() += own.ok_or("no instructions")?;
    }
    shown.retain(|_, own| *own > 0);
    assert_eq!(shown, expected);
    let inlined = rows.iter().filter(|row| row["inside"].is_u64()).count();
    println!("{} functions, {inlined} of them inlined", rows.len());
    assert!(inlined > 0, "nothing is inlined");
    Ok(())
}

/// The folder of the source in debug information, and one that is not below the program.
const FOLDERS: [&[u8]; 2] = [b"\0src\0", b"\0../\0"];

/// The source files of a page: name, text, and why there is none.
fn files(folder: &Path, options: &str) -> Result<(Vec<Value>, String), Failed> {
    let output = hartrace(folder, &format!("report t.te -o page.html {options}"))?;
    let message = String::from_utf8(output.stderr)?;
    assert!(output.status.success(), "{message}");
    let page = std::fs::read_to_string(folder.join("page.html"))?;
    let (_, data) = page.split_once("id=\"data\">").ok_or("no data")?;
    let data: Value = serde_json::from_str(data.split_once("</script>").ok_or("no end")?.0)?;
    Ok((data["code"]["files"].as_array().ok_or("no files")?.clone(), message))
}

/// A page holds sources below the folder of the program, and below folders that are named, but no others.
pub(crate) fn sources() -> Result<(), Failed> {
    let elf = std::fs::read(super::program("debug/sort"))?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/src/sort.c");
    let text = std::fs::read_to_string(source)?;
    let folder = super::folder("sources")?;
    std::fs::remove_dir_all(&folder)?;
    for inner in ["build", "other/src"] {
        std::fs::create_dir_all(folder.join(inner))?;
    }
    std::fs::write(folder.join("other/src/sort.c"), &text)?;
    std::fs::write(folder.join("build/t.elf"), &elf)?;
    clean(&folder, "run build/t.elf --encode ir+bp --limit 100000 -o t.te")?;
    let find = |files: &[Value], name: &str| {
        files.iter().find(|file| file["name"] == name).cloned().ok_or(format!("no {name}"))
    };
    let sort = find(&files(&folder, "")?.0, "./src/sort.c")?;
    assert_eq!((&sort["text"], &sort["left_out"]), (&Value::Null, &Value::from("missing")));
    let sort = find(&files(&folder, "--source-root other")?.0, "./src/sort.c")?;
    assert_eq!((&sort["text"], &sort["left_out"]), (&Value::from(text.clone()), &Value::Null));
    // In a bundle, the program has no folder.
    clean(&folder, "bundle t.te -o t.zip")?;
    std::fs::rename(folder.join("other/src"), folder.join("build/src"))?;
    let sort = find(&files(&folder, "")?.0, "./src/sort.c")?;
    assert_eq!(sort["text"], text);
    clean(&folder, "report t.zip -o page.html")?;
    assert!(!std::fs::read_to_string(folder.join("page.html"))?.contains("by_key_down("));

    let at = elf.windows(FOLDERS[0].len()).position(|bytes| bytes == FOLDERS[0]);
    let (at, mut other) = (at.ok_or("no folder")?, elf);
    other[at..at + FOLDERS[1].len()].copy_from_slice(FOLDERS[1]);
    std::fs::write(folder.join("build/t.elf"), &other)?;
    std::fs::write(folder.join("sort.c"), "secret")?;
    clean(&folder, "run build/t.elf --encode ir+bp --limit 100000 -o t.te")?;
    let (all, message) = files(&folder, "")?;
    let secret = find(&all, "./../sort.c")?;
    assert_eq!((&secret["text"], &secret["left_out"]), (&Value::Null, &Value::from("outside")));
    assert!(
        message.contains("1 source file outside") && message.contains("--source-root"),
        "{message}"
    );
    let (all, message) = files(&folder, "--source-root .")?;
    assert_eq!(find(&all, "./../sort.c")?["text"], "secret");
    assert_eq!(message, "");
    // A source is an input, although nobody has named it.
    let refused = hartrace(&folder, "report t.te --source-root . -o sort.c")?;
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(std::fs::read(folder.join("sort.c"))?, b"secret");
    Ok(())
}
