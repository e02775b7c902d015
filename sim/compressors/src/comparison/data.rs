//! Data traces: loads and stores of programs through compressors of addresses and values.

use super::ComparisonError;
use super::figures::per_instruction;
use crate::{BitSource, Bits, DataCoder, DataScheme, DataStep, Filter};
use hartrace_iss::{Retire, Step};
use hartrace_sources::executed::Program;
use serde::Serialize;
use std::io::{self, Write};

/// Figures of the data trace of a program in a scheme.
#[derive(Clone, Debug, Serialize)]
pub struct DataFigures {
    /// The name of the program.
    pub program: String,
    /// The name of the scheme.
    pub scheme: &'static str,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Number of addresses or values of these instructions.
    pub references: u64,
    /// Their bits before compression.
    pub raw_bits: u64,
    /// Bits of the trace.
    pub bits: u64,
    /// Bits of the trace per instruction.
    pub bits_per_instruction: f64,
    /// Bits of memory in the trace module.
    pub storage_bits: u64,
    /// Estimated gates of the trace module.
    pub gates: u64,
    /// Whether all references were recovered.
    pub verified: bool,
    /// The first reference that was not recovered.
    pub difference: Option<String>,
}

/// Passes on each retired instruction with its accesses.
struct Each<F>(F);

impl<F: FnMut(&DataStep)> Retire for Each<F> {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        if let Some(step) = DataStep::of(step) {
            self.0(&step);
        }
    }
}

struct Lane {
    figures: DataFigures,
    scheme: DataScheme,
    coder: Box<dyn DataCoder>,
}

/// Executes a program twice: once to compress, and once to compare what is decompressed.
pub(super) fn measure(program: &Program, limit: u64) -> Result<Vec<DataFigures>, ComparisonError> {
    let xlen = program.xlen();
    let mut lanes: Vec<Lane> = DataScheme::defaults()
        .into_iter()
        .map(|(name, scheme)| {
            let scheme = match scheme {
                // Changes that an operating system makes to registers are not in the trace.
                DataScheme::Filter(_) => DataScheme::Filter(Filter { handlers: program.is_bare() }),
                other => other,
            };
            let cost = scheme.cost(xlen.bits());
            let figures = DataFigures {
                program: program.name().into(),
                scheme: name,
                instructions: 0,
                references: 0,
                raw_bits: 0,
                bits: 0,
                bits_per_instruction: 0.0,
                storage_bits: cost.bits(),
                gates: cost.gates().round() as u64,
                verified: false,
                difference: None,
            };
            let coder = scheme.coder(xlen).map_err(ComparisonError::Data)?;
            Ok(Lane { figures, scheme, coder })
        })
        .collect::<Result<_, ComparisonError>>()?;
    let mut traces = vec![Bits::default(); lanes.len()];
    let exit = program.steps(
        limit,
        &mut Each(|step: &DataStep| {
            for (lane, out) in lanes.iter_mut().zip(&mut traces) {
                lane.coder.encode(step, out);
                let raw = lane.scheme.raw_bits(step, xlen.bits());
                lane.figures.instructions += 1;
                lane.figures.references += u64::from(raw > 0);
                lane.figures.raw_bits += raw;
            }
        }),
    )?;
    program.succeeded(exit, &[])?;
    let mut sources: Vec<BitSource<'_>> = traces.iter().map(BitSource::new).collect();
    for lane in &mut lanes {
        lane.coder = lane.scheme.coder(xlen).map_err(ComparisonError::Data)?;
    }
    let mut number = 0_u64;
    program.steps(
        limit,
        &mut Each(|step: &DataStep| {
            for (lane, from) in lanes.iter_mut().zip(&mut sources) {
                lane.check(number, step, from);
            }
            number += 1;
        }),
    )?;
    let finish = |(mut lane, (from, bits)): (Lane, (BitSource<'_>, &Bits))| {
        if from.left() > 0 && lane.figures.difference.is_none() {
            lane.figures.difference = Some(format!("{} bits are left over", from.left()));
        }
        lane.figures.bits = bits.len();
        lane.figures.bits_per_instruction = per_instruction(bits.len(), lane.figures.instructions);
        lane.figures.verified = lane.figures.difference.is_none();
        lane.figures
    };
    Ok(lanes.into_iter().zip(sources.into_iter().zip(&traces)).map(finish).collect())
}

impl Lane {
    fn check(&mut self, number: u64, step: &DataStep, from: &mut BitSource<'_>) {
        if self.figures.difference.is_some() {
            return;
        }
        let expected = self.scheme.field(step);
        let found = self.coder.decode(&self.scheme.hidden(step), from);
        if found.as_ref() != Ok(&expected) {
            let found = found.map_or_else(|error| error.to_string(), |found| format!("{found:x?}"));
            self.figures.difference =
                Some(format!("instruction {number}: {found} instead of {expected:x?}"));
        }
    }
}

/// All programs together.
fn mean(figures: &[DataFigures], scheme: &str) -> Option<DataFigures> {
    let mut own = figures.iter().filter(|one| one.scheme == scheme);
    let mut sum = own.next()?.clone();
    sum.program = "mean".into();
    for one in own {
        sum.instructions += one.instructions;
        sum.references += one.references;
        sum.raw_bits += one.raw_bits;
        sum.bits += one.bits;
        sum.storage_bits = sum.storage_bits.max(one.storage_bits);
        sum.gates = sum.gates.max(one.gates);
        sum.verified &= one.verified;
        sum.difference = sum.difference.or(one.difference.clone());
    }
    sum.bits_per_instruction = per_instruction(sum.bits, sum.instructions);
    Some(sum)
}

pub(super) fn print(out: &mut impl Write, figures: &[DataFigures], brief: bool) -> io::Result<()> {
    writeln!(
        out,
        "\n{:15} {:10} {:>12} {:>11} {:>9} {:>9} {:>9} {:>9}  verified",
        "program", "data", "instructions", "references", "bits/insn", "ratio", "storage", "gates"
    )?;
    let means = DataScheme::defaults().into_iter().filter_map(|(name, _)| mean(figures, name));
    let each = figures.iter().filter(|_| !brief).cloned();
    for one in each.chain(means) {
        let verdict = one.difference.map_or("yes".into(), |difference| format!("NO: {difference}"));
        writeln!(
            out,
            "{:15} {:10} {:>12} {:>11} {:>9.4} {:>9} {:>9} {:>9}  {verdict}",
            one.program,
            one.scheme,
            one.instructions,
            one.references,
            one.bits_per_instruction,
            // There is no ratio where nothing had to be sent.
            match one.bits {
                0 => "-".into(),
                bits => format!("{:.2}", one.raw_bits as f64 / bits as f64),
            },
            one.storage_bits,
            one.gates,
        )?;
    }
    writeln!(
        out,
        "\nNEXS-DA, DAF (register validation) and ADAC send addresses of loads and stores, FAT (first-access \
         tracking) what is loaded, and so does FAC, with a cache in the trace module.\nratio: uncompressed over \
         compressed; the instruction trace that they need comes on top. storage of FAT: its flags, not the cache."
    )?;
    Ok(())
}
