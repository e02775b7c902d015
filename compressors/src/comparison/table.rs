//! Figures as text and as JSON.

use super::experiment::published;
use super::figures::{per_instruction, verdict};
use super::{Characteristics, Comparison, DataFigures, Figures, IsaFigures};
use crate::{Cost, Measured, Scheme};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// All programs as one: total bits divided by total instructions.
fn mean(figures: &[Figures], scheme: &Scheme) -> Option<Figures> {
    let name = scheme.to_string();
    let mut own = figures.iter().filter(|figures| figures.scheme == name);
    let mut sum = own.next()?.clone();
    sum.program = "mean".into();
    for other in own {
        sum.instructions += other.instructions;
        sum.bits += other.bits;
        sum.exact_bits += other.exact_bits;
        sum.framed_bits += other.framed_bits;
        sum.storage_bits = sum.storage_bits.max(other.storage_bits);
        sum.gates = sum.gates.max(other.gates);
        sum.verified &= other.verified;
        sum.cut |= other.cut;
        sum.difference = sum.difference.or(other.difference.clone());
        sum.xlen = sum.xlen.max(other.xlen);
        sum.records.iter_mut().zip(&other.records).for_each(|(sum, other)| {
            sum.streams += other.streams;
            sum.bits += other.bits;
        });
    }
    sum.bits_per_instruction = per_instruction(sum.bits, sum.instructions);
    Some(sum)
}

/// The ratio of uncompressed addresses, in each program's own width, to what was sent.
fn own_ratio(figures: &[Figures], scheme: &str) -> f64 {
    let own = figures.iter().filter(|figures| figures.scheme == scheme);
    let (raw, bits) = own.fold((0.0, 0), |(raw, bits), one| {
        (raw + one.instructions as f64 * f64::from(one.xlen), bits + one.bits)
    });
    raw / bits.max(1) as f64
}

impl Comparison {
    /// The sum of all programs, per scheme.
    pub(super) fn means(&self) -> impl Iterator<Item = Figures> {
        self.schemes.iter().filter_map(|scheme| mean(&self.figures, scheme))
    }

    /// The width of addresses that costs are for: the largest.
    fn xlen(&self) -> u32 {
        self.figures.iter().map(|one| one.xlen).max().unwrap_or(64)
    }

    pub(super) fn print_schemes(&self, out: &mut impl Write, brief: bool) -> io::Result<()> {
        let Self { schemes, figures, .. } = self;
        let scheme_width = schemes.iter().map(|scheme| scheme.to_string().len()).max().unwrap_or(0);
        writeln!(
            out,
            "{:15} {:scheme_width$} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  verified",
            "program",
            "scheme",
            "instructions",
            "bits/insn",
            "exact",
            "in frames",
            "of 32",
            "of XLEN",
            "rate",
            "storage",
            "gates"
        )?;
        let mut row = |row: &Figures, own_ratio: f64| {
            let count = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
            let verdict = verdict(row.difference.as_deref(), row.cut);
            writeln!(
                out,
                "{:15} {:scheme_width$} {:>12} {:>9.4} {:>9.4} {:>9.4} {:>9.1} {:>9.1} {:>8.3}% {:>9} {:>9}  {verdict}",
                row.program,
                row.scheme,
                row.instructions,
                row.bits_per_instruction,
                row.exact(),
                row.framed(),
                row.ratio(32),
                own_ratio,
                100.0 * row.rate(),
                count(row.storage_bits),
                count(row.gates),
            )
        };
        if !brief {
            for one in figures {
                row(one, one.ratio(one.xlen))?;
            }
        }
        match &self.suite {
            Some(suite) if !suite.mean => {
                writeln!(out, "no mean: each of these programs is a corner case")?;
            }
            _ => {
                for sum in self.means() {
                    row(&sum, own_ratio(figures, &sum.scheme))?;
                }
            }
        }
        writeln!(out)?;
        for line in self.notes() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Notes that a reader needs to compare the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let Self { schemes, figures, options, .. } = self;
        let mut lines = vec![
            "bits/insn: output of a scheme, without framing; E-Trace has whole bytes, and exact has them to the bit; in frames: in \
             packets of the standard encapsulation."
                .into(),
            "of 32, of XLEN: uncompressed addresses of that width over bits; rate: 1 - bytes * 8 / \
             (instructions * 32)."
                .into(),
            "mean: all bits over all instructions. verified: decompressed = executed, first to last."
                .into(),
            "storage: bits of memory in the trace module; gates: by the source's constants, an estimate. Both count the same for \
             all: input, queue, tables, valid bits, order, registers, counters, output buffer; gates also 664 for control."
                .into(),
        ];
        lines.push(match options.sync_every {
            Some(every) => format!(
                "Synchronisation: after every {every} instructions tables are emptied and addresses sent whole \
                 (E-Trace: at the end of that block, and at every trap as well)."
            ),
            None => "Synchronisation: only at the start, for all schemes; E-Trace too.".into(),
        });
        lines.push(
            "Traps: every scheme sends where the handler is. Jumps through a register that the instruction before \
             has loaded are inferred by E-Trace+sij only."
                .into(),
        );
        let xlen = self.xlen();
        for (scheme, measured) in
            schemes.iter().filter_map(|scheme| Some((scheme, scheme.measured(xlen)?)))
        {
            let Measured { config, lut, lut_ram, ff } = measured;
            lines.push(format!(
                "{scheme}: {lut} LUT, {lut_ram} of them memory, and {ff} FF in our hardware, configuration {config} (docs/area.md)."
            ));
        }
        let mut said: Vec<(&str, Vec<String>)> = Vec::new();
        for scheme in schemes {
            if let Some(note) = scheme.family().note {
                match said.iter_mut().find(|(other, _)| *other == note) {
                    Some((_, names)) => names.push(scheme.to_string()),
                    None => said.push((note, vec![scheme.to_string()])),
                }
            }
            let (name, mut missing) = (scheme.to_string(), Vec::new());
            for program in programs(figures) {
                if !figures.iter().any(|one| one.scheme == name && one.program == program) {
                    missing.push(program);
                }
            }
            if !missing.is_empty() {
                let missing = missing.join(", ");
                lines.push(format!("{name}: not for {missing}, whose trap vectors are not known."));
            }
        }
        lines.extend(said.into_iter().map(|(note, names)| {
            let others = names.len() - 1;
            let first = names.into_iter().next().unwrap_or_default();
            let more =
                if others > 0 { format!(" and {others} more of its kind") } else { String::new() };
            format!("{first}{more}: {note}.")
        }));
        lines
    }

    /// Returns everything as one JSON object; keys are stable.
    ///
    /// # Errors
    ///
    /// If a figure is not a number.
    pub fn json(&self) -> io::Result<String> {
        let has_mean = self.suite.as_ref().is_none_or(|suite| suite.mean);
        let means = self.means().filter(|_| has_mean);
        let mean = means.map(|sum| (sum.scheme, sum.bits_per_instruction)).collect();
        let isas = self.isas.as_ref().map(|isas| isas.rows.as_slice());
        let suite = self.suite.as_ref().map(|suite| SuiteMeans {
            name: &suite.name,
            by_programs: self.equal_weights(),
            by_weights: self.by_weights(),
            published: self
                .means()
                .map(|sum| (sum.scheme.clone(), published(&sum.scheme)))
                .collect(),
        });
        let data = self.data.as_deref();
        let programs = &self.programs;
        let xlen = self.xlen();
        let cost = |scheme: &Scheme| {
            let (parts, measured) = (scheme.cost(xlen)?, scheme.measured(xlen));
            let gates = parts.gates();
            let bits = parts.bits();
            Some(SchemeCost { scheme: scheme.to_string(), xlen, bits, gates, parts, measured })
        };
        let costs = self.schemes.iter().filter_map(cost).collect();
        let document = Document { rows: &self.figures, programs, mean, suite, costs, data, isas };
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}

/// The names of the programs, in order.
pub(super) fn programs(figures: &[Figures]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for one in figures {
        if !names.contains(&one.program.as_str()) {
            names.push(&one.program);
        }
    }
    names
}

#[derive(Serialize)]
struct Document<'a> {
    rows: &'a [Figures],
    programs: &'a [Characteristics],
    mean: BTreeMap<String, f64>,
    /// Present if the programs are those of a suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteMeans<'a>>,
    /// What the schemes cost, part by part.
    costs: Vec<SchemeCost>,
    /// Present if data traces were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a [DataFigures]>,
    /// Present if Arm programs were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    isas: Option<&'a [IsaFigures]>,
}

#[derive(Serialize)]
struct SuiteMeans<'a> {
    name: &'a str,
    by_programs: BTreeMap<String, f64>,
    /// Of the programs that have a weight.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    by_weights: BTreeMap<String, f64>,
    published: BTreeMap<String, Option<f64>>,
}

#[derive(Serialize)]
struct SchemeCost {
    scheme: String,
    xlen: u32,
    bits: u64,
    gates: f64,
    parts: Cost,
    /// Present if our own hardware for it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}
