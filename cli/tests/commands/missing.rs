//! Files that are missing, no files, or damaged: messages name them, and the status says that an input cannot be read.

use crate::place::{Place, stderr};

/// Command lines with one file that is not there. Without parameters: these are asked for later.
const LINES: [&str; 22] = [
    "bundle X --elf code -o b.zip",
    "check X --against run.csv",
    "check trace --against X",
    "compare X",
    "log X",
    "decode X",
    "decode trace --elf X",
    "decode trace --image X@0x1000",
    "decode trace --params X",
    "diff X trace",
    "diff trace X",
    "diff --packets X trace",
    "diff --packets trace X",
    "dump X",
    "encode X -o out",
    "explain X",
    "export X --format folded",
    "plan X -o plan.json",
    "probe X",
    "report X -o page.html",
    "run X",
    "stats X",
];

fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.encoded();
    let _ = std::fs::remove_file(place.dir.join("trace.toml"));
    std::fs::create_dir_all(place.dir.join("folder")).unwrap();
    place
}

#[test]
fn a_missing_file_is_named() {
    let place = place("missing");
    for line in LINES {
        let line = line.replace('X', "none.te");
        let output = place.run(&line);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {message}");
        assert!(
            message.starts_with("error: none.te: cannot read: No such file"),
            "{line}: {message}"
        );
    }
}

/// A file of which nothing is known is no reason to ask for parameters that nobody knows.
#[test]
fn an_unknown_capture_can_be_probed() {
    let place = place("unknown");
    place.write("unknown.bin", &[0x42, 0x1f, 0x00]);
    for line in [
        "check X --against run.csv",
        "decode X",
        "decode X --elf code",
        "diff X trace",
        "diff --packets X X",
        "dump X",
        "explain X",
        "export X --format folded",
        "report X -o page.html",
        "stats X",
    ] {
        let output = place.run(&line.replace('X', "unknown.bin"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains("try: `hartrace probe"), "{line}: {message}");
    }
}

#[test]
fn a_folder_is_not_a_file() {
    let place = place("folders");
    for line in LINES {
        let line = line.replace('X', "folder");
        let output = place.run(&line);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {message}");
        assert!(message.starts_with("error: folder"), "{line}: {message}");
    }
}

/// A folder where a capture should be is not a missing file in it.
#[test]
fn a_folder_is_named_as_one() {
    let place = place("named-folders");
    for line in
        ["top X", "decode X", "stats X", "export X --format folded", "report X -o page.html"]
    {
        let output = place.run(&line.replace('X', "folder"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {message}");
        let what = "error: folder: a folder without snapshot.ini or contents.ini";
        assert!(message.starts_with(what) && message.contains("\n  try: "), "{line}: {message}");
    }
}

/// Plans, tables, parameters and descriptions.
#[test]
fn a_damaged_file_is_named() {
    let place = place("damaged");
    for (text, name) in [("", "empty"), ("{", "cut"), ("\u{1b}[2K\nerror: forged = [", "forged")] {
        place.write(name, text.as_bytes());
        place.write("described", b"x");
        place.write("described.toml", text.as_bytes());
        for (line, named) in [
            (format!("part {name} 0 --emit edges -o t.parquet"), name),
            (format!("merge {name} {name} -o t.parquet"), name),
            (format!("dump trace --params {name} --xlen 64"), name),
            ("dump described".to_owned(), "described.toml"),
            (format!("compare --suite {name}"), "suite "),
        ] {
            let output = place.run(&line);
            let message = stderr(&output);
            // An empty file of parameters or of a description says nothing, and nothing wrong.
            if text.is_empty() && (line.starts_with("dump") || line.starts_with("compare")) {
                continue;
            }
            // A suite may also be a name that is wrong.
            let status = if line.starts_with("compare") { 2 } else { 3 };
            assert_eq!(output.status.code(), Some(status), "{line}: {message}");
            assert!(message.starts_with(&format!("error: {named}")), "{line}: {message}");
            let forged = message.lines().skip(1).find(|line| !line.starts_with(' '));
            assert_eq!(forged, None, "{line}: {message}");
            assert!(!message.contains('\u{1b}'), "{line}: {message}");
        }
    }
}
