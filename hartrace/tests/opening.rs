//! What cannot be opened says what it is, and what to try.

mod traced;

use hartrace::opened::NoCapture;
use hartrace::{OpenError, Options};
use hartrace_capture::description::Description;
use hartrace_tests::captures::Folder;
use std::fs;
use std::path::Path;
use traced::trace;

/// What a path is, and what is said of it besides its name.
#[test]
fn what_is_no_capture_says_what_it_is() {
    let folder = Folder::new("no-capture");
    let (capture, _) = trace(&folder, "calls", "delta");
    let at = |name: &str| folder.path().join(name);
    for name in ["empty-folder", "snapshot/ram"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    fs::write(at("snapshot/snapshot.ini"), "[snapshot]\nversion=1.0\n").unwrap();
    fs::write(at("snapshot/trace.ini"), "[trace]\n").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("notes.txt"), "not a trace\n").unwrap();
    fs::write(at("packed.te.gz"), b"\x1f\x8b\x08\0").unwrap();
    fs::write(at("calls.htr"), b"HTRACE\r\n\x01").unwrap();
    fs::write(at("params.toml"), "iaddress_width_p = 64\n").unwrap();
    fs::copy(Description::place(&capture), at("gone.te.toml")).unwrap();
    fs::copy(&capture, at("bare.te")).unwrap();
    let (here, there) = (folder.path().display(), capture.display());
    let others = format!("there is no such file; try {there}");
    let nothing = "a capture, a bundle, a snapshot or a recording of perf";
    let metadata =
        "a folder without snapshot.ini or contents.ini, so it is no snapshot, package or bundle";
    let whole =
        format!("part of a snapshot, a package or a bundle; try its folder, {here}/snapshot");
    let cases = [
        ("none.te", others),
        ("empty-folder/none.te", format!("there is no such file; try {nothing}")),
        ("no/such/none.te", format!("there is no folder {here}/no; try another path")),
        ("calls.elf/none.te", format!("there is no folder {here}/calls.elf; try another path")),
        ("", format!("{metadata}; try {there}")),
        ("empty-folder", format!("{metadata}; try {nothing}")),
        ("snapshot/ram", whole.clone()),
        ("snapshot/snapshot.ini", whole.clone()),
        ("snapshot/trace.ini", whole),
        ("calls.elf", "a program (ELF), not a capture; try its trace, with this as the program".into()),
        ("calls.delta.te.toml", format!("a description, not the capture; try {there}")),
        ("gone.te.toml", format!("a description; try the capture that it describes, {here}/gone.te, which is not there")),
        ("packed.te.gz", "a file of gzip, not a capture; try the file after `gunzip`".into()),
        ("calls.htr", "the execution of a program, not a trace of it; try the trace that `hartrace encode` makes of it".into()),
        ("empty", "an empty file; try a capture that was written to its end".into()),
        ("notes.txt", "a text, not a capture; try the trace itself, as the encoder or the probe has written it".into()),
        ("params.toml", "a file of parameters, not a capture; try the capture, with this as its parameters".into()),
    ];
    for (name, expected) in cases {
        let path = at(name);
        let error = hartrace::open(&path).unwrap_err();
        assert!(matches!(error, OpenError::NoCapture { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    }
    // A program where the capture should be, and the other way round.
    let swapped = Options::default().program(&capture).parameters(Description::place(&capture));
    let error = swapped.open(at("calls.elf")).unwrap_err();
    assert!(matches!(error, OpenError::NoCapture { found: NoCapture::Program, .. }), "{error:?}");
    // What may be a capture is not judged by its looks.
    let error = hartrace::open(at("bare.te")).unwrap_err().to_string();
    let expected =
        "without the encoder's parameters; try a description beside it, or a file of parameters";
    assert!(error.contains("bare.te: ") && error.ends_with(expected), "{error}");
    let text = at("text.te");
    fs::write(&text, "not a trace").unwrap();
    fs::copy(Description::place(&capture), Description::place(&text)).unwrap();
    let error = hartrace::open(&text).unwrap().instructions().last().unwrap().unwrap_err();
    assert!(error.to_string().contains("text.te"), "{error}");
}

#[test]
fn what_a_capture_lacks_is_said() {
    let folder = Folder::new("lacks");
    let (capture, _) = trace(&folder, "calls", "delta");
    let bare = folder.path().join("bare.te");
    fs::copy(&capture, &bare).unwrap();
    let options = Options::default().parameters(Description::place(&capture));
    let error = options.open(&bare).unwrap_err();
    assert!(matches!(error, OpenError::NoProgram), "{error}");
    let error = options.clone().program(&bare).open(&bare).unwrap_err();
    assert!(matches!(error, OpenError::Program(_)), "{error}");
    let none = Path::new("none.elf");
    let error = options.program(none).open(&bare).unwrap_err();
    assert!(error.to_string().contains("none.elf: cannot read"), "{error}");
}
