//! Data traces: loads and stores of programs through compressors of addresses and values.

use super::ComparisonError;
use super::figures::{per_instruction, verdict};
use super::statistics::{DataStatistics, Wanted};
use crate::{BitSource, Bits, Cost, DataCoder, DataScheme, DataStep, Lookup};
use hartrace_executions::executed::Program;
use hartrace_iss::{Exit, Retire, Step};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// Figures of the data trace of a program in a scheme.
#[derive(Clone, Debug, Serialize)]
pub struct DataFigures {
    /// The name of the program.
    pub program: String,
    /// The name of the scheme.
    pub scheme: Cow<'static, str>,
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
    /// Bits of memory in the trace module, if the scheme is for hardware.
    pub storage_bits: Option<u64>,
    /// Estimated gates of the trace module.
    pub gates: Option<u64>,
    /// Loads that were looked up.
    pub loads: Lookups,
    /// Stores that were looked up.
    pub stores: Lookups,
    /// Whether all references were recovered.
    pub verified: bool,
    /// The first reference that was not recovered.
    pub difference: Option<String>,
    /// Whether the execution was cut by the limit: the figures are of its start.
    pub cut: bool,
}

/// How often a scheme has looked something up in its tables, and found it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lookups {
    /// How often it has looked.
    pub count: u64,
    /// How often it has found it.
    pub hits: u64,
}

impl Lookups {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, hits: self.hits + other.hits }
    }
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
pub(super) fn measure(
    program: &Program,
    limit: u64,
    schemes: &[(Cow<'static, str>, DataScheme)],
    wanted: Wanted,
) -> Result<(Vec<DataFigures>, DataStatistics), ComparisonError> {
    let xlen = program.xlen();
    let mut statistics = DataStatistics::new(program.name(), xlen, wanted);
    let mut lanes: Vec<Lane> = schemes
        .iter()
        .map(|(name, scheme)| {
            let scheme = scheme.with_handlers(program.is_bare());
            let cost = scheme.cost(xlen.bits());
            let figures = DataFigures {
                program: program.name().into(),
                scheme: name.clone(),
                instructions: 0,
                references: 0,
                raw_bits: 0,
                bits: 0,
                bits_per_instruction: 0.0,
                storage_bits: cost.as_ref().map(Cost::bits),
                gates: cost.map(|cost| cost.gates().round() as u64),
                loads: Lookups::default(),
                stores: Lookups::default(),
                verified: false,
                difference: None,
                cut: false,
            };
            let coder = scheme.coder(xlen).map_err(ComparisonError::Data)?;
            Ok(Lane { figures, scheme, coder })
        })
        .collect::<Result<_, ComparisonError>>()?;
    let mut traces = vec![Bits::default(); lanes.len()];
    let exit = program.steps(
        limit,
        &mut Each(|step: &DataStep| {
            statistics.step(step);
            for (lane, out) in lanes.iter_mut().zip(&mut traces) {
                let lookup = lane.coder.encode(step, out);
                lane.figures.count(step, lookup);
                let raw = lane.scheme.raw_bits(step, xlen.bits());
                lane.figures.instructions += 1;
                lane.figures.references += u64::from(raw > 0);
                lane.figures.raw_bits += raw;
            }
        }),
    )?;
    program.succeeded(exit, &[])?;
    for lane in &mut lanes {
        lane.figures.cut = exit == Exit::Limit;
    }
    for (lane, out) in lanes.iter_mut().zip(&mut traces) {
        lane.coder.finish(out).map_err(ComparisonError::Data)?;
    }
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
    let figures = lanes.into_iter().zip(sources.into_iter().zip(&traces)).map(finish).collect();
    statistics.finish();
    Ok((figures, statistics))
}

impl DataFigures {
    fn count(&mut self, step: &DataStep, lookup: Lookup) {
        let Some(reference) = step.reference.filter(|_| lookup != Lookup::None) else { return };
        let side = if reference.is_load() { &mut self.loads } else { &mut self.stores };
        side.count += 1;
        side.hits += u64::from(lookup == Lookup::Hit);
    }
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
        sum.loads = sum.loads.and(one.loads);
        sum.stores = sum.stores.and(one.stores);
        sum.storage_bits = sum.storage_bits.max(one.storage_bits);
        sum.gates = sum.gates.max(one.gates);
        sum.verified &= one.verified;
        sum.cut |= one.cut;
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
        let count = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
        let verdict = verdict(one.difference.as_deref(), one.cut);
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
            count(one.storage_bits),
            count(one.gates),
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
