//! Execution by QEMU.

use super::{CHUNK, Ending, Problem, Program, ProgramError};
use crate::executed::Instructions;
use crate::qemu::{Mode, Qemu, QemuError};
use hartrace_capture::output::Scratch;
use hartrace_etrace::ingress::Retired;
use hartrace_iss::Exit;
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// The memory of bare-metal programs that our hart has, and time that depends only on the instructions.
const MACHINE: [&str; 6] = ["-machine", "spike", "-m", "256M", "-icount", "shift=0,sleep=off"];

/// A program and all that it reads, in files.
struct Placed {
    /// Removed when the program has ended.
    _folder: Scratch,
    elf: PathBuf,
    input: PathBuf,
    /// The folder of the files that the program opens.
    files: PathBuf,
}

impl Program {
    /// Writes the program, and all that it reads.
    fn place(&self) -> Result<Placed, Problem> {
        let folder = Scratch::new().map_err(QemuError::io("cannot create a folder"))?;
        let write = |path: &Path, bytes: &[u8]| {
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            let written = made.and_then(|()| fs::write(path, bytes));
            written.map_err(QemuError::io("cannot write what the program reads"))
        };
        let (elf, input, files) = (folder.join("elf"), folder.join("input"), folder.join("files"));
        write(&elf, &self.elf)?;
        // QEMU insists.
        let executable = fs::set_permissions(&elf, fs::Permissions::from_mode(0o700));
        executable.map_err(QemuError::io("cannot make the program executable"))?;
        write(&input, &self.input)?;
        fs::create_dir_all(&files).map_err(QemuError::io("cannot create a folder"))?;
        for (name, bytes) in &self.files {
            let path = Path::new(name);
            if !path
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
            {
                return Err(Problem::FileName(name.clone()));
            }
            write(&files.join(path), bytes)?;
        }
        Ok(Placed { _folder: folder, elf, input, files })
    }

    pub(super) fn execute_by_qemu<E: From<ProgramError>>(
        &self,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<(), E>,
    ) -> Result<Ending, E> {
        // Its file may be compressed.
        let placed = self.place().map_err(|problem| self.error(problem))?;
        let name = self.path.as_ref().map_or(self.name.as_ref(), |path| path.as_os_str());
        // A program of a file that is given nothing to read may open the files of the current folder.
        let given = self.path.is_none() || !self.input.is_empty() || !self.files.is_empty();
        let (mut rows, mut done, mut result) = (Vec::new(), 0, Ok(()));
        let instructions = Instructions::of(&self.image);
        // A program has few blocks, and executes them often.
        let mut counts: HashMap<(u64, u32), u64> = HashMap::new();
        let run = Qemu::new().and_then(|qemu| {
            let qemu = qemu.silent().named(name);
            let qemu = if given { qemu.reading(&placed.input, &placed.files) } else { qemu };
            let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
            // The machine that supports `tohost`. Its reset code is not in the program.
            let (qemu, mode, arguments) = match self.is_bare() {
                true => (qemu.from(self.entry()), Mode::System, MACHINE.to_vec()),
                false => (qemu, Mode::User, arguments),
            };
            qemu.run(&placed.elf, &arguments, mode, |row| {
                rows.push(*row);
                let count = || instructions.between(row.iaddr, row.next_address());
                done += *counts.entry((row.iaddr, row.iretire)).or_insert_with(count);
                if rows.len() as u64 >= CHUNK {
                    result = take(&rows);
                    rows.clear();
                }
                match result.is_ok() && done < limit {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })
        });
        let ended = run.map_err(|error| self.error(error))?;
        result?;
        take(&rows)?;
        let exit = ended.code.map_or(Exit::Limit, Exit::Exited);
        let (instructions, tvec, unknown_calls) = (ended.instructions, Vec::new(), Vec::new());
        Ok(Ending { exit, instructions, tvec, unknown_calls })
    }
}
