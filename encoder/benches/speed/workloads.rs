//! Programs that do real work, for the benchmarks of encoder and decoder.

use hartrace_executions::executed::{Executor, Program};
use std::error::Error;
use std::fs;
use std::path::Path;

/// The programs of the folder `workloads` in `HARTRACE_DATA`, executed by QEMU; none if that is not set. They are
/// unpacked into `folder`.
pub(crate) fn programs(folder: &Path) -> Result<Vec<Program>, Box<dyn Error>> {
    let Some(data) = std::env::var_os("HARTRACE_DATA") else { return Ok(Vec::new()) };
    let mut files: Vec<_> = fs::read_dir(Path::new(&data).join("workloads/elf"))?
        .map(|file| Ok(file?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    files.sort();
    files.retain(|file| file.extension().is_some_and(|e| e == "zst"));
    let unpack = |packed: &std::path::PathBuf| -> Result<Program, Box<dyn Error>> {
        let elf = zstd::decode_all(fs::File::open(packed)?)?;
        let file = folder.join(packed.file_stem().ok_or("no name")?);
        fs::write(&file, &elf)?;
        // QEMU does not execute a file that Linux would not.
        #[cfg(unix)]
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(Program::of_file(&file, elf)?.executed_by(Executor::Qemu))
    };
    files.iter().map(unpack).collect()
}
