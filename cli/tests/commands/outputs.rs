//! Files that are written: whole or not at all, and never over an input.

use crate::place::{Place, stderr, stdout};
use crate::run::program;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An empty place with a program, its capture, and a plan of that.
fn place(name: &str) -> Place {
    let place = empty(name);
    place.clean("run calls.elf -o c.te");
    place.clean("run calls.elf --encode ir -o other.te");
    place.clean("plan c.te -o plan.json");
    place
}

fn empty(name: &str) -> Place {
    let _ = fs::remove_dir_all(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    let place = Place::new(name);
    fs::copy(program("calls"), place.dir.join("calls.elf")).unwrap();
    place.write("hw.toml", place.clean("params --config small").as_bytes());
    place
}

/// All files of a place, with their bytes.
fn contents(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(&place.dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect()
}

/// Every command that writes a file, with everything that it reads.
const WRITERS: &[(&str, &[&str])] = &[
    (
        "encode run.csv --params p.toml --xlen 64 --elf calls.elf@0x10 -o OUT",
        &["run.csv", "p.toml", "calls.elf"],
    ),
    ("log run.csv -o OUT", &["run.csv"]),
    ("receive c.te --params c.te.toml -o OUT", &["c.te", "c.te.toml"]),
    ("run calls.elf -o OUT", &["calls.elf"]),
    ("run calls.elf --retired OUT", &["calls.elf"]),
    ("export c.te --format folded -o OUT", &["c.te", "c.te.toml", "calls.elf"]),
    (
        "export c.te --format folded --params p.toml --elf calls.elf -o OUT",
        &["p.toml", "calls.elf"],
    ),
    ("export c.te --format folded --context-elf 7=calls.elf@0x0 -o OUT", &["calls.elf"]),
    ("export --perf c.te --format folded -o OUT", &["c.te"]),
    ("report c.te -o OUT", &["c.te", "c.te.toml", "calls.elf"]),
    ("report c.te --events run.csv --context-id tid -o OUT", &["run.csv"]),
    ("bundle c.te -o OUT", &["c.te", "c.te.toml", "calls.elf"]),
    ("plan c.te other.te -o OUT", &["c.te", "c.te.toml", "other.te", "calls.elf"]),
    ("part plan.json 0 --emit edges -o OUT", &["plan.json", "c.te", "c.te.toml", "calls.elf"]),
    ("merge plan.json run.csv -o OUT", &["plan.json", "run.csv", "c.te", "calls.elf"]),
    ("compare calls.elf --limit 9 --json OUT", &["calls.elf"]),
    ("compare calls.elf --limit 9 --html OUT", &["calls.elf"]),
    ("compare calls.elf --limit 9 --resume OUT", &["calls.elf"]),
    ("image calls.elf -o OUT", &["calls.elf"]),
    ("params --config ./hw.toml -o OUT", &["hw.toml"]),
    ("sim encoder calls.elf -o OUT", &["calls.elf"]),
    ("sim encoder calls.elf --waves OUT", &["calls.elf"]),
    ("sim loop calls.elf --profile OUT", &["calls.elf"]),
    ("sim cva6 calls.elf -o OUT", &["calls.elf"]),
    ("fpga report --config ./hw.toml --only area -o OUT", &["hw.toml"]),
];

#[test]
fn no_input_is_destroyed() {
    let place = place("outputs-inputs");
    for (line, inputs) in WRITERS {
        for input in *inputs {
            let (file, link) = (place.dir.join(input), place.dir.join("link"));
            for kind in ["name", "symbolic link", "hard link"] {
                match kind {
                    "symbolic link" => symlink(&file, &link).unwrap(),
                    "hard link" => fs::hard_link(&file, &link).unwrap(),
                    _ => {}
                }
                let before = contents(&place);
                let output = if kind == "name" { input } else { "link" };
                let line = line.replace("OUT", output);
                let ended = place.run(&line);
                let message = stderr(&ended);
                assert_eq!(ended.status.code(), Some(2), "{line}, a {kind} of {input}: {message}");
                let start = format!("error: {output}: this is the same file as the input ");
                assert!(
                    message.starts_with(&start) && message.contains(input),
                    "{line}: {message}"
                );
                assert!(contents(&place) == before, "{line}, a {kind} of {input}");
                let _ = fs::remove_file(&link);
            }
        }
    }
}

/// The description of a capture is an output too, and two outputs need two files.
#[test]
fn other_files_that_would_be_destroyed() {
    let place = place("outputs-others");
    let before = contents(&place);
    for line in [
        "encode run.csv --params p.toml --xlen 64 -o p",
        "receive other.te --params c.te.toml -o c.te",
        "run calls.elf -o x --retired x",
        "run calls.elf -o x --retired ./x",
        "run calls.elf -o - --retired -",
        "run calls.elf --retired calls.delta.te --output-dir .",
        "compare calls.elf --limit 9 --json x --html x",
    ] {
        let ended = place.run(line);
        assert_eq!(ended.status.code(), Some(2), "{line}: {}", stderr(&ended));
        assert!(contents(&place) == before, "{line}");
    }
    // Appending to what is read would never end.
    let out = File::options().append(true).open(place.dir.join("c.te")).unwrap();
    let ended = place.command("dump c.te").stdout(out).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{}", stderr(&ended));
    assert!(contents(&place) == before);
}

/// Commands that write files of which there may be an earlier version.
const REPLACING: [&str; 8] = [
    "run calls.elf -o OUT",
    "run calls.elf --retired OUT",
    "export c.te --format folded -o OUT",
    "report c.te -o OUT",
    "bundle c.te -o OUT",
    "plan c.te -o OUT",
    "log long.csv -o OUT",
    "image calls.elf -o OUT",
];

#[test]
fn a_full_disk() {
    let place = place("outputs-full");
    place.write("long.csv", long_log().as_bytes());
    place.write("out", &[7; 100]);
    place.write("out.toml", b"version = 1\n");
    let before = contents(&place);
    for line in REPLACING {
        let ended = place.run(&line.replace("OUT", "/dev/full"));
        let message = stderr(&ended);
        assert_eq!(ended.status.code(), Some(3), "{line}: {message}");
        assert!(message.starts_with("error: /dev/full: cannot write: "), "{line}: {message}");
        // Nothing can be written to a regular file.
        let limited = "ulimit -f 0; exec \"$@\" >/dev/null";
        let mut command = Command::new("sh");
        command.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_hartrace")]);
        command.args(line.replace("OUT", "out").split(' ')).current_dir(&place.dir);
        let ended = command.stdin(Stdio::null()).output().unwrap();
        let message = stderr(&ended);
        assert_eq!(ended.status.code(), Some(3), "{line}: {message}");
        assert!(message.starts_with("error: out: cannot write: "), "{line}: {message}");
        assert!(contents(&place) == before, "{line}");
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = place.command("decode c.te").stdout(full).output().unwrap();
    assert!(stderr(&ended).starts_with("error: standard output: cannot write: "));
}

/// A log of some length.
fn long_log() -> String {
    let (heading, _) = crate::RUN.split_once('\n').unwrap();
    let row = |n: u64| format!("4,0,0,3,{:x},0,0,0,1,1\n", 0x8000_0000 + (n * n * 52) % 0x10_0000);
    format!("{heading}\n{}", (0..2000).map(row).collect::<String>())
}

/// An input that cannot be read to its end is what the message names, and nothing is written.
#[test]
fn an_error_in_the_middle() {
    let place = place("outputs-error");
    let whole = zstd::encode_all(&fs::read(place.dir.join("c.te")).unwrap()[..], 1).unwrap();
    place.write("cut.te.zst", &whole[..whole.len() / 2]);
    fs::copy(place.dir.join("c.te.toml"), place.dir.join("cut.te.toml")).unwrap();
    place.write("out", b"old");
    let before = contents(&place);
    for line in ["bundle", "report", "export --format folded"] {
        let ended = place.run(&format!("{line} cut.te.zst -o out"));
        let message = stderr(&ended);
        assert_eq!(ended.status.code(), Some(3), "{line}: {message}");
        assert!(message.contains("error: cut.te.zst: cannot read: "), "{line}: {message}");
        assert!(contents(&place) == before, "{line}");
    }
}

/// A program that never ends.
const ENDLESS: &str = "run endless.elf --limit 1000000000000 -o out";

/// Starts a command, and waits until it has begun to write.
fn writing(place: &Place, line: &str) -> Child {
    // Whoever runs this test may ignore signals.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_hartrace")]);
    command.args(line.split(' ')).current_dir(&place.dir);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !contents(place).keys().any(|path| hidden(path)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{line} writes nothing");
        sleep(Duration::from_millis(2));
    }
    child
}

fn hidden(path: &Path) -> bool {
    path.file_name().unwrap().to_string_lossy().starts_with('.')
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A bare-metal program that counts for ever.
fn endless(place: &Place) {
    let mut elf = fs::read(program("calls")).unwrap();
    let entry = u64::from_le_bytes(elf[24..32].try_into().unwrap());
    let headers = u64::from_le_bytes(elf[32..40].try_into().unwrap()) as usize;
    // The first segment has the entry.
    let field = |at: usize| u64::from_le_bytes(elf[at..at + 8].try_into().unwrap());
    let count = usize::from(u16::from_le_bytes(elf[56..58].try_into().unwrap()));
    let offset = (0..count).map(|n| headers + 56 * n).find_map(|at| {
        let (offset, address, len) = (field(at + 8), field(at + 16), field(at + 32));
        (address..address + len).contains(&entry).then(|| offset + entry - address)
    });
    let at = offset.unwrap() as usize;
    // A jump to itself would be recognised as an end.
    let code = [0x0012_8293_u32, 0xffdf_f06f].map(u32::to_le_bytes).concat(); // addi t0, t0, 1; j -4
    elf[at..at + 8].copy_from_slice(&code);
    place.write("endless.elf", &elf);
}

#[test]
fn signals_leave_nothing_behind() {
    let place = place("outputs-signals");
    endless(&place);
    place.clean("run calls.elf -o out");
    let before = contents(&place);
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut child = writing(&place, ENDLESS);
        send(&child, signal);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{signal}");
        // What was traced until then is there, whole, and nothing else.
        let description = fs::read_to_string(place.dir.join("out.toml")).unwrap();
        let early = format!("ended-early = \"SIG{}\"\n", &signal[1..]);
        assert!(description.contains(&early), "{signal}: {description}");
        place.clean("stats out");
        assert!(contents(&place).keys().eq(before.keys()), "{signal}");
        place.clean("run calls.elf -o out");
        assert!(contents(&place) == before, "{signal}");
    }
    // Nothing can be done about this one, but the next command cleans up.
    let mut child = writing(&place, ENDLESS);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert!(contents(&place).keys().any(|path| hidden(path)));
    place.clean("run calls.elf -o out");
    assert!(contents(&place) == before);
    // What another process still writes is left alone.
    let mut child = writing(&place, ENDLESS);
    place.clean("run calls.elf -o out");
    assert!(contents(&place).keys().any(|path| hidden(path)));
    send(&child, "-TERM");
    child.wait().unwrap();
    assert!(contents(&place).keys().eq(before.keys()));
}

/// Two commands that write one capture at once: one of the two remains, whole.
#[test]
fn two_writers() {
    let place = place("outputs-two");
    let read = |name: &str| fs::read(place.dir.join(name)).unwrap();
    let both = [read("c.te"), read("other.te")];
    for round in 0..20 {
        let lines = ["run calls.elf -o out", "run calls.elf --encode ir -o out"];
        let children = lines.map(|line| place.command(line).stdout(Stdio::null()).spawn().unwrap());
        for mut child in children {
            assert!(child.wait().unwrap().success(), "round {round}");
        }
        place.clean("decode --strict out");
        assert!(both.contains(&read("out")), "round {round}");
    }
    assert!(!contents(&place).keys().any(|path| hidden(path)));
}

/// A command is killed at any moment: what it replaces is there, whole, or what it replaces it by.
#[test]
fn power_cuts() {
    let kills = std::env::var("HARTRACE_KILLS").map_or(25, |kills| kills.parse().unwrap());
    let place = place("outputs-kills");
    let mut dice = fastrand::Rng::with_seed(34);
    for (lines, is_capture) in [
        (["run calls.elf -o out", "run calls.elf --encode ir -o out"], true),
        (["export c.te --format folded -o out", "export c.te --format speedscope -o out"], false),
        (["report c.te -o out", "report other.te -o out"], false),
        (["bundle c.te -o out", "bundle other.te -o out"], true),
    ] {
        let path = place.dir.join("out");
        // A third of the kills come too late, to hit the end of slow runs too.
        let [first, second] = lines.map(|line| {
            let start = Instant::now();
            place.clean(line);
            (fs::read(&path).unwrap(), start.elapsed() * 3 / 2)
        });
        let (whole, longest) = ([first.0, second.0], [first.1, second.1]);
        assert!(whole[0] != whole[1], "{lines:?}");
        let (mut present, mut new, mut completed) = (1, 0, 0);
        for _ in 0..kills {
            let next = 1 - present;
            let mut command = place.command(lines[next]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            sleep(longest[next].mul_f64(dice.f64()));
            let _ = child.kill();
            child.wait().unwrap();
            let before = fs::read(&path).unwrap();
            if is_capture {
                place.clean("decode --strict out");
            }
            let found = fs::read(&path).unwrap();
            completed += u32::from(found != before);
            let which = whole.iter().position(|bytes| *bytes == found);
            new += u32::from(which != Some(present));
            present = which.unwrap_or_else(|| panic!("a mixture after {lines:?}"));
        }
        println!(
            "{}: {kills} kills, {new} with the new file, {completed} completed by the reader",
            lines[0]
        );
        place.clean(lines[0]);
        assert!(!contents(&place).keys().any(|path| hidden(path)), "{lines:?}");
        let _ = fs::remove_file(path.with_extension("toml"));
    }
}

/// `-` is standard output for every command; what is said about the file goes elsewhere.
#[test]
fn standard_output() {
    let place = place("outputs-standard");
    place.write("long.csv", long_log().as_bytes());
    for line in REPLACING.into_iter().chain(["encode run.csv --params p.toml --xlen 64 -o OUT"]) {
        place.clean(&line.replace("OUT", "file"));
        let ended = place.run(&line.replace("OUT", "-"));
        assert_eq!(ended.status.code(), Some(0), "{line}: {}", stderr(&ended));
        assert!(ended.stdout == fs::read(place.dir.join("file")).unwrap(), "{line}");
        assert!(!place.dir.join("-").exists(), "{line}");
        fs::remove_file(place.dir.join("file")).unwrap();
        let _ = fs::remove_file(place.dir.join("file.toml"));
    }
    // Devices have no descriptions.
    place.clean("run calls.elf -o /dev/null");
}

/// What stands where nobody has said that something should be written stays.
#[test]
fn names_that_follow_from_others() {
    let place = place("outputs-implied");
    let precious = "[package]\nname = \"precious\"\n";
    for file in ["x.toml", "Cargo.toml", "report.html", "hw/config.toml", "kit/README.md"] {
        fs::create_dir_all(place.dir.join(file).parent().unwrap()).unwrap();
        place.write(file, precious.as_bytes());
    }
    for line in [
        "run calls.elf -o Cargo",
        "encode run.csv --params p.toml --xlen 64 -o x",
        "receive c.te --params c.te.toml -o x",
        "report c.te",
        "hdl -o hw",
        "scenarios -o kit",
    ] {
        let before = contents(&place);
        let ended = place.run(line);
        assert_eq!(ended.status.code(), Some(2), "{line}: {}", stderr(&ended));
        assert!(stderr(&ended).contains("there is a file of this name"), "{}", stderr(&ended));
        assert!(stderr(&ended).contains("try: "), "{}", stderr(&ended));
        assert!(contents(&place) == before, "{line}");
    }
    for file in ["hw/config.toml", "kit/README.md"] {
        assert_eq!(fs::read_to_string(place.dir.join(file)).unwrap(), precious);
    }
    // What the same command has written is replaced.
    for file in ["report.html", "x.toml"] {
        fs::remove_file(place.dir.join(file)).unwrap();
    }
    for line in ["run calls.elf -o x", "report c.te", "hdl -o new", "hdl -o new --config full"] {
        for _ in 0..2 {
            let ended = place.run(line);
            assert_eq!(ended.status.code(), Some(0), "{line}: {}", stderr(&ended));
        }
    }
    // A folder that is none is named.
    let ended = place.run("hdl -o c.te");
    assert_eq!(stderr(&ended).lines().next(), Some("error: c.te: cannot write: it is no folder"));
}

/// However it is called, and whatever the shell has redirected it to: what was there stays, and messages go elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_name() {
    let place = place("outputs-named");
    for (line, rest) in [
        ("run calls.elf -o", ""),
        ("run calls.elf --encode ir --retired", ""),
        ("report c.te -o", ""),
        ("export c.te --format folded -o", ""),
        ("bundle c.te -o", ""),
        ("receive c.te -o", "--params c.te.toml"),
    ] {
        place.clean(&format!("{line} file {rest}"));
        let log = place.dir.join("log");
        fs::write(&log, "precious").unwrap();
        let out = fs::File::options().append(true).open(&log).unwrap();
        let mut command = place.command(&format!("{line} /dev/stdout {rest}"));
        assert!(command.stdout(out).status().unwrap().success(), "{line}");
        let expected = [b"precious", &fs::read(place.dir.join("file")).unwrap()[..]].concat();
        assert!(fs::read(&log).unwrap() == expected, "{line}");
        let _ = fs::remove_file(place.dir.join("file.toml"));
    }
}

/// Two outputs of one command are two files, also those that it names itself.
#[test]
fn outputs_of_one_command() {
    let place = place("outputs-both");
    let before = contents(&place);
    for line in [
        "run calls.elf -o x.te --retired x.te.toml",
        "run calls.elf --encode delta,ir --output-dir o --retired o/calls.delta.te",
        "run calls.elf --encode delta,ir --output-dir o --retired o/../o/calls.ir.te.toml",
        "run calls.elf -o x.te.zst",
        "plan c.te other.te c.te -o plan.json",
    ] {
        let output = place.run(line);
        let refused = if line.starts_with("plan") { 3 } else { 2 };
        assert_eq!(output.status.code(), Some(refused), "{line}: {}", stderr(&output));
        assert!(contents(&place) == before, "{line}");
    }
}

/// Whatever a capture and its program are called, their bundle can be read.
#[cfg(unix)]
#[test]
fn names_in_bundles() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = place("outputs-names");
    let description = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    let names: [&[u8]; 9] = [
        b" a.te",
        b"a.te ",
        b"a\\b.te",
        b"a\tb.te",
        b"a\nb.te",
        b"a\x1b[1m.te",
        b"a\xff.te",
        b"contents.ini",
        "a\u{202e}b.te".as_bytes(),
    ];
    for name in names {
        let named = place.dir.join(OsStr::from_bytes(name));
        fs::copy(place.dir.join("c.te"), &named).unwrap();
        let mut toml = named.clone().into_os_string();
        toml.push(".toml");
        fs::write(&toml, &description).unwrap();
        let mut command = place.command("bundle -o b.zip --elf calls.elf");
        assert!(command.arg(&named).output().unwrap().status.success(), "{name:?}");
        assert_eq!(place.clean("decode --strict b.zip"), place.clean("decode c.te"), "{name:?}");
        fs::remove_file(named).unwrap();
        fs::remove_file(toml).unwrap();
    }
    // Programs may have names of other files in the archive.
    for name in ["contents.ini", "c.te", "c.te.toml", "a;b.elf"] {
        fs::create_dir_all(place.dir.join("folder")).unwrap();
        fs::copy(place.dir.join("calls.elf"), place.dir.join("folder").join(name)).unwrap();
        let mut command = place.command("bundle c.te -o b.zip --elf");
        assert!(command.arg(format!("folder/{name}")).output().unwrap().status.success(), "{name}");
        assert_eq!(place.clean("decode --strict b.zip"), place.clean("decode c.te"), "{name}");
    }
}

/// A description is of one capture, and says which.
#[test]
fn a_description_of_another_capture() {
    let place = place("outputs-another");
    let whole = fs::read(place.dir.join("c.te")).unwrap();
    let pcs = place.clean("decode c.te");
    place.write("c.te.zst", &zstd::encode_all(&whole[..], 1).unwrap());
    assert_eq!(place.clean("decode c.te.zst"), pcs);
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for (bytes, what) in [
        (&whole[..1000], "that has 25314 bytes, this one 1000"),
        (&[&whole[..], &[0]].concat()[..], "that has 25314 bytes, this one 25315"),
        (&changed[..], "its XXH3 is "),
    ] {
        place.write("c.te", bytes);
        for command in
            ["decode", "stats", "dump", "explain", "report -o out", "bundle -o out", "plan -o out"]
        {
            let ended = place.run(&format!("{command} c.te"));
            let message = stderr(&ended);
            assert_eq!(ended.status.code(), Some(3), "{command}: {message}");
            let start = "error: c.te: the description c.te.toml is of another capture: ";
            assert!(message.contains(start) && message.contains(what), "{command}: {message}");
            assert!(!place.dir.join("out").exists(), "{command}");
        }
        let ended = place.run("decode c.te --params c.te.toml");
        assert!(!stdout(&ended).is_empty(), "{}", stderr(&ended));
        assert!(!stderr(&ended).contains("another capture"), "{}", stderr(&ended));
        place.write("c.te.zst", &zstd::encode_all(bytes, 1).unwrap());
        assert_eq!(place.run("decode c.te.zst").status.code(), Some(3));
    }
}

/// What the shell has opened for reading is an input too, whether the command reads it or not.
#[test]
fn redirected_input_is_kept() {
    let place = place("redirected-input");
    place.write("in.txt", b"words\n");
    for words in ["run calls.elf -o in.txt", "export c.te --format folded -o in.txt"] {
        let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
            .args(words.split(' '))
            .current_dir(&place.dir)
            .stdin(File::open(place.dir.join("in.txt")).unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let said = "in.txt: this is the same file as the input standard input, which would be";
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert_eq!(fs::read(place.dir.join("in.txt")).unwrap(), b"words\n", "{words}");
    }
}

/// A program or a source is work of somebody, and a typing error is no reason to lose it.
#[test]
fn programs_and_sources_are_kept() {
    let place = place("kept-work");
    place.write("main.c", b"int main;\n");
    fs::copy(place.dir.join("calls.elf"), place.dir.join("other.elf")).unwrap();
    for (words, name) in [
        ("export c.te --format folded -o main.c", "main.c"),
        ("run calls.elf -o main.c", "main.c"),
        ("run calls.elf -o other.elf", "other.elf"),
        ("report c.te -o other.elf", "other.elf"),
    ] {
        let before = fs::read(place.dir.join(name)).unwrap();
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let said = format!("{name}: there is a file of this name, which hartrace has not written");
        assert!(stderr(&output).contains(&said), "{words}: {}", stderr(&output));
        assert_eq!(fs::read(place.dir.join(name)).unwrap(), before, "{words}");
    }
    place.clean("export c.te --format folded -o new.c");
}
