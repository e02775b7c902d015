//! The inputs, and the commands that read them.

use hartrace_tests::hostile::{Elf, SHAPES};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Bytes of what is read whole from a pipe or a device, or is decompressed into memory, and as many again while it grows.
const STREAM: u64 = 2 * (256 << 20);

/// Writes an input to a file.
type Make = Box<dyn Fn(&Path) -> io::Result<()> + Send>;

/// An input, which is written when its turn comes.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) write: Make,
    pub(super) commands: Vec<String>,
    /// Bytes that commands may hold besides.
    pub(super) held: u64,
}

impl Input {
    fn new(
        name: &str,
        commands: &[&str],
        write: impl Fn(&Path) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let commands = commands.iter().map(|command| command.replace("IT", name)).collect();
        Self { name: name.into(), write: Box::new(write), commands, held: 0 }
    }

    fn text(name: &str, commands: &[&str], text: String) -> Self {
        Self::new(name, commands, move |path| fs::write(path, &text))
    }

    /// One that is there already.
    fn there(name: &str, commands: &[&str]) -> Self {
        Self::new(name, commands, |_| Ok(()))
    }

    fn holding(self, held: u64) -> Self {
        Self { held, ..self }
    }
}

/// What reads a program.
fn program_commands() -> Vec<&'static str> {
    let mut commands = vec![
        "decode calls.te --elf IT --emit listing",
        "decode calls.te --elf IT --emit edges",
        "export calls.te --elf IT --format lcov",
        "report calls.te --elf IT -o page.html",
    ];
    if env::var_os("HARTRACE_RESOURCES").is_some_and(|value| value == "all") {
        commands.extend([
            "run IT -o other.te",
            "decode calls.te --elf IT --emit blocks",
            "decode calls.te --elf IT --emit coverage",
            "decode calls.te --elf IT --emit json",
            "export calls.te --elf IT --format autofdo",
            "export calls.te --elf IT --format bolt",
            "export calls.te --elf IT --format callgrind",
            "export calls.te --elf IT --format folded",
            "export calls.te --elf IT --format perfetto",
            "export calls.te --elf IT --format pprof",
            "export calls.te --elf IT --format speedscope",
            "diff calls.te calls.te --elf IT",
            "image --elf IT -o table.hex",
        ]);
    }
    commands
}

const PARAMS: [&str; 2] = ["stats calls.te --params IT", "decode calls.te --params IT"];
const BUNDLE: [&str; 3] = ["stats IT", "dump IT", "decode IT --emit pcs"];

/// Inputs made here.
pub(super) fn made(folder: &Path) -> Vec<Input> {
    let mut all = Vec::new();
    for (name, shape) in SHAPES {
        let plain = folder.join("calls.elf");
        all.push(Input::new(&format!("{name}.elf"), &program_commands(), move |path| {
            fs::write(path, shape(Elf::new(&fs::read(&plain)?)))
        }));
    }
    all.extend(texts());
    let bundle = |name: &str, line: &'static str, times: usize| {
        let folder = folder.to_owned();
        let write = move |path: &Path| bundle(path, &folder, line, times);
        Input::new(name, &BUNDLE, write)
    };
    all.push(bundle("comments.zip", "#\n", 100 << 20));
    all.push(bundle("programs.zip", "[[programs]]\nfile = \"x\"\n", 40_000));
    all.push(bundle("dotted.zip", "[a.b.c.d.e.f]\n[[a.b.g]]\n", 20_000));
    // A program of zeros, which a suite names.
    let suite = "name = \"s\"\nmean = true\n[[program]]\nname = \"p\"\nelf = \"zeros.zst\"\n";
    let write = move |path: &Path| {
        let zeros = io::repeat(0).take(2 << 30);
        zstd::stream::copy_encode(zeros, fs::File::create(path.with_file_name("zeros.zst"))?, 1)?;
        fs::write(path, suite)
    };
    let commands = ["compare --suite IT", "decode calls.te --elf zeros.zst"];
    all.push(Input::new("suite.toml", &commands, write).holding(STREAM));
    // No end, or nothing to read.
    let devices = [
        "decode calls.te --elf /dev/zero",
        "decode calls.te --params /dev/zero",
        "decode /dev/zero --params calls.te.toml --elf calls.elf --emit edges",
        "encode /dev/zero --params calls.te.toml -o other.te",
        "compare --suite /dev/zero",
        "part /dev/zero 0 --emit edges -o other.parquet",
        "decode calls.te --elf /dev/urandom",
        "decode calls.te --elf /proc/self/mem",
        "decode calls.te --elf .",
        "decode calls.te --events /dev/zero --context-id tid",
    ];
    all.push(Input::there("devices", &devices).holding(STREAM));
    all
}

/// Parameters and logs.
fn texts() -> Vec<Input> {
    let lines = |line: &dyn Fn(u32) -> String, count| (0..count).map(line).collect::<String>();
    let nested = |open: &str, close: &str| open.repeat(40_000) + &close.repeat(40_000);
    let log = "core   0: 0x0000000080000000 (0x0000006f) j       pc + 0x0\n\
               core   0: Executed 4294967295 times\n";
    let encode = ["encode IT --params calls.te.toml -o other.te"];
    vec![
        Input::text("keys.toml", &PARAMS, lines(&|n| format!("k{n} = 1\n"), 60_000)),
        Input::text("dotted.toml", &PARAMS, lines(&|n| format!("a.k{n}.b = 1\n"), 40_000)),
        Input::text("tables.toml", &PARAMS, lines(&|n| format!("[a.k{n}]\nb = 1\n"), 40_000)),
        Input::text(
            "line.toml",
            &PARAMS,
            format!("a = {{{} z = 1}}", lines(&|n| format!("k{n} = 1, "), 60_000)),
        ),
        Input::text("deep.toml", &PARAMS, format!("a = {}", nested("[", "]"))),
        Input::text("path.toml", &PARAMS, format!("[{}a]", "a.".repeat(100_000))),
        Input::text("vectors.toml", &PARAMS, lines(&|n| format!("{n} = 1\n"), 60_000)),
        Input::text("deep.json", &PARAMS, nested("{\"a\":", "}")),
        Input::text("long.toml", &PARAMS, format!("command = \"{}\"", "x".repeat(8 << 20))),
        Input::text("times.log", &encode, log.into()),
        Input::text("many-times.log", &encode, log.replace("4294967295", "9999999").repeat(1000)),
        Input::text(
            "events.log",
            &["decode calls.te --events IT --context-id tid"],
            lines(&|n| format!("@{n} process_start pid={n} base=0 image=x\n"), 50_000),
        ),
    ]
}

/// The plain capture with a description that goes on with a line, many times.
fn bundle(path: &Path, folder: &Path, line: &str, times: usize) -> io::Result<()> {
    let description = fs::read_to_string(folder.join("calls.te.toml"))?;
    let contents = "[trace]\nmetadata=calls.te.toml\nbuffer0=calls.te\n";
    let mut zip = ZipWriter::new(fs::File::create(path)?);
    let usual = SimpleFileOptions::default();
    for name in ["calls.te", "calls.elf"] {
        zip.start_file(name, usual)?;
        zip.write_all(&fs::read(folder.join(name))?)?;
    }
    zip.start_file("contents.ini", usual)?;
    zip.write_all(contents.as_bytes())?;
    zip.start_file("calls.te.toml", usual)?;
    zip.write_all(description.as_bytes())?;
    let at_once = line.repeat(times.min(1 << 16));
    for _ in 0..times.div_ceil(1 << 16) {
        zip.write_all(at_once.as_bytes())?;
    }
    zip.finish()?.flush()
}

/// Inputs that others made; `None` without them.
pub(super) fn of_others(folder: &Path) -> Option<Vec<Input>> {
    let script = Path::new(&env::var_os("HARTRACE_DATA")?).join("hostile/make.py");
    let made = Command::new("python3")
        .arg(script)
        .args(["calls.elf", ".", env!("CARGO_BIN_EXE_hartrace")])
        .current_dir(folder)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return None;
    }
    let programs = ["abbrev.elf", "lines.elf", "sections.elf", "rows.elf", "names.elf"];
    let programs = programs.into_iter().map(|name| Input::there(name, &program_commands()));
    let bundles = ["toml.zip", "keys.zip"].map(|name| Input::there(name, &BUNDLE));
    let counted = Input::there("one.te", &["stats IT --params p.toml --image code.bin@0x80000000"]);
    let snapshot = Path::new(&env::var_os("HARTRACE_DATA")?).join("coresight/ete/002-ack_test_scr");
    let dumps = Input::new("dumps", &["decode --snapshot IT --emit ranges"], move |path| {
        dumps(&snapshot, path)
    });
    let dumps = dumps.holding(2 * (64 << 20));
    Some(programs.chain(bundles).chain([counted, dumps]).collect())
}

/// A snapshot whose core lists the same file thousands of times.
fn dumps(snapshot: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("bindir"))?;
    for inner in ["", "bindir"] {
        for file in fs::read_dir(snapshot.join(inner))? {
            let file = file?;
            if file.file_type()?.is_file() {
                fs::write(folder.join(inner).join(file.file_name()), fs::read(file.path())?)?;
            }
        }
    }
    let core = folder.join("cpu_0.ini");
    let mut text = fs::read_to_string(&core)?;
    for number in 10..10_010u64 {
        let address = 0x1_0000_0000 + (number << 18);
        text += &format!("\n[dump{number}]\nfile=bindir/OTHERS_exec\naddress={address:#x}\n");
    }
    fs::write(core, text)
}
