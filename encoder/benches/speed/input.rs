//! What programs retire.

use crate::workloads;
use hartrace_encoder::{EncoderConfig, Resync};
use hartrace_etrace::ingress::Xlen;
use hartrace_etrace::{Ioptions, Unit};
use hartrace_executions::Retired;
use hartrace_executions::executed::{Ending, Program, ProgramError, modes};
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
    for program in workloads::programs(Path::new(env!("CARGO_TARGET_TMPDIR")))? {
        inputs.push(Input::new(program, limit.unwrap_or(20_000_000))?);
    }
    for name in BUNDLED {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf");
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
