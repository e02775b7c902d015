//! Addresses of the registers.

use crate::registers::{Table, atb_bridge, c_header, encoder, markdown, ram_sink};
use crate::top::config::{Sink, TopConfig, TopError};
use std::fmt::Write;

/// The registers of one component, at the port of a top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its first address.
    pub address: u32,
    /// Its registers.
    pub table: Table,
}

/// Size of a page in bytes.
const PAGE: u32 = 0x1000;

/// The pages at the port, in order: one for each hart, then that of the sink, if it has
/// registers.
pub fn pages(config: &TopConfig) -> Result<Vec<Page>, TopError> {
    config.check()?;
    let table = encoder(&config.encoder_params())?;
    let mut pages = Vec::new();
    for hart in 0..config.harts {
        let title = format!("Trace encoder of hart {hart}");
        pages.push(Page { title, address: hart * PAGE, table: table.clone() });
    }
    let of_sink = match (config.sink, config.ram_sink_params()) {
        (Sink::Atb { .. }, _) => Some(atb_bridge()),
        (_, Some(params)) => Some(ram_sink(&params)?),
        _ => None,
    };
    if let Some(table) = of_sink {
        pages.push(Page { title: table.title.into(), address: config.harts * PAGE, table });
    }
    Ok(pages)
}

/// The tables of some pages, each one once.
fn tables(pages: &[Page]) -> Vec<&Table> {
    let mut tables: Vec<&Table> = pages.iter().map(|page| &page.table).collect();
    tables.dedup();
    tables
}

/// A manual of the registers, in Markdown.
pub fn manual(config: &TopConfig) -> Result<String, TopError> {
    let pages = pages(config)?;
    let mut out = markdown(&tables(&pages));
    out.push_str("\n## Pages\n\n| from | |\n| --- | --- |\n");
    for page in &pages {
        // Writing to a string never fails.
        let _ = writeln!(out, "| {:#07x} | {} |", page.address, page.title);
    }
    Ok(out)
}

/// A header in C: addresses of pages, offsets of registers in them, positions of fields, and, for a sink in
/// memory, the size of the words of which buffers consist.
pub fn header(config: &TopConfig) -> Result<String, TopError> {
    let pages = pages(config)?;
    let text = c_header(&tables(&pages));
    let open = text.trim_end().trim_end_matches("#endif");
    let mut out = format!("{open}/* --- Pages --- */\n\n");
    for (number, page) in pages.iter().enumerate() {
        let name = match number < config.harts as usize {
            true => format!("HARTRACE_HART{number}_PAGE"),
            false => "HARTRACE_SINK_PAGE".to_owned(),
        };
        let _ = writeln!(out, "#define {name} {:#07x}u /* {} */", page.address, page.title);
    }
    if let Some(params) = config.ram_sink_params() {
        let bytes = params.word_bytes;
        let doc = "buffers start and end at multiples of it";
        let _ = writeln!(out, "\n#define HARTRACE_SINK_WORD_BYTES {bytes}u /* {doc} */");
    }
    out.push_str("\n#endif\n");
    Ok(out)
}
