//! A self-contained page with plots.

use super::experiment::published;
use super::plots::{self, Axis, Bar};
use super::table::programs;
use super::{Comparison, ComparisonError, Figures, Isas};
use crate::Family;
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

/// Whether everything was recovered.
fn yes(verified: bool, cut: bool) -> &'static str {
    match (verified, cut) {
        (false, _) => "NO",
        (true, true) => "yes, up to the limit",
        (true, false) => "yes",
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
            yes(row.verified, row.cut),
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

/// Which of the two plots is shown, and how tables are sorted. Without scripts the tables stay in their order.
const STYLE: &str = "<style>\n.axes:has(#by-gates:checked) .storage, .axes:has(#by-storage:checked) .gates { display: none; }\n\
                     .axes label { margin-right: 1.2rem; }\n</style>\n";
const SCRIPT: &str = include_str!("sort.js");

fn compressors(page: &mut String, comparison: &Comparison) -> Result<(), ComparisonError> {
    page.push_str(STYLE);
    let means: Vec<Figures> = comparison.means().collect();
    let has_mean = comparison.suite.as_ref().is_none_or(|suite| suite.mean);
    section(page, &title(comparison), &chart(comparison)?)?;
    if has_mean {
        writeln!(
            page,
            "<section class=\"plot axes\"><h2>Bits per instruction and cost</h2>\n<p><label><input type=\"radio\" name=\"axis\" \
             id=\"by-gates\" checked> gates (estimate)</label><label><input type=\"radio\" name=\"axis\" id=\"by-storage\"> \
             bits of memory</label></p>\n<div class=\"gates\">{}</div>\n<div class=\"storage\">{}</div>\n<p>The staircase: nothing here \
             is both cheaper and shorter. Dashed: software, which no trace module can afford. Lines connect sizes of one scheme.</p>",
            plots::pareto(&means, Axis::Gates)?,
            plots::pareto(&means, Axis::Storage)?,
        )
        .map_err(failed)?;
        notes(page, comparison.notes())?;
        page.push_str("</section>\n");
    }
    let rows = if has_mean { &means } else { &comparison.figures };
    table(page, comparison, rows, has_mean)?;
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
    writeln!(page, "<script>\n{SCRIPT}</script>").map_err(failed)
}

fn title(comparison: &Comparison) -> String {
    match &comparison.suite {
        Some(suite) => escaped(&suite.name),
        None => "All programs".into(),
    }
}

/// All programs in some schemes.
fn chart(comparison: &Comparison) -> Result<String, ComparisonError> {
    let all: Vec<String> = comparison.schemes.iter().map(ToString::to_string).collect();
    let charted: Vec<_> = Family::all().iter().flat_map(|family| family.charted).copied().collect();
    let few = all.len() <= charted.len();
    let schemes: Vec<&str> =
        all.iter().map(String::as_str).filter(|name| few || charted.contains(name)).collect();
    let figures = &comparison.figures;
    let of = |program: &str, scheme: &&str| {
        let own = |one: &&Figures| one.program == program && one.scheme == **scheme;
        figures.iter().find(own).map(|one| one.bits_per_instruction)
    };
    let groups: Vec<_> = programs(figures)
        .into_iter()
        .map(|program| (program, schemes.iter().map(|scheme| of(program, scheme)).collect()))
        .collect();
    plots::groups(&schemes, &groups)
}

/// The means, or where they say nothing, all rows.
fn table(
    page: &mut String,
    comparison: &Comparison,
    rows: &[Figures],
    has_mean: bool,
) -> Result<(), ComparisonError> {
    let title = if has_mean { "Mean of all programs" } else { "All programs" };
    writeln!(
        page,
        "<section><h2>{title}</h2>\n<div class=\"scroll\"><table class=\"sortable\"><thead><tr>"
    )
    .map_err(failed)?;
    let heads = [
        "program",
        "scheme",
        "bits/instruction",
        "exact",
        "in frames",
        "published",
        "of 32 bits",
        "storage, bits",
        "gates",
        "verified",
    ];
    for head in heads.iter().skip(usize::from(has_mean)) {
        writeln!(page, "<th><button type=\"button\">{head}</button></th>").map_err(failed)?;
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let count = |value: Option<u64>| value.map_or("–".into(), |value| value.to_string());
        let published = published(&row.scheme).map_or("–".into(), |mean| format!("{mean:.3}"));
        let program = match has_mean {
            true => String::new(),
            false => format!("<td>{}</td>", escaped(&row.program)),
        };
        writeln!(
            page,
            "<tr>{program}<td>{}</td><td>{:.4}</td><td>{:.4}</td><td>{:.4}</td><td>{published}</td><td>{:.1}</td><td>{}</td><td>{}</td>\
             <td>{}</td></tr>",
            escaped(&row.scheme),
            row.bits_per_instruction,
            row.exact(),
            row.framed(),
            row.ratio(32),
            count(row.storage_bits),
            count(row.gates),
            yes(row.verified, row.cut),
        )
        .map_err(failed)?;
    }
    page.push_str("</tbody></table></div>\n<p>A heading sorts. published: the mean of 17 programs of MiBench for Arm (Uzelac 2010, table 4.14).</p>\n");
    if !has_mean {
        notes(page, comparison.notes())?;
    }
    page.push_str("</section>\n");
    Ok(())
}

/// Escapes text so that it is not read as tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
