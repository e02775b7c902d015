//! Addresses of the registers.

use crate::registers::{
    Placed, Table, atb_bridge, c_header, encoder, ipxact, markdown, ram_sink, systemrdl,
};
use crate::top::config::{Sink, TopConfig, TopError};
use crate::top::module::top;
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
pub const PAGE: u32 = 0x1000;

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
    Ok(manual_of(&pages(config)?))
}

/// A manual of the registers of any pages, in Markdown.
#[must_use]
pub fn manual_of(pages: &[Page]) -> String {
    let mut out = markdown(&tables(pages));
    out.push_str("\n## Pages\n\n| from | |\n| --- | --- |\n");
    for page in pages {
        // Writing to a string never fails.
        let _ = writeln!(out, "| {:#07x} | {} |", page.address, page.title);
    }
    out
}

/// A header in C: addresses of pages, offsets of registers in them, positions of fields, and, for a sink in
/// memory, the size of the words of which buffers consist.
pub fn header(config: &TopConfig) -> Result<String, TopError> {
    let pages = pages(config)?;
    let names: Vec<String> =
        (0..pages.len()).map(|page| name(config, page).to_uppercase()).collect();
    Ok(header_of(&pages, &names, config.ram_sink_params().map(|params| params.word_bytes)))
}

/// The name of a page.
pub(crate) fn name(config: &TopConfig, page: usize) -> String {
    if page < config.harts as usize { format!("hart{page}") } else { "sink".to_owned() }
}

/// Descriptions of the top module for other tools: its registers in SystemRDL, and in IP-XACT with its buses, ports
/// and these files. Returns names and texts.
///
/// # Errors
///
/// If a parameter is out of its range, or two do not fit together.
pub fn descriptions(
    config: &TopConfig,
    files: &[String],
) -> Result<[(String, String); 2], TopError> {
    let (component, pages) = (top(config)?, pages(config)?);
    let placed: Vec<Placed<'_>> = (0..)
        .zip(&pages)
        .map(|(number, page)| Placed {
            name: name(config, number),
            title: page.title.clone(),
            address: page.address,
            table: &page.table,
        })
        .collect();
    let module = config.module();
    let version = env!("CARGO_PKG_VERSION");
    Ok([
        (format!("{module}.rdl"), systemrdl(&module, &placed)),
        (format!("{module}.xml"), ipxact(&component, version, &placed, files)),
    ])
}

/// The same as [`header`] for any pages with these names; `word_bytes` is the size of words, if there is a sink in memory.
#[must_use]
pub fn header_of(pages: &[Page], names: &[String], word_bytes: Option<u32>) -> String {
    let text = c_header(&tables(pages));
    let open = text.trim_end().trim_end_matches("#endif");
    let mut out = format!("{open}/* --- Pages --- */\n\n");
    for (page, name) in pages.iter().zip(names) {
        let _ = writeln!(
            out,
            "#define HARTRACE_{name}_PAGE {:#07x}u /* {} */",
            page.address, page.title
        );
    }
    if let Some(bytes) = word_bytes {
        let doc = "buffers start and end at multiples of it";
        let _ = writeln!(out, "\n#define HARTRACE_SINK_WORD_BYTES {bytes}u /* {doc} */");
    }
    out.push_str("\n#endif\n");
    out
}
