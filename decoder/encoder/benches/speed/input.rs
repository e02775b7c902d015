//! What programs retire.

use hartrace_encoder::{EncoderConfig, Resync};
use hartrace_etrace::ingress::Xlen;
use hartrace_etrace::{Ioptions, Unit};
use hartrace_sources::Retired;
use hartrace_sources::executed::{Ending, Executor, Program, ProgramError, modes};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Those of this project's programs that run long enough.
const BUNDLED: [&str; 3] = ["long", "calls", "crypto"];

/// A program and the blocks that it retires.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) rows: Vec<Retired>,
    pub(crate) instructions: u64,
    program: Program,
    limit: u64,
}

/// All inputs.
pub(crate) fn all() -> Result<Vec<Input>, Box<dyn Error>> {
    let limit = std::env::var("HARTRACE_LIMIT").ok().and_then(|text| text.parse().ok());
    let mut inputs = Vec::new();
    if let Some(data) = std::env::var_os("HARTRACE_DATA") {
        let folder = Path::new(&data).join("workloads/elf");
        let mut files: Vec<_> = fs::read_dir(&folder)?
            .map(|file| Ok(file?.path()))
            .collect::<Result<_, std::io::Error>>()?;
        files.sort();
        for packed in files.iter().filter(|file| file.extension().is_some_and(|e| e == "zst")) {
            let elf = zstd::decode_all(fs::File::open(packed)?)?;
            let name = packed.file_stem().ok_or("no name")?;
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            fs::write(&file, &elf)?;
            // QEMU does not execute a file that Linux would not.
            #[cfg(unix)]
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
            let program = Program::of_file(&file, elf)?.executed_by(Executor::Qemu);
            inputs.push(Input::new(program, limit.unwrap_or(20_000_000))?);
        }
    }
    for name in BUNDLED {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf");
        let file = file.join(name).with_extension("elf");
        let program = Program::of_file(&file, fs::read(&file)?)?;
        inputs.push(Input::new(program, limit.unwrap_or(5_000_000))?);
    }
    Ok(inputs)
}

/// An encoder with every option and these modes.
pub(crate) fn config(xlen: Xlen, options: Ioptions) -> EncoderConfig {
    EncoderConfig {
        params: modes::params(xlen),
        unit: Unit::Hartrace,
        options,
        resync: Resync::Packets(1 << 10),
        ..EncoderConfig::default()
    }
}

impl Input {
    fn new(program: Program, limit: u64) -> Result<Self, ProgramError> {
        let mut rows = Vec::new();
        let ending = program.execute(limit, |some| {
            rows.extend_from_slice(some);
            Ok::<(), ProgramError>(())
        })?;
        let name = program.name().to_owned();
        Ok(Self { name, rows, instructions: ending.instructions, program, limit })
    }

    pub(crate) fn xlen(&self) -> Xlen {
        self.program.xlen()
    }

    /// Executes it once more.
    pub(crate) fn execute(
        &self,
        take: impl FnMut(&[Retired]) -> Result<(), ProgramError>,
    ) -> Result<Ending, ProgramError> {
        self.program.execute(self.limit, take)
    }
}
