//! Which registers are where.

use crate::config::{Sink, TopConfig, TopError};
use hartrace_registers::{Table, atb_bridge, encoder, ram_sink};

/// The registers of one component, behind the port of a top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is.
    pub title: String,
    /// Where it begins.
    pub address: u32,
    /// Its registers.
    pub table: Table,
}

/// Bytes of a page.
const PAGE: u32 = 0x1000;

/// The pages behind the port, in order: one for each hart, then the sink's, if it has registers.
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
