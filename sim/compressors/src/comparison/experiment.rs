//! Tables of the source, measured again.

use super::figures::per_instruction;
use super::table::programs;
use super::{Comparison, ComparisonError};
use crate::{Scheme, UnknownScheme};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A table or figure of the source whose columns are schemes.
#[derive(Debug, PartialEq)]
pub struct Experiment {
    /// Its number.
    pub table: &'static str,
    page: u32,
    what: &'static str,
    value: Value,
    /// Schemes, and the published mean.
    columns: &'static [(&'static str, f64)],
}

/// What a table is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Value {
    /// Bits per instruction.
    Bits,
    /// Uncompressed addresses of 32 bits over bits.
    Ratio,
    /// Gates for addresses of 32 bits. They depend on no program.
    Gates,
    /// Bits of a data trace per instruction.
    DataBits,
    /// Uncompressed data over bits.
    DataRatio,
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

/// The tables that can be measured. Means are as printed: of the instruction traces weighted by instructions, of data by references
/// or loads.
const EXPERIMENTS: [Experiment; 13] = [
    Experiment {
        table: "4.3",
        page: 58,
        what: "bDMTF(128,X): size of the second list",
        value: Value::Bits,
        columns: &[("bDMTF(128,4)", 0.176), ("bDMTF(128,8)", 0.183), ("bDMTF(128,16)", 0.190)],
    },
    Experiment {
        table: "4.4",
        page: 63,
        what: "variants of DMTF: compression ratio",
        value: Value::Ratio,
        columns: &[
            ("bDMTF(192,4)", 242.5),
            ("hDMTF(192,4)", 239.5),
            ("eDMTF(192,4)", 268.1),
            ("bDMTF(64,4)", 143.1),
            ("hDMTF(64,4)", 153.1),
            ("eDMTF(64,4)", 165.1),
        ],
    },
    Experiment {
        table: "4.7",
        page: 77,
        what: "bSDC-LSP by number of entries",
        value: Value::Bits,
        columns: &[
            ("bSDC-32", 0.426),
            ("bSDC-64", 0.272),
            ("bSDC-128", 0.174),
            ("bSDC-256", 0.142),
            ("bSDC-512", 0.136),
            ("bSDC-1024", 0.135),
        ],
    },
    Experiment {
        table: "4.10",
        page: 84,
        what: "eSDC-LSP by number of entries",
        value: Value::Bits,
        columns: &[
            ("eSDC-32", 0.349),
            ("eSDC-64", 0.230),
            ("eSDC-128", 0.146),
            ("eSDC-256", 0.120),
            ("eSDC-512", 0.114),
            ("eSDC-1024", 0.114),
        ],
    },
    Experiment {
        table: "4.11",
        page: 85,
        what: "rSDC-LSP by number of entries",
        value: Value::Bits,
        columns: &[
            ("rSDC-32", 0.359),
            ("rSDC-64", 0.235),
            ("rSDC-128", 0.150),
            ("rSDC-256", 0.123),
            ("rSDC-512", 0.117),
            ("rSDC-1024", 0.117),
        ],
    },
    Experiment {
        table: "4.13",
        page: 100,
        what: "TMBP by size of the target buffer",
        value: Value::Bits,
        columns: &[("tTMBP", 0.076), ("sTMBP", 0.047), ("bTMBP", 0.036)],
    },
    Experiment {
        table: "4.14",
        page: 103,
        what: "all schemes; gzip at its default level",
        value: Value::Bits,
        columns: &[
            ("BASE", 1.055),
            ("NEXS", 0.907),
            ("HWLZ-256", 0.446),
            ("HWLZ-1024", 0.233),
            ("eDMTF(64,4)", 0.194),
            ("eDMTF(192,4)", 0.119),
            ("bSDC-128", 0.174),
            ("eSDC-128", 0.146),
            ("rSDC-128", 0.150),
            ("tTMBP", 0.076),
            ("sTMBP", 0.047),
            ("bTMBP", 0.036),
            ("gzip-6", 0.031),
        ],
    },
    Experiment {
        table: "4.16",
        page: 87,
        what: "gates of SDC-LSP (figure)",
        value: Value::Gates,
        columns: &[
            ("bSDC-128", 8_311.0),
            ("eSDC-128", 8_311.0),
            ("rSDC-128", 6_061.0),
            ("rSDC-256", 11_900.0),
        ],
    },
    Experiment {
        table: "4.23",
        page: 105,
        what: "gates of all schemes (figure)",
        value: Value::Gates,
        columns: &[
            ("HWLZ-256", 50_000.0),
            ("eDMTF(64,4)", 8_200.0),
            ("eDMTF(192,4)", 24_600.0),
            ("rSDC-128", 6_061.0),
            ("tTMBP", 2_800.0),
            ("sTMBP", 4_000.0),
            ("bTMBP", 5_200.0),
        ],
    },
    Experiment {
        table: "5.6",
        page: 123,
        what: "addresses of loads and stores after register validation",
        value: Value::DataBits,
        columns: &[("DAF", 3.566)],
    },
    Experiment {
        table: "5.10",
        page: 138,
        what: "compression ratio of data addresses",
        value: Value::DataRatio,
        columns: &[("DAF", 3.56), ("ADAC-16x4", 3.25), ("ADAC-128x4", 5.593), ("NEXS-DA", 1.59)],
    },
    Experiment {
        table: "6.7",
        page: 156,
        what: "loaded values by size of the cache: 8 and 64 KB",
        value: Value::DataBits,
        columns: &[("FAT-8K", 1.22), ("FAT-64K", 0.51)],
    },
    Experiment {
        table: "6.8",
        page: 160,
        what: "compression ratio of loaded values",
        value: Value::DataRatio,
        columns: &[("FAT-8K", 6.69), ("FAT-64K", 17.20)],
    },
];

/// Tables that are not measured, and why.
const OTHERS: [(&str, &str); 9] = [
    ("4.1", "characteristics of programs: below the table of every --suite"),
    ("4.2, 4.6, 4.8, 4.9", "hit rates and shares of records: schemes do not report them"),
    ("4.5, 4.12, 5.9", "formats of records"),
    ("5.1", "an example"),
    ("5.2 to 5.5", "forms of addresses that only Arm has"),
    ("5.7, 5.8", "histories with a fixed number of sent bits: no scheme here"),
    ("6.1 to 6.4", "entropies and sizes of values: no scheme here"),
    ("6.5", "an example"),
    ("6.6", "hit rates of flags: schemes do not report them"),
];

/// The published mean bits per instruction of a scheme, if table 4.14 has it.
pub(super) fn published(scheme: &str) -> Option<f64> {
    let all = EXPERIMENTS.iter().filter(|one| one.table == "4.14");
    all.flat_map(|one| one.columns).find(|(name, _)| *name == scheme).map(|(_, mean)| *mean)
}

impl Experiment {
    /// Finds a table by its number.
    ///
    /// # Errors
    ///
    /// If it is not one that can be measured.
    pub fn find(table: &str) -> Result<&'static Self, ComparisonError> {
        EXPERIMENTS.iter().find(|one| one.table == table).ok_or_else(|| {
            let known = EXPERIMENTS.map(|one| one.table).join(", ");
            ComparisonError::Table(format!("there is no table {table} here, only {known}"))
        })
    }

    /// Returns what there is, and what there is not.
    pub fn list() -> String {
        let mut text = String::from("tables of the source that --table measures:\n");
        for Self { table, page, what, .. } in &EXPERIMENTS {
            _ = writeln!(text, "{table:5} p. {page:3}  {what}");
        }
        text.push_str("\nnot measured:\n");
        for (tables, why) in OTHERS {
            _ = writeln!(text, "{tables}: {why}");
        }
        text
    }

    /// Returns whether it is about data traces.
    pub fn is_of_data(&self) -> bool {
        matches!(self.value, Value::DataBits | Value::DataRatio)
    }

    /// Returns the schemes to measure; none for a table about data or gates.
    ///
    /// # Errors
    ///
    /// If the name of a scheme is wrong.
    pub fn schemes(&self) -> Result<Vec<Scheme>, ComparisonError> {
        let measured = matches!(self.value, Value::Bits | Value::Ratio);
        let names = self.columns.iter().filter(|_| measured);
        Ok(names.map(|(name, _)| name.parse()).collect::<Result<_, UnknownScheme>>()?)
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
        let rows = self.rows(comparison);
        match format {
            TableFormat::Text => self.text(&rows, out),
            TableFormat::Csv => {
                let names = self.columns.iter().map(|(name, _)| format!("\"{name}\""));
                writeln!(out, "program,{}", names.collect::<Vec<_>>().join(","))?;
                for Row { program, values } in &rows {
                    let cells = values.iter().map(|value| value.map_or(String::new(), short));
                    writeln!(out, "{program},{}", cells.collect::<Vec<_>>().join(","))?;
                }
                Ok(())
            }
            TableFormat::Json => {
                let columns = self.columns.iter().map(|(name, _)| *name).collect();
                let Self { table, page, what, value, .. } = *self;
                let document = Document { table, page, what, unit: value.unit(), columns, rows };
                writeln!(out, "{}", serde_json::to_string_pretty(&document)?)
            }
            TableFormat::Latex => self.latex(&rows, out),
        }
    }

    /// Programs, their mean if it says anything, and the published mean.
    fn rows(&self, comparison: &Comparison) -> Vec<Row> {
        let mut rows = Vec::new();
        let has_mean = comparison.suite.as_ref().is_none_or(|suite| suite.mean);
        let mut push = |program: &str, value: &dyn Fn(&str) -> Option<f64>| {
            let values = self.columns.iter().map(|(name, _)| value(name)).collect();
            rows.push(Row { program: program.into(), values });
        };
        match self.value {
            Value::Gates => {
                let gates = |name: &str| Some(name.parse::<Scheme>().ok()?.cost(32)?.gates());
                push("all parts", &gates);
            }
            Value::Bits | Value::Ratio => {
                let figures = &comparison.figures;
                let value = |of: Option<&str>, scheme: &str| {
                    let own = figures.iter().filter(|one| {
                        one.scheme == scheme && of.is_none_or(|program| one.program == program)
                    });
                    let (bits, count) =
                        own.fold((0, 0), |(a, b), one| (a + one.bits, b + one.instructions));
                    self.value.of(bits, 32 * count, count)
                };
                for program in programs(figures) {
                    push(program, &|scheme| value(Some(program), scheme));
                }
                if has_mean {
                    push("mean", &|scheme| value(None, scheme));
                }
            }
            Value::DataBits | Value::DataRatio => {
                let figures = comparison.data.as_deref().unwrap_or_default();
                let value = |of: Option<&str>, scheme: &str| {
                    let own = figures.iter().filter(|one| {
                        one.scheme == scheme && of.is_none_or(|program| one.program == program)
                    });
                    let (bits, raw, count) = own.fold((0, 0, 0), |(a, b, c), one| {
                        (a + one.bits, b + one.raw_bits, c + one.instructions)
                    });
                    self.value.of(bits, raw, count)
                };
                let mut names: Vec<&str> = Vec::new();
                for one in figures {
                    if !names.contains(&one.program.as_str()) {
                        names.push(&one.program);
                    }
                }
                for program in names {
                    push(program, &|scheme| value(Some(program), scheme));
                }
                if has_mean {
                    push("mean", &|scheme| value(None, scheme));
                }
            }
        }
        let published = |name: &str| {
            self.columns.iter().find(|(other, _)| *other == name).map(|(_, mean)| *mean)
        };
        push("published", &published);
        rows
    }

    fn text(&self, rows: &[Row], out: &mut impl Write) -> io::Result<()> {
        let Self { table, page, what, value, .. } = self;
        writeln!(out, "table {table} of the source, p. {page}: {what}; {}", value.unit())?;
        let width = |name: &str| name.len().max(9);
        write!(out, "{:15}", "program")?;
        for (name, _) in self.columns {
            write!(out, " {name:>width$}", width = width(name))?;
        }
        writeln!(out)?;
        for Row { program, values } in rows {
            write!(out, "{program:15}")?;
            for (value, (name, _)) in values.iter().zip(self.columns) {
                let cell = value.map_or("-".into(), short);
                write!(out, " {cell:>width$}", width = width(name))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "\nmean: all bits over all instructions, or uncompressed over compressed. published: of 17 programs of MiBench for Arm \
             (Uzelac 2010), other programs and another instruction set."
        )
    }

    fn latex(&self, rows: &[Row], out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\\begin{{tabular}}{{l{}}}", "r".repeat(self.columns.len()))?;
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        writeln!(out, "program & {} \\\\ \\hline", names.join(" & "))?;
        for Row { program, values } in rows {
            let cells = values.iter().map(|value| value.map_or("--".into(), short));
            // Of the characters that programs have in their names, only these are special.
            let program = program.replace('_', "\\_").replace('&', "\\&");
            writeln!(out, "{program} & {} \\\\", cells.collect::<Vec<_>>().join(" & "))?;
        }
        writeln!(out, "\\end{{tabular}}")
    }
}

impl Value {
    fn unit(self) -> &'static str {
        match self {
            Self::Bits | Self::DataBits => "bits per instruction",
            Self::Ratio => "addresses of 32 bits over bits",
            Self::Gates => "gates, addresses of 32 bits",
            Self::DataRatio => "uncompressed over compressed",
        }
    }

    /// The figure; `None` if there is nothing to divide by.
    fn of(self, bits: u64, raw: u64, instructions: u64) -> Option<f64> {
        match self {
            Self::Bits | Self::DataBits => {
                (instructions > 0).then(|| per_instruction(bits, instructions))
            }
            _ => (bits > 0).then(|| raw as f64 / bits as f64),
        }
    }
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
struct Document {
    table: &'static str,
    page: u32,
    what: &'static str,
    unit: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataScheme;
    use crate::comparison::{Options, Suite, SuiteProgram};

    fn printed(table: &str, format: TableFormat) -> String {
        let mut suite = Suite::corner_cases();
        suite.mean = true;
        printed_of(suite, table, format)
    }

    fn printed_of(mut suite: Suite, table: &str, format: TableFormat) -> String {
        let experiment = Experiment::find(table).unwrap();
        suite.programs.retain(|program| ["sort", "calls"].contains(&&program.name[..]));
        let comparison = Comparison::new(experiment.schemes().unwrap(), Options::default());
        let mut comparison = comparison.of(Some(&suite));
        let open = |program: &SuiteProgram| program.workload(None, 20_000);
        comparison.measure::<_, ComparisonError>(&suite.programs, open, || ()).unwrap();
        if experiment.is_of_data() {
            let open = |program: &SuiteProgram| Ok(Some((program.program()?, 20_000)));
            comparison.measure_data::<_, ComparisonError>(&suite.programs, open, || ()).unwrap();
        }
        let mut text = Vec::new();
        experiment.print(&comparison, format, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Every column is a scheme, and means that stand in two tables are the same.
    #[test]
    fn columns_are_schemes() {
        for experiment in &EXPERIMENTS {
            for (name, mean) in experiment.columns {
                match experiment.is_of_data() {
                    true => assert!(DataScheme::defaults().iter().any(|(other, _)| other == name)),
                    false => assert_eq!(name.parse::<Scheme>().unwrap().to_string(), *name),
                }
                if let (Some(other), Value::Bits) = (published(name), experiment.value) {
                    // The text and table 4.14 round differently.
                    assert!((other - mean).abs() < 0.0011, "{}: {name}", experiment.table);
                }
            }
        }
    }

    #[test]
    fn tables_have_programs_mean_and_published() {
        let text = printed("4.13", TableFormat::Text);
        let heads: Vec<&str> =
            text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(heads[..6], ["table", "program", "calls", "sort", "mean", "published"]);
        let corner_cases = printed_of(Suite::corner_cases(), "4.13", TableFormat::Csv);
        assert!(corner_cases.contains("\nsort,") && !corner_cases.contains("\nmean,"));
        let csv = printed("4.3", TableFormat::Csv);
        assert!(csv.ends_with("published,0.176,0.183,0.190\n"), "{csv}");
        let json: serde_json::Value =
            serde_json::from_str(&printed("5.10", TableFormat::Json)).unwrap();
        assert_eq!((&json["page"], &json["rows"][3]["values"][0]), (&138.into(), &3.56.into()));
        let latex = printed("6.7", TableFormat::Latex);
        assert!(latex.contains("FAT-8K & FAT-64K \\\\ \\hline"), "{latex}");
        let gates = printed("4.16", TableFormat::Text);
        assert!(gates.contains("all parts") && gates.contains("11900"), "{gates}");
        let unknown = Experiment::find("4.2").unwrap_err().to_string();
        assert!(unknown.contains("4.14"), "{unknown}");
        assert!(Experiment::list().contains("5.2 to 5.5: "));
    }

    /// The mean is of all bits over all instructions, not of the programs' figures.
    #[test]
    fn means_are_weighted() {
        assert_eq!(Value::Bits.of(10, 0, 40), Some(0.25));
        assert_eq!(Value::Ratio.of(10, 320, 10), Some(32.0));
        assert_eq!(Value::DataRatio.of(0, 320, 10), None);
        assert_eq!(Value::DataBits.of(0, 0, 0), None);
        assert_eq!([0.05, 24.26, 8311.0].map(short), ["0.050", "24.3", "8311"]);
    }
}
