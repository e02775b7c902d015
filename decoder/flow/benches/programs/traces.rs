//! Traces of real programs.

#[path = "../../../../encoder/benches/speed/workloads.rs"]
mod workloads;

use crate::input::{Input, REFERENCE, segments};
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_etrace::{Ioptions, Unit};
use hartrace_executions::executed::{Program, ProgramError, modes};
use std::error::Error;
use std::path::Path;

/// Sets of modes besides delta: each of those that a decoder needs tables for, and all that
/// matter without traps.
const MODES: [&str; 5] = ["ir", "bp", "jtc", "ir+bp+jtc", "ir+sij+bp+jtc+full"];

/// A program that was executed.
pub(crate) struct Traced {
    pub(crate) name: String,
    pub(crate) instructions: u64,
    /// Its traces by their modes; the first is that of delta mode, as the peer follows it.
    pub(crate) traces: Vec<(&'static str, Input)>,
}

/// The programs.
pub(crate) fn programs() -> Result<Vec<Program>, Box<dyn Error>> {
    let mut programs = workloads::programs(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    if programs.is_empty() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf/long.elf");
        programs.push(Program::of_file(&file, std::fs::read(&file)?)?);
    }
    Ok(programs)
}

impl Traced {
    /// Executes a program once, and traces it in all modes.
    pub(crate) fn new(program: &Program, limit: u64) -> Result<Self, Box<dyn Error>> {
        let segments = segments(program.elf());
        let input = |params, unit, options| Input {
            name: program.name().to_owned(),
            params,
            unit,
            options,
            stream: Vec::new(),
            segments: segments.clone(),
            elf: None,
        };
        let mut traces = vec![("delta", input(REFERENCE, Unit::Reference, Ioptions::default()))];
        for mode in MODES {
            let options = Ioptions::named(mode).map_err(|part| format!("no mode {part}"))?;
            traces.push((mode, input(modes::params(program.xlen()), Unit::Hartrace, options)));
        }
        let encoder = |input: &Input| {
            let Input { params, unit, options, .. } = *input;
            let resync = Resync::Packets(1 << 10);
            Encoder::new(EncoderConfig {
                params,
                unit,
                options,
                resync,
                ..EncoderConfig::default()
            })
        };
        let mut encoders =
            traces.iter().map(|(_, input)| encoder(input)).collect::<Result<Vec<_>, _>>()?;
        let ending = program.execute(limit, |rows| {
            for (encoder, (_, input)) in encoders.iter_mut().zip(&mut traces) {
                encoder.retire_all(rows, &mut |payload| push(&mut input.stream, payload));
            }
            Ok::<(), ProgramError>(())
        })?;
        for (encoder, (_, input)) in encoders.iter_mut().zip(&mut traces) {
            encoder.finish(&mut |payload| push(&mut input.stream, payload));
        }
        Ok(Self { name: program.name().to_owned(), instructions: ending.instructions, traces })
    }
}

/// Appends a payload as in te_inst_raw.
fn push(stream: &mut Vec<u8>, payload: Encoded<'_>) {
    stream.push(0x40 | payload.bytes.len() as u8);
    stream.extend_from_slice(payload.bytes);
}
