//! A self-contained page with plots.

use super::plots::{self, Axis, Bar};
use super::table::programs;
use super::{Comparison, ComparisonError, Figures, Isas};
use hartrace_report::html::head;
use std::fmt::{self, Write};

impl Comparison {
    /// Returns a self-contained page with tables and plots.
    ///
    /// # Errors
    ///
    /// If a plot cannot be drawn.
    pub fn page(&self) -> Result<String, ComparisonError> {
        let mut page = head("Trace compressors");
        page.push_str("<main>\n");
        // With Arm programs alone there is nothing to compress.
        if !self.figures.is_empty() {
            compressors(&mut page, self)?;
        }
        if let Some(isas) = &self.isas {
            instruction_sets(&mut page, isas)?;
        }
        page.push_str("</main>\n</body>\n</html>\n");
        Ok(page)
    }
}

fn failed(error: fmt::Error) -> ComparisonError {
    ComparisonError::Draw(error.to_string())
}

/// ETMv4 and PTM next to E-Trace: one plot of bits per program, since only those can be compared.
fn instruction_sets(page: &mut String, isas: &Isas) -> Result<(), ComparisonError> {
    page.push_str(
        "<section><h2>Instruction sets</h2>\n<div class=\"scroll\"><table><tr><th>program</th><th>ISA</th><th>scheme</th>\
         <th>instructions</th><th>bits</th><th>bits/instruction</th><th>in frames</th>\
         <th>verified</th></tr>\n",
    );
    for row in isas.rows.iter().chain(&isas.means()) {
        writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4}</td><td>{:.4}</td>\
             <td>{}</td></tr>",
            escaped(&row.program),
            row.isa,
            escaped(&row.scheme),
            row.instructions,
            row.bits,
            row.bits_per_instruction,
            row.framed(),
            if row.verified { "yes" } else { "NO" },
        )
        .map_err(failed)?;
    }
    page.push_str("</table></div>\n");
    notes(page, isas.notes())?;
    page.push_str("</section>\n");
    let mut programs: Vec<&str> = isas.rows.iter().map(|row| row.program.as_str()).collect();
    programs.sort_unstable();
    programs.dedup();
    for program in programs {
        let own = isas.rows.iter().filter(|row| row.program == program);
        let bars: Vec<Bar> = own
            .map(|row| Bar {
                name: format!("{} {}", row.isa, row.scheme),
                scheme: row.scheme.clone(),
                value: row.bits as f64,
            })
            .collect();
        let plot = plots::bars(&bars, "bits", 0)?;
        section(page, &format!("{}, by instruction set", escaped(program)), &plot)?;
    }
    Ok(())
}

/// A plot with its title.
fn section(page: &mut String, title: &str, plot: &str) -> Result<(), ComparisonError> {
    writeln!(page, "<section class=\"plot\"><h2>{title}</h2>\n{plot}</section>").map_err(failed)
}

fn notes(
    page: &mut String,
    notes: impl IntoIterator<Item = String>,
) -> Result<(), ComparisonError> {
    page.push_str("<ul>\n");
    for note in notes {
        writeln!(page, "<li>{}</li>", escaped(&note)).map_err(failed)?;
    }
    page.push_str("</ul>\n");
    Ok(())
}

fn compressors(page: &mut String, comparison: &Comparison) -> Result<(), ComparisonError> {
    let means: Vec<Figures> = comparison.means().collect();
    section(page, "Bits per instruction and gates", &plots::pareto(&means, Axis::Gates)?)?;
    section(page, "Bits per instruction and memory", &plots::pareto(&means, Axis::Storage)?)?;
    page.push_str(
        "<section><h2>Mean of all programs</h2>\n<div class=\"scroll\"><table><tr><th>scheme</th><th>bits/instruction</th>\
         <th>in frames</th><th>of 32 bits</th><th>storage, bits</th><th>gates</th><th>verified</th></tr>\n",
    );
    for mean in &means {
        let count = |value: Option<u64>| value.map_or("–".into(), |value| value.to_string());
        writeln!(
            page,
            "<tr><td>{}</td><td>{:.4}</td><td>{:.4}</td><td>{:.1}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&mean.scheme),
            mean.bits_per_instruction,
            mean.framed(),
            mean.ratio(32),
            count(mean.storage_bits),
            count(mean.gates),
            if mean.verified { "yes" } else { "NO" },
        )
        .map_err(failed)?;
    }
    page.push_str("</table></div>\n");
    notes(page, comparison.notes())?;
    page.push_str("</section>\n");
    for program in programs(&comparison.figures) {
        let own = comparison.figures.iter().filter(|one| one.program == program);
        let bars: Vec<Bar> = own
            .map(|one| Bar {
                name: one.scheme.clone(),
                scheme: one.scheme.clone(),
                value: one.bits_per_instruction,
            })
            .collect();
        let plot = plots::bars(&bars, "bits per instruction", 4)?;
        section(page, &escaped(program), &plot)?;
    }
    Ok(())
}

/// Escapes text so that it is not read as tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
