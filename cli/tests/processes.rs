//! `hartrace run` on programs as users have them: with threads of the C library, and with libraries, exceptions and
//! threads of C++. Each is executed by our hart and by QEMU, and compared with what QEMU alone does.
//!
//! Needs a compiler for Linux on RISC-V, with its libraries, and QEMU; shows as ignored without them.

use hartrace_iss::{Environment, Exit, Hart, HartConfig, Step};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::{env, fs, thread};

const NEEDED: [&str; 4] = ["riscv64-linux-gnu-gcc", "riscv64-linux-gnu-g++", "qemu-riscv64", "cc"];

/// Where Debian has the libraries.
const SYSROOT: &str = "/usr/riscv64-linux-gnu";

fn main() {
    let args = Arguments::from_args();
    let missing = NEEDED.iter().any(|name| Command::new(name).arg("--version").output().is_err());
    let trial = |name: &str, test: fn() -> Result<(), Failed>| {
        Trial::test(name, test).with_ignored_flag(missing)
    };
    let trials = vec![
        trial("threads-of-c-on-our-hart", || threads("iss")),
        trial("threads-of-c-on-qemu", || threads("qemu")),
        trial("calls-of-threads-on-our-hart", || calls("iss")),
        trial("calls-of-threads-on-qemu", || calls("qemu")),
        trial("signals-on-our-hart", || signals("iss")),
        trial("signals-on-qemu", || signals("qemu")),
        trial("stack-overflow-on-our-hart", || overflow("iss")),
        trial("stack-overflow-on-qemu", || overflow("qemu")),
        trial("exceptions-of-c++-on-our-hart", || exceptions("iss")),
        trial("exceptions-of-c++-on-qemu", || exceptions("qemu")),
        trial("everything-once-on-our-hart", || once("iss")),
        trial("everything-once-on-qemu", || once("qemu")),
        trial("both-ends-of-a-pipe-on-our-hart", || pipe("iss")),
        trial("both-ends-of-a-pipe-on-qemu", || pipe("qemu")),
        trial("our-hart-prints-what-qemu-prints", prints),
        trial("every-mode", every_mode),
        trial("a-program-that-never-ends", endless),
        trial("the-machine-on-our-hart", || machine("iss")),
        trial("the-machine-on-qemu", || machine("qemu")),
        trial("libraries-elsewhere", elsewhere),
        trial("a-bundle-has-the-libraries", bundle),
        trial("missing-libraries-are-named", missing_libraries),
        trial("another-process-is-an-error", another_process),
        trial("threads-that-wait-for-each-other", deadlock),
    ];
    libtest_mimic::run(&args, trials).exit();
}

/// Compiles a program into a folder of its own, and returns the folder and the program.
fn compiled(test: &str, source: &str) -> Result<(PathBuf, PathBuf), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes").join(test);
    fs::create_dir_all(&folder)?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/src/processes");
    let (file, program) = (sources.join(source), folder.join("program"));
    let (compiler, options): (_, &[&str]) = match source.ends_with(".cpp") {
        true => ("riscv64-linux-gnu-g++", &["-std=c++17"]),
        false => ("riscv64-linux-gnu-gcc", &["-static"]),
    };
    let output = Command::new(compiler)
        .args(options)
        .args(["-O1", "-pthread", "-o"])
        .args([&program, &file])
        .output()?;
    match output.status.success() {
        true => Ok((folder, program)),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn hartrace(folder: &Path, arguments: &[&str]) -> Result<Output, Failed> {
    Ok(Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("QEMU_LD_PREFIX")
        .output()?)
}

/// What a command prints that succeeds.
fn succeeds(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failed> {
    let output = hartrace(folder, arguments)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{arguments:?}: {output:?}").into()),
    }
}

/// Traces the program of a folder, and returns the figures.
fn traced(folder: &Path, with: &str, modes: &str) -> Result<Value, Failed> {
    let arguments = ["run", "program", "--with", with, "--encode", modes, "-o", "a.te", "--json"];
    let figures: Value = serde_json::from_slice(&succeeds(folder, &arguments)?)?;
    match figures["verified"] == true && figures.get("exit_code").is_none_or(|code| code == 0) {
        true => Ok(figures),
        false => Err(figures.to_string().into()),
    }
}

/// Contexts of the instructions that a trace decodes to.
fn contexts(folder: &Path) -> Result<BTreeSet<u64>, Failed> {
    let text = succeeds(folder, &["decode", "a.te", "--emit", "json"])?;
    let mut found = BTreeSet::new();
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| line.windows(9).any(|w| w == b"\"context\""))
    {
        let line: Value = serde_json::from_slice(line)?;
        found.extend(line["context"].as_u64());
    }
    Ok(found)
}

/// Call stacks, the outermost function first, without the instructions that each has executed.
fn stacks(folder: &Path) -> Result<Vec<Vec<String>>, Failed> {
    let text = String::from_utf8(succeeds(folder, &["export", "a.te", "--format", "folded"])?)?;
    let stack = |line: &str| -> Vec<String> {
        let names = line.rsplit_once(' ').map_or(line, |(names, _)| names);
        names.split(';').map(str::to_owned).collect()
    };
    Ok(text.lines().map(stack).collect())
}

fn has(stacks: &[Vec<String>], names: &[&str]) -> bool {
    stacks.iter().any(|stack| stack.windows(names.len()).any(|part| part == names))
}

fn check(right: bool, what: impl std::fmt::Debug) -> Result<(), Failed> {
    if right { Ok(()) } else { Err(format!("{what:#?}").into()) }
}

/// Each thread has a context, a track and a call stack of its own.
fn threads(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("threads-{with}"), "threads.c")?;
    let figures = traced(&folder, with, "ir+bp")?;
    check(figures["instructions"].as_u64() > Some(300_000), figures)?;
    let contexts = contexts(&folder)?;
    check(contexts == BTreeSet::from([0, 1, 2, 3, 4]), contexts)?;
    let stacks = stacks(&folder)?;
    check(has(&stacks, &["start_thread", "work", "fibonacci", "fibonacci", "fibonacci"]), &stacks)?;
    check(has(&stacks, &["main", "__pthread_create"]), &stacks)?;
    // Nothing of one thread is below another, and a thread that goes on has not been called by anything.
    let odd = stacks.iter().find(|stack| {
        stack.iter().filter(|name| *name == "work").count() > 1
            || stack.contains(&"main".to_owned()) && stack.contains(&"work".to_owned())
            || stack.iter().position(|name| name == "fibonacci").is_some_and(|at| {
                at.checked_sub(1).and_then(|at| stack.get(at)).is_none_or(|name| name != "work")
            })
    });
    check(odd.is_none(), odd)?;
    let tracks = succeeds(&folder, &["export", "a.te", "--format", "perfetto"])?;
    for track in ["hart (", "context 0x1 (", "context 0x2 (", "context 0x3 (", "context 0x4 ("] {
        let there = tracks.windows(track.len()).any(|part| part == track.as_bytes());
        check(there, track)?;
    }
    succeeds(&folder, &["report", "a.te", "-o", "a.html"])?;
    let page = fs::read_to_string(folder.join("a.html"))?;
    check(page.contains("context 0x4") && page.contains("fibonacci"), "a page with threads")
}

/// Handlers run, and their calls are at the traps that lead to them. The description has the code that they return to.
fn signals(with: &str) -> Result<(), Failed> {
    let (folder, program) = compiled(&format!("signals-{with}"), "signals.c")?;
    let native = Command::new("qemu-riscv64").arg(&program).output()?;
    check(native.status.success(), &native)?;
    let arguments = ["run", "program", "--with", with, "--encode", "ir+bp", "-o", "a.te"];
    let output = hartrace(&folder, &arguments)?;
    let figures = String::from_utf8_lossy(&output.stderr);
    check(output.status.success() && figures.contains("%  yes"), &output)?;
    check(output.stdout == native.stdout, String::from_utf8_lossy(&output.stdout))?;
    check(!figures.contains("system call"), &figures)?;
    let description = fs::read_to_string(folder.join("a.te.toml"))?;
    check(
        description.contains("[[kernel-code]]") && description.contains("9308b00873000000"),
        description,
    )?;
    let stacks = stacks(&folder)?;
    for names in [["on_user"], ["on_info"], ["on_fault"], ["on_trap"], ["on_alarm"], ["on_thread"]]
    {
        check(has(&stacks, &names), (names, &stacks))?;
    }
    check(has(&stacks, &["main", "on_trap"]), &stacks)?;
    // A handler that has returned is not active any more.
    let inside = |name: &str| {
        stacks.iter().any(|stack| {
            let handler = stack.iter().position(|other| other == name);
            handler.is_some_and(|at| stack[at..].contains(&"main".to_owned()))
        })
    };
    let returned = ["on_user", "on_fault", "on_trap", "on_overflow", "on_alarm", "on_thread"];
    check(!returned.into_iter().any(inside), &stacks)
}

/// A function that calls itself until the stack is full, without a branch: no trace says how often, but everything else is
/// there, and what has happened is said.
fn overflow(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("overflow-{with}"), "overflow.c")?;
    let arguments = ["run", "program", "--with", with, "--encode", "ir+bp", "-o", "a.te"];
    let output = hartrace(&folder, &arguments)?;
    let figures = String::from_utf8_lossy(&output.stderr);
    check(output.status.code() == Some(139), &output)?;
    let said = match with {
        "iss" => "SIGSEGV: store fault (exception 7) at address 0x7ef",
        _ => "SIGSEGV: in deep",
    };
    let stack = "in deep, called by main, called by ";
    let idle = "%  yes, but for ";
    check(figures.contains(said) && figures.contains(stack) && figures.contains(idle), &output)?;
    for words in [
        &["stats", "a.te"][..],
        &["top", "a.te"],
        &["stats", "a.te", "--json"],
        &["top", "a.te", "--json"],
    ] {
        let text = String::from_utf8(succeeds(&folder, words)?)?;
        check(text.contains(said) && text.contains(stack), (words, text))?;
    }
    succeeds(&folder, &["report", "a.te", "-o", "a.html"])?;
    check(fs::read_to_string(folder.join("a.html"))?.contains(stack), "the end in a page")?;
    let listing = String::from_utf8(succeeds(&folder, &["decode", "a.te", "--emit", "listing"])?)?;
    check(listing.contains("<deep>:") && listing.contains("exception "), "the last instructions")
}

/// A program that jumps to itself has not ended, and a thread that does is no obstacle.
fn endless() -> Result<(), Failed> {
    let (folder, _) = compiled("endless", "endless.c")?;
    let output = hartrace(&folder, &["run", "program", "-o", "a.te"])?;
    let figures = String::from_utf8_lossy(&output.stderr);
    let said = "; the program waits, or jumps to itself, at 0x";
    check(figures.contains(said) && figures.contains("for ever, in main"), &output)?;
    let description = fs::read_to_string(folder.join("a.te.toml"))?;
    check(description.contains("ended-early = \"waits, or jumps to itself, at 0x"), description)?;
    let figures = traced_with(&folder, &["--", "thread"])?;
    check(figures["idle_instructions"].as_u64() > Some(10_000), figures)
}

/// Traces the program of a folder with arguments, and returns the figures.
fn traced_with(folder: &Path, arguments: &[&str]) -> Result<Value, Failed> {
    let words = [&["run", "program", "-o", "a.te", "--json"], arguments].concat();
    let figures: Value = serde_json::from_slice(&succeeds(folder, &words)?)?;
    if figures["verified"] == true { Ok(figures) } else { Err(figures.to_string().into()) }
}

/// What run times of C and C++ ask for is there.
fn machine(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("machine-{with}"), "machine.cpp")?;
    let arguments = ["run", "program", "--with", with, "--encode", "ir+bp", "-o", "a.te"];
    let output = hartrace(&folder, &arguments)?;
    let (said, figures) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    check(output.status.success() && figures.contains("%  yes\n"), &output)?;
    check(!figures.contains("system call") && said.starts_with(b"0, "), &output)?;
    // The list of libraries of this machine is not one for the program; nothing can hide it from QEMU.
    check(with == "qemu" || said == b"0, 0\n", &output)
}

/// A program executes the same wherever its libraries are, whatever else this machine has.
fn elsewhere() -> Result<(), Failed> {
    let (folder, _) = compiled("elsewhere", "machine.cpp")?;
    let lib = folder.join("some/lib");
    fs::create_dir_all(&lib)?;
    for file in fs::read_dir(Path::new(SYSROOT).join("lib"))? {
        let file = file?;
        if file.path().is_file() && file.file_name().to_string_lossy().contains(".so") {
            fs::copy(file.path(), lib.join(file.file_name()))?;
        }
    }
    succeeds(&folder, &["run", "program", "-o", "a.te"])?;
    succeeds(&folder, &["run", "program", "--sysroot", "some", "-o", "b.te"])?;
    check(fs::read(folder.join("a.te"))? == fs::read(folder.join("b.te"))?, "two traces")?;
    let [a, b] = [
        fs::read_to_string(folder.join("a.te.toml"))?,
        fs::read_to_string(folder.join("b.te.toml"))?,
    ];
    check(
        a.contains(&format!("{SYSROOT}/lib/libc.so.6")) && b.contains("some/lib/libc.so.6"),
        (a, b),
    )?;
    let text = String::from_utf8(succeeds(&folder, &["diff", "a.te", "b.te"])?)?;
    check(!text.contains("different programs"), text)?;
    // QEMU loads everything elsewhere: these are the same files all the same.
    succeeds(&folder, &["run", "program", "--with", "qemu", "-o", "c.te"])?;
    let output = hartrace(&folder, &["diff", "a.te", "c.te"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    check(text.starts_with("the same programs at other addresses, compared by"), &text)
}

/// How often something was called, by its name.
type Counts = BTreeMap<String, u64>;

fn count(counts: &mut Counts, name: &str, calls: u64) {
    *counts.entry(name.into()).or_default() += calls;
}

/// A function is called as often as its first instruction is reached, however often its thread waits while it is active:
/// in every form that has calls.
fn calls(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("calls-{with}"), "threads.c")?;
    traced(&folder, with, "ir+bp")?;
    let text =
        |arguments: &[&str]| Ok::<_, Failed>(String::from_utf8(succeeds(&folder, arguments)?)?);
    let mut executed = Counts::new();
    for line in text(&["decode", "a.te", "--emit", "listing"])?.lines() {
        let address = line.trim_start().split(' ').next().filter(|word| word.starts_with("0x"));
        address.into_iter().for_each(|address| count(&mut executed, address, 1));
    }
    let mut reached = Counts::new();
    let mut table = Counts::new();
    for line in text(&["top", "a.te", "--rows", "100000", "--json"])?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let name = row["function"].as_str().ok_or(line)?;
        count(&mut table, name, row["calls"].as_u64().ok_or(line)?);
        let first = executed.get(row["address"].as_str().ok_or(line)?);
        count(&mut reached, name, first.copied().unwrap_or_default());
    }
    for name in ["fibonacci", "work", "start_thread", "main", "usleep"] {
        let (reached, calls) = (reached.get(name), table.get(name));
        check(reached.is_some() && reached == calls, (with, name, reached, calls))?;
    }
    check(table.get("work") == Some(&4), table.get("work"))?;
    table.retain(|_, calls| *calls > 0);
    let mut steps = Counts::new();
    for call in hartrace::open(folder.join("a.te"))?.calls() {
        if let hartrace::Call::Enter { function, .. } = call? {
            count(&mut steps, &function.name, 1);
        }
    }
    check(steps == table, ("steps", &steps, &table))?;
    let slices = slices(&succeeds(&folder, &["export", "a.te", "--format", "perfetto"])?)?;
    check(slices == table, ("Perfetto", &slices, &table))?;
    let callgrind = callgrind(&text(&["export", "a.te", "--format", "callgrind"])?)?;
    // Nothing calls where a thread starts.
    table.retain(|name, _| !["_start", "__thread_start"].contains(&name.as_str()));
    check(callgrind == table, ("callgrind", &callgrind, &table))
}

/// Calls of each function in a file of callgrind.
fn callgrind(text: &str) -> Result<Counts, Failed> {
    let (mut names, mut counts, mut callee) = (BTreeMap::new(), Counts::new(), "");
    for line in text.lines() {
        let function = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="));
        if let Some(function) = function {
            let (number, name) = function.split_once(' ').unwrap_or((function, ""));
            callee = if name.is_empty() { names[number] } else { name };
            names.insert(number, callee);
        }
        if let Some((calls, _)) = line.strip_prefix("calls=").and_then(|line| line.split_once(' '))
        {
            count(&mut counts, callee, calls.parse()?);
        }
    }
    counts.retain(|_, calls| *calls > 0);
    Ok(counts)
}

/// The fields of a message of protobuf: numbers, or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn number(bytes: &mut &[u8]) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.split_off_first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(number)
    }
    let mut fields = Vec::new();
    while let Some(tag) = number(&mut bytes) {
        let value = number(&mut bytes).unwrap_or_default();
        let inside =
            if tag & 7 == 2 { bytes.split_off(..value as usize).unwrap_or_default() } else { &[] };
        fields.push((tag >> 3, value, inside));
    }
    fields
}

/// Slices of Perfetto that start with a call, by name. Those of each track are closed in the end.
fn slices(trace: &[u8]) -> Result<Counts, Failed> {
    let (mut names, mut counts) = (BTreeMap::new(), Counts::new());
    let mut open: BTreeMap<u64, i64> = BTreeMap::new();
    for (_, _, packet) in fields(trace) {
        let packet = fields(packet);
        let of = |number| packet.iter().filter(move |(field, ..)| *field == number);
        for (_, _, interned) in of(12) {
            for (_, _, name) in fields(interned) {
                let name = fields(name);
                names.insert(name[0].1, String::from_utf8(name[1].2.to_vec())?);
            }
        }
        for (_, _, event) in of(11) {
            let event = fields(event);
            let value =
                |number| event.iter().find(|(field, ..)| *field == number).map(|found| found.1);
            let depth = open.entry(value(11).ok_or("no track")?).or_default();
            *depth += match value(9) {
                Some(1) => 1,
                Some(2) => -1,
                _ => 0,
            };
            check(*depth >= 0, "a slice ends that has not begun")?;
            let resumed = event.iter().any(|(field, _, bytes)| {
                *field == 4 && bytes.windows(7).any(|part| part == b"resumed")
            });
            if let (Some(1), Some(name), false) = (value(9), value(10), resumed) {
                count(&mut counts, &names[&name], 1);
            }
        }
    }
    check(open.len() == 5 && open.values().all(|depth| *depth == 0), open)?;
    Ok(counts)
}

/// Functions of libraries have names, and an exception leaves the functions that it passes.
fn exceptions(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("exceptions-{with}"), "exceptions.cpp")?;
    traced(&folder, with, "ir+bp+jtc")?;
    let contexts = contexts(&folder)?;
    check(contexts == BTreeSet::from([0, 1, 2, 3, 4]), contexts)?;
    let stacks = stacks(&folder)?;
    let calls = |name: &str| stacks.iter().any(|stack| stack.iter().any(|other| other == name));
    for name in ["__cxa_throw", "_Unwind_RaiseException", "__clone", "dlopen", "omp_get_wtime"] {
        check(calls(name), (name, &stacks))?;
    }
    // What is called after an exception was caught is not below the functions that threw.
    let after: Vec<_> =
        stacks.iter().filter(|stack| stack.last().is_some_and(|name| name == "after()")).collect();
    let below = |stack: &&Vec<String>| stack.iter().any(|name| name == "descend(int)");
    check(!after.is_empty() && !after.iter().any(below), after)?;
    let edges = String::from_utf8(succeeds(&folder, &["decode", "a.te", "--emit", "edges"])?)?;
    check(edges.contains("<_Unwind_Resume") || edges.contains("<_Unwind_"), "edges of libgcc")?;
    succeeds(&folder, &["report", "a.te", "-o", "a.html"])?;
    check(fs::read_to_string(folder.join("a.html"))?.contains("omp_get_wtime"), "a page")
}

/// A dynamically linked program reads, prints and writes as if it was executed alone, and only once. Its trace has the code
/// of a library that it opens when everything else has been executed.
fn once(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("once-{with}"), "once.cpp")?;
    // More than a pipe holds.
    let text: String = (0..7_500).map(|number| format!("line {number}\n")).collect();
    let log = folder.join("log");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["run", "program", "--with", with, "--encode", "ir+bp", "-o", "a.te"])
        .current_dir(&folder)
        .env_remove("QEMU_LD_PREFIX")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    let fed = text.clone();
    let feeder = thread::spawn(move || input.write_all(fed.as_bytes()));
    let output = child.wait_with_output()?;
    let figures = String::from_utf8_lossy(&output.stderr);
    check(output.status.success() && figures.contains("%  yes\n"), &figures)?;
    check(feeder.join().is_ok_and(|fed| fed.is_ok()), "not all was read")?;
    check(output.stdout == text.as_bytes(), output.stdout.len())?;
    check(fs::read_to_string(&log)? == "once\n", fs::read_to_string(&log))?;
    let stacks = stacks(&folder)?;
    let calls = |name: &str| stacks.iter().any(|stack| stack.iter().any(|other| other == name));
    check(calls("omp_get_wtime") && calls("dlopen"), &stacks)?;
    let description = fs::read_to_string(folder.join("a.te.toml"))?;
    check(description.contains("/libgomp.so.1"), description)
}

/// A thread that waits for input lets others run: one of them may have it.
fn pipe(with: &str) -> Result<(), Failed> {
    let (folder, _) = compiled(&format!("pipe-{with}"), "pipe.c")?;
    traced(&folder, with, "ir+bp")?;
    check(contexts(&folder)? == BTreeSet::from([0, 1]), "two threads")
}

/// What is written to a console.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::ErrorKind::Other)?.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both print the same, and our hart executes the same every time.
fn prints() -> Result<(), Failed> {
    for source in ["threads.c", "exceptions.cpp"] {
        let (_, program) = compiled("prints", source)?;
        let native = Command::new("qemu-riscv64").args(["-L", SYSROOT]).arg(&program).output()?;
        check(native.status.success(), &native)?;
        let mut runs = Vec::new();
        for _ in 0..2 {
            let environment = Environment::Linux {
                arguments: vec!["program".into()],
                variables: Vec::new(),
                input: Vec::new(),
                files: Vec::new(),
            };
            let mut hart = Hart::new(HartConfig { environment, ..HartConfig::default() });
            let screen = Screen::default();
            hart.set_console(Box::new(screen.clone()));
            hart.set_libraries("/program", |name| {
                let path = Path::new(SYSROOT).join(name.strip_prefix('/')?);
                path.exists().then_some(path)
            });
            hart.load_elf(&fs::read(&program)?)?;
            let mut places = Vec::new();
            let exit = hart.run(1 << 32, &mut |step: &Step| {
                if let Some(trap) = step.trap {
                    places.push((trap.interrupt, step.context, step.pc, step.next_pc));
                }
            });
            check(exit == Exit::Exited(0), exit)?;
            let text = screen.0.lock().map_err(|_| "a panic")?.clone();
            check(text == native.stdout, (String::from_utf8_lossy(&text), &native))?;
            runs.push((places, hart.retired()));
        }
        check(runs[0] == runs[1], "two runs are the same")?;
        // Threads are interrupted in the middle of their work, not only in system calls.
        check(runs[0].0.iter().any(|(interrupt, ..)| *interrupt), &runs[0].0)?;
    }
    Ok(())
}

/// Contexts are compared in every mode, with history prediction too.
fn every_mode() -> Result<(), Failed> {
    let (folder, _) = compiled("every-mode", "threads.c")?;
    for modes in ["all", "hp,hp+full"] {
        let text = succeeds(&folder, &["run", "program", "--encode", modes, "--json"])?;
        let lines = String::from_utf8(text)?;
        let lines: Vec<Value> =
            lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        check(lines.len() > 1 && lines.iter().all(|line| line["verified"] == true), lines)?;
    }
    Ok(())
}

/// A bundle is decoded where there are no libraries.
fn bundle() -> Result<(), Failed> {
    let (folder, _) = compiled("bundle", "exceptions.cpp")?;
    traced(&folder, "iss", "ir")?;
    let text = fs::read_to_string(folder.join("a.te.toml"))?;
    let here = format!("file = \"{SYSROOT}/lib/libc.so.6\"");
    check(text.contains(&here), &text)?;
    succeeds(&folder, &["bundle", "a.te", "-o", "a.zip"])?;
    let elsewhere = folder.join("elsewhere");
    fs::create_dir_all(&elsewhere)?;
    fs::rename(folder.join("a.zip"), elsewhere.join("a.zip"))?;
    let names = succeeds(&elsewhere, &["decode", "a.zip", "--emit", "edges"])?;
    check(names == succeeds(&folder, &["decode", "a.te", "--emit", "edges"])?, "other edges")?;
    let archive = fs::read(elsewhere.join("a.zip"))?;
    for name in ["libc.so.6", "libgomp.so.1", "ld-linux-riscv64"] {
        check(archive.windows(name.len()).any(|part| part == name.as_bytes()), name)?;
    }
    Ok(())
}

fn fails(folder: &Path, arguments: &[&str], with: &[&str]) -> Result<(), Failed> {
    let output = hartrace(folder, arguments)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let named = with.iter().all(|part| text.contains(part));
    check(!output.status.success() && named, &output)
}

fn missing_libraries() -> Result<(), Failed> {
    let (folder, _) = compiled("missing", "exceptions.cpp")?;
    fs::create_dir_all(folder.join("nowhere"))?;
    let linker = "dynamically linked, and there is no /lib/ld-linux-riscv64-lp64d.so.1 in nowhere";
    for with in ["iss", "qemu"] {
        let arguments = ["run", "program", "--with", with, "--sysroot", "nowhere"];
        fails(&folder, &arguments, &[linker, "try: --sysroot DIR"])?;
    }
    let lib = folder.join("some/lib");
    fs::create_dir_all(&lib)?;
    for name in ["ld-linux-riscv64-lp64d.so.1", "libc.so.6"] {
        fs::copy(Path::new(SYSROOT).join("lib").join(name), lib.join(name))?;
    }
    let what = "finds no libstdc++.so.6 in some";
    fails(&folder, &["run", "program", "--sysroot", "some"], &[what, "try: --sysroot DIR"])
}

fn another_process() -> Result<(), Failed> {
    let (folder, _) = compiled("fork", "fork.c")?;
    fails(&folder, &["run", "program"], &["starts another process at 0x", "try: "])
}

fn deadlock() -> Result<(), Failed> {
    let (folder, _) = compiled("deadlock", "deadlock.c")?;
    fails(&folder, &["run", "program"], &["its 2 threads wait for each other"])
}
