//! Execution by QEMU.

use super::{CHUNK, Ending, Loaded, Problem, Program, ProgramError, Progress};
use crate::executed::Instructions;
use crate::qemu::{Mapped, Mode, Qemu, QemuError, Streams};
use hartrace_capture::output::Scratch;
use hartrace_iss::{Exit, Mapping};
use std::cell::RefCell;
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

    pub(super) fn follow_qemu<E: From<ProgramError>>(
        &self,
        limit: u64,
        mut take: impl FnMut(Progress<'_>) -> Result<(), E>,
    ) -> Result<Ending, E> {
        let placed = self.place().map_err(|problem| self.error(problem))?;
        let own = fs::canonicalize(&placed.elf).unwrap_or_else(|_| placed.elf.clone());
        let name = self.path.as_ref().map_or(self.name.as_ref(), |path| path.as_os_str());
        // A program of a file that is given nothing to read may open the files of the current folder.
        let given = self.shared.is_none()
            && (self.path.is_none() || !self.input.is_empty() || !self.files.is_empty());
        let mut loaded = self.loaded();
        let load = |loaded: &mut Loaded, mapped: Vec<Mapped>| {
            let (mut files, mut code): (Vec<Mapping>, Vec<_>) = Default::default();
            for mapped in mapped {
                match mapped {
                    Mapped::File(mapping) => files.push(mapping),
                    Mapped::Code(address, bytes) => code.push((address, bytes)),
                }
            }
            let (own, others): (Vec<_>, Vec<_>) =
                files.into_iter().partition(|mapping| Path::new(&mapping.file) == own);
            let mut more = self.load(loaded, &others)?;
            for mapping in &own {
                more |= self.load_own(loaded, mapping)?;
            }
            for (address, bytes) in &code {
                more |= loaded.add_kernel_code(*address, bytes);
            }
            Ok::<_, ProgramError>(more)
        };
        // Code that was mapped, of which nothing has been executed yet.
        let mapped = RefCell::new(Vec::new());
        let (mut rows, mut done, mut result) = (Vec::new(), 0, Ok(()));
        // A program has few blocks, and executes them often.
        let mut counts: HashMap<(u64, u32), u64> = HashMap::new();
        let run = Qemu::new().and_then(|qemu| {
            let streams = match &self.shared {
                None => Streams::None,
                Some(shared) if self.is_bare() => Streams::Printed(shared.print.clone()),
                Some(shared) => Streams::Shared { to_stderr: shared.to_stderr },
            };
            let variables = self.shared.as_ref().map(|shared| shared.variables.clone());
            let qemu = qemu.with(streams).named(name).stopped_by(self.stop);
            let qemu = variables.into_iter().fold(qemu, Qemu::variables);
            let qemu = if given { qemu.reading(&placed.input, &placed.files) } else { qemu };
            let qemu = self.sysroot.iter().fold(qemu, Qemu::with_sysroot);
            let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
            // The machine that supports `tohost`. Its reset code is not in the program.
            let (qemu, mode, arguments) = match self.is_bare() {
                true => (qemu.from(self.entry()), Mode::System, MACHINE.to_vec()),
                false => (qemu, Mode::User, arguments),
            };
            let maps = |mapping| mapped.borrow_mut().push(mapping);
            qemu.run_mapped(&placed.elf, &arguments, mode, maps, |row| {
                let new = mapped.take();
                if !new.is_empty() {
                    result = load(&mut loaded, new).map_err(E::from).and_then(|more| match more {
                        true => take(Progress::Loaded(&loaded)),
                        false => Ok(()),
                    });
                }
                let instructions = Instructions::of(&loaded.image);
                let count = || instructions.between(row.iaddr, row.next_address());
                done += *counts.entry((row.iaddr, row.iretire)).or_insert_with(count);
                rows.push(*row);
                if result.is_ok() && rows.len() as u64 >= CHUNK {
                    result = take(Progress::Rows(&rows));
                    rows.clear();
                }
                match result.is_ok() && done < limit {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })
        });
        result?;
        // What was executed before a run failed was executed.
        if run.is_ok() || !rows.is_empty() {
            take(Progress::Rows(&rows))?;
        }
        let (exit, instructions) = match run {
            Ok(ended) => (ended.code.map_or(Exit::Limit, Exit::Exited), ended.instructions),
            Err(QemuError::Killed { signal, instructions, .. }) => {
                (Exit::Killed(signal), instructions)
            }
            Err(error) => return Err(self.error(error).into()),
        };
        Ok(Ending { exit, instructions, tvec: Vec::new(), unknown_calls: Vec::new() })
    }
}
