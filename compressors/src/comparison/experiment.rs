//! Tables of the source, measured again.

mod quantity;
mod tables;

use super::statistics::Wanted;
use super::table::programs;
use super::{Comparison, ComparisonError};
use crate::{DataScheme, Scheme, UnknownScheme};
use quantity::{Quantity, Quotient};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use tables::{DATA, INSTRUCTIONS, OTHERS, PUBLISHED};

/// A table or figure of the source.
#[derive(Debug)]
pub struct Experiment {
    /// Its number; a figure whose number a table has as well is `figure 5.5`.
    pub table: &'static str,
    /// The page, if the source has the table.
    page: Option<u32>,
    what: &'static str,
    unit: &'static str,
    columns: fn() -> Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// The published mean. Means are as printed: of the instruction traces weighted by instructions, of data by references or loads.
    published: Option<f64>,
    of: Quantity,
}

impl Column {
    fn new(name: &str, published: f64, of: Quantity) -> Self {
        Self { name: name.into(), published: Some(published), of }
    }

    fn unpublished(name: &str, of: Quantity) -> Self {
        Self { name: name.into(), published: None, of }
    }
}

/// How a table is written.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// For people.
    #[default]
    Text,
    /// Comma-separated values.
    Csv,
    /// One JSON object.
    Json,
    /// A `tabular` environment.
    Latex,
}

impl TableFormat {
    /// All formats, by name, with what they are.
    pub const NAMED: [(&'static str, Self, &'static str); 4] = [
        ("text", Self::Text, "for people"),
        ("csv", Self::Csv, "comma-separated values"),
        ("json", Self::Json, "one object"),
        ("latex", Self::Latex, "a tabular environment"),
    ];
}

/// The published mean bits per instruction of a scheme, if table 4.14 has it.
pub(super) fn published(scheme: &str) -> Option<f64> {
    PUBLISHED.iter().find(|(name, _)| *name == scheme).map(|(_, mean)| *mean)
}

/// All that can be measured.
fn all() -> impl Iterator<Item = &'static Experiment> {
    INSTRUCTIONS.iter().chain(DATA)
}

impl Experiment {
    /// Finds a table by its number.
    ///
    /// # Errors
    ///
    /// If it is not one that can be measured; the error says why, if the source has it.
    pub fn find(table: &str) -> Result<&'static Self, ComparisonError> {
        let table = table.trim();
        if let Some(found) = all().find(|one| one.table == table) {
            return Ok(found);
        }
        let reason = OTHERS.iter().find(|(_, tables, _)| tables.contains(&table));
        Err(ComparisonError::Table(match reason {
            Some((_, _, why)) => format!("{table} is not measured: {why}"),
            None => {
                let known: Vec<_> = all().map(|one| one.table).collect();
                format!("there is no table {table} here, only {}", known.join(", "))
            }
        }))
    }

    /// Returns what there is, and what there is not.
    pub fn list() -> String {
        let mut text = String::from("tables of the source that --table measures:\n");
        for Self { table, page, what, .. } in all() {
            let page = page.map_or("      ".into(), |page| format!("p. {page:3}"));
            _ = writeln!(text, "{table:10} {page}  {what}");
        }
        text.push_str("\nnot measured:\n");
        for (tables, _, why) in OTHERS {
            _ = writeln!(text, "{tables}: {why}");
        }
        text
    }

    /// Returns whether it is about data traces.
    pub fn is_of_data(&self) -> bool {
        DATA.iter().any(|one| one.table == self.table)
    }

    /// Returns whether it has properties of programs, so that they have to be executed even if there is no scheme.
    pub(super) fn is_of_programs(&self) -> bool {
        (self.columns)().iter().any(|column| column.of.is_of_programs())
    }

    /// Returns the schemes to measure; none for a table about data or gates.
    ///
    /// # Errors
    ///
    /// If the name of a scheme is wrong.
    pub fn schemes(&self) -> Result<Vec<Scheme>, ComparisonError> {
        let columns = (self.columns)();
        let names = without_copies(columns.iter().flat_map(|column| column.of.schemes()));
        let schemes = names.into_iter().map(str::parse).collect::<Result<_, UnknownScheme>>();
        Ok(schemes?)
    }

    /// The data schemes to measure, by name.
    pub(super) fn data_schemes(&self) -> Vec<(Cow<'static, str>, DataScheme)> {
        let columns = (self.columns)();
        let names = without_copies(columns.iter().flat_map(|column| column.of.data_schemes()));
        let named = |name: &str| Some((name.to_owned().into(), name.parse().ok()?));
        names.into_iter().filter_map(named).collect()
    }

    /// The statistics to count.
    pub(super) fn statistics(&self) -> Wanted {
        (self.columns)().iter().fold(Wanted::default(), |all, column| {
            let one = column.of.statistics();
            Wanted {
                histories: all.histories | one.histories,
                entropies: all.entropies | one.entropies,
                sizes: all.sizes | one.sizes,
            }
        })
    }

    /// Writes the table with the figures of a comparison of its schemes.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(
        &self,
        comparison: &Comparison,
        format: TableFormat,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let columns = (self.columns)();
        let rows = rows(&columns, comparison);
        let names: Vec<&str> = columns.iter().map(|column| &column.name[..]).collect();
        match format {
            TableFormat::Text => {
                self.text(&names, &rows, out)?;
                not_recovered(comparison, out)
            }
            TableFormat::Csv => {
                let quoted = names.iter().map(|name| format!("\"{name}\""));
                writeln!(out, "program,{}", quoted.collect::<Vec<_>>().join(","))?;
                for Row { program, values } in &rows {
                    let cells = values.iter().map(|value| value.map_or(String::new(), short));
                    writeln!(out, "{program},{}", cells.collect::<Vec<_>>().join(","))?;
                }
                Ok(())
            }
            TableFormat::Json => {
                let Self { table, page, what, unit, .. } = *self;
                let document = Document { table, page, what, unit, columns: names, rows };
                writeln!(out, "{}", serde_json::to_string_pretty(&document)?)
            }
            TableFormat::Latex => latex(&names, &rows, out),
        }
    }

    fn text(&self, names: &[&str], rows: &[Row], out: &mut impl Write) -> io::Result<()> {
        let Self { table, page, what, unit, .. } = self;
        let number = if table.starts_with(|c: char| c.is_ascii_digit()) { "table " } else { "" };
        let page = page.map_or(String::new(), |page| format!(", p. {page}"));
        writeln!(out, "{number}{table} of the source{page}: {what}; {unit}")?;
        let width = |name: &str| name.len().max(9);
        write!(out, "{:15}", "program")?;
        for name in names {
            write!(out, " {name:>width$}", width = width(name))?;
        }
        writeln!(out)?;
        for Row { program, values } in rows {
            write!(out, "{program:15}")?;
            for (value, name) in values.iter().zip(names) {
                let cell = value.map_or("-".into(), short);
                write!(out, " {cell:>width$}", width = width(name))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "\nmean: all bits over all instructions, or uncompressed over compressed; of rates and properties, weighted by instructions, \
             and of data by references or loads. published: of 17 programs of MiBench for Arm (Uzelac 2010), other programs and another \
             instruction set."
        )
    }
}

/// Names what was not recovered: its figures are of a trace that is of no use.
fn not_recovered(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let figures = comparison.figures.iter();
    let figures = figures.map(|one| (&one.program, &one.scheme[..], &one.difference));
    let data = comparison.data.iter().flatten();
    let data = data.map(|one| (&one.program, &one.scheme[..], &one.difference));
    for (program, scheme, difference) in figures.chain(data) {
        if let Some(difference) = difference {
            writeln!(out, "NOT recovered: {program} in {scheme}: {difference}")?;
        }
    }
    Ok(())
}

fn latex(names: &[&str], rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    // Of the characters in names of programs and columns, only these are special.
    let escaped = |text: &str| text.replace('_', "\\_").replace('&', "\\&").replace('%', "\\%");
    writeln!(out, "\\begin{{tabular}}{{l{}}}", "r".repeat(names.len()))?;
    let heads: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    writeln!(out, "program & {} \\\\ \\hline", heads.join(" & "))?;
    for Row { program, values } in rows {
        let cells = values.iter().map(|value| value.map_or("--".into(), short));
        writeln!(out, "{} & {} \\\\", escaped(program), cells.collect::<Vec<_>>().join(" & "))?;
    }
    writeln!(out, "\\end{{tabular}}")
}

/// Programs, their mean if it says anything, and the published mean.
fn rows(columns: &[Column], comparison: &Comparison) -> Vec<Row> {
    let row = |program: &str, value: &dyn Fn(&Column) -> Option<f64>| Row {
        program: program.into(),
        values: columns.iter().map(value).collect(),
    };
    let names = names(comparison);
    let value = |column: &Column, names: &[&str]| {
        Quotient::sum(names.iter().filter_map(|name| column.of.of(comparison, name)))
    };
    let mut rows: Vec<Row> =
        names.iter().map(|name| row(name, &|column| value(column, &[*name]))).collect();
    if !names.is_empty() && comparison.suite.as_ref().is_none_or(|suite| suite.mean) {
        rows.push(row("mean", &|column| value(column, &names)));
    }
    if columns.iter().any(|column| column.of.of_hardware().is_some()) {
        rows.push(row("all parts", &|column| column.of.of_hardware()));
    }
    if columns.iter().any(|column| column.published.is_some()) {
        rows.push(row("published", &|column| column.published));
    }
    rows
}

/// The programs that were measured, in order.
fn names(comparison: &Comparison) -> Vec<&str> {
    let data = comparison.data.as_deref().unwrap_or_default();
    without_copies(
        programs(&comparison.figures)
            .into_iter()
            .chain(comparison.programs.iter().map(|one| &one.program[..]))
            .chain(data.iter().map(|one| &one.program[..]))
            .chain(comparison.statistics.iter().map(|one| &one.program[..])),
    )
}

fn without_copies<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// A figure to three decimal places, or as a whole number if it is large.
fn short(value: f64) -> String {
    let places = if value >= 1000.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        3
    };
    format!("{value:.places$}")
}

#[derive(Serialize)]
struct Row {
    program: String,
    values: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Document<'a> {
    table: &'static str,
    page: Option<u32>,
    what: &'static str,
    unit: &'static str,
    columns: Vec<&'a str>,
    rows: Vec<Row>,
}

#[cfg(test)]
mod tests;
