//! Folders to run programs in.

use libtest_mimic::Failed;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

/// What executes programs.
pub(crate) const EXECUTORS: [&str; 2] = ["iss", "qemu"];

/// A program of this test.
pub(crate) fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

/// An empty folder, and the executor of its programs.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) executor: &'static str,
}

impl Folder {
    pub(crate) fn new(name: &str, executor: &'static str) -> Result<Self, Failed> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(path.join("tmp"))?;
        Ok(Self { path, executor })
    }

    /// `hartrace run` with these words, the first of them the program.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut words = line.split_whitespace();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
        command.arg("run").arg(program(words.next().unwrap_or_default()));
        command.args(["--with", self.executor]).args(words).current_dir(&self.path);
        command.env("TMPDIR", self.path.join("tmp")).env_remove("NO_COLOR");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Result<Said, Failed> {
        Said::of(self.command(line).output()?)
    }

    /// The same with this standard input, through a pipe.
    pub(crate) fn fed(&self, line: &str, input: &[u8]) -> Result<Said, Failed> {
        let mut child = self.start(line, Stdio::piped())?;
        let (mut pipe, input) = (child.stdin.take().ok_or("no pipe")?, input.to_owned());
        let feeding = thread::spawn(move || pipe.write_all(&input));
        let output = child.wait_with_output()?;
        feeding.join().map_err(|_| "the input")??;
        Said::of(output)
    }

    pub(crate) fn start(&self, line: &str, input: Stdio) -> Result<Child, Failed> {
        let mut command = self.command(line);
        Ok(command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }

    /// Another command of `hartrace` in this folder, which has to be clean.
    fn hartrace(&self, line: &str) -> Result<String, Failed> {
        let said = self.said(line)?;
        match (said.status, said.err.is_empty()) {
            (Some(0), true) => Ok(said.out),
            _ => Err(format!("{line}: {said:?}").into()),
        }
    }

    fn said(&self, line: &str) -> Result<Said, Failed> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
        Said::of(command.args(line.split_whitespace()).current_dir(&self.path).output()?)
    }

    /// What is in the folder, and that nothing is in the one for temporary files.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failed> {
        let left = list(&self.path.join("tmp"))?;
        if !left.is_empty() {
            return Err(format!("left in the folder for temporary files: {left:?}").into());
        }
        let names = list(&self.path)?;
        Ok(names.into_iter().filter(|name| name != "tmp").collect())
    }

    /// The number of instructions in a trace that can be decoded without a gap, as its description says, and why it ended
    /// early according to that.
    pub(crate) fn traced(&self, trace: &str) -> Result<(u64, Option<String>), Failed> {
        let said = self.hartrace(&format!("stats {trace} --json"))?;
        self.described(trace, &said)
    }

    /// The same of a trace that was cut: it is all right but for its end.
    pub(crate) fn cut(&self, trace: &str) -> Result<(u64, Option<String>), Failed> {
        let said = self.said(&format!("stats {trace} --json"))?;
        let warning = format!("{trace}: the trace does not end: tracing was on at the last packet");
        let right = said.err.starts_with(&warning) && said.err.lines().count() == 1;
        said.check(right && said.status == Some(0))?;
        self.described(trace, &said.out)
    }

    fn described(&self, trace: &str, stats: &str) -> Result<(u64, Option<String>), Failed> {
        let stats: Value = serde_json::from_str(stats)?;
        let (gaps, count) = (&stats["program"]["gaps"], &stats["program"]["instructions"]);
        let text = fs::read_to_string(self.path.join(format!("{trace}.toml")))?;
        let of = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.map(|value| value.trim_matches('"').to_owned())
        };
        let (described, count) = (of("instructions"), count.as_u64().ok_or("no count")?);
        if gaps != 0 || described != Some(count.to_string()) {
            return Err(
                format!("{gaps} gaps, {count} instructions, described {described:?}").into()
            );
        }
        Ok((count, of("ended-early")))
    }
}

fn list(folder: &Path) -> Result<Vec<String>, Failed> {
    let name = |entry: std::io::Result<fs::DirEntry>| -> Result<String, Failed> {
        Ok(entry?.file_name().to_string_lossy().into_owned())
    };
    let mut names = fs::read_dir(folder)?.map(name).collect::<Result<Vec<_>, _>>()?;
    names.sort();
    Ok(names)
}

/// How a command ended, and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Result<Self, Failed> {
        let status = output.status.code();
        let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        Ok(Self { status, out, err })
    }

    /// The figures that `--json` prints, of which there is one line.
    pub(crate) fn figures(&self) -> Result<Value, Failed> {
        Ok(serde_json::from_str(&self.out).map_err(|error| format!("{error}: {self:?}"))?)
    }

    pub(crate) fn check(&self, right: bool) -> Result<(), Failed> {
        if right { Ok(()) } else { Err(format!("{self:?}").into()) }
    }
}
