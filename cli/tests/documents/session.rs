//! The commands of a console block, and what they print.

use libtest_mimic::Failed;
use snapbox::Data;
use snapbox::filter::NormalizeToExpected;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A command with the lines that it prints according to the document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// As written in the document, with prompts.
    pub(crate) prompt: Vec<String>,
    /// As a shell executes it.
    pub(crate) command: String,
    pub(crate) expected: String,
}

/// The steps of a block.
pub(crate) fn steps(lines: &[String]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                prompt: vec![line.clone()],
                command: format!("{command}\n"),
                expected: String::new(),
            });
            continue;
        }
        let Some(step) = steps.last_mut() else {
            return Err(format!(
                "`{line}` comes before the first command; commands start with `$ `"
            ));
        };
        let more = line.strip_prefix("> ").or((line == ">").then_some(""));
        match more.filter(|_| step.expected.is_empty()) {
            Some(more) => {
                step.prompt.push(line.clone());
                step.command += &format!("{more}\n");
            }
            None => step.expected += &format!("{line}\n"),
        }
    }
    if steps.is_empty() { Err("no command, `$ …`".into()) } else { Ok(steps) }
}

/// Where the commands of one document are executed: one shell, as its reader has, in a folder that has `tests` in it.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    shell: Child,
    output: BufReader<ChildStdout>,
    /// The commands that the shell is to execute next.
    step: PathBuf,
}

/// What the shell prints after each step, with the exit status.
const END: &str = "--- end of a step:";

impl Place {
    /// A fresh folder for `document`, with the folder `tests` of the repository in it, and a shell there.
    pub(crate) fn fresh(root: &Path, document: &str) -> Result<Self, Failed> {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = document.replace('/', "-");
        let folder = all.join("documents").join(&name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        // Not the whole repository: a command that writes to a folder of the same name must not reach it.
        std::os::unix::fs::symlink(root.join("tests"), folder.join("tests"))?;
        let program = Path::new(env!("CARGO_BIN_EXE_hartrace"));
        let folders = program.parent().map(Path::to_path_buf).into_iter();
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(folders.chain(env::split_paths(&others)))?;
        let mut shell = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(&folder)
            .env("PATH", path)
            // Simulation models are kept from one run to the next, and shared with other tests.
            .env("XDG_CACHE_HOME", all.join("cache"))
            .env("LC_ALL", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env_remove("HARTRACE_BLESS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        writeln!(shell.stdin.as_mut().ok_or("no input")?, "set -o pipefail; exec 2>&1")?;
        let output = BufReader::new(shell.stdout.take().ok_or("no output")?);
        let step = all.join("documents").join(format!("{name}.sh"));
        Ok(Self { folder, shell, output, step })
    }

    /// Executes a command and compares what it prints.
    pub(crate) fn run(&mut self, step: &Step) -> Result<Outcome, Failed> {
        std::fs::write(&self.step, &step.command)?;
        let input = self.shell.stdin.as_mut().ok_or("no input")?;
        // Not from the pipe that the shell reads its commands from.
        writeln!(input, ". '{}' </dev/null; echo; echo \"{END} $?\"", self.step.display())?;
        input.flush()?;
        let (text, status) = self.until_end()?;
        let text = text.replace('\r', "");
        let text = text.replace(&*self.folder.to_string_lossy(), ".");
        let text = match env::var("HARTRACE_DATA") {
            Ok(data) if !data.is_empty() => text.replace(&data, "$HARTRACE_DATA"),
            _ => text,
        };
        let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let expected = Data::text(&*step.expected);
        let printed = NormalizeToExpected::new().redact().normalize(Data::text(text), &expected);
        Ok(Outcome { printed: printed.to_string(), same: printed == expected, failed: status })
    }

    /// What a step has printed, and its exit status if it failed.
    fn until_end(&mut self) -> Result<(String, Option<String>), Failed> {
        let mut text = Vec::new();
        loop {
            let before = text.len();
            if self.output.read_until(b'\n', &mut text)? == 0 {
                break;
            }
            if let Some(status) = text[before..].strip_prefix(END.as_bytes()) {
                let status = String::from_utf8_lossy(status).trim().to_owned();
                // Without the line that was ended, or the empty one.
                let printed = String::from_utf8_lossy(&text[..before.saturating_sub(1)]);
                let failed = (status != "0").then(|| format!("exit status {status}"));
                return Ok((printed.into_owned(), failed));
            }
        }
        let status = self.shell.wait()?;
        let printed = String::from_utf8_lossy(&text).into_owned();
        Ok((printed, Some(format!("the shell ended, {status},"))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The shell ends with its input.
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// The result of a step.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What it printed, with the elisions of the document that match.
    pub(crate) printed: String,
    /// Whether this is what the document says.
    pub(crate) same: bool,
    /// The exit status of a command that failed.
    failed: Option<String>,
}

impl Outcome {
    /// An error with what the command printed, if it failed.
    pub(crate) fn succeeded(&self, place: &str, step: &Step) -> Result<(), Failed> {
        match &self.failed {
            Some(status) => {
                let command = step.prompt.join("\n");
                Err(format!("{place}: {status} of\n{command}\n{}", self.printed).into())
            }
            None => Ok(()),
        }
    }

    /// An error that shows the difference, if there is any.
    pub(crate) fn check(&self, place: &str, step: &Step) -> Result<(), Failed> {
        self.succeeded(place, step)?;
        if self.same {
            return Ok(());
        }
        let command = step.prompt.join("\n");
        let mut text = format!("{place}: another output than in the document of\n{command}\n");
        snapbox::report::write_diff(
            &mut text,
            &Data::text(&*step.expected),
            &Data::text(&*self.printed),
            Some(&place),
            Some(&"now"),
            snapbox::report::Palette::plain(),
        )?;
        text += "HARTRACE_BLESS=1 writes what is printed into the document";
        Err(text.into())
    }
}
