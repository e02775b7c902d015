//! A page with plots, which needs nothing else.

use super::figures::Figures;
use super::{plots, table};
use crate::args::SchemesArgs;
use crate::failure::Failure;
use hartrace_compressors::Scheme;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:1120px;padding:0 1em}\
table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}";

/// The whole page.
pub(super) fn page(
    args: &SchemesArgs,
    figures: &[Figures],
    schemes: &[Scheme],
) -> Result<String, Failure> {
    let means: Vec<Figures> =
        schemes.iter().filter_map(|scheme| table::mean(figures, scheme)).collect();
    let mut page = String::new();
    write_page(&mut page, args, figures, schemes, &means)?;
    Ok(page)
}

fn write_page(
    page: &mut String,
    args: &SchemesArgs,
    figures: &[Figures],
    schemes: &[Scheme],
    means: &[Figures],
) -> Result<(), Failure> {
    let failed = |error: std::fmt::Error| Failure::input(error);
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Trace compressors</title>\
         <style>{STYLE}</style></head><body>\n<h1>Trace compressors</h1>\n<h2>Bits per instruction and \
         gates</h2>\n{}\n<h2>Mean of all programs</h2>\n<table><tr><th>scheme</th><th>bits/instruction</th>\
         <th>in frames</th><th>of 32 bits</th><th>storage, bits</th><th>gates</th><th>verified</th></tr>\n",
        plots::pareto(means)?
    )
    .map_err(failed)?;
    for mean in means {
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
    page.push_str("</table>\n<ul>\n");
    for note in table::notes(args, figures, schemes) {
        writeln!(page, "<li>{}</li>", escaped(&note)).map_err(failed)?;
    }
    page.push_str("</ul>\n");
    for program in table::programs(figures) {
        let own: Vec<&Figures> = figures.iter().filter(|one| one.program == program).collect();
        writeln!(page, "<h2>{}</h2>\n{}", escaped(program), plots::bars(&own)?).map_err(failed)?;
    }
    page.push_str("</body></html>\n");
    Ok(())
}

/// Text that is not taken for tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
