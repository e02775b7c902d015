//! Directories to run commands in.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory with the run, its program and parameters.
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
}

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let place = Self { dir };
        place.write("run.csv", crate::RUN.as_bytes());
        place.write("p.toml", crate::PARAMS.as_bytes());
        place.write("code", &crate::CODE.map(u32::to_le_bytes).concat());
        place
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.dir.join(name), bytes).unwrap();
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
        command.args(line.split_whitespace()).current_dir(&self.dir).env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn fed(&self, line: &str, input: &[u8]) -> Output {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Large input or output does not fit into a pipe.
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
        let feeding = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        feeding.join().unwrap().unwrap();
        output
    }

    /// Standard output of a command that must be clean.
    pub(crate) fn clean(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "{line}");
        stdout(&output)
    }

    pub(crate) fn encoded(&self) -> &Self {
        self.clean("encode run.csv --params p.toml --xlen 64 -o trace");
        self
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
