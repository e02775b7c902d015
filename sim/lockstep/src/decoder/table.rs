use super::Comparison;
use serde_json::json;
use std::io::{self, Write};

/// Prints comparisons as a table, or as JSON.
#[derive(Debug)]
pub struct Table<W> {
    out: W,
    json: bool,
    rows: u64,
}

impl<W: Write> Table<W> {
    /// Starts without rows; if `json`, each row is an object on its own line.
    pub fn new(out: W, json: bool) -> Self {
        Self { out, json, rows: 0 }
    }

    /// Prints the comparison of a source, and the first difference.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&mut self, source: &str, unroll: u32, report: &Comparison) -> io::Result<()> {
        let Comparison { bytes, cycles, records, errors, differences, first } = report;
        let rate = report.rate();
        if self.json {
            let row = json!({
                "source": source, "unroll": unroll, "bytes": bytes, "cycles": cycles, "records": records,
                "errors": errors, "bytes_per_cycle": rate, "differences": differences, "first": first,
            });
            writeln!(self.out, "{row}")?;
        } else {
            if self.rows == 0 {
                writeln!(self.out, "unroll      bytes    records  errors  source")?;
            }
            writeln!(
                self.out,
                "{unroll:>6} {bytes:>10} {records:>10} {errors:>7}  {source}: bytes/cycle {rate:.3} \
                 differences {differences}"
            )?;
            if let Some(first) = first {
                writeln!(self.out, "        first difference: {first}")?;
            }
        }
        self.rows += 1;
        self.out.flush()
    }

    /// Ends the table.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
